package conffile

import (
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// arithmetic is an expansion of numbers alone, and variable one of a variable.
var (
	arithmetic = regexp.MustCompile(`\$\(\([ \t]*([0-9]+(?:[ \t]*[*+-][ \t]*[0-9]+)*)[ \t]*\)\)`)
	variable   = regexp.MustCompile(`\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})`)
	byDefault  = regexp.MustCompile(`\$\{([A-Za-z0-9_]+):?-([^${}\x60"']*)\}`)
)

// constants puts in what the shell does where the text alone tells it: sums of
// numbers, variables that were set to a plain text before and nowhere else, and the
// defaults of others.
// The words themselves are left as they are when there is nothing to do.
func (s *scanner) constants(words []word) []word {
	out := words
	for i, w := range words {
		if !w.expands || len(w.text) > maxPath || strings.HasPrefix(s.text(w.span), "'") {
			continue
		}
		text, known := s.constant(w.text)
		if !known {
			continue
		}
		if len(out) > 0 && &out[0] == &words[0] {
			out = slices.Clone(words)
		}
		out[i].text, out[i].expands = text, false
	}
	return out
}

// constant returns a text with its expansions; known is false when one of them is
// not.
func (s *scanner) constant(text string) (out string, known bool) {
	text = arithmetic.ReplaceAllStringFunc(text, func(m string) string {
		if n, ok := product(arithmetic.FindStringSubmatch(m)[1]); ok {
			return strconv.FormatInt(n, 10)
		}
		return m
	})
	known = true
	text = byDefault.ReplaceAllStringFunc(text, func(m string) string {
		parts := byDefault.FindStringSubmatch(m)
		if value, set := s.variables[parts[1]]; set {
			return value
		}
		return parts[2] // what is used where nothing else is given
	})
	text = variable.ReplaceAllStringFunc(text, func(m string) string {
		value, set := s.variables[strings.Trim(m, "${}")]
		known = known && set && !strings.ContainsAny(value, "$`")
		return value
	})
	return text, known && !strings.ContainsAny(text, "$`") && len(text) <= maxPath
}

// product works out numbers with *, + and - between them.
func product(text string) (sum int64, ok bool) {
	term, sign := int64(1), int64(1)
	pending := byte('*')
	for text != "" {
		text = strings.TrimLeft(text, " \t")
		n := strings.IndexAny(text, "*+- \t")
		if n < 0 {
			n = len(text)
		}
		v, err := strconv.ParseInt(text[:n], 10, 32) // so that a product of two cannot overflow
		if err != nil {
			return 0, false
		}
		switch pending {
		case '*':
			if term > 1<<31 {
				return 0, false
			}
			term *= v
		default:
			sum, term, sign = sum+sign*term, v, 1
			if pending == '-' {
				sign = -1
			}
		}
		text = strings.TrimLeft(text[n:], " \t")
		if text != "" {
			pending, text = text[0], text[1:]
		}
	}
	return sum + sign*term, true
}
