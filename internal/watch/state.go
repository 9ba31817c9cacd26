package watch

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/wirerate/wirerate/internal/flow"
)

// State is what is known of a host at one moment: one object of watch --json.
type State struct {
	Schema   int       `json:"schema"`
	Host     string    `json:"host"`
	Time     time.Time `json:"time"`
	Interval float64   `json:"interval_s"`        // since the sample before; 0 at the first
	Every    float64   `json:"every_s,omitempty"` // how often the host is read
	Verdict  Verdict   `json:"verdict"`
	Traffic  Traffic   `json:"traffic"`
	// Ceiling is the lowest known upper bound of the path, null where none is.
	Ceiling     *Ceiling    `json:"ceiling"`
	Interfaces  []Interface `json:"interfaces"`
	Processors  []Busy      `json:"processors"`
	Levels      []Level     `json:"levels"`
	Flows       []Flow      `json:"flows"` // the first ones
	Connections int         `json:"connections"`
	Moving      int         `json:"moving_connections"`
	Problems    []Problem   `json:"problems"`
	// Probes and Switch are of the machine that runs wirerate, in the states of the first host.
	Probes []Probe      `json:"probes,omitempty"`
	Switch []SwitchPort `json:"switch,omitempty"` // that answered since the state before
	// Missing is what the host could not tell, with the reason.
	Missing map[string]string `json:"missing,omitempty"`
	// Resolution is that of what was recorded longer ago: all is a mean, or what held longest, over so many seconds, and
	// Course tells what the means do not.
	Resolution float64 `json:"resolution_s,omitempty"`
	Course     *Course `json:"course,omitempty"`
	// Gone says why the host was not read; all else is then of the time before.
	Gone string `json:"gone,omitempty"`
}

// Course is how values were spread over a minute or an hour.
type Course struct {
	Sent     Percentiles `json:"sent_bps"`
	Received Percentiles `json:"received_bps"`
	RTT      Percentiles `json:"rtt_ms"`
}

// Percentiles are those of the states' values.
type Percentiles struct {
	P50 float64 `json:"p50"`
	P90 float64 `json:"p90"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// Verdict is what limits now.
type Verdict struct {
	Limit   string    `json:"limit"` // of flow.Limits or HostLimits; none
	Flows   int       `json:"flows,omitempty"`
	Peer    string    `json:"peer,omitempty"`
	Subject string    `json:"subject,omitempty"`    // an interface, a port, a processor
	Here    bool      `json:"here,omitempty"`       // of slow-reader: this host's program
	End     string    `json:"limited_at,omitempty"` // a host, or path, where both ends are watched
	Since   time.Time `json:"since"`
	Seconds float64   `json:"for_s"`
}

// same tells verdicts of one cause.
func (v Verdict) same(o Verdict) bool {
	return v.Limit == o.Limit && v.Peer == o.Peer && v.Subject == o.Subject && v.Here == o.Here
}

// Text is the verdict in one line.
func (v Verdict) Text() string {
	if v.Limit == NoLimit {
		return v.Cause()
	}
	return v.Cause() + ", " + v.Lasting()
}

// Lasting is for how long it has limited.
func (v Verdict) Lasting() string { return "for " + lasting(v.Seconds) }

// Cause is what limits whom.
func (v Verdict) Cause() string {
	words := LimitWords(v.Limit)
	if v.Here {
		words = "a program on this host reads slowly"
	}
	switch {
	case v.Limit == NoLimit:
		return "no limit seen"
	case v.Flows == 1:
		words += ": 1 flow with " + v.Peer
	case v.Flows > 1:
		words += fmt.Sprintf(": %d flows with %s", v.Flows, v.Peer)
	case v.Subject != "":
		words += ": " + v.Subject
	}
	if v.End != "" && v.End != "path" {
		words += ", at " + v.End
	}
	return words
}

// lasting is how long something has lasted, as people say it.
func lasting(seconds float64) string {
	switch {
	case seconds < 120:
		return fmt.Sprintf("%d s", int(seconds))
	case seconds < 7200:
		return fmt.Sprintf("%d min", int(seconds/60))
	}
	return fmt.Sprintf("%d h", int(seconds/3600))
}

// LimitWords says a limit as people do.
func LimitWords(limit string) string {
	known := map[string]string{
		string(flow.Program): "the program has nothing more to send", string(flow.SendBuffer): "send buffer",
		string(flow.PeerWindow): "the peer's window", string(flow.SlowReader): "the peer's program reads slowly",
		string(flow.SlowStart): "slow start", string(flow.Congestion): "congestion window after loss",
		string(flow.Path): "the path's rate", string(flow.Policer): "a policer on the path",
		string(flow.BlackHole): "large segments are lost (MTU black hole)", string(flow.Pacing): "pacing set by the program",
		string(flow.Timeout): "no ACKs arrive: retransmission timer", string(flow.Unknown): "not known",
		AcceptQueue: "accept queue full", Conntrack: "connection tracking table full", DeviceQueue: "device queue drops",
		Ring: "receive ring drops", Backlog: "CPU receive backlog drops", UDPBuffer: "UDP receive buffer drops",
		Mbufs:     "the kernel is out of mbufs",
		TCPMemory: "TCP memory is exhausted", Processor: "CPU busy with packets",
	}
	return cmp.Or(known[limit], limit)
}

// Traffic is what all connections moved over the window.
type Traffic struct {
	Sent        float64 `json:"sent_bps"`
	Received    float64 `json:"received_bps"`
	RTT         float64 `json:"rtt_ms"`     // of the flow that moves most
	MinRTT      float64 `json:"rtt_min_ms"` // its least
	P50         float64 `json:"rtt_p50_ms"` // over all that move
	P99         float64 `json:"rtt_p99_ms"`
	Loss        float64 `json:"loss"` // segments sent again of those sent
	Retransmits float64 `json:"retransmitted_segments_per_s"`
}

// Ceiling is an upper bound of goodput.
type Ceiling struct {
	Resource string  `json:"resource"`
	Value    float64 `json:"value_bps"`
}

// Interface is what crossed an interface.
type Interface struct {
	Name            string             `json:"name"`
	Sent            float64            `json:"sent_bps"`
	Received        float64            `json:"received_bps"`
	SentPackets     float64            `json:"sent_packets_per_s"`
	ReceivedPackets float64            `json:"received_packets_per_s"`
	Drops           map[string]float64 `json:"drops_per_s,omitempty"` // by counter
	Queue           uint64             `json:"queue_bytes"`
	Speed           float64            `json:"speed_bps,omitempty"` // 0 is not known
}

// Level is a limit of the kernel in use.
type Level struct {
	Name  string `json:"name"`
	Used  uint64 `json:"used"`
	Limit uint64 `json:"limit"`
}

// Flow is a connection now.
type Flow struct {
	ID          string    `json:"id"`
	Local       string    `json:"local"`
	Peer        string    `json:"peer"`
	Limit       string    `json:"limit"` // empty: none
	Since       time.Time `json:"since"`
	Age         float64   `json:"age_s"` // since it was first seen
	Sent        float64   `json:"sent_bps"`
	Received    float64   `json:"received_bps"`
	RTT         float64   `json:"rtt_ms"`
	MinRTT      float64   `json:"rtt_min_ms"`
	Window      uint32    `json:"congestion_window_segments"`
	Offered     uint32    `json:"peer_window_bytes"`
	Flight      uint64    `json:"in_flight_bytes"`
	Unsent      uint32    `json:"not_sent_bytes"`
	Unread      uint32    `json:"unread_bytes"`
	Retransmits float64   `json:"retransmitted_segments_per_s"`
	Busy        float64   `json:"busy"` // shares of the time
	PeerLimited float64   `json:"peer_window_limited"`
	SendLimited float64   `json:"send_buffer_limited"`
	Interface   string    `json:"interface,omitempty"` // that has the local address
	// Other is what the other end says, where it is watched too; End the host at which it is limited, or path.
	Other *OtherEnd `json:"other_end,omitempty"`
	End   string    `json:"limited_at,omitempty"`
}

// Problem is a finding of inspect's rules over the window.
type Problem struct {
	Problem  string `json:"problem"`
	Severity string `json:"severity"`
	Subject  string `json:"subject"`
	Summary  string `json:"summary"`
}

// shown is how many flows a state lists.
const shown = 40

// state says what is known after a sample.
func (w *Watcher) state(s *Sample, c *hostChange) State {
	moving := w.moving()
	st := State{Schema: 1, Time: s.Time, Interval: c.seconds, Connections: len(w.tracks), Moving: len(moving),
		Processors: append([]Busy{}, c.processors...), Missing: s.Missing, Interfaces: interfaces(s, c), Levels: levels(s),
		Flows: []Flow{}, Problems: []Problem{}}
	var rtts []time.Duration
	var segments, again float64
	for i, t := range moving {
		g := t.change
		st.Traffic.Sent += 8 * g.acked
		st.Traffic.Received += 8 * g.received
		segments, again = segments+g.segments, again+g.again
		if g.last.RTT > 0 && g.acked > 0 {
			if len(rtts) == 0 {
				st.Traffic.RTT, st.Traffic.MinRTT = inMillis(g.last.RTT), inMillis(g.last.MinRTT)
			}
			rtts = append(rtts, g.last.RTT)
		}
		if i < shown {
			st.Flows = append(st.Flows, t.flow(s.Time))
		}
	}
	if n := len(rtts); n > 0 {
		slices.Sort(rtts)
		st.Traffic.P50, st.Traffic.P99 = inMillis(rtts[n/2]), inMillis(rtts[min(n-1, n*99/100)])
	}
	st.Traffic.Retransmits = again
	if segments > 0 {
		st.Traffic.Loss = min(again/segments, 1)
	}
	if _, known := s.Counters["tcp.sent"]; known {
		st.substitute(c)
	}
	w.decide(moving, s.Time)
	st.Verdict = w.verdict
	return st
}

func inMillis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func (t *track) flow(now time.Time) Flow {
	c, g := &t.last, t.change
	return Flow{ID: fmt.Sprintf("%x", c.ID), Local: c.Local.String(), Peer: c.Peer.String(), Limit: string(t.limit),
		Since: t.since, Age: now.Sub(t.first).Seconds(), Sent: 8 * g.acked, Received: 8 * g.received, RTT: inMillis(c.RTT),
		MinRTT: inMillis(c.MinRTT), Window: c.Window, Offered: c.Offered, Flight: uint64(c.Unacked) * uint64(c.MSS),
		Unsent: c.NotSent, Unread: c.Receive, Retransmits: g.again, Busy: g.busy, PeerLimited: g.peer, SendLimited: g.send}
}

// decide takes a verdict over when two samples in turn say the same; what began
// it is the first of them.
func (w *Watcher) decide(moving []*track, now time.Time) {
	v := w.propose(moving)
	if v.same(w.proposed) {
		w.held++
	} else {
		v.Since, w.held = now, 1
		w.proposed = v
	}
	switch {
	case v.same(w.verdict) && !w.verdict.Since.IsZero():
		w.verdict.Flows = v.Flows
	case w.held >= 2 || w.verdict.Since.IsZero():
		v.Since = w.proposed.Since
		w.verdict = v
	}
	w.verdict.Seconds = now.Sub(w.verdict.Since).Seconds()
}

// propose is what the window alone shows: a limit of the host that dropped
// something in most of its samples, else that of the flows that matter most.
func (w *Watcher) propose(moving []*track) Verdict {
	type key struct{ limit, subject string }
	times := map[key]int{}
	for _, h := range w.hosts {
		for _, k := range h.causes {
			subject := k.subject
			if k.limit == Conntrack {
				subject = "" // its numbers change
			}
			times[key{k.limit, subject}]++
		}
	}
	order := HostLimits()
	keys := slices.SortedFunc(maps.Keys(times), func(a, b key) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.limit), slices.Index(order, b.limit)),
			cmp.Compare(a.subject, b.subject))
	})
	all := groups(moving)
	for _, k := range keys {
		if times[k] >= 2 && (k.limit != Processor || len(all) == 0 || !atAnEnd(all[0].limit)) {
			return Verdict{Limit: k.limit, Subject: k.subject}
		}
	}
	if len(all) > 0 {
		g := all[0]
		return Verdict{Limit: string(g.limit), Flows: g.flows, Peer: g.peer.String(), Here: g.here}
	}
	return Verdict{Limit: NoLimit}
}

// atAnEnd tells limits that a faster processor would not lift.
func atAnEnd(l flow.Limit) bool {
	return slices.Contains([]flow.Limit{flow.Program, flow.SendBuffer, flow.PeerWindow, flow.SlowReader, flow.Pacing}, l)
}

func interfaces(s *Sample, c *hostChange) []Interface {
	all := []Interface{}
	for _, name := range slices.Sorted(maps.Keys(c.devices)) {
		d := c.devices[name]
		i := Interface{Name: name, Sent: 8 * d["tx_bytes"], Received: 8 * d["rx_bytes"], SentPackets: d["tx_packets"],
			ReceivedPackets: d["rx_packets"], Queue: s.Devices[name]["queue_bytes"]}
		for _, k := range []string{"rx_errors", "tx_errors", "rx_dropped", "tx_dropped", "rx_missed", "rx_fifo", "rx_crc",
			"tx_carrier", "queue_dropped"} {
			if d[k] > 0 {
				if i.Drops == nil {
					i.Drops = map[string]float64{}
				}
				i.Drops[k] = d[k]
			}
		}
		all = append(all, i)
	}
	slices.SortStableFunc(all, func(a, b Interface) int { return cmp.Compare(b.Sent+b.Received, a.Sent+a.Received) })
	return all
}

// levels are the kernel's limits that are in use.
func levels(s *Sample) []Level {
	all := []Level{}
	add := func(name string, used, limit uint64) {
		if limit > 0 {
			all = append(all, Level{name, used, limit})
		}
	}
	add("conntrack", s.Counters["conntrack.used"], s.Counters["conntrack.max"])
	add("tcp-memory", s.Counters["sockstat.TCP.mem"], s.Counters["tcp_mem.max"])
	var fullest Connection
	for i := range s.Connections {
		l := &s.Connections[i]
		if l.State == Listening && l.Send > 0 && (fullest.Send == 0 ||
			uint64(l.Receive)*uint64(fullest.Send) > uint64(fullest.Receive)*uint64(l.Send)) {
			fullest = *l
		}
	}
	add("accept-queue", uint64(fullest.Receive), uint64(fullest.Send))
	return all
}
