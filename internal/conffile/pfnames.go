package conffile

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/spelling"
)

// pfNames follows the macros and tables of pf.conf, and emits where a name is not the one that was defined:
//
//	pf:rule/macro  a macro that no line above defines, and for which pfctl refuses the whole file
//	pf:rule/table  a table that no line defines or fills: pf makes it, and the rule matches nothing
//	pf:rule/plain  an interface whose name is one of a macro without its dollar sign
//	pf:rule/other  the same behind "!"
//	pf:rule/again  a macro that a later line defines otherwise before any uses it; the value is its line
//
// A macro that is not defined is emitted where it is used first.
//
// The value is the name that was meant, empty where none is near. A text without macros of its own may be a part of a
// file, of which nothing is said; so is what an included file may define (parse.y of pfctl).
type pfNames struct {
	macros, tables map[string]bool
	filled         map[string]bool   // tables that rules fill or block, and that programs do
	used           []word            // tables of rules
	unknown        []word            // macros
	idle           map[string][]word // definitions that nothing has used yet
	again          []pfAgain
	plain, other   []word // macros without their sign, and those behind "!"
	elsewhere      bool
}

// pfAgain is a definition of a macro that another one replaces.
type pfAgain struct {
	name word
	line int
}

func (n *pfNames) statement(s *scanner, words []word) {
	if n.macros == nil {
		n.macros, n.tables, n.filled, n.idle = map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string][]word{}
	}
	for i, w := range words {
		n.plainName(words, i)
		if w.quoted || len(n.used)+len(n.unknown) > pfNamesLimit {
			continue
		}
		if name, ok := strings.CutPrefix(w.text, "$"); ok {
			name = name[:len(name)-len(strings.TrimLeft(name, "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"))]
			delete(n.idle, name)
			if isName(name) && !n.macros[name] && !slices.ContainsFunc(n.unknown, func(u word) bool { return u.text == name }) {
				w.text = name
				n.unknown = append(n.unknown, w)
			}
		} else if name := strings.TrimPrefix(w.text, "!"); strings.HasPrefix(name, "<") && strings.HasSuffix(name, ">") {
			w.text = strings.Trim(name, "<>")
			n.used = append(n.used, w)
			if words[0].text == "block" || i > 0 && words[i-1].text == "overload" {
				n.filled[w.text] = true
			}
		}
	}
	switch {
	case words[0].text == "include":
		n.elsewhere = true
	case len(words) > 2 && words[1].text == "=":
		n.define(words)
		s.pfUnquoted(words)
	case words[0].text == "table" && len(words) > 1:
		n.tables[strings.Trim(words[1].text, "<>")] = true
	}
}

// define takes a definition of a macro.
func (n *pfNames) define(words []word) {
	name := words[0].text
	same := func(a, b word) bool { return a.text == b.text }
	if before := n.idle[name]; before != nil && !slices.EqualFunc(before[2:], words[2:], same) && len(n.again) < pfNamesLimit {
		n.again = append(n.again, pfAgain{before[0], words[0].line})
	}
	n.macros[name] = true
	n.idle[name] = slices.Clone(words)
}

// pfUnquoted rejects a list or a network as the value of a macro without quotes: a macro takes strings and numbers, and
// an unquoted string ends before a brace and a slash (varset and allowed_in_string of pfctl's parse.y).
func (s *scanner) pfUnquoted(words []word) {
	first, last := words[2], words[len(words)-1]
	list := first.text == "{" && !first.quoted && words[3%len(words)].text != "{" // two braces are a template's
	if !isName(words[0].text) || words[0].quoted || !list && (first.quoted || !bareNetwork.MatchString(first.text)) {
		return
	}
	span := Span{first.span.Start, last.span.End}
	s.rejected(Reject{Line: words[0].line, Span: span, certain: true,
		Reason: "a macro's value with braces or a slash stands in quotes: write " + words[0].text + " = \"" +
			strings.ReplaceAll(strings.Join(strings.Fields(s.src[span.Start:span.End]), " "), "\"", "") + "\""})
}

var bareNetwork = regexp.MustCompile(`^(?:[0-9]+\.[0-9.]*[0-9]|[0-9a-fA-F]*:[0-9a-fA-F:.]*)/[0-9]+$`)

// pfNamesLimit bounds the names that are kept of a file.
const pfNamesLimit = 10000

// plainName keeps an interface with the name of a macro, without its sign.
func (n *pfNames) plainName(words []word, i int) {
	w, before := words[i], i-1
	named := n.macros[w.text] && strings.Contains(w.text, "_") // which no interface has
	if before >= 0 && words[before].text == "(" && named && i+1 < len(words) && words[i+1].text == ")" {
		before--
	} else if !named && !plainMacro.MatchString(w.text) {
		return
	}
	negated := before > 0 && words[before].text == "!"
	inParentheses := before < i-1
	switch on := before > 0 && words[before].text == "on" || before > 1 && negated && words[before-1].text == "on"; {
	case w.quoted || !on && !inParentheses || len(n.plain)+len(n.other) >= pfNamesLimit:
	case negated:
		n.other = append(n.other, w)
	default:
		n.plain = append(n.plain, w)
	}
}

// plainMacro is a name that macros have and interfaces have not.
var plainMacro = regexp.MustCompile(`^(?:ext|int|wan|lan|dmz|out|in|outside|inside|vpn|wifi)_?if$`)

func (n *pfNames) conclude(s *scanner) {
	for _, w := range n.plain {
		s.pfName("pf:rule/plain", w, "$"+w.text)
	}
	for _, w := range n.other {
		s.pfName("pf:rule/other", w, "$"+w.text)
	}
	if n.elsewhere {
		return
	}
	macros, tables := slices.Sorted(maps.Keys(n.macros)), slices.Sorted(maps.Keys(n.tables))
	for _, w := range n.unknown {
		if len(macros) > 0 {
			s.pfName("pf:rule/macro", w, nearest(w.text, macros))
		}
	}
	for _, a := range n.again {
		s.pfName("pf:rule/again", a.name, strconv.Itoa(a.line))
	}
	for _, w := range n.used {
		if n.tables[w.text] {
			continue
		}
		meant := nearest(w.text, tables)
		whole := len(macros) > 0 && len(tables) > 0 && !n.filled[w.text]
		if meant != "" || whole {
			s.pfName("pf:rule/table", w, meant)
			n.tables[w.text] = n.tables[w.text] || meant == "" // told once
		}
	}
}

func (s *scanner) pfName(name string, w word, meant string) {
	s.emit(Entry{Key: w.text, Name: name, Value: meant, Line: w.line, KeySpan: w.span, ValueSpan: w.span,
		Raw: s.wholeLines(w.span), style: styleFixed})
}

// nearest returns the first of the names that is one slip away, or one or two letters longer or shorter; "" for none.
func nearest(name string, names []string) string {
	for _, n := range names[:min(len(names), maxVariables)] {
		longer, shorter := name, n
		if len(n) > len(name) {
			longer, shorter = n, name
		}
		extended := strings.HasPrefix(longer, shorter) && len(longer) < len(shorter)+3
		numbered := strings.Trim(longer, "0123456789") == strings.Trim(shorter, "0123456789")
		if len(shorter) > 3 && !numbered && (extended || spelling.Slip(name, n)) {
			return n
		}
	}
	return ""
}
