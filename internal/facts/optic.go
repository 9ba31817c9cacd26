package facts

import (
	"math"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// Optic is what an optic module says of itself.
type Optic struct {
	// Flags are what is out of the module's own limits: "rx power low alarm", "module temperature high warning".
	Flags map[string]Source `json:"flags"`
	// Dark says that no light arrives, on one of its lanes at least.
	Dark bool `json:"dark"`
}

// opticLine is a line of ethtool -m: a reading, a limit or a flag, of a lane where the module has several (ethtool
// sff-common.c and qsfp.c). The names of readings and limits differ.
var opticLine = regexp.MustCompile(`^\s*(?:Laser |Module )?([A-Za-z][a-z ]*?)(?: threshold)? *(?:\(Channel (\d+)\))?\s*: ` +
	`(On|Off|-?[0-9.]+)(?: (?:mW|mA|degrees C|V)(?: / (\S+) dBm)?)?`)

// opticReadings are the readings of a module that are judged, by the names that their limits have.
var opticReadings = map[string]string{"Receiver signal average optical power": "rx power",
	"Receiver signal OMA": "rx power", "Rcvr signal avg optical power": "rx power", "temperature": "temperature"}

// readEthtoolOptic reads ethtool -m. A flag counts where it is on, a reading where it is beyond a limit that the module
// has; one whose limits are all zero has none.
func readEthtoolOptic(n *NIC, f *Facts, t text) error {
	type reading struct {
		of, lane string
		value    float64
		source   Source
	}
	o := &Optic{Flags: map[string]Source{}}
	var readings []reading
	limits := map[string]float64{}
	found := false
	for i, line := range t.lines() {
		m := opticLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		found = true
		name, src := m[1], f.Line(t.from, i+1)
		v, number := positive(strings.TrimPrefix(m[3], "-"))
		switch of := opticReadings[name]; {
		case m[3] == "On" && opticFlag.MatchString(name):
			o.Flags[name] = src
		case number && strings.Contains(line, " threshold"):
			limits[name] = v
		case number && of != "" && !strings.HasPrefix(m[3], "-"):
			readings = append(readings, reading{of, m[2], v, src})
			n.show("optic."+of, src)
			dark := m[4] == "-inf"
			if dbm, ok := positive(strings.TrimPrefix(m[4], "-")); ok && strings.HasPrefix(m[4], "-") {
				dark = dbm >= darkness
			}
			o.Dark = o.Dark || of == "rx power" && dark
		}
	}
	for name := range o.Flags { // a module without limits sets flags at random
		if limit, known := limits[name]; known && limit == 0 {
			delete(o.Flags, name)
		}
	}
	for _, r := range readings {
		for _, name := range []string{r.of + " low alarm", r.of + " low warning", r.of + " high alarm", r.of + " high warning"} {
			limit := limits[name]
			low := strings.Contains(name, " low ")
			if limit == 0 || !opticFlag.MatchString(name) || math.IsNaN(r.value) || low && r.value >= limit || !low && r.value <= limit {
				continue
			}
			o.Flags[name] = r.source
		}
	}
	n.Optic = o
	return nothingUnless(found)
}

// darkness is the power, in dB below one milliwatt, at which nothing arrives.
const darkness = 30

// opticFlag is what of a module says that its link suffers.
var opticFlag = regexp.MustCompile(`^(?:rx power low|temperature high) (?:alarm|warning)$`)

// readEthtoolFEC reads the counters of forward error correction (ethtool netlink/fec.c): blocks that it mended, and
// those that it could not.
func readEthtoolFEC(n *NIC, f *Facts, t text) error {
	found := false
	colonFields(t, func(line int, name, value string) {
		found = found || name == "Active FEC encoding" || strings.HasPrefix(name, "Configured FEC") ||
			strings.HasPrefix(name, "Supported/Configured FEC")
		if v, ok := count(value); ok && (name == "corrected_blocks" || name == "uncorrectable_blocks") {
			n.put("fec."+name, Counter{Value: v, Source: f.Line(t.from, line)})
			found = true
		}
	})
	return nothingUnless(found)
}
