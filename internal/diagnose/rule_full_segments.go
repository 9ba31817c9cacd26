package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/units"
)

// fullSegments finds connections on which small segments arrive and full ones
// do not.
func fullSegments() Rule {
	return Rule{
		ID: "full-segments-lost", Title: "Connections stall with full-sized segments in flight",
		Needs: []string{"flows|transfers|handshakes|messages|requests"}, Systems: []string{"linux", "freebsd"}, Severity: Warning,
		Settings: []string{"net.ipv4.tcp_mtu_probing"},
		Because: "The peer acknowledged small segments but no full-sized ones: a link on the path has a smaller MTU, and the " +
			"ICMP messages that report it do not arrive. A peer that vanished at its first large segment looks the same.",
		Confirm: "ping -M do -s 1472 PEER gets no reply, a smaller one does.",
		Check: func(in Input) []Finding {
			var evidence []facts.Source
			var worst facts.Flow
			for _, fl := range in.Facts.Flows {
				v := fl.Values
				// Nothing of full size was ever acknowledged, several timeouts
				// passed, and full-sized data waits.
				if loopback(&fl) || v["backoff"] < 2 || v["mss"] < 1000 || float64(fl.SendQ) < v["mss"] ||
					v["bytes_acked"] > 4*v["mss"] || v["unacked"] == 0 || v["rtt"] == 0 {
					continue
				}
				evidence = append(evidence, flowLine(in.Facts, fl, "backoff", "mss", "pmtu", "bytes_acked", "unacked",
					"retrans", "lost"))
				if worst.Peer == "" || v["backoff"] > worst.Values["backoff"] {
					worst = fl
				}
			}
			if len(evidence) == 0 {
				return slices.Concat(stalledTransfers(in.Facts), stuckSegments(in.Facts), stuckKeyExchange(in.Facts), stuckHello(in.Facts))
			}
			return do(findSmallerLink, one(worst.Peer, sample(evidence),
				"%s; to %s, %g bytes were acknowledged, but segments of %g bytes are retransmitted without an ACK (%g timeouts in a "+
					"row)",
				counted(len(evidence), "connection"), worst.Peer, worst.Values["bytes_acked"], worst.Values["mss"],
				worst.Values["backoff"]))
		},
		Fires: stalledExample("backoff:4 bytes_acked:33 segs_in:4 data_segs_out:9 unacked:2"),
		Quiet: stalledExample("bytes_acked:90000000 segs_in:31000 data_segs_out:63000 unacked:2"),
	}
}

const findSmallerLink = "find the link with the smaller MTU and allow ICMP \"fragmentation needed\", or clamp the MSS there"

// stuckSegments finds connections in a text of packets that send a full-sized segment again and again, in vain.
func stuckSegments(f *facts.Facts) []Finding {
	for _, d := range f.Talks {
		if d.Stuck == 0 {
			continue
		}
		found := one(d.To, []facts.Source{d.StuckLine}, "a segment of %d bytes was sent %d times without an ACK, "+
			"while smaller ones were acknowledged", d.StuckBytes, d.Stuck)
		for _, told := range f.Messages {
			m := smallerMTU.FindStringSubmatch(told.Text)
			if m == nil {
				continue
			}
			from, mtu := strings.TrimSuffix(m[1]+m[3]+m[5], ":"), m[2]+m[4]+m[6]
			if size, _ := strconv.Atoi(mtu); size == 0 || size-headers >= d.StuckBytes {
				continue
			}
			found[0].Summary = fmt.Sprintf("a segment of %d bytes was sent %d times although %s reported an MTU of %s", d.StuckBytes,
				d.Stuck, from, mtu)
			found[0].Evidence = append(found[0].Evidence, told.Source)
			found[0].Because = "The sender ignores the MTU that the router reports: its firewall drops the ICMP " +
				"messages, or its TCP does not use path MTU discovery."
			return do("on the sender, allow inbound ICMP \"fragmentation needed\", or set the MTU of its "+
				"interface to "+mtu+
				" (ip link set NAME mtu "+mtu+"); otherwise clamp the MSS on the router", found)
		}
		return do(findSmallerLink, found)
	}
	return nil
}

// stuckKeyExchange finds an ssh -v that ends where the server sends, or is to read, its first full-sized segment.
func stuckKeyExchange(f *facts.Facts) []Finding {
	last := ""
	for _, line := range f.Lines("dmesg") {
		if sshSays.MatchString(line) {
			last = line
		}
	}
	lines, n := matching(f, keyExpected)
	if n == 0 || !keyExpected.MatchString(last) {
		return nil
	}
	return do("check whether full-sized packets pass: ping -M do -s 1472 SERVER (through a tunnel: the size that fits it); "+
		findSmallerLink, one("ssh", lines[len(lines)-1:], "its key exchange stalls, which is the first large packet of the "+
		"connection"))
}

// stuckHello finds a TLS handshake that ends with the client's first message: the server's certificate fills segments. A
// server that does not answer for another reason looks the same.
func stuckHello(f *facts.Facts) []Finding {
	for _, r := range f.Requests {
		if r.State == facts.HelloUnanswered {
			return decisive(with(Info, do("check whether full-sized packets pass: ping -M do -s 1472 SERVER (FreeBSD: ping -D -s 1472; "+
				"through a tunnel: the size that fits it); "+findSmallerLink, one("TLS", []facts.Source{r.Source}, "the TCP connection "+
				"opens, but nothing arrives after the ClientHello; the server's reply is the first large packet"))))
		}
	}
	return nil
}

var (
	keyExpected = regexp.MustCompile(`^debug1: expecting SSH2_MSG_KEX\w*_REPLY`)
	sshSays     = regexp.MustCompile(`^debug[123]: `)
)

// stalledTransfers finds tests that stood still: their windows fell to one
// segment and nothing more was acknowledged.
func stalledTransfers(f *facts.Facts) []Finding {
	const recovered = 32 << 10 // bytes: what moves after the first loss was of full segments
	for _, tr := range f.Transfers {
		if tr.Stalled < 3 || tr.Stalled*2 < tr.Intervals || tr.Bytes > 1<<20 || tr.AfterBytes > recovered {
			continue
		}
		return do(findSmallerLink,
			one(cmp.Or(tr.Peer, "iperf3"), []facts.Source{tr.Source, tr.Last},
				"a test stalled in %d of %d intervals with a window of one segment, %s in total", tr.Stalled,
				tr.Intervals, units.Bytes(tr.Bytes)))
	}
	return nil
}

func stalledExample(details string) Example {
	return linuxExample("ss -tinm", "State Recv-Q Send-Q Local Address:Port Peer Address:Port\nESTAB 0 65160 "+
		"192.0.2.1:22 198.51.100.9:5000\n"+
		"\t ts sack cubic wscale:7,7 rto:3504 rtt:50.2/0.1 mss:1448 pmtu:1500 cwnd:1 ssthresh:7 "+details+" minrtt:50\n")
}
