package conffile

import (
	"net/netip"
	"strings"
)

// myGate reads OpenBSD's mygate as netstart does (mygate(5)): each line is the address of a gateway, or a command behind
// '!'. Entries are mygate:inet and mygate:inet6.
func (s *scanner) myGate() {
	seen := map[string]bool{}
	s.lines(textStart(s.src), len(s.src), 1, func(line, from, to int) bool {
		words := s.fields(from, to, line)
		if len(words) == 0 || words[0].text[0] == '#' {
			return true
		}
		w := words[0]
		if w.text[0] == '!' {
			s.script(w.span.Start+1, to, line)
			return true
		}
		plain, _, _ := strings.Cut(w.text, "%")
		family := "inet"
		if strings.Contains(w.text, ":") {
			family = "inet6"
		}
		_, err := netip.ParseAddr(plain)
		switch {
		case err != nil && strings.Trim(plain, "0123456789./:abcdef") == "" || w.text == "default" || w.text == "gateway":
			s.rejected(Reject{Line: line, Span: w.span, Reason: "this is not the address of a gateway, which must stand alone on its line",
				Because: "netstart passes the line to route, which refuses it, so the host has no default route."})
		case seen[family]:
			s.rejected(Reject{Line: line, Span: w.span, Idle: true, Reason: "only the first gateway of each address family is used",
				Because: "netstart stops at the first one that route takes. Several default routes are added by route add -mpath."})
		default:
			s.emit(Entry{Key: w.text, Name: "mygate:" + family, Value: w.text, Line: line, KeySpan: w.span, ValueSpan: w.span,
				Raw: s.wholeLines(w.span), style: styleFixed})
		}
		seen[family] = true
		return true
	})
}
