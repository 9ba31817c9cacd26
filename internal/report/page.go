package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/wirerate/wirerate/internal/terminal"
)

// page collects lines of text that stay within its width. Values come from hosts
// and files: control characters never reach the terminal.
type page struct {
	buf     bytes.Buffer
	columns int // of the terminal; 0: terminal.Columns
}

func (p *page) width() int { return cmp.Or(p.columns, terminal.Columns) }

// flush writes the page; a failed write of standard output has no better place
// to be reported than the exit of the pipe that caused it.
func (p *page) flush(w io.Writer) { _, _ = w.Write(p.buf.Bytes()) }

func (p *page) blank() { p.buf.WriteByte('\n') }

// line writes one line, cut with an ellipsis when it is too long.
func (p *page) line(format string, args ...any) {
	p.buf.WriteString(strings.TrimRight(terminal.Clip(fmt.Sprintf(format, args...), p.width()), " "))
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
	lines := terminal.Lines(text, p.width()-14, p.width()-14)
	for i, line := range lines {
		if i+1 < len(lines) {
			line += ` \`
		}
		p.line("  %-9s %s", label, line)
		label = ""
	}
}

// wrap writes text in lines that fit, the first one after first, the others
// after rest.
func (p *page) wrap(first, rest, text string) {
	p.buf.WriteString(terminal.Wrap(p.width(), first, rest, text))
}

// pad fills s with spaces to width cells, on the left when right is set.
func pad(s string, width int, right bool) string {
	s = terminal.Clip(s, width)
	fill := strings.Repeat(" ", max(0, width-ansi.StringWidth(s)))
	if right {
		return fill + s
	}
	return s + fill
}
