package diagnose

import (
	"fmt"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// sendRingFull finds cards that could not take what the host sends. What drivers count so: netvsc (netvsc_drv.c,
// netvsc.c: tx_send_full counts packets for which its copy buffer had no section, tx_no_space those that it dropped),
// vmxnet3 (vmxnet3_ethtool.c: ring full), FreeBSD's hn
// (if_hn.c: no_txdescs and send_failed count packets that were put back and sent later), virtio_net and gve (tx_stop), ena (queue_stop), mlx5 (en_stats.c: tx_xdp_full, rx_xdp_tx_full).
func sendRingFull() Rule {
	return Rule{
		ID: "send-ring-full", Title: "A card's transmit ring or buffer was full", Severity: Info,
		Systems: []string{"linux", "freebsd"}, Needs: []string{"linux:statistics *", "freebsd:settings"},
		Because: "The card, or the hypervisor behind a virtual card, takes packets more slowly than they are sent, or the " +
			"ring is too short for the bursts.",
		Confirm: "The counter grows while it is slow.",
		Check: func(in Input) (out []Finding) {
			for i := range in.Facts.NICs {
				n := &in.Facts.NICs[i]
				waited := nicMatching(n, sendWait)
				name, c := largest(nicMatching(n, sendLoss))
				severity, what := graded(c, sentPackets(n), Critical), "packets were dropped"
				if c.Value == 0 {
					name, c = largest(waited)
					severity, what = waitedSeverity(c, sentPackets(n)), "packets waited, or took the slow path"
				}
				if c.Value == 0 || !physical(n) || severity == trifling {
					continue
				}
				found := with(severity, one(n.Name, []facts.Source{c.Source}, "%s: %s is %s%s", what, printedName(name, c), happened(c),
					ofSent(n, c)))
				if n.Rings.TX > 0 && n.Rings.TX < n.Rings.TXMax {
					found = withFix(Fix{Setting: "ethtool:ring/tx", Interface: n.Name, Value: fmt.Sprint(n.Rings.TXMax)}, found)
				}
				out = append(out, do(sendRemedy(n), found)...)
			}
			return out
		},
		Fires: sendRingExample(75000),
		Quiet: sendRingExample(0),
	}
}

// sendRemedy is what helps where the card is full.
func sendRemedy(n *facts.NIC) string {
	if n.Driver == "hv_netvsc" || n.Counters["tx_send_full"].Source.Text != "" {
		return "enable accelerated networking (SR-IOV) for this VM; use more queues (ethtool -L " + n.Name +
			" combined N) and a larger ring (ethtool -G " + n.Name + " tx N)"
	}
	if n.Driver == "hn" {
		return "enable accelerated networking (SR-IOV) for this VM, or send smaller bursts"
	}
	return "use more queues (ethtool -L NAME combined N) and a larger transmit ring (ethtool -G NAME tx 4096), or send " +
		"smaller bursts"
}

// sendLoss tells packets that were dropped, sendWait those that were late, for want of room to send.
func sendLoss(s string) bool {
	return s == "tx_no_space" || s == "tx_no_memory" || strings.TrimSpace(s) == "drv dropped tx total" ||
		sends(s) && holdsAny(s, "ring_full_drop", "tx_queue_full_drop", "xdp_full") || strings.HasSuffix(s, "xdp_tx_full")
}

var queueStop = regexp.MustCompile(`^(?:queue_\d+_tx_queue_stop|tx_queue_\d+_(?:ring_full|stop)|` +
	`tx_stop_cnt\[\d+\]|tx_stop\[\d+\]|tx_queue_stopped|tx\d+_stopped)$`)

func sendWait(s string) bool {
	return s == "no_txdescs" || s == "send_failed" || s == "tx_send_full" || s == "tx_busy" || s == "stop_queue" || strings.TrimSpace(s) == "ring full" ||
		queueStop.MatchString(s)
}

// waitedSeverity is that of packets that were late: it is worth knowing from one in ten thousand on.
func waitedSeverity(c facts.Counter, sent uint64) Severity {
	const rare, often = 5e-5, 0.01
	share := lossShare(c, sent)
	switch {
	case c.Value == 0 || sent > 0 && share < rare || sent == 0 && c.Value < warningCount:
		return trifling
	case share >= often && still(c):
		return Warning
	}
	return Info
}

// sentPackets is the number of packets an interface sent.
func sentPackets(n *facts.NIC) uint64 {
	var queues uint64
	for name, c := range n.Counters {
		if queueSent.MatchString(name) {
			queues += c.Value
		}
	}
	return max(queues, n.Counters["link.tx_packets"].Value, n.Counters["tx_packets"].Value, n.Counters["netstat.Opkts"].Value)
}

var queueSent = regexp.MustCompile(`^(?:tx_queue_\d+_packets|tx-\d+\.packets|queue_\d+_tx_cnt|tx_packets\[\d+\]|` +
	`tx\d+_packets)$`)

// ofSent says of how many packets a counter is, where that is known.
func ofSent(n *facts.NIC, c facts.Counter) string {
	if total := sentPackets(n); total > 0 {
		return fmt.Sprintf(", %s of the packets (%d sent)", percent(lossShare(c, total)), total)
	}
	return ""
}

func sendRingExample(full int) Example {
	return linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000000, 0, 0, 0), "ethtool -S eth0",
		fmt.Sprintf("NIC statistics:\n     tx_send_full: %d\n     tx_queue_0_packets: 48000000\n", full))
}
