package conffile

import (
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// gluedDomain is the domain of all users with the type behind it.
var gluedDomain = regexp.MustCompile(`^\*(?:soft|hard)$`)

// limits reads limits.conf and limits.d as pam_limits does (parse_config_file in
// modules/pam_limits/pam_limits.c): '#' begins a comment anywhere, the first four
// words of a line are domain, type, item and value, and "domain -" alone takes the
// domain out of all limits. Entries are named limits:TYPE/ITEM, with hard for '-',
// which sets both.
func (s *scanner) limits() {
	s.lines(textStart(s.src), len(s.src), 1, func(line, from, to int) bool {
		s.limitsLine(line, from, to)
		return true
	})
}

func (s *scanner) limitsLine(line, from, to int) {
	raw := Span{from, trimCR(s.src, from, to)}
	if i := strings.IndexByte(s.src[from:to], '#'); i >= 0 {
		to = from + i
	}
	words := s.fields(from, to, line)
	switch {
	case len(words) == 0 || len(words) == 2 && words[1].text[0] == '-':
		return
	case len(words) == 3 && gluedDomain.MatchString(words[0].text):
		s.rejected(Reject{Line: line, Span: words[0].span, certain: true,
			Reason:  "not a limit: a blank is missing between the domain and the type, as in * " + words[0].text[1:],
			Because: "pam_limits skips the line."})
		return
	case len(words) < 4:
		s.reject(line, Span{words[0].span.Start, words[len(words)-1].span.End},
			"not a limit: domain, type (soft, hard or -), item and value are expected")
		return
	}
	kind, item, value := strings.ToLower(words[1].text), strings.ToLower(words[2].text), words[3]
	if kind == "-" {
		kind = "hard"
	}
	key := Span{words[0].span.Start, words[2].span.End}
	s.emit(Entry{Key: s.text(key), Name: "limits:" + kind + "/" + item, Value: strings.ToLower(value.text), Line: line,
		KeySpan: key, ValueSpan: value.span, Raw: raw})
}
