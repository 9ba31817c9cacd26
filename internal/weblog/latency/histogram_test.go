package latency

import (
	"math"
	"math/rand/v2"
	"sort"
	"testing"

	"pgregory.net/rapid"
)

func TestBinEdgesAreExact(t *testing.T) {
	for i := range maxBinEdge {
		lo, next := BinEdge(i), BinEdge(i+1)
		if lo >= next {
			t.Fatalf("bin %d: edges %d, %d", i, lo, next)
		}
		if BinOf(lo) != i || BinOf(next-1) != i {
			t.Fatalf("bin %d [%d, %d): binOf gives %d and %d", i, lo, next, BinOf(lo), BinOf(next-1))
		}
		if width := float64(next - lo); width > 1 && width/float64(lo) > 0.0101 {
			t.Fatalf("bin %d [%d, %d) is wider than 1%%", i, lo, next)
		}
	}
	for _, v := range []uint64{MaxMicros, MaxMicros + 1, math.MaxUint64} {
		if BinOf(v) != NumBins-1 {
			t.Errorf("binOf(%d) = %d, want the last bin", v, BinOf(v))
		}
	}
}

func TestThreeDigitThresholdsAreEdges(t *testing.T) {
	for width := uint64(1); width < MaxMicros/1000; width *= 10 {
		for m := uint64(100); m < 1000; m++ {
			if v := m * width; BinEdge(BinOf(v)) != v {
				t.Fatalf("%d us is not an edge", v)
			}
		}
	}
}

func TestHistAgainstSortedValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Uint64Range(0, MaxMicros-1), 1, 300).Draw(t, "values")
		var h, left, right Hist
		for i, v := range values {
			h.Add(v)
			if i%2 == 0 {
				left.Add(v)
			} else {
				right.Add(v)
			}
		}
		left.Merge(&right)
		sort.Slice(values, func(i, j int) bool { return values[i] < values[j] })
		for k, v := range values {
			i, ok := left.Rank(uint64(k + 1))
			if j, _ := h.Rank(uint64(k + 1)); !ok || i != j {
				t.Fatalf("rank %d: merged %d, whole %d", k+1, i, j)
			}
			got := h.Value(i, 1)
			if math.Abs(got-float64(v)) > 0.01*float64(v) {
				t.Fatalf("rank %d: %g, want %d within 1%%", k+1, got, v)
			}
		}
		edge := BinEdge(rapid.IntRange(0, maxBinEdge).Draw(t, "edge"))
		want := sort.Search(len(values), func(i int) bool { return values[i] >= edge })
		if got := h.Under(edge); got != uint64(want) {
			t.Fatalf("under(%d) = %d, want %d", edge, got, want)
		}
	})
}

func BenchmarkHistAdd(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	values := make([]uint64, 4096)
	for i := range values {
		values[i] = uint64(math.Exp(r.NormFloat64()*1.5+3)) * 1000
	}
	var h Hist
	for i := 0; b.Loop(); i++ {
		h.Add(values[i%len(values)])
	}
}
