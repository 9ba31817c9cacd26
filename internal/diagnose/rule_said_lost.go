package diagnose

import (
	"strconv"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// saidLost finds modules of the kernel that log how many packets they lost.
func saidLost() Rule {
	return Rule{
		ID: "packets-lost-logged", Title: "The kernel log reports lost packets", Needs: []string{"messages"}, Systems: onLinux(),
		Severity: Warning,
		Because:  "A kernel module reports how many packets it could not send or queue.",
		Confirm:  "The messages appear while it is slow.",
		Check: func(in Input) []Finding {
			lines, n := matching(in.Facts, lostLogged)
			if n == 0 {
				return append(saturated(in.Facts), gapsInStream(in.Facts)...)
			}
			sum, what := 0, ""
			for _, line := range in.Facts.Lines("dmesg") {
				if m := lostLogged.FindStringSubmatch(line); m != nil {
					v, _ := strconv.Atoi(m[2])
					sum, what = sum+v, m[1]
				}
			}
			found := with(Info, one(what, lines, "%d packets lost (%s)", sum, counted(n, "message")))
			if sum >= warningCount {
				found = with(Warning, found)
			}
			return do("check what the message names: no route (error -101), a full buffer (-11, -105), a slow receiver", found)
		},
		Fires: linuxExample("dmesg", "[ 57.4] ipt_NETFLOW: sendmsg[0] error -101: data loss 32 pkt, 16626 bytes\n"),
		Quiet: linuxExample("dmesg", "[ 57.4] ipt_NETFLOW: added destination 192.0.2.1:2055\n"),
	}
}

var lostLogged = regexp.MustCompile(`\b([A-Za-z][\w-]+): .*?\b(?:data loss|lost|dropped) (\d{1,9}) (?:pkts?|packets)\b`)

// saturated finds packets that OpenVPN dropped for a full queue of a client; each message is one.
func saturated(f *facts.Facts) []Finding {
	lines, n := matching(f, facts.SaturatedForm)
	if n == 0 {
		return nil
	}
	found := one("openvpn", lines, "a client's queue was full: %s dropped", counted(n, "packet"))
	found[0].Because = "Over TCP, OpenVPN queues only a few packets for a client whose connection is slower than the " +
		"traffic to it, and drops the rest: TCP inside TCP then retransmits twice."
	return do("use UDP for the tunnel (proto udp); if it must be TCP, lengthen the queue (tcp-queue-limit 256, "+
		"bcast-buffers 1024), and keep broadcasts out of dev tap", with(repeated(n, 3), found))
}

// gapsInStream finds packets of a television stream that a player missed.
func gapsInStream(f *facts.Facts) []Finding {
	lines, n := matching(f, streamGap)
	if n == 0 {
		return nil
	}
	found := with(repeated(n, 3), one("video stream", lines, "packets of the stream are missing (%s)", counted(n, "message")))
	found[0].Because = "A UDP stream is not retransmitted: what a full buffer, a radio link or a queue drops is missing in " +
		"the picture."
	found[0].Confirm = "nstat -az UdpRcvbufErrors at the player, or the drops in tc -s qdisc show and ip -s link at the " +
		"router, grow with the messages."
	return do("use a cable instead of Wi-Fi; enable IGMP snooping on the bridge (OpenWrt: option igmp_snooping '1'), so "+
		"that only subscribed ports get the stream, and multicast-to-unicast for Wi-Fi stations", found)
}

var streamGap = regexp.MustCompile(`discontinuity received 0x\w+ instead of 0x|Continuity check failed for pid`)
