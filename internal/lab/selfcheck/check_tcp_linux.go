package selfcheck

import (
	"context"
	"fmt"
	"time"

	"github.com/wirerate/wirerate/internal/lab"
)

// windowChecks are examples of RFC 6349, section 3.3: one window per round trip.
// The formula knows no time on the wire: the link is fast but where the example
// names one, the T3.
func windowChecks() []checkItem {
	check := func(link string, window int) checkItem {
		return checkItem{
			what: fmt.Sprintf("goodput with a window of %d bytes", window), link: link, unit: "Mbit/s",
			basis: "RFC 6349: whole segments of the window per round trip, within 3%",
			run: func(ctx context.Context, l *lab.Lab, r Result) (Result, error) {
				// A window of a few segments leaves no room for larger units, nor
				// for acknowledgements that wait for a second one.
				few := window < 1<<16
				t := transfer{duration: 3 * time.Second, omit: time.Second, congestion: "reno", window: window,
					single: few, acks: few}
				res, err := run(ctx, l, t)
				segments := window / max(res.mss, 1)
				want := float64(segments*res.mss) * 8 / l.Link(0).RTT().Seconds()
				return r.transferred(res).within(want/1e6, res.goodput/1e6, 0.03), err
			},
		}
	}
	return []checkItem{
		check("rate=1gbit,rtt=10ms", 16000),
		check("rate=1gbit,rtt=5ms", 16000),
		check("t3", 64000),
		check("rate=1gbit,rtt=20ms", 500_000),
		check("rate=1gbit,rtt=100ms", 4_000_000),
	}
}

// response is an average window under periodic loss, on a link that does not
// limit.
type response struct {
	algorithm string
	rtt       time.Duration
	every     int     // each so many-th segment is lost
	window    float64 // segments
	note      string  // where it is not the tables'
}

// responses are RFC 9438, tables 1 and 2, with two differences. The tables know
// no delayed acknowledgements, and neither do these transfers: at 100 ms, the odd
// last segment of a small window would wait 40 ms for the receiver's timer.
//
// The tables are of a sender that halves its window at the moment of a loss. A
// real one (RFC 5681, RFC 6675) learns of it a round trip later, spends another
// in recovery without growth, and counts in whole segments. Of a cycle of eight
// round trips, as there is at a loss of 1%, that is a good part: 10.5 segments
// instead of 12. With CUBIC at 100 ms there are three cycles, of 10.4, 11.3 and
// 12.4 segments, of which the start decides; at 10 ms CUBIC in Linux computes its
// growth anew at most each 1/32 s while the window stays, which is three round
// trips: 8.7 to 9.9 segments, by the frequency of the kernel's clock. At 100 ms and
// a loss of 0.1%, CUBIC's curve is above Reno's in one part of a cycle and below it
// in the other, and the window is the greater of both all the time: 41 to 50
// segments, while the table has the greater average.
// TestResponseOfRealSenders has both senders step by step.
func responses() []response {
	const short, long = 10 * time.Millisecond, 100 * time.Millisecond
	return []response{
		{"reno", short, 100, 10.5, "RFC 9438 has 12, for a sender that needs no time to recover"},
		{"reno", short, 1000, 38, ""},
		{"reno", short, 10_000, 120, ""},
		{"reno", short, 100_000, 379, ""},
		{"reno", long, 100, 10.5, "RFC 9438 has 12, for a sender that needs no time to recover"},
		{"reno", long, 1000, 38, ""},
		{"reno", long, 10_000, 120, ""},
		{"reno", long, 100_000, 379, ""},
		{"cubic", short, 100, 9.3, "RFC 9438 has 12, for a sender that needs no time to recover and counts in " +
			"fractions"},
		{"cubic", short, 1000, 38, ""},
		{"cubic", short, 10_000, 120, ""},
		{"cubic", short, 100_000, 379, ""},
		{"cubic", long, 100, 11.3, "RFC 9438 has 12, for a sender that needs no time to recover"},
		{"cubic", long, 1000, 45.4, "RFC 9438 has 38, the greater average of two curves; a sender follows the " +
			"greater one at each moment"},
		{"cubic", long, 10_000, 187, ""},
		{"cubic", long, 100_000, 1054, ""},
	}
}

// quickResponse is the longest that a check takes which is always made.
const quickResponse = 13 * time.Second

func responseChecks() []checkItem {
	var items []checkItem
	for _, resp := range responses() {
		items = append(items, resp.check())
	}
	return items
}

// times returns how long the transfer of a response is measured, and what goes
// before. A cycle of the sawtooth is every/window round trips.
func (p response) times() (duration, omit time.Duration) {
	cycle := time.Duration(float64(p.every) / p.window * float64(p.rtt))
	return max(8*cycle, 4*time.Second), max(4*cycle, time.Second)
}

func (p response) check() checkItem {
	duration, omit := p.times()
	basis := "RFC 9438, tables 1 and 2, within 10%"
	if p.note != "" {
		basis = "RFC 9438 and the kernel, within 10%"
	}
	return checkItem{
		what: "average window of " + p.algorithm, link: fmt.Sprintf("rtt=%s,up:loss=every:%d", p.rtt, p.every),
		unit: "segments",
		full: duration+omit > quickResponse, basis: basis, note: p.note,
		run: func(ctx context.Context, l *lab.Lab, r Result) (Result, error) {
			res, err := run(ctx, l, transfer{duration: duration, omit: omit, congestion: p.algorithm,
				single: p.every < 1000, acks: true})
			if err != nil {
				return r, errSkip(fmt.Sprintf("%v; in the initial namespace: sysctl "+
					"net.ipv4.tcp_allowed_congestion_control=\"reno cubic\"", err))
			}
			segments := res.goodput / 8 / float64(max(res.mss, 1)) * p.rtt.Seconds()
			return r.transferred(res).within(p.window, segments, 0.1), nil
		},
	}
}

// transferred notes how a transfer was measured: one that lasted long enough
// while the emulator kept up is as good as any, unless more than a fifth of the
// time is left out. A machine that busy is late for the sender and the receiver in
// the rest of it too.
func (r Result) transferred(res result) Result {
	r.LeftOut = res.leftOut
	r.sliced, r.KeptUp = true, lab.AnswerOf(res.enough && 4*res.leftOut <= res.counted)
	return r
}
