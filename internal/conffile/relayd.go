package conffile

import (
	"slices"
	"strconv"
)

// relayd reads relayd.conf of OpenBSD (grammar of usr.sbin/relayd/parse.y): the times of checks and of sessions, the length
// of the queue of a listener, the buffers of sockets, and statements that relayd does not take. Entries are relayd:timeout in
// milliseconds, relayd:backlog and relayd:buffer in bytes.
func (s *scanner) relayd() {
	r := &relayFile{s: s, interval: 10, macros: map[string]string{}, tables: map[string]bool{}, p: &pfLexer{s: s, pos: textStart(s.src), line: 1, ends: "\n,{}()=<>#\""}}
	for r.p.pos < len(s.src) && !s.stopped {
		r.step()
	}
	r.statement()
	r.conclude()
}

type relayFile struct {
	s        *scanner
	p        *pfLexer
	block    string // protocol, relay, redirect or router
	lists    int    // open braces of lists
	interval float64
	timeouts []word
	macros   map[string]string
	tables   map[string]bool // that are defined
	used     []word          // names of tables behind to
	include  bool
}

// relayBlocks are the statements that hold others.
var relayBlocks = []string{"protocol", "relay", "redirect", "router"}

func (r *relayFile) step() {
	p := r.p
	switch c := p.s.src[p.pos]; {
	case c == '\n' && r.lists == 0:
		r.statement()
		p.step()
	case c == '{' && r.lists == 0 && r.block == "" && r.opens() != "":
		r.block, p.words = r.opens(), p.words[:0]
		p.pos++
	case c == '{':
		r.lists++
		p.pos++
	case c == '}' && r.lists > 0:
		r.lists--
		p.pos++
	case c == '}':
		r.statement()
		r.block = ""
		p.pos++
	case c == '\n':
		p.pos++
		p.line++
	case c == '\\' || c == '#' || isBlank(c) || c == ',':
		p.step()
	default:
		p.readWord()
	}
}

// opens is the block that the words before a brace begin, "" for a list.
func (r *relayFile) opens() string {
	for _, w := range r.p.words[:min(2, len(r.p.words))] {
		if slices.Contains(relayBlocks, w.text) && !w.quoted {
			return w.text
		}
	}
	return ""
}

// relayActions are the words that begin a rule of a protocol; before relayd 5.6 the direction or the part of the request did.
var relayActions = []string{"request", "response", "header", "cookie", "query", "path", "url"}

func (r *relayFile) statement() {
	words := r.p.words
	r.p.words = words[:0]
	if len(words) == 0 {
		return
	}
	first := words[0]
	if len(words) == 3 && words[1].text == "=" && len(r.macros) < maxVariables {
		if value := words[2]; isNumber(value) && !value.quoted {
			r.reject(value, "relayd takes a string for a macro: write \""+value.text+"\"")
		}
		r.macros["$"+first.text] = words[2].text
		return
	}
	for i, w := range words {
		if value, known := r.macros[w.text]; known && !w.quoted {
			words[i].text = value
		}
	}
	for i, w := range words {
		number := i+1 < len(words) && isNumber(words[i+1])
		switch {
		case w.quoted:
		case i == 0 && w.text == "include":
			r.include = true
		case w.text == "<" && i > 0 && i+1 < len(words):
			r.table(words[i-1].text, words[i+1])
		case w.text == "ssl":
			r.reject(w, "relayd has no ssl: write tls")
			return
		case w.text == "timeout" && number && first.text != "session":
			r.timeouts = append(r.timeouts, words[i+1])
			r.entry("relayd:timeout", w, words[i+1])
		case w.text == "interval" && number && i == 0:
			r.interval, _ = strconv.ParseFloat(words[i+1].text, 64)
		case w.text == "backlog" && number, w.text == "buffer" && number && i > 0 && words[i-1].text == "socket":
			r.entry("relayd:"+w.text, w, words[i+1])
		}
	}
	switch {
	case first.quoted || len(words) < 2:
	case first.text == "session" && words[1].text != "timeout" && r.block != "protocol":
		r.reject(words[1], "relayd has no session "+words[1].text+": session timeout is all that it takes here")
	case r.block == "protocol" && slices.Contains(relayActions, first.text):
		r.reject(first, "a rule of a protocol begins with match, pass or block: write match "+first.text+" ...")
	case r.block == "" && first.text == "log" && (words[1].text == "updates" || words[1].text == "all"):
		r.reject(words[1], "relayd has no log "+words[1].text+" since OpenBSD 6.5: write log state changes or log host checks")
	}
}

// table takes the name of a table behind a word.
func (r *relayFile) table(before string, name word) {
	switch {
	case len(r.used)+len(r.tables) > maxVariables || name.expands:
		r.include = true // what it means is not known
	case before == "table":
		r.tables[name.text] = true
	case before == "to":
		r.used = append(r.used, name)
	}
}

func (r *relayFile) entry(name string, key, value word) {
	r.s.emit(Entry{Key: key.text, Name: name, Value: value.text, Line: key.line, KeySpan: key.span, ValueSpan: value.span,
		Raw: r.s.wholeLines(key.span), style: styleFixed})
}

func (r *relayFile) reject(w word, reason string) {
	r.s.rejected(Reject{Line: w.line, Span: w.span, Reason: reason, certain: true,
		Because: "relayd refuses the whole file because of this line, and does not start."})
}

// conclude rejects times that are longer than the interval of the checks, and tables that nothing defines.
func (r *relayFile) conclude() {
	for _, w := range r.used {
		if !r.tables[w.text] && !r.include {
			r.reject(w, "nothing defines the table <"+w.text+">")
		}
	}
	for _, w := range r.timeouts {
		if n, err := strconv.ParseFloat(w.text, 64); err == nil && n >= r.interval*1000 {
			r.reject(w, "the timeout of "+w.text+" ms is not shorter than the interval of the checks, "+
				strconv.FormatFloat(r.interval, 'g', -1, 64)+" s")
		}
	}
}
