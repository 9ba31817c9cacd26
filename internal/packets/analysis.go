package packets

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/flow"
	"github.com/wirerate/wirerate/internal/units"
)

// Analysis is what a capture says of its flows.
type Analysis struct {
	Schema    int     `json:"schema"`
	Capture   string  `json:"capture"`
	Verdict   string  `json:"verdict"` // one sentence on the flow with the most data
	Start     float64 `json:"start_unix_s"`
	Duration  float64 `json:"duration_s"`
	Packets   int64   `json:"packets"`
	Bytes     int64   `json:"bytes"`
	Unread    int64   `json:"unread_packets"` // neither TCP nor UDP over IP
	Other     []Kind  `json:"unread"`         // what these are, the most first
	Drops     uint64  `json:"capture_drops"`  // that the capture itself counted
	SetBack   int64   `json:"clock_set_back"` // how often the capture's clock was set back: times are counted on
	Truncated bool    `json:"truncated"`      // the file ends within a packet
	Flows     []Life  `json:"flows"`          // the one with the most data first
	More      int     `json:"more_flows"`     // that are not listed
	Left      int64   `json:"dropped_flows"`  // given up for their number while reading
	Both      *Both   `json:"both,omitempty"` // beside a capture of the other end
}

// Kind is packets of one kind that are not read.
type Kind struct {
	What    string `json:"what"` // a protocol, a link type, or why it was not read
	Packets int64  `json:"packets"`
}

// Life is a flow's.
type Life struct {
	Protocol string     `json:"protocol"` // tcp, udp
	From     string     `json:"from"`     // who sends the most data
	To       string     `json:"to"`
	Start    float64    `json:"start_s"` // since the capture's first packet
	Duration float64    `json:"duration_s"`
	Bytes    int64      `json:"bytes"`
	Goodput  float64    `json:"goodput_bps"`
	Limit    flow.Limit `json:"limit"` // of the largest share of its life
	Verdict  string     `json:"verdict"`
	Limits   []Held     `json:"limits"`
	Spans    []Stretch  `json:"spans"`
	Vantage  string     `json:"captured_at"` // sender, receiver, between, unknown
	RTT      *RTT       `json:"rtt"`         // null when not seen
	Capacity float64    `json:"path_rate_bps"`
	Flight   int64      `json:"flight_bytes"`
	Window   int64      `json:"window_bytes"`
	MSS      int64      `json:"mss_bytes"`
	flow.Counts
	Opened   Opened       `json:"handshake"`
	Back     int64        `json:"bytes_back"`
	Reset    string       `json:"reset,omitempty"` // who sent it
	Evidence []flow.Event `json:"evidence"`
	Fix      []Fix        `json:"fix"`
	Notes    []string     `json:"notes"`
	Points   []flow.Point `json:"-"`
	UDP      *UDP         `json:"udp,omitempty"`
}

// Held is a limit's share of a life.
type Held struct {
	Limit flow.Limit `json:"limit"`
	Share float64    `json:"share"`
	Time  float64    `json:"time_s"`
}

// Stretch is a time in which one limit held.
type Stretch struct {
	Limit flow.Limit `json:"limit"`
	Start float64    `json:"start_s"` // since the capture's first packet
	End   float64    `json:"end_s"`
}

// RTT is the round trip of the whole path.
type RTT struct {
	Min     float64 `json:"min_ms"`
	Median  float64 `json:"median_ms"`
	Longest float64 `json:"longest_ms"` // the longest mean over an interval
}

// Opened is what both ends offered.
type Opened struct {
	From *Offer `json:"from"` // null when not captured, or cut off
	To   *Offer `json:"to"`
}

// Offer is what one end offered in its SYN.
type Offer struct {
	MSS        int  `json:"mss"`
	Scale      *int `json:"window_scale"` // null: not offered
	SACK       bool `json:"sack"`
	Timestamps bool `json:"timestamps"`
	ECN        bool `json:"ecn"`
	AccECN     bool `json:"accecn"`
	Window     int  `json:"window"`
	TTL        int  `json:"ttl"`
}

// Fix is what would help: a setting of one end, or something else to do.
type Fix struct {
	On      string `json:"on"` // sender, receiver, path, program
	OS      string `json:"os,omitempty"`
	Setting string `json:"setting,omitempty"`
	Value   string `json:"value,omitempty"`
	Action  string `json:"action,omitempty"`
}

// MaxListed is how many flows an Analysis tells one by one.
const MaxListed = 50

// Analyze judges the flows of a capture.
func Analyze(name string, t *Trace) Analysis {
	a := Analysis{Schema: 1, Capture: name, Packets: t.Packets, Bytes: t.Bytes, Unread: t.Packets - t.Read,
		Start: float64(t.Start) / 1e9, Duration: float64(t.End-t.Start) / 1e9,
		Drops: t.Drops, Truncated: t.Truncated, SetBack: t.SetBack, Left: t.Left, Flows: []Life{}, Other: []Kind{}}
	for what, n := range t.Other {
		a.Other = append(a.Other, Kind{what, n})
	}
	slices.SortFunc(a.Other, func(a, b Kind) int {
		return cmp.Or(cmp.Compare(b.Packets, a.Packets), cmp.Compare(a.What, b.What))
	})
	for i := range t.Flows {
		if i == MaxListed {
			a.More = len(t.Flows) - MaxListed
			break
		}
		a.Flows = append(a.Flows, t.Flows[i].life(t.Start))
	}
	a.Verdict = a.verdict()
	return a
}

func (a *Analysis) verdict() string {
	switch {
	case len(a.Flows) == 0:
		said := "no TCP or UDP over IP is in this capture: nothing can be said of a limit"
		if len(a.Other) > 0 {
			said += "; it holds " + a.Others()
		}
		return said
	case a.Flows[0].Protocol == "udp":
		return a.Flows[0].Verdict
	}
	f := &a.Flows[0]
	return fmt.Sprintf("%s > %s, %s in %s: %s", f.From, f.To, units.Bytes(f.Bytes).String(),
		units.Duration(seconds(f.Duration)), f.Verdict)
}

// Others names the most frequent kinds of packets that are not read.
func (a *Analysis) Others() string {
	const named = 4
	var kinds []string
	rest := a.Unread
	for _, k := range a.Other[:min(named, len(a.Other))] {
		kinds = append(kinds, fmt.Sprintf("%s %d", k.What, k.Packets))
		rest -= k.Packets
	}
	if rest > 0 {
		kinds = append(kinds, fmt.Sprintf("others %d", rest))
	}
	return strings.Join(kinds, ", ")
}

func seconds(s float64) time.Duration { return time.Duration(s * 1e9) }

func (f *Flow) life(start int64) Life {
	if f.UDP {
		return f.datagrams(start)
	}
	byA := f.Conn.Bytes(true) >= f.Conn.Bytes(false)
	d, back := f.Conn.Direction(byA), f.Conn.Bytes(!byA)
	l := Life{Protocol: "tcp", From: f.A.String(), To: f.B.String(), Bytes: d.Bytes, Vantage: string(d.Vantage),
		Flight: d.Flight, Window: d.Window, MSS: d.MSS, Counts: d.Counts, Capacity: d.Capacity, Back: back,
		Limits: []Held{}, Spans: []Stretch{}, Evidence: d.Events, Fix: []Fix{}, Notes: []string{}, Points: d.Points,
		Opened: Opened{offer(f.Conn.Handshake(byA)), offer(f.Conn.Handshake(!byA))}, Limit: flow.Unknown}
	if !byA {
		l.From, l.To = l.To, l.From
	}
	if l.Evidence == nil {
		l.Evidence = []flow.Event{}
	}
	offset := float64(f.Conn.Start()-start) / 1e9
	l.Start, l.Duration = offset+d.Start.Seconds(), (d.End - d.Start).Seconds()
	if l.Duration > 0 {
		l.Goodput = float64(d.Bytes) * 8 / l.Duration
	}
	if d.RTT > 0 {
		const ms = float64(time.Millisecond)
		l.RTT = &RTT{float64(d.RTT) / ms, float64(max(d.Typical, d.RTT)) / ms, float64(max(d.Longest, d.RTT)) / ms}
	}
	for i := range l.Evidence {
		l.Evidence[i].Seconds += offset
	}
	for _, s := range d.Shares {
		l.Limits = append(l.Limits, Held{s.Limit, s.Share, float64(s.Time) / 1e9})
	}
	for _, s := range d.Spans {
		l.Spans = append(l.Spans, Stretch{s.Limit, float64(s.Start-start) / 1e9, float64(s.End-start) / 1e9})
	}
	if n, byAEnd := f.Conn.Reset(); n != 0 {
		if l.Reset = f.B.String(); byAEnd {
			l.Reset = f.A.String()
		}
	}
	l.judge(d)
	return l
}

func offer(h flow.Handshake) *Offer {
	if !h.Seen || h.Cut {
		return nil
	}
	o := &Offer{MSS: int(h.MSS), SACK: h.SACKPermitted, Timestamps: h.HasTimestamp, ECN: h.ECN, AccECN: h.AccECN,
		Window: int(h.Window), TTL: int(h.TTL)}
	if h.Scale >= 0 {
		scale := int(h.Scale)
		o.Scale = &scale
	}
	return o
}
