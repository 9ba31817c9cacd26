package diagnose

import "testing"

// TestEveryProcessor checks the mask in groups of 32 bits, as the kernel's bitmap files have them.
func TestEveryProcessor(t *testing.T) {
	for n, want := range map[int]string{0: "", 1: "1", 4: "f", 9: "1ff", 32: "ffffffff", 33: "1,ffffffff", 72: "ff,ffffffff,ffffffff"} {
		if mask, _ := everyProcessor(n); mask != want {
			t.Errorf("%d processors: %q, want %q", n, mask, want)
		}
	}
}
