package conffile

import (
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// uciPackages are the files of OpenWrt's configuration that are read.
var uciPackages = []string{"sqm", "network", "firewall"}

// uciSection begins a section of such a file, and uciOption is an option of it.
var (
	uciSection = regexp.MustCompile(`^config[ \t]+([a-z_0-9-]+)(?:[ \t]+["']?([A-Za-z0-9_.@-]+)["']?)?$`)
	uciOption  = regexp.MustCompile(`^option[ \t]+([A-Za-z0-9_]+)[ \t]+["']?([^"']*)["']?$`)
	uciText    = regexp.MustCompile(`(?m)^config[ \t]+(?:queue|defaults|globals|interface)\b[^\n]*\n(?:[ \t]*#[^\n]*\n)*[ \t]+option[ \t]`)
)

// uci reads a file of OpenWrt's /etc/config: an option of a section is named uci:PACKAGE/OPTION, and the section is its
// interface.
func (s *scanner) uci() {
	file := s.path[strings.LastIndexByte(s.path, '/')+1:]
	section := ""
	s.logicalLines(textStart(s.src), "#", func(line, from, to int, raw Span) {
		text := s.src[from:to]
		if m := uciSection.FindStringSubmatch(text); m != nil {
			if section = m[2]; section == "" {
				section = m[1]
			}
			if !slices.Contains(uciPackages, file) && m[1] == "queue" {
				file = "sqm"
			}
			return
		}
		m := uciOption.FindStringSubmatchIndex(text)
		if m == nil {
			return
		}
		s.addressed(text[m[2]:m[3]], line, Span{from + m[4], from + m[5]})
		s.emit(Entry{Key: text[m[2]:m[3]], Name: "uci:" + file + "/" + text[m[2]:m[3]], Value: text[m[4]:m[5]], Iface: section, Line: line,
			KeySpan: Span{from + m[2], from + m[3]}, ValueSpan: Span{from + m[4], from + m[5]}, Raw: raw, style: styleFixed})
	})
}

// uciCommand reads uci set PACKAGE.SECTION.OPTION=VALUE.
func (s *scanner) uciCommand(words []word, base Entry) {
	for len(words) > 0 && strings.HasPrefix(words[0].text, "-") {
		words = words[1:]
	}
	if len(words) != 2 || words[0].text != "set" {
		return
	}
	w := words[1]
	key, value, assigned := strings.Cut(w.text, "=")
	parts := strings.Split(key, ".")
	if !assigned || len(parts) != 3 || !slices.Contains(uciPackages, parts[0]) {
		return
	}
	e := base
	e.Key, e.Name, e.Value, e.Iface, e.Line = key, "uci:"+parts[0]+"/"+parts[2], value, parts[1], w.line
	e.KeySpan, e.ValueSpan, e.style = w.span, w.span, styleFixed
	if w.expands {
		e.Flags |= Expands
	}
	s.emit(e)
}
