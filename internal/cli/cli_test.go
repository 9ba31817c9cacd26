package cli

import (
	"bytes"
	"strings"
	"testing"
	"unicode"
)

// TestHostileNames gives verbs a name that a terminal would obey: their
// messages show it, and it comes out harmless.
func TestHostileNames(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	const name = "a\x1b]0;owned\x07\u202eb"
	for _, args := range [][]string{
		{"lint", name}, {"explain", name}, {"explain", "--search", name}, {"calc", name}, {"calc", "bdp", name + "=1"}, {name},
		{"inspect", name}, {"inspect", "--from", name}, {"capture", name, "-o", t.TempDir() + "/c"}, {"status", name}, {"report", name},
		{"plan", name, "--path", "rate=1gbit,rtt=1ms", "--role", "bulk"}, {"plan", "--path", name, "--role", "bulk"},
		{"plan", "--path", "rate=1gbit,rtt=1ms", "--role", "bulk", "--os", "linux", "--version", "6.12", "--memory", "1GiB", "--cores", "1", "--compare", name},
		{"apply", name}, {"verify", name}, {"measure", "--read", name}, {"measure", name, "--lab", "rate=1gbit"}, {"export", name},
		{"trial", "--arm", name, "--arm", "plan", "--lab", name}, {"weblog", name}, {"history", "compare", name, name},
	} {
		var out, messages bytes.Buffer
		status := Run(t.Context(), args, &Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &messages})
		if status != exitUsage && status != exitMissing {
			t.Errorf("%q: status %d", args, status)
		}
		for line := range strings.Lines(out.String() + messages.String()) {
			if strings.ContainsFunc(strings.TrimSuffix(line, "\n"), func(r rune) bool { return !unicode.IsPrint(r) }) {
				t.Errorf("%q: %q", args, line)
			}
		}
		if messages.Len() == 0 {
			t.Errorf("%q: no message", args)
		}
	}
}

func TestWrapWithoutTerminal(t *testing.T) {
	var out bytes.Buffer
	env := &Env{Stdout: &out}
	long := strings.Repeat("words ", 40) + "\x1b[2Jend"
	env.wrap("drift  ", "  ", long)
	if want := "drift  " + strings.ReplaceAll(long, "\x1b", `\x1b`) + "\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}
