package conffile

import (
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// word is one word of a shell command.
type word struct {
	span    Span   // as written, quotes included
	text    string // without quotes and backslashes
	line    int
	quoted  bool // holds a quote or a backslash
	expands bool // holds a variable or a command substitution
}

// command is a simple command of a shell script, with its redirections.
type command struct {
	words       []word
	target      word // of the last > or >>, empty text without one
	append      bool // the redirection is >>
	raw         Span // the lines that the command is written on
	line        int
	conditional bool
	body        int  // where the body of the function begins that alone is around it, 0 without one
	byRelease   bool // and what decides is the release of the system
	piped       bool // into the next command
	list        bool // words of an array, no command
}

// shellLexer splits a shell text into simple commands. It knows as much of
// the language as finding command lines needs: quotes, escapes, comments,
// separators, here-documents, and whether a command is inside a construct
// that may not run. It never fails: what it does not understand becomes words
// of commands that nobody asks for.
type shellLexer struct {
	s        *scanner
	pos, end int
	line     int
	depth    int // of if, case, loops and braces
	body     int // where the outermost construct begins, if it is a brace
	release  int // depth of the construct that asks for the release, 0 outside of one
	after    bool
	list     bool // inside NAME=( )
	// unclosed is told of a quote that does not end before the next assignment, and then ends with its line; nil where
	// the language is the shell's own.
	unclosed   func(line int, quote Span)
	heredocs   []heredoc
	resumed    int // here-documents that a quoted delimiter was taken to end
	cmd        command
	handle     func(*command)
	descriptor string // that the redirection which comes is for, "" for the usual one
}

// maxResumed bounds the here-documents of a script that are searched to the end of the text for their delimiter.
const maxResumed = 20

type heredoc struct {
	delimiter string
	tabs      bool // <<-: leading tabs are dropped
	literal   bool // the delimiter is quoted: nothing is expanded
	edited    bool // a command that edits texts follows the literal text
	path      string
	append    bool  // to what the file holds
	flags     Flags // of what the text sets
}

// shell calls handle for each simple command of src[from:to]. The command is
// only valid during the call.
func (s *scanner) shell(from, to, line int, handle func(*command)) {
	(&shellLexer{s: s, pos: from, end: to, line: line, handle: handle}).run()
}

func (l *shellLexer) run() {
	for l.pos < l.end && !l.s.stopped {
		l.step()
	}
	l.flush()
}

// step consumes one token.
func (l *shellLexer) step() {
	src := l.s.src
	switch c := src[l.pos]; {
	case c == '\n':
		l.flush()
		l.after = false
		l.pos++
		l.line++
		l.skipHeredocs()
	case c == ' ' || c == '\t' || c == '\r' && (l.pos+1 == l.end || src[l.pos+1] == '\n'):
		l.pos++
	case c == '\\' && l.pos+1 < l.end && src[l.pos+1] == '\n':
		l.pos += 2
		l.line++
	case c == '#':
		for l.pos < l.end && src[l.pos] != '\n' {
			l.pos++
		}
	case c == ';' || c == '&' || c == '|' || c == '(' || c == ')':
		l.operator(c)
	case c == '<' || c == '>':
		l.redirect(c)
	default:
		w := l.readWord()
		if l.pos < l.end && (src[l.pos] == '<' || src[l.pos] == '>') && !w.quoted && isDigits(w.text) {
			l.descriptor = w.text
			return
		}
		l.word(w)
	}
}

// isDigits reports whether a text is a number.
func isDigits(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

func (l *shellLexer) operator(c byte) {
	n := 1
	if l.pos+1 < l.end && l.s.src[l.pos+1] == c {
		n = 2
	}
	l.cmd.piped = c == '|' && n == 1
	l.flush()
	if c == '(' || c == ')' {
		l.list = c == '(' && l.pos > 0 && l.s.src[l.pos-1] == '='
	}
	l.after = n == 2 && (c == '&' || c == '|')
	l.pos += n
}

// redirect reads a redirection with its target.
func (l *shellLexer) redirect(c byte) {
	src := l.s.src
	start := l.pos
	for l.pos < l.end && (src[l.pos] == c || src[l.pos] == '&' || src[l.pos] == '|') {
		l.pos++
	}
	op, usual := src[start:l.pos], l.descriptor == "" || l.descriptor == "1"
	l.descriptor = ""
	tabs := op == "<<" && l.pos < l.end && src[l.pos] == '-'
	if tabs {
		l.pos++
	}
	for l.pos < l.end && (src[l.pos] == ' ' || src[l.pos] == '\t') {
		l.pos++
	}
	if l.pos == l.end || strings.IndexByte("\n;&|()<>", src[l.pos]) >= 0 {
		return
	}
	w := l.readWord()
	const longest = 16 << 10
	below := src[l.pos:min(l.end, l.pos+longest)]
	if op == "<" && w.text == "EOF" && !w.quoted && (strings.Contains(below, "\nEOF\n") || strings.HasSuffix(below, "\nEOF")) {
		l.s.rejected(Reject{Line: w.line, Span: Span{start, l.pos}, certain: true, Reason: "this reads a file called EOF: write <<EOF",
			Because: "A here-document begins with <<. The lines below are run as commands instead."})
	}
	switch {
	case op == "<<":
		l.heredocs = append(l.heredocs, heredoc{delimiter: w.text, tabs: tabs, literal: w.quoted})
	case c == '>' && strings.Trim(op, ">|") == "" && usual:
		l.cmd.target, l.cmd.append = w, strings.HasPrefix(op, ">>")
	}
	l.cover(w)
}

// readWord reads a word at the current position, which is not a separator.
func (l *shellLexer) readWord() word {
	src, start := l.s.src, l.pos
	w := word{line: l.line}
	var b strings.Builder
	plain := start // start of the part not yet in b
	take := func(upTo int) { b.WriteString(src[plain:upTo]) }
	for l.pos < l.end {
		c := src[l.pos]
		if strings.IndexByte(" \t\n;&|()<>", c) >= 0 || c == '\r' && (l.pos+1 == l.end || src[l.pos+1] == '\n') {
			break
		}
		switch c {
		case '\\':
			w.quoted = true
			take(l.pos)
			l.pos++
			plain = l.pos
			if l.pos < l.end {
				if src[l.pos] == '\n' {
					l.line++
					plain++
				}
				l.pos++
			}
		case '\'', '"':
			w.quoted = true
			take(l.pos)
			l.quote(c, &b, &w)
			plain = l.pos
		case '$', '`':
			w.expands = true
			l.substitution()
		default:
			l.pos++
		}
	}
	plain = min(plain, l.pos)
	if b.Len() == 0 && plain == start {
		w.text = src[start:l.pos]
	} else {
		take(l.pos)
		w.text = b.String()
	}
	w.span = Span{start, l.pos}
	return w
}

// quote reads a quoted part, the opening quote at the current position.
func (l *shellLexer) quote(q byte, b *strings.Builder, w *word) {
	src := l.s.src
	l.pos++
	plain := l.pos
	if end, open := l.openQuote(q); open {
		l.unclosed(l.line, Span{l.pos - 1, end})
		l.pos = end
		b.WriteString(src[plain:end])
		return
	}
	for l.pos < l.end && src[l.pos] != q {
		switch c := src[l.pos]; {
		case c == '\n':
			l.line++
			l.pos++
		case q == '"' && c == '\\' && l.pos+1 < l.end && strings.IndexByte("\\\"$`\n", src[l.pos+1]) >= 0:
			b.WriteString(src[plain:l.pos])
			plain = l.pos + 1
			if src[l.pos+1] == '\n' {
				l.line++
				plain++
			}
			l.pos += 2
		case q == '"' && (c == '$' || c == '`'):
			w.expands = true
			l.substitution()
		default:
			l.pos++
		}
	}
	b.WriteString(src[plain:min(l.pos, l.end)])
	if l.pos < l.end {
		l.pos++
	}
}

// openQuote reports a quote, which begins at the current position, that ends nowhere or with the quote that opens the
// value of an assignment in a later line; end is that of its own line.
func (l *shellLexer) openQuote(q byte) (end int, open bool) {
	rest := l.s.src[l.pos:l.end]
	first := strings.IndexByte(rest, '\n')
	if l.unclosed == nil || first < 0 && strings.IndexByte(rest, q) >= 0 {
		return 0, false
	}
	if first < 0 {
		first = len(rest)
	}
	shut := strings.IndexByte(rest, q)
	if 0 <= shut && shut < first {
		return 0, false
	}
	if shut > 0 {
		line := rest[strings.LastIndexByte(rest[:shut], '\n')+1 : shut]
		if !strings.HasSuffix(line, "=") || !isName(strings.TrimSpace(line[:len(line)-1])) {
			return 0, false
		}
	}
	return l.pos + first, true
}

// isName reports whether a word may be the name of a variable.
func isName(s string) bool {
	for i := range len(s) {
		if s[i] != '_' && (!isAlnum(s[i]) || i == 0 && s[i] <= '9') {
			return false
		}
	}
	return s != ""
}

// substitution skips $name, ${...}, $(...) and `...`.
func (l *shellLexer) substitution() {
	src := l.s.src
	if src[l.pos] == '`' {
		for l.pos++; l.pos < l.end && src[l.pos] != '`'; l.pos++ {
			if src[l.pos] == '\n' {
				l.line++
			}
		}
		l.pos = min(l.pos+1, l.end)
		return
	}
	l.pos++
	if l.pos == l.end || src[l.pos] != '(' && src[l.pos] != '{' {
		return
	}
	open, shut := src[l.pos], byte(')')
	if open == '{' {
		shut = '}'
	}
	for depth := 0; l.pos < l.end; l.pos++ {
		switch src[l.pos] {
		case open:
			depth++
		case shut:
			if depth--; depth == 0 {
				l.pos++
				return
			}
		case '\n':
			l.line++
		}
	}
}

// word adds a word to the current command.
func (l *shellLexer) word(w word) {
	l.cover(w)
	if len(l.cmd.words) == 0 && !w.quoted && l.reserved(w.text) {
		return
	}
	l.cmd.words = append(l.cmd.words, w)
}

// reserved handles the reserved words that may stand before a command.
func (l *shellLexer) reserved(text string) bool {
	switch text {
	case "if", "while", "until", "for", "case", "{":
		if l.depth++; l.depth == 1 {
			l.body = 0
			if text == "{" && !l.after {
				l.body = l.pos
			}
		}
		if line, _, _ := strings.Cut(l.s.src[l.pos:l.end], "\n"); l.release == 0 && text != "{" && asksRelease.MatchString(line) {
			l.release = l.depth
		}
	case "fi", "done", "esac", "}":
		if l.depth = max(l.depth-1, 0); l.depth < l.release {
			l.release = 0
		}
	case "then", "do", "else", "elif", "!":
	default:
		return false
	}
	return true
}

// asksRelease is a condition on the release of the system.
var asksRelease = regexp.MustCompile(`\buname -[rUK]|freebsd-version|kern\.os(?:release|reldate)|(?i)os_?(?:release|rel|version|ver)\b`)

// flags are what a setting of the command is marked with.
func (c *command) flags() (f Flags) {
	if c.conditional {
		f |= Conditional
	}
	if c.byRelease {
		f |= ByRelease
	}
	return f
}

// cover extends the command's lines over a word.
func (l *shellLexer) cover(w word) {
	if l.cmd.line == 0 {
		l.cmd.line, l.cmd.raw = w.line, w.span
		l.cmd.conditional, l.cmd.body = l.depth > 0 || l.after, 0
		if l.depth == 1 && !l.after {
			l.cmd.body = l.body
		}
		l.cmd.byRelease = l.release > 0
		l.cmd.list = l.list
	}
	l.cmd.raw.End = max(l.cmd.raw.End, w.span.End)
}

// flush hands out the current command.
func (l *shellLexer) flush() {
	if l.cmd.line != 0 {
		for i := range l.heredocs {
			if h := &l.heredocs[i]; h.path == "" {
				if h.path = writtenFile(&l.cmd); h.path == "" && printsHere(&l.cmd) {
					h.path = l.s.groupTarget(l.cmd.raw.Start).text
				}
				h.append = l.cmd.append || slices.ContainsFunc(l.cmd.words, func(w word) bool { return w.text == "-a" })
				h.flags |= l.cmd.flags()
			}
		}
		if len(l.cmd.words) > 0 {
			l.cmd.raw = l.s.wholeLines(l.cmd.raw)
			l.handle(&l.cmd)
		}
		l.cmd = command{words: l.cmd.words[:0]}
	}
}

// skipHeredocs skips the bodies of the here-documents of the line that ended,
// and reads those that are written into configuration files.
func (l *shellLexer) skipHeredocs() {
	for _, h := range l.heredocs {
		from, line, to := l.pos, l.line, l.end
		quoted := Span{} // the delimiter in quotes, which ends nothing
		ended := false
		for l.pos < l.end {
			start, next := l.pos, l.end
			if i := strings.IndexByte(l.s.src[l.pos:l.end], '\n'); i >= 0 {
				next = l.pos + i + 1
				l.line++
			}
			text := strings.TrimRight(l.s.src[l.pos:next], "\r\n")
			l.pos = next
			if h.tabs {
				text = strings.TrimLeft(text, "\t")
			}
			if l.s.indented {
				text = strings.TrimLeft(text, " \t")
			}
			if text == h.delimiter {
				to, ended = start, true
				break
			}
			if quoted.End == 0 && len(text) > 2 && strings.Trim(text, `'"`) == h.delimiter {
				quoted = Span{start, start + len(text)}
			}
		}
		if !ended && quoted.End > 0 && l.resumed < maxResumed { // what follows is meant for commands
			l.resumed++
			to, l.pos, l.line = quoted.Start, min(quoted.End+1, l.end), line+strings.Count(l.s.src[from:quoted.Start], "\n")
			l.s.rejected(Reject{Line: l.line, Span: quoted, certain: true,
				Reason:  "this does not end the here-document: write " + h.delimiter + " without quotes",
				Because: "Only the first line may have the quotes; the shell takes this line and everything after it as text."})
			l.line++
		}
		if h.path != "" {
			l.s.emptied(h, from, to, line)
			l.s.embedded(h, from, to, line)
		} else {
			l.s.printed(from, to, line)
		}
	}
	l.heredocs = l.heredocs[:0]
}

// assignment splits name=value or name+=value; ok is false for other words.
// The value's span is inside the quotes when it is one quoted text.
func (s *scanner) assignment(w word) (e Entry, ok bool) {
	raw := s.text(w.span)
	n := 0
	for n < len(raw) && (raw[n] == '_' || isAlnum(raw[n]) && (n > 0 || raw[n] > '9')) {
		n++
	}
	eq := n
	if eq < len(raw) && raw[eq] == '+' {
		e.Flags |= Append
		eq++
	}
	if n == 0 || eq >= len(raw) || raw[eq] != '=' {
		return e, false
	}
	e.Key = raw[:n]
	e.Name = e.Key
	e.Line = w.line
	e.KeySpan = Span{w.span.Start, w.span.Start + n}
	s.setValue(&e, w, eq+1)
	return e, true
}

// setValue takes what follows offset n of a word's raw text as e's value.
func (s *scanner) setValue(e *Entry, w word, n int) {
	raw := s.text(w.span)
	e.ValueSpan = Span{w.span.Start + n, w.span.End}
	if w.expands {
		e.Flags |= Expands
	}
	value := raw[n:]
	if len(value) >= 2 && (value[0] == '"' || value[0] == '\'') && value[len(value)-1] == value[0] &&
		strings.IndexByte(value[1:len(value)-1], value[0]) < 0 && !strings.HasSuffix(value, "\\\"") {
		e.Flags |= Quoted
		e.style = styleDouble
		if value[0] == '\'' {
			e.style = styleSingle
		}
		e.ValueSpan = Span{e.ValueSpan.Start + 1, e.ValueSpan.End - 1}
	}
	// The key part is never quoted here, so the unquoted text begins with it.
	if len(w.text) >= n && w.text[:n] == raw[:n] {
		e.Value = w.text[n:]
	} else {
		e.Value = strings.Trim(value, `"'`)
	}
}
