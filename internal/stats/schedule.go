package stats

import (
	"math/rand/v2"
	"slices"
)

// newRand is the generator behind every random choice: same seed, same choices.
func newRand(seed uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))
}

// Schedule returns the order of runs: for each block the arms' numbers, from 0
// to arms-1. A block is a random order followed by its mirror image (ABBA for
// two arms), so every arm has two runs in it at the same mean position and a
// linear drift cancels; each half of a block holds every arm once and makes one
// pair, and of the two pairs each arm is first in as many as it is last. The
// blocks' orders are drawn independently of each other: whatever goes on beside
// the trial, even with the period of a block, then favours each arm by chance
// only. The same seed gives the same order. Fewer than one arm or block gives
// none.
func Schedule(arms, blocks int, seed uint64) [][]int {
	if arms < 1 || blocks < 1 {
		return nil
	}
	rng := newRand(seed)
	schedule := make([][]int, blocks)
	for b := range schedule {
		half := rng.Perm(arms)
		block := slices.Clone(half)
		slices.Reverse(half)
		schedule[b] = append(block, half...)
	}
	return schedule
}
