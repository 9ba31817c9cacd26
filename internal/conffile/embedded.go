package conffile

import (
	"cmp"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// embedded reads lines that a script writes into a configuration file, when
// its path tells what kind of file it is.
func (s *scanner) embedded(h heredoc, from, to, line int) {
	first := max(strings.IndexByte(s.src[from:to], '\n'), 0)
	sub, kind := s.into(word{text: h.path, line: line, span: Span{from, from + first}}, func(e *Entry) {
		e.Flags |= h.flags
		if !h.literal {
			s.expand(e)
		}
	})
	if sub != nil && !h.literal {
		sub.rejected = s.unlessExpanded(sub.rejected)
	}
	switch kind {
	case "":
		keep(&s.elsewhere, s.resolved(h.path), written{h, from, to, line})
	case Sysctl, Loader, Limits:
		if kind == Sysctl && s.system != Linux && s.system != "" && strings.Contains(s.resolved(h.path), "/sysctl.d/") {
			s.reject(line, Span{from, from + first}, notAtBoot(s.system, path.Dir(s.resolved(h.path))))
		}
		sub.lines(from, to, line, func(line, from, to int) bool { sub.written(kind, line, from, to); return true })
	case RC:
		h.edited = h.literal && s.substituted(to)
		sub.document = &h
		sub.rcText(from, to, line, sub.rcCommand)
	case PF, HostnameIf, Script:
		if text, plain := h.unescaped(s.src[from:to]); plain && !h.append {
			sub.path = s.resolved(h.path)
			s.standing(sub, text, kind, h.path, from, line)
		}
	default:
		if h.path != rulesInput || !s.says(rulesElsewhere) && !inserted.MatchString(s.src[from:to]) {
			s.whole(sub, kind, h.path, from, to, line)
		}
		if kind == LoginConf && h.append && s.system == OpenBSD {
			s.appendedClasses(from, to, line)
		}
	}
}

// rulesInput stands for what nft reads from its standard input. The rules are not all there are where the script adds others,
// or puts some in.
const rulesInput = "stdin.nft"

var (
	rulesElsewhere = regexp.MustCompile(`\bnft\b[^\n]*(?:\b(?:add|insert)[ \t]+rule\b|[ \t](?:-f|--file)[ \t]*["']?[$/.a-zA-Z])`)
	inserted       = regexp.MustCompile(`(?m)^[ \t]*\$|\$\(|\x60`)
)

// notAtBoot says that a BSD does not read the files of a folder of Linux.
func notAtBoot(system System, folder string) string {
	return system.Title() + " does not read " + folder + " at boot, so these settings are lost at the next boot; write them to " +
		"/etc/sysctl.conf"
}

// printed reads a here-document that goes to no file of which the script tells: settings of a BSD, wherever they go.
func (s *scanner) printed(from, to, line int) {
	if kind := kindOfContent(s.src[from:to]); s.system != FreeBSD && s.system != OpenBSD || kind != Sysctl && kind != Loader {
		return
	}
	sub := s.marking(func(e *Entry) { e.In, e.Block, e.style = Other, line, styleFixed })
	sub.rejected = func(Reject) {}
	sub.lines(from, to, line, func(line, from, to int) bool { sub.sysctlLine(line, from, to); return true })
}

// unescaped is the text as the shell writes it, in which a blank stands for the backslash before a dollar sign, so that
// every other character has its place, and the name of no macro for what the shell puts in; plain is false where that is
// the output of a command.
func (h heredoc) unescaped(text string) (written string, plain bool) {
	if h.literal {
		return text, true
	}
	written = strings.ReplaceAll(text, `\$`, " \x00")
	written = variable.ReplaceAllStringFunc(written, func(m string) string {
		return "\x00" + strings.Repeat("0", len(m)-1)
	})
	if strings.ContainsAny(written, "$`") {
		return "", false
	}
	return strings.ReplaceAll(written, "\x00", "$"), true
}

// written is a here-document whose path tells no kind of file.
type written struct {
	heredoc
	from, to, line int
}

// uncopied reads the here-documents that no command copied to a place where their kind is known.
func (s *scanner) uncopied() {
	left := slices.SortedFunc(maps.Values(s.elsewhere), func(a, b written) int { return a.from - b.from })
	for _, w := range left {
		s.printed(w.from, w.to, w.line)
	}
}

// copied reads a here-document that was written to a file of another name when a
// command copies it to its place.
func (s *scanner) copied(words []word) {
	var paths []string
	for _, w := range words {
		if !strings.HasPrefix(w.text, "-") {
			paths = append(paths, s.resolved(w.text))
		}
	}
	if len(paths) != 2 {
		return
	}
	from, known := s.elsewhere[paths[0]]
	if !known {
		return
	}
	delete(s.elsewhere, paths[0])
	if from.path = paths[1]; strings.HasSuffix(from.path, "/") || strings.HasSuffix(from.path, ".d") {
		from.path = path.Join(from.path, path.Base(paths[0]))
	}
	if fromPath(from.path, "").Kind != "" {
		s.embedded(from.heredoc, from.from, from.to, from.line)
	}
}

// whole reads src[from:to] as a file by itself, for into's scanner.
func (s *scanner) whole(into *scanner, kind Kind, file string, from, to, line int) {
	s.standing(into, s.src[from:to], kind, file, from, line)
}

// standing reads a text that stands at a place of the source as a file by itself. The section of a file that is written
// piece by piece goes on from one piece to the next.
func (s *scanner) standing(into *scanner, text string, kind Kind, file string, from, line int) {
	move := func(sp *Span) { sp.Start, sp.End = sp.Start+from, sp.End+from }
	file = s.resolved(file)
	sub := &scanner{src: text, path: into.path, system: s.system, section: s.sections[file], altq: s.altq,
		part: kind != Script || !s.outer, indented: into.indented}
	if kind == Ifcfg || kind == UCI { // which are named by what they set up
		sub.path = cmp.Or(file, into.path)
	}
	defer func() {
		s.altq = sub.altq
		if sub.section != "" && file != "" {
			keep(&s.sections, file, strings.Clone(sub.section))
		}
	}()
	sub.entry = func(e Entry) bool {
		e.Line += line - 1
		if n, err := strconv.Atoi(e.Value); err == nil && pfWhole[e.Name] {
			e.Value = strconv.Itoa(n + line - 1) // a line of the text
		}
		move(&e.KeySpan)
		move(&e.ValueSpan)
		move(&e.Raw)
		into.emit(e)
		return !into.stopped
	}
	sub.rejected = func(r Reject) {
		r.Line += line - 1
		r.certain = r.certain || kind == HostnameIf || kind == Jail // which take no placeholder for wrong
		move(&r.Span)
		if kind == PF && r.Because == "" {
			r.Because = "pfctl loads nothing of a file with such a line."
		}
		into.rejected(r)
	}
	sub.file(kind)
}

// parts are the kinds of files whose lines stand in a context, so that a text
// written into one is read as a whole.
var parts = []Kind{LinkFile, NetworkFile, Interfaces, Modprobe, ModulesLoad, Cmdline, Tuned, NFTables, Netplan,
	Ifcfg, Service, Keyfile, Udev, UCI}

// into returns a scanner whose entries are marked as written into a file, with
// the kind of that file, "" when it is none that is followed.
func (s *scanner) into(target word, mark func(*Entry)) (*scanner, Kind) {
	file := s.resolved(target.text)
	g := fromPath(s.readAs(file, target.line, target.span), "[")
	switch g.Kind {
	case Sysctl:
		s.reload.wrote(file)
	case Loader, RC, Limits:
	default:
		if s.part || !slices.Contains(parts, g.Kind) && !(s.system == OpenBSD || s.system == FreeBSD && g.Kind != HostnameIf) {
			return nil, ""
		}
	}
	sub := &scanner{src: s.src, path: s.path, system: s.system, rejected: s.rejected}
	other := s.otherRoot(file, target.line)
	sub.entry = func(e Entry) bool {
		e.In = g.Kind
		if e.Block == 0 {
			e.Block = other
		}
		mark(&e)
		s.emit(e)
		return !s.stopped
	}
	return sub, g.Kind
}

// fileRoot is what stands above the folder of a configuration file: the root of the host or of a jail.
var fileRoot = regexp.MustCompile(`^(.*?)/?(?:etc|boot)/`)

// otherRoot is the line on which a script first writes below the root of another host than that of its first file; 0
// for the first one.
func (s *scanner) otherRoot(file string, line int) int {
	root := fileRoot.FindStringSubmatch(file)
	if root == nil {
		return 0
	}
	first, known := s.roots[root[1]]
	if !known {
		if len(s.roots) > 0 {
			first = line
		}
		keep(&s.roots, root[1], first)
	}
	return first
}

// resolved puts the variables that hold a plain text, or the end of a path, into a path.
func (s *scanner) resolved(path string) string {
	if !strings.Contains(path, "$") || len(path) > maxPath {
		return path
	}
	return os.Expand(path, func(name string) string {
		if value, known := s.variables[name]; known {
			return value
		}
		if value, known := s.below[name]; known {
			return value
		}
		if file, ok := strings.CutSuffix(strings.ToLower(name), "_conf"); ok && fileVariables[file] {
			return "$" + name + "/" + file + ".conf"
		}
		return "$" + name
	})
}

// fileVariables are the names of files that variables are called after, as in PF_CONF.
var fileVariables = map[string]bool{"pf": true, "sysctl": true, "loader": true}

// belowVariable is a path below a directory that only the running script knows.
var belowVariable = regexp.MustCompile(`^\$(?:[A-Za-z_][A-Za-z0-9_]*|\{[A-Za-z_][A-Za-z0-9_]*\})(/(?:etc|boot)/[A-Za-z0-9._/-]+)$`)

// maxVariables bounds the variables of a script that are remembered, and maxPath
// the length of a path with them.
const (
	maxVariables = 1000
	maxPath      = 4096
)

// keep puts a value into a map of bounded size, and makes the map when it is the first one.
func keep[V any](into *map[string]V, key string, value V) {
	if *into == nil {
		*into = map[string]V{}
	}
	if len(*into) < maxVariables {
		(*into)[strings.Clone(key)] = value
	}
}

// located is a command that prints where a program is.
var located = regexp.MustCompile("^(?:\\$\\(|\x60)[ \\t]*(?:which|command[ \\t]+-v|type[ \\t]+-[pP])[ \\t]+([a-z][a-z0-9._-]*)[ \\t]*(?:\\)|\x60)$")

// remember keeps the assignments that a command consists of. Of those that not every
// run makes, only paths are kept: what is written there is written there at times.
func (s *scanner) remember(c *command) {
	for _, w := range s.constants(c.words) {
		e, ok := s.assignment(w)
		switch {
		case !ok && (declarations[w.text] || strings.HasPrefix(w.text, "-")):
		case !ok:
			return
		case located.MatchString(e.Value) && e.Flags&Append == 0 && len(s.variables) < maxVariables:
			keep(&s.variables, e.Key, located.FindStringSubmatch(e.Value)[1])
		case belowVariable.MatchString(e.Value) && e.Flags&Append == 0 && len(s.below) < maxVariables:
			keep(&s.below, e.Key, strings.Clone(e.Value))
			delete(s.variables, e.Key)
		case e.Flags&(Expands|Append) != 0 || c.conditional && !s.firstPath(e) || len(e.Value) > maxPath ||
			len(s.variables) >= maxVariables:
			delete(s.variables, e.Key)
		default:
			keep(&s.variables, e.Key, e.Value)
		}
	}
}

// firstPath reports whether an assignment gives a variable its first value, and that a path.
func (s *scanner) firstPath(e Entry) bool {
	known, set := s.variables[e.Key]
	return strings.HasPrefix(e.Value, "/") && (!set || known == e.Value)
}

// brokenQuotes is a text in quotation marks that is to hold such marks, and blanks between them.
var brokenQuotes = regexp.MustCompile(`^"[A-Z_]+="[^" \n]+[ \t][^"\n]*""$`)

// lineInto returns the scanner for what a command writes in its own line, as into does.
func (s *scanner) lineInto(target word, base Entry) (*scanner, Kind) {
	return s.into(target, func(e *Entry) {
		e.Raw, e.style = base.Raw, styleFixed
		e.Flags |= base.Flags
	})
}

// echoInto reads echo 'NAME=VALUE' >> FILE for configuration files; a quoted text
// may have several lines.
func (s *scanner) echoInto(words []word, target word, base Entry) {
	if len(words) > 1 && words[0].quoted && strings.Contains(words[0].text, "%") { // printf
		if words[0].text == `%s\n` {
			for _, w := range words[1:min(len(words), maxLoop)] {
				s.echoInto([]word{w}, target, base)
			}
			return
		}
		base.Flags |= Expands | Conditional // the other words are put into the text
		words = words[:1]
	}
	sub, kind := s.lineInto(target, base)
	if kind == "" || len(words) == 0 {
		return
	}
	from, to := words[0].span.Start, words[len(words)-1].span.End
	if w := words[0]; len(words) == 1 && w.quoted && strings.IndexByte(`'"`, s.src[from]) >= 0 {
		from, to = from+1, to-1
	} else if len(words) == 1 && w.quoted && kind == Sysctl {
		sub.quotedValue(w, base) // NAME="VALUE"
		return
	}
	switch {
	case (kind == Ifcfg || kind == Cmdline) && brokenQuotes.MatchString(s.src[from:to]):
		s.rejected(Reject{Line: words[0].line, Span: Span{from, to}, certain: true,
			Reason:  "the inner quotation marks end the text, so the line is written without quotation marks",
			Because: "The value in the file then ends at the first blank. Write 'NAME=\"...\"'."})
		from, to = from+1, to-1
	case len(words) > 1 && strings.ContainsAny(s.src[from:to], `'"`):
		return
	}
	if slices.Contains(parts, kind) || kind == HostnameIf {
		unread := "\\$`"
		if kind == HostnameIf {
			sub.path, unread = s.resolved(target.text), "\\`" // a variable stands for what an option takes
		} else if kind == Netplan && !strings.Contains(s.src[from:to], "$(") {
			sub, unread = sub.expanding(), "\\`"
		}
		if from < to && !strings.ContainsAny(s.src[from:to], unread) {
			s.whole(sub, kind, target.text, from, to, words[0].line)
		}
		return
	}
	s.lines(from, max(from, to), words[0].line, func(line, from, to int) bool {
		for from < to {
			end, next := to, to
			if i := strings.Index(s.src[from:to], `\n`); i >= 0 { // printf and echo -e
				end, next = from+i, from+i+2
			}
			if !strings.ContainsAny(s.src[from:end], "\\$`") {
				sub.written(kind, line, from, end)
			} else {
				sub.escaped(kind, line, from, end)
			}
			from = next
		}
		return true
	})
}

// escaped reads a line in which the shell takes the backslash from each quotation mark.
func (s *scanner) escaped(kind Kind, line, from, to int) {
	text := strings.ReplaceAll(s.src[from:to], `\"`, `"`)
	if strings.ContainsAny(text, "\\$`") {
		return
	}
	at := func(p int) int { return from + p + strings.Count(text[:min(p, len(text))], `"`) }
	move := func(sp *Span) { sp.Start, sp.End = at(sp.Start), at(sp.End) }
	inner := *s
	inner.src = text
	inner.entry = func(e Entry) bool {
		move(&e.KeySpan)
		move(&e.ValueSpan)
		return s.entry(e)
	}
	inner.rejected = func(r Reject) {
		move(&r.Span)
		s.rejected(r)
	}
	inner.written(kind, line, 0, len(text))
}

// quotedValue reads one word of a shell that is a line of sysctl.conf without its quotes.
func (s *scanner) quotedValue(w word, base Entry) {
	name, value, assigned := strings.Cut(w.text, "=")
	if name = strings.TrimSpace(name); !assigned || w.expands || strings.ContainsAny(w.text, "\n\\") || !isSysctl(name) {
		return
	}
	e := base
	e.Key, e.Line, e.KeySpan, e.style = name, w.line, w.span, styleFixed
	s.sysctlValue(e, strings.TrimSpace(value), w)
}

// written reads one line that a command writes into a file.
func (s *scanner) written(kind Kind, line, from, to int) {
	switch kind {
	case Sysctl:
		s.sysctlLine(line, from, to)
	case Loader:
		s.loaderLine(line, from, to)
	case Limits:
		s.limitsLine(line, from, to)
	case RC:
		if !strings.ContainsRune(s.src[from:to], '\\') { // which a string has before a quote, and the file has not
			s.rcText(from, to, line, s.rcCommand)
		}
	}
}

// sedCommand reads the lines that sed -i adds to a configuration file: '$a TEXT',
// '/RE/i TEXT', and what it substitutes in sysctl.conf and in the kernel command line of GRUB's file.
func (s *scanner) sedCommand(words []word, base Entry) {
	if len(words) < 3 || !strings.HasPrefix(words[0].text, "-i") {
		return
	}
	w := words[len(words)-2]
	m, arguments := added.FindStringSubmatchIndex(s.text(w.span)), s.grubArguments(w)
	line, substitutes := s.replacedLine(w)
	if m == nil && arguments == nil && !substitutes {
		return
	}
	sub, kind := s.lineInto(words[len(words)-1], base)
	switch {
	case kind == Cmdline:
		sub.kernelArguments(arguments, Entry{Raw: base.Raw})
	case substitutes && kind == Sysctl:
		// The file may hold no such line.
		sub.marking(func(e *Entry) { e.Flags |= Conditional }).written(kind, w.line, line.Start, line.End)
	case m != nil && (kind == Sysctl || kind == Loader || kind == Limits):
		sub.written(kind, w.line, w.span.Start+m[2], w.span.Start+m[3])
	}
}

// added is a command of sed's that adds one line.
var added = regexp.MustCompile(`^'(?:/[^/'\n]*/|\$|[0-9]+)? ?[aic]\\? *([^'\\\n$]*[^'\\\n$ ])'$`)

// inner reads the script in the argument of sh -c.
func (s *scanner) inner(words []word) {
	for i, w := range words {
		text := s.text(w.span)
		switch {
		case i > 0 && strings.HasPrefix(words[i-1].text, "-") && strings.HasSuffix(words[i-1].text, "c"):
			if n := len(text); !s.within && n > 2 && text[0] == text[n-1] && (text[0] == '\'' || text[0] == '"' && !strings.Contains(text, "\\")) {
				s.within = true
				s.script(w.span.Start+1, w.span.End-1, w.line)
				s.within = false
			}
			return
		case !strings.HasPrefix(w.text, "-"):
			return
		}
	}
}

// sysrcFile reads the assignments that sysrc writes into a file of its format.
func (s *scanner) sysrcFile(file word, words []word, base Entry) {
	sub, kind := s.lineInto(file, base)
	if kind != Loader && kind != RC {
		return
	}
	for _, w := range words {
		raw := s.text(w.span)
		if name, _, assigned := strings.Cut(raw, "="); assigned && strings.Contains(name, ".") && !strings.ContainsAny(name, "%$`") {
			s.rejected(Reject{Line: w.line, Span: w.span, Reason: "sysrc writes variables of the shell, of which none has a dot: append " +
				name + "=\"...\" to " + file.text + " without it", Because: "sysrc refuses the name, and the file is as it was."})
		}
		if !strings.Contains(raw, "=") || strings.Contains(raw, "+=") || strings.Contains(raw, "-=") {
			continue // which is printed, removed, or put to what the file holds
		}
		if !w.expands && (!w.quoted || valueQuoted.MatchString(raw)) && !strings.HasPrefix(raw, "-") && !strings.ContainsAny(raw, "\\$`") {
			sub.written(kind, w.line, w.span.Start, w.span.End)
		}
	}
}

// valueQuoted is an assignment with all of its value in quotes, as a file has it.
var valueQuoted = regexp.MustCompile(`^\w+="[^"]*"$`)
