package trial

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestFold: many notes of one kind are one line with their number; few, and
// those of no kind, stand by themselves.
func TestFold(t *testing.T) {
	notes := []Note{{Other, "a", "a is 1 here"}}
	for i := range 20 {
		notes = append(notes, Note{Refused, fmt.Sprintf("s%d", i), fmt.Sprintf("h: s%d is refused", i)})
	}
	notes = append(notes, Note{AtBoot, "b", "b counts from the next boot only"}, Note{Refused, "s0", "other: s0 is refused"})
	got := Fold(notes, false)
	if len(got) != 3 || got[0] != "a is 1 here" || !strings.HasPrefix(got[1], "20 settings are refused by the kernel and left out: s0, s1, s2, s3 and 16 more") {
		t.Errorf("%q", got)
	}
	if all := Fold(notes, true); len(all) != len(notes) || !slices.Contains(all, "h: s7 is refused") {
		t.Errorf("%q", all)
	}
}
