package lint

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/wirerate/wirerate/internal/terminal"
)

// colours of a terminal (ECMA-48, SGR).
const (
	bold   = "\x1b[1m"
	red    = "\x1b[1;31m"
	yellow = "\x1b[1;33m"
	cyan   = "\x1b[1;36m"
	reset  = "\x1b[0m"
)

// maxShown is how much of a long line is shown, in bytes.
const maxShown = 160

// WriteText prints problems for people: place and message, the line with a
// caret below what is meant, the reason, and the correction.
func WriteText(w io.Writer, problems []Problem, colour bool) error {
	paint := func(style, text string) string {
		if !colour {
			return text
		}
		return style + text + reset
	}
	var b strings.Builder
	for _, p := range problems {
		style := map[Severity]string{Error: red, Warning: yellow, Info: cyan}[p.Severity]
		fmt.Fprintf(&b, "%s: %s %s [%s]\n", paint(bold, fmt.Sprintf("%s:%d:%d", terminal.Escape(p.File), p.Line, p.Column)),
			paint(style, string(p.Severity)+":"), terminal.Escape(p.Message), p.Code)
		if p.text != "" {
			line, marks := caret(p)
			number := fmt.Sprintf("%5d", p.Line)
			fmt.Fprintf(&b, "%s | %s\n%s | %s\n", number, line, strings.Repeat(" ", len(number)), paint(style, marks))
		}
		if p.Because != "" {
			fmt.Fprintf(&b, "      = %s\n", terminal.Escape(p.Because))
		}
		if p.Fix != nil {
			fmt.Fprintf(&b, "      = fix: %s\n", terminal.Escape(p.Fix.String()))
		}
		if b.Len() > 1<<16 {
			if _, err := io.WriteString(w, b.String()); err != nil {
				return err
			}
			b.Reset()
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// String says what the fix does.
func (f *Fix) String() string {
	switch f.Kind {
	case FixRename:
		return "write " + f.To
	case FixMove:
		return fmt.Sprintf("move it to %s as %s", f.To, f.Text)
	}
	return "comment the line out"
}

// caret returns the line as it is shown, with what is hidden escaped, and the
// marks below the problem's text.
func caret(p Problem) (line, marks string) {
	start := min(p.Column-1, len(p.text))
	end := min(start+p.width, len(p.text))
	from := 0
	if end > maxShown {
		from = max(0, start-20)
	}
	to := min(len(p.text), from+maxShown)
	end = min(end, to)
	line = terminal.Clean(p.text[from:to])
	if from > 0 {
		line = "…" + line
	}
	if to < len(p.text) {
		line += "…"
	}
	indent := utf8.RuneCountInString(terminal.Clean(p.text[from:start]))
	if from > 0 {
		indent++
	}
	return line, strings.Repeat(" ", indent) + "^" +
		strings.Repeat("~", max(0, utf8.RuneCountInString(terminal.Clean(p.text[start:end]))-1))
}

// Summary counts problems by severity, in words.
func Summary(res *Result) string {
	count := map[Severity]int{}
	for _, p := range res.Problems {
		count[p.Severity]++
	}
	files := plural(len(res.Files), "file")
	if len(res.Problems) == 0 {
		return "no problem in " + files
	}
	return fmt.Sprintf("%s, %s, %s in %s", plural(count[Error], "error"), plural(count[Warning], "warning"),
		plural(count[Info], "info"), files)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Document is the JSON form of a result.
type Document struct {
	Schema   int        `json:"schema"`
	Files    []FileInfo `json:"files"`
	Problems []Problem  `json:"problems"`
}

// JSON returns the result in the form of the JSON contract.
func (r *Result) JSON() Document {
	d := Document{Schema: 2, Files: r.Files, Problems: r.Problems}
	if d.Problems == nil {
		d.Problems = []Problem{}
	}
	if d.Files == nil {
		d.Files = []FileInfo{}
	}
	return d
}
