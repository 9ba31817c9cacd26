package diagnose

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/wirerate/wirerate/internal/facts"
)

// alarmTexts are what alarms about dropped packets mean, those first that say most.
var alarmTexts = []struct {
	name, said, do, because string
	severity                Severity
}{
	{"outbound packets dropped ratio", "%s outbound packets were dropped",
		"lengthen the interface's queue (ip link set dev NAME txqueuelen 1000 or more), and give the program behind it more " +
			"CPU time", "", Warning},
	{"netdev backlog exceeded", "at least %s packets were dropped at a full backlog within a minute",
		"sysctl -w net.core.netdev_max_backlog=4096, and spread the packets over more cores (ethtool -L NAME combined N, or RPS)",
		"Packets wait in the backlog for their core, which is too slow for what arrives.", Warning},
	{"fifo errors", "the card's buffer overflowed %s times in ten minutes",
		"enlarge the receive ring: ethtool -G NAME rx 4096 (ethtool -g NAME shows the maximum)",
		"The host did not drain the card's ring in time.", Warning},
	{"receive errors", "%s packets arrived corrupted or found no buffer, in two minutes",
		"ethtool -S NAME | grep -E 'crc|missed|fifo|no_buf' shows which: CRC errors point at cable, transceiver or port; the " +
			"others at the ring (ethtool -G NAME rx 4096)", "node_exporter sums all kinds of receive errors.", Warning},
	{"transmit errors", "%s packets could not be sent in two minutes",
		"ethtool -S NAME | grep -E 'tx.*err|carrier' shows the kind of error; check dmesg for link changes",
		"node_exporter sums all kinds of transmit errors.", Warning},
	{"inbound packets dropped ratio", "%s inbound packets were dropped",
		"check the second column of /proc/net/softnet_stat: if it grows, raise net.core.netdev_max_backlog; if not, no " +
			"protocol on this host wanted these packets", "", Info},
	{"netdev budget ran outs", "receive processing ran out of its budget at least %s times",
		"sysctl -w net.core.netdev_budget=600 net.core.netdev_budget_usecs=4000", "More packets were waiting than one softirq " +
			"run may process.", Info},
}

// alarmedDrops finds alarms about dropped packets: of netdata (its health.d/net.conf and softnet.conf), and of
// node_exporter's mixin (alerts/alerts.libsonnet).
func alarmedDrops() Rule {
	return Rule{
		ID: "drops-alarmed", Title: "A monitor reports dropped packets", Needs: []string{"alarms"},
		Severity: Warning,
		Because: "Outbound drops come from the interface's own queue, or from a TUN device whose program reads too slowly; " +
			"inbound drops come from a full backlog, or are packets that no protocol wanted.",
		Confirm: "ip -s link show NAME counts them, and tc -s qdisc show tells whether a queue was full.",
		Check: func(in Input) []Finding {
			for _, t := range alarmTexts {
				for _, a := range in.Facts.Alarms {
					said, severity := percent(a.Share)+" of", gradedShare(a.Share)
					if a.Share > 1 { // drops are counted beside the packets that passed
						said = fmt.Sprintf("for every 100 that passed, %.0f", 100*a.Share)
					}
					if a.Count > 0 {
						said, severity = strconv.FormatFloat(a.Count, 'f', -1, 64), t.severity
					}
					if a.Name != t.name || severity == trifling {
						continue
					}
					if severity.AtLeast(t.severity) {
						severity = t.severity
					}
					found := do(t.do, with(severity, one(cmp.Or(a.Interface, "interface"), []facts.Source{a.Source},
						"the monitoring reports: "+t.said, said)))
					found[0].Share, found[0].Because = a.Share, t.because
					return found
				}
			}
			return nil
		},
		Fires: linuxExample(facts.Alarms, "host needs attention, net_packets.tun0 (tun0), outbound packets dropped ratio = "+
			"0.33%\n"),
		Quiet: linuxExample(facts.Alarms, "host recovered, net_packets.tun0 (tun0), outbound packets dropped ratio = 0%\n"),
	}
}
