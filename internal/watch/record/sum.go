package record

import (
	"cmp"
	"slices"
	"time"

	"github.com/wirerate/wirerate/internal/watch"
)

// keptFlows is how many flows a minute or an hour keeps.
const keptFlows = 200

// sum collects the states of a minute or an hour.
type sum struct {
	n                   int
	last                watch.State
	sent, received, rtt []float64
	again               []float64
	limits              map[string]*lasted
	flows               map[string]*flowSum
	problems            []watch.Problem
	probes              []watch.Probe
	ports               []watch.SwitchPort
}

type lasted struct {
	verdict watch.Verdict
	times   int
}

type flowSum struct {
	flow           watch.Flow
	n              int
	sent, received float64
}

func newSum() *sum { return &sum{limits: map[string]*lasted{}, flows: map[string]*flowSum{}} }

func (m *sum) add(s watch.State) {
	m.n++
	m.last = s
	m.sent, m.received = append(m.sent, s.Traffic.Sent), append(m.received, s.Traffic.Received)
	m.again = append(m.again, s.Traffic.Retransmits)
	if s.Traffic.RTT > 0 {
		m.rtt = append(m.rtt, s.Traffic.RTT)
	}
	m.probes, m.ports = watch.MergeProbes(m.probes, s.Probes), watch.MergeSwitch(m.ports, s.Switch)
	key := s.Verdict.Limit + " " + s.Verdict.Peer + " " + s.Verdict.Subject
	if m.limits[key] == nil {
		m.limits[key] = &lasted{}
	}
	m.limits[key].verdict = s.Verdict
	m.limits[key].times++
	for _, f := range s.Flows {
		k := m.flows[f.ID]
		if k == nil {
			k = &flowSum{}
			m.flows[f.ID] = k
		}
		k.flow, k.n = f, k.n+1
		k.sent, k.received = k.sent+f.Sent, k.received+f.Received
	}
	for _, p := range s.Problems {
		if !slices.ContainsFunc(m.problems,
			func(o watch.Problem) bool { return o.Problem == p.Problem && o.Subject == p.Subject }) {
			m.problems = append(m.problems, p)
		}
	}
}

// state is what held over a time: means, the limit that held longest, what flows
// moved on average, percentiles.
func (m *sum) state(at time.Time, step time.Duration) watch.State {
	s := m.last
	s.Time, s.Resolution = at, step.Seconds()
	s.Probes, s.Switch = m.probes, m.ports
	longest := &lasted{}
	for _, l := range m.limits {
		if l.times > longest.times || l.times == longest.times && l.verdict.Limit < longest.verdict.Limit {
			longest = l
		}
	}
	s.Verdict = longest.verdict
	if len(m.problems) > 0 {
		s.Problems = m.problems
	}
	s.Traffic.Sent, s.Traffic.Received, s.Traffic.Retransmits = mean(m.sent), mean(m.received), mean(m.again)
	s.Traffic.RTT = mean(m.rtt)
	s.Course = &watch.Course{Sent: percentiles(m.sent), Received: percentiles(m.received), RTT: percentiles(m.rtt)}
	s.Flows = []watch.Flow{}
	for _, k := range m.flows {
		f := k.flow
		f.Sent, f.Received = k.sent/float64(m.n), k.received/float64(m.n)
		s.Flows = append(s.Flows, f)
	}
	slices.SortFunc(s.Flows, func(a, b watch.Flow) int {
		return cmp.Or(cmp.Compare(b.Sent+b.Received, a.Sent+a.Received), cmp.Compare(a.ID, b.ID))
	})
	s.Flows = s.Flows[:min(len(s.Flows), keptFlows)]
	for i := range s.Flows { // of so long a time nobody needs to know exactly, and it is most of what is kept
		f := &s.Flows[i]
		f.Since = f.Since.Truncate(time.Second)
		for _, n := range []*uint32{&f.Window, &f.Offered, &f.Unsent, &f.Unread} {
			*n = uint32(two(uint64(*n)))
		}
		f.Flight = two(f.Flight)
	}
	s.Round(3)
	return s
}

// two are the first two digits of a number.
func two(n uint64) uint64 {
	scale := uint64(1)
	for n/scale >= 100 {
		scale *= 10
	}
	return n / scale * scale
}

func mean(values []float64) float64 {
	total := 0.0
	for _, v := range values {
		total += v
	}
	return total / float64(max(len(values), 1))
}

func percentiles(values []float64) watch.Percentiles {
	if len(values) == 0 {
		return watch.Percentiles{}
	}
	slices.Sort(values)
	at := func(share float64) float64 { return values[min(len(values)-1, int(share*float64(len(values))))] }
	return watch.Percentiles{P50: at(0.5), P90: at(0.9), P99: at(0.99), Max: values[len(values)-1]}
}
