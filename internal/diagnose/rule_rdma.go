package diagnose

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
)

// rdmaLosses finds RDMA devices that sent again what the fabric lost.
func rdmaLosses() Rule {
	return Rule{
		ID: "rdma-losses", Title: "An RDMA device retransmits because of network loss", Systems: onLinux(),
		Needs: []string{"rdma"}, Severity: Warning,
		Because: "RDMA over Ethernet expects a lossless network: after a single lost packet the sender retransmits everything " +
			"sent since, or waits for a timeout.",
		Confirm: "The counters grow while it is slow, and switch ports on the path count drops.",
		Check: func(in Input) (out []Finding) {
			for _, device := range rdmaDevices(in.Facts) {
				if found := rdmaOf(in.Facts, device); found != nil {
					out = append(out, do("configure a lossless class (PFC) for this traffic on every switch of the path, or ECN with "+
						"DCQCN at both ends, and check that the priority (DSCP/PCP) mapping matches", found)...)
				}
			}
			return out
		},
		Fires: linuxExample(facts.RDMA, "link mlx5_0/1 packet_seq_err 1200 local_ack_timeout_err 31 out_of_sequence 0\n"),
		Quiet: linuxExample(facts.RDMA, "link mlx5_0/1 packet_seq_err 0 local_ack_timeout_err 0 out_of_sequence 0\n"),
	}
}

// rdmaDevices are the devices and ports of which RDMA counters are known.
func rdmaDevices(f *facts.Facts) []string {
	devices := map[string]bool{}
	for name := range f.Counters {
		if rest, ok := strings.CutPrefix(name, "rdma."); ok {
			device, _, _ := strings.Cut(rest, ".")
			devices[device] = true
		}
	}
	return slices.Sorted(maps.Keys(devices))
}

// rdmaOf judges what one device counts: as requester refused sequences and expired timers, as responder gaps. The others
// of its counters say nothing of losses.
func rdmaOf(f *facts.Facts, device string) []Finding {
	var said []string
	var evidence []facts.Source
	var most facts.Counter
	for _, c := range []struct{ name, what string }{{"packet_seq_err", "sequence errors (NAKs) from the peer"},
		{"local_ack_timeout_err", "ACK timeouts"},
		{"implied_nak_seq_err", "implied NAKs"}, {"out_of_sequence", "out-of-order packets"}} {
		counter, ok := f.Counters["rdma."+device+"."+c.name]
		if !ok || counter.Value == 0 {
			continue
		}
		said = append(said, fmt.Sprintf("%s: %s", c.what, happened(counter)))
		evidence = append(evidence, counter.Source)
		if counter.Value > most.Value {
			most = counter
		}
	}
	if len(said) == 0 {
		return nil
	}
	found := with(gradedCount(most), one(device, evidence, "%s", strings.Join(said, "; ")))
	return atMost(Warning, found) // of how many is not known
}
