package conffile

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// other reads the sysctls of Linux and the commands that files of other programs
// hold, line by line: guides, and what Nix, Puppet, Chef, Terraform and the like
// make files of.
//
//	net.core.rmem_max = 1                      a line of sysctl.conf
//	"net.core.rmem_max" = lib.mkDefault 1;     Nix; : and => separate too
//	sysctl { 'net.core.rmem_max': value => 1 } a resource, also over several lines
//	line => 'net.core.rmem_max=1',             an assignment in quotes
//	['sysctl']['net']['core']['x'] = 1         attributes of Chef
//	$ sudo sysctl -w net.core.rmem_max=1       a command of a script
//	iface eth0 inet static                     a file of ifupdown, networkd or netplan (region)
//
// In a text with fences (```) only what is between them counts; what a sysctl
// command prints is skipped.
func (s *scanner) other() {
	r := &otherReader{s: s, fenced: fence.MatchString(s.src)}
	if path.Ext(s.path) == ".nix" {
		r.nix = &nixUnits{}
	}
	s.src = unescapes.Replace(s.src)
	s.foreign()
	s.lines(textStart(s.src), len(s.src), 1, func(line, from, to int) bool {
		if from >= r.read {
			r.line(line, from, to)
		}
		return true
	})
	s.vyos.conclude(s)
}

// fence is the mark around a block of a guide.
var fence = regexp.MustCompile("(?m)^[ \\t]*```")

// unescapes writes the signs of the shell that a page of HTML has by their names, with blanks so that all stays in its place.
var unescapes = strings.NewReplacer("&gt;&gt;", ">>      ", "&gt;", ">   ", "&lt;&lt;", "<<      ", "&lt;", "<   ", "&amp;&amp;", "&&        ")

// Holds reports whether a text of no known kind holds settings of Linux that other
// reads.
func Holds(file, text string) bool {
	if noGuide(file, text) {
		return false
	}
	found := false
	s := &scanner{src: text, path: file, system: Linux, entry: func(e Entry) bool {
		system, known := SystemOfKey(e.Name)
		general := strings.HasPrefix(e.Name, "kernel.") || strings.HasPrefix(e.Name, "fs.") // which other programs have names of
		found = found || system == Linux && !general || strings.ContainsAny(e.Name, ":/") ||
			e.In != "" && (system == Linux || !known) // which a command writes
		return !found
	}, rejected: func(Reject) { found = true }}
	s.other()
	return found
}

// noGuide reports what is no text, and programs.
func noGuide(file, text string) bool {
	return CheckText(file, text) != nil || slices.Contains(programs, path.Ext(strings.ToLower(file)))
}

// programs are the suffixes of programs, whose tables of names are no settings.
var programs = []string{".go", ".c", ".h", ".cc", ".cpp", ".hpp", ".rs", ".java", ".js", ".ts", ".cs", ".kt", ".swift",
	".scala"}

// otherReader is what the lines before one say about it.
type otherReader struct {
	s       *scanner
	fenced  bool // the text has fences
	inside  bool // of two fences
	skipped bool // the text between these fences is no configuration
	printed bool // a command before printed this line
	read    int  // where the commands that were read end
	nix     *nixUnits
	starts  *bool // whether the text says how containers are started, once that was asked
	flags   Flags // of the entries on this line
	plain   int   // up to where no file begins that region reads
	name    *word
	left    int // lines in which the value of name may come
}

// valueLines bounds how far below a name its value is looked for.
const valueLines = 6

var (
	sysctlName = `([a-z][a-z0-9_]*(?:[./][-A-Za-z0-9_*@:]+)+)`
	prompt     = regexp.MustCompile(`^(?:(?:[(\[][A-Za-z0-9_. -]{1,40}[)\]] ?)?\[?[A-Za-z0-9_.-]+@[A-Za-z0-9_.-]+[^$#"'=]{0,40}[$#]|[$%])[ \t]+`)
	runs       = regexp.MustCompile(`^(?:RUN[ \t]|(?:sudo[ \t]+(?:-[A-Za-z]+[ \t]+)*)?(?:/[a-z/]*/)?` +
		`(sysctl|ethtool|tc|ip|ip6?tables|nmcli|grubby|kernelstub|rpm-ostree|ifconfig|echo|printf|cat|tee|modprobe|cpupower|tuned-adm|sed|sh|bash)[ \t])`)
	attribute   = regexp.MustCompile(`^[a-z]+[ \t]+=`) // of a language, such as sysctl = {
	heredocMark = regexp.MustCompile(`<<-?[ \t]*["'\\]?([A-Za-z_]+)`)
	attributes  = regexp.MustCompile(`\[["']sysctl["']\](?:\[["'](?:params|attributes)["']\])?` +
		`((?:\[["'][-A-Za-z0-9_.]+["']\])+)[ \t]*=[ \t]*(.+)$`)
	assigns    = regexp.MustCompile(`^["']?` + sysctlName + `["']?[ \t]*(?:=>|=|:[ \t])[ \t]*([^=>{ \t].*)$`)
	inQuotes   = regexp.MustCompile(`["'][ \t]*` + sysctlName + `[ \t]*=[ \t]*([^"'=>][^"'=]*)["']`)
	option     = regexp.MustCompile(`--sysctl[= \t]+["']?` + sysctlName + `=([^"' \t]+)`)
	named      = regexp.MustCompile(`["']` + sysctlName + `["'][ \t]*(?::|[ \t]do\b|=>[ \t]*\{|=[ \t]*\{|$)`)
	nameField  = regexp.MustCompile(`^["']?(?:name|key|param|parameter)["']?[ \t]*(?:=>|=|:)[ \t]*["']` + sysctlName + `["']`)
	valueField = regexp.MustCompile(`(?:^|[^:A-Za-z0-9_])value["']?[ \t]*(?:=>|=|:|[ \t])[ \t]*([^ \t].*)$`)
	ranQuoted  = regexp.MustCompile(`(["'])(?:sudo[ \t]+)?(?:\$\{[^}]*\})?(?:/[a-z/]*/)?((?:sysctl[ \t]+-|ethtool[ \t]+-|` +
		`tc[ \t]+qdisc|ip[ \t]+(?:link|route)[ \t]|echo[ \t][^">]*>))`)
	nixPriority = regexp.MustCompile(`^(?:lib\.)?mk(?:Default|Force|Override[ \t]+[0-9]+)[ \t]+`)
)

// htmlOpen is the mark of HTML before the first line of a block.
var htmlOpen = regexp.MustCompile(`^(?:<(?:pre|code|li|p|td)(?:[ \t][^>]*)?>[ \t]*)+`)

// setsSysctl is a command that sets a sysctl, on a line by itself: of what stands between the fences of a guide, prose,
// it alone counts.
var setsSysctl = regexp.MustCompile(`^(?:[$#] )?(?:sudo )?sysctl -w [a-z][a-z0-9_]*\.[^ \t=]+=["']?[^ \t]`)

func (r *otherReader) line(line, from, to int) {
	s := r.s
	from, to = s.trim(from, to)
	if m := htmlOpen.FindStringIndex(s.src[from:to]); m != nil {
		if from += m[1]; strings.Contains(s.src[from:to], "</") {
			to = from + strings.Index(s.src[from:to], "</")
		}
	}
	text := s.src[from:to]
	if r.fenced {
		if strings.HasPrefix(text, "```") {
			r.inside, r.printed = !r.inside, false
			r.skipped = strings.HasPrefix(text, "```diff")
			r.containers(line+1, min(s.lineOf(to).End+1, len(s.src)))
			r.settings(line+1, min(s.lineOf(to).End+1, len(s.src)))
			return
		}
		if r.skipped || !r.inside && !setsSysctl.MatchString(text) {
			return
		}
	}
	if r.region(line, from, to) {
		r.printed = false
		return
	}
	if strings.HasPrefix(text, "# ") && r.alone(from, to) && runs.MatchString(text[2:]) {
		from, r.printed = from+2, false // what root's prompt looks like
		text = s.src[from:to]
	}
	if text == "" || text[0] == '#' || strings.HasPrefix(text, "//") || text[0] == ';' {
		r.printed = false
		return
	}
	if !r.fenced && (text == "sysctls:" || text == "- sysctls:") && r.containersBelow(line, from) {
		return
	}
	if m := prompt.FindStringIndex(text); m != nil {
		from, r.printed = from+m[1], false
		text = s.src[from:to]
	}
	if m := runs.FindStringSubmatchIndex(text); m != nil && !named.MatchString(text) && !attribute.MatchString(text) {
		end := r.commandEnd(from, to)
		if m[2] < 0 { // RUN of a Dockerfile
			from += m[1]
		}
		s.script(from, end, line)
		r.read, r.printed = end, m[2] >= 0 && text[m[2]:m[3]] == "sysctl"
		return
	}
	if vyosSet.MatchString(text) {
		s.script(from, to, line)
		r.printed = false
		return
	}
	if a, b := bootArguments(text); b > 0 {
		s.wholeAs(Cmdline, from+a, from+b, line)
		return
	}
	if r.nix != nil && r.nixLine(line, from, to) {
		return
	}
	if r.printed = r.printed && !isProse(text); !r.printed {
		r.forms(line, from, to)
	}
}

// containers reads the text between two fences, from the end of the first on, that says how containers are started.
func (r *otherReader) containers(line, from int) {
	s := r.s
	end := strings.Index(s.src[from:], "```")
	if !r.inside || end < 0 || !strings.Contains(s.src[from:from+end], "sysctls:") {
		return
	}
	inner := *s
	inner.src = s.src[:from+end]
	block := s.src[from : from+end]
	y := &yamlReader{s: &inner, starts: startsContainers(block) || containersPart.MatchString(block)}
	if !y.starts {
		return
	}
	inner.lines(from, from+end, line, func(line, from, to int) bool { y.line(line, from, to); return true })
	r.read = from + end
}

// containersPart is a part of what containers are started by, without their images.
var containersPart = regexp.MustCompile(`^\s*(?:#[^\n]*\s+)*sysctls:|(?m:^services:)`)

// containersBelow reads the block below a line sysctls: in a text without fences that says how containers are started.
func (r *otherReader) containersBelow(line, from int) bool {
	s := r.s
	if r.starts == nil {
		starts := startsContainers(s.src)
		r.starts = &starts
	}
	if !*r.starts {
		return false
	}
	at := s.lineOf(from)
	depth, end := from-at.Start, at.End
	for end < len(s.src) {
		next := s.lineOf(end + 1)
		text := strings.TrimLeft(s.src[next.Start:next.End], " ")
		indent := next.End - next.Start - len(text)
		if text == "" || indent < depth || indent == depth && !strings.HasPrefix(text, "- ") {
			break
		}
		end = next.End
	}
	inner := *s
	inner.src = s.src[:end]
	y := &yamlReader{s: &inner, starts: true}
	inner.lines(at.Start, end, line, func(line, from, to int) bool { y.line(line, from, to); return true })
	r.read = end
	return true
}

// alone reports whether the lines above and below one are empty, marks of a block, or commands like it.
func (r *otherReader) alone(from, to int) bool {
	src := r.s.src
	empty := func(line string) bool {
		line = strings.TrimSpace(line)
		command, prompted := strings.CutPrefix(line, "# ")
		return line == "" || strings.HasPrefix(line, "```") || prompted && runs.MatchString(command)
	}
	start := r.s.lineOf(from).Start
	above, below := src[:max(start-1, 0)], strings.TrimPrefix(strings.TrimLeft(src[to:], " \t\r"), "\n")
	first, _, _ := strings.Cut(below[:min(len(below), 200)], "\n")
	return empty(above[strings.LastIndexByte(above, '\n')+1:]) && empty(first)
}

// commandEnd returns where a command ends that begins on the line from:to: after
// the lines that continue it, and after its here-document.
func (r *otherReader) commandEnd(from, to int) int {
	src := r.s.src
	next := func() bool {
		if to >= len(src) {
			return false
		}
		n := strings.IndexByte(src[to+1:], '\n')
		if n < 0 {
			n = len(src) - to - 1
		}
		to += 1 + n
		return true
	}
	if i := strings.IndexByte(src[to:], '\n'); i >= 0 {
		to += i
	} else {
		to = len(src)
	}
	for strings.HasSuffix(strings.TrimRight(src[from:to], " \t\r"), `\`) && next() {
	}
	m := heredocMark.FindStringSubmatch(src[from:to])
	if m == nil {
		return to
	}
	for first := to; next(); {
		if last := strings.LastIndexByte(src[:to], '\n'); strings.TrimSpace(src[last+1:to]) == m[1] {
			return to
		} else if to-first > MaxSize/16 {
			break
		}
	}
	return to
}

// forms reads a line of another language.
func (r *otherReader) forms(line, from, to int) {
	text := r.s.src[from:to]
	at := func(m []int, i int) word {
		return word{span: Span{from + m[2*i], from + m[2*i+1]}, text: text[m[2*i]:m[2*i+1]], line: line}
	}
	if r.left--; r.left < 0 {
		r.name = nil
	}
	if m := attributes.FindStringSubmatchIndex(text); m != nil {
		key := at(m, 1)
		key.text = strings.NewReplacer("'][", ".", `"][`, ".", "[", "", "]", "", "'", "", `"`, "").Replace(key.text)
		r.emit(key, at(m, 2))
		return
	}
	if m := assigns.FindStringSubmatchIndex(text); m != nil {
		r.emit(at(m, 1), at(m, 2))
		return
	}
	found := false
	for _, form := range []*regexp.Regexp{inQuotes, option} {
		if m := form.FindStringSubmatchIndex(text); m != nil {
			if r.flags = 0; form == option {
				r.flags = Container
			}
			r.emit(at(m, 1), at(m, 2))
			r.flags = 0
			found = true
		}
	}
	if found {
		return
	}
	if r.s.otherFile(line, from, to) {
		return
	}
	if m := ranQuoted.FindStringSubmatchIndex(text); m != nil {
		if end := strings.IndexByte(text[m[4]:], text[m[2]]); end > 0 {
			command := strings.TrimSuffix(text[m[4]:m[4]+end], `\n`)
			r.s.script(from+m[4], from+m[4]+len(command), line)
			return
		}
	}
	for _, form := range []*regexp.Regexp{named, nameField} {
		if m := form.FindStringSubmatchIndex(text); m != nil {
			w := at(m, 1)
			r.name, r.left = &w, valueLines
			from, text = from+m[1], text[m[1]:]
			break
		}
	}
	if r.name == nil {
		return
	}
	if m := valueField.FindStringSubmatchIndex(text); m != nil {
		r.emit(*r.name, at(m, 1))
		r.name = nil
	}
}

// otherFile reads a line of modprobe.d, limits.conf, GRUB's file, an ifcfg file or rules of udev.
func (s *scanner) otherFile(line, from, to int) (ok bool) {
	kind, text := Kind(""), s.src[from:to]
	switch {
	case moduleOption.MatchString(text):
		kind = Modprobe
	case limitLine.MatchString(text):
		kind = Limits
	case grubLine.MatchString(text):
		kind = Cmdline
	case strings.HasPrefix(text, "ETHTOOL_OPTS=") || strings.HasPrefix(text, "BONDING_OPTS="):
		kind = Ifcfg
	case udevRule.MatchString(text):
		kind = Udev
	default:
		return false
	}
	s.wholeAs(kind, from, to, line)
	return true
}

// wholeAs reads src[from:to] as a file of another kind by itself.
func (s *scanner) wholeAs(kind Kind, from, to, line int) {
	inner := s.marking(func(e *Entry) { e.In = kind })
	inner.whole(inner, kind, "", from, to, line)
}

// moduleOption is a line of modprobe.d that sets options.
var moduleOption = regexp.MustCompile(`^options?[ \t]+[a-z0-9_-]+(?:[ \t]+[A-Za-z0-9_]+=[^ \t]*)+$`)

// emit takes a name and what stands behind it as its value, with quotes, separators
// and comments of the language.
func (r *otherReader) emit(name, value word) {
	if !isSysctl(name.text) {
		return
	}
	s := r.s
	from, to := value.span.Start, value.span.End
	if m := nixPriority.FindStringIndex(s.src[from:to]); m != nil {
		from += m[1]
	}
	if from < to && (s.src[from] == '"' || s.src[from] == '\'') {
		quote := s.src[from]
		if i := strings.IndexByte(s.src[from+1:to], quote); i >= 0 {
			from, to = from+1, from+1+i
		}
	} else {
		for _, mark := range []string{" #", "\t#", " //", ";", ",", " }"} {
			if i := strings.Index(s.src[from:to], mark); i >= 0 {
				to = from + i
			}
		}
	}
	from, to = s.trim(from, to)
	e := Entry{Key: name.text, Name: LinuxName(name.text), Value: s.src[from:to], Line: name.line, KeySpan: name.span,
		ValueSpan: Span{from, to}, Raw: s.wholeLines(Span{name.span.Start, max(name.span.End, to)}), style: styleFixed, Flags: r.flags}
	if yaml := strings.HasPrefix(strings.TrimLeft(s.src[name.span.End:], `"' `), ":"); yaml || path.Ext(s.path) == ".nix" {
		e.Value = cmp.Or(isTrue[e.Value], e.Value)
	}
	if e.Value == "" || isSysctl(e.Value) {
		return // a table of names
	}
	if strings.ContainsAny(e.Value, "$#{}()<>[]`") || strings.Contains(e.Value, "var.") {
		e.Flags |= Expands
	}
	e.Iface = linuxIface(e.Name)
	s.emit(e)
}
