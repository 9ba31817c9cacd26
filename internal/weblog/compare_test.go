package weblog

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
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

func synthetic(t testing.TB, s Synthetic) string {
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
	before := readText(t, synthetic(t, Synthetic{Lines: 10_000, Seed: 1, Profile: ProfileBefore}), Options{Full: true})
	after := readText(t, synthetic(t, Synthetic{Lines: 10_000, Seed: 2, Profile: ProfileAfter}), Options{Full: true})
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
	if r.Comparison.Verdict != Helps {
		t.Errorf("verdict %q, want helps", r.Comparison.Verdict)
	}
	back, err := Compare(before, after, View{}, Judgement{})
	if err != nil {
		t.Fatal(err)
	}
	if back.Comparison.Verdict != Hurts {
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
	var crude Verdict
	for _, s := range c.Shifts {
		if s.Percentile == "95" {
			crude = s.Verdict
		}
	}
	if crude != Hurts {
		t.Errorf("as logged: %q, want hurts", crude)
	}
	if c.Verdict != NoMatter || c.Matched == nil || c.Matched.Classes != 2 {
		t.Errorf("verdict %q with %+v, want no worthwhile difference of 2 classes", c.Verdict, c.Matched)
	}
}

// TestVerdictsAreHonest: logs of the same server differ by load from hour to
// hour, and must not be told apart more often than the confidence allows.
func TestVerdictsAreHonest(t *testing.T) {
	wavy := func(seed uint64, factor float64) string {
		r := rand.New(rand.NewPCG(seed, 4))
		load := 1.0
		return logOf(3000, seed, func(q *rand.Rand, i int) (string, int, float64) {
			if i%150 == 0 {
				load = math.Exp(0.3 * r.NormFloat64())
			}
			return "/x", 1000, factor * load * 0.2 * math.Exp(0.5*q.NormFloat64())
		})
	}
	wrong, found := 0, 0
	const rounds = 30
	for i := range uint64(rounds) {
		if v := compareLogs(t, wavy(2*i, 1), wavy(2*i+1, 1)).Verdict; v == Helps || v == Hurts {
			wrong++
		}
		if compareLogs(t, wavy(1000+2*i, 0.4), wavy(1001+2*i, 1)).Verdict == Helps {
			found++
		}
	}
	if wrong > 5 { // 5% of 30 is 1.5
		t.Errorf("%d of %d comparisons of the same server found a difference", wrong, rounds)
	}
	if found < 26 {
		t.Errorf("%d of %d comparisons found that times more than halved", found, rounds)
	}
}

func TestQuantileIntervalsCover(t *testing.T) {
	covered := 0
	const rounds = 200
	for i := range uint64(rounds) {
		r := rand.New(rand.NewPCG(i, 5))
		var s segments
		for j := range int64(4000) {
			h, _ := s.at(j * 200)
			h.Add(uint64(1e5 * r.ExpFloat64()))
		}
		d := dist{all: new(Hist), parts: s.list(), step: 1}
		for _, h := range d.parts {
			d.all.Merge(h)
		}
		e, _ := d.quantile(0.9, 0.95)
		if truth := 1e5 * math.Log(10); *e.Low <= truth && truth <= *e.High {
			covered++
		}
	}
	if covered < 180 {
		t.Errorf("%d of %d 95%% intervals of p90 hold the true value", covered, rounds)
	}
}

func TestQuantileWithoutEnd(t *testing.T) {
	d := dist{all: new(Hist), step: 1}
	for v := range uint64(100) {
		d.all.Add(v)
	}
	if e, _ := d.quantile(0.999, 0.95); e.High != nil || e.Low == nil {
		t.Errorf("p99.9 of 100 values: %+v, want no upper end", e)
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

func TestHolm(t *testing.T) {
	got := holm([]float64{0.04, 0.01, 0.03, 0.5})
	for i, want := range []float64{0.09, 0.04, 0.09, 0.5} {
		if math.Abs(got[i]-want) > 1e-12 {
			t.Errorf("holm[%d] = %g, want %g", i, got[i], want)
		}
	}
}

func TestTextIsSafe(t *testing.T) {
	evil := "192.0.2.1 - - [01/Mar/2024:00:00:00 +0000] \"GET /\x1b]0;owned\x07<script>\u202e\x9b HTTP/1.1\" 200 5 \"-\" \"-\" 0.001\n\x1b[2Jbroken\n"
	s := readText(t, strings.Repeat(evil, 3), Options{Full: true})
	r := Summarize(s, View{By: Groupings()})
	var b strings.Builder
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	if r.Requests != 3 || r.Skipped != 3 {
		t.Fatalf("%d requests, %d skipped, want 3 and 3", r.Requests, r.Skipped)
	}
	for _, c := range b.String() {
		if c < 0x20 && c != '\n' || c == 0x7f || c == 0x202e || c >= 0x80 && c < 0xa0 || c == 0xfffd {
			t.Fatalf("%q in the output:\n%q", c, b.String())
		}
	}
}
