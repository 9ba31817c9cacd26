package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/shell"
)

// netemLeft finds queues that imitate a bad path.
func netemLeft() Rule {
	return Rule{
		ID: "netem-left", Title: "netem emulates a bad path on an interface", Systems: onLinux(), Needs: []string{"qdiscs"},
		Severity: Critical,
		Because: "netem delays, drops or paces what an interface sends, for tests: no traffic through it can be as fast as " +
			"without it.",
		Check: func(in Input) []Finding {
			const output = "tc -s qdisc show"
			for i, line := range in.Facts.Lines(output) {
				m := netemLine.FindStringSubmatch(line)
				if m == nil {
					if found := typedNetem(in.Facts, line, in.Facts.Line(output, i+1)); found != nil {
						return found
					}
					continue
				}
				name := m[1]
				for k := range in.Facts.NICs {
					n := &in.Facts.NICs[k]
					if slices.ContainsFunc(n.Qdiscs, func(q facts.Qdisc) bool { return q.Kind == "netem" }) {
						name = cmp.Or(name, n.Name)
					}
				}
				found := one(cmp.Or(name, "interface"), []facts.Source{in.Facts.Line(output, i+1)}, "netem is configured: %s", m[2])
				if name != "" {
					found[0].Fix = []Fix{{Action: "remove it", Command: shell.Join("tc", "qdisc", "del", "dev", typed(name), "root")}}
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

// typedNetem finds a command that sets netem up, and what its queue holds: packets that wait for their delay stand in it.
func typedNetem(f *facts.Facts, line string, src facts.Source) []Finding {
	m := facts.NetemCommand.FindStringSubmatch(line)
	if m == nil {
		return nil
	}
	found := with(Info, one(m[1], []facts.Source{src}, "a command configures netem: %s", m[2]))
	found[0].Fix = []Fix{{Action: "remove it when the test is over", Command: shell.Join("tc", "qdisc", "del", "dev", m[1],
		"root")}}
	limit, delay := 1000.0, 0.0 // the limit is the default of tc's netem
	if l := netemLimit.FindStringSubmatch(m[2]); l != nil {
		if limit, _ = strconv.ParseFloat(l[1], 64); l[2] != "" {
			return found // tc takes the number of packets with the units of sizes too: they make it millions
		}
	}
	if d := netemDelay.FindStringSubmatch(m[2]); d != nil {
		delay, _ = strconv.ParseFloat(d[1], 64)
		delay *= map[string]float64{"s": 1, "ms": 1e-3, "us": 1e-6, "": 1e-6}[d[2]]
	}
	const long = 0.1   // seconds from which on the default holds less than 10000 packets a second
	const enough = 1e5 // packets per second of which no queue for a test is short
	if delay < long || limit <= 0 || limit/delay >= enough {
		return found
	}
	found[0].Summary += fmt.Sprintf("; its queue of %.0f packets carries only %.0f packets/s at this delay, and the rest "+
		"is dropped",
		limit, limit/delay)
	found[0].Confirm = "tc -s qdisc show dev " + m[1] + " counts netem's drops."
	found[0].Fix = append([]Fix{{Action: "enlarge its queue to the packets in flight: limit = packets per second * delay, " +
		"for example limit 100000"}}, found[0].Fix...)
	return decisive(found)
}

var (
	netemLimit = regexp.MustCompile(`\blimit (\d{1,9})([a-zA-Z]*)`)
	netemDelay = regexp.MustCompile(`\bdelay (\d{1,6}(?:\.\d+)?)(ms|us|s)?\b`)
)

// netemLine is netem with what it does (iproute2 tc/q_netem.c).
var netemLine = regexp.MustCompile(`^\s*qdisc netem \S+ (?:dev (\S+) )?.*?\b((?:delay|loss|rate|reorder|` +
	`corrupt) .*\d.*)`)
