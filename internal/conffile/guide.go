package conffile

import (
	"path"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// guide reads the fenced blocks of a guide to FreeBSD or OpenBSD: those that the text above them or their first line
// says to be a configuration file, as that file, and those of commands as a script.
func (s *scanner) guide() {
	fixed := s.entry
	s.entry = func(e Entry) bool {
		e.style = styleFixed // a part of another text
		return fixed(e)
	}
	s.rejected = func(Reject) {}
	guideBlocks(s.src, func(b guideBlock) bool {
		inner := *s
		inner.path = b.file
		inner.entry = func(e Entry) bool {
			if e.In == "" && b.kind != Script {
				e.In = b.kind
			}
			s.emit(e)
			return !s.stopped
		}
		inner.whole(b.kind, b.from, b.to, b.line)
		return !s.stopped
	}, s.tabled)
}

// Settings of a guide outside its blocks: a row of a table, and an item of a list.
var (
	bsdName   = "`?([a-z][a-z0-9_]*(?:\\.[A-Za-z0-9_%-]+)+)`?"
	tableRow  = regexp.MustCompile(`^[ \t]*\|[ \t]*` + bsdName + "[ \\t]*\\|[ \\t]*`?([-A-Za-z0-9_]+)`?[ \\t]*(?:\\||$)")
	tableHead = regexp.MustCompile(`(?i)^[ \t]*\|[^|]*\|[ \t*]*(?:value|new value|setting|set to|recommended|` +
		`recommended value)[ \t*]*(?:\||$)`)
	listedItem = regexp.MustCompile(`^[ \t]*[-*+][ \t]+` + bsdName + `=["']?([-A-Za-z0-9_]+)["']?[ \t]*$`)
)

// tabled emits the setting of a line outside the blocks, which stands in a table or a list; head is the first row of
// the table.
func (s *scanner) tabled(line, from, to int, head string) {
	text := s.src[from:to]
	m := listedItem.FindStringSubmatchIndex(text)
	if m == nil && tableHead.MatchString(head) {
		m = tableRow.FindStringSubmatchIndex(text)
	}
	if m == nil {
		return
	}
	name := text[m[2]:m[3]]
	if system, known := SystemOfKey(name); !known || system == Linux {
		return
	}
	at := func(i int) Span { return Span{from + m[2*i], from + m[2*i+1]} }
	s.emit(Entry{Key: name, Name: name, Value: text[m[4]:m[5]], Line: line, KeySpan: at(1), ValueSpan: at(2),
		Raw: Span{from, to}})
}

// guideBlock is a block of a guide with the file that it belongs to.
type guideBlock struct {
	kind           Kind
	file           string
	from, to, line int
}

// namedFile is a configuration file as guides name it.
var namedFile = regexp.MustCompile(`(?:/[a-z0-9/._-]*/)?(?:sysctl\.conf|loader\.conf(?:\.local)?|` +
	`rc\.conf(?:\.local)?|pf\.conf|hostname\.[a-z]+[0-9]+)`)

// guideAbove is how many lines above a block may name its file.
const guideAbove = 3

// guideBlocks hands out the blocks of a text whose file is known, and the lines between the blocks.
func guideBlocks(src string, block func(guideBlock) bool, other func(line, from, to int, head string)) {
	var above []string
	head := "" // of the table
	inside, from, first := false, 0, 0
	for line, start := 1, 0; start < len(src); line++ {
		end := len(src)
		if i := strings.IndexByte(src[start:], '\n'); i >= 0 {
			end = start + i
		}
		text := strings.TrimSpace(src[start:end])
		switch fence := strings.HasPrefix(text, "```") || strings.HasPrefix(text, "~~~"); {
		case fence && inside:
			inside = false
			if b := blockOf(src[from:start], above); b.kind != "" {
				b.from, b.to, b.line = from, start, first
				if !block(b) {
					return
				}
			}
			above = above[:0]
		case fence && strings.Count(text, "`") <= 6:
			inside, from, first = true, min(end+1, len(src)), line+1
		case !inside && text != "":
			above = append(above, text)
			if text[0] != '|' {
				head = ""
			} else if head == "" {
				head = text
			}
			other(line, start, end, head)
		}
		start = end + 1
	}
}

// blockOf tells what a block is: by its content, and by the file that the nearest line above it or its own first
// line names.
func blockOf(text string, above []string) guideBlock {
	if CheckText("", text) != nil || strings.TrimSpace(text) == "" {
		return guideBlock{}
	}
	head, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	named := ""
	for _, line := range append(slices.Clone(above[max(0, len(above)-guideAbove):]), head) {
		if line == head && !strings.HasPrefix(head, "#") {
			continue
		}
		files := namedFile.FindAllString(line, -1)
		if len(files) == 0 {
			continue
		}
		if named = files[0]; slices.ContainsFunc(files, func(f string) bool { return base(f) != base(named) }) {
			named = "" // which of them
		}
	}
	content := kindOfContent(text)
	kind := fromPath(named, "").Kind
	switch {
	case kind == HostnameIf && allLines(text, hostnameLine):
		return guideBlock{kind: kind, file: named}
	case content == "" && !allLines(text, assignment) || kind == "" && content == "":
		return guideBlock{}
	case content == "" && (kind == Sysctl || kind == Loader || kind == RC):
		return guideBlock{kind: kind, file: named}
	case content == kind, kind == Sysctl && content == Loader, kind == Loader && content == Sysctl:
		return guideBlock{kind: kind, file: named}
	case content == RC && kind == "", content == Script:
		return guideBlock{kind: content}
	}
	return guideBlock{}
}

// Lines of which a block that is said to be such a file must consist.
var (
	assignment   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.%-]*=[^ \t]`)
	hostnameLine = regexp.MustCompile(`^(?:-?inet6?|dhcp|up|down|autoconf|rtsol|vnetid|parent|vlan|trunkproto|` +
		`trunkport|add|mtu|media|description|descr|group|join|nwid|wpakey|wg[a-z]+|pppoedev|dest|lladdr|` +
		`![a-z/])(?:[ \t]|$)`)
)

// allLines reports whether every line of a text is of a form, without its comments and empty ones.
func allLines(text string, form *regexp.Regexp) bool {
	found := false
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		if found = form.MatchString(line); !found {
			return false
		}
	}
	return found
}

func base(file string) string { return file[strings.LastIndexByte(file, '/')+1:] }

// GuideSystem returns FreeBSD or OpenBSD for a guide to it with blocks that guide reads, "" for other texts.
func GuideSystem(file, text string) System {
	if CheckText(file, text) != nil || slices.Contains(programs, path.Ext(strings.ToLower(file))) {
		return ""
	}
	var all votes
	s := &scanner{src: text, path: file, entry: func(e Entry) bool {
		if system, _ := SystemOfKey(e.Name); system == FreeBSD {
			all.freebsd++
		} else if system == OpenBSD {
			all.openbsd++
		}
		return true
	}}
	guideBlocks(text[:min(len(text), DetectSize)], func(b guideBlock) bool {
		v := countVotes(b.kind, text[b.from:b.to])
		all.linux, all.freebsd, all.openbsd = all.linux+v.linux, all.freebsd+v.freebsd, all.openbsd+v.openbsd
		switch SystemOf(b.kind) {
		case FreeBSD:
			all.freebsd++
		case OpenBSD:
			all.openbsd++
		}
		return true
	}, s.tabled)
	if system, _ := all.winner(); system != Linux {
		return system
	}
	return ""
}
