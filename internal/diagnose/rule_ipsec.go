package diagnose

import (
	"fmt"

	"github.com/wirerate/wirerate/internal/facts"
)

// ipsecErrors finds packets that IPsec dropped (Documentation/networking/xfrm_proc.rst of Linux says what each counter counts).
func ipsecErrors() Rule {
	return Rule{
		ID: "ipsec-errors", Title: "IPsec drops packets", Needs: []string{"linux:ipsec|ipsec associations",
			"freebsd:counters", "openbsd:counters"}, Severity: Warning,
		Because: "To the connections inside the tunnel each of them is a loss.",
		Confirm: "The counter (/proc/net/xfrm_stat, netstat -s -p esp) grows while it is slow.",
		Check: func(in Input) (out []Finding) {
			for _, reason := range ipsecReasons {
				c, all := in.Facts.Counters["Xfrm."+reason.counter], "Xfrm.packets"
				if in.Facts.System != "linux" {
					c, all = in.Facts.Counters["esp."+reason.onBSD], "esp.packet_in"
				}
				if c.Value < leastOfIPsec {
					continue
				}
				of, said := total(in.Facts, all), fmt.Sprint(c.Value)
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

// leastOfIPsec is from how many packets on it is more than what a change of keys costs.
const leastOfIPsec = 100

// onBSD is the counter that netstat -s -p esp of FreeBSD shows (usr.bin/netstat/ipsec.c), where it has one.
var ipsecReasons = []struct{ counter, onBSD, said, action string }{
	{"XfrmInStateSeqError", "possible_replay_packet_detected", "packets came out of order by more than the replay window, or twice",
		"widen the window of both ends (strongSwan: replay_window = 1024 of the child; ip xfrm: replay-window), and look for what " +
			"reorders them: several paths, or several processors that encrypt"},
	{"XfrmInStateProtoError", "packet_dropped_bad_authentication_detected", "packets did not pass the check of their contents",
		"compare the algorithms and lengths of both ends (sha256 of 96 or 128 bits), and look for what changes packets on the way"},
	{"XfrmInNoStates", "packet_dropped_no_tdb", "packets came for an association that this end does not have",
		"compare ip xfrm state of both ends: one forgot an association that the other still uses; let dead peer detection end it"},
	{"XfrmInTmplMismatch", "", "packets came that the policy does not expect in this way",
		"compare the selectors and modes of both ends (ip xfrm policy)"},
	{"XfrmInNoPols", "", "packets came for which there is no policy", "compare the selectors of both ends (ip xfrm policy)"},
	{"XfrmOutNoStates", "", "packets were to be sent before an association stood",
		"look at the log of the key exchange for associations that end or fail; start them with the tunnel, not with its traffic"},
	{"XfrmInBufferError", "", "there was no buffer for what came", "look at the memory, and raise net.core.netdev_max_backlog"},
}
