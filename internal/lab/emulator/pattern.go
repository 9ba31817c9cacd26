package emulator

import (
	"math"
	"math/rand/v2"

	"github.com/wirerate/wirerate/internal/lab/link"
)

// chooser turns a Pattern into distances: how many segments pass before the
// next chosen one. A unit none of whose segments is chosen then costs one
// comparison, however many segments it has.
type chooser struct {
	pattern link.Pattern
	rng     *rand.Rand
	left    int64 // segments that pass before the next chosen one
	burst   int64 // further chosen ones that follow it at once
}

const never = math.MaxInt64 / 2

func newChooser(p link.Pattern, rng *rand.Rand) chooser {
	c := chooser{pattern: p, rng: rng}
	if p.Kind == link.Every {
		c.left = p.N - 1
		return c
	}
	c.next()
	return c
}

// pass notes that n segments went by unchosen; n is at most c.left.
func (c *chooser) pass(n int) {
	if c.left != never {
		c.left -= int64(n)
	}
}

// next draws the distance after a chosen segment.
func (c *chooser) next() {
	switch c.pattern.Kind {
	case link.Random:
		c.left = geometric(c.rng, c.pattern.P)
	case link.Every:
		c.left = c.pattern.N - 1
	case link.Bursts:
		if c.burst > 0 {
			c.burst--
			c.left = 0
			return
		}
		// Both states hold for at least one segment; every segment of the bad
		// one is chosen, so that P/(P+R) of all are.
		c.left = 1 + geometric(c.rng, c.pattern.P)
		c.burst = geometric(c.rng, c.pattern.R)
	default:
		c.left = never
	}
}

// geometric returns the number of failures before a success of probability p,
// by inversion.
func geometric(rng *rand.Rand, p float64) int64 {
	if p >= 1 {
		return 0
	}
	// 1-Float64 is in (0, 1], so that the logarithm is finite.
	k := math.Log(1-rng.Float64()) / math.Log1p(-p)
	if k >= never {
		return never - 1
	}
	return int64(k)
}
