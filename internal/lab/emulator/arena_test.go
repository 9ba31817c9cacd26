package emulator

import (
	"encoding/binary"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// No unit is overwritten while it is referred to, and what is given back is
// used again.
func TestArenaKeepsWhatIsInUse(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a, err := newArena(6 * chunkSize)
		if err != nil {
			rt.Fatal(err)
		}
		defer a.release()
		var held []int64
		written := map[int64]uint64{}
		give := func(off int64) {
			if binary.NativeEndian.Uint64(a.mem[off:]) != written[off] {
				rt.Fatalf("the unit at %d was overwritten", off)
			}
			a.drop(off)
		}
		refused := 0
		for step := range uint64(600) {
			if len(held) > 0 && rapid.IntRange(0, 9).Draw(rt, "drop") < 4 {
				i := rapid.SampledFrom([]int{0, len(held) / 2, len(held) - 1}).Draw(rt, "which")
				give(held[i])
				held = append(held[:i], held[i+1:]...)
				continue
			}
			b, off := a.space()
			if b == nil {
				refused++
				continue
			}
			n := rapid.SampledFrom([]int{64, 20000, maxUnit}).Draw(rt, "size")
			binary.NativeEndian.PutUint64(b, step)
			if slices.Contains(held, off) {
				rt.Fatalf("the place at %d is given twice", off)
			}
			written[off] = step
			a.keep(n)
			held = append(held, off)
		}
		for _, off := range held {
			give(off)
		}
		if b, _ := a.space(); b == nil {
			rt.Fatal("no space in an empty arena")
		}
		if refused > 0 && len(held)*maxUnit < 3*chunkSize {
			rt.Fatalf("refused %d with %d units held", refused, len(held))
		}
	})
}
