package cli

import (
	"fmt"
	"strings"
	"testing"
)

func TestTopLines(t *testing.T) {
	for _, c := range []struct {
		rows        int
		parts, want string
	}{{2, "a\n|b|\nc\n", "a\nb\n"}, {3, "a\nb\nc\n|d", "a\nb\nc\n"}, {1, "no end", "no end"}, {0, "a\n", ""}} {
		var b strings.Builder
		w := &topLines{to: &b, left: c.rows}
		for part := range strings.SplitSeq(c.parts, "|") {
			if n, err := fmt.Fprint(w, part); err != nil || n != len(part) {
				t.Fatalf("%d bytes of %q written: %v", n, part, err)
			}
		}
		if b.String() != c.want {
			t.Errorf("%d lines of %q: %q, want %q", c.rows, c.parts, b.String(), c.want)
		}
	}
}
