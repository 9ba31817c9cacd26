package canary

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/stats"
)

// smallest is the number of hosts from which a block stands alone.
const smallest = 4

// ParseSteps reads how many hosts shall have been changed by the end of each step,
// such as 1,1%,10%,50%,100%, for a number of hosts. Steps that would add no host are
// left out.
func ParseSteps(text string, hosts int) ([]int, error) {
	var steps []int
	before, share := 0, 0.0 // of the steps before: hosts, and the largest share
	for word := range strings.SplitSeq(text, ",") {
		digits, percent := strings.CutSuffix(strings.TrimSpace(word), "%")
		v, err := strconv.ParseFloat(digits, 64)
		if err != nil || !(v > 0) || percent && v > 100 || !percent && (v > float64(hosts) || v != math.Trunc(v)) {
			return nil, fmt.Errorf("steps %q: %q: numbers of hosts (of %d) or shares are expected, like 1,1%%,10%%,50%%,100%%",
				text, word, hosts)
		}
		if percent && v >= share {
			// 1% of few hosts may be fewer than the one host before it.
			share, v = v, math.Max(math.Round(v*float64(hosts)/100), float64(before))
		} else if percent {
			v = math.Round(v * float64(hosts) / 100)
		}
		if int(v) < before {
			return nil, fmt.Errorf("steps %q: %q are %d hosts, fewer than the step before; steps count all hosts "+
				"that are changed by then", text, word, int(v))
		}
		if int(v) > before {
			steps, before = append(steps, int(v)), int(v)
		}
	}
	if len(steps) == 0 || steps[0] == hosts {
		return nil, fmt.Errorf("steps %q leave no hosts to compare with", text)
	}
	return steps, nil
}

// assign draws in which step each host is changed. Hosts are shuffled within their
// block and spread evenly over a line, from a random place for each block; the
// first ones on the line are changed first. So each step has the share of each
// block, to a host. Hosts that cannot be compared come last.
func assign(hosts []Host, steps []int, seed uint64) {
	setBlocks(hosts)
	rng := rand.New(rand.NewPCG(seed, 0x63616e617279))
	members := map[int][]int{}
	for i, h := range hosts {
		members[h.Block] = append(members[h.Block], i)
	}
	places := make([]float64, len(hosts))
	for block := range len(members) {
		in := members[block]
		rng.Shuffle(len(in), func(i, j int) { in[i], in[j] = in[j], in[i] })
		slices.SortStableFunc(in, func(a, b int) int { return later(hosts[a]) - later(hosts[b]) })
		offset := rng.Float64()
		for rank, i := range in {
			places[i] = (float64(rank)+offset)/float64(len(in)) + 2*float64(later(hosts[i]))
		}
	}
	order := rng.Perm(len(hosts))
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case places[a] < places[b]:
			return -1
		case places[a] > places[b]:
			return 1
		}
		return 0
	})
	step := 0
	for n, i := range order {
		for step < len(steps) && n >= steps[step] {
			step++
		}
		hosts[i].Step = step
	}
}

func later(h Host) int {
	if h.compared() {
		return 0
	}
	return 1
}

// setBlocks numbers the combinations of facts; those of too few hosts make one
// block together.
func setBlocks(hosts []Host) {
	count := map[string]int{}
	key := func(h Host) string { return strings.Join(h.Facts, "\x00") }
	for _, h := range hosts {
		if h.compared() {
			count[key(h)]++
		}
	}
	numbers := map[string]int{}
	for i, h := range hosts {
		k := "1" + key(h)
		if count[key(h)] < smallest {
			k = "0"
		}
		if _, ok := numbers[k]; !ok {
			numbers[k] = len(numbers)
		}
		hosts[i].Block = numbers[k]
	}
}

// contrast are the hosts as they are compared at a step, without values.
func contrast(hosts []Host, step int) []stats.Unit {
	var units []stats.Unit
	for _, h := range hosts {
		if h.compared() {
			units = append(units, stats.Unit{Treated: h.Step <= step, Block: h.Block})
		}
	}
	return units
}
