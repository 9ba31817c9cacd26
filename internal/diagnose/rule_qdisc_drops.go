package diagnose

import (
	"fmt"
	"slices"

	"github.com/wirerate/wirerate/internal/facts"
)

// qdiscDrops finds packets dropped before they left the host.
func qdiscDrops() Rule {
	return Rule{
		ID: "qdisc-drops", Title: "Packets were dropped at this host's own send queue", Systems: onLinux(),
		Needs: []string{"qdiscs"}, Severity: Warning,
		Because: "The interface, or a shaper in front of it, is slower than the host sends.",
		Check: func(in Input) (out []Finding) {
			for i := range in.Facts.NICs {
				n := &in.Facts.NICs[i]
				for _, q := range n.Qdiscs {
					if (q.Kind == "mq" || q.Kind == "mqprio") && slices.ContainsFunc(n.Qdiscs,
						func(child facts.Qdisc) bool { return child.Parent != "" && child.Dropped.Value > 0 }) {
						continue // its children say it
					}
					if q.Sent.Value == 0 || q.Kind == "ingress" || q.Kind == "clsact" ||
						float64(q.Dropped.Value) < 1e-3*float64(q.Sent.Value) || !still(q.Dropped) {
						continue
					}
					found := one(n.Name+" "+q.Kind, []facts.Source{q.Dropped.Source}, "%s dropped of %d sent",
						happened(q.Dropped), q.Sent.Value)
					switch q.Kind {
					case "fq_codel", "codel", "cake", "pie", "fq_pie", "red", "htb", "tbf", "hfsc":
						found = with(Info, found)
						found[0].Because = "This queue drops on purpose to hold its rate or its delay: the link " +
							"behind it is the bottleneck."
					case "pfifo_fast", "pfifo", "bfifo":
						found[0].Fix = []Fix{{Setting: "link:txqueuelen"}, {Setting: "net.core.default_qdisc"}}
					case "mq", "mqprio":
						found[0].Fix = []Fix{{Action: "look which of its queues drops, and of what kind that one is " +
							"(tc -s qdisc show): more is sent than the link carries, or one queue gets it all"}}
					case "fq":
						found[0].Fix = []Fix{{Action: "raise fq's limit or flow_limit (tc qdisc replace ... fq flow_limit N)"}}
					}
					out = append(out, found...)
				}
			}
			return out
		},
		Fires: qdiscExample(90000),
		Quiet: qdiscExample(9),
	}
}

func qdiscExample(dropped int) Example {
	return linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000000, 0, 0, 0), "tc -s qdisc show",
		fmt.Sprintf("qdisc pfifo_fast 0: dev eth0 root refcnt 2 bands 3 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1\n"+
			" Sent 8000000000 bytes 6000000 pkt (dropped %d, overlimits 0 requeues 0) \n backlog 0b 0p requeues 0\n", dropped))
}
