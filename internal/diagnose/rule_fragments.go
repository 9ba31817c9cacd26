package diagnose

import "github.com/wirerate/wirerate/internal/facts"

// fragments finds datagrams that could not be put together again.
func fragments() Rule {
	return Rule{
		ID: "fragments-lost", Title: "Fragmented packets could not be reassembled", Needs: []string{"linux:protocols",
			"freebsd:counters", "openbsd:counters"}, Severity: Warning,
		Because: "One lost fragment loses the whole packet; a full reassembly queue loses all of them. Tunnels with too large " +
			"an MTU and large UDP datagrams (NFS, DNS, VPN) suffer most.",
		Confirm: "The counter grows while it is slow, and smaller packets (lower MTU, clamped MSS, TCP instead of UDP) get " +
			"through.",
		Check: func(in Input) []Finding {
			f := in.Facts
			lost := counters(f, "Ip.ReasmFails", "ip.fragment_dropped_after_timeout", "ip.fragment_dropped")
			asked := total(f, "Ip.ReasmReqds") + total(f, "ip.fragment_received")
			if found := tooLargeToForward(f); found != nil {
				return found
			}
			if len(lost) == 0 || asked == 0 || lost[0].Value < 100 || float64(lost[0].Value) < 0.005*float64(asked) ||
				!still(lost[0]) {
				return nil
			}
			out := do("avoid fragmentation: set an MTU that the path carries, or clamp the MSS",
				one("ip", sources(lost), "%s of %d fragments", happened(lost[0]), asked))
			if f.System == "linux" {
				out[0].Fix = append(out[0].Fix, Fix{Setting: "net.ipv4.ipfrag_high_thresh"})
			}
			return out
		},
		Fires: linuxExample("/proc/net/snmp", "Ip: ReasmReqds ReasmOKs ReasmFails\nIp: 100000 40000 9000\n"),
		Quiet: linuxExample("/proc/net/snmp", "Ip: ReasmReqds ReasmOKs ReasmFails\nIp: 100000 50000 9\n"),
	}
}

// tooLargeToForward finds a router that refuses packets which may not be cut: those who send them have to learn of it.
func tooLargeToForward(f *facts.Facts) []Finding {
	refused, forwarded := f.Counters["ip.datagram_that_can't_be_fragmented"], total(f, "ip.packet_forwarded")
	if refused.Value == 0 || forwarded == 0 || !still(refused) {
		return nil
	}
	found := with(graded(refused, forwarded, Warning), do("set the tunnel's MTU to what its path carries, and clamp the "+
		"MSS to it (pf: scrub max-mss); allow ICMP type 3 code 4", one("ip", []facts.Source{refused.Source},
		"packets too large for the next link with DF set: %s; %d forwarded", happened(refused), forwarded)))
	found[0].Because = "The sender is told by ICMP to send smaller packets; if that message is filtered, its connection " +
		"stalls."
	return found
}
