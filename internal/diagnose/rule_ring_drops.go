package diagnose

import (
	"fmt"

	"github.com/wirerate/wirerate/internal/facts"
)

// ringDrops finds packets that a NIC dropped for want of a descriptor.
func ringDrops() Rule {
	return Rule{
		ID: "ring-drops", Title: "A network card dropped packets before the host took them", Severity: Warning,
		Systems: []string{"linux", "freebsd"}, Needs: []string{"linux:links|statistics *|ifconfig", "freebsd:settings|interface counters"},
		Because: "The receive ring had no free descriptor: the host does not empty it fast enough, or bursts are longer than the ring.",
		Confirm: "The counter grows at the rate of the loss that TCP sees.",
		Check: func(in Input) (out []Finding) {
			for i := range in.Facts.NICs {
				n := &in.Facts.NICs[i]
				name, c := largest(nicCounters(n, ringDropCounters()...))
				if c.Value == 0 || !physical(n) {
					continue
				}
				found := with(graded(c, received(n), 1e-6, Warning), one(n.Name, []facts.Source{c.Source}, "%s: %s%s", name, happened(c), ofReceived(n)))
				if n.Rings.RX > 0 && n.Rings.RX < n.Rings.RXMax {
					found[0].Fix = append(found[0].Fix, Fix{Setting: "ethtool:ring/rx"})
				}
				out = append(out, do("spread the receive work over more cores, or let the host take more packets at a time", found)...)
			}
			return out
		},
		Fires: linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000000, 0, 0, 5000)),
		Quiet: linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000000, 0, 0, 0)),
	}
}

// ringDropCounters are the names under which drivers count packets that found
// no descriptor or no room in the card.
func ringDropCounters() []string {
	return []string{"link.rx_missed", "link.rx_overrun", "rx_missed_errors", "rx_no_buffer_count", "rx_fifo_errors", "rx_no_dma_resources", "rx_out_of_buffer",
		"rx_discards_phy", "rx_over_errors", "rx_fw_discards", "port_rx_nodesc_drops", "rx_nodesc_drops", "rx_drops_no_pbuf", "rx_drops_no_frags", "rx_no_bufs", "no_buff_discards",
		"rx_total_discard_pkts", "dev_rx_discards", "netstat.Idrop", "rx_missed", "rx_discards", "rx_brb_discard", "port.rx_dropped", "pkts rx OOB", "rx_overruns",
		"mac_stats.missed_packets", "mac_stats.recv_no_buff", "missed_packets", "recv_no_buff", "mac_stats.rx_missed_packets",
		"rx_nodesc_drop_cnt", "mmc_rx_fifo_overflow", "rx_total_ring_discards", "rx_bg0_frames_dropped", "rx_bg1_frames_dropped", "[hw] rx nobuffer discards"}
}

// ofReceived says of how many packets, where that is known.
func ofReceived(n *facts.NIC) string {
	if total := received(n); total > 0 {
		return fmt.Sprintf(" of %d packets received", total)
	}
	return ""
}
