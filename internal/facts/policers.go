package facts

import (
	"cmp"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

var (
	policerRow = regexp.MustCompile(`^\s*(?:action order \d+: +)?police 0x[0-9a-f]+ .*\brate (\S+)`)
	filterLink = regexp.MustCompile(`^filter (?:block \d+ |dev (\S+) )?`)
)

// readPolicers reads the policers that tc -s filter show and tc -s actions show (iproute2 tc/m_police.c): each as a
// discipline without a queue, with its rate and what it dropped.
func (f *Facts) readPolicers(t text) error {
	found := false
	link := cmp.Or(t.device(), UnnamedLink)
	var q *Qdisc
	for i, line := range t.lines() {
		if m := filterLink.FindStringSubmatch(line); m != nil {
			link, q, found = cmp.Or(m[1], t.device(), UnnamedLink), nil, true
			f.use(t.from, i+1)
			continue
		}
		if m := policerRow.FindStringSubmatch(line); m != nil {
			n := f.NIC(link)
			if q = nil; n == nil || len(n.Qdiscs) >= rowLimit {
				continue
			}
			n.Qdiscs = append(n.Qdiscs, Qdisc{Kind: "police", Options: shorten(strings.TrimSpace(line)), Rate: tcRate(m[1])})
			q, found = &n.Qdiscs[len(n.Qdiscs)-1], true
			f.use(t.from, i+1)
			continue
		}
		if words := strings.Fields(line); q != nil && len(words) > 0 && words[0] == "Sent" {
			q.counters(words, f.Line(t.from, i+1))
		}
	}
	return nothingUnless(found)
}
