package emulator

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/wirerate/wirerate/internal/lab/link"
)

// bench drives a pipe in virtual time.
type bench struct {
	t     testing.TB
	link  link.Link
	mem   *arena
	pipe  *pipe
	now   int64
	taken []run
}

func newBench(t testing.TB, spec string) *bench {
	t.Helper()
	l, err := link.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	mem, err := newArena(1 << 28)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mem.release() })
	return &bench{t: t, link: l, mem: mem, pipe: newPipe(l, l.Up, mem, nil, 42)}
}

// arrive puts a unit into the pipe at the current time.
func (b *bench) arrive(u []byte) {
	place, off := b.mem.space()
	if place == nil {
		b.t.Fatal("no memory")
	}
	n := copy(place, u)
	b.mem.keep(n)
	b.pipe.arrive(place[:n], off, b.now)
}

// drain goes from event to event until the pipe is idle, or time until.
func (b *bench) drain(until int64) {
	for {
		at, ok := b.pipe.wake()
		if !ok || at > until {
			return
		}
		b.now = max(b.now, at)
		for {
			r, ok := b.pipe.take(b.now, b.now)
			if !ok {
				break
			}
			b.taken = append(b.taken, r)
			b.mem.drop(r.off)
		}
	}
}

// segments counts the segments delivered.
func (b *bench) segments() int64 {
	var n int64
	for _, r := range b.taken {
		n += int64(r.n)
	}
	return n
}

// tcp returns a unit of n full segments (1500 bytes of IP), udp a datagram of
// that many bytes of IP packet.
func tcp(n int) []byte {
	return packetSpec{payload: n * 1448, gso: 1448, options: 12, ecn: 2}.build()
}

func udp(ipBytes int) []byte {
	u := packetSpec{udp: true, payload: ipBytes - 28, gso: ipBytes}.build()
	u[vnetGSOType] = 0
	return u
}

const forever = math.MaxInt64

func TestRateIsExactOverManyUnits(t *testing.T) {
	for _, spec := range []string{"rate=1mbit", "rate=33333333bit", "rate=1gbit", "rate=5gbit", "rate=40gbit"} {
		b := newBench(t, spec+",delay=3ms,queue=1e9packets")
		var bits int64
		for i := range 500 {
			u := tcp(1 + i%44)
			b.arrive(u)
			bits += 8 * int64(1+i%44) * 1538
		}
		b.drain(forever)
		want := bits*1e9/int64(b.link.Up.Rate) + 3e6
		if got := b.taken[len(b.taken)-1].at; got < want || got > want+1 {
			t.Errorf("%s: the last bit came at %d ns, want %d", spec, got, want)
		}
	}
}

func TestNoPieceSpansMoreThanItMay(t *testing.T) {
	for _, spec := range []string{"rate=1mbit", "rate=100mbit", "rate=1gbit", "rate=10gbit"} {
		b := newBench(t, spec+",queue=1e9packets")
		for range 20 {
			b.arrive(tcp(44))
		}
		b.drain(forever)
		for _, r := range b.taken {
			span := r.cost(link.FramingEthernet) * 8e9 / int64(b.link.Up.Rate)
			if span > maxSpan && r.n > 1 {
				t.Fatalf("%s: a piece of %d segments took %s", spec, r.n, time.Duration(span))
			}
		}
		if len(b.taken) == 0 || b.segments() != 20*44 {
			t.Fatalf("%s: %d segments", spec, b.segments())
		}
	}
}

func TestQueueHoldsWhatItSays(t *testing.T) {
	for _, c := range []struct {
		queue string
		unit  []byte
		units int
		want  int64 // segments, one of them in service
	}{
		{"153800B", tcp(1), 400, 101},
		{"153799B", tcp(1), 400, 100},
		{"100packets", tcp(1), 400, 101},
		{"100packets", tcp(44), 10, 101},
		{"153800B", tcp(44), 10, 101},
		{"10ms", tcp(44), 10, 1 + 125000/1538},
		{"100packets", udp(100), 400, 101},
		{"13800B", udp(100), 400, 101},
		{"1B", tcp(44), 1, 1},
	} {
		b := newBench(t, "rate=100mbit,queue="+c.queue)
		for range c.units {
			b.arrive(c.unit)
		}
		b.drain(forever)
		if got := b.segments(); got != c.want {
			t.Errorf("queue=%s: %d segments went through, want %d", c.queue, got, c.want)
		}
		if s := b.pipe.stats; s.DropQueue+b.segments() != s.Segments {
			t.Errorf("queue=%s: %d dropped of %d", c.queue, s.DropQueue, s.Segments)
		}
	}
}

// A queue that is refilled while it drains never holds more than its size, and
// its delay when full is size/rate.
func TestFullQueueDelaysBySizeOverRate(t *testing.T) {
	const each = 1538 * 80 // ns
	b := newBench(t, "rate=100mbit,queue=153800B")
	for range 3000 {
		b.now += 100_000 // 1.23 times what the link carries
		b.drain(b.now)
		b.arrive(tcp(1))
	}
	input := b.now
	b.drain(forever)
	// The last to be admitted came within one service time of the end of the
	// input, found 99 waiting and one in service, and left after them.
	delay := b.taken[len(b.taken)-1].at - input
	if delay > 101*each || delay < 99*each {
		t.Errorf("the last one was delayed by %s, want about %s", time.Duration(delay), time.Duration(100*each))
	}
}

func TestPeriodicLossIsExact(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := newBench(t, "rate=none,loss=every:37")
		var sent int64
		for range rapid.IntRange(1, 60).Draw(rt, "units") {
			n := rapid.IntRange(1, 44).Draw(rt, "segments")
			b.arrive(tcp(n))
			sent += int64(n)
		}
		b.drain(forever)
		if lost := sent - b.segments(); lost != sent/37 || b.pipe.stats.DropLoss != lost {
			rt.Fatalf("%d of %d lost, want %d", lost, sent, sent/37)
		}
	})
}

func TestLossRates(t *testing.T) {
	for _, c := range []struct {
		loss string
		want float64
		each float64 // mean length of a burst
	}{{"0.01", 0.01, 1 / 0.99}, {"0.5", 0.5, 2}, {"burst:0.01,0.25", 0.01 / 0.26, 4}, {"burst:0.5,0.5", 0.5, 2}, {"1", 1, 1}} {
		b := newBench(t, "rate=none,loss="+c.loss)
		const units = 5000
		u := packetSpec{payload: 40 * 100, gso: 100}.build()
		for range units {
			b.arrive(u)
			b.drain(forever)
			b.taken = b.taken[:0]
		}
		got := float64(b.pipe.stats.DropLoss) / (units * 40)
		// Bursts make the losses of a run depend on each other: the variance of
		// the mean is wider by about their length.
		margin := 5 * math.Sqrt(c.want*(1-c.want)*2*c.each/(units*40))
		if math.Abs(got-c.want) > margin {
			t.Errorf("loss=%s: %.4f lost, want %.4f within %.4f", c.loss, got, c.want, margin)
		}
	}
}

// Whatever the link does, every segment is accounted for, memory is given
// back, and without leave to reorder the order is kept.
func TestEverySegmentIsAccountedFor(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		pick := func(name string, values ...string) string { return rapid.SampledFrom(values).Draw(rt, name) }
		spec := "delay=" + pick("delay", "0s", "1ms", "100ms")
		if rate := pick("rate", "", ",rate=1mbit", ",rate=100mbit", ",rate=10gbit"); rate != "" {
			spec += rate + pick("queue", "", ",queue=10packets", ",queue=20000B", ",queue=1bdp") +
				pick("aqm", "", ",aqm=codel", ",aqm=codel,ecn=on", ",ecn=5packets")
		}
		spec += pick("loss", "", ",loss=0.1", ",loss=every:3", ",loss=burst:0.1,0.5") +
			pick("duplicate", "", ",duplicate=0.1") + pick("mark", "", ",mark=0.1") + pick("corrupt", "", ",corrupt=0.1") +
			pick("jitter", "", ",jitter=2ms", ",jitter=2ms:normal", ",jitter=1ms:pareto")
		reorder := pick("reorder", "", ",reorder=0.1", ",jitter=3ms:overtake")
		if reorder == ",jitter=3ms:overtake" {
			reorder = ""
		}
		b := newBench(t, spec+reorder)
		for range rapid.IntRange(1, 200).Draw(rt, "units") {
			b.arrive(tcp(rapid.IntRange(1, 44).Draw(rt, "segments")))
			b.drain(b.now + int64(rapid.IntRange(0, 2_000_000).Draw(rt, "pause")))
		}
		b.drain(forever)
		s := b.pipe.stats
		if got := b.segments() + s.DropQueue + s.DropCoDel + s.DropLoss - s.Duplicated; got != s.Segments {
			rt.Fatalf("%s: %d segments came, %d are accounted for: %+v", spec, s.Segments, got, s)
		}
		for c, live := range b.mem.live {
			if live != 0 {
				rt.Fatalf("%s: chunk %d still has %d references", spec, c, live)
			}
		}
		if b.pipe.queuedBytes != 0 || b.pipe.queuedSegs != 0 {
			rt.Fatalf("%s: an empty queue counts %d bytes, %d segments", spec, b.pipe.queuedBytes, b.pipe.queuedSegs)
		}
		for i := 1; i < len(b.taken) && reorder == ""; i++ {
			if b.taken[i].at < b.taken[i-1].at {
				rt.Fatalf("%s: delivery %d is before the one ahead of it", spec, i)
			}
		}
	})
}

func TestReorderedSegmentsAreOvertaken(t *testing.T) {
	b := newBench(t, "rate=none,delay=10ms,reorder=every:10,hold=5ms")
	for range 100 {
		b.arrive(tcp(1))
		b.drain(b.now + 1e6)
		b.now += 1e6
	}
	b.drain(forever)
	var held int
	for i := 1; i < len(b.taken); i++ {
		if b.taken[i].off < b.taken[i-1].off {
			held++
		}
	}
	if held < 9 || b.pipe.stats.Reordered != 10 {
		t.Errorf("%d seen out of order, %d counted, want 10", held, b.pipe.stats.Reordered)
	}
}

func TestThresholdMarksWhatFindsAQueue(t *testing.T) {
	b := newBench(t, "rate=100mbit,queue=1000packets,ecn=20packets")
	b.arrive(tcp(44))
	b.drain(forever)
	// One in service, 20 below the threshold, the rest above it. The run that
	// is admitted to an idle transmitter has nothing waiting before it.
	if got := b.pipe.stats.Marked; got != 24 {
		t.Errorf("%d marked, want 24", got)
	}
	for _, r := range b.taken {
		if marked := r.flags&runCE != 0; marked != (r.first >= 20) {
			t.Errorf("segments %d..: marked %v", r.first, marked)
		}
	}
}

// rfcCoDel is the pseudocode of RFC 8289, section 5, over whole packets.
type rfcCoDel struct {
	firstAbove, dropNext, count, lastCount int64
	dropping                               bool
	queue                                  []int64 // arrival times
	cost                                   int64
}

func (c *rfcCoDel) doDequeue(now int64) (arrived int64, ok, okToDrop bool) {
	if len(c.queue) == 0 {
		c.firstAbove = 0
		return 0, false, false
	}
	arrived, c.queue = c.queue[0], c.queue[1:]
	if now-arrived < 5e6 || int64(len(c.queue))*c.cost <= c.cost {
		c.firstAbove = 0
	} else if c.firstAbove == 0 {
		c.firstAbove = now + 100e6
	} else if now >= c.firstAbove {
		okToDrop = true
	}
	return arrived, true, okToDrop
}

func (c *rfcCoDel) law(t int64) int64 { return t + int64(100e6/math.Sqrt(float64(c.count))) }

func (c *rfcCoDel) dequeue(now int64) (ok bool, drops int) {
	_, ok, drop := c.doDequeue(now)
	if c.dropping {
		if !drop {
			c.dropping = false
		}
		for now >= c.dropNext && c.dropping {
			drops++
			c.count++
			_, ok, drop = c.doDequeue(now)
			if !drop {
				c.dropping = false
			} else {
				c.dropNext = c.law(c.dropNext)
			}
		}
	} else if drop {
		drops++
		_, ok, _ = c.doDequeue(now)
		c.dropping = true
		delta := c.count - c.lastCount
		c.count = 1
		if delta > 1 && now-c.dropNext < 16*100e6 {
			c.count = delta
		}
		c.dropNext = c.law(now)
		c.lastCount = c.count
	}
	return ok, drops
}

// The emulator's CoDel, which decides inside units, drops as many packets as
// the RFC's pseudocode, which sees packets, under the same overload.
func TestCoDelFollowsTheRFC(t *testing.T) {
	const cost, rate = 1538, 500_000_000
	const service = cost * 8e9 / rate
	b := newBench(t, "rate=500mbit,aqm=codel,queue=1e6packets")
	ref := &rfcCoDel{cost: cost}
	unit := tcp(44)
	var refDrops int64
	refFree := int64(0)
	refRun := func(now int64) {
		for refFree <= now && len(ref.queue) > 0 {
			at := max(refFree, ref.queue[0])
			ok, drops := ref.dequeue(at)
			refDrops += int64(drops)
			if ok {
				refFree = at + service
			}
		}
	}
	for i := range 4000 { // 20 s in turns of 0.5 s: 1.5 times the rate, 0.55 times
		now := int64(i) * 5_000_000
		units := 7
		if i/100%2 == 1 {
			units = 2
		}
		b.drain(now)
		b.now = now
		refRun(now)
		for range units {
			b.arrive(unit)
		}
		for range units * 44 {
			ref.queue = append(ref.queue, now)
		}
	}
	b.drain(forever)
	refRun(forever - 1e15)
	if refDrops < 50 {
		t.Fatalf("the reference dropped %d: the load does not test it", refDrops)
	}
	if got := b.pipe.stats.DropCoDel; got != refDrops {
		t.Errorf("%d dropped, the RFC's pseudocode drops %d", got, refDrops)
	}
}

func TestCoDelMarksInsteadOfDropping(t *testing.T) {
	b := newBench(t, "rate=50mbit,aqm=codel,ecn=on,queue=1e6packets")
	for i := range 400 {
		b.drain(int64(i) * 5_000_000)
		b.now = int64(i) * 5_000_000
		b.arrive(tcp(24))
	}
	b.drain(forever)
	if s := b.pipe.stats; s.Marked == 0 || s.DropCoDel != 0 {
		t.Errorf("%d marked, %d dropped", s.Marked, s.DropCoDel)
	}
}

// A steady load allocates nothing.
func TestPacketPathDoesNotAllocate(t *testing.T) {
	b := newBench(t, "rate=1gbit,rtt=20ms,loss=1e-3,queue=1bdp,jitter=1ms")
	u := tcp(44)
	step := func() {
		b.now += 500_000
		b.arrive(u)
		for {
			r, ok := b.pipe.take(b.now, b.now)
			if !ok {
				return
			}
			b.mem.drop(r.off)
		}
	}
	for range 2000 {
		step()
	}
	if n := testing.AllocsPerRun(2000, step); n != 0 {
		t.Errorf("%.2f allocations for each unit", n)
	}
}

// BenchmarkPipe is the emulator's own cost for a unit of 44 segments, without
// system calls.
func BenchmarkPipe(b *testing.B) {
	for _, spec := range []string{"rtt=20ms", "rate=10gbit,rtt=20ms", "rate=10gbit,rtt=20ms,loss=1e-3", "rate=1gbit,rtt=20ms", "rate=1gbit,rtt=20ms,aqm=codel"} {
		b.Run(spec, func(b *testing.B) {
			d := newBench(b, spec)
			u := tcp(44)
			place, off := d.mem.space()
			copy(place, u)
			d.mem.keep(len(u))
			b.SetBytes(int64(44 * 1500))
			for b.Loop() {
				d.now += 600_000
				d.mem.hold(off)
				d.pipe.arrive(place[:len(u)], off, d.now)
				for {
					r, ok := d.pipe.take(d.now, d.now)
					if !ok {
						break
					}
					d.mem.drop(r.off)
				}
			}
		})
	}
}

// Where a pipe is orderly, what arrives while the emulator sleeps is not due
// before the emulator wakes.
func TestArrivalsOfAnOrderlyPipeCanWait(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		spec := rapid.SampledFrom([]string{
			"delay=3ms", "delay=0s,loss=10%", "rate=100mbit,delay=1ms,queue=20packets", "delay=1ms,reorder=20%,hold=2ms,duplicate=10%",
			"rate=10mbit,delay=1ms,aqm=codel", "rate=1gbit,delay=0s,corrupt=10%",
		}).Draw(rt, "link")
		b := newBench(t, spec)
		for range rapid.IntRange(1, 60).Draw(rt, "n") {
			b.now += rapid.SampledFrom([]int64{0, 1, 40_000, 300_000, 5e6}).Draw(rt, "pause")
			b.drain(b.now)
			before, ok := b.pipe.wake()
			ok = ok && b.pipe.orderly()
			b.arrive(tcp(rapid.IntRange(1, 44).Draw(rt, "segments")))
			if after, _ := b.pipe.wake(); ok && after < before {
				rt.Fatalf("%s: what arrived at %d is to be done at %d, before %d", spec, b.now, after, before)
			}
		}
	})
}
