package facts

import (
	"cmp"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// readQdiscs reads tc -s qdisc show (iproute2 tc/tc_qdisc.c): a line that
// names the discipline and its interface, then its counters.
func (f *Facts) readQdiscs(t text) error {
	found := false
	var q *Qdisc
	tins := tinTable{}
	for i, line := range t.lines() {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if words[0] == "qdisc" && len(words) >= 3 {
			tins = tinTable{}
			values := pairs(words[3:])
			n := f.NIC(cmp.Or(values["dev"], t.device(), UnnamedLink))
			found, q = true, nil
			if n == nil {
				continue
			}
			n.Qdiscs = append(n.Qdiscs, Qdisc{Kind: words[1], Handle: strings.TrimSuffix(words[2], ":"),
				Parent:  values["parent"],
				Options: shorten(strings.Join(words[3:], " "))})
			q = &n.Qdiscs[len(n.Qdiscs)-1]
			q.limit(words[3:])
			q.Rate = cmp.Or(tcRate(values["bandwidth"]), tcRate(values["rate"]))
			f.use(t.from, i+1)
			continue
		}
		if m := NetemCommand.FindStringSubmatch(line); m != nil {
			found, q = true, nil
			f.use(t.from, i+1)
			if n := f.NIC(m[1]); n != nil {
				n.Qdiscs = append(n.Qdiscs, Qdisc{Kind: "netem", Options: shorten(m[2])})
			}
			continue
		}
		if q == nil {
			continue
		}
		if q.Kind == "cake" && tins.take(q, line, func() Source { return f.Line(t.from, i+1) }) {
			continue
		}
		q.counters(words, f.Line(t.from, i+1))
		q.values(words)
	}
	for _, q := range jsonRows[jsonQdisc](t) {
		found = found || q.Kind != ""
		if n := f.NIC(cmp.Or(q.Dev, UnnamedLink)); n != nil && q.Kind != "" {
			n.Qdiscs = append(n.Qdiscs, q.qdisc(t.from))
		}
	}
	return nothingUnless(found)
}

// NetemCommand is a command that sets up a queue which imitates a bad path.
var NetemCommand = regexp.MustCompile(`^tc qdisc (?:add|replace|change) dev ([\w.-]+) .*\bnetem (.*)`)

// counters reads " Sent B bytes P pkt (dropped D, overlimits O requeues R)"
// and " backlog 0b 0p requeues 0".
func (q *Qdisc) counters(words []string, src Source) {
	values := map[string]string{}
	for i := 0; i+1 < len(words); i++ {
		values[strings.Trim(words[i], "(,")] = strings.Trim(words[i+1], "),")
	}
	take := func(into *Counter, s string) {
		if v, ok := count(s); ok {
			*into = Counter{Value: v, Source: src}
		}
	}
	if words[0] == "Sent" && len(words) > 3 {
		take(&q.Sent, words[3])
		take(&q.Dropped, values["dropped"])
		take(&q.Overlimits, values["overlimits"])
		take(&q.Requeues, values["requeues"])
	}
	// "backlog 31Kb 21p", alone or behind a rate; a table of cake has a row of
	// that name.
	for i := 0; i+2 < len(words); i++ {
		if words[i] == "backlog" && strings.HasSuffix(words[i+2], "p") {
			q.Backlog = sizeWord(strings.TrimSuffix(words[i+1], "b"))
		}
	}
}

// sizeWord reads 1234, 31Kb's 31K and 2M.
func sizeWord(s string) int64 {
	factor := int64(1)
	switch {
	case strings.HasSuffix(s, "K"):
		factor = 1 << 10
	case strings.HasSuffix(s, "M"):
		factor = 1 << 20
	case strings.HasSuffix(s, "G"):
		factor = 1 << 30
	}
	v, ok := count(strings.TrimRight(s, "KMG"))
	if !ok || v > 1<<40 {
		return 0
	}
	return int64(v) * factor
}
