package weblog

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/wirerate/wirerate/internal/weblog/latency"
)

// histOf makes a distribution of n times below 100 ms, all as likely.
func histOf(n int, r *rand.Rand) latency.Dist {
	d := latency.Dist{All: new(latency.Hist), Step: 1}
	for range n {
		d.All.Add(uint64(r.IntN(100_000)))
	}
	return d
}

// TestIntervalsOfFewRequests: the intervals of a percentile and of a share hold what
// is true as often as they say, however few requests there are.
func TestIntervalsOfFewRequests(t *testing.T) {
	const rounds = 400
	for _, n := range []int{1, 2, 3, 10, 40, 150} {
		missed := map[float64]int{}
		shares := map[uint64]int{}
		for k := range uint64(rounds) {
			d := histOf(n, rand.New(rand.NewPCG(k, uint64(n))))
			for _, p := range percentiles {
				e, _ := d.Quantile(p/100, 0.95)
				truth := 1000 * p
				// A bin is 1% wide.
				if e.Low != nil && *e.Low > truth*1.01 || e.High != nil && *e.High < truth*0.99 {
					missed[p]++
				}
			}
			for _, us := range []uint64{1000, 10_000, 50_000, 99_000} {
				e := d.ShareEstimate(latency.BinOf(us), 0.95)
				if truth := float64(us) / 100_000; *e.Low > truth || *e.High < truth {
					shares[us]++
				}
			}
		}
		// 5% of 400 is 20, with a standard deviation of 4.4.
		for p, m := range missed {
			if m > 32 {
				t.Errorf("%d requests: %d of %d intervals of p%g miss it", n, m, rounds, p)
			}
		}
		for us, m := range shares {
			if m > 32 {
				t.Errorf("%d requests: %d of %d intervals of the share below %d us miss it", n, m, rounds, us)
			}
		}
	}
}

// TestNoneOfTen: none of ten requests below a time, or all, is not certainty.
func TestNoneOfTen(t *testing.T) {
	d := latency.Dist{All: new(latency.Hist), Step: 1}
	for range 10 {
		d.All.Add(500_000)
	}
	// The ends of Clopper and Pearson for 0 of 10: 1 - 0.025^(1/10).
	if e := d.ShareEstimate(latency.BinOf(100_000), 0.95); e.Value != 0 || *e.Low != 0 || math.Abs(*e.High-0.30850) > 1e-4 {
		t.Errorf("0 of 10: %g to %g, want 0 to 0.3085", *e.Low, *e.High)
	}
	if e := d.ShareEstimate(latency.BinOf(600_000), 0.95); e.Value != 1 || *e.High != 1 || math.Abs(*e.Low-0.69150) > 1e-4 {
		t.Errorf("10 of 10: %g to %g, want 0.6915 to 1", *e.Low, *e.High)
	}
}

// TestEndsMeet: where the order statistics hand over to the normal approximation the
// two agree, and huge logs with rare requests keep their order.
func TestEndsMeet(t *testing.T) {
	for _, c := range []struct{ q, n float64 }{{0.5, 1590}, {0.95, 8400}, {0.9999, 3_900_000}} {
		half := 1.96 * math.Sqrt(c.q*(1-c.q)/c.n)
		lo, hi := latency.Around(c.q, half, 0.95, c.n)
		if math.Abs(lo-(c.q-half)) > 0.1*half || math.Abs(hi-(c.q+half)) > 0.1*half {
			t.Errorf("q %g of %g: %g to %g, want %g to %g", c.q, c.n, lo, hi, c.q-half, c.q+half)
		}
	}
}

// TestQuantileTest: its probability is below 5% in at most that many comparisons of
// the same, whatever the sizes, and small where two times have nothing in common.
func TestQuantileTest(t *testing.T) {
	const rounds = 300
	for _, sizes := range [][2]int{{200, 200}, {2000, 100}} {
		for _, q := range []float64{0.5, 0.95} {
			wrong := 0
			for k := range uint64(rounds) {
				r := rand.New(rand.NewPCG(k, 77))
				if quantileTest(q, histOf(sizes[0], r), histOf(sizes[1], r)) < 0.05 {
					wrong++
				}
			}
			if wrong > 27 { // 15, with a standard deviation of 3.8
				t.Errorf("%v requests, q %g: %d of %d below 5%%", sizes, q, wrong, rounds)
			}
		}
	}
	a, b := latency.Dist{All: new(latency.Hist), Step: 1}, latency.Dist{All: new(latency.Hist), Step: 1}
	for range 500 {
		a.All.Add(0)
		b.All.Add(250_000)
	}
	for _, p := range []float64{50, 75, 90, 95, 99} {
		if got := quantileTest(p/100, a, b); !(got < 0.05) {
			t.Errorf("p%g of 500 times 0 and of 500 times 250 ms: probability %g", p, got)
		}
	}
}
