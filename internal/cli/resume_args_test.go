package cli

import (
	"io"
	"testing"
)

func TestVerbBehindFlags(t *testing.T) {
	root := newRootCmd(&Env{Stdout: io.Discard, Stderr: io.Discard})
	for _, c := range []struct {
		args []string
		verb string
	}{
		{[]string{"trial", "--arm", "current"}, "trial"},
		{[]string{"--ssh-config", "trial", "attribute", "--arm", "plan"}, "attribute"},
		{[]string{"--ssh-config=x", "tune"}, "tune"},
		{[]string{"no-such-verb"}, ""},
	} {
		if got := verbOf(root, c.args); got != c.verb {
			t.Errorf("%v: %q, want %q", c.args, got, c.verb)
		}
	}
}
