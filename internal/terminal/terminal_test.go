package terminal

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

func TestClip(t *testing.T) {
	for _, c := range []struct {
		in    string
		width int
		want  string
	}{
		{"short", 10, "short"}, {"exactly", 7, "exactly"}, {"too long", 5, "too …"}, {"x", 0, ""}, {"x", -1, ""},
		{"漢字漢字", 5, "漢字…"}, {"漢字", 4, "漢字"}, {"e\u0301te\u0301", 3, "e\u0301te\u0301"},
		{"a\nb\tc", 10, "a b c"}, {"\x1b[31mred\u202e", 10, "[31mred"}, {"", 3, ""},
	} {
		if got := Clip(c.in, c.width); got != c.want {
			t.Errorf("Clip(%q, %d) = %q, want %q", c.in, c.width, got, c.want)
		}
	}
}

// Whatever the text, lines stay within their width and lose no word.
func TestWrap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("ab漢é\u0301 \t\n-\x1b\u202e👩‍🚀"))).Draw(t, "text")
		label := rapid.StringMatching(`[a-z漢]{0,90}`).Draw(t, "label")
		wrapped := Wrap(Columns, label+" ", "    ", text)
		for line := range strings.Lines(wrapped) {
			if w := ansi.StringWidth(strings.TrimSuffix(line, "\n")); w > Columns {
				t.Fatalf("%d wide: %q", w, line)
			}
		}
		if len(label) < 40 && !strings.HasSuffix(flat(wrapped), flat(Clean(text))) {
			t.Fatalf("%q lost something: %q", text, wrapped)
		}
		width := rapid.IntRange(-1, 12).Draw(t, "width")
		if got := ansi.StringWidth(Clip(text, width)); got > max(0, width) {
			t.Fatalf("Clip(%q, %d) is %d wide", text, width, got)
		}
	})
}

func flat(s string) string { return strings.Join(strings.Fields(s), "") }

func TestEscape(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"plain, ü and 漢\tas\nthey are", "plain, ü and 漢\tas\nthey are"}, {"", ""},
		{"\x1b[2J\a\r\x00", `\x1b[2J\a\r\x00`}, {"\x9b31m\xff", `\x9b31m\xff`}, {"\u009b\u202eabc\ufffd", `\u009b\u202eabc` + "\ufffd"},
		{`\x1b "stays" it's`, `\x1b "stays" it's`}, {"it's \x7f'", `it's \x7f'`},
	} {
		if got := Escape(c.in); got != c.want || Escape(got) != got {
			t.Errorf("Escape(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}
