package stats

import (
	"fmt"
	"math"
)

const (
	lookCells = 1200 // cells of the density over |R|
	lookNodes = 160  // directions by which a pair can move R
	maxLooked = 1000 // pairs; the cost of a plan grows with their number
	spendable = 0.8  // of alpha; see NewLooks
)

// Look is one planned analysis of the pairs collected so far.
type Look struct {
	Pairs int     // number of pairs at which the analysis is made
	Spent float64 // false-positive probability used up to and including this look
	Level float64 // two-sided nominal level at this look: the interval's 1 - confidence
}

// Looks is a group-sequential plan: with the nominal levels of its looks the
// probability that any look's interval wrongly excludes "no effect" stays below
// Alpha.
type Looks struct {
	Alpha float64
	Plan  []Look // in order; the last one is at the largest number of pairs
}

// NewLooks plans analyses at the given numbers of pairs, each at least 2 and in
// rising order; a last one at maxPairs is added when missing. Alpha is spent in
// proportion to the square of the share of pairs collected (the power family of
// K. Kim and D. L. DeMets, Biometrika 74, 1987, with exponent 2), which keeps
// most of it for the end. A fifth of alpha is not spent at all: log-ratios of
// real runs are not quite normal, and a rate that is exactly alpha in theory is
// above it in every second series of trials. To tell beforehand what a plan will
// see, give MinDetectable the level of its last look.
//
// The levels are exact for t statistics of normal log-ratios at any size, where
// the usual normal theory is too liberal. With S the sum and Q the sum of
// squares of n log-ratios, R = S/sqrt(Q) determines t, and without an effect it
// is a Markov chain: the next log-ratio over sqrt(Q) is independent of
// everything before and is Student's t with n degrees of freedom over sqrt(n)
// (direction and length of a spherical normal vector are independent). The
// density of |R| is carried forward pair by pair, and at each look the tail
// that spends that look's alpha is cut off.
func NewLooks(maxPairs int, looks []int, alpha float64) (Looks, error) {
	if !(alpha > 0 && alpha < 1) {
		return Looks{}, fmt.Errorf("alpha %v is outside 0 to 1", alpha)
	}
	if maxPairs < 2 || maxPairs > maxLooked {
		return Looks{}, fmt.Errorf("a plan of %d pairs is outside 2 to %d", maxPairs, maxLooked)
	}
	var plan []Look
	before := 1
	for _, pairs := range looks {
		if pairs <= before || pairs > maxPairs {
			return Looks{}, fmt.Errorf("look at %d pairs: looks must rise from 2 to at most %d", pairs, maxPairs)
		}
		share := float64(pairs) / float64(maxPairs)
		plan = append(plan, Look{Pairs: pairs, Spent: spendable * alpha * share * share})
		before = pairs
	}
	if before != maxPairs {
		plan = append(plan, Look{Pairs: maxPairs, Spent: spendable * alpha})
	}
	setLevels(plan)
	return Looks{Alpha: alpha, Plan: plan}, nil
}

// At returns the look planned at this number of pairs, if there is one.
func (l Looks) At(pairs int) (Look, bool) {
	for _, look := range l.Plan {
		if look.Pairs == pairs {
			return look, true
		}
	}
	return Look{}, false
}

// Truncate replaces the rest of the plan by one last look at the given number
// of pairs, which spends all alpha that is left: for a trial that must stop
// when its time is up. The reason to stop must not be the results. Looks before
// that number keep their levels.
func (l Looks) Truncate(pairs int) (Looks, error) {
	if pairs < 2 {
		return Looks{}, fmt.Errorf("%d pairs are not evidence; at least 2 are needed", pairs)
	}
	if len(l.Plan) == 0 || pairs > l.Plan[len(l.Plan)-1].Pairs {
		return Looks{}, fmt.Errorf("a last look at %d pairs lies outside the plan", pairs)
	}
	var plan []Look
	for _, look := range l.Plan {
		if look.Pairs < pairs {
			plan = append(plan, look)
		}
	}
	plan = append(plan, Look{Pairs: pairs, Spent: spendable * l.Alpha})
	setLevels(plan)
	return Looks{Alpha: l.Alpha, Plan: plan}, nil
}

// setLevels fills in the nominal levels of a plan from the alpha it spends.
func setLevels(plan []Look) {
	plan[0].Level = plan[0].Spent // no earlier look: t itself
	density := newRDensity(plan[0].Pairs, plan[0].Spent)
	for i := 1; i < len(plan); i++ {
		pairs := plan[i].Pairs
		for density.pairs < pairs {
			density.addPair()
		}
		r := density.cut(plan[i].Spent - plan[i-1].Spent)
		plan[i].Level = 2 * tCDF(pairs-1, -tFromR(r, pairs))
	}
}

// rDensity is the probability that no look has stopped the trial, spread over
// cells of |R|, which is at most sqrt(pairs).
type rDensity struct {
	pairs int
	mass  []float64
	next  []float64
}

// newRDensity is the density at the first look, at which the given probability
// stops the trial.
func newRDensity(pairs int, stopped float64) *rDensity {
	d := &rDensity{
		pairs: pairs,
		mass:  make([]float64, lookCells+1),
		next:  make([]float64, lookCells+1),
	}
	below := 0.0
	for i := range lookCells {
		upTo := 1 - 2*tCDF(pairs-1, -tFromR(float64(i+1)*cellWidth(pairs), pairs))
		upTo = math.Min(upTo, 1-stopped)
		d.mass[i] = upTo - below
		below = upTo
	}
	return d
}

// cellWidth makes the cells end at the largest |R|, or at 8 when that is less:
// beyond it lies 1e-15.
func cellWidth(pairs int) float64 {
	return math.Min(math.Sqrt(float64(pairs)), 8) / lookCells
}

// addPair moves the density on by one pair. With y the new log-ratio over
// sqrt(Q) and y = tan(a), R becomes R cos(a) + sin(a), and a has a density
// proportional to cos(a)^(pairs-1).
func (d *rDensity) addPair() {
	clear(d.next)
	span := math.Min(math.Pi/2, 9/math.Sqrt(float64(d.pairs)))
	weights := make([]float64, lookNodes)
	total := 0.0
	angle := func(k int) float64 { return span * (2*(float64(k)+0.5)/lookNodes - 1) }
	for k := range weights {
		weights[k] = math.Pow(math.Cos(angle(k)), float64(d.pairs-1))
		total += weights[k]
	}
	for k, w := range weights {
		sin, cos := math.Sincos(angle(k))
		sin /= cellWidth(d.pairs + 1)
		cos *= cellWidth(d.pairs) / cellWidth(d.pairs+1)
		for i, m := range d.mass[:lookCells] {
			// Spread over three cells with the right mean and variance: a
			// plain split between two would widen the density at each step.
			at := math.Min(math.Abs((float64(i)+0.5)*cos+sin), lookCells)
			cell := min(int(at), lookCells-1)
			off := at - float64(cell) - 0.5
			share := m * w / total
			d.next[cell] += share * (1 - off*off)
			d.next[cell+1] += share * (off*off + off) / 2
			d.next[max(cell-1, 0)] += share * (off*off - off) / 2
		}
	}
	d.next[lookCells-1] += d.next[lookCells]
	d.next[lookCells] = 0
	d.mass, d.next = d.next, d.mass
	d.pairs++
}

// cut stops the trials with the largest |R|, as many as have the given
// probability, and returns the |R| beyond which they lie.
func (d *rDensity) cut(probability float64) float64 {
	for i := lookCells - 1; i >= 0; i-- {
		if d.mass[i] > probability {
			r := (float64(i+1) - probability/d.mass[i]) * cellWidth(d.pairs)
			d.mass[i] -= probability
			return r
		}
		probability -= d.mass[i]
		d.mass[i] = 0
	}
	return 0
}

func tFromR(r float64, pairs int) float64 {
	n := float64(pairs)
	if r*r >= n {
		return math.Inf(1)
	}
	return r * math.Sqrt((n-1)/(n-r*r))
}
