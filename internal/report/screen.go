package report

import (
	"fmt"
	"io"

	"github.com/wirerate/wirerate/internal/terminal"
)

// Screen is where text is shown. Nothing that a terminal obeys reaches it.
type Screen struct {
	io.Writer
	Columns int // how wide it is; 0 where it is no terminal
}

// Printf writes text; what cannot be written its Writer remembers.
func (s Screen) Printf(format string, args ...any) {
	_, _ = io.WriteString(s.Writer, terminal.Escape(fmt.Sprintf(format, args...)))
}

// Wrap writes text behind first, in lines that fit the terminal, all but the
// first behind rest. What is no terminal gets one line.
func (s Screen) Wrap(first, rest, text string) {
	if s.Columns > 0 {
		s.Printf("%s", terminal.Wrap(s.Columns, first, rest, text))
		return
	}
	s.Printf("%s%s\n", first, text)
}
