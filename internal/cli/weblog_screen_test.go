package cli

import (
	"fmt"
	"strings"
	"testing"
)

func TestShown(t *testing.T) {
	if err := shown(usagef("open a\x1b[31m\u202e\\x41.log: gone\nso what")); err.Error() != `open a\x1b[31m\u202e\x41.log: gone`+"\nso what" || err.(*exitError).status != exitUsage {
		t.Errorf("%q", err)
	}
	if err := shown(negative()); err.(*exitError).status != exitNegative || shown(nil) != nil {
		t.Errorf("%v", err)
	}
}

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
