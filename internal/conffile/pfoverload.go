package conffile

import (
	"slices"
	"strconv"
	"strings"
)

// pfOverload follows the tables that rules fill with the sources of too many connections, and emits pf:rule/overload at a
// block of such a table, without quick, whose packets the rule that fills it passes all the same, because it comes later;
// the value is the line of that rule.
//
// It emits pf:rule/unused at the name of such a table that no rule uses, so that nobody is blocked.
type pfOverload struct {
	macros  map[string]string // the tables that the options in a macro fill
	blocks  map[string]pfScope
	guarded map[string]bool // tables of a block that holds
	used    map[string]bool // tables that rules match by
	filled  []word          // tables that rules fill
	open    []pfScope       // blocks that a later rule overrules
	by      []int
	tables  []string
}

func (o *pfOverload) statement(words []word) {
	if o.macros == nil {
		o.macros, o.blocks, o.guarded, o.used = map[string]string{}, map[string]pfScope{}, map[string]bool{}, map[string]bool{}
	}
	o.tell(words)
	switch {
	case len(o.macros)+len(o.blocks)+len(o.open) > pfNamesLimit:
	case len(words) == 3 && words[1].text == "=":
		o.macros["$"+words[0].text] = pfOverloads(strings.Fields(words[2].text))
	case words[0].text == "block":
		o.block(words)
	case words[0].text == "pass":
		o.pass(words)
	}
}

// tell notes the tables that a statement fills or matches by; the text of a macro may hold any.
func (o *pfOverload) tell(words []word) {
	for i, w := range words {
		switch table := strings.TrimPrefix(w.text, "!"); {
		case len(o.used)+len(o.filled) > pfNamesLimit || words[0].text == "table":
			return
		case w.quoted:
			for _, field := range pfListed(w.text) {
				o.used[strings.TrimLeft(field, "!(")] = true
			}
		case i > 0 && words[i-1].text == "overload" && strings.HasPrefix(w.text, "<") && strings.HasSuffix(w.text, ">"):
			o.filled = append(o.filled, w)
		case strings.HasPrefix(table, "<"):
			o.used[table] = true
		}
	}
}

// block takes a block of all that comes from a table.
func (o *pfOverload) block(words []word) {
	scope, table, quick := pfScope{line: words[0].line, first: words[0]}, "", false
	for i, w := range words {
		before := words[max(i-1, 0)].text
		switch {
		case w.text == "in" || w.text == "out":
			scope.direction = w.text
		case before == "on":
			scope.iface = w.text
		case before == "from" && strings.HasPrefix(w.text, "<"):
			table = w.text
		}
		quick = quick || w.text == "quick" || w.expands && before != "on" && before != "to" // a macro may hold quick
	}
	if table == "" {
		return
	}
	o.guarded[table] = true
	if _, again := o.blocks[table]; !again && !quick && len(words) < 12 {
		o.guarded[table] = false
		o.blocks[table] = scope
	}
}

func (o *pfOverload) pass(words []word) {
	table, scope := "", pfScope{line: words[0].line}
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = w.text
		if filled := o.macros[w.text]; filled != "" {
			table = filled
		}
		if w.text == "in" || w.text == "out" {
			scope.direction = w.text
		} else if i > 0 && words[i-1].text == "on" {
			scope.iface = w.text
		}
	}
	if filled := pfOverloads(texts); filled != "" {
		table = filled
	}
	block, ok := o.blocks[table]
	fits := ok && (block.direction == "" || block.direction == scope.direction) && (block.iface == "" || block.iface == scope.iface)
	if fits && !slices.Contains(o.tables, table) {
		o.open, o.by, o.tables = append(o.open, block), append(o.by, scope.line), append(o.tables, table)
	}
}

// pfOverloads returns the table behind overload, "" for none.
func pfOverloads(texts []string) string {
	if i := slices.Index(texts, "overload"); i >= 0 && i+1 < len(texts) {
		return strings.TrimRight(texts[i+1], ",)")
	}
	return ""
}

func (o *pfOverload) conclude(s *scanner, elsewhere bool) {
	for _, w := range o.filled {
		if !o.used[w.text] && !elsewhere {
			o.used[w.text] = true // told once
			s.pfName("pf:rule/unused", w, w.text)
		}
	}
	for i, block := range o.open {
		if !o.guarded[o.tables[i]] {
			s.pfName("pf:rule/overload", block.first, strconv.Itoa(o.by[i]))
		}
	}
}
