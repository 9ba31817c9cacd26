package diagnose

import (
	"maps"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// transmitStalled finds a transmit queue of iflib that waits for descriptors which the card does not give back.
func transmitStalled() Rule {
	return Rule{
		ID: "transmit-stalled", Title: "A transmit queue stalled", Systems: onFreeBSD(), Needs: []string{"settings"},
		Severity: Warning,
		Because: "Packets wait for descriptors: the card is slower than the traffic, or stopped returning descriptors, in " +
			"which case nothing is sent.",
		Confirm: "sysctl, repeated a few seconds later, shows the same state with the same cidx, and Opkts in netstat -i does " +
			"not grow.",
		Check: func(in Input) []Finding {
			var evidence []facts.Source
			nic := ""
			for _, name := range slices.Sorted(maps.Keys(in.Facts.Settings)) {
				m := ringState.FindStringSubmatch(name)
				if s := in.Facts.Settings[name]; m != nil && strings.Contains(s.Value, "state: STALLED") {
					nic, evidence = m[1]+m[2], append(evidence, s.Source)
				}
			}
			if len(evidence) == 0 {
				return nil
			}
			return do("ifconfig "+nic+" down and up restarts it; if it recurs, update the driver, and try with TSO and flow "+
				"control disabled", one(nic, sample(evidence), "%s stalled",
				counted(len(evidence), "transmit queue")))
		},
		Fires: freebsdExample("sysctl -a", "dev.igc.1.iflib.txq0.ring_state: pidx_head: 0900 pidx_tail: 0900 cidx: 0902 "+
			"state: STALLED\n"),
		Quiet: freebsdExample("sysctl -a", "dev.igc.1.iflib.txq0.ring_state: pidx_head: 0900 pidx_tail: 0900 cidx: 0900 "+
			"state: IDLE\n"),
	}
}

// ringState is the state of a queue's ring (sys/net/mp_ring.c).
var ringState = regexp.MustCompile(`^dev\.([a-z][a-z0-9]*[a-z])\.(\d+)\.iflib\.txq\d+\.ring_state$`)
