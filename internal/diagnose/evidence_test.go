package diagnose

import (
	"slices"
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/facts"
)

// The quoted part of a long line of ss is that of the connection itself, also
// where each connection is one line (ss -O), and holds what proves the finding.
func TestFlowEvidenceIsItsOwn(t *testing.T) {
	pad := " skmem:(r0,rb131072,t0,tb87040,f0,w0,o0,bl0,d0) ts sack cubic wscale:7,7 rto:250 rcv_space:14480 " +
		"rcv_ssthresh:64088 bytes_sent:123456789 bytes_acked:900000000 segs_out:700000"
	one := "ESTAB 0 262144 192.0.2.1:443 198.51.100.9:5000" + pad + " rtt:50.2/0.1 mss:1448 cwnd:400 busy:9000ms " +
		"rwnd_limited:7000ms(77.8%)\n"
	other := "ESTAB 0 0 192.0.2.1:443 198.51.100.7:5001" + pad +
		" rtt:3/0.1 mss:1200 cwnd:11 busy:10ms rwnd_limited:1ms(10.0%)\n"
	for what, text := range map[string]string{
		"one line each": one + other,
		"two lines":     strings.ReplaceAll(one+other, " skmem", "\n\t skmem"),
		"three lines":   strings.ReplaceAll(strings.ReplaceAll(one+other, " skmem", "\n\t skmem"), " rtt:", "\n\t rtt:"),
	} {
		f, err := facts.FromTexts("a", map[string]string{"uname -a": unameLinux,
			"ss -tinm": "State Recv-Q Send-Q Local Peer\n" + text}, 0)
		if err != nil {
			t.Fatal(err)
		}
		found, _ := Evaluate(Input{Facts: f})
		if len(found) != 1 || found[0].Rule != "receive-window-limited" {
			t.Fatalf("%s: %+v", what, found)
		}
		got := found[0].Evidence[0].Text
		if !strings.Contains(got, "rwnd_limited:7000ms(77.8%)") || !strings.Contains(got, "mss:1448") ||
			strings.Contains(got, "mss:1200") {
			t.Errorf("%s: %s", what, got)
		}
	}
}

// A window that losses at the start made small and that grows by a segment a
// round trip is held back by the network, however few they were; one that left
// slow start without loss, and one before a queue, is not.
func TestWindowGrowsBack(t *testing.T) {
	for details, want := range map[string]bool{
		"rtt:40.4/0.1 minrtt:40 cwnd:120 ssthresh:7 unacked:120 retrans:0/5":             true,
		"rtt:40.4/0.1 minrtt:40 cwnd:120 ssthresh:60 unacked:120":                        false,
		"rtt:95.0/0.1 minrtt:40 cwnd:120 ssthresh:7 unacked:120 retrans:0/5":             false,
		"rtt:40.4/0.1 minrtt:40 cwnd:120 ssthresh:7 unacked:20 retrans:0/5":              false,
		"rtt:40.4/0.1 minrtt:40 cwnd:120 ssthresh:7 unacked:120 retrans:0/5 app_limited": false,
	} {
		line := "ESTAB 0 262144 192.0.2.1:443 198.51.100.9:5000\n\t reno wscale:7,7 mss:1448 bytes_acked:10470526 " +
			"segs_out:7359 busy:4872ms " + details + "\n"
		f, err := facts.FromTexts("a", map[string]string{"uname -a": unameLinux,
			"ss -tinm": "State Recv-Q Send-Q Local Peer\n" + line}, 0)
		if err != nil {
			t.Fatal(err)
		}
		found, _ := Evaluate(Input{Facts: f})
		if got := slices.Contains(ids(found), "network-limited"); got != want {
			t.Errorf("%s: network-limited %v: %+v", details, got, found)
		}
		if want && !strings.Contains(found[0].Summary, "it fell to 7 and is growing again") {
			t.Error(found[0].Summary)
		}
	}
}

// Names of counters tell what they count, in drivers of every kind.
func TestCounterNames(t *testing.T) {
	for _, tt := range []struct {
		is    func(string) bool
		yes   string
		never string
	}{
		{ringDrop, "rx_missed_errors rx_no_buffer_count rx_fifo_errors rx_no_dma_resources rx_out_of_buffer " +
			"rx_discards_phy port_rx_nodesc_drops rx_no_bufs rbuf_ovflow_cnt mmc_rx_fifo_overflow rx_overruns " +
			"indroppeddma rx_missed rx_hw_drop_overruns rx_no_buffers_posted mac_stats.missed_packets " +
			"rxq_queue_full_drops rxbds_empty rx_bg0_frames_dropped",
			"rx_packets tx_fifo_errors tx_missed rx_csum_offload_errors rx_queue_0_xdp_drops rx_crc_errors " +
				"rx_dropped rx_length_errors rx_alloc_failed rx_pause_frames rx_bytes rx_overflow_irq tx_no_buffer"},
		{ownBuffer, "rx_discards_phy rx_brb_discard rx_bg0_frames_dropped", "rx_out_of_buffer rx_missed_errors rx_no_buffer_count"},
		{bufferOrRing, "rx_missed_errors rx_fifo_errors rx_over_errors mac_stats.missed_packets rx_hw_drop_overruns",
			"rx_out_of_buffer rx_no_buffer_count port_rx_nodesc_drops rx_discards_phy"},
		{damagedFrame, "rx_crc_errors rx_crc_errors_phy rx_symbol_err_phy rx_fcs_errors rx_crc_errors.nic " +
			"rx_fcs_err_frames mmc_rx_crc_error bad_crc_event rx_frame_errors rx_align_errors mac_stats.crc_errs " +
			"in_fcs_error mac_rx_fcs_err_pkt_num",
			"tx_crc_errors roce_drops_crc rx_tcp_checksum_errs rx_csum_none tx_fcs_err rx_errors macsec_rx_crc"},
		{pauseReceived, "rx_flow_control_xoff rx_pause_ctrl_phy rx_pause_frames port.link_xoff_rx link_xoff_rx.nic " +
			"mac_stats.xoff_recvd rx_prio3_pause mac_rx_mac_pause_num port_rx_pause",
			"tx_flow_control_xoff rx_flow_control_xon rx_global_pause_duration rx_pause_storm_warning_events link_xoff_tx.nic"},
		{pauseSent, "tx_flow_control_xoff tx_pause_ctrl_phy port.link_xoff_tx link_xoff_tx.nic mac_stats.xoff_txd " +
			"tx_prio0_pause", "rx_flow_control_xoff tx_flow_control_xon tx_global_pause_duration"},
	} {
		for _, name := range strings.Fields(tt.yes) {
			if !tt.is(name) {
				t.Errorf("%s is not told", name)
			}
		}
		for _, name := range strings.Fields(tt.never) {
			if tt.is(name) {
				t.Errorf("%s is taken for what it is not", name)
			}
		}
	}
}

// What is shown of a line holds the message that a rule found in it, however far behind it stands: a rule takes the names
// from there.
func TestEvidenceIsAroundTheMessage(t *testing.T) {
	pad := strings.Repeat("long before it, ", 40)
	for _, message := range []string{"netmap_transmit vtnet0 full hwcur 5", "br0: invalid MTU: 1500(epair0a) != 9000",
		"ix0: discard oversize frame (ether type 800 flags 3 len 9014 > max 1514)",
		"igb0: Interface stopped DISTRIBUTING, possible flapping " + pad + "\nigb0: Interface stopped DISTRIBUTING\n" +
			"igb0: Interface stopped DISTRIBUTING", "em0: RX packet lost, overrun",
		"igb0: discard oversize frame (ether type 800 flags 3 len 9014 > max 1514)", "ena0: Rx ring 1 is stalled. Triggering",
		"igc1 Watchdog timeout",
		"re0: error reading netmap data via polling: No error: 0"} {
		f, err := facts.FromTexts("a", map[string]string{"uname -a": "FreeBSD a 14.1-RELEASE",
			"dmesg": pad + message + "\n"}, 0)
		if err != nil {
			t.Fatal(err)
		}
		found, _ := Evaluate(Input{Facts: f})
		first, _, _ := strings.Cut(message, " flapping")
		for _, x := range found {
			if len(x.Evidence) > 0 && !strings.Contains(x.Evidence[0].Text, strings.Fields(first)[0]) {
				t.Errorf("%s: %s", message, x.Evidence[0].Text)
			}
		}
		if len(found) == 0 && !strings.Contains(message, "Watchdog") { // which has to stand alone
			t.Errorf("%s: nothing was found", message)
		}
	}
}
