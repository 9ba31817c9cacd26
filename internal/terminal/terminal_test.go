package terminal

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

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
		{"a\nb\tc", 10, "a b c"}, {"\x1b[31mred\u202e", 20, `\x1b[31mred\u202e`}, {"", 3, ""},
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
		{"zero\u200bwidth\u2060\ufeff \U000e0041 \ufe0f\U000e0100 \u3164\u034f \u00a0", `zero\u200bwidth\u2060\ufeff \U000e0041 \ufe0f\U000e0100 \u3164\u034f \u00a0`},
		{"plain, ü and 漢\tas\nthey are", "plain, ü and 漢\tas\nthey are"}, {"", ""},
		{"\x1b[2J\a\r\x00", `\x1b[2J\a\r\x00`}, {"\x9b31m\xff", `\x9b31m\xff`}, {"\u009b\u202eabc\ufffd", `\u009b\u202eabc` + "\ufffd"},
		{`\x1b "stays" it's`, `\x1b "stays" it's`}, {"it's \x7f'", `it's \x7f'`},
	} {
		if got := Escape(c.in); got != c.want || Escape(got) != got {
			t.Errorf("Escape(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

// Whatever the text, nothing hidden is left of it, and escaping it again
// changes nothing.
func TestNothingHidden(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.RuneFrom([]rune("a\\\x1b\u0085\u202e\u2066\u200b\u00ad\ufeff\U000e0020\r\n\t\x7f"))),
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "text")
		for name, out := range map[string]string{"Escape": Escape(text), "Clean": Clean(text), "Wrap": Wrap(80, "", "", text), "Clip": Clip(text, 60)} {
			for _, r := range out {
				if Hidden(r) && r != '\n' && (r != '\t' || name != "Escape") {
					t.Fatalf("%s leaves %U in %q", name, r, out)
				}
			}
			if Escape(out) != out {
				t.Fatalf("%s: %q is escaped again", name, out)
			}
		}
		data, err := JSON(map[string]any{text: []any{text, json.RawMessage(`"` + "\u202e\x7f\u200b" + `"`)}}, " ")
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range string(data) {
			if Hidden(r) && r != '\n' || r == utf8.RuneError {
				t.Fatalf("JSON leaves %U in %q", r, data)
			}
		}
		var back map[string][]string
		if utf8.ValidString(text) {
			if err := json.Unmarshal(data, &back); err != nil || !slices.Equal(back[text], []string{text, "\u202e\x7f\u200b"}) {
				t.Fatalf("%q is read back as %q, %v", text, back, err)
			}
		}
	})
}
