package stats

import (
	"errors"
	"math"
	"math/rand/v2"
)

// mirrorPair is a setup, its mirror image and the signs of what is estimated
// from their difference.
type mirrorPair struct {
	signs     []float64
	on, image Setup
}

// halves are the two independent sums of one measured pair, on the log scale.
type halves struct {
	pair, round int
	signs       []float64
	odd         float64 // (on - image) / 2: effects that a mirror image reverses
	even        float64 // (on + image) / 2: level and interactions of two
}

// collector measures blocks within the plan's number of runs.
type collector struct {
	plan    AttributionPlan
	measure func(Block) ([2]float64, error)
	rng     *rand.Rand
	blocks  int
	runs    int
	lost    int
	stopped bool
}

// collect measures the pairs round after round, each round in a new random
// order, until the given number of runs has been made in total. A lost pair is
// measured once more at the end of its round.
func (c *collector) collect(stage Stage, pairs []mirrorPair, runs int) ([]halves, error) {
	var seen []halves
	for round := 0; ; round++ {
		queue := c.rng.Perm(len(pairs))
		for at := 0; at < len(queue); at++ {
			if c.runs+2 > min(runs, c.plan.Runs) {
				return seen, nil
			}
			p := queue[at]
			pair, ok, err := c.one(stage, pairs[p])
			if errors.Is(err, ErrStop) {
				c.stopped = true
				return seen, nil
			}
			if err != nil {
				return seen, err
			}
			if ok {
				pair.pair, pair.round = p, round
				seen = append(seen, pair)
			} else if at < len(pairs) {
				queue = append(queue, p)
			}
		}
	}
}

// one measures a pair in random order.
func (c *collector) one(stage Stage, pair mirrorPair) (halves, bool, error) {
	block := Block{Number: c.blocks, Stage: stage, Setups: [2]Setup{pair.on, pair.image}}
	swapped := c.rng.IntN(2) == 1
	if swapped {
		block.Setups = [2]Setup{pair.image, pair.on}
	}
	values, err := c.measure(block)
	if err != nil {
		return halves{}, false, err
	}
	c.blocks++
	c.runs += 2
	on, image := math.Log(values[0]), math.Log(values[1])
	if swapped {
		on, image = image, on
	}
	if checkFinite([]float64{on, image}) != nil {
		c.lost += 2
		return halves{}, false, nil
	}
	return halves{signs: pair.signs, odd: (on - image) / 2, even: (on + image) / 2}, true, nil
}
