package facts

import (
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// Symbol is a function of the kernel or of a program with its share of the processors' time, as perf shows it.
type Symbol struct {
	Name   string  `json:"name"`
	Share  float64 `json:"share"`
	Source Source  `json:"source"`
}

var (
	profileRow  = regexp.MustCompile(`^\s*(?:\d+\.\d+%\s+)?(\d+\.\d+)%\s.*\[[k.]\]\s+([A-Za-z_][\w.]*)`)
	profileHead = regexp.MustCompile(`^Samples: |^#? *(?:Children +Self|Overhead)\s`)
)

// readProfile reads perf top and perf report.
func (f *Facts) readProfile(t text) error {
	for i, line := range t.lines() {
		if profileHead.MatchString(strings.TrimSpace(line)) {
			f.use(t.from, i+1)
		}
		m := profileRow.FindStringSubmatch(line)
		if m == nil || len(f.Symbols) >= rowLimit {
			continue
		}
		f.Symbols = append(f.Symbols, Symbol{Name: m[2], Share: min(amount(m[1])/100, 1), Source: f.Line(t.from, i+1)})
	}
	return nothingUnless(len(f.Symbols) > 0)
}
