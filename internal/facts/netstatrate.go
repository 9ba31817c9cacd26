package facts

import (
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// rateHead names the interface of netstat -w: "input (Total) output", "input igb0 output", OpenBSD's "em0 in  em0 out
// total in  total out".
var (
	rateHead     = regexp.MustCompile(`^\s*input\s+\(?([\w.]+)\)?\s+output`)
	openRateHead = regexp.MustCompile(`^\s*(\S+) in\s+(\S+) out\s+total in\s+total out`)
	rateEvery    = regexp.MustCompile(`(?:-\w*w ?| )(\d+(?:\.\d+)?)(?: |$)`)
	rateOf       = regexp.MustCompile(`-I ?([a-z]\w*)`)
)

// rateFields are the columns of netstat -w by those of netstat -i, received and sent.
var rateFields = [2]map[string]string{
	{"packets": "Ipkts", "errs": "Ierrs", "idrops": "Idrop", "bytes": "Ibytes"},
	{"packets": "Opkts", "errs": "Oerrs", "bytes": "Obytes", "colls": "Coll", "drops": "Drop"}}

// readNetstatRates reads netstat -w of FreeBSD and OpenBSD: a row for each interval with what was counted in it, with
// -h in thousands and millions. The first row of OpenBSD counts since the start, and is left out.
func (f *Facts) readNetstatRates(t text) error {
	of, heads := "", []string(nil)
	every := 0.0
	if m := rateEvery.FindStringSubmatch(t.typed); m != nil {
		every, _ = strconv.ParseFloat(m[1], 64)
	}
	named := ""
	if m := rateOf.FindStringSubmatch(t.typed); m != nil {
		named = m[1]
	}
	table := &rateTable{sums: map[string]uint64{}, shown: map[string]Source{}}
	skip, open := false, false
	for i, line := range t.lines() {
		words := strings.Fields(line)
		switch m, o := rateHead.FindStringSubmatch(line), openRateHead.FindStringSubmatch(line); {
		case m != nil:
			of, heads, open = m[1], nil, false
		case o != nil:
			of, heads, open, skip = o[1], nil, true, len(table.sums) == 0
		case len(words) > 3 && words[0] == "packets":
			heads = words
		case len(heads) == 0 || len(words) != len(heads):
		case skip:
			skip = false
		case table.row(heads, words, open, f.Line(t.from, i+1)):
		}
	}
	if table.rows == 0 {
		return errNothing
	}
	if named == "" && !strings.EqualFold(of, "total") {
		named = of
	}
	f.keepRates(named, every, table)
	return nil
}

// rateTable adds up the rows.
type rateTable struct {
	sums  map[string]uint64
	shown map[string]Source
	rows  int
}

func (r *rateTable) row(heads, words []string, open bool, src Source) bool {
	side, packets := 0, 0
	values := map[string]uint64{}
	for j, head := range heads {
		if head == "packets" {
			side = min(packets, 1)
			if packets++; packets > 2 && open {
				break // the totals of all interfaces
			}
		}
		v, ok := scaledCount(words[j])
		if !ok {
			return false
		}
		if name := rateFields[side][head]; name != "" {
			values[name] = v
		}
	}
	for name, v := range values {
		if r.sums[name] += v; v > 0 || r.shown[name].Text == "" {
			r.shown[name] = src
		}
	}
	r.rows++
	return true
}

// keepRates keeps the sums at an interface, or under "interfaces." those of all together.
func (f *Facts) keepRates(nic string, every float64, r *rateTable) {
	into, prefix := f.Counters, "interfaces."
	if nic != "" && plainName(nic) {
		n := f.linkOf(nic, "", Source{From: r.shown["Ipkts"].From, Line: r.shown["Ipkts"].Line, Text: r.shown["Ipkts"].Text})
		if n.Counters == nil {
			n.Counters = map[string]Counter{}
		}
		into, prefix = n.Counters, "netstat."
	}
	for name, sum := range r.sums {
		c := Counter{Value: sum, Partial: true, Source: r.shown[name]}
		if c.Over = every * float64(r.rows); c.Over > 0 {
			rate := float64(sum) / c.Over
			c.Rate = &rate
		}
		f.keepCounter(into, prefix+name, c)
	}
}

// scaledCount reads a number that may stand for thousands: 1.2K, 3.4M, 5G (FreeBSD's -h, humanize_number(3)).
func scaledCount(w string) (uint64, bool) {
	if v, ok := count(w); ok {
		return v, true
	}
	if len(w) < 2 {
		return 0, false
	}
	at := strings.IndexByte("kmgt", w[len(w)-1]|0x20)
	v, err := strconv.ParseFloat(w[:len(w)-1], 64)
	if at < 0 || err != nil || v < 0 || v > 1e6 {
		return 0, false
	}
	for range at + 1 {
		v *= 1000
	}
	return uint64(v), true
}
