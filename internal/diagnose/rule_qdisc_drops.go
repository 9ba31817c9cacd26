package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
)

// qdiscDrops finds packets dropped before they left the host.
func qdiscDrops() Rule {
	return Rule{
		ID: "qdisc-drops", Title: "Packets were dropped in this host's own send queue (qdisc)", Systems: onLinux(),
		Needs: []string{"qdiscs"}, Severity: Warning,
		Because: "This host sends faster than the interface, or a shaper in front of it, transmits.",
		Check: func(in Input) (out []Finding) {
			for i := range in.Facts.NICs {
				n := &in.Facts.NICs[i]
				out = append(out, discardsAll(n)...)
				for _, q := range ofOneKind(n.Qdiscs) {
					q.Dropped = withoutAcks(q.Qdisc)
					if saidByChildren(n.Qdiscs, q.Qdisc) {
						continue
					}
					if q.Sent.Value == 0 || q.Kind == "ingress" || q.Kind == "clsact" || q.Kind == "netem" || q.Kind == "police" ||
						q.Dropped.Value == 0 || !still(q.Dropped) {
						continue
					}
					found := one(n.Name+" "+q.Kind, []facts.Source{q.Dropped.Source}, "dropped packets: %s, of %d sent%s",
						happened(q.Dropped), q.Sent.Value, q.together())
					found[0].Share = lossShare(q.Dropped, q.Sent.Value)
					if found[0].Share < 1e-3 {
						out = append(out, with(trifling, found)...)
						continue
					}
					switch q.Kind {
					case "fq_codel", "codel", "cake", "pie", "fq_pie", "red", "htb", "tbf", "hfsc":
						found = with(Info, found)
						found[0].Because = "This qdisc drops on purpose to keep its rate or delay: the link behind it is the bottleneck."
						found = belowShaper(n, q.Qdisc, found)
					case "pfifo_fast", "pfifo", "bfifo":
						found[0].Fix = []Fix{{Setting: "link:txqueuelen"}, {Setting: "net.core.default_qdisc"}}
					case "mq", "mqprio":
						found[0].Fix = []Fix{{Action: "find which of its queues drops, and its type (tc -s qdisc show): more is sent than " +
							"the link carries, or one queue gets all the traffic"}}
					case "fq":
						found[0].Because = "fq drops packets of a flow above flow_limit (flows_plimit counts them), or of all flows above " +
							"limit: the program sends faster than the pacing or the link allows."
						at := "root"
						if q.Parent != "" {
							at = "parent " + q.Parent
						}
						found[0].Fix = []Fix{{Action: "raise flow_limit of fq, and limit if all flows together reach it (tc qdisc replace dev " +
							typed(n.Name) + " " + at + " fq flow_limit 1000 limit 20000), or reduce the program's bursts"}}
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

// discardsAll finds a root queue that let nothing pass.
func discardsAll(n *facts.NIC) []Finding {
	const least = 3
	for _, q := range n.Qdiscs {
		if q.Parent != "" || q.Sent.Value > 0 || q.Dropped.Value < least || !slices.Contains([]string{"htb", "hfsc",
			"prio", "drr", "tbf", "pfifo_fast", "pfifo", "bfifo", "fq_codel", "fq", "sfq", "cake"}, q.Kind) {
			continue
		}
		found := with(Critical, one(n.Name+" "+q.Kind, []facts.Source{q.Dropped.Source}, "the interface's queue sent nothing and dropped all %d packets",
			q.Dropped.Value))
		dev := typed(n.Name)
		found[0].Because = "Packets are sent to a class that does not exist or to a queue with no room; not even " +
			"ARP leaves the host."
		todo := "check the default class and the queue lengths (tc -s class show dev " + dev + "), or restore " +
			"traffic with a plain queue: tc qdisc replace dev " + dev + " root fq_codel"
		if strings.Contains(q.Options, "direct_qlen 0") {
			found[0].Because = "Unclassified packets go to a queue with no room (direct_qlen 0): HTB takes its " +
				"length from the interface's txqueuelen when it is created, and that was 0. Not even ARP leaves " +
				"the host."
			todo = "recreate the qdisc with a longer queue: ip link set dev " + dev + " txqueuelen 1000; tc qdisc del dev " +
				dev + " root; then add the qdisc and its classes again, or without shaping: tc qdisc replace dev " + dev +
				" root fq_codel"
		}
		return do(todo, found)
	}
	return nil
}

// belowShaper names the shaper above a queue that drops: its rate is the bottleneck, not the link.
func belowShaper(n *facts.NIC, q facts.Qdisc, found []Finding) []Finding {
	for _, root := range n.Qdiscs {
		if q.Parent == "" || root.Kind != "htb" && root.Kind != "hfsc" || root.Overlimits.Value < root.Sent.Value/10 ||
			!strings.HasPrefix(q.Parent, root.Handle) {
			continue
		}
		found[0].Evidence = append(found[0].Evidence, root.Overlimits.Source)
		found[0].Because = "The " + root.Kind + " shaper above this queue holds packets back to keep its rate: " +
			"that rate is the bottleneck, and the queue drops the excess."
		return do("check the rate (tc -s class show dev "+typed(n.Name)+") and raise it to 95% of the measured "+
			"link rate (tc class change; in OpenWrt, option download and upload in /etc/config/sqm); if it is "+
			"there already, the link is the limit", found)
	}
	return found
}

// saidByChildren reports whether the drops of a root are those of the queues below it: a classful one counts them too.
func saidByChildren(all []facts.Qdisc, q facts.Qdisc) bool {
	if q.Parent != "" {
		return false
	}
	var below uint64
	for _, child := range all {
		if child.Parent != "" {
			below += child.Dropped.Value
		}
	}
	return below > 0 && (q.Kind == "mq" || q.Kind == "mqprio" || below >= q.Dropped.Value)
}

// withoutAcks are the drops of a queue without the acknowledgements that cake's ack-filter left out (sch_cake.c counts them
// in both).
func withoutAcks(q facts.Qdisc) facts.Counter {
	c := q.Dropped
	if c.Rate != nil || c.Earlier != nil {
		return c
	}
	for _, t := range q.Tins {
		c.Value -= min(t.AckDrops, c.Value)
	}
	return c
}

// kindOfQueue are the queues of one kind that a card with several of them has below mq.
type kindOfQueue struct {
	facts.Qdisc
	queues int // that drop
}

func (k kindOfQueue) together() string {
	if k.queues < 2 {
		return ""
	}
	return fmt.Sprintf(", in %d queues", k.queues)
}

// ofOneKind adds up the queues of a kind below mq that drop: they are the queues of one card, and one finding.
func ofOneKind(all []facts.Qdisc) (out []kindOfQueue) {
	several := func(q facts.Qdisc) bool {
		return q.Parent != "" && q.Dropped.Rate == nil && q.Dropped.Earlier == nil && slices.ContainsFunc(all,
			func(root facts.Qdisc) bool { return root.Kind == "mq" || root.Kind == "mqprio" })
	}
	for _, q := range all {
		at := slices.IndexFunc(out, func(o kindOfQueue) bool { return several(q) && several(o.Qdisc) && o.Kind == q.Kind })
		dropping := 0
		if q.Dropped.Value > 0 {
			dropping = 1
		}
		if at < 0 {
			out = append(out, kindOfQueue{q, dropping})
			continue
		}
		o := &out[at]
		if q.Dropped.Value > o.Dropped.Value && o.queues < 2 {
			o.Dropped.Source = q.Dropped.Source
		}
		o.Dropped.Value, o.Sent.Value = o.Dropped.Value+q.Dropped.Value, o.Sent.Value+q.Sent.Value
		o.queues += dropping
	}
	return out
}

func qdiscExample(dropped int) Example {
	return linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000000, 0, 0, 0), "tc -s qdisc show",
		fmt.Sprintf("qdisc pfifo_fast 0: dev eth0 root refcnt 2 bands 3 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1\n"+
			" Sent 8000000000 bytes 6000000 pkt (dropped %d, overlimits 0 requeues 0) \n backlog 0b 0p requeues 0\n", dropped))
}
