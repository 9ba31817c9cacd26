package diagnose

import (
	"cmp"
	"math"
	"slices"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/units"
)

// fullShare is the share of a link's rate from which on it is full.
const fullShare = 0.9

// linkFull finds a link that carries all it can.
func linkFull() Rule {
	return Rule{
		ID: "link-full", Title: "A link is saturated", Needs: []string{"linux:activity|alarms",
			"freebsd:interface rates|interface traffic|alarms",
			"openbsd:interface rates|alarms"},
		Severity: Warning,
		Because:  "What exceeds the link rate waits in queues and is then dropped.",
		Confirm:  "The rate stays at this level as long as it is slow.",
		Check: func(in Input) (out []Finding) {
			for i := range in.Facts.NICs {
				n := &in.Facts.NICs[i]
				used := float64(n.Counters["link.ifutil"].Value) / 100
				for _, way := range []struct{ counter, verb string }{{"link.rx_bytes", "receives"},
					{"link.tx_bytes", "sends"},
					{"netstat.Ibytes", "receives"}, {"netstat.Obytes", "sends"}} {
					c := n.Counters[way.counter]
					if c.Rate == nil || !physical(n) {
						continue
					}
					link := n.Speed
					if link == 0 && used >= fullShare {
						link = usualLink(8 * *c.Rate / used)
					}
					if link == 0 && gigabitCard(n) {
						link = units.Gbit
					}
					if link == 0 || 8**c.Rate < fullShare*float64(link) {
						continue
					}
					out = append(out, do("use a faster link, or spread the traffic over more links; if delay matters more, shape to "+
						"about 95% of this rate", one(n.Name, []facts.Source{c.Source, n.Counters["link.ifutil"].Source}, "it %s %s of "+
						"%s", way.verb, rate(8**c.Rate), link))...)
				}
			}
			return append(out, alarmedLinks(in.Facts)...)
		},
		Fires: linuxExample("sar", sarExample("119885.43", "98.21")),
		Quiet: linuxExample("sar", sarExample("19885.43", "16.29")),
	}
}

// gigabitCard tells cards of the BSDs that have no faster ports than Gigabit Ethernet's.
func gigabitCard(n *facts.NIC) bool {
	return slices.Contains([]string{"em", "igb", "bge", "bce", "msk", "alc", "age", "nfe", "sk"}, n.Driver) &&
		n.Counters["netstat.Ibytes"].Rate != nil
}

// alarmedLinks finds interfaces of which a monitor says that they carried nearly their rate for a minute.
func alarmedLinks(f *facts.Facts) []Finding {
	for _, a := range f.Alarms {
		way := map[string]string{"received traffic overflow": "received", "sent traffic overflow": "sent"}[a.Name]
		if way != "" && a.Share >= 0.85 { // where netdata's own warning begins
			return do("use a faster link, or spread the traffic over more links; check that the monitoring has the right link "+
				"speed", one(cmp.Or(a.Interface, "interface"), []facts.Source{a.Source},
				"according to the monitoring it %s %s%% of its rate over a minute", way, units.Digits(100*a.Share, 3)))
		}
	}
	return nil
}

// usualLink is the rate of Ethernet that is within a tenth of the given one; 0 is none. Some versions of sar print
// shares of links that do not exist.
func usualLink(bps float64) units.Rate {
	for _, link := range []units.Rate{100 * units.Mbit, units.Gbit, 2.5e9, 5e9, 10 * units.Gbit, 25 * units.Gbit,
		40 * units.Gbit, 50 * units.Gbit, 100 * units.Gbit} {
		if math.Abs(bps-float64(link)) < 0.1*float64(link) {
			return link
		}
	}
	return 0
}

func sarExample(received, used string) string {
	return "14:20:01 IFACE rxpck/s txpck/s rxkB/s txkB/s rxcmp/s txcmp/s rxmcst/s %ifutil\n" +
		"14:30:01 eth0 82122.14 41192.72 " + received + " 2807.04 0.00 0.00 0.10 " + used + "\n"
}
