package facts

import (
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// PressureOfMemory is where Linux says how long programs waited for memory (Documentation/accounting/psi.rst).
const PressureOfMemory = "/proc/pressure/memory"

// Pressure are the shares of the last minute in which some, and in which all, programs that had work waited.
type Pressure struct {
	Some   float64 `json:"some"`
	Full   float64 `json:"full"`
	Source Source  `json:"source"`
}

var pressureLine = regexp.MustCompile(`\b(some|full) avg10=\d{1,3}\.\d+ avg60=(\d{1,3}(?:\.\d+)?) avg300=`)

// readPressure reads it; of a search through the folder only the lines of memory.
func (f *Facts) readPressure(t text) error {
	p := &Pressure{}
	for i, line := range t.lines() {
		name, _, ofFile := strings.Cut(line, ":")
		m := pressureLine.FindStringSubmatch(line)
		if m == nil || ofFile && !strings.HasSuffix(name, "memory") {
			continue
		}
		share := min(amount(m[2])/100, 1)
		if p.Source = f.Line(t.from, i+1); m[1] == "some" {
			p.Some = share
		} else {
			p.Full = share
		}
		f.MemoryPressure = p
		f.use(t.from, i+1)
	}
	return nothingUnless(f.MemoryPressure != nil)
}
