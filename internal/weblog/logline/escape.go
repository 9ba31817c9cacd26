package logline

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/wirerate/wirerate/internal/terminal"
)

// MaxShown is how many bytes of a log line a message quotes.
const MaxShown = 160

// Escape makes hostile text safe to print on a terminal: control characters,
// bytes that are not UTF-8, and the invisible and direction-changing characters
// become \x and \u escapes. At most limit bytes of the text are used.
func Escape(text string, limit int) string {
	cut := len(text) > limit
	if cut {
		text = text[:limit]
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			if cut && i > limit-utf8.UTFMax {
				n = limit // the cut fell into a character
				break
			}
			b.WriteString(`\x` + hex2(text[i]))
		case r < 0x20 || r == 0x7f:
			b.WriteString(`\x` + hex2(text[i]))
		case r == '\\':
			b.WriteString(`\\`)
		case terminal.Hidden(r):
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		default:
			b.WriteRune(r)
		}
		i += n
	}
	if cut {
		b.WriteString("…")
	}
	return b.String()
}

func hex2(c byte) string {
	const digits = "0123456789abcdef"
	return string([]byte{digits[c>>4], digits[c&15]})
}
