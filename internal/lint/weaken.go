package lint

import (
	"fmt"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/conffile"
)

// leftOff finds a protection that a line switches off and that plan --harden sets; the
// records' own judgements go before, since they know what it costs.
func (k *checker) leftOff(r *catalog.Record, e conffile.Entry, v reading) *finding {
	if !v.numeric || len(v.numbers) != 1 {
		return nil
	}
	for _, h := range catalog.Hardenings(k.system) {
		protects, ok := lastNumber(h.Value)
		if h.Setting != strings.ReplaceAll(e.Name, "/", ".") || !ok || (v.numbers[0] == 0) == (protects == 0) {
			continue
		}
		return &finding{id: "left-off", code: "weakens-security", severity: Info, sources: r.Sources, value: true,
			message: fmt.Sprintf("%s = %.0f leaves a protection off; plan --harden sets %s",
				e.Name, v.numbers[0], h.Value), because: r.Does}
	}
	return nil
}

// noSwitch finds a number other than 0 and 1 in a switch, which hardly anybody means.
func noSwitch(r *catalog.Record, e conffile.Entry, v reading, place string) *finding {
	if r.Type != catalog.TypeBool || place != "sysctl" || !v.numeric || len(v.numbers) != 1 || v.numbers[0] == 0 ||
		v.numbers[0] == 1 {
		return nil
	}
	return &finding{id: "no-switch", code: "no-effect", severity: Info, sources: r.Sources, value: true,
		message: fmt.Sprintf("%s is a switch: %.0f does what 1 does", e.Name, v.numbers[0]), because: r.Does}
}
