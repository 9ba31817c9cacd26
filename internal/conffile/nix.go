package conffile

import (
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// nixSections are the sections that attributes of NixOS' systemd.network become.
var nixSections = map[string]string{"match": "Match", "link": "Link", "network": "Network", "netdev": "NetDev", "bond": "Bond",
	"bridge": "Bridge", "vlan": "VLAN", "route": "Route", "cake": "CAKE", "fairQueueing": "FairQueueing", "tun": "Tun", "tap": "Tap"}

var (
	nixGroup   = regexp.MustCompile(`(?:^|[. \t])(links|networks|netdevs)(?:\.|[ \t]*=[ \t]*\{)`)
	nixSection = regexp.MustCompile(`(?:^|[. \t{])([a-zA-Z]+)Config[ \t]*=[ \t]*\{`)
	nixSingle  = regexp.MustCompile(`(?:^|[. \t{])([a-zA-Z]+)Config\.([A-Z][A-Za-z0-9]*)[ \t]*=[ \t]*([^;{\[]+);`)
	nixOption  = regexp.MustCompile(`(?:^|[ \t{])([A-Z][A-Za-z0-9]*)[ \t]*=[ \t]*([^;{\[]+);`)
)

// nixUnits reads what NixOS makes files of systemd-networkd and .link files of: links, networks and netdevs of
// systemd.network.
type nixUnits struct {
	group   string
	section string // whose braces are open
	params  bool   // the list of the kernel's arguments is open
}

func (n *nixUnits) line(s *scanner, line, from, to int) {
	n.arguments(s, line, from, to)
	text := s.src[from:to]
	if m := nixGroup.FindStringSubmatch(text); m != nil {
		n.group, n.section = m[1], ""
	}
	if n.group == "" {
		return
	}
	if m := nixSingle.FindStringSubmatchIndex(text); m != nil {
		n.emit(s, nixSections[text[m[2]:m[3]]], line, Span{from + m[4], from + m[5]}, Span{from + m[6], from + m[7]})
		return
	}
	if m := nixSection.FindStringSubmatchIndex(text); m != nil {
		n.section, from = nixSections[text[m[2]:m[3]]], from+m[1]
		text = s.src[from:to]
	}
	if n.section == "" {
		return
	}
	if m := nixOption.FindStringSubmatchIndex(text); m != nil {
		n.emit(s, n.section, line, Span{from + m[2], from + m[3]}, Span{from + m[4], from + m[5]})
	}
	if strings.Contains(text, "}") {
		n.section = ""
	}
}

// nixSysctl is a sysctl with its value, of which a line may have several, also behind the path to it.
var nixSysctl = regexp.MustCompile(`"` + sysctlName + `"[ \t]*=[ \t]*([^=;{ \t][^;{]*);`)

// nixLine reads a line of Nix; read is false for what other languages have too.
func (r *otherReader) nixLine(line, from, to int) (read bool) {
	s := r.s
	r.nix.line(s, line, from, to)
	for _, m := range nixSysctl.FindAllStringSubmatchIndex(s.src[from:to], -1) {
		name := word{span: Span{from + m[2], from + m[3]}, text: s.src[from+m[2] : from+m[3]], line: line}
		r.emit(name, word{span: Span{from + m[4], from + m[5]}, line: line})
		read = true
	}
	return read
}

// nixParams begins the list of the kernel's arguments, and nixString is one of them.
var (
	nixParams = regexp.MustCompile(`(?:^|[. \t{])kernelParams[ \t]*=[ \t]*(?:lib\.mk[A-Za-z]+[ \t]*)?\[`)
	nixString = regexp.MustCompile(`"([^"$\\]+)"`)
)

// arguments reads the kernel's arguments on a line.
func (n *nixUnits) arguments(s *scanner, line, from, to int) {
	if m := nixParams.FindStringIndex(s.src[from:to]); m != nil {
		n.params, from = true, from+m[1]
	}
	if !n.params {
		return
	}
	if end := strings.IndexAny(s.src[from:to], "]#"); end >= 0 {
		n.params = s.src[from+end] == '#'
		to = from + end
	}
	for _, m := range nixString.FindAllStringSubmatchIndex(s.src[from:to], -1) {
		s.wholeAs(Cmdline, from+m[2], from+m[3], line)
	}
}

// emit hands out an option. What is no plain text or word, Nix works out.
func (n *nixUnits) emit(s *scanner, section string, line int, key, value Span) {
	if section == "" {
		return
	}
	value.Start, value.End = s.trim(value.Start, value.End)
	e := Entry{Key: s.text(key), Value: strings.Trim(s.text(value), `"`), Line: line, KeySpan: key, ValueSpan: value,
		Raw: s.wholeLines(Span{key.Start, value.End}), style: styleFixed, In: NetworkFile, Name: "network-file:" + section + "/"}
	if n.group == "links" {
		e.In, e.Name = LinkFile, "link-file:"+section+"/"
	}
	if e.Value != "true" && e.Value != "false" && strings.Trim(e.Value, "0123456789") != "" && !strings.HasPrefix(s.text(value), `"`) {
		e.Flags |= Expands
	}
	e.Name = strings.Replace(e.Name, "Link/", "", 1) + e.Key
	s.emit(e)
}
