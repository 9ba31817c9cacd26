package facts

import (
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// Trace is a report of mtr: the routers of a path, in their order.
type Trace struct {
	Hops []Hop `json:"hops"`
}

// Hop is a router of a path, or its end; times in seconds, Loss is a share.
type Hop struct {
	Number int     `json:"number"`
	Name   string  `json:"name"`
	Loss   float64 `json:"loss"`
	Sent   int     `json:"sent"`
	Mean   float64 `json:"mean_s"`
	Best   float64 `json:"best_s"`
	Worst  float64 `json:"worst_s"`
	Source Source  `json:"source"`
}

var (
	mtrHead = regexp.MustCompile(`Loss%\s+Snt\s+Last\s+Avg\s+Best\s+Wrst`)
	mtrHop  = regexp.MustCompile(`^\s*(\d+)\.(?:\|--)?\s*(?:AS\S+\s+)?(\S.*?)\s+([0-9.]+)%?\s+(\d+)\s+[0-9.]+\s+([0-9.]+)\s+` +
		`([0-9.]+)\s+([0-9.]+)(?:\s+[0-9.]+)?$`)
)

// readTrace reads reports of mtr (ui/report.c), and what its window shows (ui/curses.c).
func (f *Facts) readTrace(t text) error {
	found := false
	for i, line := range t.lines() {
		line = strings.TrimRight(line, " \r")
		m := mtrHop.FindStringSubmatch(line)
		if mtrHead.MatchString(line) {
			f.use(t.from, i+1)
		}
		if m == nil {
			continue
		}
		hop := Hop{Number: smallNumber(m[1]), Name: shorten(m[2]), Loss: min(amount(m[3])/100, 1), Sent: smallNumber(m[4]),
			Mean: amount(m[5]) / 1000, Best: amount(m[6]) / 1000, Worst: amount(m[7]) / 1000, Source: f.Line(t.from, i+1)}
		last := len(f.Traces) - 1
		if last < 0 || hop.Number <= f.Traces[last].Hops[len(f.Traces[last].Hops)-1].Number {
			if len(f.Traces) >= pingLimit {
				break
			}
			f.Traces, last = append(f.Traces, Trace{}), last+1
		}
		if len(f.Traces[last].Hops) < 256 {
			f.Traces[last].Hops = append(f.Traces[last].Hops, hop)
		}
		found = true
	}
	return nothingUnless(found)
}
