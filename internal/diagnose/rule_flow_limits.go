package diagnose

import (
	"github.com/wirerate/wirerate/internal/facts"
)

// receiveLimited finds connections that wait for the peer's window.
func receiveLimited() Rule {
	r := limitedBy("receive-window-limited", "Connections wait for the receiver's window", "rwnd_limited", "the peer's window was full")
	r.Because = "The peer offers less than a bandwidth-delay product: its buffer is too small for the path, or its program reads too slowly."
	limited := r.Check
	r.Check = func(in Input) []Finding {
		found := limited(in)
		for _, fl := range in.Facts.Flows {
			v := fl.Values
			if len(found) > 0 && fl.Peer == found[0].Subject && v["rwnd_limited"] > 0.2 && v["unacked"] == 0 && fl.SendQ > 0 {
				found[0].Summary += "; nothing is on its way and data waits: the window is closed"
				return do("find out why the program on "+fl.Peer+" does not read", found)
			}
		}
		return do("on the receiver: raise the maximum of its receive buffer, or find out why its program reads slowly", found)
	}
	r.Fires = flowExample("busy:9000ms rwnd_limited:7000ms(77.8%)")
	r.Quiet = flowExample("busy:9000ms rwnd_limited:70ms(0.8%)")
	return r
}

// sendLimited finds connections that wait for this host's send buffer.
func sendLimited() Rule {
	r := limitedBy("send-buffer-limited", "Connections wait for the send buffer", "sndbuf_limited", "the send buffer was full")
	r.Settings = []string{"net.ipv4.tcp_wmem"}
	r.Because = "The send buffer holds less than the path could have under way."
	r.Fires = flowExample("busy:9000ms sndbuf_limited:7000ms(77.8%)")
	r.Quiet = flowExample("busy:9000ms")
	return r
}

// limitedBy is a rule about the share of a connection's busy time that was
// spent waiting, which the kernel accounts (TCP_INFO).
func limitedBy(id, title, field, what string) Rule {
	return Rule{
		ID: id, Title: title, Systems: onLinux(), Needs: []string{"flows"}, Severity: Warning,
		Confirm: "ss -ti again: the share keeps growing while data flows.",
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
			return one(worst.Peer, sample(evidence), "%s; towards %s %s in %.0f%% of %.3gs of sending", counted(len(evidence), "connection"), worst.Peer, what,
				100*worst.Values[field], worst.Values["busy"]/1000)
		},
	}
}

func flowExample(details string) Example {
	return linuxExample("ss -tinm", "State Recv-Q Send-Q Local Address:Port Peer Address:Port\nESTAB 0 262144 192.0.2.1:443 198.51.100.9:5000\n"+
		"\t skmem:(r0,rb131072,t0,tb87040,f0,w0,o0,bl0,d0) ts sack cubic wscale:7,7 rto:250 rtt:50.2/0.1 mss:1448 cwnd:400 bytes_acked:900000000 segs_out:700000 "+details+" minrtt:50\n")
}
