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
		ID: "rdma-losses", Title: "An RDMA device sent again what the network lost", Systems: onLinux(),
		Needs: []string{"rdma"}, Severity: Warning,
		Because: "RDMA over Ethernet expects a network that loses nothing: a single lost packet makes the sender repeat all " +
			"that it sent after it, or wait for its timer.",
		Confirm: "The counters grow while it is slow, and the switches' ports on the way count drops.",
		Check: func(in Input) (out []Finding) {
			devices := map[string]bool{}
			for name := range in.Facts.Counters {
				if rest, ok := strings.CutPrefix(name, "rdma."); ok {
					device, _, _ := strings.Cut(rest, ".")
					devices[device] = true
				}
			}
			for _, device := range slices.Sorted(maps.Keys(devices)) {
				if found := rdmaOf(in.Facts, device); found != nil {
					out = append(out, do("give this traffic a lossless class on every switch of the path (PFC), or ECN with DCQCN at both "+
						"ends, and check that the marks of priority match", found)...)
				}
			}
			return out
		},
		Fires: linuxExample(facts.RDMA, "link mlx5_0/1 packet_seq_err 1200 local_ack_timeout_err 31 out_of_sequence 0\n"),
		Quiet: linuxExample(facts.RDMA, "link mlx5_0/1 packet_seq_err 0 local_ack_timeout_err 0 out_of_sequence 0\n"),
	}
}

// rdmaOf judges what one device counts: as requester refused sequences and expired timers, as responder gaps. The others
// of its counters say nothing of losses.
func rdmaOf(f *facts.Facts, device string) []Finding {
	var said []string
	var evidence []facts.Source
	var most facts.Counter
	for _, c := range []struct{ name, what string }{{"packet_seq_err", "sequences refused by the peer"},
		{"local_ack_timeout_err", "acknowledgements that did not come in time"},
		{"implied_nak_seq_err", "acknowledgements that were skipped"}, {"out_of_sequence", "packets that came out of order"}} {
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
