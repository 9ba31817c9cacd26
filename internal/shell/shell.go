// Package shell writes words for a POSIX shell. Everything that becomes part
// of a script or of a command to paste goes through it.
package shell

import "strings"

// Quote makes one word of s, always in quotation marks: nothing in it is
// expanded or ends it. A shell has no word with a NUL byte: it is left out.
func Quote(s string) string {
	return "'" + strings.ReplaceAll(strings.ReplaceAll(s, "\x00", ""), "'", `'\''`) + "'"
}

// Word makes one word of s, without quotation marks where it needs none.
func Word(s string) string {
	if s == "" || strings.ContainsFunc(s, special) {
		return Quote(s)
	}
	return s
}

// special tells the characters that a shell may take for something else, also
// at the beginning of a word and in an assignment's place; '=' is none behind a
// command's name.
func special(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_=.,:/+@%", r))
}

// Join makes a command of its words, for people to read.
func Join(words ...string) string { return join(words, Word) }

// QuoteAll makes a command of its words, each in quotation marks.
func QuoteAll(words ...string) string { return join(words, Quote) }

func join(words []string, quote func(string) string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quote(w)
	}
	return strings.Join(quoted, " ")
}
