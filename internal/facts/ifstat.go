package facts

import (
	"strconv"

	"github.com/wirerate/wirerate/internal/regexp"
)

// ifstatRow is a direction of an interface in systat -ifstat of FreeBSD (usr.bin/systat/ifstat.c): its rate now, the
// highest, and the sum; the row of what is sent has no name.
var ifstatRow = regexp.MustCompile(`^\s*(?:([a-z]\w*)\s+(in)|(out))\s+([0-9.]{1,12}) ([KMG]?)(B|` +
	`b)/s\s+[0-9.]+ [KMG]?[Bb]/s\s`)

// readIfstat reads systat -ifstat; the last page counts. Its thousands may be of 1024: at least this many bytes passed.
func (f *Facts) readIfstat(t text) error {
	found := false
	var n *NIC
	for i, line := range t.lines() {
		m := ifstatRow.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		src := f.Line(t.from, i+1)
		if m[1] != "" {
			n = f.linkOf(m[1], "", src)
		}
		v, err := strconv.ParseFloat(m[4], 64)
		if n == nil || err != nil {
			continue
		}
		v *= map[string]float64{"": 1, "K": 1e3, "M": 1e6, "G": 1e9}[m[5]]
		if m[6] == "b" {
			v /= 8
		}
		n.put("netstat."+map[string]string{"in": "Ibytes", "": "Obytes"}[m[2]], Counter{Value: uint64(min(v, 1e15)),
			Rate: &v, Over: 1, Partial: true, Source: src})
		found = true
	}
	return nothingUnless(found)
}
