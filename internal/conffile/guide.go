package conffile

import (
	"cmp"
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
	rejected := s.rejected
	s.rejected = func(r Reject) {
		if r.pasted {
			rejected(r)
		}
	}
	guideBlocks(s.src, func(b guideBlock) bool {
		if b.system != "" && b.system != s.system {
			return true // a part about another system
		}
		if strings.Contains(b.file, "/sysctl.d/") {
			end := b.from + strings.IndexByte(s.src[b.from:b.to]+"\n", '\n')
			rejected(Reject{Line: b.line, Span: Span{b.from, end}, Reason: notAtBoot(s.system, "/etc/sysctl.d")})
		}
		inner := *s
		inner.path = b.file
		if b.kind == Jail || b.kind == HostnameIf {
			inner.rejected = rejected // what they take for wrong is no placeholder
		}
		inner.entry = func(e Entry) bool {
			if at := explained.FindStringIndex(e.Value); at != nil && !e.Has(Quoted) {
				e.Value = e.Value[:at[0]]
				e.ValueSpan.End = e.ValueSpan.Start + len(e.Value)
			}
			e.Block = b.line // another block may be about another host
			if b.loose && sizeSuffix.MatchString(e.Value) {
				e.In = Loader // which alone takes such sizes
			} else if b.loose {
				e.In = ""
			} else if e.In == "" {
				e.In = b.kind
			}
			s.emit(e)
			return !s.stopped
		}
		inner.whole(&inner, b.kind, "", b.from, b.to, b.line)
		return !s.stopped
	}, s.tabled)
	s.items()
}

// Settings of a guide outside its blocks: a row of a table, and an item of a list.
var (
	bsdName   = "`?([a-z][a-z0-9_]*(?:\\.[A-Za-z0-9_%-]+)+)`?"
	tableRow  = regexp.MustCompile(`^[ \t]*\|[ \t]*` + bsdName + "[ \\t]*\\|[ \\t]*`?([-A-Za-z0-9_]+)`?[ \\t]*(?:\\||$)")
	tableHead = regexp.MustCompile(`(?i)^[ \t]*\|[^|]*\|[ \t*]*(?:value|new value|setting|set to|recommended|` +
		`recommended value)[ \t*]*(?:\||$)`)
	columnHead = regexp.MustCompile(`(?i)^[ \t]*(?:variable|tunable|tunable name|name|sysctl)\t+value(?:\t|$)`)
	columnRow  = regexp.MustCompile(`^[ \t]*` + bsdName + `\t+([-A-Za-z0-9_]+)[ ]*(?:\t|$)`)
	listedItem = regexp.MustCompile("^[ \\t]*[-*+•][ \\t]+(?:" + bsdName + `=["']?([-A-Za-z0-9_]+)["']?[ \t]*$` +
		"|`([a-z][a-z0-9_]*(?:\\.[A-Za-z0-9_%-]+)+)(?: ?= ?|`: `)" + `["']?([-A-Za-z0-9_]+)["']?` + "`)")
	prompted = regexp.MustCompile(`^\\?[#$%>][ \t]+(?:sudo |doas )?sysctl (?:-w )?` + bsdName + `=([0-9]+|[a-z]+)(?:[ \t]|$)`)
	flowItem = regexp.MustCompile(`^[ \t]*- \{ *name: *["']?` + bsdName + `["']?, *value: *["']?([-A-Za-z0-9_]+)["']?`)
)

// tabled emits the setting of a line outside the blocks, which stands in a table or a list; head is the first row of
// the table.
func (s *scanner) tabled(line, from, to int, head string) {
	text := s.src[from:to]
	m := listedItem.FindStringSubmatchIndex(text)
	switch {
	case m != nil && m[2] < 0:
		m = append(m[:2:2], m[6:]...)
	case m != nil:
	case prompted.MatchString(text):
		m = prompted.FindStringSubmatchIndex(text)
	case flowItem.MatchString(text):
		m = flowItem.FindStringSubmatchIndex(text)
	case tableHead.MatchString(head):
		m = tableRow.FindStringSubmatchIndex(text)
	case columnHead.MatchString(head):
		m = columnRow.FindStringSubmatchIndex(text)
	default:
		for _, a := range s.joined(line, from, to) {
			s.apart(line, a[0], a[1], Span{from, to})
		}
	}
	if m == nil {
		return
	}
	s.apart(line, Span{from + m[2], from + m[3]}, Span{from + m[4], from + m[5]}, Span{from, to})
}

// joinedWord is an assignment in a line of several, as pages have them whose line ends were lost.
var joinedWord = regexp.MustCompile(`^[a-z][a-z0-9_]*(?:\.[A-Za-z0-9_%-]+)+="?[-A-Za-z0-9_]+"?$`)

// joined returns the names and values of a line that consists of assignments, with comments between them.
func (s *scanner) joined(line, from, to int) (found [][2]Span) {
	if strings.Count(s.src[from:to], "=") < 2 {
		return nil
	}
	comment := false
	for _, w := range s.fields(from, to, line) {
		switch {
		case joinedWord.MatchString(w.text):
			name, value, _ := strings.Cut(w.text, "=")
			quote := len(value) - len(strings.TrimLeft(value, `"`))
			at := w.span.Start + len(name) + 1 + quote
			found = append(found, [2]Span{{w.span.Start, w.span.Start + len(name)}, {at, at + len(strings.Trim(value, `"`))}})
			comment = false
		case strings.HasPrefix(w.text, "#"):
			comment = true
		case !comment:
			return nil
		}
	}
	if text := strings.TrimSpace(s.src[from:to]); len(found) < 2 || text[0] == '#' && len(found) < 3 {
		return nil
	}
	return found
}

// sizeSuffix is a size as the loader takes it.
var sizeSuffix = regexp.MustCompile(`^[0-9]+[kKmMgGtT]$`)

// apart emits a setting that is no line of a file.
func (s *scanner) apart(line int, key, value, raw Span) {
	name := s.text(key)
	if system, known := SystemOfKey(name); known && system != Linux {
		e := Entry{Key: name, Name: name, Value: s.text(value), Line: line, KeySpan: key, ValueSpan: value, Raw: raw}
		if sizeSuffix.MatchString(e.Value) || strings.Contains(s.text(raw), "\tLOADER") {
			e.In = Loader // which alone takes such sizes
		}
		s.emit(e)
	}
}

// What names a tunable in config.xml of pfSense and OPNsense, and its value, which may be the word default.
var (
	xmlTunable = regexp.MustCompile(`<tunable>[ \t]*([a-z][A-Za-z0-9_.%-]+)[ \t]*</tunable>`)
	xmlValue   = regexp.MustCompile(`<value>[ \t]*([-A-Za-z0-9_]+)[ \t]*</value>`)
)

// items emits the tunables of config.xml.
func (s *scanner) items() {
	for line, from := 1, 0; !s.stopped; {
		start := strings.Index(s.src[from:], "<item>")
		if start < 0 {
			return
		}
		line += strings.Count(s.src[from:from+start], "\n")
		from += start
		end := strings.Index(s.src[from:], "</item>")
		if end < 0 {
			return
		}
		item := s.src[from : from+end]
		name, value := xmlTunable.FindStringSubmatchIndex(item), xmlValue.FindStringSubmatchIndex(item)
		if name != nil && value != nil && item[value[2]:value[3]] != "default" {
			s.apart(line+strings.Count(item[:name[2]], "\n"), Span{from + name[2], from + name[3]},
				Span{from + value[2], from + value[3]}, Span{from, from + end})
		}
		line += strings.Count(item, "\n")
		from += end
	}
}

// namedFile is a configuration file as guides name it.
var namedFile = regexp.MustCompile(`(?:/[a-z0-9/._-]*/)?(?:sysctl\.d/[A-Za-z0-9_.-]+\.conf|sysctl\.conf|loader\.conf(?:\.local)?|` +
	`rc\.conf(?:\.local)?|pf\.conf|jail\.conf(?:\.d/[A-Za-z0-9<>_.-]+\.conf)?|hostname\.[a-z]+[0-9]+)`)

// heredocFile is a command that writes the lines below it into a configuration file.
var heredocFile = regexp.MustCompile(`(?m)^[ \t]*(?:sudo |doas )?(?:cat|tee)\b[^\n]*<<-?[ \t]*["'\\]?[A-Za-z_]+`)

// blockOf tells what a block is: by its content, and by the file that the nearest line above it or its own first
// line names, or the one that a command above opened in an editor.
func blockOf(text string, above []string, edited string) guideBlock {
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
		if named = files[0]; !strings.Contains(named, "/") && sentence.MatchString(line) && !strings.HasSuffix(line, ":") {
			named = "?" // which speaks of the file
		} else if slices.ContainsFunc(files, func(f string) bool { return base(f) != base(named) }) {
			named = "?" // which of them
		}
	}
	if named == "" {
		named = edited
	}
	content := kindOfContent(text)
	if heredocFile.MatchString(text) {
		content = Script
	}
	kind := fromPath(named, "").Kind
	switch {
	case kind == HostnameIf && allLines(text, hostnameLine), kind == Jail && jailLine.MatchString(text):
		return guideBlock{kind: kind, file: named}
	case content == "" && !allLines(text, assignment) || kind == "" && content == "":
		return guideBlock{}
	case content == "" && (kind == Sysctl || kind == Loader || kind == RC):
		return guideBlock{kind: kind, file: named}
	case content == kind, kind == Sysctl && content == Loader, kind == Loader && content == Sysctl:
		return guideBlock{kind: kind, file: named}
	case kind == "" && (named == "" || named == "?") && (content == Sysctl || content == Loader):
		return guideBlock{kind: Sysctl, loose: true}
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

// jailLine is a line of jail.conf.
var jailLine = regexp.MustCompile(`(?m)^[ \t]*(?:vnet|exec\.[a-z]+|path|ip[46]\.addr|host\.hostname|mount\.devfs)[ \t]*(?:\+?=[^;\n]*)?;`)

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
		if b.system == Linux || b.system == elsewhere {
			return true
		}
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
	if strings.Contains(text, "<tunable>") {
		all.freebsd++ // pfSense and OPNsense
	}
	system, bsd := all.winner()
	switch {
	case system == "" && bsd:
		return namedSystem(text)
	case system != Linux:
		return system
	}
	return ""
}

var (
	namesFreeBSD = regexp.MustCompile(`(?i)free ?bsd`)
	namesOpenBSD = regexp.MustCompile(`(?i)openbsd`)
)

// namedSystem is the BSD that a text speaks of, "" where it speaks of both or of none.
func namedSystem(text string) System {
	switch free, open := namesFreeBSD.MatchString(text), namesOpenBSD.MatchString(text); {
	case free && !open:
		return FreeBSD
	case open && !free:
		return OpenBSD
	}
	return ""
}

// GuidePart is what a guide to several systems says about one of them: the text with the blocks about others blank.
type GuidePart struct {
	System System
	Text   string
}

// GuideParts returns the parts of a guide that has blocks about a BSD and blocks about another system, nil for others.
// What no line above gives to a system belongs to the BSD that most of the text is about, and so does what stands outside
// of the blocks.
func GuideParts(file, text string) []GuidePart {
	if CheckText(file, text) != nil || slices.Contains(programs, path.Ext(strings.ToLower(file))) ||
		strings.Contains(text, "<tunable>") {
		return nil
	}
	mostly := cmp.Or(GuideSystem(file, text), FreeBSD)
	blocks, s := map[System]int{}, &scanner{src: text}
	blank := map[System][]byte{FreeBSD: []byte(text), OpenBSD: []byte(text)}
	linux := []byte(text)
	erase(linux)
	guideBlocks(text, func(b guideBlock) bool {
		of := cmp.Or(b.system, mostly)
		blocks[of]++
		if of == Linux {
			copy(linux[b.from:b.to], text[b.from:b.to])
		}
		for system, kept := range blank {
			if of != system {
				erase(kept[b.from:b.to])
			}
		}
		return true
	}, func(_, from, to int, _ string) {
		for system, kept := range blank {
			if line := text[from:to]; system != mostly && (tableRow.MatchString(line) || columnRow.MatchString(line) ||
				listedItem.MatchString(line) || prompted.MatchString(line) || flowItem.MatchString(line) || s.joined(0, from, to) != nil) {
				erase(kept[from:to])
			}
		}
	})
	var parts []GuidePart
	for _, system := range []System{FreeBSD, OpenBSD} {
		if blocks[system] > 0 {
			parts = append(parts, GuidePart{system, string(blank[system])})
		}
	}
	if len(parts) > 0 && blocks[Linux] > 0 && Holds("", string(linux)) {
		parts = append(parts, GuidePart{Linux, string(linux)})
	}
	if len(parts) < 2 {
		return nil
	}
	return parts
}

// erase makes a part of a text blank and leaves its lines.
func erase(part []byte) {
	for i, c := range part {
		if c != '\n' {
			part[i] = ' '
		}
	}
}
