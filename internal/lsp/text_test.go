package lsp

import (
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"
)

var anyText = rapid.Map(rapid.SliceOf(rapid.SampledFrom([]string{"a", "b", "=", " ", "\n", "\n", "\r\n", "\r", "é", "€", "😀", "\xff"})),
	func(parts []string) string { return strings.Join(parts, "") })

// TestPositions holds that every beginning of a character survives the way to a
// position and back, in each encoding.
func TestPositions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := newText(anyText.Draw(t, "text"), rapid.SampledFrom([]string{encodingUTF8, encodingUTF16, encodingUTF32}).Draw(t, "encoding"))
		for i := range x.src + " " {
			inBreak := i > 0 && i < len(x.src) && x.src[i-1] == '\r' && x.src[i] == '\n'
			if got := x.offset(x.position(i)); got != i && !inBreak {
				t.Fatalf("%q: offset %d is %+v, which is offset %d", x.src, i, x.position(i), got)
			}
		}
	})
}

// TestApplyUTF16 compares an edit with one of UTF-16 units, made plainly.
func TestApplyUTF16(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := strings.ToValidUTF8(strings.ReplaceAll(anyText.Draw(t, "text"), "\r", ""), "?")
		lines := strings.Split(src, "\n")
		line := rapid.IntRange(0, len(lines)-1).Draw(t, "line")
		units := utf16.Encode([]rune(lines[line]))
		from := rapid.IntRange(0, len(units)).Draw(t, "from")
		to := rapid.IntRange(from, len(units)).Draw(t, "to")
		half := func(i int) bool { return i < len(units) && utf16.IsSurrogate(rune(units[i])) && units[i] >= 0xdc00 }
		if half(from) || half(to) {
			t.Skip("inside a character")
		}
		lines[line] = string(utf16.Decode(units[:from])) + "new" + string(utf16.Decode(units[to:]))
		got := newText(src, encodingUTF16).apply(contentChange{&textRange{position{line, from}, position{line, to}}, "new"})
		if want := strings.Join(lines, "\n"); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

// TestDifference holds that the edit between two texts makes the second of the
// first.
func TestDifference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyText.Draw(t, "a"), anyText.Draw(t, "b")
		if rapid.Bool().Draw(t, "related") {
			i := rapid.IntRange(0, len(a)).Draw(t, "at")
			b = a[:i] + b + a[i:]
		}
		x := newText(a, encodingUTF16)
		e := x.difference(b)
		if got := x.apply(contentChange{&e.Range, e.NewText}); got != b {
			t.Fatalf("%q to %q: %+v makes %q", a, b, e, got)
		}
	})
}

func TestPaths(t *testing.T) {
	for uri, want := range map[string]string{"file:///etc/sysctl.conf": "/etc/sysctl.conf", "file:///a%20b/../c%3Ad": "/c:d",
		"untitled:Untitled-1": "untitled:Untitled-1", "file://%zz": "file://%zz"} {
		if got, _ := pathOf(uri); got != want {
			t.Errorf("%s: %s", uri, got)
		}
	}
	if _, local := pathOf("vscode-remote://host/etc/sysctl.conf"); local {
		t.Error("a file of another machine is read here")
	}
}
