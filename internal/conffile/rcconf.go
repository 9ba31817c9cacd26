package conffile

import (
	"path"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// rcConf reads rc.conf, which the shell reads: assignments, with the shell's
// quotes. The words of ifconfig_IF (also _ipv6 and _aliasN) and the modules of
// kld_list are entries of their own beside the variable's.
//
// FreeBSD: /etc/rc.subr load_rc_config sources the file. OpenBSD reads only
// lines of the form name=value (_rc_parse_conf in /etc/rc.d/rc.subr), which is
// the same for what is written in practice.
func (s *scanner) rcConf() {
	start := textStart(s.src)
	if start > 0 {
		if end := strings.IndexByte(s.src, '\n'); end >= 0 {
			s.markedLine(start, end)
		}
	}
	s.rcText(start, len(s.src), 1, func(c *command) {
		if start > 0 && c.line == 1 {
			return
		}
		s.rcCommand(c)
	})
}

// rcText reads lines of rc.conf, in which a quote that the next assignment ends was left open.
func (s *scanner) rcText(from, to, line int, handle func(*command)) {
	l := shellLexer{s: s, pos: from, end: to, line: line, handle: handle}
	l.unclosed = func(line int, quote Span) {
		s.rejected(Reject{Line: line, Span: quote, certain: true, Reason: "the quote is not closed: write the closing quote",
			Because: "The shell reads on to the next quote, so the following lines become part of the value; without another quote " +
				"it stops with a syntax error."})
	}
	l.run()
}

func (s *scanner) rcCommand(c *command) {
	unquoted := s.endsAtBlank(c)
	for i, w := range c.words {
		e, ok := s.assignment(w)
		if !ok {
			e, ok = s.assignmentOf(w)
		}
		if !ok {
			if i == 0 {
				s.rcNotAssignment(c)
			}
			return
		}
		e.Raw = c.raw
		e.Flags |= c.flags()
		if unquoted {
			e.Flags |= Expands // the value is another one than was meant
		}
		if e.Has(Append) {
			s.reject(e.Line, w.span, "the shell that reads this file has no +=; sysrc has, in its own arguments")
			continue
		}
		s.rcVariable(e)
	}
}

// variableInName is the name of an interface's variable that a script puts together, up to the value.
var variableInName = regexp.MustCompile(`^ifconfig_\$(?:\{\w+\}(?:_ipv6|_alias(?:es|[0-9]+))?|[a-zA-Z]\w*)=`)

// substitutes begin the commands that edit a text.
var substitutes = []string{"sed ", "envsubst", "perl ", "awk "}

// substituted reports whether a command that edits a text follows.
func (s *scanner) substituted(at int) bool {
	const near = 4 << 10
	below := s.src[at:min(len(s.src), at+near)]
	return slices.ContainsFunc(substitutes, func(program string) bool { return strings.Contains(below, program) })
}

// assignmentOf reads an assignment of a here-document to the variable of an interface that the script names by a variable.
func (s *scanner) assignmentOf(w word) (e Entry, ok bool) {
	raw := s.text(w.span)
	name := variableInName.FindString(raw)
	if s.document == nil || name == "" {
		return e, false
	}
	if s.document.literal && s.document.edited {
		return e, false // which puts the name in
	}
	if s.document.literal {
		s.rejected(Reject{Line: w.line, Span: Span{w.span.Start, w.span.Start + len(name) - 1}, certain: true,
			Reason: "the here-document is not expanded, because its first delimiter is in quotes, and a shell sets no variable of such a name: " +
				"take away the quotes",
			Because: "In the file this line is run as a command of that name, which there is not."})
		return e, false
	}
	e = Entry{Key: name[:len(name)-1], Name: name[:len(name)-1], Line: w.line, KeySpan: Span{w.span.Start, w.span.Start + len(name) - 1}}
	s.setValue(&e, w, len(name))
	if !strings.ContainsAny(raw[len(name):], "$`") {
		e.Flags &^= Expands
	}
	return e, true
}

// glued is an assignment whose comment follows the quote without a blank.
var glued = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=(?:"[^"]*"|'[^']*')#`)

// endsAtBlank rejects an assignment that the shell takes for a shorter one: words follow that were meant for its value, or
// a comment that is a part of it.
func (s *scanner) endsAtBlank(c *command) bool {
	first := c.words[0]
	e, ok := s.assignment(first)
	if !ok || s.system != FreeBSD || e.Has(Append) {
		return false
	}
	r := Reject{Line: c.line, Span: Span{first.span.Start, c.words[len(c.words)-1].span.End}, certain: true}
	switch raw := s.text(first.span); {
	case glued.MatchString(raw):
		r.Reason = "the comment is part of the value: write a blank before #"
		r.Because = "In a shell # begins a comment only at the beginning of a word."
	case len(c.words) == 1 || c.conditional || first.quoted || first.expands || e.Value == "" || strings.ContainsAny(e.Value, "/()"):
		return false
	default:
		if _, another := s.assignment(c.words[1]); another {
			return false
		}
		r.Reason = "the value ends at the first blank: put it in quotation marks, " + e.Key + "=\"...\""
		r.Because = "The shell sets the variable to " + e.Value + ", and only for the command " + c.words[1].text + ", which it runs."
	}
	s.rejected(r)
	return true
}

// rcCommands are commands that change the system, and have no place in a file that
// each script of rc.d reads.
var rcCommands = []string{"kldload", "kldunload", "kldstat", "ifconfig", "route", "sysctl", "service", "pfctl",
	"ipfw", "pkg", "mount",
	"devctl"}

// pasted is the first word of a shell's prompt: root@host:~ or [root@host.
var pasted = regexp.MustCompile(`^\[?[A-Za-z0-9_.-]+@[A-Za-z0-9_.-]+(?::[^=]*)?$`)

// rcNotAssignment rejects the common mistakes of blanks around the '=' and of a
// command that was pasted; others are left alone, an rc.conf may hold any.
func (s *scanner) rcNotAssignment(c *command) {
	if c.words[0].text == "sysrc" {
		s.reject(c.line, Span{c.words[0].span.Start, c.words[len(c.words)-1].span.End},
			"not an assignment: every script that reads this file runs sysrc again; leave out the word")
		return
	}
	if !c.conditional && pasted.MatchString(c.words[0].text) {
		s.reject(c.line, c.words[0].span, "not an assignment: the prompt of a shell, pasted along with the text; delete the line")
		return
	}
	if s.system == FreeBSD && !c.conditional && slices.Contains(rcCommands, path.Base(c.words[0].text)) {
		s.reject(c.line, Span{c.words[0].span.Start, c.words[len(c.words)-1].span.End},
			"not an assignment: every script that reads this file runs the command again; modules go into kld_list, other "+
				"commands into /etc/rc.local")
		return
	}
	if key, _, ok := strings.Cut(c.words[0].text, "="); ok && strings.Contains(key, ".") && !strings.ContainsAny(key,
		"/$ ") {
		s.reject(c.line, c.words[0].span, "not an assignment: a shell variable's name cannot hold a dot")
		return
	}
	if len(c.words) > 1 && strings.HasPrefix(c.words[1].text, "=") && s.system != OpenBSD { // whose rc.subr takes blanks
		s.rejected(Reject{Line: c.line, Span: Span{c.words[0].span.Start, c.words[len(c.words)-1].span.End}, certain: true,
			Reason: "not an assignment: the shell runs this as a command; write name=\"value\" without blanks around '='"})
	}
}

// curlyQuotes rejects a value in the quotes of a word processor, which the shell and the loader take for letters.
func (s *scanner) curlyQuotes(e Entry) bool {
	if !strings.HasPrefix(e.Value, "“") && !strings.HasPrefix(e.Value, "”") {
		return false
	}
	if s.stopped {
		return true
	}
	value, _, _ := strings.Cut(e.Value, "\n") // the shell goes on to the next plain quote
	s.rejected(Reject{Line: e.Line, Span: e.ValueSpan, certain: true,
		Reason: "these are typographic quotes, which are part of the value: write " + e.Key + "=\"" +
			strings.Trim(value, "“”\" \t\r") + "\"",
		Because: "The shell knows no quotes but the plain ones, and a YES with others around it switches nothing on."})
	return true
}

// rcVariable emits a variable and what is inside it.
func (s *scanner) rcVariable(e Entry) {
	if strings.HasSuffix(e.Key, "_load") && s.system == FreeBSD {
		e.Flags |= Module
	}
	iface, isIfconfig := ifconfigVariable(e.Key)
	if isIfconfig {
		e.Iface = iface
	}
	if s.curlyQuotes(e) || s.shellOnly(e) {
		return
	}
	s.emit(e)
	if e.Has(Expands) {
		return
	}
	switch {
	case isIfconfig:
		s.ifconfigOptions(s.valueWords(e), e)
	case e.Key == "kld_list":
		for _, w := range s.valueWords(e) {
			s.emitModule(w, e, s.moduleLoadName(w.text), "YES")
		}
	}
}

// shellOnly rejects what only a shell understands in OpenBSD's rc.conf.local, which no shell reads since 5.7 (its upgrade
// guide: "no longer a shell script").
func (s *scanner) shellOnly(e Entry) bool {
	if s.system != OpenBSD || e.In != "" {
		return false
	}
	reason := ""
	switch {
	case strings.Contains(s.text(e.ValueSpan), "\n"):
		reason = "the value of " + e.Key + " must be on one line"
	case e.Has(Expands):
		reason = e.Value + " is not expanded: write the value itself"
	default:
		return false
	}
	if !s.stopped {
		s.rejected(Reject{Line: e.Line, Span: e.ValueSpan, Reason: reason, certain: true,
			Because: "Since OpenBSD 5.7 rc.conf.local is read line by line, and not by a shell."})
	}
	return true
}

// ifconfigVariable returns the interface of ifconfig_IF, ifconfig_IF_ipv6 and
// ifconfig_IF_aliasN; ifconfig_IF_name and the like hold no options.
func ifconfigVariable(name string) (iface string, ok bool) {
	rest, ok := strings.CutPrefix(name, "ifconfig_")
	if !ok {
		return "", false
	}
	dev, suffix, _ := strings.Cut(rest, "_")
	if dev == "DEFAULT" {
		dev = "*"
	}
	return dev, dev != "" && (suffix == "" || suffix == "ipv6" || strings.HasPrefix(suffix, "alias"))
}

// valueWords splits the value of e at blanks, with the spans of the words. A
// value with escapes inside has none.
func (s *scanner) valueWords(e Entry) []word {
	if s.text(e.ValueSpan) != e.Value {
		return nil
	}
	return s.fields(e.ValueSpan.Start, e.ValueSpan.End, e.Line)
}

// fields splits src[from:to] at blanks and newlines.
func (s *scanner) fields(from, to, line int) []word {
	var words []word
	for i := from; i < to; {
		if c := s.src[i]; isBlank(c) || c == '\n' {
			if c == '\n' {
				line++
			}
			i++
			continue
		}
		start := i
		for i < to && !isBlank(s.src[i]) && s.src[i] != '\n' {
			i++
		}
		words = append(words, word{span: Span{start, i}, text: s.src[start:i], line: line})
	}
	return words
}

// emitModule emits the loading of a module that w names, as a part of base.
func (s *scanner) emitModule(w word, base Entry, name, value string) {
	s.emit(Entry{Key: w.text, Name: name, Value: value, Line: w.line, KeySpan: w.span, ValueSpan: w.span,
		Raw: base.Raw, Flags: base.Flags&(Conditional|Quoted) | Module | Part, style: styleFixed})
}

// moduleLoadName returns the catalog's name for loading a kernel module:
// loader.conf's variable on FreeBSD, module:NAME on Linux.
func (s *scanner) moduleLoadName(module string) string {
	module = module[strings.LastIndexByte(module, '/')+1:]
	if s.system == FreeBSD {
		return strings.TrimSuffix(module, ".ko") + "_load"
	}
	module, _, _ = strings.Cut(module, ".ko")
	return "module:" + strings.ReplaceAll(module, "-", "_")
}
