package diagnose

import (
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
)

// Every driver has names of its own for what ethtool -S and dev.NAME.UNIT
// count. The kinds below tell them by the words they are made of, so that a
// driver nobody has seen is understood too.

// nicMatching returns the counters above zero of one kind.
func nicMatching(n *facts.NIC, is func(lower string) bool) map[string]facts.Counter {
	found := map[string]facts.Counter{}
	for name, c := range n.Counters {
		if name == "rx_dropped" && countsDiscards(n) {
			name = "port.rx_dropped"
		}
		if c.Value > 0 && is(strings.ToLower(name)) {
			found[name] = c
		}
	}
	return found
}

// countsDiscards reports whether ethtool's rx_dropped is what the card itself discarded, as ice has it (ice_ethtool.c:
// eth_stats.rx_discards): other drivers print the kernel's own drops under that name.
func countsDiscards(n *facts.NIC) bool {
	if n.Driver != "" {
		return n.Driver == "ice"
	}
	for name := range n.Counters {
		if strings.HasPrefix(name, "port.rx_") || strings.HasPrefix(name, "port.mac_") {
			return true
		}
	}
	return false
}

func holdsAny(s string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}

// ofReceiving reports whether a name speaks of the receiving side.
func ofReceiving(s string) bool {
	return holdsAny(s, "rx", "recv", "receive", "indropped", "in_", "missed") && !sends(s)
}

func sends(s string) bool {
	return strings.HasPrefix(s, "tx") || holdsAny(s, "_tx", ".tx", "[tx", "xoff_txd", "_sent", " tx ", "xmit")
}

// ringDrop tells packets that found no descriptor or no room in the card.
func ringDrop(s string) bool {
	// ixl counts below the name of its function; vtnet names the drops of a queue so
	if slices.Contains(ringDropNames(), strings.TrimPrefix(s, "pf.")) || strings.HasSuffix(s, ".iqdrops") {
		return true
	}
	if !ofReceiving(s) || holdsAny(s, "irq", "xdp", "csum", "tls", "ipsec", "macsec", "ktls", "cache", "recycle",
		"alloc", "bytes", "xon", "xoff", "pause", "len", "undersize", "oversize", "ptp", "stats_block") {
		return false
	}
	return holdsAny(s, "no_buf", "nobuf", "no buf", "no_desc", "nodesc", "no_dma", "out_of_buf", "overflow", "ovflow",
		"ovrfl", "overrun", "missed", "fifo_err", "no_mem", "ring_full",
		"queue_full_drop", "fullq_drop", "bm_drop", "no_pbuf", "no_erx", "no_frags")
}

// ringDropNames are those that the words do not tell, in lower case.
func ringDropNames() []string {
	return []string{"link.rx_missed", "link.rx_overrun", "link.rx_errors_fifo", "rx_over_errors",
		"rx_discards_phy", "rx_fw_discards", "rx_drops_no_pbuf", "rx_drops_no_frags", "no_buff_discards",
		"rx_total_discard_pkts", "dev_rx_discards", "netstat.idrop", "rx_discards", "rx_brb_discard", "port.rx_dropped",
		"pkts rx oob",
		"mac_stats.recv_no_buff", "recv_no_buff", "rx_total_ring_discards", "rx_bg0_frames_dropped",
		"rx_bg1_frames_dropped", "[hw] rx nobuffer discards",
		"rbuf_ovflow_cnt", "indroppeddma", "rxbds_empty", "rx_drops.nic", "rx_dropped.nic", "ieee_rx_macerr",
		"rx_ov_rrd", "rx_ov_rxf", "rx_resource_errors", "com_no_buffers", "stats.nomorerxbds"} // bce, bge of FreeBSD
}

// damagedFrame tells frames damaged on the wire.
func damagedFrame(s string) bool {
	if sends(s) || holdsAny(s, "macsec", "csum", "checksum", "roce", "discard") {
		return false
	}
	if holdsAny(s, "rx", "mac", "recv", "in_", "bad_crc", "align") && holdsAny(s, "crc", "fcs", "frame_check",
		"symbol_err") {
		return true
	}
	return holdsAny(s, "uncorrectable_block", "fec_uncor", "rx_frame_errors", "rx_align", "alignment_errs", "align_errors")
}

// pauseReceived and pauseSent tell pause frames of either direction, those of
// priorities (802.1Qbb) too.
func pauseReceived(s string) bool {
	return pauseFrame(s) && !sends(s) && holdsAny(s, "rx", "recv", "received") || s == "good_fc_received" ||
		s == "ieee_rx_fdxfc"
}

func pauseSent(s string) bool {
	return pauseFrame(s) && sends(s) || s == "fc_sent" || s == "ieee_tx_fdxfc"
}

func pauseFrame(s string) bool {
	return holdsAny(s, "pause", "xoff") && !holdsAny(s, "duration", "transition", "storm", "event", "xon_", "_xon",
		"irq", "discard", "2_xoff")
}
