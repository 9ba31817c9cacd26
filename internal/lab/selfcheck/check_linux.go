package selfcheck

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wirerate/wirerate/internal/lab"
	"github.com/wirerate/wirerate/internal/lab/link"
)

// checkItem is one check: a link, and what to do on it.
type checkItem struct {
	what, link, unit, basis, note string
	full                          bool
	run                           func(ctx context.Context, l *lab.Lab, r Result) (Result, error)
}

// attempts is how often a check is made at most.
const attempts = 3

// Check measures links against what was asked of them. A check that did not come
// out as asked, and during which the emulator was behind, is made again; of all
// its attempts that with the least time left out counts.
func Check(ctx context.Context, opt Options) (Report, error) {
	var report Report
	for _, item := range checkItems() {
		if item.full && !opt.Full || !opt.names(item.what+" on "+item.link) {
			continue
		}
		r, setting, err := item.check(ctx, opt.Awake)
		for n := 1; n < attempts && err == nil && r.disturbed(); n++ {
			var again Result
			if again, setting, err = item.check(ctx, opt.Awake); again.OK || again.calmer(r) {
				r = again
			}
		}
		if err != nil {
			return report, fmt.Errorf("check of %s on %s: %w", item.what, item.link, err)
		}
		if r.Skipped == "" {
			report.Awake, report.Arrivals = setting.Awake, setting.Arrivals
		}
		report.Results = append(report.Results, r)
		if opt.Report != nil {
			opt.Report(r)
		}
	}
	return report, nil
}

func (item checkItem) check(ctx context.Context, awake lab.AwakeOptions) (_ Result, setting lab.Status, err error) {
	r := Result{What: item.what, Link: item.link, Unit: item.unit, Basis: item.basis, Note: item.note}
	spec, err := link.Parse(item.link)
	if err != nil {
		return r, setting, err
	}
	topology := lab.Pair(spec)
	topology.Awake = awake
	l, err := lab.Bring(ctx, topology)
	if spec.Backend == link.Netem && errors.Is(err, lab.ErrUnavailable) {
		r.Skipped = err.Error()
		return r, setting, nil
	}
	if err != nil {
		return r, setting, err
	}
	defer l.Close()
	setting = lab.Status{Awake: l.Awake(), Arrivals: l.Arrivals()}
	r, err = item.run(ctx, l, r)
	var unavailable errSkip
	if errors.As(err, &unavailable) {
		r.Skipped = string(unavailable)
		return r, setting, nil
	}
	did := l.Status()
	if !r.sliced || spec.Backend == link.Netem {
		r.KeptUp, _ = did.KeptUp()
	}
	r.WorstLate = did.WorstLate()
	return r, setting, err
}

// errSkip is why a check cannot be made here.
type errSkip string

func (e errSkip) Error() string { return string(e) }

func checkItems() []checkItem {
	var items []checkItem
	for _, rtt := range []string{"1ms", "20ms", "100ms"} {
		for _, rate := range []string{"100mbit", "1gbit"} {
			items = append(items, roundTripCheck(rate, rtt, "median", 0.5, 0.2))
		}
	}
	items = append(items, roundTripCheck("1gbit", "20ms", "99th percentile", 0.99, 1))
	for _, rate := range []string{"1mbit", "10mbit", "100mbit", "1gbit", "5gbit"} {
		items = append(items, rateCheckUDP(rate), rateCheckTCP(rate, ""))
	}
	items = append(items, trafficChecks()...)
	items = append(items, queueChecks()...)
	items = append(items, windowChecks()...)
	items = append(items, roundTripCheck("100mbit", "20ms,backend=netem", "median", 0.5, 0.2),
		rateCheckTCP("100mbit", ",backend=netem"))
	return append(items, responseChecks()...)
}

// roundTripCheck compares a quantile of the times of small exchanges with the
// RTT asked for and the time that the packet takes on the wire.
func roundTripCheck(rate, rtt, name string, q, margin float64) checkItem {
	return checkItem{
		what: "round trip, " + name, link: "rate=" + rate + ",rtt=" + rtt, unit: "ms",
		basis: fmt.Sprintf("rtt + 2 x 84 bytes on the wire, within %g ms", margin),
		run: func(ctx context.Context, l *lab.Lab, r Result) (Result, error) {
			trips, err := exchange(ctx, l, 150, 5*time.Millisecond)
			want := l.Link(0).RTT().Seconds()*1e3 + 2*84*8e3/float64(l.Link(0).Up.Rate)
			return r.between(want, want-0.2, want+margin, quantile(trips, q)), err
		},
	}
}

func rateCheckUDP(rate string) checkItem {
	return checkItem{
		what: "rate of UDP", link: "rate=" + rate + ",rtt=2ms,queue=100ms", unit: "Mbit/s",
		basis: "1500 of 1538 bytes on the wire, within 1%",
		run: func(ctx context.Context, l *lab.Lab, r Result) (Result, error) {
			link := float64(l.Link(0).Up.Rate)
			offered := 1.15 * link * fullPacket / fullFrame
			seconds := 2.0
			if link < 5e6 {
				seconds = 6
			}
			got, err := send(ctx, l, stream{
				size: fullPacket, count: int(offered * seconds / 8 / fullPacket), rate: offered,
				together: int(min(max(link*50e-6/8/fullFrame, 1), 44)), settle: 200 * time.Millisecond,
			})
			return r.within(link*fullPacket/fullFrame/1e6, got.rate(fullPacket)/1e6, 0.01), err
		},
	}
}

// rate returns the rate in bit/s at which datagrams of size bytes arrived,
// without the first fifth.
func (r received) rate(size int) float64 {
	first := len(r.at) / 5
	if len(r.at)-first < 2 {
		return 0
	}
	// Datagrams that arrive in one unit are read at one time: count from the
	// end of the first unit to the end of the last.
	for first+1 < len(r.at) && r.at[first+1] == r.at[first] {
		first++
	}
	last := len(r.at) - 1
	return float64((last-first)*size*8) / (r.at[last] - r.at[first]).Seconds()
}

func rateCheckTCP(rate, more string) checkItem {
	return checkItem{
		what: "goodput of TCP", link: "rate=" + rate + ",rtt=10ms,queue=2bdp" + more, unit: "Mbit/s",
		basis: "MSS of 1538 bytes on the wire, within 1%",
		run: func(ctx context.Context, l *lab.Lab, r Result) (Result, error) {
			rate := float64(l.Link(0).Up.Rate)
			// A window between one and two BDP keeps the link busy without loss.
			bdp := max(rate*l.Link(0).RTT().Seconds()/8, link.MinBDPQueue/2*fullFrame)
			t := transfer{duration: 3 * time.Second, omit: time.Second, congestion: "reno", window: int(1.4 * bdp)}
			if rate < 5e6 {
				t.duration = 8 * time.Second
			}
			res, err := run(ctx, l, t)
			return r.transferred(res).within(rate*float64(res.mss)/fullFrame/1e6, res.goodput/1e6, 0.01), err
		},
	}
}

func queueChecks() []checkItem {
	return []checkItem{
		fullQueueCheck("10mbit", "256KiB"), fullQueueCheck("100mbit", "1MiB"), fullQueueCheck("1gbit", "4MiB"),
		{
			what: "standing delay under CoDel, median", link: "rate=50mbit,rtt=20ms,queue=1000packets,aqm=codel",
			unit:  "ms",
			basis: "one Reno flow keeps about the target of 5 ms (RFC 8289), 0 to 10 accepted",
			run:   codelCheck,
		},
	}
}

// fullQueueCheck compares the delay of a full queue with its size over the rate.
func fullQueueCheck(rate, size string) checkItem {
	return checkItem{
		what: "delay of a full queue", link: "rate=" + rate + ",rtt=10ms,queue=" + size, unit: "ms",
		basis: "size/rate and the one-way delay, within 3%",
		run: func(ctx context.Context, l *lab.Lab, r Result) (Result, error) {
			d := l.Link(0).Up
			link := float64(d.Rate)
			drain := d.Queue.Size * 8 / link
			offered := 1.3 * link * fullPacket / fullFrame
			got, err := send(ctx, l, stream{
				size: fullPacket, count: int(offered * drain * 6 / 8 / fullPacket), rate: offered,
				together: int(min(max(link*50e-6/8/fullFrame, 1), 44)), settle: 200 * time.Millisecond,
			})
			late := got.delay[len(got.delay)*4/5:]
			return r.within(drain*1e3+d.Delay.Seconds()*1e3, quantile(late, 0.5), 0.03), err
		},
	}
}

func codelCheck(ctx context.Context, l *lab.Lab, r Result) (Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := run(ctx, l, transfer{duration: 7 * time.Second, omit: time.Second, congestion: "reno"})
		done <- err
	}()
	time.Sleep(2 * time.Second)
	probes, err := send(ctx, l, stream{size: 100, count: 1000, rate: 100 * 8 * 200, settle: 200 * time.Millisecond})
	if err := errors.Join(err, <-done); err != nil {
		return r, err
	}
	base := l.Link(0).Up.Delay.Seconds() * 1e3
	return r.between(5, 0, 10, quantile(probes.delay, 0.5)-base), nil
}
