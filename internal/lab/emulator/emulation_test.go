package emulator

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/wirerate/wirerate/internal/lab/link"
)

// What a link does is compared here with what is published about it, in virtual
// time, on the emulator's core: nothing depends on the machine.

// fate is what became of a segment: how often it was delivered, how long it took
// the last time, and how it was changed.
type fate struct {
	times int
	delay time.Duration
	flags uint8
}

// fates sends n segments through a link, in units of 44.
func (b *bench) fates(n int) []fate {
	all := make([]fate, n)
	for at := 0; at < n; {
		size := min(44, n-at)
		b.arrive(tcp(size))
		sent := b.now
		b.drain(forever)
		for _, r := range b.taken {
			for i := range int(r.n) {
				f := &all[at+int(r.first)+i]
				f.times++
				f.delay, f.flags = time.Duration(r.at-sent), r.flags&^runECT
			}
		}
		b.taken = b.taken[:0]
		at += size
	}
	return all
}

// Gilbert's model: a burst of losses lasts 1/R segments on average, the stretch
// between two 1/P, both geometric; a share P/(P+R) is lost.
func TestBurstsAreGilberts(t *testing.T) {
	const n, p, r = 400_000, 0.01, 0.25
	all := newBench(t, "loss=burst:0.01,0.25,seed=5").fates(n)
	var bursts, lost, ones float64
	for i, f := range all {
		if f.times > 0 {
			continue
		}
		lost++
		if i == 0 || all[i-1].times > 0 {
			bursts++
			if i+1 < n && all[i+1].times > 0 {
				ones++
			}
		}
	}
	for _, c := range []struct {
		what            string
		got, want, each float64 // each: standard error
	}{
		{"share lost", lost / n, p / (p + r), math.Sqrt(p / (p + r) * (2 / r) / n)},
		{"length of a burst", lost / bursts, 1 / r, math.Sqrt((1-r)/(r*r)) / math.Sqrt(bursts)},
		{"length of a gap", (n - lost) / bursts, 1 / p, 1 / p / math.Sqrt(bursts)},
		{"bursts of one", ones / bursts, r, math.Sqrt(r * (1 - r) / bursts)},
	} {
		if math.Abs(c.got-c.want) > 5*c.each {
			t.Errorf("%s: %.5f, want %.5f within %.5f", c.what, c.got, c.want, 5*c.each)
		}
	}
}

// Each kind of decision falls on exactly the segments that were asked for, also
// inside units, and on none other.
func TestPeriodicDecisionsFallOnTheirSegments(t *testing.T) {
	const n, every = 44 * 250, 50
	const usual = 3 * time.Millisecond
	for _, c := range []struct {
		what   string
		chosen fate
		count  func(Stats) int64
	}{
		{"loss", fate{}, func(s Stats) int64 { return s.DropLoss }},
		{"duplicate", fate{2, usual, 0}, func(s Stats) int64 { return s.Duplicated }},
		{"mark", fate{1, usual, runCE}, func(s Stats) int64 { return s.Marked }},
		{"corrupt", fate{1, usual, runCorrupt}, func(s Stats) int64 { return s.Corrupted }},
		{"reorder", fate{1, usual + 7*time.Millisecond, 0}, func(s Stats) int64 { return s.Reordered }},
	} {
		spec := fmt.Sprintf("delay=%s,%s=every:%d", usual, c.what, every)
		if c.what == "reorder" {
			spec += ",hold=7ms"
		}
		b := newBench(t, spec)
		for i, got := range b.fates(n) {
			want := fate{1, usual, 0}
			if (i+1)%every == 0 {
				want = c.chosen
			}
			if got != want {
				t.Errorf("%s: segment %d: %+v, want %+v", c.what, i+1, got, want)
				break
			}
		}
		if got := c.count(b.pipe.stats); got != n/every {
			t.Errorf("%s: %d counted, want %d", c.what, got, n/every)
		}
	}
}

// Random decisions are as many as their probability says.
func TestRandomDecisionsKeepTheirRate(t *testing.T) {
	const n, p = 200_000, 0.02
	b := newBench(t, "delay=1ms,loss=0.02,duplicate=0.02,mark=0.02,corrupt=0.02,reorder=0.02,seed=11")
	b.fates(n)
	s := b.pipe.stats
	mean, most := float64(n)*p, 3.29*math.Sqrt(n*p*(1-p)) // but for one time in 1000
	low, high := mean-most, mean+most
	// The other decisions are about what is not lost; a corrupted one may be a
	// duplicated one too.
	low -= n * p * p
	for what, got := range map[string]int64{"lost": s.DropLoss, "duplicated": s.Duplicated, "marked": s.Marked, "corrupted": s.Corrupted, "reordered": s.Reordered} {
		if float64(got) < low || float64(got) > high {
			t.Errorf("%d of %d %s, want %.0f to %.0f", got, n, what, low, high)
		}
	}
}

// A corrupted segment differs from the one that was sent in one bit behind the IP
// header, and its checksum tells.
func TestCorruptionIsOneBitThatTheChecksumFinds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, spec := range []packetSpec{{payload: 900, gso: 1448}, {udp: true, payload: 333, gso: 1448}, {v6: true, payload: 777, gso: 1448}, {v6: true, udp: true, payload: 50, gso: 1448}} {
		for range 200 {
			sent := spec.build()
			sent[vnetGSOType] = 0
			complete(sent)
			came := bytes.Clone(sent)
			corrupt(came, rng)
			flipped, at := 0, 0
			for i := range sent {
				for x := sent[i] ^ came[i]; x != 0; x &= x - 1 {
					flipped++
					at = i
				}
			}
			ip := came[vnetLen:]
			l4 := ipHeaderLen(ip)
			proto, length := byte(6), len(ip)-l4
			if spec.udp {
				proto = 17
			}
			if flipped != 1 || at < vnetLen+l4 {
				t.Fatalf("%+v: %d bits flipped, one at byte %d", spec, flipped, at)
			}
			if total := fold(uint64(pseudoSum(ip, proto, length)) + uint64(fold(sum(ip[l4:], 0)))); total == 0xffff {
				t.Fatalf("%+v: the checksum still holds", spec)
			}
		}
	}
}

// CoDel drops for the first time an interval after the delay went over the
// target, and then by its law (RFC 8289, section 5.5): the n-th drop is followed
// by the next after interval/sqrt(n).
func TestCoDelDropsByItsLaw(t *testing.T) {
	const each = 1538 * 8 * 100 // ns at 10 Mbit/s
	for _, units := range []int{1, 22} {
		b := newBench(t, "rate=10mbit,aqm=codel,queue=1e6packets")
		unit := tcp(units)
		var drops []int64
		for b.now < 2e9 { // twice what the link carries
			before := b.pipe.stats.DropCoDel
			b.drain(b.now)
			for range b.pipe.stats.DropCoDel - before {
				drops = append(drops, b.now)
			}
			b.arrive(unit)
			b.now += int64(units) * each / 2
		}
		if len(drops) < 50 {
			t.Fatalf("units of %d: %d drops in 2 s", units, len(drops))
		}
		// The delay grows by half of the time: it is over 5 ms after 10 ms, and an
		// interval later the first is dropped.
		slack := float64(2 * max(units, 2) * each)
		due := float64(110 * time.Millisecond)
		for i, at := range drops[:50] {
			if math.Abs(float64(at)-due) > slack {
				t.Errorf("units of %d: drop %d at %s, want %s", units, i+1, time.Duration(at), time.Duration(due))
				break
			}
			due += 100e6 / math.Sqrt(float64(i+1))
		}
	}
}

// The clock of the wire does not drift: after ten seconds in which it was never
// idle, it has sent exactly what fits, whatever the packets are.
func TestTenSecondsCarryTenSecondsOfTheRate(t *testing.T) {
	v6 := packetSpec{v6: true, payload: 1428 * 40, gso: 1428, options: 12}.build()
	for _, c := range []struct {
		rate, framing string
		unit          []byte
		bytes         int64 // on the wire of a unit
	}{
		{"1mbit", "ethernet", tcp(1), 1538},
		{"7777777bit", "ethernet", udp(28), 84}, // padded to 64 bytes
		{"100mbit", "ip", tcp(3), 4500},
		{"1gbit", "ethernet", tcp(44), 44 * 1538},
		{"1gbit", "ethernet", v6, 40 * 1538},
		{"10gbit", "ethernet", tcp(44), 44 * 1538},
		{"40gbit", "ethernet", tcp(44), 44 * 1538},
	} {
		b := newBench(t, "queue=1e6packets,rate="+c.rate+",framing="+c.framing)
		span := int64(10 * time.Second)
		if b.link.Up.Rate > 1e9 {
			span /= 20
		}
		var through int64
		for b.now < span {
			b.drain(b.now)
			for _, r := range b.taken {
				through += r.cost(b.pipe.framing)
			}
			b.taken = b.taken[:0]
			for b.pipe.queuedBytes < 2*c.bytes {
				b.arrive(c.unit)
			}
			b.now = min(b.pipe.free, span)
		}
		b.drain(span)
		for _, r := range b.taken {
			through += r.cost(b.pipe.framing)
		}
		want := float64(b.link.Up.Rate) * float64(span) / 8e9
		// What is on the wire at the end is not through yet.
		if got := float64(through); got > want || got < want-float64(max(int64(b.link.Up.Rate)*maxSpan/8e9, 1538))-1 {
			t.Errorf("rate=%s, units of %d bytes: %d bytes in %s, want %.0f", c.rate, c.bytes, through, time.Duration(span), want)
		}
	}
}

// A full queue holds what it says of every protocol and size of packet.
func TestQueueHoldsEveryProtocol(t *testing.T) {
	v6 := packetSpec{v6: true, payload: 1428 * 44, gso: 1428, options: 12}.build()
	datagrams := packetSpec{udp: true, payload: 1472 * 44, gso: 1472}.build()
	for _, c := range []struct {
		link  string
		unit  []byte
		wants int64 // segments that get through, one of them at once
	}{
		{"queue=153800B", v6, 101},
		{"queue=153800B", datagrams, 101},
		{"queue=100packets", v6, 101},
		{"queue=10ms", datagrams, 1 + 125_000/1538},
		{"queue=10ms,framing=ip", datagrams, 1 + 125_000/1500},
		{"queue=1bdp,rtt=16ms", v6, 1 + 200_000/1538},
		{"queue=2bdp,rtt=16ms", v6, 1 + 400_000/1538},
		{"queue=1bdp,rtt=1ms", v6, 1 + link.MinBDPQueue},
		{"queue=84000B", udp(46), 1001},
	} {
		b := newBench(t, "rate=100mbit,"+c.link)
		for range 1200 {
			b.arrive(c.unit)
		}
		b.drain(forever)
		if got := b.segments(); got != c.wants {
			t.Errorf("%s: %d segments of a burst went through, want %d", c.link, got, c.wants)
		}
	}
}

// The delays of packets far apart follow the distribution that was asked for: by
// Kolmogorov and Smirnov's test at 0.1%, which a spread that is off by a tenth does
// not pass.
func TestJitterHasItsDistribution(t *testing.T) {
	const n, mean, spread = 20_000, 10.0, 2.0 // ms
	for shape, share := range map[string]func(ms float64) float64{
		"uniform": func(ms float64) float64 { return min(max((ms-mean+spread)/(2*spread), 0), 1) },
		"normal":  func(ms float64) float64 { return math.Erfc((mean-ms)/spread/math.Sqrt2) / 2 },
		"pareto":  func(ms float64) float64 { return max(1-math.Pow(max(ms-mean, 1e-9)/(spread*2/3), -3), 0) },
	} {
		b := newBench(t, "delay=10ms,jitter=2ms:"+shape)
		delays := make([]float64, n)
		for i := range delays {
			b.now = int64(i) * int64(time.Second)
			sent := b.now
			b.arrive(tcp(1))
			b.drain(forever)
			delays[i] = float64(b.taken[0].at-sent) / 1e6
			b.taken = b.taken[:0]
		}
		slices.Sort(delays)
		var worst float64
		for i, ms := range delays {
			f := share(ms)
			worst = max(worst, f-float64(i)/n, float64(i+1)/n-f)
		}
		if limit := 1.95 / math.Sqrt(n); worst > limit {
			t.Errorf("%s: %.4f off its distribution, at most %.4f", shape, worst, limit)
		}
	}
}

// A dense flow finds the same delays, in order: not the longest of many draws.
// The quartiles are off by an eighth of the spread at most.
func TestJitterOfADenseFlow(t *testing.T) {
	for shape, quartiles := range map[string][3]float64{ // in spreads, of the distribution
		"uniform": {-0.5, 0, 0.5},
		"normal":  {-0.674, 0, 0.674},
		"pareto":  {0.734, 0.840, 1.058}, // 2/3 q^(-1/3) for q = 3/4, 1/2, 1/4
	} {
		for _, gap := range []time.Duration{50 * time.Microsecond, 500 * time.Microsecond, 2 * time.Millisecond} {
			b := newBench(t, "delay=10ms,jitter=2ms:"+shape)
			n := 5000 * max(int(2*time.Millisecond/gap), 1)
			unit := tcp(1)
			delays := make([]float64, 0, n)
			var last int64
			for i := range n {
				b.drain(int64(i) * int64(gap))
				b.now = int64(i) * int64(gap)
				b.arrive(unit)
				at := b.pipe.lastDue
				if at < last {
					t.Fatal("out of order")
				}
				last = at
				delays = append(delays, (float64(at-b.now)/1e6-10)/2)
				b.taken = b.taken[:0]
			}
			slices.Sort(delays)
			for i, want := range quartiles {
				if got := delays[n*(i+1)/4]; math.Abs(got-want) > 0.125 {
					t.Errorf("%s, each %s: quartile %d at %.3f of the spread, want %.3f", shape, gap, i+1, got, want)
				}
			}
		}
	}
}

// Packets that come at random wait as theory says (Pollaczek and Khinchine): a
// queue with a mean load of rho and service times S holds them up for
// rho E(S^2) / (2 E(S) (1-rho)) on average.
func TestRandomArrivalsWaitAsTheoryHasIt(t *testing.T) {
	for _, c := range []struct {
		load  float64
		sizes []int // bytes of IP, each as likely
	}{{0.5, []int{1500}}, {0.8, []int{1500}}, {0.9, []int{1500}}, {0.8, []int{64, 1500}}, {0.5, []int{40, 576, 1500}}} {
		b := newBench(t, "rate=10mbit,queue=1e6packets")
		var units [][]byte
		var service []float64
		var mean, square float64
		for _, size := range c.sizes {
			units = append(units, udp(size))
			s := float64(link.FramingEthernet.Cost(size)) * 800 // ns
			service = append(service, s)
			mean += s / float64(len(c.sizes))
			square += s * s / float64(len(c.sizes))
		}
		rng := rand.New(rand.NewPCG(1, 2))
		const n = 200_000
		var at float64
		var waited int64
		collect := func(until int64) {
			b.drain(until)
			for _, r := range b.taken {
				waited += r.at
			}
			b.taken = b.taken[:0]
		}
		for range n {
			at += rng.ExpFloat64() * mean / c.load
			collect(int64(at))
			b.now = int64(at)
			i := rng.IntN(len(units))
			waited -= b.now + int64(service[i])
			b.arrive(units[i])
		}
		collect(forever)
		if got, want := float64(waited)/n, c.load*square/(2*mean*(1-c.load)); math.Abs(got-want) > 0.05*want {
			t.Errorf("load %g, sizes %v: %.4f ms, want %.4f", c.load, c.sizes, got/1e6, want/1e6)
		}
	}
}
