package weblog

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/stats"
	"github.com/wirerate/wirerate/internal/weblog/latency"
	"github.com/wirerate/wirerate/tools/genlog/accesslog"
)

func readText(t testing.TB, text string, opt Options) *Sketch {
	t.Helper()
	s, err := Read(context.Background(), []string{"-"}, strings.NewReader(text), opt)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Inputs[0].Err; err != nil {
		t.Fatal(err)
	}
	return s
}

func synthetic(t testing.TB, s accesslog.Synthetic) string {
	t.Helper()
	var b bytes.Buffer
	if _, err := s.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestGuideBeforeAndAfter rebuilds the shares that the FreeBSD tuning guide
// reports of 10,000 objects.
func TestGuideBeforeAndAfter(t *testing.T) {
	before := readText(t, synthetic(t, accesslog.Synthetic{Lines: 10_000, Seed: 1, Profile: accesslog.ProfileBefore}), Options{Full: true})
	after := readText(t, synthetic(t, accesslog.Synthetic{Lines: 10_000, Seed: 2, Profile: accesslog.ProfileAfter}), Options{Full: true})
	r, err := Compare(after, before, View{}, Judgement{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Bins[0].Count != 9669 || r.Under["0.1"] != 0.9669 {
		t.Errorf("after: %d in the first bin, %v under 100 ms, want 9669", r.Bins[0].Count, r.Under)
	}
	if b := r.Comparison.Before; b.Bins[0].Count != 7142 || b.Under["0.1"] != 0.7142 {
		t.Errorf("before: %d in the first bin, %v under 100 ms, want 7142", b.Bins[0].Count, b.Under)
	}
	if r.Comparison.Verdict != stats.Helps {
		t.Errorf("verdict %q, want helps", r.Comparison.Verdict)
	}
	back, err := Compare(before, after, View{}, Judgement{})
	if err != nil {
		t.Fatal(err)
	}
	if back.Comparison.Verdict != stats.Hurts {
		t.Errorf("the other way round: verdict %q, want hurts", back.Comparison.Verdict)
	}
}

// logOf makes a log of n requests whose times draw gives, in s.
func logOf(n int, seed uint64, draw func(r *rand.Rand, i int) (path string, size int, s float64)) string {
	r := rand.New(rand.NewPCG(seed, 9))
	var b strings.Builder
	for i := range n {
		path, size, s := draw(r, i)
		fmt.Fprintf(&b, "192.0.2.1 - - [01/Mar/2024:%02d:%02d:00 +0000] \"GET %s HTTP/1.1\" 200 %d \"-\" \"-\" %.3f\n", i*24/n, i%60, path, size, s)
	}
	return b.String()
}

func compareLogs(t *testing.T, after, before string) *Comparison {
	t.Helper()
	r, err := Compare(readText(t, after, Options{Full: true}), readText(t, before, Options{Full: true}), View{}, Judgement{})
	if err != nil {
		t.Fatal(err)
	}
	return r.Comparison
}

// TestMixIsCorrected: each object is as fast as before, but more of the large
// ones were asked for.
func TestMixIsCorrected(t *testing.T) {
	site := func(large float64) func(r *rand.Rand, i int) (string, int, float64) {
		return func(r *rand.Rand, i int) (string, int, float64) {
			if r.Float64() < large {
				return "/large", 5_000_000, 1 + 0.1*r.Float64()
			}
			return "/small", 1000, 0.010 + 0.01*r.Float64()
		}
	}
	c := compareLogs(t, logOf(20_000, 1, site(0.5)), logOf(20_000, 2, site(0.02)))
	var crude stats.Verdict
	for _, s := range c.Shifts {
		if s.Percentile == "95" {
			crude = s.Verdict
		}
	}
	if crude != stats.Hurts {
		t.Errorf("as logged: %q, want hurts", crude)
	}
	if c.Verdict != stats.NoDifference || c.Matched == nil || c.Matched.Classes != 2 {
		t.Errorf("verdict %q with %+v, want no worthwhile difference of 2 classes", c.Verdict, c.Matched)
	}
}

// drawn returns the function that draws the request times of one log, in s.
type drawn func(r *rand.Rand) func(i int) float64

// steady draws independent times.
func steady(r *rand.Rand) func(int) float64 {
	return func(int) float64 { return 0.2 * math.Exp(0.5*r.NormFloat64()) }
}

// loaded draws times under a load that changes every 20 requests, each time by a
// share 1-phi of its spread.
func loaded(phi, spread float64) drawn {
	return func(r *rand.Rand) func(int) float64 {
		load := spread * r.NormFloat64()
		return func(i int) float64 {
			if i%20 == 19 {
				load = phi*load + spread*math.Sqrt(1-phi*phi)*r.NormFloat64()
			}
			return 0.2 * math.Exp(load+0.5*r.NormFloat64())
		}
	}
}

// bursting draws times that are ten times as long for 30 requests now and then.
func bursting(r *rand.Rand) func(int) float64 {
	left := 0
	return func(int) float64 {
		if left--; left < 0 && r.Float64() < 0.001 {
			left = 30
		}
		if left > 0 {
			return 2 * math.Exp(0.5*r.NormFloat64())
		}
		return 0.2 * math.Exp(0.5*r.NormFloat64())
	}
}

// queued draws the times of a server that is busy for the given share.
func queued(busy float64) drawn {
	return func(r *rand.Rand) func(int) float64 {
		waiting := 0.0
		next := func(int) float64 {
			took := waiting + busy*0.02*r.ExpFloat64()
			waiting = max(0, took-0.02*r.ExpFloat64())
			return took
		}
		for i := range 2000 {
			next(i)
		}
		return next
	}
}

// distOfLog is what reading a log of n lines of 150 bytes gives.
func distOfLog(n int, seed uint64, factor float64, times drawn) latency.Dist {
	draw := times(rand.New(rand.NewPCG(seed, 9)))
	var s latency.Segments
	for i := range n {
		h, _ := s.At(int64(i) * 150)
		h.Add(uint64(factor * draw(i) * 1e6))
	}
	d := latency.Dist{All: new(latency.Hist), Parts: s.List(), Step: 1}
	for _, h := range d.Parts {
		d.All.Merge(h)
	}
	return d
}

// TestVerdictsAreHonest: two logs of the same server must not be told apart more
// often than in 5% of cases, whatever makes neighbouring requests alike; and real
// changes have to be found where the logs are long enough. The limits of wrong
// verdicts are for 120 pairs at 5% (mean 6, standard deviation 2.4).
func TestVerdictsAreHonest(t *testing.T) {
	const rounds = 120
	for _, c := range []struct {
		name         string
		n            int
		times        drawn
		wrong, found int // at most, at least, of rounds and of rounds/5
	}{
		{"independent", 2000, steady, 6, 24},
		{"load of 40 requests", 4000, loaded(0, 0.3), 8, 22},
		{"load of 400 requests", 4000, loaded(0.9, 0.3), 8, 3},
		{"load of 400 requests, a longer log", 20000, loaded(0.9, 0.3), 8, 22},
		{"load of 800 requests", 4000, loaded(0.95, 0.1), 9, 12},
		{"load of 1300 requests", 4000, loaded(0.97, 0.3), 9, 1},
		{"bursts", 4000, bursting, 8, 3},
		{"a queue", 20000, queued(0.8), 8, 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			wrong, found := 0, 0
			for k := range uint64(rounds) {
				before := distOfLog(c.n, 2*k, 1, c.times)
				if s, _ := shift(95, distOfLog(c.n, 2*k+1, 1, c.times), before, 0.95, 0.05); s.Verdict == stats.Helps || s.Verdict == stats.Hurts {
					wrong++
				}
				if k%5 > 0 {
					continue
				}
				if s, _ := shift(95, distOfLog(c.n, 2*k+1_000_000, 0.7, c.times), before, 0.95, 0.05); s.Verdict == stats.Helps {
					found++
				}
			}
			t.Logf("%d of %d wrong, %d of %d found", wrong, rounds, found, rounds/5)
			if wrong > c.wrong {
				t.Errorf("%d of %d comparisons of the same server found a difference, want at most %d", wrong, rounds, c.wrong)
			}
			if found < c.found {
				t.Errorf("%d of %d comparisons found that times were 30%% less, want at least %d", found, rounds/5, c.found)
			}
		})
	}
}

// TestIntervalsOfIndependentRequests: allowing for dependence must not cost much
// where there is none. An interval of p95 is 1.96 standard errors of the share to
// each side at best.
func TestIntervalsOfIndependentRequests(t *testing.T) {
	sum := 0.0
	const rounds = 100
	for k := range uint64(rounds) {
		d := distOfLog(4000, k, 1, steady)
		bin, _ := d.All.Rank(latency.RankOf(0.95, d.All.N))
		_, s := d.Share(bin + 1)
		half, _ := s.Half(0.95, 0)
		sum += half / (1.96 * math.Sqrt(s.Independent)) / rounds
	}
	if sum > 1.5 {
		t.Errorf("intervals are %.2f times as wide as independent requests need, want at most 1.5", sum)
	}
	t.Logf("%.2f times", sum)
}

// TestSaysHowMuchMore: a verdict of not enough evidence says what would be enough.
func TestSaysHowMuchMore(t *testing.T) {
	slow := func(factor float64) func(r *rand.Rand, i int) (string, int, float64) {
		return func(r *rand.Rand, _ int) (string, int, float64) {
			return "/x", 1000, factor * 0.2 * math.Exp(0.5*r.NormFloat64())
		}
	}
	c := compareLogs(t, logOf(400, 1, slow(0.88)), logOf(400, 2, slow(1)))
	if c.Verdict != stats.NotEnough || c.More == nil || *c.More < 3600 {
		t.Fatalf("verdict %q, more %v, want not enough evidence and some hours", c.Verdict, c.More)
	}
	if all := strings.Join(c.Notes, "\n"); !strings.Contains(all, "more of each log") {
		t.Errorf("notes: %s", all)
	}
	for _, s := range []struct {
		change, half, want float64
	}{{0.2, 0.4, 4}, {0.01, 0.08, 4}, {0.05, 0.05, 1.1}} {
		lo, hi := s.change-s.half, s.change+s.half
		got := Shift{Before: latency.Estimate{Value: 1}, Change: latency.Estimate{Value: s.change, Low: &lo, High: &hi}}.longer(0.05, 1000)
		if math.Abs(got-s.want) > 1e-9 {
			t.Errorf("a change of %g +- %g: %g times, want %g", s.change, s.half, got, s.want)
		}
	}
}

// TestSaysHowMuchMoreOfFew: two requests do not need a minute more but hundreds.
func TestSaysHowMuchMoreOfFew(t *testing.T) {
	if got := (Shift{Percentile: "95", Before: latency.Estimate{Value: 1}}).longer(0.05, 2); math.Abs(got-100) > 1e-9 {
		t.Errorf("p95 of 2 requests: %g times as long, want 100", got)
	}
}

func TestQuantileIntervalsCover(t *testing.T) {
	covered := 0
	const rounds = 200
	for i := range uint64(rounds) {
		r := rand.New(rand.NewPCG(i, 5))
		var s latency.Segments
		for j := range int64(4000) {
			h, _ := s.At(j * 200)
			h.Add(uint64(1e5 * r.ExpFloat64()))
		}
		d := latency.Dist{All: new(latency.Hist), Parts: s.List(), Step: 1}
		for _, h := range d.Parts {
			d.All.Merge(h)
		}
		e, _ := d.Quantile(0.9, 0.95)
		if truth := 1e5 * math.Log(10); *e.Low <= truth && truth <= *e.High {
			covered++
		}
	}
	if covered < 180 {
		t.Errorf("%d of %d 95%% intervals of p90 hold the true value", covered, rounds)
	}
}

func TestQuantileWithoutEnd(t *testing.T) {
	d := latency.Dist{All: new(latency.Hist), Step: 1}
	for v := range uint64(100) {
		d.All.Add(v)
	}
	if e, _ := d.Quantile(0.999, 0.95); e.High != nil || e.Low == nil {
		t.Errorf("p99.9 of 100 values: %+v, want no upper end", e)
	}
}

func TestQuantileTestOfConstants(t *testing.T) {
	a, b := latency.Dist{All: new(latency.Hist), Step: 1}, latency.Dist{All: new(latency.Hist), Step: 1}
	for range 30 {
		a.All.Add(100)
		b.All.Add(200)
	}
	if p := quantileTest(0.5, a, b); !(p < 0.001) {
		t.Errorf("30 times 100 us against 30 times 200 us: p %g", p)
	}
}

// Values from the tables of the Kolmogorov distribution: 5% and 1% points.
func TestKolmogorovTail(t *testing.T) {
	for lambda, want := range map[float64]float64{1.3581: 0.05, 1.6276: 0.01, 0.8276: 0.5} {
		if got := kolmogorovTail(lambda); math.Abs(got-want) > 2e-4 {
			t.Errorf("tail(%g) = %g, want %g", lambda, got, want)
		}
	}
}

// TestKindsAreSaid: a cache that answers more than before is named beside the verdict.
func TestKindsAreSaid(t *testing.T) {
	squid := func(hits int) string {
		var b strings.Builder
		for i := range 2000 {
			kind := "TCP_MISS"
			if i%100 < hits {
				kind = "TCP_MEM_HIT"
			}
			fmt.Fprintf(&b, "%d.123 %d 10.1.2.3 %s/200 4512 GET http://example.org/a - HIER_NONE/- text/html\n", 1709251200+i, 20+i%7, kind)
		}
		return b.String()
	}
	after, before := readText(t, squid(80), Options{Full: true}), readText(t, squid(20), Options{Full: true})
	r, err := Compare(after, before, View{}, Judgement{})
	if err != nil {
		t.Fatal(err)
	}
	if all := strings.Join(r.Comparison.Notes, "\n"); !strings.Contains(all, "answers from a cache were 20.00% of the requests before and 80.00% after") || strings.Contains(all, "aborted") {
		t.Errorf("notes: %s", all)
	}
	if all := strings.Join(r.Notes, "\n"); !strings.Contains(all, "80% of the answers came from a cache") {
		t.Errorf("notes: %s", all)
	}
}

// TestMixOfManyPaths: 60 paths of one folder, each with a speed of its own and answers of
// any size, of which the slow ones are asked for more often than before. None got slower.
func TestMixOfManyPaths(t *testing.T) {
	const paths, requests = 60, 40_000
	mixed := func(seed uint64, tilt, scale float64) *Sketch {
		r := rand.New(rand.NewPCG(seed, 1))
		var b strings.Builder
		for i := 0; i < requests; {
			k := r.IntN(paths)
			if share := float64(k) / (paths - 1); r.Float64() < math.Exp(tilt*(share-1)) {
				us := 1e4 * math.Pow(100, share) * math.Exp(0.3*r.NormFloat64()) * scale
				fmt.Fprintf(&b, "192.0.2.1 - - [01/Mar/2024:00:%02d:%02d +0000] \"GET /p/%c%c HTTP/1.1\" 200 %d \"-\" \"-\" %.3f\n",
					i*60/requests, i%60, 'a'+k/26, 'a'+k%26, int(math.Exp(9+2*r.NormFloat64())), us/1e6)
				i++
			}
		}
		return readText(t, b.String(), Options{Full: true})
	}
	before := mixed(1, 0, 1)
	for _, c := range []struct {
		after *Sketch
		want  stats.Verdict
	}{{mixed(2, 1.5, 1), stats.NoDifference}, {mixed(3, 1.5, 0.8), stats.Helps}, {mixed(4, -1.5, 1.25), stats.Hurts}} {
		r, err := Compare(c.after, before, View{}, Judgement{Percentile: 75})
		if err != nil {
			t.Fatal(err)
		}
		if m := r.Comparison.Matched; r.Comparison.Verdict != c.want || m.Classes < 5*paths || m.BeforeShare < 0.99 {
			t.Errorf("%s, want %s, of %d classes with %.3f of the requests: %+v", r.Comparison.Verdict, c.want, m.Classes, m.BeforeShare, m.Shifts[1])
		}
	}
}
