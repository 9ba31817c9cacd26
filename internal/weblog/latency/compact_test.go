package latency

import (
	"math"
	"sort"
	"testing"

	"pgregory.net/rapid"
)

func TestCoarseBins(t *testing.T) {
	for i := range CoarseBins - 1 {
		lo, next := CoarseEdge(i), CoarseEdge(i+1)
		if lo >= next {
			t.Fatalf("bin %d: edges %d, %d", i, lo, next)
		}
		if a, b := CoarseOf[BinOf(lo)], CoarseOf[BinOf(next-1)]; int(a) != i || int(b) != i {
			t.Fatalf("bin %d [%d, %d): its ends are in %d and %d", i, lo, next, a, b)
		}
		if width := float64(next - lo); width > 1 && width/float64(lo) > 0.0101 {
			t.Fatalf("bin %d [%d, %d) is wider than 1%%", i, lo, next)
		}
	}
	if CoarseOf[NumBins-1] != CoarseBins-1 {
		t.Error("what is out of range is not in the last bin")
	}
	for width := uint64(1); width < MaxMicros/100; width *= 10 {
		for m := uint64(10); m < 100; m++ {
			if v := m * width; CoarseEdge(int(CoarseOf[BinOf(v)])) != v {
				t.Fatalf("%d us is not an edge", v)
			}
		}
	}
}

func (g *Group) addMicros(v uint64) {
	g.Enter(uint(CoarseOf[BinOf(v)]), v, 0)
}

func TestGroupAgainstSortedValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Uint64Range(0, MaxMicros-1), 1, 300).Draw(t, "values")
		var whole, left, right Group
		sum := uint64(0)
		for i, v := range values {
			sum += v
			whole.addMicros(v)
			if i%2 == 0 {
				left.addMicros(v)
			} else {
				right.addMicros(v)
			}
		}
		left.Merge(&right)
		sort.Slice(values, func(i, j int) bool { return values[i] < values[j] })
		if left.N != uint64(len(values)) || left.Sum != sum || left.Min != values[0] || left.Max != values[len(values)-1] {
			t.Fatalf("%d values with sum %d from %d to %d: %+v", len(values), sum, values[0], values[len(values)-1], left)
		}
		for k, v := range values {
			i, ok := left.Rank(uint64(k + 1))
			if j, _ := whole.Rank(uint64(k + 1)); !ok || i != j {
				t.Fatalf("rank %d: merged %d, whole %d", k+1, i, j)
			}
			if got := left.Value(i, 1); math.Abs(got-float64(v)) > 0.01*float64(v) {
				t.Fatalf("rank %d: %g, want %d within 1%%", k+1, got, v)
			}
		}
		edge := CoarseEdge(rapid.IntRange(0, CoarseBins-1).Draw(t, "edge"))
		want := sort.Search(len(values), func(i int) bool { return values[i] >= edge })
		if got := left.Under(edge); got != uint64(want) {
			t.Fatalf("under(%d) = %d, want %d", edge, got, want)
		}
	})
}

// TestGroupCarries counts further than a bin's 16 bits go.
func TestGroupCarries(t *testing.T) {
	var g, sum Group
	for range 200_000 {
		g.addMicros(5000)
	}
	g.addMicros(7000)
	for range 3 {
		sum.Merge(&g)
	}
	if n := sum.Under(6000); n != 600_000 || sum.N != 600_003 || g.Under(5000) != 0 || g.Under(6000) != 200_000 {
		t.Errorf("%d under 6 ms of %d, want 600000 of 600003", n, sum.N)
	}
	if bin, _ := sum.Rank(600_001); sum.Value(bin, 1000) != 7000 {
		t.Errorf("the 600001st is %g us, want 7000", sum.Value(bin, 1000))
	}
}
