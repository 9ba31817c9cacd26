package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"github.com/wirerate/wirerate/internal/flow"
)

// truth is what is known of a capture: what was planted on which link, and what
// the sender's kernel said of the connection every 10 ms.
type truth struct {
	Label   string   `json:"label"`
	CC      string   `json:"cc"`
	Rate    float64  `json:"rate_bps"`
	RTT     float64  `json:"rtt_ms"`
	Late    float64  `json:"late_ms"` // the most by which the emulated link was late, 0 when it kept up
	Samples []sample `json:"samples"`
}

// sample is TCP_INFO at a moment; times but Time are in microseconds.
type sample struct {
	Time      int64  `json:"t"` // nanoseconds since 1970
	Busy      uint64 `json:"busy"`
	Window    uint64 `json:"rwnd"`
	Buffer    uint64 `json:"sndbuf"`
	State     uint8  `json:"ca"`
	Backoff   uint8  `json:"backoff"`
	MSS       uint32 `json:"mss"`
	Cwnd      uint32 `json:"cwnd"`
	Ssthresh  uint32 `json:"ssthresh"`
	Unacked   uint32 `json:"unacked"`
	Sacked    uint32 `json:"sacked"`
	Lost      uint32 `json:"lost"`
	Out       uint32 `json:"retrans_out"`
	Again     uint32 `json:"retrans"`
	Timeouts  uint32 `json:"rto"`
	NotSent   uint32 `json:"notsent"`
	Acked     uint64 `json:"acked"`
	Sent      uint64 `json:"sent"`
	Offered   uint32 `json:"window"`
	RTT       uint32 `json:"rtt"`
	MinRTT    uint32 `json:"minrtt"`
	Delivered uint32 `json:"delivered"`
	Gain      uint32 `json:"gain,omitempty"` // BBR's, of pacing, in 1/256
	Writing   bool   `json:"writing"`        // the program waits in write
}

// instant is a stretch of time and the limits that may be said of it; none: it
// is not judged.
type instant struct {
	start, end int64
	limits     []flow.Limit
}

// busy is how far apart samples are on a machine that has no time for the link
// either: what limits then is not judged.
const busy = 25e6

func readTruth(name string) (t truth, err error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return t, err
	}
	if err := json.Unmarshal(data, &t); err != nil {
		return t, fmt.Errorf("%s: %w", name, err)
	}
	if len(t.Samples) < 2 {
		return t, fmt.Errorf("%s: the kernel said nothing", name)
	}
	return t, nil
}

func (t *truth) last() sample { return t.Samples[len(t.Samples)-1] }

// course is what bound the sender, from sample to sample.
func (t *truth) course() []instant {
	all := make([]instant, 0, len(t.Samples))
	sent := 0 // the last sample at which something had been sent since the one before
	var widest uint32
	for i := 1; i < len(t.Samples); i++ {
		a, b := &t.Samples[i-1], &t.Samples[i]
		widest = max(widest, b.Offered)
		all = append(all, instant{a.Time, b.Time, t.limits(i, widest)})
		if b.Time-a.Time > busy {
			all[i-1].limits = nil
		}
		if b.Timeouts > a.Timeouts { // nothing was sent until a timer expired
			for j := sent; j < i; j++ {
				all[j].limits = t.stall()
			}
		}
		if b.Sent > a.Sent {
			sent = i
		}
	}
	return all
}

func (t *truth) stall() []flow.Limit {
	if t.Label == "blackhole" {
		return []flow.Limit{flow.BlackHole}
	}
	return []flow.Limit{flow.Timeout}
}

// limits are those of the time before sample i.
func (t *truth) limits(i int, widest uint32) []flow.Limit {
	a, b := &t.Samples[i-1], &t.Samples[i]
	half := uint64(b.Time-a.Time) / 2000
	carried := t.carried(i)
	room := b.Unacked < b.Cwnd
	held := max(a.NotSent, b.NotSent) < b.MSS && room // at most what Nagle's algorithm keeps back
	var limits []flow.Limit
	switch {
	case t.Label == "blackhole":
		return t.stall()
	case b.Window-a.Window >= half || b.NotSent > 0 && (b.Unacked+1)*b.MSS > b.Offered:
		limits = []flow.Limit{flow.PeerWindow}
		if b.Offered < widest/2 {
			limits = []flow.Limit{flow.SlowReader}
		}
		if t.Label == "silly" && b.Offered < 2*b.MSS {
			limits = append(limits, flow.Silly, flow.SlowReader)
		}
	case t.Label == "nagle" && held && a.NotSent > 0 && b.NotSent > 0:
		return []flow.Limit{flow.Nagle}
	case t.Label == "nagle" && held && a.NotSent+b.NotSent > 0: // for a part of the time
		return []flow.Limit{flow.Nagle, flow.Program}
	case b.Buffer-a.Buffer >= half || held && a.Writing && b.Writing && t.Label != "program":
		limits = []flow.Limit{flow.SendBuffer}
		if b.Cwnd >= b.Ssthresh && b.Cwnd > t.before(i, 2).Cwnd { // the kernel lets it grow when it is used up
			limits = append(limits, flow.Congestion)
		}
	case b.Busy-a.Busy < half || held:
		return []flow.Limit{flow.Program}
	case t.Label == "policer" && b.Again > 0:
		return []flow.Limit{flow.Policer}
	case b.Again == 0 && (t.CC == "bbr" && b.Gain > 600 || t.CC != "bbr" && b.Cwnd < b.Ssthresh):
		limits = []flow.Limit{flow.SlowStart}
		if t.CC == "bbr" && float64(b.Time-t.Samples[0].Time) > 8e6*t.RTT {
			limits = append(limits, t.planted()...) // it stays in its startup when it is never given enough to send
		}
	case carried >= 0.9:
		return []flow.Limit{flow.Path}
	case b.Cwnd < b.Ssthresh: // slow start after a timeout
		limits = []flow.Limit{flow.Congestion, flow.SlowStart}
	case t.CC == "bbr" && b.Again == 0: // it paces at the rate that something else keeps it to
		limits = append(t.planted(), flow.Congestion)
	default:
		limits = []flow.Limit{flow.Congestion}
	}
	if carried >= 0.8 {
		limits = append(limits, flow.Path)
	}
	if t.Label == "reader" && limits[0] != flow.SlowStart {
		limits = append(limits, flow.SlowReader) // acknowledgements come as it reads
	}
	return limits
}

// planted is what was made to limit by the programs.
func (t *truth) planted() []flow.Limit {
	switch t.Label {
	case "program":
		return []flow.Limit{flow.Program}
	case "sndbuf":
		return []flow.Limit{flow.SendBuffer}
	case "window":
		return []flow.Limit{flow.PeerWindow}
	case "reader":
		return []flow.Limit{flow.SlowReader}
	}
	return nil
}

// before is the sample some round trips before sample i.
func (t *truth) before(i int, trips float64) sample {
	for at := t.Samples[i].Time - int64(trips*t.RTT*1e6); i > 0 && t.Samples[i].Time > at; {
		i--
	}
	return t.Samples[i]
}

// minRTT is the kernel's, in milliseconds; of times before a loss, since a
// segment that was sent again is measured in whole ones.
func (t *truth) minRTT() float64 {
	least := t.Samples[0].MinRTT
	for _, s := range t.Samples {
		if s.Again == 0 {
			least = s.MinRTT
		}
	}
	return float64(least) / 1000
}

// carried is the share of the link's rate that was delivered over the round trip
// around a sample; where a queue stands it is all.
func (t *truth) carried(i int) float64 {
	around := int64(t.RTT * 1e6 / 2)
	from, to := i-1, i
	for from > 0 && t.Samples[i].Time-t.Samples[from].Time < around {
		from--
	}
	for to < len(t.Samples)-1 && t.Samples[to].Time-t.Samples[i].Time < around {
		to++
	}
	a, b := &t.Samples[from], &t.Samples[to]
	bits := float64(b.Delivered-a.Delivered) * float64(b.MSS+52) * 8
	share := bits / (float64(b.Time-a.Time) / 1e9) / t.Rate
	if share > 0.7 && float64(t.Samples[i].RTT) > 1250*t.RTT+2000 {
		return 1
	}
	return share
}

// agree is how much of the time from first to last the spans say a limit that
// may be said, and how much they say anything of what is judged; in stretches
// of step, since within a round trip the order of limits is not told.
func agree(spans []flow.Span, truths []instant, step int64, c confusion) (right, total float64) {
	if len(spans) == 0 {
		return 0, 0
	}
	for at, end := spans[0].Start, spans[len(spans)-1].End; at < end; at += step {
		said := map[flow.Limit]int64{}
		for _, s := range spans {
			if n := min(s.End, at+step) - max(s.Start, at); n > 0 {
				said[s.Limit] += n
			}
		}
		var may []instant
		for _, o := range truths {
			o.start, o.end = max(o.start, at), min(o.end, at+step)
			if o.end > o.start && len(o.limits) > 0 {
				may = append(may, o)
			}
		}
		slices.SortStableFunc(may, func(a, b instant) int { return len(a.limits) - len(b.limits) })
		n, m := match(may, said, c)
		right += float64(n)
		total += float64(m)
	}
	return right, total
}

// match uses what was said up by what may be said; the rest is confused.
func match(may []instant, said map[flow.Limit]int64, c confusion) (right, total int64) {
	var judged, told int64
	for i := range may {
		o := &may[i]
		judged += o.end - o.start
		for _, l := range o.limits {
			n := min(o.end-o.start, said[l])
			said[l] -= n
			o.start += n
			right += n
		}
	}
	for _, n := range said {
		told += n
	}
	for i := range may {
		o := &may[i]
		for l, rest := range said {
			n := min(o.end-o.start, rest)
			said[l] -= n
			o.start += n
			c[[2]flow.Limit{o.limits[0], l}] += n
		}
	}
	return right, min(judged, right+told)
}
