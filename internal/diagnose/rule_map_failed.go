package diagnose

import (
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
)

// mapFailed finds packets that a driver could not hand to its card.
func mapFailed() Rule {
	return Rule{
		ID: "transmit-mapping-failed", Title: "A driver could not map packets for DMA", Systems: onFreeBSD(),
		Needs: []string{"settings"}, Severity: Warning,
		Because: "A packet in more fragments than the card's descriptors take is copied or dropped; TSO packets have the most " +
			"fragments. TCP sees the drops as loss on the path.",
		Confirm: "The counter stops growing with TSO disabled.",
		Check: func(in Input) (out []Finding) {
			for i := range in.Facts.NICs {
				n := &in.Facts.NICs[i]
				name, c := largest(nicMatching(n, mappingFailure))
				if c.Value == 0 {
					continue
				}
				sent := max(n.Counters["mac_stats.good_pkts_txd"].Value, n.Counters["netstat.Opkts"].Value)
				out = append(out, lost(c, sent, withFix(Fix{Action: "disable TSO", Command: "ifconfig " + n.Name + " -tso"},
					one(n.Name, []facts.Source{c.Source, n.Shown["options"]}, "packets could not be mapped for DMA: %s is %s",
						name, happened(c))))...)
			}
			return out
		},
		Fires: freebsdExample("sysctl -a", "dev.em.0.tx_dma_fail: 23011\ndev.em.0.mac_stats.good_pkts_txd: 3812993\n"),
		Quiet: freebsdExample("sysctl -a", "dev.em.0.tx_dma_fail: 0\ndev.em.0.mac_stats.good_pkts_txd: 3812993\n"),
	}
}

// mappingFailure tells counters of packets whose pieces found no place in descriptors: em(4) before iflib, and iflib.
func mappingFailure(s string) bool {
	return holdsAny(s, "tx_dma_fail", "mbuf_defrag_fail", "no_tx_dma_setup", "tx_map_fail", "txd_encap_efbig") &&
		!strings.Contains(s, "rx")
}
