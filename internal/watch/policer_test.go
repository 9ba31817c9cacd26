package watch

import (
	"fmt"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/wirerate/wirerate/internal/flow"
)

// recorded reads testdata/flows.txt: names and what a Watcher is to be shown.
func recorded(t *testing.T, tell func(name string, all []moment)) {
	text, err := os.ReadFile("testdata/flows.txt")
	if err != nil {
		t.Fatal(err)
	}
	for block := range strings.SplitSeq(string(text), "\n\n") {
		name, lines, _ := strings.Cut(strings.TrimSpace(block), "\n")
		if strings.HasPrefix(name, "#") {
			continue
		}
		var all []moment
		for line := range strings.Lines(lines) {
			c := Connection{State: Established, ID: 1, Peer: netip.MustParseAddrPort("192.0.2.1:5000"), MSS: 1448, Offered: 1 << 24,
				PacingLimit: 1<<64 - 1}
			var seconds float64
			var rtt, least, busy int64
			if _, err := fmt.Sscan(line, &seconds, &c.Acked, &c.Segments, &c.Retransmits, &c.Lost, &c.Sacked, &c.Unacked, &rtt, &least,
				&c.Window, &c.Threshold, &c.NotSent, &busy); err != nil {
				t.Fatalf("%s: %q: %v", name, line, err)
			}
			c.RTT, c.MinRTT = time.Duration(rtt)*time.Microsecond, time.Duration(least)*time.Microsecond
			c.Busy, c.Send = time.Duration(busy)*time.Millisecond, c.NotSent+c.Unacked*c.MSS
			all = append(all, moment{time.Duration(seconds * 1e9), c})
		}
		tell(name, all)
	}
}

// A policer is named within five looks at the flow that moves most behind it, and
// from then on; nothing else is taken for one.
func TestPolicers(t *testing.T) {
	n, begin := 0, time.Now()
	recorded(t, func(name string, all []moment) {
		n++
		w := NewWatcher()
		first, said := 0, []flow.Limit{}
		for i, m := range all {
			st := w.Add(&Sample{Time: begin.Add(m.at), Connections: []Connection{m.Connection}, Counters: map[string]uint64{}})
			limit := flow.Limit(st.Verdict.Limit)
			said = append(said, limit)
			if limit == flow.Policer && first == 0 {
				first = i
			}
			switch policer := strings.HasPrefix(name, "policer"); {
			case !policer && limit == flow.Policer,
				policer && !strings.Contains(name, "one of") && (i == 4 && first == 0 || first > 0 && limit != flow.Policer):
				t.Errorf("%s: %q at second %.1f; %v", name, limit, m.at.Seconds(), said)
				return
			}
		}
	})
	if n < 30 {
		t.Errorf("%d flows", n)
	}
}
