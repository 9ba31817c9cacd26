package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// columns is the width of everything written for a terminal.
const columns = 80

// minText is the least room for text beside a label.
const minText = 20

// page collects lines of text that stay within columns. Values come from
// hosts and files: control characters never reach the terminal.
type page struct{ buf bytes.Buffer }

// flush writes the page; a failed write of standard output has no better place
// to be reported than the exit of the pipe that caused it.
func (p *page) flush(w io.Writer) { _, _ = w.Write(p.buf.Bytes()) }

func (p *page) blank() { p.buf.WriteByte('\n') }

// line writes one line, cut with an ellipsis when it is too long.
func (p *page) line(format string, args ...any) {
	p.buf.WriteString(strings.TrimRight(Clip(fmt.Sprintf(format, args...), columns), " "))
	p.blank()
}

// heading starts a section.
func (p *page) heading(s string) {
	p.blank()
	p.line("%s", s)
}

// field writes a label and wrapped text beside it; an empty text is left out.
func (p *page) field(label, text string) {
	if text != "" {
		p.wrap(fmt.Sprintf("  %-9s ", label), strings.Repeat(" ", 12), text)
	}
}

// command writes a command beside its label so that it can be copied: lines
// are continued as a shell takes them.
func (p *page) command(label, text string) {
	if text == "" {
		return
	}
	lines := wrapped(clean(text), columns-14, columns-14)
	for i, line := range lines {
		if i+1 < len(lines) {
			line += ` \`
		}
		p.line("  %-9s %s", label, line)
		label = ""
	}
}

// wrap writes text in lines of at most columns, the first one after first, the
// others after rest.
func (p *page) wrap(first, rest, text string) {
	if ansi.StringWidth(first) > columns-minText {
		p.line("%s", first)
		first = rest
	}
	prefix := first
	for _, line := range wrapped(clean(text), columns-ansi.StringWidth(rest), columns-ansi.StringWidth(first)) {
		p.buf.WriteString(strings.TrimRight(clean(prefix)+line, " "))
		p.blank()
		prefix = rest
	}
}

// wrapped breaks text at spaces into lines of at most width cells, the first
// one of at most first, both at least 2; longer words are broken where they
// must be.
func wrapped(text string, width, first int) []string {
	var lines []string
	line, limit := "", first
	for _, word := range strings.Fields(text) {
		if line != "" && ansi.StringWidth(line)+1+ansi.StringWidth(word) <= limit {
			line += " " + word
			continue
		}
		if line != "" {
			lines, limit = append(lines, line), width
		}
		for ansi.StringWidth(word) > limit {
			head := ansi.Truncate(word, limit, "")
			lines, word, limit = append(lines, head), word[len(head):], width
		}
		line = word
	}
	if line != "" || lines == nil {
		lines = append(lines, line)
	}
	return lines
}

// Clip cuts s to width cells of a terminal, with an ellipsis where something
// is missing. Line breaks and tabs become spaces, other control characters
// disappear.
func Clip(s string, width int) string {
	s = clean(s)
	if width <= 0 {
		return ""
	}
	return ansi.Truncate(s, width, "…")
}

// clean takes out what could steer a terminal or reorder its text.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, s)
}

// pad fills s with spaces to width cells, on the left when right is set.
func pad(s string, width int, right bool) string {
	s = Clip(s, width)
	fill := strings.Repeat(" ", max(0, width-ansi.StringWidth(s)))
	if right {
		return fill + s
	}
	return s + fill
}
