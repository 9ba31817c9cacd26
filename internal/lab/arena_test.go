package lab

import (
	"encoding/binary"
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
		refused := 0
		for range 600 {
			if len(held) > 0 && rapid.IntRange(0, 9).Draw(rt, "drop") < 4 {
				i := rapid.SampledFrom([]int{0, len(held) / 2, len(held) - 1}).Draw(rt, "which")
				if got := int64(binary.NativeEndian.Uint64(a.mem[held[i]:])); got != held[i] {
					rt.Fatalf("the unit at %d was overwritten by the one at %d", held[i], got)
				}
				a.drop(held[i])
				held = append(held[:i], held[i+1:]...)
				continue
			}
			b, off := a.space()
			if b == nil {
				refused++
				continue
			}
			n := rapid.SampledFrom([]int{64, 20000, maxUnit}).Draw(rt, "size")
			binary.NativeEndian.PutUint64(b, uint64(off))
			a.keep(n)
			held = append(held, off)
		}
		for _, off := range held {
			a.drop(off)
		}
		if b, _ := a.space(); b == nil {
			rt.Fatal("no space in an empty arena")
		}
		if refused > 0 && len(held)*maxUnit < 3*chunkSize {
			rt.Fatalf("refused %d with %d units held", refused, len(held))
		}
	})
}
