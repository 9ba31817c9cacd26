package diagnose

import (
	"cmp"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/units"
)

// receiveLimited finds connections that wait for the peer's window.
func receiveLimited() Rule {
	r := limitedBy("receive-window-limited", "Connections wait for the receiver's window", "rwnd_limited",
		"the peer's window was full")
	r.Because = "The peer advertises less than a bandwidth-delay product: its buffer is too small for the path, or its " +
		"program reads too slowly."
	limited := r.Check
	r.Check = func(in Input) []Finding {
		if closedWindows(in.Facts) != nil {
			return nil // peer-does-not-read says it
		}
		if unscaled(in) != nil {
			return nil // no buffer of the receiver's helps: window-scaling-missing says it
		}
		return do("on the receiver: raise the maximum receive buffer (Linux: net.ipv4.tcp_rmem; FreeBSD: "+
			"net.inet.tcp.recvbuf_max), or find out why its program reads slowly",
			limited(in))
	}
	r.Fires = flowExample("busy:9000ms rwnd_limited:7000ms(77.8%)")
	r.Quiet = flowExample("busy:9000ms rwnd_limited:70ms(0.8%)")
	return r
}

// peerNotReading finds peers whose window is closed.
func peerNotReading() Rule {
	return Rule{
		ID: "peer-does-not-read", Title: "A peer's program does not read its data", Systems: []string{"linux", "freebsd"},
		Needs: []string{"flows|handshakes|messages|transfers"}, Severity: Warning,
		Because: "The peer's receive buffer is full: its program reads too slowly or is stuck. Neither buffers nor the " +
			"network change that.",
		Confirm: "On the peer, Recv-Q of the same connection is large and stays large.",
		Check:   func(in Input) []Finding { return closedWindows(in.Facts) },
		Fires:   flowExample("busy:9000ms rwnd_limited:3000ms(33.3%) lastsnd:2300 notsent:262144"),
		Quiet:   flowExample("busy:9000ms rwnd_limited:3000ms(33.3%) lastsnd:4 unacked:180"),
	}
}

// closedWindows finds connections that have data to send, nothing on its way,
// and have sent nothing for a while: the peer's window is closed.
func closedWindows(f *facts.Facts) []Finding {
	var evidence []facts.Source
	var worst facts.Flow
	for _, fl := range f.Flows {
		v := fl.Values
		if float64(fl.SendQ) < v["mss"] || v["mss"] == 0 || v["unacked"] > 0 || v["lastsnd"] < 200 ||
			v["backoff"] > 0 && v["lastack"] > 120e3 || v["rwnd_limited"] == 0 || loopback(&fl) {
			continue
		}
		evidence = append(evidence, flowLine(f, fl, "busy", "rwnd_limited", "lastsnd", "notsent", "snd_wnd"))
		if fl.SendQ > worst.SendQ {
			worst = fl
		}
	}
	if len(evidence) == 0 {
		if found := persisting(f); found != nil {
			return found
		}
		return zeroWindows(f)
	}
	return do("find out why the program on "+worst.Peer+" does not read",
		one(worst.Peer, sample(evidence), "%s; %s wait for %s, nothing is in flight and nothing was sent for %s s: its "+
			"window is closed",
			counted(len(evidence), "connection"), units.Bytes(worst.SendQ), worst.Peer, units.Digits(worst.Values["lastsnd"]/1000, 3)))
}

// persisting finds the connections of FreeBSD's netstat -x whose persist timer runs while data waits: it does so for a
// closed window alone (tcp_timer.c, tcp_output.c).
func persisting(f *facts.Facts) []Finding {
	for _, fl := range f.Flows {
		if fl.Values["persist"] > 0 && fl.SendQ > 0 && !loopback(&fl) {
			return do("find out why the program on "+fl.Peer+" does not read", one(fl.Peer, []facts.Source{fl.Source},
				"%s wait for %s, and the persist timer is running: its window is closed", units.Bytes(fl.SendQ), fl.Peer))
		}
	}
	return nil
}

// zeroWindows finds ends that say, in a text of packets, that they have no room.
func zeroWindows(f *facts.Facts) []Finding {
	var worst facts.Talk
	for _, d := range f.Talks {
		if d.Closed > worst.Closed {
			worst = d
		}
	}
	if worst.Closed < 2 {
		return shrunkWindows(f)
	}
	return do("find out why the program on "+worst.From+" does not read", one(worst.From, []facts.Source{worst.ClosedLine},
		"it sent a zero window to %s %d times", worst.To, worst.Closed))
}

// shrunkWindows finds peers that closed their window over data in flight (tcp_retransmit_timer of Linux).
func shrunkWindows(f *facts.Facts) []Finding {
	lines, n := matching(f, shrunkWindow)
	if n == 0 {
		return heldTests(f)
	}
	peer := firstGroup(shrunkWindow, lines[0].Text)
	return decisive(with(Info, do("find out why the program on "+peer+" does not read", one(peer, lines,
		"it shrank its window below the data in flight (%s)", counted(n, "message")))))
}

// heldTests finds tests that stood still for seconds while their window was open: lost segments would have been sent again.
func heldTests(f *facts.Facts) []Finding {
	const enough = 3
	for _, tr := range f.Transfers {
		if tr.Held < enough || tr.Parallel {
			continue
		}
		found := one(cmp.Or(tr.Peer, "iperf3"), []facts.Source{tr.HeldSource}, "a test stood still in %d of %d intervals with a window "+
			"of %s, and nothing was retransmitted", tr.Held, tr.Intervals, units.Bytes(tr.Window))
		found[0].Because = "Lost segments would have been retransmitted: what was sent was acknowledged, and the window stayed " +
			"closed. The other end stopped reading, or a proxy or TCP-based tunnel in between did."
		return decisive(with(Info, do("check the other end and every proxy or tunnel in between (CPU, memory, its log at that time); run "+
			"ss -tinm there: a large Recv-Q shows which program does not read", found)))
	}
	return nil
}

var shrunkWindow = regexp.MustCompile(`Peer (\S+?)/\d+ unexpectedly shrunk window`)

// sendLimited finds connections that wait for this host's send buffer.
func sendLimited() Rule {
	r := limitedBy("send-buffer-limited", "Connections wait for the send buffer", "sndbuf_limited",
		"the send buffer was full")
	r.Settings = []string{"net.ipv4.tcp_wmem"}
	r.Because = "The send buffer is smaller than the bandwidth-delay product of the path."
	r.Fires = flowExample("busy:9000ms sndbuf_limited:7000ms(77.8%)")
	r.Quiet = flowExample("busy:9000ms")
	return r
}

// limitedBy is a rule about the share of a connection's busy time that was
// spent waiting, which the kernel accounts (TCP_INFO).
func limitedBy(id, title, field, what string) Rule {
	return Rule{
		ID: id, Title: title, Systems: onLinux(), Needs: []string{"flows"}, Severity: Warning,
		Confirm: "ss -ti, repeated: the share keeps growing while data flows.",
		Check: func(in Input) []Finding {
			var evidence []facts.Source
			var worst facts.Flow
			for _, fl := range in.Facts.Flows {
				if fl.Values[field] < 0.2 || fl.Values["busy"] < 1000 || loopback(&fl) {
					continue
				}
				evidence = append(evidence, flowLine(in.Facts, fl, "rtt", "mss", "cwnd", "busy", field))
				if fl.Values[field] > worst.Values[field] {
					worst = fl
				}
			}
			if len(evidence) == 0 {
				return nil
			}
			found := one(worst.Peer, sample(evidence), "%s; towards %s %s in %.0f%% of %s s of sending",
				counted(len(evidence), "connection"), worst.Peer, what,
				100*worst.Values[field], units.Digits(worst.Values["busy"]/1000, 3))
			if linkFull().Check(in) != nil {
				found = with(Info, found)
				found[0].Summary += "; the link is full, so a larger window would only lengthen its queue"
			}
			return found
		},
	}
}

func flowExample(details string) Example {
	return linuxExample("ss -tinm", "State Recv-Q Send-Q Local Address:Port Peer Address:Port\nESTAB 0 262144 "+
		"192.0.2.1:443 198.51.100.9:5000\n"+
		"\t skmem:(r0,rb131072,t0,tb87040,f0,w0,o0,bl0,d0) ts sack cubic wscale:7,7 rto:250 rtt:50.2/0.1 mss:1448 "+
		"cwnd:400 bytes_acked:900000000 segs_out:700000 "+details+" minrtt:50\n")
}
