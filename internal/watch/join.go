package watch

import (
	"slices"
	"time"

	"github.com/wirerate/wirerate/internal/flow"
)

// OtherEnd is what the other end of a flow says of it, which is watched too.
type OtherEnd struct {
	Host        string  `json:"host"`
	Limit       string  `json:"limit"` // empty: none
	Unread      uint32  `json:"unread_bytes"`
	RTT         float64 `json:"rtt_ms"`
	Retransmits float64 `json:"retransmitted_segments_per_s"`
}

// Joiner joins what hosts that are watched together say of the flows between them.
type Joiner struct{ last map[string]State }

// NewJoiner returns a joiner that has seen nothing.
func NewJoiner() *Joiner { return &Joiner{map[string]State{}} }

// fresh is how long after it was told the state of another host still counts, in
// its own intervals.
const fresh = 3

// Join adds to the flows of a state what their other ends say, and to its verdict
// at which end it is limited, where both ends are known.
func (j *Joiner) Join(s *State) {
	kept := *s
	kept.Flows = slices.Clone(s.Flows)
	j.last[s.Host] = kept
	others := map[[2]string]*OtherEnd{}
	for name, o := range j.last {
		age := s.Time.Sub(o.Time)
		if name == s.Host || o.Gone != "" || age.Abs() > time.Duration(fresh*max(o.Every, 1)*1e9) {
			continue
		}
		for i := range o.Flows {
			f := &o.Flows[i]
			others[[2]string{f.Peer, f.Local}] = &OtherEnd{name, f.Limit, f.Unread, f.RTT, f.Retransmits}
		}
	}
	if len(others) == 0 {
		return
	}
	for i := range s.Flows {
		f := &s.Flows[i]
		if f.Other = others[[2]string{f.Local, f.Peer}]; f.Other == nil {
			continue
		}
		f.End = end(s.Host, f)
		if f.Limit == s.Verdict.Limit && s.Verdict.Flows > 0 && s.Verdict.End == "" && sameHost(f.Peer, s.Verdict.Peer) {
			s.Verdict.End = f.End
		}
	}
}

func sameHost(address, host string) bool {
	return len(address) > len(host) && (address[:len(host)] == host || address[0] == '[' && address[1:len(host)+1] == host)
}

// end is the host at which a flow is limited, or "path".
func end(here string, f *Flow) string {
	limit, at, away := f.Limit, here, f.Other.Host
	if limit == "" || f.Received > f.Sent && f.Other.Limit != "" { // the sender knows
		limit, at, away = f.Other.Limit, away, at
	}
	switch flow.Limit(limit) {
	case flow.Program, flow.SendBuffer, flow.Pacing:
		return at
	case flow.PeerWindow:
		return away
	case flow.SlowReader:
		if f.Unread > f.Other.Unread { // in whose buffer the data waits
			return here
		}
		return f.Other.Host
	case flow.Congestion, flow.Path, flow.Policer, flow.BlackHole, flow.SlowStart, flow.Timeout:
		return "path"
	}
	return ""
}
