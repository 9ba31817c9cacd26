package conffile

import (
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// kernelWord is an argument of the kernel as scripts write it into GRUB's file.
var kernelWord = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*(=[A-Za-z0-9_.,:/@+-]*)?$`)

// grubArguments returns the kernel arguments that a substitution of sed's puts into
// GRUB_CMDLINE_LINUX, whichever delimiter it has.
func (s *scanner) grubArguments(w word) []word {
	from, to := w.span.Start, w.span.End
	if to-from > 2 && (s.src[from] == '\'' || s.src[from] == '"') {
		from, to = from+1, to-1
	}
	if address := sedAddress.FindString(s.src[from:to]); address != "" {
		if strings.Contains(address, "GRUB_CMDLINE_LINUX") {
			return s.replacement(from+len(address), to, w.line)
		}
	}
	if !strings.Contains(s.src[from:to], "GRUB_CMDLINE_LINUX") {
		return nil
	}
	return s.replacement(from, to, w.line)
}

// sedAddress is the address of a command of sed, with blanks behind it.
var sedAddress = regexp.MustCompile(`^/[^/\n]*/[ \t]*\{?[ \t]*`)

// replaced returns what a substitution of sed's puts in.
func (s *scanner) replaced(from, to int) (span Span, ok bool) {
	if to-from < 4 || s.src[from] != 's' {
		return span, false
	}
	var bounds []int
	for i := from + 2; i < to && len(bounds) < 2; i++ {
		switch s.src[i] {
		case '\\':
			i++
		case s.src[from+1]:
			bounds = append(bounds, i)
		}
	}
	if len(bounds) < 2 {
		return span, false
	}
	return Span{bounds[0] + 1, bounds[1]}, true
}

// plainLine is a replacement that is a whole line of sysctl.conf.
var plainLine = regexp.MustCompile(`^[a-z][a-z0-9_]*(?:[./][-A-Za-z0-9_]+)+[ \t]*=[ \t]*[0-9A-Za-z_ \t.-]+$`)

// replacedLine is the line of sysctl.conf that a substitution of sed's writes.
func (s *scanner) replacedLine(w word) (span Span, ok bool) {
	text := s.text(w.span)
	if len(text) < 6 || text[0] != '\'' && text[0] != '"' || text[0] != text[len(text)-1] {
		return span, false
	}
	span, ok = s.replaced(w.span.Start+1, w.span.End-1)
	return span, ok && plainLine.MatchString(s.text(span))
}

// replacement returns the kernel arguments in what a substitution of sed puts in.
func (s *scanner) replacement(from, to, line int) []word {
	put, ok := s.replaced(from, to)
	if !ok {
		return nil
	}
	from, to = put.Start, put.End
	if i := strings.Index(s.src[from:to], "GRUB_CMDLINE_LINUX"); i >= 0 {
		if j := strings.IndexByte(s.src[from+i:to], '='); j >= 0 {
			from += i + j + 1
		}
	}
	var words []word
	for from < to {
		end := from
		for end < to && s.src[end] != ' ' && s.src[end] != '\t' {
			end++
		}
		if span := s.bare(Span{from, end}); kernelWord.MatchString(s.text(span)) {
			words = append(words, word{span: span, text: s.text(span), line: line})
		}
		from = end + 1
	}
	return words
}

// bare takes quotes and what stands for parts of the old line off a word of a
// replacement: &, \1.
func (s *scanner) bare(span Span) Span {
	for span.Start < span.End && strings.IndexByte(`"'&\`, s.src[span.Start]) >= 0 {
		digit := span.Start + 1
		if s.src[span.Start] == '\\' && digit < span.End && s.src[digit] >= '0' && s.src[digit] <= '9' {
			span.Start++
		}
		span.Start++
	}
	for span.End > span.Start {
		last := span.End - 1
		switch {
		case strings.IndexByte(`"'&\`, s.src[last]) >= 0:
			span.End--
		case s.src[last] >= '0' && s.src[last] <= '9' && last > span.Start && s.src[last-1] == '\\':
			span.End -= 2
		default:
			return span
		}
	}
	return span
}

// argumentOptions are those of grubby, kernelstub and rpm-ostree that arguments of the kernel stand behind.
var argumentOptions = []string{"--args", "-a", "--add-options", "--append", "--append-if-missing"}

// grubbyCommand reads the kernel arguments that such a command adds.
func (s *scanner) grubbyCommand(words []word, base Entry) {
	for i, w := range words {
		option, _, joined := strings.Cut(s.text(w.span), "=")
		from := w.span.Start + len(option) + 1
		switch {
		case w.expands:
			continue
		case joined && slices.Contains(argumentOptions, option):
		case i > 0 && slices.Contains(argumentOptions, words[i-1].text):
			from = w.span.Start
		default:
			continue
		}
		for _, argument := range s.fields(from, w.span.End, w.line) {
			if span := s.bare(argument.span); kernelWord.MatchString(s.text(span)) {
				argument.span, argument.text = span, s.text(span)
				s.kernelArguments([]word{argument}, Entry{Raw: base.Raw})
			}
		}
	}
}
