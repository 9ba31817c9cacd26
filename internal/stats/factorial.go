package stats

import (
	"fmt"
	"math"
	"math/bits"
)

// confirm measures all combinations of the survivors with everything else off,
// and everything on against everything off, and derives shares, interactions
// and verdicts from these fresh runs alone. screened is the sum of all screened
// effects, or empty when there was no screen.
func (a *Attribution) confirm(c *collector, survivors []int, screened Test) error {
	g := len(survivors)
	pairs := factorialPairs(c.plan.Settings, survivors)
	for _, i := range survivors {
		a.Effects[i].Survived = true
		a.Effects[i].Verdict = NotEnough
	}
	seen, err := c.collect(StageFactorial, pairs, c.plan.Runs)
	seen, stalls := withoutStalls("second stage", seen)
	a.Warnings = append(a.Warnings, stalls...)
	fit, ok := fitHalves(seen)
	counts, means := pairMeans(seen, len(pairs))
	if !ok || (g > 0 && minCount(counts[:1<<g/2]) == 0) {
		a.Warnings = append(a.Warnings, Warning{
			Code: CodeTooFew, Run: -1, Value: float64(len(seen)), Need: len(pairs) + 1,
			Text: fmt.Sprintf("the second stage has %d usable pairs of runs and needs %d", len(seen), len(pairs)+1),
		})
		return err
	}
	direct := func(pair int) Test {
		return newTest(2*means[pair], 2*math.Sqrt(fit.variance/float64(counts[pair])), fit.df)
	}
	a.shares(c.plan, survivors, fit, counts, means)
	a.wholes(c.plan, g, fit, screened, counts, direct)
	a.interactions(c.plan, survivors, seen)
	return err
}

// factorialPairs are the combinations of the survivors: pair p has the last
// survivor on and the others by the bits of p, so that the last of these pairs
// is all survivors against nothing. When there are other settings, everything
// against nothing follows, with a coefficient of its own.
func factorialPairs(settings int, survivors []int) []mirrorPair {
	g := len(survivors)
	others := g < settings
	columns := g
	if others {
		columns++
	}
	var pairs []mirrorPair
	for p := range 1 << g / 2 {
		pair := mirrorPair{make([]float64, columns), make(Setup, settings), make(Setup, settings)}
		for j, setting := range survivors {
			on := j == g-1 || p>>j&1 == 1
			pair.on[setting], pair.image[setting] = on, !on
			pair.signs[j] = -1
			if on {
				pair.signs[j] = 1
			}
		}
		pairs = append(pairs, pair)
	}
	if others {
		pair := mirrorPair{make([]float64, columns), make(Setup, settings), make(Setup, settings)}
		pair.signs[g] = 1
		for i := range pair.on {
			pair.on[i] = true
		}
		pairs = append(pairs, pair)
	}
	return pairs
}

func pairMeans(seen []halves, pairs int) (counts []int, means []float64) {
	counts, means = make([]int, pairs), make([]float64, pairs)
	for _, s := range seen {
		counts[s.pair]++
		means[s.pair] += s.odd
	}
	for p, n := range counts {
		means[p] /= float64(max(1, n))
	}
	return counts, means
}

func minCount(counts []int) int {
	least := math.MaxInt
	for _, n := range counts {
		least = min(least, n)
	}
	return least
}

// shares gives each survivor its exact Shapley share. A share only depends on
// the differences between mirror images, because a combination and its image
// enter with opposite weights, so drift between blocks does not reach it. The
// spread is that around main effects: a joint effect of three settings widens
// the intervals.
func (a *Attribution) shares(plan AttributionPlan, survivors []int, fit regression, counts []int, means []float64) {
	g := len(survivors)
	if g == 0 {
		return
	}
	last := uint64(1)<<g - 1
	half := uint64(1) << (g - 1)
	values := Shapley(g, func(set uint64) float64 {
		if set&half != 0 {
			return means[set&^half]
		}
		return -means[(last^set)&^half]
	})
	weights := shapleyWeights(g)
	p := make([]float64, plan.Settings)
	for i := range p {
		p[i] = 1
	}
	for j := range survivors {
		variance := 0.0
		for pair, n := range counts[:half] {
			set := uint64(pair) | half
			if set>>j&1 == 0 {
				set = last ^ set
			}
			w := 2 * weights[bits.OnesCount64(set)-1]
			variance += w * w * fit.variance / float64(n)
		}
		test := newTest(values[j], math.Sqrt(variance), fit.df)
		runs := sumCounts(counts[:half])
		share := test.ratio(1-plan.Alpha, runs)
		effect := &a.Effects[survivors[j]]
		effect.Share = &share
		effect.Verdict = Judge(share, plan.Margin, plan.HigherIsBetter)
		p[survivors[j]] = test.P
		if effect.Screened != nil {
			p[survivors[j]] = combine(effect.screen, test, effect.Screened.Pairs, runs)
		}
	}
	for i, adjusted := range HolmAdjusted(p) {
		effect := &a.Effects[i]
		effect.AdjustedP = adjusted
		if effect.Survived && adjusted > plan.Alpha && effect.Verdict != NoDifference {
			effect.Verdict = NotEnough
		}
	}
}

// combine is the two-sided p-value of two independent tests by the weighted
// sum of their normal scores (T. Lipták, 1958). It is exact whatever led from
// the first to the second.
func combine(a, b Test, weightA, weightB int) float64 {
	wa, wb := float64(weightA), float64(weightB)
	z := (math.Sqrt(wa)*score(a) + math.Sqrt(wb)*score(b)) / math.Sqrt(wa+wb)
	return 2 * NormalCDF(-math.Abs(z))
}

// score is the normal quantile that the one-sided p-values stand for.
func score(t Test) float64 {
	const smallest = 1e-300
	if t.Greater < t.Less {
		return -NormalQuantile(math.Max(t.Greater, smallest))
	}
	return NormalQuantile(math.Max(t.Less, smallest))
}

// wholes compares the parts with the measured whole.
func (a *Attribution) wholes(plan AttributionPlan, g int, fit regression, screened Test, counts []int,
	direct func(int) Test) {
	confidence := 1 - plan.Alpha
	interval := func(t Test, pairs int) *Interval {
		i := t.ratio(confidence, pairs)
		return &i
	}
	cells := 1 << g / 2
	var kept Test
	if g > 0 {
		kept = direct(cells - 1)
		a.Kept = interval(kept, counts[cells-1])
	}
	if cells == len(counts) {
		// No screen: main effects against the mean of the same runs, whose
		// difference has the difference of the variances.
		a.Total = a.Kept
		twos := make([]float64, g)
		for i := range twos {
			twos[i] = 2
		}
		parts := fit.contrast(twos)
		spare := math.Max(0, kept.StdErr*kept.StdErr-parts.StdErr*parts.StdErr)
		lack := newTest(kept.Mean-parts.Mean, math.Sqrt(spare), fit.df)
		if spare < 1e-12*kept.StdErr*kept.StdErr {
			lack.P = 1 // one or two settings: main effects fit exactly
		}
		a.Fit = &Fit{Sum: *interval(parts, sumCounts(counts)), Measured: *a.Total, P: lack.P}
		return
	}
	if counts[cells] == 0 {
		return
	}
	total := direct(cells)
	a.Total = interval(total, counts[cells])
	a.Rest = a.Total
	if g > 0 {
		a.Rest = interval(total.minus(kept), counts[cells])
	}
	a.Fit = &Fit{
		Sum:      *interval(screened, a.Effects[0].Screened.Pairs),
		Measured: *a.Total,
		P:        screened.minus(total).P,
	}
}

func sumCounts(counts []int) int {
	total := 0
	for _, n := range counts {
		total += n
	}
	return total
}
