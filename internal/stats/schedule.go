package stats

import "math/rand/v2"

// newRand is the generator behind every random choice: same seed, same choices.
func newRand(seed uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))
}

// Schedule returns the order of runs: for each block the arms' numbers, from 0
// to arms-1. A block is a random order followed by its mirror image (ABBA for
// two arms), so every arm has two runs in it at the same mean position and a
// linear drift cancels; each half of a block holds every arm once and makes one
// pair. Over each group of as many blocks as arms every arm starts once, so
// that none is favoured by going first. The same seed gives the same order.
// Fewer than one arm or block gives none.
func Schedule(arms, blocks int, seed uint64) [][]int {
	if arms < 1 || blocks < 1 {
		return nil
	}
	rng := newRand(seed)
	schedule := make([][]int, blocks)
	var starters []int
	for b := range schedule {
		if b%arms == 0 {
			starters = rng.Perm(arms)
		}
		half := []int{starters[b%arms]}
		for _, arm := range rng.Perm(arms) {
			if arm != half[0] {
				half = append(half, arm)
			}
		}
		block := make([]int, 0, 2*arms)
		block = append(block, half...)
		for i := arms - 1; i >= 0; i-- {
			block = append(block, half[i])
		}
		schedule[b] = block
	}
	return schedule
}
