package diagnose

import (
	"cmp"
	"strconv"

	"github.com/wirerate/wirerate/internal/facts"
)

// alarmTexts are what alarms about dropped packets mean, those first that say most.
var alarmTexts = []struct {
	name, said, do, because string
	severity                Severity
}{
	{"outbound packets dropped ratio", "%s of the packets to be sent were dropped",
		"lengthen the queue of the interface (ip link set dev NAME txqueuelen 1000 or more), and give the program behind it " +
			"more processor time", "", Warning},
	{"netdev backlog exceeded", "at least %s packets were dropped at a full backlog within a minute",
		"sysctl -w net.core.netdev_max_backlog=4096, and spread the packets over more cores (ethtool -L, RPS)",
		"Packets wait there for their core: it is too slow for what arrives.", Warning},
	{"fifo errors", "%s packets found the card's buffer full in ten minutes",
		"enlarge the receive ring (ethtool -G NAME rx 4096, see its maximum with ethtool -g)",
		"The host did not empty the card's ring in time.", Warning},
	{"receive errors", "%s packets arrived damaged, or found no buffer, in two minutes",
		"ethtool -S NAME | grep -E 'crc|missed|fifo|no_buf' tells which: damaged ones point at cable, transceiver or port, the " +
			"others at the ring (ethtool -G NAME rx 4096)", "node_exporter adds up every kind of receive error.", Warning},
	{"transmit errors", "%s packets could not be sent, in two minutes",
		"ethtool -S NAME | grep -E 'tx.*err|carrier' tells which kind it was; look at the link's state in dmesg",
		"node_exporter adds up every kind of transmit error.", Warning},
	{"inbound packets dropped ratio", "%s of what arrived was dropped",
		"look at the second column of /proc/net/softnet_stat: where it grows, raise net.core.netdev_max_backlog; where it does " +
			"not, nobody wanted these packets", "", Info},
	{"netdev budget ran outs", "its receive processing ran out of its budget at least %s times within a minute",
		"sysctl -w net.core.netdev_budget=600 net.core.netdev_budget_usecs=4000", "More waited than one round may take.", Info},
}

// alarmedDrops finds alarms about dropped packets: of netdata (its health.d/net.conf and softnet.conf), and of
// node_exporter's mixin (alerts/alerts.libsonnet).
func alarmedDrops() Rule {
	return Rule{
		ID: "drops-alarmed", Title: "A monitor reports dropped packets", Needs: []string{"alarms"},
		Severity: Warning,
		Because: "Outbound drops are those of the interface's own queue, of a TUN device that the program behind it reads too " +
			"slowly; inbound ones are of a full backlog, or packets that nobody wanted.",
		Confirm: "ip -s link show NAME counts them, tc -s qdisc show tells whether a queue was full.",
		Check: func(in Input) []Finding {
			for _, t := range alarmTexts {
				for _, a := range in.Facts.Alarms {
					said, severity := percent(a.Share), gradedShare(a.Share)
					if a.Share > 1 {
						said = "more than 100%"
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
						"its monitor says that "+t.said, said)))
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
