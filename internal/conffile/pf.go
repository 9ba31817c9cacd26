package conffile

import (
	"slices"
	"strconv"
	"strings"
)

// pf reads the set, scrub, match … scrub, queue, altq and limiter statements of
// pf.conf (pf.conf(5)), and of pass and match rules what they say of states and
// queues; everything else is opaque. A statement ends at the end of its line; a
// backslash or an open brace continues it; '#' begins a comment.
func (s *scanner) pf() {
	p := &pfLexer{s: s, pos: textStart(s.src), line: 1, ends: pfEnds, filled: pfTemplate.MatchString(s.src)}
	for p.pos < len(s.src) && !s.stopped {
		p.step()
	}
	p.flush()
	p.neighbours.conclude(s)
	p.names.conclude(s)
	p.queues.conclude(s)
	p.overload.conclude(s, p.neighbours.elsewhere || p.filled)
	p.skipped.conclude(s, p.neighbours.elsewhere || p.filled)
	p.spoof.conclude(s)
}

// pfEnds are the characters that end a word of pf.conf.
const pfEnds = "\n,{}()=#\""

type pfLexer struct {
	s       *scanner
	pos     int
	line    int
	braces  int
	words   []word
	anchors int    // open braces of anchors, whose rules end with their lines
	commaAt int    // the last comma, where nothing has come behind it
	filled  bool   // it is a template, and what a program makes of it is not known
	named   bool   // a name of a host was found
	ends    string // the characters that end a word, beside blanks

	neighbours pfNeighbours
	names      pfNames
	queues     pfQueues
	skipped    pfSkipped
	order      pfOrder
	reach      pfReach
	first      pfFirst
	overload   pfOverload
	spoof      pfSpoof
}

func (p *pfLexer) step() {
	src := p.s.src
	switch c := src[p.pos]; {
	case c == '\n':
		p.comma("pfctl expects the next member behind the comma: leave the comma out, or write a backslash behind it")
		if p.braces == 0 || p.unclosed() {
			p.flush()
		}
		p.pos++
		p.line++
	case c == ',':
		p.commaAt = p.pos
		p.pos++
	case isBlank(c):
		p.pos++
	case c == '\\' && strings.HasPrefix(strings.TrimLeft(src[p.pos+1:min(len(src), p.pos+3)], "\r"), "\n"):
		p.pos = p.pos + 1 + strings.IndexByte(src[p.pos+1:], '\n') + 1
		p.line++
	case c == '#':
		p.comment()
	case c == '{' || c == '}' || c == '(' || c == ')' || c == '=':
		p.punctuation(c)
	default:
		p.readWord()
	}
}

// unclosed rejects a list that another statement stands in, so that its brace is not closed.
func (p *pfLexer) unclosed() bool {
	line, _, _ := strings.Cut(p.s.src[p.pos+1:min(len(p.s.src), p.pos+1+pfLineLooked)], "\n")
	next := strings.Fields(line)
	if len(next) < 2 || !slices.Contains(pfBegin, next[0]) {
		return false
	}
	i := len(p.words) - 1
	for ; i > 0 && p.words[i].text != "{"; i-- {
	}
	p.s.reject(p.words[i].line, p.words[i].span, "this brace is not closed before the statement on line "+strconv.Itoa(p.line+1))
	return true
}

// pfBegin are words that begin a statement and that no list holds, and pfLineLooked is how much of a line is looked at for them.
var pfBegin = []string{"pass", "block", "match", "set", "antispoof", "table", "scrub", "nat", "rdr"}

const pfLineLooked = 200

// comment skips a comment, which goes on in the next line behind a backslash as every line does (lgetc of pfctl's
// parse.y): pf:rule/commented is at a statement there.
func (p *pfLexer) comment() {
	src := p.s.src
	for {
		end := strings.IndexByte(src[p.pos:], '\n')
		if end < 0 {
			p.pos = len(src)
			return
		}
		end += p.pos
		if p.pos = end; src[end-1] != '\\' {
			return
		}
		p.pos++
		p.line++
		next := p.s.fields(p.pos, p.pos+max(0, strings.IndexByte(src[p.pos:], '\n')), p.line)
		if len(next) > 1 && (slices.Contains(pfStatements, next[0].text) || next[1].text == "=") {
			p.s.pfName("pf:rule/commented", next[0], next[0].text)
		}
	}
}

func (p *pfLexer) punctuation(c byte) {
	if c == '}' {
		p.comma("a list cannot end in a comma: remove it")
	}
	p.commaAt = 0
	inAnchor := len(p.words) > 0 && strings.HasSuffix(p.words[0].text, "anchor")
	switch {
	case c == '{' && inAnchor && p.braces == 0:
		p.pos++
		p.anchors++
		p.flush()
		return
	case c == '}' && p.braces == 0 && p.anchors > 0:
		p.pos++
		p.anchors--
		p.flush()
		return
	case c == '{':
		p.braces++
	case c == '}':
		p.braces = max(p.braces-1, 0)
	}
	p.words = append(p.words, word{span: Span{p.pos, p.pos + 1}, text: p.s.src[p.pos : p.pos+1], line: p.line})
	p.pos++
}

// readWord reads a quoted string or a run of other characters.
func (p *pfLexer) readWord() {
	src, start, line := p.s.src, p.pos, p.line
	p.commaAt = 0
	if q := src[p.pos]; q == '"' || q == '\'' {
		p.pos++
		for p.pos < len(src) && src[p.pos] != q {
			if src[p.pos] == '\n' {
				p.line++
			}
			p.pos++
		}
		text := src[start+1 : p.pos]
		p.pos = min(p.pos+1, len(src))
		p.words = append(p.words, word{span: Span{start, p.pos}, text: text, line: line, quoted: true})
		return
	}
	for p.pos < len(src) && !isBlank(src[p.pos]) && strings.IndexByte(p.ends, src[p.pos]) < 0 {
		if src[p.pos] == '\\' && p.pos+1 < len(src) && src[p.pos+1] == '\n' {
			break
		}
		p.pos++
	}
	if p.pos == start {
		p.pos++
	}
	p.words = append(p.words, word{span: Span{start, p.pos}, text: src[start:p.pos], line: line,
		expands: src[start] == '$'})
}

func (p *pfLexer) flush() {
	if len(p.words) > 0 {
		raw := p.s.wholeLines(Span{p.words[0].span.Start, p.words[len(p.words)-1].span.End})
		expanded := p.skipped.expanded(p.words)
		p.s.pfStatement(p.words, expanded, raw, p.filled)
		p.pfResolved(expanded)
		p.s.pfParentheses(p.words)
		p.s.pfNumbers(p.words)
		p.s.pfLog(p.words)
		p.s.pfConsistent(p.words)
		p.s.pfMisspelt(p.words)
		if p.anchors == 0 {
			p.order.statement(p.s, p.words)
		}
		if p.anchors == 0 && !p.filled { // lines of a template may not stay together
			p.reach.statement(p.s, p.words, p.skipped.resolved)
			p.first.statement(p.s, p.words, p.skipped.resolved)
			p.overload.statement(p.words)
		}
		p.neighbours.statement(expanded, raw)
		p.names.statement(p.s, p.words)
		p.queues.statement(p.words, p.skipped.resolved)
		p.skipped.statement(p.words)
		p.skipped.uplink(p.words)
		p.spoof.statement(p.words)
	}
	p.words = p.words[:0]
	p.braces = 0
}

// pfStatement reads a statement, of which expanded are the words with those of the macros.
func (s *scanner) pfStatement(words, expanded []word, raw Span, filled bool) {
	base := Entry{Raw: raw, Iface: pfIface(words)}
	if filled {
		base.Flags |= Conditional // lines of which one may remain
	}
	first := words[0]
	if first.text == "no" && len(words) > 1 {
		first = words[1]
	}
	if gone := pfGone[first.text]; gone != "" && s.system == OpenBSD {
		s.altq = s.altq || first.text == "altq"
		s.rejected(Reject{Line: words[0].line, Span: Span{words[0].span.Start, first.span.End}, Reason: gone, certain: true})
		return
	}
	if s.pfUnknown(words) {
		return
	}
	s.pfHostBits(words, base)
	switch words[0].text {
	case "set":
		s.pfSet(words[1:], base)
	case "scrub":
		s.pfScrub(words[1:], base)
	case "queue", "altq":
		s.pfQueue(words[0].text, words[1:], base)
	case "state", "source":
		s.pfLimiter(words, base)
	case "block":
		s.pfBlock(words)
	case "match", "pass":
		if s.pfQueueWord(words) {
			return
		}
		for i, w := range words {
			if w.text == "scrub" && i+1 < len(words) && words[i+1].text == "(" {
				s.pfScrub(words[i+2:], base)
			}
		}
		s.pfRule(expanded, base)
	}
}

// pfGone are the statements of older pf, which FreeBSD still has, and what
// OpenBSD has in their place (its pf.conf(5) since 4.7, without altq since 5.6).
var pfGone = map[string]string{
	"nat-anchor":   "OpenBSD has no nat-anchor: an anchor holds rules of all kinds",
	"rdr-anchor":   "OpenBSD has no rdr-anchor: an anchor holds rules of all kinds",
	"binat-anchor": "OpenBSD has no binat-anchor: an anchor holds rules of all kinds",
	"scrub":        "OpenBSD has no scrub rules: write match in all scrub (...)",
	"nat":          "OpenBSD has no nat rules: write match out ... nat-to ADDRESS",
	"rdr":          "OpenBSD has no rdr rules: write pass in ... rdr-to ADDRESS",
	"binat":        "OpenBSD has no binat rules: write match ... binat-to ADDRESS",
	"altq":         "OpenBSD has no altq: write queue NAME on INTERFACE bandwidth RATE",
	"ether":        "OpenBSD has no rules of Ethernet, which are FreeBSD's; a bridge filters them by rules in hostname.bridge0",
	"dummynet":     "OpenBSD has no dummynet: write queue NAME on INTERFACE bandwidth RATE max RATE",
}

// pfIface returns the interface after "on", "*" for a list or a macro, or "".
func pfIface(words []word) string {
	for i := 0; i+1 < len(words); i++ {
		if words[i].text == "on" {
			if w := words[i+1]; !w.expands && w.text != "{" && w.text != "!" {
				return w.text
			}
			return "*"
		}
	}
	return ""
}

// pfSet reads set OPTION VALUE and the lists of limit and timeout.
func (s *scanner) pfSet(words []word, base Entry) {
	if len(words) == 0 {
		return
	}
	option := words[0]
	if len(words) == 1 {
		s.pfEntry("pf:set/"+option.text, option, nil, base)
		return
	}
	switch option.text {
	case "limit", "timeout":
		for i := 1; i+1 < len(words); i++ {
			if words[i].text == "{" || words[i].text == "}" {
				continue
			}
			s.pfEntry("pf:set/"+option.text+"/"+words[i].text, words[i], words[i+1:i+2], base)
			i++
		}
	case "reassemble", "syncookies":
		if allowed := pfSetWords[option.text]; !words[1].expands && !slices.Contains(allowed, words[1].text) {
			s.reject(words[1].line, words[1].span, "set "+option.text+" takes "+strings.Join(allowed, " or "))
			return
		}
		s.pfEntry("pf:set/"+option.text, option, words[1:], base)
	case "skip":
		s.pfEntry("pf:set/skip", option, words[min(2, len(words)-1):], base)
	default:
		s.pfEntry("pf:set/"+option.text, option, words[1:], base)
	}
}

// pfSetWords are the words that options take (parse.y of pfctl: reassemble and syncookies).
var pfSetWords = map[string][]string{"reassemble": {"yes", "no"}, "syncookies": {"never", "always", "adaptive"}}

func (s *scanner) pfEntry(name string, key word, values []word, base Entry) {
	e := base
	e.Key, e.Name, e.Line, e.KeySpan = key.text, name, key.line, key.span
	if len(values) == 0 {
		e.Value, e.ValueSpan, e.style = "yes", key.span, styleFixed
		s.emit(e)
		return
	}
	var texts []string
	for _, v := range values {
		texts = append(texts, v.text)
		if v.expands {
			e.Flags |= Expands
		}
	}
	e.Value = strings.Join(texts, " ")
	e.ValueSpan = Span{values[0].span.Start, values[len(values)-1].span.End}
	s.emit(e)
}

// pfScrub reads the options of a scrub rule or of match … scrub (…).
func (s *scanner) pfScrub(words []word, base Entry) {
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch w.text {
		case ")":
			return
		case "no-df", "random-id":
			s.pfEntry("pf:scrub/"+w.text, w, nil, base)
		case "max-mss", "min-ttl", "set-tos":
			if i+1 < len(words) {
				s.pfEntry("pf:scrub/"+w.text, w, words[i+1:i+2], base)
				i++
			}
		case "fragment", "reassemble":
			if i+1 < len(words) && (words[i+1].text == "crop" || words[i+1].text == "drop-ovl") {
				s.reject(words[i+1].line, Span{base.Raw.Start, words[i+1].span.End}, "fragment "+words[i+1].text+
					" is gone since FreeBSD 11 and OpenBSD 4.7: scrub reassembles fragments by itself; leave the two words out")
				return
			}
			if i+1 < len(words) {
				s.pfEntry("pf:scrub/"+w.text, w, words[i+1:i+2], base)
				i++
			}
		}
	}
}

// pfQueue reads queue (OpenBSD) and altq (FreeBSD) definitions.
func (s *scanner) pfQueue(kind string, words []word, base Entry) {
	if len(words) == 0 {
		return
	}
	if kind == "queue" {
		s.pfEntry("pf:queue", words[0], words[:1], base)
	}
	if name := words[0]; s.system == OpenBSD && kind == "queue" && name.text == "default" && !name.quoted {
		s.rejected(Reject{Line: name.line, Span: name.span, certain: true,
			Reason: "default is a word of pf.conf and cannot be the name of a queue: give it another one, such as std"})
		return
	}
	for i := 0; i+1 < len(words); i++ {
		if s.system == FreeBSD && kind == "queue" && words[i].text == "parent" {
			s.rejected(Reject{Line: words[i].line, Span: words[i].span, certain: true,
				Reason: "FreeBSD has no queues with parents: write altq on INTERFACE ... queue { NAMES }, or use dummynet(4)"})
			return
		}
		if s.system == OpenBSD && (slices.Contains(pfSchedulers, words[i].text) || words[i].text == "priority" ||
			words[i].text == "bandwidth" && strings.HasSuffix(words[i+1].text, "%")) {
			if !s.altq { // which was told already
				s.rejected(Reject{Line: words[i].line, Span: Span{words[i].span.Start, words[i+1].span.End}, certain: true,
					Reason: "an option of ALTQ, which OpenBSD no longer has: give the queue a bandwidth in bits per " +
						"second, and write set prio in rules"})
			}
			return
		}
		if n, err := strconv.Atoi(words[i+1].text); s.system == FreeBSD && words[i].text == "priority" && err == nil && n > altqPriority {
			s.reject(words[i+1].line, words[i+1].span, "there is no priority "+words[i+1].text+": priq has 0 to 15, cbq 0 to 7")
		}
		switch w := words[i]; w.text {
		case "bandwidth", "qlimit", "flows", "quantum", "tbrsize", "min", "max", "burst", "priority":
			s.pfEntry("pf:"+kind+"/"+w.text, w, words[i+1:i+2], base)
			i++
		case "cbq", "priq", "hfsc", "fairq", "codel":
			if kind == "altq" {
				s.pfEntry("pf:altq", w, []word{w}, base)
			}
		}
	}
}

// altqPriority is the highest priority of a queue of altq (PRIQ_MAXPRI of FreeBSD's altq_priq.h).
const altqPriority = 15

// pfSchedulers are the disciplines of altq.
var pfSchedulers = []string{"cbq", "priq", "hfsc", "fairq"}

// pfStatements are the words that begin a statement, those of macOS included.
var pfStatements = []string{"set", "table", "scrub", "match", "pass", "block", "antispoof", "anchor", "load",
	"include", "queue", "altq",
	"nat", "rdr", "binat", "no", "nat-anchor", "rdr-anchor", "binat-anchor", "scrub-anchor", "dummynet-anchor",
	"dummynet", "ether", "state",
	"source"}

// letters are those of ASCII.
const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// shellWords are commands that guides print below the rules.
var shellWords = []string{"sudo", "doas", "pfctl", "service", "sysrc", "rcctl", "sysctl", "kldload", "ifconfig"}

// pfUnknown rejects a statement that begins with a word which begins none. What a
// template or a macro hides is left alone.
func (s *scanner) pfUnknown(words []word) bool {
	first := words[0]
	plain := !first.quoted && !first.expands && len(first.text) > 1 &&
		strings.Trim(first.text[1:], "abcdefghijklmnopqrstuvwxyz-") == "" && strings.Trim(first.text[:1], letters) == ""
	limiter := first.text != "state" && first.text != "source" || len(words) > 1 && words[1].text == "limiter"
	if !plain || len(words) > 1 && words[1].text == "=" || slices.Contains(pfStatements, first.text) && limiter {
		return false
	}
	if slices.Contains(shellWords, first.text) {
		if !s.stopped {
			s.rejected(Reject{Line: first.line, Span: first.span, certain: true,
				Reason: "this is a shell command, not a statement of pf.conf; remove it from the file"})
		}
		return true
	}
	s.reject(first.line, first.span, "no statement begins with this word; a statement that goes on in the next "+
		"line ends in a backslash")
	return true
}

// pfQueueWord rejects a queue behind set in FreeBSD, whose filter_set has none;
// OpenBSD takes both ways to write it (filter_opt and filter_set of parse.y).
func (s *scanner) pfQueueWord(words []word) bool {
	set := false
	for i, w := range words {
		if w.quoted || i > 0 && words[i-1].text == "label" {
			continue
		}
		switch w.text {
		case "set":
			set = true
		case "queue":
			if s.system == FreeBSD && set {
				s.reject(w.line, w.span, "FreeBSD chooses a queue by queue NAME, without set")
				return true
			}
		}
	}
	return false
}

// pfLimiter reads the definition of a state limiter or source limiter, such as
// source limiter "dns" id 1 entries 2 limit 3 rate 4/5 inet mask 16 (freebsd-src
// sbin/pfctl/tests/files/pf1076.in and pf1077.in).
func (s *scanner) pfLimiter(words []word, base Entry) {
	if len(words) < 3 || words[1].text != "limiter" {
		return
	}
	prefix := "pf:" + words[0].text + "-limiter"
	s.pfEntry(prefix, word{span: Span{words[0].span.Start, words[1].span.End}, line: words[0].line,
		text: words[0].text + " " + words[1].text}, words[2:3], base)
	prefix += "/"
	for i := 3; i+1 < len(words); i++ {
		switch w := words[i]; w.text {
		case "entries", "limit", "rate":
			s.pfEntry(prefix+w.text, w, words[i+1:i+2], base)
			i++
		}
	}
}

// pfBlock rejects an action of block that stands behind the rule: parse.y of
// pfctl takes it as the next word alone.
func (s *scanner) pfBlock(words []word) {
	for i, w := range words {
		if i > 1 && !w.quoted && (w.text == "return" || w.text == "drop") && words[i-1].text != "label" {
			s.reject(w.line, w.span, "pfctl takes this word behind block alone: write block "+w.text+" ...")
			return
		}
	}
}
