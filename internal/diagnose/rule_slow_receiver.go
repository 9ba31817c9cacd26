package diagnose

import (
	"cmp"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/units"
)

// slowReceiver finds a peer that takes its data slowly and pins send buffers.
func slowReceiver() Rule {
	return Rule{
		ID: "slow-receiver", Title: "A few connections hold most of the queued send data",
		Needs:   []string{"linux:flows", "freebsd:flows"},
		Systems: []string{"linux", "freebsd"}, Severity: Warning,
		Because: "Data queued for a slow peer stays in kernel memory; if memory is short, all other connections starve.",
		Confirm: "The same connections still hold the memory a minute later, and their peers acknowledge little.",
		Check: func(in Input) []Finding {
			flows := slices.Clone(in.Facts.Flows)
			var all int64
			for _, fl := range flows {
				all += fl.SendQ
			}
			slices.SortFunc(flows, func(a, b facts.Flow) int { return cmp.Compare(b.SendQ, a.SendQ) })
			if len(flows) < 8 || all < 8<<20 {
				return nil
			}
			var held int64
			var evidence []facts.Source
			few := 0
			for held*10 < all*8 {
				held += flows[few].SendQ
				evidence = append(evidence, flows[few].Source)
				few++
			}
			if few > max(1, len(flows)/4) {
				return nil
			}
			return do("find out why "+flows[0].Peer+" reads slowly; limit the data queued per connection in the server "+
				"(SO_SNDBUF, TCP_NOTSENT_LOWAT)",
				one(flows[0].Peer, sample(evidence), "%d of %d connections hold %s of the %s queued for sending", few,
					len(flows), units.Bytes(held), units.Bytes(all)))
		},
		Fires: linuxExample("ss -tinm", "State Recv-Q Send-Q Local Peer\nESTAB 0 16777216 192.0.2.1:80 198.51.100.9:5000\n"+
			strings.Repeat("ESTAB 0 0 192.0.2.1:80 198.51.100.7:4000\n", 12)),
		Quiet: linuxExample("ss -tinm", "State Recv-Q Send-Q Local Peer\nESTAB 0 0 192.0.2.1:80 198.51.100.9:5000\n"),
	}
}
