package diagnose

import (
	"cmp"
	"slices"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/shell"
)

// netemLeft finds queues that imitate a bad path.
func netemLeft() Rule {
	return Rule{
		ID: "netem-left", Title: "A queue that imitates a bad path is set up", Systems: onLinux(), Needs: []string{"qdiscs"},
		Severity: Critical,
		Because: "netem delays, loses or paces what an interface sends, for tests: nothing on the path behind it can be as " +
			"fast as without it.",
		Check: func(in Input) []Finding {
			const output = "tc -s qdisc show"
			for i, line := range in.Facts.Lines(output) {
				m := netemLine.FindStringSubmatch(line)
				if m == nil {
					continue
				}
				name := m[1]
				for k := range in.Facts.NICs {
					n := &in.Facts.NICs[k]
					if slices.ContainsFunc(n.Qdiscs, func(q facts.Qdisc) bool { return q.Kind == "netem" }) {
						name = cmp.Or(name, n.Name)
					}
				}
				found := one(cmp.Or(name, "interface"), []facts.Source{in.Facts.Line(output, i+1)}, "netem is set up: %s", m[2])
				if name != "" {
					found[0].Fix = []Fix{{Action: "take it away", Command: shell.Join("tc", "qdisc", "del", "dev", name, "root")}}
				}
				return found
			}
			return nil
		},
		Fires: linuxExample("tc -s qdisc show", "qdisc netem 8001: dev eth0 root refcnt 2 limit 1000 delay 100ms loss 1%\n "+
			"Sent 0 bytes 0 pkt (dropped 0, overlimits 0 requeues 0)\n"),
		Quiet: linuxExample("tc -s qdisc show", "qdisc netem 8001: dev eth0 root refcnt 2 limit 1000\n Sent 0 bytes 0 pkt "+
			"(dropped 0, overlimits 0 requeues 0)\n"),
	}
}

// netemLine is netem with what it does (iproute2 tc/q_netem.c).
var netemLine = regexp.MustCompile(`^\s*qdisc netem \S+ (?:dev (\S+) )?.*?\b((?:delay|loss|rate|reorder|corrupt) .*\d.*)`)
