package logline

import (
	"strings"
	"unicode/utf8"

	"github.com/wirerate/wirerate/internal/terminal"
)

// MaxShown is how many bytes of a log line a message quotes.
const MaxShown = 160

// Escape writes hostile text as [terminal.Escape] does, in one line, and backslashes
// twice, so that what is an escape is not mistaken for what a client sent. At most limit
// bytes of the text are used.
func Escape(text string, limit int) string {
	end := ""
	if len(text) > limit {
		for cut := limit; limit > 0 && cut-limit < utf8.UTFMax-1 && !utf8.RuneStart(text[limit]); {
			limit--
		}
		text, end = text[:limit], "…"
	}
	return terminal.Escape(inOneLine.Replace(text)) + end
}

var inOneLine = strings.NewReplacer(`\`, `\\`, "\a", `\x07`, "\b", `\x08`, "\t", `\x09`, "\n", `\x0a`, "\v", `\x0b`,
	"\f", `\x0c`, "\r", `\x0d`)
