package emulator

import (
	"fmt"
	"testing"
)

// BenchmarkCut is the cost of one segment that is cut out of a unit.
func BenchmarkCut(b *testing.B) {
	for _, n := range []int{1, 10, 44} {
		b.Run(fmt.Sprintf("segments=%d", n), func(b *testing.B) {
			u := tcp(44)
			s := shapeOf(u)
			head := make([]byte, vnetLen+maxHeaders)
			for b.Loop() {
				cut(head, u, s, 44-n, n, true)
			}
		})
	}
}
