package diagnose

import (
	"cmp"
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
		Needs: []string{"rdma|messages"}, Severity: Warning,
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
			if len(out) == 0 {
				return unacknowledged(in.Facts)
			}
			return out
		},
		Fires: linuxExample(facts.RDMA, "link mlx5_0/1 packet_seq_err 1200 local_ack_timeout_err 31 out_of_sequence 0\n"),
		Quiet: linuxExample(facts.RDMA, "link mlx5_0/1 packet_seq_err 0 local_ack_timeout_err 0 out_of_sequence 0\n"),
	}
}

// unacknowledged finds requests that a library gave up because the peer's card did not acknowledge them.
func unacknowledged(f *facts.Facts) []Finding {
	lines, n := matching(f, facts.RetryExceeded)
	if n == 0 {
		return nil
	}
	found := one(cmp.Or(nameIn(f, facts.RetryExceeded), "rdma"), lines, "the peer did not acknowledge requests after all retries (%s)", counted(n, "line"))
	found[0].Because = "The card retransmitted until its limit: the path to the peer's card loses packets or does not exist (link down, wrong " +
		"GID or subnet, no lossless class), or the peer's process or host died first."
	found[0].Confirm = "ib_write_bw between the two cards fails or is slow; local_ack_timeout_err of the card grows " +
		"(/sys/class/infiniband/*/ports/*/hw_counters)."
	return do("look for the first error of all hosts, which may be a crashed process; check the links of both cards (ibstat, rdma link), and "+
		"that both use the same subnet and GID type (show_gids, NCCL_IB_GID_INDEX); for RoCE, configure PFC or ECN on every switch; "+
		"NCCL_IB_TIMEOUT=22 tolerates short outages", found)
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
