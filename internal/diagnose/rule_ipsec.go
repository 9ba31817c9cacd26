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
		Because:  "To the connections inside the tunnel each of them is a loss.",
		Confirm:  "The counter grows while it is slow (/proc/net/xfrm_stat, netstat -s).",
		Check: func(in Input) (out []Finding) {
			for _, reason := range ipsecReasons() {
				c := in.Facts.Counters[reason.counter]
				if c.Value < leastOfIPsec {
					continue
				}
				of, said := ipsecPackets(in.Facts, reason.counter), fmt.Sprint(c.Value)
				if of > c.Value {
					said += fmt.Sprintf(" beside %d that passed", of)
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
	cameTwice          = "packets came out of order by more than the replay window, or twice"
	forged             = "packets did not pass the check of their contents"
	unknownAssociation = "packets came for an association that this end does not have"
	tooEarly           = "packets were to be sent before an association stood"
	startWithTunnel    = "look at the log of the key exchange for associations that end or fail; start them with the tunnel, not " +
		"with its traffic"
)

func ipsecReasons() []ipsecReason {
	return slices.Concat([]ipsecReason{
		{"Xfrm.XfrmInStateSeqError", cameTwice,
			"widen the window of both ends (strongSwan: replay_window = 1024 of the child; ip xfrm: " +
				"replay-window), and look for what " +
				"reorders them: several paths, or several processors that encrypt"},
		{"Xfrm.XfrmInStateProtoError", forged,
			"compare the algorithms and lengths of both ends (sha256 of 96 or 128 bits), and look for what " +
				"changes packets on the way"},
		{"Xfrm.XfrmInNoStates", unknownAssociation,
			"compare ip xfrm state of both ends: one forgot an association that the other still uses; let dead " +
				"peer detection end it"},
		{"Xfrm.XfrmInTmplMismatch", "packets came that the policy does not expect in this way",
			"compare the selectors and modes of both ends (ip xfrm policy)"},
		{"Xfrm.XfrmInNoPols", "packets came for which there is no policy", "compare the selectors of both ends " +
			"(ip xfrm policy)"},
		{"Xfrm.XfrmOutNoStates", tooEarly, startWithTunnel},
		{"Xfrm.XfrmInBufferError", "there was no buffer for what came", "look at the memory, and raise " +
			"net.core.netdev_max_backlog"},
	}, ipsecReasonsOfBSD("esp"), ipsecReasonsOfBSD("ah"), []ipsecReason{
		{"ipsec.outbound_packet_failed_due_to_insufficient_memory", "there was no memory for what was to be sent",
			"look at netstat -m for denied requests, and whether the encryption keeps up: top -SH, AES-GCM that " +
				"the processor computes"},
		{"ipsec.inbound_packet_failed_due_to_insufficient_memory", "there was no memory for what came",
			"look at netstat -m for denied requests"},
		{"ipsec.outbound_packet_with_no_sa_available", tooEarly, startWithTunnel},
	})
}

type ipsecReason struct{ counter, said, action string }

// ipsecReasonsOfBSD are what netstat -s of FreeBSD (usr.bin/netstat/ipsec.c) and OpenBSD (usr.bin/netstat/inet.c) counts
// of a protocol.
func ipsecReasonsOfBSD(protocol string) (all []ipsecReason) {
	const widen = "widen the window of both ends (strongSwan: replay_window = 1024 of the child), and look for what reorders " +
		"them: several paths, or several processors that encrypt"
	const compare = "compare the algorithms and lengths of both ends, and look for what changes packets on the way"
	const end = "compare the associations of both ends (FreeBSD: setkey -D; OpenBSD: ipsecctl -ss): one forgot an " +
		"association that the " +
		"other still uses; let dead peer detection end it"
	const full, faster = "the queue of what was to be sent was full", "see whether the encryption keeps up (top -SH)"
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
