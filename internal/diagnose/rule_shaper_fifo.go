package diagnose

import (
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/units"
)

// shaperFIFO finds shapers whose classes have no queue discipline of their own.
func shaperFIFO() Rule {
	return Rule{
		ID: "shaper-fifo", Title: "A shaper queues in plain FIFOs", Systems: onLinux(), Needs: []string{"qdiscs"},
		Severity: Info,
		Because: "An HTB or HFSC class without its own qdisc has a FIFO of txqueuelen packets (1000 by default): traffic " +
			"above the class rate is not dropped but waits, and delays everything that shares the class.",
		Confirm: "The ping time through the class rises steadily while it is full.",
		Check: func(in Input) (out []Finding) {
			for i := range in.Facts.NICs {
				n := &in.Facts.NICs[i]
				at := slices.IndexFunc(n.Qdiscs, func(q facts.Qdisc) bool {
					return (q.Kind == "htb" || q.Kind == "hfsc") && q.Handle != "" && q.Overlimits.Value > 0
				})
				if at < 0 || slices.ContainsFunc(n.Qdiscs, func(q facts.Qdisc) bool {
					return strings.HasPrefix(q.Parent, n.Qdiscs[at].Handle+":")
				}) {
					continue
				}
				q := n.Qdiscs[at]
				found := one(n.Name+" "+q.Kind, []facts.Source{q.Overlimits.Source}, "none of its classes has its own qdisc, and "+
					"packets waited in it %d times", q.Overlimits.Value)
				if c := slowestLeaf(n); c.Ceiling() > 0 {
					const queue = 1000 * 1500 * 8 // bits
					found[0].Evidence = append(found[0].Evidence, c.Sent.Source)
					found[0].Summary += ": 1000 " +
						"full-sized packets take " + seconds(queue/float64(c.Ceiling())) + " at the " + c.Ceiling().String() +
						" of class " + c.ID
				}
				out = append(out, decisive(do("give each class fq_codel: tc qdisc add dev "+typed(n.Name)+" parent "+q.Handle+
					":CLASS fq_codel", found))...)
			}
			return out
		},
		Fires: linuxExample("tc -s qdisc show", fifoExample("")),
		Quiet: linuxExample("tc -s qdisc show", fifoExample("qdisc fq_codel 8001: dev eth0 parent 1:10 limit 10240p flows 1024\n")),
	}
}

// slowestLeaf is the class without classes below it that may have least.
func slowestLeaf(n *facts.NIC) (slowest facts.Class) {
	for _, c := range n.Classes {
		leaf := !slices.ContainsFunc(n.Classes, func(o facts.Class) bool { return o.Parent == c.ID })
		if limit := c.Ceiling(); leaf && limit > 0 && (slowest.ID == "" || limit < slowest.Ceiling()) && limit < units.Gbit {
			slowest = c
		}
	}
	return slowest
}

func fifoExample(leaf string) string {
	return "qdisc htb 1: dev eth0 root refcnt 2 r2q 10 default 0x10 direct_packets_stat 0 direct_qlen 1000\n" +
		" Sent 104901 bytes 85 pkt (dropped 0, overlimits 185 requeues 0)\n backlog 0b 0p requeues 0\n" + leaf
}
