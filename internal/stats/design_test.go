package stats

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestPlackettBurman(t *testing.T) {
	// Runs of the folded designs for 10, 20 and 40 settings are those of the
	// design tables: 24, 48 and 88.
	for factors, runs := range map[int]int{1: 8, 3: 8, 4: 16, 7: 16, 8: 24, 10: 24, 11: 24, 20: 48, 27: 56, 31: 64, 35: 72, 39: 80, 40: 88} {
		if got := len(PlackettBurman(factors)); got != runs {
			t.Errorf("%d settings take %d runs, want %d", factors, got, runs)
		}
	}
	for _, factors := range []int{-1, 0, MaxFactors + 1} {
		if PlackettBurman(factors) != nil {
			t.Errorf("a design for %d settings", factors)
		}
	}
	for factors := 1; factors <= MaxFactors; factors++ {
		checkFolded(t, PlackettBurman(factors), factors)
	}
}

// checkFolded tests that settings are balanced, orthogonal to each other and to
// all products of two (resolution IV), and that rows are mirrored.
func checkFolded(t *testing.T, design [][]int8, factors int) {
	t.Helper()
	order := len(design) / 2
	for i, row := range design {
		if len(row) != factors {
			t.Fatalf("%d settings: row %d has %d", factors, i, len(row))
		}
	}
	for a := range factors {
		if design[0][a] != 1 || design[order][a] != -1 {
			t.Fatalf("%d settings: first rows of the halves are not all on and all off", factors)
		}
		level := 0
		for _, row := range design {
			level += int(row[a])
		}
		if level != 0 {
			t.Fatalf("%d settings: %d is not balanced", factors, a)
		}
		for b := range a {
			product := 0
			for _, row := range design {
				product += int(row[a]) * int(row[b])
			}
			if product != 0 {
				t.Fatalf("%d settings: %d and %d are not orthogonal", factors, a, b)
			}
			for c := range factors {
				triple := 0
				for _, row := range design {
					triple += int(row[a]) * int(row[b]) * int(row[c])
				}
				if triple != 0 {
					t.Fatalf("%d settings: %d is aliased with %d x %d", factors, c, a, b)
				}
			}
		}
	}
}

func TestHadamardOrders(t *testing.T) {
	for order := 4; order <= 48; order += 4 {
		h := hadamard(order)
		if len(h) != order {
			t.Fatalf("no matrix of order %d", order)
		}
		for i := range h {
			for j := range h {
				product := 0
				for k := range h {
					product += int(h[i][k]) * int(h[j][k])
				}
				if (i == j && product != order) || (i != j && product != 0) {
					t.Fatalf("order %d: rows %d and %d give %d", order, i, j, product)
				}
			}
		}
	}
	for _, order := range []int{3, 6, 14} {
		if hadamard(order) != nil {
			t.Errorf("a matrix of order %d", order)
		}
	}
}

func TestSchedule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		arms := rapid.IntRange(1, 6).Draw(t, "arms")
		blocks := rapid.IntRange(1, 20).Draw(t, "blocks")
		seed := rapid.Uint64().Draw(t, "seed")
		schedule := Schedule(arms, blocks, seed)
		if !reflect.DeepEqual(schedule, Schedule(arms, blocks, seed)) {
			t.Fatal("the same seed gives another order")
		}
		for _, block := range schedule {
			half := slices.Sorted(slices.Values(block[:arms]))
			mirrored := slices.Clone(block)
			slices.Reverse(mirrored)
			if !slices.Equal(half, allSettings(arms)) || !slices.Equal(mirrored, block) {
				t.Fatalf("block %v", block)
			}
		}
		if len(schedule) != blocks {
			t.Fatalf("%d blocks", len(schedule))
		}
	})
	if Schedule(0, 3, 1) != nil || Schedule(2, 0, 1) != nil {
		t.Error("a schedule of nothing")
	}
	different := map[string]bool{}
	for seed := range uint64(20) {
		different[fmt.Sprint(Schedule(2, 8, seed))] = true
	}
	if len(different) < 10 {
		t.Errorf("20 seeds give %d orders", len(different))
	}
}

func TestShapleyPublished(t *testing.T) {
	// The glove game: players 0 and 1 hold left gloves, 2 the right one.
	gloves := Shapley(3, func(set uint64) float64 {
		if set&4 != 0 && set&3 != 0 {
			return 1
		}
		return 0
	})
	// The airport game of S. C. Littlechild and G. Owen (1973): a runway costs
	// as much as the largest aircraft needs, here 8, 11, 13 and 18.
	airport := Shapley(4, func(set uint64) float64 {
		longest := 0.0
		for i, cost := range []float64{8, 11, 13, 18} {
			if set>>i&1 == 1 {
				longest = cost
			}
		}
		return longest
	})
	for i, want := range []float64{1.0 / 6, 1.0 / 6, 2.0 / 3} {
		near(t, "glove share", gloves[i], want, 1e-12)
	}
	for i, want := range []float64{2, 3, 4, 9} {
		near(t, "airport share", airport[i], want, 1e-12)
	}
	if Shapley(0, nil) != nil || Shapley(21, nil) != nil {
		t.Error("shares of a number of settings out of range")
	}
}

func TestShapleyProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 6).Draw(t, "k")
		values := rapid.SliceOfN(rapid.Float64Range(-10, 10), 1<<k, 1<<k).Draw(t, "values")
		dummy := rapid.IntRange(0, k-1).Draw(t, "dummy")
		value := func(set uint64) float64 { return values[set&^(1<<dummy)] }
		shares := Shapley(k, value)
		total := 0.0
		for _, s := range shares {
			total += s
		}
		if want := value(1<<k-1) - value(0); math.Abs(total-want) > 1e-9 {
			t.Fatalf("shares %v add up to %v, not %v", shares, total, want)
		}
		if math.Abs(shares[dummy]) > 1e-9 {
			t.Fatalf("a setting without effect has share %v", shares[dummy])
		}
	})
}

func BenchmarkShapley20(b *testing.B) {
	for b.Loop() {
		Shapley(20, func(set uint64) float64 { return float64(set) })
	}
}
