// Package period tells what hosts did over a time, from the states that watch
// recorded: in columns, what limited when, and what was different before and after
// a change.
package period

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/wirerate/wirerate/internal/watch"
)

// Report is what was recorded over a time.
type Report struct {
	Schema int       `json:"schema"`
	From   time.Time `json:"from"`
	To     time.Time `json:"to"`
	Hosts  []Host    `json:"hosts"`
	Marks  []Mark    `json:"marks"`
	// Comparison is null unless it was asked for.
	Comparison *Comparison `json:"comparison"`
}

// Host is the course of one host.
type Host struct {
	Name   string   `json:"host"`
	States int      `json:"states"`
	Points []Point  `json:"points"`
	Onsets []Onset  `json:"onsets"`
	Limits []Lasted `json:"limits"`
	// Gone is for how long the host was not reached.
	Gone float64 `json:"not_reached_s"`
}

// Point is a column: means, and percentiles over its states.
type Point struct {
	At       time.Time `json:"time"`
	Seconds  float64   `json:"length_s"`
	Sent     float64   `json:"sent_bps"`
	Received float64   `json:"received_bps"`
	RTT      float64   `json:"rtt_p50_ms"` // 0 is not known
	SlowRTT  float64   `json:"rtt_p99_ms"`
	Loss     float64   `json:"loss"`  // segments sent again of those sent, the mean of the states
	Limit    string    `json:"limit"` // that held longest; none
}

// Onset is a limit or a problem from its beginning to its end.
type Onset struct {
	At       time.Time `json:"time"`
	Seconds  float64   `json:"lasted_s"`
	Limit    string    `json:"limit,omitempty"`
	Problem  string    `json:"problem,omitempty"`
	Severity string    `json:"severity"`
	Words    string    `json:"words"`
}

// Lasted is for how long a limit held in all.
type Lasted struct {
	Limit   string  `json:"limit"`
	Times   int     `json:"times"`
	Seconds float64 `json:"seconds"`
	Share   float64 `json:"share"` // of the time that was recorded
}

// Mark is something that was changed, or tried.
type Mark struct {
	At    time.Time `json:"time"`
	Kind  string    `json:"kind"` // apply, trial, attribution, tune, measure, note
	ID    string    `json:"id"`
	Host  string    `json:"host,omitempty"`
	Words string    `json:"words"`
}

const (
	columns     = 240
	onsetsLimit = 2000
	rttsLimit   = 1 << 12 // values of a column
)

// Builder makes a report of states that it is given in the order of time.
type Builder struct {
	from, to time.Time
	step     time.Duration
	hosts    map[string]*building
}

// building is a host so far.
type building struct {
	Host
	column         *column
	last           watch.State
	begun          map[string]*Onset // what goes on
	limits         map[string]*Lasted
	seconds        float64
	goodputs, rtts []value
	losses         []value
}

// value is one of a series.
type value struct {
	at time.Time
	v  float64
}

type column struct {
	at                            time.Time
	seconds, sent, received, loss float64
	rtts, slow                    []float64
	limits                        map[string]float64
}

// New begins a report of the time between two moments.
func New(from, to time.Time) *Builder {
	step := max(time.Second, to.Sub(from)/columns).Round(time.Second)
	return &Builder{from: from, to: to, step: step, hosts: map[string]*building{}}
}

// longest is how far apart two states may be, in intervals, that follow each other.
const longest = 5

// Add takes a state.
func (b *Builder) Add(s watch.State) {
	h := b.hosts[s.Host]
	if h == nil {
		h = &building{Host: Host{Name: s.Host, Points: []Point{}, Onsets: []Onset{}}, begun: map[string]*Onset{},
			limits: map[string]*Lasted{}}
		b.hosts[s.Host] = h
	}
	seconds := cmp.Or(s.Resolution, s.Interval)
	if gap := s.Time.Sub(h.last.Time).Seconds(); h.States > 0 && s.Resolution == 0 {
		seconds = min(max(gap, 0), longest*max(seconds, 1))
	}
	h.last = s
	h.States++
	if s.Gone != "" {
		h.Gone += seconds
		h.goOn(s, seconds)
		return
	}
	h.seconds += seconds
	h.goOn(s, seconds)
	h.put(s, seconds, b.step)
	if s.Traffic.Sent+s.Traffic.Received > 0 {
		h.goodputs = append(h.goodputs, value{s.Time, s.Traffic.Sent + s.Traffic.Received})
	}
	if rtt, _ := rttOf(s); rtt > 0 {
		h.rtts = append(h.rtts, value{s.Time, rtt})
		h.losses = append(h.losses, value{s.Time, s.Traffic.Loss})
	}
}

// rttOf are the median round trip of a state and its slow ones; of many seconds,
// those of the course that was kept.
func rttOf(s watch.State) (median, slow float64) {
	if s.Course != nil {
		return s.Course.RTT.P50, s.Course.RTT.P99
	}
	return cmp.Or(s.Traffic.P50, s.Traffic.RTT), cmp.Or(s.Traffic.P99, s.Traffic.RTT)
}

// put adds a state to its column.
func (h *building) put(s watch.State, seconds float64, step time.Duration) {
	at := s.Time.Truncate(step)
	if h.column == nil || !h.column.at.Equal(at) {
		h.close(step)
		h.column = &column{at: at, limits: map[string]float64{}}
	}
	c := h.column
	weight := max(seconds, 1e-3)
	c.seconds += weight
	c.sent, c.received = c.sent+weight*s.Traffic.Sent, c.received+weight*s.Traffic.Received
	c.loss += weight * s.Traffic.Loss
	c.limits[s.Verdict.Limit] += weight
	if median, slow := rttOf(s); median > 0 && len(c.rtts) < rttsLimit {
		c.rtts, c.slow = append(c.rtts, median), append(c.slow, slow)
	}
}

// close ends a column.
func (h *building) close(step time.Duration) {
	c := h.column
	if c == nil {
		return
	}
	p := Point{At: c.at, Seconds: step.Seconds(), Sent: c.sent / c.seconds, Received: c.received / c.seconds,
		Loss:  c.loss / c.seconds,
		Limit: watch.NoLimit}
	for _, limit := range slices.Sorted(maps.Keys(c.limits)) {
		if c.limits[limit] > c.limits[p.Limit] {
			p.Limit = limit
		}
	}
	if len(c.rtts) > 0 {
		slices.Sort(c.rtts)
		slices.Sort(c.slow)
		p.RTT, p.SlowRTT = c.rtts[len(c.rtts)/2], c.slow[min(len(c.slow)-1, len(c.slow)*99/100)]
	}
	h.Points = append(h.Points, p)
}

// goOn notes what begins, goes on and ends.
func (h *building) goOn(s watch.State, seconds float64) {
	now := map[string]bool{}
	note := func(key string, o Onset) {
		now[key] = true
		if h.begun[key] == nil && len(h.Onsets)+len(h.begun) < onsetsLimit {
			o.At = s.Time
			h.begun[key] = &o
			if o.Limit != "" {
				h.lasted(o.Limit).Times++
			}
		}
		if k := h.begun[key]; k != nil {
			k.Seconds += seconds
		}
	}
	if v := s.Verdict; v.Limit != watch.NoLimit && s.Gone == "" {
		note("limit "+v.Limit+" "+v.Peer+" "+v.Subject, Onset{Limit: v.Limit, Severity: string(v.Severity()),
			Words: s.Verdict.Cause()})
		h.lasted(v.Limit).Seconds += seconds
	}
	if s.Gone != "" {
		note("gone", Onset{Problem: "not-reached", Severity: "error", Words: "not reached: " + s.Gone})
	} else {
		for _, p := range s.Problems {
			note("problem "+p.Problem+" "+p.Subject, Onset{Problem: p.Problem, Severity: p.Severity, Words: p.Subject +
				": " + p.Summary})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(h.begun)) {
		if !now[key] {
			h.Onsets = append(h.Onsets, *h.begun[key])
			delete(h.begun, key)
		}
	}
}

func (h *building) lasted(limit string) *Lasted {
	if h.limits[limit] == nil {
		h.limits[limit] = &Lasted{Limit: limit}
	}
	return h.limits[limit]
}

// Report ends the report; marks outside of its time are left out.
func (b *Builder) Report(marks []Mark) *Report {
	r := &Report{Schema: 1, From: b.from, To: b.to, Hosts: []Host{}, Marks: []Mark{}}
	for _, m := range marks {
		if !m.At.Before(b.from) && !m.At.After(b.to) {
			r.Marks = append(r.Marks, m)
		}
	}
	slices.SortFunc(r.Marks, func(a, b Mark) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID)) })
	for _, name := range slices.Sorted(maps.Keys(b.hosts)) {
		h := b.hosts[name]
		h.close(b.step)
		for _, key := range slices.Sorted(maps.Keys(h.begun)) {
			h.Onsets = append(h.Onsets, *h.begun[key])
		}
		slices.SortStableFunc(h.Onsets, func(a, b Onset) int { return a.At.Compare(b.At) })
		h.Limits = []Lasted{}
		for _, limit := range slices.Sorted(maps.Keys(h.limits)) {
			l := *h.limits[limit]
			l.Share = math.Min(l.Seconds/max(h.seconds, 1e-9), 1)
			h.Limits = append(h.Limits, l)
		}
		slices.SortStableFunc(h.Limits, func(a, b Lasted) int { return cmp.Compare(b.Seconds, a.Seconds) })
		r.Hosts = append(r.Hosts, h.Host)
	}
	return r
}
