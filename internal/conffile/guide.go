package conffile

import (
	"cmp"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// guide reads the fenced blocks of a guide to FreeBSD or OpenBSD: those that the text above them or their first line
// says to be a configuration file, as that file, and those of commands as a script.
func (s *scanner) guide() {
	rejected := s.rejected
	s.src = plainPage(s.src)
	s.foreign()
	guideBlocks(s.src, func(b guideBlock) bool {
		if b.system != "" && b.system != s.system {
			return true // a part about another system
		}
		if strings.Contains(b.file, "/sysctl.d/") {
			end := b.from + strings.IndexByte(s.src[b.from:b.to]+"\n", '\n')
			rejected(Reject{Line: b.line, Span: Span{b.from, end}, Reason: notAtBoot(s.system, "/etc/sysctl.d")})
		}
		inner := s.marking(b.mark)
		if b.kind == Script && shebang.MatchString(strings.TrimLeft(s.src[b.from:b.to], " \t\r\n")) {
			inner.rejected = func(r Reject) { // a script is whole
				if r.certain || r.Idle {
					rejected(r)
				}
			}
		}
		inner.path, inner.outer, inner.indented = b.file, true, b.indented
		inner.standing(inner, b.text(s.src), b.kind, "", b.from, b.line)
		s.altq = s.altq || inner.altq
		return !s.stopped
	}, s.tabled)
	s.items()
}

// mark makes what an entry of a block says of the file no more than the block tells.
func (b *guideBlock) mark(e *Entry) {
	if at := explained.FindStringIndex(e.Value); at != nil && !e.Has(Quoted) {
		e.Value = e.Value[:at[0]]
		e.ValueSpan.End = e.ValueSpan.Start + len(e.Value)
	}
	if b.kind != YAML || e.Block == 0 {
		e.Block = b.line // another block may be about another host
	}
	switch {
	case b.loose && b.kind == PF:
		e.In = PF
	case b.loose && sizeSuffix.MatchString(e.Value):
		e.In = Loader // which alone takes such sizes
	case b.loose:
		e.In = ""
	case e.In == "":
		e.In = b.kind
	}
	if line, whole := pfWhole[e.Name]; b.loose && whole && !(b.rules && line) {
		e.Name = "" // is not handed out
	}
}

// Settings of a guide outside its blocks: a row of a table, and an item of a list.
var (
	bsdName    = "`?([a-z][a-z0-9_]*(?:\\.[A-Za-z0-9_%-]+)+)`?"
	loaderName = `([a-z][a-z0-9_]*(?:\.[A-Za-z0-9_%-]+)+|[a-z][a-z0-9_]*_load)`
	tableRow   = regexp.MustCompile(`^[ \t]*\|[ \t]*` + bsdName + "[ \\t]*\\|[ \\t]*`?([-A-Za-z0-9_]+)`?[ \\t]*(?:\\||$)")
	tableHead  = regexp.MustCompile(`(?i)^[ \t]*\|[^|]*\|[ \t*]*(?:value|new value|setting|set to|recommended|` +
		`recommended value)[ \t*]*(?:\||$)`)
	columnHead = regexp.MustCompile(`(?i)^[ \t]*(?:variable|tunable|tunable name|name|sysctl)\t+value(?:\t|$)`)
	columnRow  = regexp.MustCompile(`^[ \t]*` + loaderName + `\t+([-A-Za-z0-9_]+)[ ]*(?:\t|$)`)
	listedItem = regexp.MustCompile("^[ \\t]*[-*+•][ \\t]+(?:" + bsdName + ` ?= ?["']?([-0-9]+|[-A-Za-z0-9_]{2,})["']?[ \t]*$` +
		"|`([a-z][a-z0-9_]*(?:\\.[A-Za-z0-9_%-]+)+)(?: ?= ?|`(?::| =) `)" + `["']?([-A-Za-z0-9_]+)["']?` + "`)")
	prompted = regexp.MustCompile(`^[ \t]*\*{0,2}\\?[#$%>][ \t]+` + asRoot + `sysctl (?:-w )?` + bsdName + `=([0-9]+|[a-z]+)\*{0,2}(?:[ \t]|$)`)
	// resources of Puppet and the like, and what they write into files
	resource   = regexp.MustCompile(`^[ \t]*sysctl(?:::[a-z]+)?[ \t]*\{[ \t]*['"]` + bsdName + `['"][ \t]*:.*\bvalue[ \t]*=>[ \t]*["']?([-A-Za-z0-9_]+)`)
	quotedLine = regexp.MustCompile(`^[ \t]*line[ \t]*(?:=>|=)[ \t]*['"]` + loaderName + `=\\?"?([-A-Za-z0-9_]+)`)
	flowItem   = regexp.MustCompile(`^[ \t]*- \{ *name: *["']?` + bsdName + `["']?, *value: *["']?([-A-Za-z0-9_]+)["']?`)
)

// tabled emits the settings of a line outside the blocks, which stands in a table or a list.
func (s *scanner) tabled(line, from, to int, head string) {
	for _, a := range s.outside(line, from, to, head) {
		s.apart(line, a[0], a[1], Span{from, to})
	}
}

// outside returns the names and values of a line outside the blocks; head is the first row of the table.
func (s *scanner) outside(line, from, to int, head string) [][2]Span {
	forms := []*regexp.Regexp{listedItem, prompted, flowItem, resource, quotedLine}
	switch {
	case tableHead.MatchString(head):
		forms = append(forms, tableRow)
	case columnHead.MatchString(head):
		forms = append(forms, columnRow)
	}
	for _, form := range forms {
		if m := form.FindStringSubmatchIndex(s.src[from:to]); m != nil {
			if m[2] < 0 {
				m = m[4:] // the second way to write it
			}
			return [][2]Span{{{from + m[2], from + m[3]}, {from + m[4], from + m[5]}}}
		}
	}
	return s.joined(line, from, to)
}

// joinedWord is an assignment in a line of several, as pages have them whose line ends were lost.
var joinedWord = regexp.MustCompile(`^[a-z][a-z0-9_]*(?:\.[A-Za-z0-9_%-]+)+="?[-A-Za-z0-9_]+"?$`)

// joined returns the names and values of a line that consists of assignments, with comments between them.
func (s *scanner) joined(line, from, to int) (found [][2]Span) {
	const longest = 16 << 10
	if to-from > longest || strings.Count(s.src[from:to], "=") < 2 {
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
	if system, known := SystemOfKey(name); known && system != Linux || strings.HasSuffix(name, "_load") && s.system == FreeBSD {
		e := Entry{Key: name, Name: name, Value: s.text(value), Line: line, KeySpan: key, ValueSpan: value, Raw: raw}
		if !strings.HasPrefix(s.text(raw), "<item>") && sizeSuffix.MatchString(e.Value) || strings.Contains(s.text(raw), "\tLOADER") {
			e.In = Loader // which alone takes such sizes; the tunables of pfSense and OPNsense go to both places
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
	`rc\.conf(?:\.local)?|pf\.conf|relayd\.conf|jail\.conf(?:\.d/[A-Za-z0-9<>_.-]+\.conf)?|hostname\.[a-z]+[0-9]+)`)

// heredocFile is a command that writes the lines below it into a configuration file.
var heredocFile = regexp.MustCompile(`(?m)^[ \t]*` + asRoot + `(?:cat|tee)\b[^\n]*(?:<<-?[ \t]*["'\\]?[A-Za-z_]+|<[ \t]*EOF\b)`)

// blockOf tells what a block is: by its content, and by the file that the nearest line above it or its own first
// line names, or the one that a command above opened in an editor.
func blockOf(text string, above []string, edited string) guideBlock {
	if CheckText("", text) != nil || strings.TrimSpace(text) == "" {
		return guideBlock{}
	}
	file := cmp.Or(fileAbove(text, above), edited)
	kind, content := fromPath(file, "").Kind, kindOfContent(strings.TrimLeft(text, " \t\r\n"))
	_, session := sessionText(text)
	if heredocFile.MatchString(text) || session {
		content = Script
	}
	settings := content == Sysctl || content == Loader
	switch {
	case kind != PF && pfText(text):
		return guideBlock{kind: PF, loose: true}
	case partOf(kind, content, text):
		return guideBlock{kind: kind, file: file}
	case settings && (file == "" || file == someFile):
		return guideBlock{kind: Sysctl, loose: true}
	case content == RC && kind == "", content == Script, content == KernelConf:
		return guideBlock{kind: content, session: session}
	case yamlTasks.MatchString(text) && yamlSystem(text) == FreeBSD:
		return guideBlock{kind: YAML}
	case kind == "" && allLines(text, hostnameLine) && ofHostnameIf.MatchString(text):
		return guideBlock{kind: HostnameIf, loose: true}
	}
	return guideBlock{}
}

// yamlTasks are tasks of Ansible, or what cloud-init does.
var yamlTasks = regexp.MustCompile(`(?m)^[ \t]*- (?:name|hosts):|^write_files:`)

// completeAdvice names a setting and the file that it goes into, so that the file is not that of a block further down.
var completeAdvice = regexp.MustCompile("[a-z][a-z0-9_]*\\.[a-z0-9_.]*[a-z0-9_][`*]* (?:in|to|into) [`*]*/(?:etc|boot)/")

func severalWords(line string) bool { return strings.Contains(line, " ") }

// someFile stands for a file of which a text tells no more than that there is one.
const someFile = "?"

// fileAbove is the file that the nearest line above a block or its own first line names, "" for none.
func fileAbove(text string, above []string) (file string) {
	lines := slices.Clone(above[max(0, len(above)-guideAbove):])
	if head, _, _ := strings.Cut(strings.TrimSpace(text), "\n"); strings.HasPrefix(head, "#") {
		lines = append(lines, head)
	}
	for i, line := range lines {
		files := namedFile.FindAllString(line, -1)
		if len(files) == 0 || completeAdvice.MatchString(line) && slices.ContainsFunc(lines[i+1:], severalWords) {
			continue
		}
		file = files[0]
		speaks := !strings.Contains(file, "/") && sentence.MatchString(line) && !strings.HasSuffix(line, ":")
		if speaks || slices.ContainsFunc(files, func(f string) bool { return base(f) != base(file) }) {
			file = someFile
		}
	}
	return file
}

// partOf reports whether a block whose content looks like one kind of file is of the kind whose name stands above it.
func partOf(kind, content Kind, text string) bool {
	switch kind {
	case "":
		return false
	case PF:
		return content == PF || pfText(text) ||
			content == Script && !heredocFile.MatchString(text) && anyLine(text, pfStatement) // with the command that loads it
	case HostnameIf:
		return allLines(text, hostnameLine)
	case Jail:
		return jailLine.MatchString(text)
	case Relayd:
		return relayStatement.MatchString(text)
	case Sysctl, Loader:
		return content == Sysctl || content == Loader || content == "" && allLines(text, assignment)
	case RC:
		return content == RC || content == "" && mostLines(text, assignment)
	}
	return content == kind
}

// Lines of which a block that is said to be such a file must consist.
var (
	assignment   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.%-]*(?:=[^ \t]| = "[^"]*")`)
	hostnameLine = regexp.MustCompile(`^(?:-?inet6?|dhcp|up|down|autoconf|rtsol|vnetid|parent|vlan|vlandev|trunkproto|` +
		`trunkport|add|mtu|media|description|descr|group|join|nwid|wpakey|wg[a-z]+|pppoedev|auth[a-z]+|peer[a-z]+|dest|` +
		`lladdr|carpdev|vhid|advbase|advskew|syncdev|tunnel|tunneldomain|rdomain|rtlabel|link[012]|stp|llprio|` +
		`!\S+)(?:[ \t]|$)`)
)

// ofHostnameIf is a line of hostname.if that nothing else looks like, and relayStatement one of relayd.conf.
var (
	ofHostnameIf = regexp.MustCompile(`(?m)^[ \t]*(?:inet[ \t]+(?:alias[ \t]+)?[0-9.]+[ \t]+(?:255\.[0-9.]+|0xff[0-9a-f]+)(?:[ \t]|$)|` +
		`(?:wgkey|wgpeer|carpdev|vhid|trunkproto|pppoedev)[ \t])`)
	relayStatement = regexp.MustCompile(`(?m)^[ \t]*(?:(?:http |tcp |dns )?protocol|relay|redirect)[ \t]+\S+[ \t]*\{`)
)

// jailLine is a line of jail.conf.
var jailLine = regexp.MustCompile(`(?m)^[ \t]*(?:vnet|exec\.[a-z]+|path|ip[46]\.addr|host\.hostname|mount\.devfs)[ \t]*(?:\+?=[^;\n]*)?;`)

// anyLine reports whether one of the lines of a text is of a form.
func anyLine(text string, form *regexp.Regexp) bool {
	for line := range strings.SplitSeq(text, "\n") {
		if form.MatchString(strings.TrimSpace(line)) {
			return true
		}
	}
	return false
}

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

// mostLines reports whether four of five lines of a text are of a form, without its comments and empty ones.
func mostLines(text string, form *regexp.Regexp) bool {
	found, all := 0, 0
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		all++
		if form.MatchString(line) {
			found++
		}
	}
	return found > 0 && 5*found >= 4*all
}

func base(file string) string { return file[strings.LastIndexByte(file, '/')+1:] }

// GuideSystem returns FreeBSD or OpenBSD for a guide to it with blocks that guide reads, "" for other texts.
func GuideSystem(file, text string) System {
	if noGuide(file, text) || dragonFly.MatchString(text) && !strings.Contains(text, "FreeBSD") {
		return ""
	}
	text = plainPage(text)
	var all, rules votes // rules of pf are old words of one system and new ones of the other
	blocks := false
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
		v := countVotes(b.kind, b.text(text))
		blocks = true
		if b.kind == PF {
			rules.freebsd, rules.openbsd = rules.freebsd+v.freebsd, rules.openbsd+v.openbsd
			return true
		}
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
	old := len(formerOpenBSD.FindAllString(text, -1))
	switch told := onlyNamed(text); {
	case blocks && told == OpenBSD && all.freebsd-old <= all.openbsd+1 && all.linux == 0:
		return OpenBSD
	case blocks && told == FreeBSD && all.openbsd == 0 && all.linux == 0:
		return FreeBSD
	}
	all.freebsd, all.openbsd = all.freebsd+rules.freebsd, all.openbsd+rules.openbsd
	system, bsd := all.winner()
	switch {
	case system == "" && bsd:
		return onlyNamed(text)
	case system != Linux:
		return system
	}
	return ""
}

// dragonFly names a relative of FreeBSD that is not described.
var dragonFly = regexp.MustCompile(`(?i)\bdragonfly(?:bsd)?\b`)

// formerOpenBSD are settings that FreeBSD has and OpenBSD had.
var formerOpenBSD = regexp.MustCompile(`\bnet\.inet\.tcp\.(?:send|recv)space\b`)

// GuidePart is what a guide to several systems says about one of them: the text with the blocks about others blank.
type GuidePart struct {
	System System
	Text   string
}

// GuideParts returns the parts of a guide that has blocks about a BSD and blocks about another system, nil for others.
// What no line above gives to a system belongs to the BSD that most of the text is about, and so does what stands outside
// of the blocks.
func GuideParts(file, text string) []GuidePart {
	if noGuide(file, text) || strings.Contains(text, "<tunable>") {
		return nil
	}
	text = plainPage(text)
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
	}, func(line, from, to int, head string) {
		if s.outside(line, from, to, head) == nil {
			return
		}
		for system, kept := range blank {
			if system != mostly {
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
