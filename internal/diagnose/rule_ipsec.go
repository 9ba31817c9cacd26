package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
)

// ipsecErrors finds packets that IPsec dropped (Documentation/networking/xfrm_proc.rst of Linux says what each counter counts).
func ipsecErrors() Rule {
	return Rule{
		ID: "ipsec-errors", Title: "IPsec drops packets", Needs: []string{"linux:ipsec|ipsec associations",
			"freebsd:counters", "openbsd:counters"},
		Severity: Warning,
		Because:  "Connections inside the tunnel see each of them as packet loss.",
		Confirm:  "The counter grows while it is slow (/proc/net/xfrm_stat, netstat -s).",
		Check: func(in Input) (out []Finding) {
			for _, reason := range ipsecReasons() {
				c := in.Facts.Counters[reason.counter]
				if c.Value < leastOfIPsec {
					continue
				}
				of, said := ipsecPackets(in.Facts, reason.counter), fmt.Sprint(c.Value)
				if of > c.Value {
					said += fmt.Sprintf(", %d passed", of)
				}
				out = append(out, do(reason.action, lost(c, of, one("IPsec", []facts.Source{c.Source}, "%s: %s", reason.said,
					said)))...)
			}
			return atMost(Warning, out) // since when it counts is not known
		},
		Fires: linuxExample("/proc/net/xfrm_stat", "XfrmInError             \t0\nXfrmInStateSeqError     \t52304\n"),
		Quiet: linuxExample("/proc/net/xfrm_stat", "XfrmInError             \t0\nXfrmInStateSeqError     \t5\n"),
	}
}

// ipsecPackets is the number of packets that a counter of lost ones belongs to; 0 is not known.
func ipsecPackets(f *facts.Facts, counter string) uint64 {
	protocol, what, _ := strings.Cut(counter, ".")
	switch {
	case protocol == "Xfrm":
		return total(f, "Xfrm.packets")
	case protocol == "ipsec" && strings.HasPrefix(what, "outbound"):
		return total(f, "esp.packet_out") + total(f, "ah.packet_out")
	case protocol == "ipsec":
		return total(f, "esp.packet_in") + total(f, "ah.packet_in")
	}
	return max(total(f, protocol+".packet_in"), total(f, protocol+".input_"+protocol+"_packet"))
}

// leastOfIPsec is from how many packets on it is more than what a change of keys costs.
const leastOfIPsec = 100

// What the counters of every system say, and what is done before an association stands.
const (
	cameTwice          = "packets were outside the replay window (reordered) or duplicates"
	forged             = "packets failed the integrity check"
	unknownAssociation = "packets arrived for an unknown SA"
	tooEarly           = "packets had to be sent before an SA was established"
	startWithTunnel    = "check the IKE log for SAs that expire or fail; bring them up with the tunnel, not on traffic " +
		"(strongSwan: start_action = start)"
)

func ipsecReasons() []ipsecReason {
	return slices.Concat([]ipsecReason{
		{"Xfrm.XfrmInStateSeqError", cameTwice,
			"enlarge the replay window at both ends (strongSwan: replay_window = 1024 in the child; ip xfrm: " +
				"replay-window), and find the source of the reordering: several paths, or encryption on several " +
				"CPUs"},
		{"Xfrm.XfrmInStateProtoError", forged,
			"compare the algorithms and truncation lengths of both ends (sha256 with 96 or 128 bits), and check " +
				"for devices that modify packets on the path"},
		{"Xfrm.XfrmInNoStates", unknownAssociation,
			"compare ip xfrm state on both ends: one end dropped an SA that the other still uses; enable dead peer detection " +
				"(strongSwan: dpd_delay = 30s)"},
		{"Xfrm.XfrmInTmplMismatch", "packets did not match the policy's template",
			"compare the traffic selectors and modes of both ends (ip xfrm policy)"},
		{"Xfrm.XfrmInNoPols", "packets matched no policy", "compare the traffic selectors of both ends (ip " +
			"xfrm policy)"},
		{"Xfrm.XfrmOutNoStates", tooEarly, startWithTunnel},
		{"Xfrm.XfrmInBufferError", "no buffer was free for inbound packets", "check free memory, and raise " +
			"net.core.netdev_max_backlog"},
	}, ipsecReasonsOfBSD("esp"), ipsecReasonsOfBSD("ah"), []ipsecReason{
		{"ipsec.outbound_packet_failed_due_to_insufficient_memory", "no memory was free for outbound packets",
			"check netstat -m for denied requests, and whether encryption keeps up (top -SH; use AES-GCM with AES-NI)"},
		{"ipsec.inbound_packet_failed_due_to_insufficient_memory", "no memory was free for inbound packets",
			"check netstat -m for denied requests"},
		{"ipsec.outbound_packet_with_no_sa_available", tooEarly, startWithTunnel},
	})
}

type ipsecReason struct{ counter, said, action string }

// ipsecReasonsOfBSD are what netstat -s of FreeBSD (usr.bin/netstat/ipsec.c) and OpenBSD (usr.bin/netstat/inet.c) counts
// of a protocol.
func ipsecReasonsOfBSD(protocol string) (all []ipsecReason) {
	const widen = "enlarge the replay window at both ends (strongSwan: replay_window = 1024 in the child), and " +
		"find the source of the reordering: several paths, or encryption on several CPUs"
	const compare = "compare the algorithms and truncation lengths of both ends, and check for devices that modify " +
		"packets on the path"
	const end = "compare the SAs on both ends (FreeBSD: setkey -D; OpenBSD: ipsecctl -ss): one end dropped an SA that the " +
		"other still uses; enable dead peer detection"
	const full, faster = "the output queue was full", "check whether encryption keeps up (top -SH)"
	for _, r := range []ipsecReason{{"possible_replay_packet_detected", cameTwice, widen},
		{"possibly_replayed_packet_received", cameTwice, widen},
		{"packet_dropped_bad_authentication_detected", forged, compare},
		{"packet_that_failed_verification_received", forged, compare},
		{"packet_dropped_no_tdb", unknownAssociation, end}, {"packet_for_which_no_tdb_was_found", unknownAssociation, end},
		{"packet_dropped_queue_full", full, faster}, {"packet_were_dropped_due_to_full_output_queue", full, faster}} {
		all = append(all, ipsecReason{protocol + "." + r.counter, r.said, r.action})
	}
	return all
}
