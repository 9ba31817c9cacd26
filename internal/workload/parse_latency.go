package workload

import (
	"encoding/json"
	"errors"
	"math"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

var pingReply = regexp.MustCompile(`time[=<]([0-9.]+) ?ms`)
var pingEnds = regexp.MustCompile(`(?:rtt|round-trip) min/avg/max(?:/[a-z-]+)? = ([0-9.]+)/([0-9.]+)/([0-9.]+)`)
var pingCount = regexp.MustCompile(`([0-9]+) packets transmitted, ([0-9]+) (?:packets )?received`)

// parsePing reads the ping of Linux (iputils, busybox), the BSDs and macOS.
// Duplicates are not counted.
func parsePing(text string, r *Run) error {
	var latencies []float64
	sent, received := -1.0, 0.0
	lines(text, func(line string) {
		if m := pingReply.FindStringSubmatch(line); m != nil && !strings.Contains(line, "DUP") {
			latencies = append(latencies, number(m[1])/1e3)
		}
		if m := pingCount.FindStringSubmatch(line); m != nil {
			sent, received = number(m[1]), number(m[2])
		}
	})
	if sent < 0 {
		return errors.New("no line with packets transmitted: ping was cut short")
	}
	if sent > 0 {
		r.Metrics[Loss] = max(0, 1-received/sent)
	}
	r.distribution(latencies)
	if m := pingEnds.FindStringSubmatch(text); m != nil && len(latencies) == 0 { // ping -q
		r.Metrics[LatencyMin], r.Metrics[LatencyMean], r.Metrics[LatencyMax] = number(m[1])/1e3, number(m[2])/1e3, number(m[3])/1e3
	}
	r.MeanRTT = r.Metrics[LatencyMean]
	return nil
}

var (
	fpingSummary = regexp.MustCompile(`^\S+\s*: xmt/rcv/%(?:loss|` +
		`return) = (\d+)/(\d+)/[0-9.]+%(?:, outage\(ms\) = [0-9.]+)?(?:, min/avg/max = ([0-9.e+]+)/([0-9.e+]+)/([0-9.e+]+))?`)
	fpingTimes = regexp.MustCompile(`^\S+\s*:((?: (?:[0-9.e+]+|-))+)\s*$`)
	fpingReply = regexp.MustCompile(`\], \d+ bytes, ([0-9.e+]+) ms`)
)

// fping adds up what fping says of its targets.
type fping struct {
	replies, values []float64 // s: as they came, and listed at the end (-C)
	sent, received  float64
	ends            [3]float64 // minimum, mean and maximum, ms
}

// parseFping reads fping -c, -q and -C, and the JSON of fping 5.3 and later
// (-J), an object a line.
func parseFping(text string, r *Run) error {
	var f fping
	lines(text, func(line string) {
		if strings.HasPrefix(strings.TrimSpace(line), "{") {
			f.object([]byte(line))
			return
		}
		if m := fpingSummary.FindStringSubmatch(line); m != nil {
			f.sent, f.received = f.sent+number(m[1]), f.received+number(m[2])
			if m[3] != "" {
				f.ends = [3]float64{number(m[3]), number(m[4]), number(m[5])}
			}
			return
		}
		if m := fpingReply.FindStringSubmatch(line); m != nil {
			f.replies = append(f.replies, number(m[1])/1e3)
			return
		}
		if m := fpingTimes.FindStringSubmatch(line); m != nil {
			for _, word := range strings.Fields(m[1]) {
				f.sent++
				if word != "-" {
					f.received++
					f.values = append(f.values, number(word)/1e3)
				}
			}
		}
	})
	if f.sent == 0 {
		return errNoResult
	}
	r.Metrics[Loss] = max(0, 1-f.received/f.sent)
	latencies := f.values
	if len(latencies) == 0 {
		latencies = f.replies
	}
	r.distribution(latencies)
	if len(latencies) == 0 && f.received > 0 && f.ends[2] > 0 {
		r.Metrics[LatencyMin], r.Metrics[LatencyMean], r.Metrics[LatencyMax] = f.ends[0]/1e3, f.ends[1]/1e3, f.ends[2]/1e3
	}
	r.MeanRTT = r.Metrics[LatencyMean]
	return nil
}

// object takes one line of the JSON: a reply, or a target's sum; times are in
// ms. The sums of intervals (intSum) are in the final one.
func (f *fping) object(line []byte) {
	var o struct {
		Resp    *struct{ RTT float64 }
		Summary *struct{ Xmt, Rcv, RTTMin, RTTAvg, RTTMax float64 }
		VSum    *struct{ Values []*float64 }
	}
	if json.Unmarshal(line, &o) != nil {
		return
	}
	if o.Resp != nil {
		f.replies = append(f.replies, max(0, o.Resp.RTT)/1e3)
	}
	if s := o.Summary; s != nil && s.Xmt >= 0 && s.Rcv >= 0 {
		f.sent, f.received = f.sent+s.Xmt, f.received+s.Rcv
		f.ends = [3]float64{max(0, s.RTTMin), max(0, s.RTTAvg), max(0, s.RTTMax)}
	}
	if o.VSum == nil {
		return
	}
	for _, v := range o.VSum.Values {
		f.sent++
		if v != nil {
			f.received++
			f.values = append(f.values, max(0, *v)/1e3)
		}
	}
}

var (
	sockperfCount = regexp.MustCompile(`\[Valid Duration\] RunTime=([0-9.]+) sec; SentMessages=(\d+); ReceivedMessages=(\d+)`)
	sockperfLost  = regexp.MustCompile(`# dropped messages = (\d+); # duplicated messages = \d+; # out-of-order messages = (\d+)`)
	sockperfSeen  = regexp.MustCompile(`Total (\d+) observations`)
	sockperfPart  = regexp.MustCompile(`---> percentile ([0-9.]+) = *([0-9.]+)`)
	sockperfEnds  = regexp.MustCompile(`---> <(MIN|MAX)> observation = *([0-9.]+)`)
	sockperfMean  = regexp.MustCompile(`avg-(latency|rtt|lat) *= *([0-9.]+)`)
	sockperfRate  = regexp.MustCompile(`Message Rate is ([0-9.]+) \[msg/sec\]`)
	sockperfBand  = regexp.MustCompile(`BandWidth is ([0-9.]+) ([MG])Bps`)
)

// parseSockperf reads ping-pong, under-load, playback and throughput. They
// print half of the round trip unless ping-pong ran with --full-rtt; both are
// given as round trips. Of several servers (multicast) the first one counts.
func parseSockperf(text string, r *Run) error {
	if first := strings.Index(text, "Printing statistics for Server No: 0"); first >= 0 {
		if next := strings.Index(text[first:], "Printing statistics for Server No: 1"); next >= 0 {
			text = text[:first+next]
		}
	}
	r.sockperfSent(text)
	factor := 1e-6
	if m := sockperfMean.FindStringSubmatch(text); m != nil {
		if m[1] != "rtt" {
			factor = 2e-6
		}
		r.Metrics[LatencyMean] = number(m[2]) * factor
		r.MeanRTT = r.Metrics[LatencyMean]
	}
	r.sockperfExchanges(text)
	seen := math.Inf(1)
	if m := sockperfSeen.FindStringSubmatch(text); m != nil {
		seen = number(m[1])
	}
	for _, m := range sockperfPart.FindAllStringSubmatch(text, -1) {
		// It prints the greatest observation for each percentile that it has
		// too few of.
		if p := number(m[1]); p <= 50 || seen*(1-p/100) >= 1-1e-9 {
			r.percentile(p, number(m[2])*factor)
		}
	}
	for _, m := range sockperfEnds.FindAllStringSubmatch(text, -1) {
		r.Metrics[map[string]string{"MIN": LatencyMin, "MAX": LatencyMax}[m[1]]] = number(m[2]) * factor
	}
	if len(r.Metrics) == 0 {
		if strings.Contains(text, "No messages were received") {
			return errors.New("no message came back from its server")
		}
		return errNoResult
	}
	return nil
}

// sockperfSent reads the throughput mode, in which only the sender counts: over
// TCP that is what arrived, over UDP it is not. Its MB has 1024 KB of 1024
// bytes, its GB has 1000 of those.
func (r *Run) sockperfSent(text string) {
	m := sockperfRate.FindStringSubmatch(text)
	if m == nil {
		return
	}
	r.Metrics[SentPackets] = number(m[1])
	if b := sockperfBand.FindStringSubmatch(text); b != nil && strings.Contains(text, "# TCP") {
		delete(r.Metrics, SentPackets)
		r.Metrics[Goodput] = number(b[1]) * 8 * (1 << 20) * map[string]float64{"M": 1, "G": 1000}[b[2]]
	}
}

// sockperfExchanges reads how many messages were sent and answered. Under load
// the server answers one message of many (--reply-every), so that only what
// sockperf itself calls dropped is lost.
func (r *Run) sockperfExchanges(text string) {
	m := sockperfCount.FindStringSubmatch(text)
	if m == nil || !(number(m[1]) > 0) {
		return
	}
	seconds, sent, answered := number(m[1]), number(m[2]), number(m[3])
	expected := sent
	if l := sockperfLost.FindStringSubmatch(text); l != nil {
		expected = answered + number(l[1]) + number(l[2])
		answered += number(l[2])
	}
	if expected > 0 {
		r.Metrics[Loss] = max(0, 1-answered/expected)
	}
	if sent > expected+1 {
		r.Metrics[SentPackets] = sent / seconds
		return
	}
	r.Metrics[Transactions] = answered / seconds
}
