package diagnose

import (
	"fmt"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/units"
)

// shaperFull finds a shaper on this host that holds the rate down.
func shaperFull() Rule {
	return Rule{
		ID: "shaper-full", Title: "A shaper on this host is saturated", Severity: Warning,
		Needs: []string{"linux:qdiscs|classes|policers", "freebsd:shapers|packet filter queues",
			"openbsd:packet filter queues|queue table"},
		Because: "Traffic above the shaper's rate waits in it and is then dropped: connections share that rate.",
		Confirm: "The drops grow while it is slow, and the interface runs at the shaper's rate.",
		Check: func(in Input) (out []Finding) {
			for i := range in.Facts.NICs {
				n := &in.Facts.NICs[i]
				for _, q := range n.Qdiscs {
					out = append(out, fullCake(n, q)...)
					out = append(out, fullBucket(n, q)...)
				}
				out = append(out, fullClass(n)...)
			}
			return append(out, fullPipes(in.Facts)...)
		},
		Fires: linuxExample("tc -s qdisc show", cakeExample("145ms", 2620)),
		Quiet: linuxExample("tc -s qdisc show", cakeExample("1ms", 26)),
	}
}

// The share of a shaper's packets that are dropped or marked, and how often the allowed delay its busiest flow waits,
// from which on it is full.
const (
	fullDrops   = 0.005
	shaperDelay = 5
)

// fullCake finds a tin that drops, or holds packets far longer than it should.
func fullCake(n *facts.NIC, q facts.Qdisc) []Finding {
	if q.Rate == 0 {
		return nil
	}
	var worst facts.Tin
	for _, t := range q.Tins {
		if t.Packets >= 1000 && float64(t.Drops+t.Marks) >= float64(worst.Drops+worst.Marks) {
			worst = t
		}
	}
	if worst.Packets == 0 {
		return busyShaper(n, q)
	}
	share := float64(worst.Drops+worst.Marks) / float64(worst.Packets)
	late := worst.Target > 0 && worst.Peak >= shaperDelay*worst.Target
	if share < fullDrops && (!late || worst.Drops+worst.Marks == 0) {
		return busyShaper(n, q)
	}
	found := one(n.Name+" cake", []facts.Source{worst.DropLine, worst.DelayLine},
		"its rate of %s is fully used: %s of %d packets were dropped or marked in %s, and the peak delay is %s with a target "+
			"of %s", q.Rate, percent(share), worst.Packets, worst.Name, seconds(worst.Peak), seconds(worst.Target))
	if q.LimitBytes > 0 && q.MemoryUsed >= q.LimitBytes {
		found[0].Summary += fmt.Sprintf("; it has used all its memory (%s)", units.Bytes(q.LimitBytes))
		found = do("give it more memory (memlimit)", found)
	}
	return do(fmt.Sprintf("if the link carries more than %s, raise the shaper's bandwidth to 95%% of the measured link "+
		"rate; otherwise the link is the limit and the shaper works as intended", q.Rate), found)
}

// busyShaper finds a shaper that does what it should, and whose rate bounds what is sent nevertheless.
func busyShaper(n *facts.NIC, q facts.Qdisc) []Finding {
	const enough = 100_000 // packets
	if q.Sent.Value < enough || q.Overlimits.Value < q.Sent.Value/2 || !still(q.Overlimits) {
		return nil
	}
	found := one(n.Name+" "+q.Kind, []facts.Source{q.Overlimits.Source}, "its rate of %s was reached: %d overlimits, %d "+
		"packets sent", q.Rate, q.Overlimits.Value, q.Sent.Value)
	found[0].Because = "This is how a shaper in use works, and it keeps the delay low; nothing passes faster than its rate."
	return do(fmt.Sprintf("if the link carries more than %s, raise its bandwidth: tc qdisc change dev %s root cake "+
		"bandwidth RATE; in OpenWrt, option download and upload in /etc/config/sqm", q.Rate, n.Name), with(Info, found))
}

// fullBucket finds a token bucket that drops: tbf, or a policer of tc.
func fullBucket(n *facts.NIC, q facts.Qdisc) []Finding {
	share := lossShare(q.Dropped, q.Sent.Value)
	if q.Kind != "tbf" && q.Kind != "police" || q.Rate == 0 || q.Dropped.Value < 100 || share < fullDrops || !still(q.Dropped) {
		return nil
	}
	found := one(n.Name+" "+q.Kind, []facts.Source{q.Dropped.Source}, "its rate of %s is fully used: %s of the packets "+
		"were dropped, %s", q.Rate, percent(share), happened(q.Dropped))
	if q.Kind == "tbf" {
		return do(fmt.Sprintf("if the link carries more than %s, raise the rate (tc qdisc change ... tbf rate); to keep the "+
			"delay low, use cake, or fq_codel below it", q.Rate), found)
	}
	found[0].Because = "A policer has no queue: it drops immediately what exceeds its rate and burst, so a TCP connection " +
		"stays well below that rate."
	return do(fmt.Sprintf("if the link carries more than %s, raise the rate; otherwise shape instead of policing: redirect "+
		"ingress traffic to an ifb and shape it there (tc qdisc replace dev ifb0 root cake bandwidth %s ingress)", q.Rate,
		tcBits(float64(q.Rate))), found)
}

// tcBits is a rate as tc takes it.
func tcBits(v float64) string {
	if v >= 1e6 {
		return fmt.Sprintf("%smbit", units.Digits(v/1e6, 4))
	}
	return fmt.Sprintf("%skbit", units.Digits(v/1e3, 4))
}

// fullClass finds the class, without classes below it, that drops most.
func fullClass(n *facts.NIC) []Finding {
	var worst facts.Class
	var most float64
	for _, c := range n.Classes {
		if c.Kind == "pf" || c.Ceiling() == 0 || c.Dropped.Value < 100 || !still(c.Dropped) {
			continue
		}
		if share := lossShare(c.Dropped, c.Sent.Value); share >= fullDrops && share > most {
			worst, most = c, share
		}
	}
	if worst.ID == "" {
		return classAtCeiling(n)
	}
	found := one(n.Name+" "+worst.Kind+" "+worst.ID, []facts.Source{worst.Dropped.Source},
		"the class has a ceiling of %s and dropped %s of its packets: %s", worst.Ceiling(), percent(most),
		happened(worst.Dropped))
	if worst.Backlog > 0 {
		found[0].Summary += fmt.Sprintf("; its backlog is %s", units.Bytes(worst.Backlog))
	}
	return do(fmt.Sprintf("raise its ceil above %s if the link carries more, or check what is classified into it (tc -s "+
		"filter show)", worst.Ceiling()), found)
}

// classAtCeiling finds a class, without classes below it, that sent as fast as it may when tc measured its rate.
func classAtCeiling(n *facts.NIC) []Finding {
	const full = 0.95
	parents := map[string]bool{}
	for _, c := range n.Classes {
		parents[c.Parent] = true
	}
	for _, c := range n.Classes {
		if limit := c.Ceiling(); !parents[c.ID] && limit > 0 && float64(c.Measured) >= full*float64(limit) && c.Overlimits.Value > 0 {
			return do(fmt.Sprintf("raise its ceil above %s if the link carries more, or check what is classified into it (tc -s "+
				"filter show)", limit), one(n.Name+" "+c.Kind+" "+c.ID, []facts.Source{c.Sent.Source}, "the class sends %s, and its ceiling "+
				"is %s", c.Measured, limit))
		}
	}
	return nil
}

func cakeExample(delay string, drops int) string {
	return fmt.Sprintf("qdisc cake 8001: dev eth0 root refcnt 2 bandwidth 10Mbit besteffort triple-isolate "+
		"rtt 100ms raw overhead 0\n"+
		" Sent 42187227 bytes 88848 pkt (dropped %d, overlimits 88744 requeues 0)\n backlog 0b 0p requeues 0\n"+
		" memory used: 688896b of 4Mb\n capacity estimate: 10Mbit\n\n                  Tin 0\n  thresh         10Mbit\n"+
		"  target            5ms\n  pk_delay %13s\n  av_delay       1.1ms\n  pkts            89110\n  drops %15d\n "+
		" marks               0\n", drops, delay, drops)
}
