package cli

import (
	"bytes"
	"io"
	"os"

	"golang.org/x/term"
)

// clearScreen puts the cursor into the corner and clears what is there (ECMA-48: CUP,
// ED).
const clearScreen = "\x1b[H\x1b[2J"

// screenRows returns how many lines the terminal has.
func screenRows() int {
	if _, rows, err := term.GetSize(int(os.Stdout.Fd())); err == nil && rows > 1 {
		return rows
	}
	return 24
}

// topLines passes the first lines on: a picture that is drawn again and again must not
// scroll its beginning away.
type topLines struct {
	to   io.Writer
	left int
}

func (t *topLines) Write(p []byte) (int, error) {
	rest := p
	for t.left > 0 && len(rest) > 0 {
		end := bytes.IndexByte(rest, '\n') + 1
		if end == 0 {
			end = len(rest)
		} else {
			t.left--
		}
		if _, err := t.to.Write(rest[:end]); err != nil {
			return 0, err
		}
		rest = rest[end:]
	}
	return len(p), nil
}
