package diagnose

import (
	"fmt"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/units"
)

// scalingStripped finds connections without window scaling on a host that
// offers it.
func scalingStripped() Rule {
	return Rule{
		ID: "window-scaling-missing", Title: "Connections have no window scaling although this host offers it",
		Needs: []string{"linux:flows|handshakes", "freebsd:handshakes", "openbsd:handshakes"}, Severity: Warning,
		Because: "The peer does not support the option, or a firewall or load balancer on the path stripped it from the " +
			"handshake: at most 65,535 bytes per round trip.",
		Confirm: "Captures of the handshake at both ends show that the option is sent by one end and does not arrive at the " +
			"other.",
		Check: unscaled,
		Fires: scalingExample(""),
		Quiet: scalingExample("wscale:7,7 "),
	}
}

// unscaled finds them.
func unscaled(in Input) []Finding {
	f := in.Facts
	if on, known := windowScaling(f); known && !on {
		return nil // window-scaling-off says it
	}
	if found := notTaken(f); found != nil || f.System != "linux" {
		return found
	}
	var evidence []facts.Source
	var worst facts.Flow
	for _, fl := range f.Flows {
		_, scaled := fl.Values["wscale_send"]
		rtt := max(fl.Values["minrtt"], min(fl.Values["rtt"], 1e5))
		moved := max(fl.Values["bytes_acked"], fl.Values["bytes_received"], fl.Values["segs_out"]*1000,
			fl.Values["segs_in"]*1000)
		if scaled || loopback(&fl) || fl.Values["mss"] == 0 || rtt < 5 || moved < 1e6 {
			continue
		}
		evidence = append(evidence, flowLine(in.Facts, fl, "rtt", "mss", "minrtt", "bytes_acked", "bytes_received"))
		if rtt > worst.Values["rtt"] {
			worst = fl
		}
	}
	if len(evidence) == 0 {
		return nil
	}
	rtt := worst.Values["rtt"]
	return do("configure the device on the path to pass TCP options unchanged; update or reconfigure the peer",
		one(worst.Peer, sample(evidence),
			"%s without the option; to %s at %s ms that is at most %s", counted(len(evidence), "connection"),
			worst.Peer, units.Digits(rtt, 3), units.Rate(65535*8/(rtt/1000))))
}

// notTaken finds handshakes in which only the client offers to scale windows.
func notTaken(f *facts.Facts) []Finding {
	for _, h := range f.Handshakes {
		if !h.Offered || h.Taken || h.Answer.Text == "" {
			continue
		}
		most := ""
		if h.RTT > 0 {
			most = fmt.Sprintf("; at %s ms that is at most %s", units.Digits(1000*h.RTT, 3), units.Rate(65535*8/h.RTT))
		}
		return do("configure the device on the path to pass TCP options unchanged; update or reconfigure the responding end",
			one(h.Server, []facts.Source{h.Source, h.Answer}, "%s offers the option, the SYN-ACK has none: windows stay below 64 "+
				"KiB%s", h.Client, most))
	}
	return nil
}

func scalingExample(option string) Example {
	return linuxExample("ss -tinm", "State Recv-Q Send-Q Local Address:Port Peer Address:Port\nESTAB 0 262144 "+
		"192.0.2.1:443 198.51.100.9:5000\n"+
		"\t ts sack cubic "+option+"rto:250 rtt:50.2/0.1 mss:1448 cwnd:45 bytes_acked:900000000 segs_out:700000 minrtt:50\n")
}
