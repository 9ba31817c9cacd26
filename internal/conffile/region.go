package conffile

import (
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// Lines of files that a guide shows as a whole, by which they are told from the text around them.
var (
	ifaceBegin  = regexp.MustCompile(`^(?:(?:auto|allow-[a-z]+)(?:[ \t]+[^ \t]+)+|iface[ \t]+[^ \t]+[ \t]+inet6?[ \t]+[a-z0-9]+)$`)
	ifaceStanza = regexp.MustCompile(`(?m)^[ \t]*iface[ \t]+[^ \t]+[ \t]+inet6?[ \t]+[a-z0-9]+[ \t]*\r?$`)
	ifaceOption = regexp.MustCompile(`^[ \t]+[a-z0-9][a-z0-9_-]*[ \t]+[^ \t]|^(?:[a-z0-9]+[-_][a-z0-9_-]+|address|netmask|` +
		`gateway|network|broadcast|mtu|metric|hwaddress|up|down)[ \t]+[^ \t]`)
	ifaceWord    = regexp.MustCompile(`^(?:bond|bridge|vlan|post|pre)[-_][a-z_-]+[ \t]+[^ \t]`) // which is no word of prose
	unitBegin    = regexp.MustCompile(`^\[(?:NetDev|Match|Network|Link|Unit|Service)\]$`)
	unitSection  = regexp.MustCompile(`^\[[A-Z][A-Za-z0-9-]+\]$`)
	unitOption   = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*[ \t]*=`)
	keyfileBegin = regexp.MustCompile(`^\[connection\]$`)
	keyfileLine  = regexp.MustCompile(`^(?:\[[a-z0-9.-]+\]|[a-z0-9.-]+[ \t]*=.*)$`)
	netplanBegin = regexp.MustCompile(`^network:(?:[ \t]*#.*)?$`)
	netplanGroup = regexp.MustCompile(`(?m)^[ \t]+(?:ethernets|bonds|bridges|vlans):[ \t]*(?:#.*)?\r?$`)
)

// region reads a stanza of ifupdown, a file of systemd-networkd, NetworkManager or netplan that begins on a line of a guide.
func (r *otherReader) region(line, from, to int) (found bool) {
	s := r.s
	text := s.src[from:to]
	if text == "" || strings.IndexByte("ain[", text[0]) < 0 || from < r.plain {
		return false
	}
	start := s.lineOf(from).Start
	kind, end, found := Kind(""), 0, true
	switch {
	case ifaceBegin.MatchString(text):
		kind, end = Interfaces, s.extent(start, ifaceLine)
		found = ifaceStanza.MatchString(s.src[start:end])
	case unitBegin.MatchString(text):
		end = s.extent(start, unitLine)
		kind = unitKind(s.src[start:end])
	case keyfileBegin.MatchString(text):
		kind, end = Keyfile, s.extent(start, func(_, text string, _, _ bool) bool {
			return text == "" || text[0] == '#' || keyfileLine.MatchString(text)
		})
	case netplanBegin.MatchString(text):
		margin := from - start
		kind, end = Netplan, s.extent(start, func(full, text string, first, _ bool) bool {
			return first || text == "" || text[0] == '#' || strings.Index(full, text) > margin
		})
		found = netplanGroup.MatchString(s.src[start:end])
	default:
		return false
	}
	r.plain = end // so that each line is looked at once
	if !found {
		return false
	}
	inner := s.marking(func(e *Entry) { e.In, e.Block = kind, line })
	inner.whole(inner, kind, "", start, end, line)
	r.read = end
	return true
}

// settings reads the text between two fences, from the end of the first on, that is a sysctl.conf, a profile
// of TuneD, a file of wg-quick or a whole set of rules for nft.
func (r *otherReader) settings(line, from int) {
	s := r.s
	end := strings.Index(s.src[from:], "```")
	if !r.inside || r.skipped || end < 0 || r.read > from {
		return
	}
	block := s.src[from : from+end]
	kind := kindOfContent(block)
	switch whole := strings.Contains(block, "flush ruleset"); { // and no part of the rules
	case kind != Sysctl && kind != Tuned && kind != WGQuick && (kind != NFTables || !whole):
		return
	case anyLine(block, prompt) || anyLine(block, runs) || aboveOutput.MatchString(s.lead(from)):
		return // which a command may have printed
	case kind == Sysctl && template.MatchString(block):
		return
	}
	inner := s.marking(func(e *Entry) { e.In, e.Block = kind, line })
	inner.whole(inner, kind, "", from, from+end, line)
	r.read = from + end
}

// aboveOutput is a line above a block that a program printed, and template a value that the reader is to fill in or to change.
var (
	aboveOutput = regexp.MustCompile(`(?i)\b(?:output|prints?|printed|shows?|shown|displays?|returns?|results?|current(?:ly)?|looks? like)\b`)
	template    = regexp.MustCompile(`(?m)=[ \t]*<|[ \t]->[ \t]|\{\{`)
)

// lead is the line above the fence that ends before an offset, without blank ones.
func (s *scanner) lead(from int) string {
	above := strings.TrimRight(s.src[:s.lineOf(max(from-1, 0)).Start], " \t\r\n")
	return above[strings.LastIndexByte(above, '\n')+1:]
}

// extent returns where the lines from a place on end that belong to it. They are judged by the whole line, its text
// without blanks around it, and whether it is the first one and follows an empty one.
func (s *scanner) extent(start int, belongs func(full, text string, first, afterEmpty bool) bool) (end int) {
	empty := false
	s.lines(start, len(s.src), 1, func(line, from, to int) bool {
		full := strings.TrimRight(s.src[from:to], " \t\r")
		text := strings.TrimLeft(full, " \t")
		if !belongs(full, text, line == 1, empty) {
			return false
		}
		if empty = text == ""; !empty {
			end = to
		}
		return true
	})
	return end
}

// ifaceLine tells a line of ifupdown's interfaces from one of prose.
func ifaceLine(full, text string, _, afterEmpty bool) bool {
	return text == "" || text[0] == '#' && !afterEmpty || ifaceBegin.MatchString(text) ||
		!afterEmpty && ifaceOption.MatchString(full) || afterEmpty && ifaceWord.MatchString(text)
}

// unitLine tells a line of a unit file from one of prose.
func unitLine(_, text string, _, _ bool) bool {
	return text == "" || text[0] == '#' || text[0] == ';' || unitSection.MatchString(text) || unitOption.MatchString(text)
}

// unitKind tells a unit, and a .link file from .network and .netdev files, which match by Name.
func unitKind(text string) Kind {
	if hasLine(text, "[Unit]") || hasLine(text, "[Service]") {
		return Service
	}
	if hasLine(text, "[Network]") || hasLine(text, "[NetDev]") {
		return NetworkFile
	}
	section := ""
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = line
		}
		if section == "[Match]" && strings.HasPrefix(line, "Name=") {
			return NetworkFile
		}
	}
	return LinkFile
}
