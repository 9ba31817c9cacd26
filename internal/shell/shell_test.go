package shell

import (
	"os/exec"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestRealShell gives words to a real shell, which prints them again, and
// nothing else may happen to them.
func TestRealShell(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no sh: words are not tried")
	}
	wild := rapid.SampledFrom([]string{"$(echo x)", "`echo x`", "'", "''", `\`, `\'`, "\n", ";", "a b", "~", "*", "#", "!", "$HOME", "", "-n", "\r", "\xff", "ä", "\u202e", "&&", "|", "{a,b}", "=", strings.Repeat("'", 300)})
	rapid.Check(t, func(r *rapid.T) {
		var words []string
		for range rapid.IntRange(1, 20).Draw(r, "count") {
			words = append(words, strings.Join(rapid.SliceOfN(rapid.OneOf(wild, rapid.String()), 1, 3).Draw(r, "parts"), ""))
		}
		for name, join := range map[string]func(...string) string{"Join": Join, "QuoteAll": QuoteAll} {
			out, err := exec.Command(sh, "-c", "printf '%s\\0' "+join(words...)).Output()
			want := strings.ReplaceAll(strings.Join(words, "\x01"), "\x00", "")
			want = strings.ReplaceAll(want, "\x01", "\x00") + "\x00"
			if strings.Contains(strings.Join(words, ""), "\x01") {
				continue
			}
			if err != nil || string(out) != want {
				r.Fatalf("%s: %q gives %q, %v", name, words, out, err)
			}
		}
	})
}

// TestWord leaves alone what people read every day.
func TestWord(t *testing.T) {
	for s, want := range map[string]string{"eth0": "eth0", "rate=1gbit,rtt=80ms": "rate=1gbit,rtt=80ms", "ssh://root@host:22/x": "ssh://root@host:22/x", "": "''", "a b": "'a b'",
		"it's": `'it'\''s'`, "~": "'~'", "ü": "'ü'", "a\x00b": "'ab'"} {
		if got := Word(s); got != want {
			t.Errorf("%q: %s, want %s", s, got, want)
		}
	}
}
