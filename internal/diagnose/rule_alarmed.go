package diagnose

import (
	"strconv"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// alarmedDrops finds alarms of netdata about dropped packets (its health.d/net.conf).
func alarmedDrops() Rule {
	return Rule{
		ID: "drops-alarmed", Title: "A monitor reports dropped packets", Needs: []string{"messages"},
		Severity: Warning,
		Because: "Outbound drops are those of the interface's own queue, of a TUN device that the program behind it reads too " +
			"slowly; inbound ones are of a full backlog, or packets that nobody wanted.",
		Confirm: "ip -s link show NAME counts them, tc -s qdisc show tells whether a queue was full.",
		Check: func(in Input) []Finding {
			for i, line := range in.Facts.Lines("dmesg") {
				m := droppedRatio.FindStringSubmatch(line)
				if m == nil {
					continue
				}
				percent, err := strconv.ParseFloat(m[3], 64)
				severity := gradedShare(percent / 100)
				if err != nil || percent > 100 || severity == trifling {
					continue
				}
				if severity == Critical || m[2] == "inbound" {
					severity = map[string]Severity{"inbound": Info, "outbound": Warning}[m[2]]
				}
				found := with(severity, one(m[1], []facts.Source{in.Facts.Line("dmesg", i+1)}, "%s%% of the %s packets were "+
					"dropped", m[3], m[2]))
				found[0].Share = percent / 100
				return do("lengthen the queue of the interface (ip link set dev NAME txqueuelen 1000 or more), and give the "+
					"program behind it more processor time", found)
			}
			return nil
		},
		Fires: linuxExample("dmesg", "host needs attention, net_packets.tun0 (tun0), outbound packets dropped ratio = 0.33%\n"),
		Quiet: linuxExample("dmesg", "host recovered, net_packets.tun0 (tun0), outbound packets dropped ratio = 0%\n"),
	}
}

var droppedRatio = regexp.MustCompile(`\bnet_(?:packets|drops)\.(\S+) .*\b(inbound|` +
	`outbound) packets dropped ratio = (\d{1,3}(?:\.\d+)?)%`)
