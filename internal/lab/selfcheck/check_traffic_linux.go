package selfcheck

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/wirerate/wirerate/internal/lab"
)

// streamCheck measures a stream of datagrams in one direction.
type streamCheck struct {
	what, link, unit, basis string
	stream                  stream
	want, low, high         float64
	measure                 func(received) float64
}

// streamChecks are what theory says of packets that nothing paces: losses, marks
// and duplicates one by one, runs of losses, the room in a queue, the time on the
// wire, CoDel's schedule, jitter.
func streamChecks() []streamCheck {
	const settle = 200 * time.Millisecond
	const wire = 5 + fullFrame*8/1e3
	long := stream{size: fullPacket, count: 200_000, rate: 1e9, together: 44, ecn: 2, settle: settle}
	low, high := binomialInterval(long.count, 1e-3)
	lost := func(got received) float64 { return float64(got.sent - len(got.seq)) }
	doubled := func(got received) float64 { return float64(len(got.seq) - got.sent) }
	marked := func(got received) float64 { return float64(got.ce) }
	return []streamCheck{
		{"segments lost in units of 44", "rtt=2ms,up:loss=every:1000", "segments", "each 1000th of 200000", long, 200,
			200, 200, lost},
		{"segments lost in units of 44", "rtt=2ms,up:loss=1e-3,seed=1", "segments", "binomial, 99.9%", long, 200, low,
			high, lost},
		{"mean length of a burst of losses", "rtt=2ms,up:loss=burst:1e-3,0.25,seed=1", "segments",
			"Gilbert: 1/R, 99.9%", long, 4, 3.2, 4.8, received.meanBurst},
		{"segments marked in units of 44", "rtt=2ms,up:mark=every:1000", "segments", "each 1000th of 200000", long,
			200, 200, 200, marked},
		{"segments marked in units of 44", "rtt=2ms,up:mark=1e-3,seed=1", "segments", "binomial, 99.9%", long, 200,
			low, high, marked},
		{"segments duplicated in units of 44", "rtt=2ms,up:duplicate=every:1000", "segments", "each 1000th of 200000",
			long, 200, 200, 200, doubled},
		{
			"packets that a queue holds", "rate=1mbit,queue=46140B", "packets",
			"of a unit of 44: 46140/1538 in the queue and one in service",
			stream{size: fullPacket, count: 44, together: 44, settle: 500 * time.Millisecond}, 31, 31, 31,
			func(got received) float64 { return float64(len(got.seq)) },
		},
		{
			"delay of full-size packets, median", "rate=1mbit,rtt=10ms", "ms",
			"one-way delay and 1538 bytes on the wire, within 1 ms",
			stream{size: fullPacket, count: 30, rate: 300e3, settle: settle}, wire, wire - 0.2, wire + 1,
			func(got received) float64 { return quantile(got.delay, 0.5) },
		},
		{
			"time from CoDel's 1st to its 50th drop", "rate=10mbit,rtt=2ms,queue=10s,aqm=codel", "ms",
			"RFC 8289, section 5.5: the sum of 100 ms / sqrt(n), of a sender that does not yield, within 3%",
			stream{size: fullPacket, count: 2400, rate: 15e6, settle: settle}, 1261, 1261 * 0.97, 1261 * 1.03,
			received.fiftyLosses,
		},
		{
			"quartiles of the delay with jitter, apart and in order", "rtt=20ms,jitter=3ms,seed=1", "ms",
			"uniform: half of 6 ms, 99.9%",
			stream{size: 200, count: 500, rate: 200 * 8 / 6e-3, settle: settle}, 3, 2.5, 3.5,
			func(got received) float64 {
				if !slices.IsSorted(got.seq) {
					return math.NaN()
				}
				return quantile(got.delay, 0.75) - quantile(got.delay, 0.25)
			},
		},
	}
}

func trafficChecks() []checkItem {
	items := []checkItem{{
		what: "goodput of BBR", link: "rate=100mbit,rtt=40ms,up:loss=1%,seed=1", unit: "Mbit/s",
		basis: "the rate without what is lost: BBR does not take loss for congestion; 15% less accepted",
		run:   bbrCheck,
	}}
	for _, c := range streamChecks() {
		items = append(items, checkItem{
			what: c.what, link: c.link, unit: c.unit, basis: c.basis,
			run: func(ctx context.Context, l *lab.Lab, r Result) (Result, error) {
				got, err := send(ctx, l, c.stream)
				return r.between(c.want, c.low, c.high, c.measure(got)), err
			},
		})
	}
	return items
}

func bbrCheck(ctx context.Context, l *lab.Lab, r Result) (Result, error) {
	res, err := run(ctx, l, transfer{duration: 5 * time.Second, omit: 2 * time.Second, congestion: "bbr"})
	if err != nil {
		return r, errSkip(fmt.Sprintf("%v; in the initial namespace: modprobe tcp_bbr, sysctl "+
			"net.ipv4.tcp_allowed_congestion_control=\"reno bbr\"", err))
	}
	want := 0.99 * 100 * float64(res.mss) / fullFrame
	return r.transferred(res).between(want, 0.85*want, 1.01*want, res.goodput/1e6), nil
}

// losses calls each with the number of datagrams that are missing before the i-th
// that arrived, where some are.
func (r received) losses(each func(i, missing int)) {
	next := uint32(0)
	for i, seq := range r.seq {
		if seq > next {
			each(i, int(seq-next))
		}
		next = max(next, seq+1)
	}
}

// meanBurst returns how many datagrams in a row were lost, on average.
func (r received) meanBurst() float64 {
	var bursts, lost float64
	r.losses(func(_, missing int) { bursts, lost = bursts+1, lost+float64(missing) })
	return lost / bursts
}

// fiftyLosses returns the time from the first loss to the fiftieth, in ms.
func (r received) fiftyLosses() float64 {
	var at []time.Duration
	r.losses(func(i, _ int) { at = append(at, r.at[i]) })
	if len(at) < 50 {
		return math.NaN()
	}
	return (at[49] - at[0]).Seconds() * 1e3
}
