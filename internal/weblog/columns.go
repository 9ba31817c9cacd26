package weblog

import (
	"bytes"
	"slices"
	"strings"
)

// separators are what columns may be separated by, in the order tried; of two in a
// row, as in "a^^b", every second column is empty.
const separators = "\t |,;^\x01"

// piece is one part of a line between separators: in brackets, in quotes, or bare,
// perhaps as key=value.
type piece struct {
	kind byte // '[', '"' or 'w'
	key  string
	text []byte
	pad  bool   // blanks stand before it
	list bool   // of addresses, with a comma and a blank between them
	tail string // stands behind the value
	next bool   // goes on where the column before ends, with nothing between them
}

// split takes a line apart.
func split(line []byte, sep byte) []piece {
	var out []piece
	for pos := 0; pos < len(line); {
		p := piece{kind: 'w'}
		for sep == ' ' && pos > 0 && line[pos] == ' ' && pos+1 < len(line) {
			p.pad = true
			pos++
		}
		if eq := keyLength(line[pos:]); eq > 0 {
			p.key = string(line[pos : pos+eq+1])
			pos += eq + 1
		}
		end := -1
		if pos < len(line) && line[pos] == '"' {
			p.kind = '"'
			end = quoteEnd(line, pos+1)
		} else if pos < len(line) && line[pos] == '[' {
			p.kind = '['
			if i := bytes.IndexByte(line[pos:], ']'); i > 0 {
				end = pos + i
			}
		}
		if end > 0 && (end+1 == len(line) || line[end+1] == sep) {
			p.text = line[pos+1 : end]
			pos = end + 2
		} else {
			p.kind = 'w'
			end = len(line)
			if i := bytes.IndexByte(line[pos:], sep); i >= 0 {
				end = pos + i
			}
			for sep == ' ' && end+1 < len(line) && inAddresses(line[pos:end]) { // X-Forwarded-For
				p.list = true
				i := bytes.IndexByte(line[end+1:], ' ')
				if i < 0 {
					i = len(line) - end - 1
				}
				end += i + 1
			}
			p.text = line[pos:end]
			pos = end + 1
		}
		out = append(out, p)
	}
	return out
}

// inAddresses reports whether a list of addresses goes on behind b.
func inAddresses(b []byte) bool {
	n := len(b) - 1
	return n > 0 && b[n] == ',' && isAddress(b[bytes.LastIndexByte(b, ' ')+1:n])
}

// keyLength returns the length of a key that b begins with, before its "=";
// 0 if there is none.
func keyLength(b []byte) int {
	for i, c := range b {
		if c == '=' {
			return i
		}
		if c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') && (i == 0 || c != '.' && c != '-') || i > 30 {
			return 0
		}
	}
	return 0
}

// table is a sample in columns: the lines of the commonest shape.
type table struct {
	sep   byte
	shape []piece // text unused
	rows  [][]piece
	odd   int // values of a column that may be other than the rest
}

func tableOf(lines [][]byte, sep byte) table {
	shapes := map[string][][]piece{}
	var best string
	for _, l := range lines {
		row := split(l, sep)
		var sig strings.Builder
		for _, p := range row {
			sig.WriteByte(p.kind)
			sig.WriteString(p.key)
		}
		s := sig.String()
		shapes[s] = append(shapes[s], row)
		if len(shapes[s]) > len(shapes[best]) || len(shapes[s]) == len(shapes[best]) && len(s) > len(best) {
			best = s
		}
	}
	t := table{sep: sep, rows: shapes[best]}
	if len(t.rows) > 0 {
		t.shape = slices.Clone(t.rows[0])
	}
	for _, row := range t.rows {
		for i := range row {
			t.shape[i].pad = t.shape[i].pad || row[i].pad
			t.shape[i].list = t.shape[i].list || row[i].list
		}
	}
	t.undecorate()
	return t
}

// decoration is what stands around the numbers of a column: "**1/1043**".
type decoration struct {
	before, after string
	parts         int // numbers with a slash between them
}

// decorationOf takes text apart; parts is 0 if it is not a decorated number.
func decorationOf(text []byte) (d decoration, numbers [2][]byte) {
	i := bytes.IndexAny(text, "0123456789")
	if i < 0 || !isLabel(text[:i]) {
		return d, numbers
	}
	n := len(text)
	for n > i && bytes.IndexByte([]byte(")*]}>',;"), text[n-1]) >= 0 {
		n--
	}
	d.before, d.after = string(text[:i]), string(text[n:])
	numbers[0] = text[i:n]
	if a, b, ok := bytes.Cut(numbers[0], []byte{'/'}); ok {
		numbers[0], numbers[1] = a, b
		d.parts = 1
	}
	for _, number := range numbers[:d.parts+1] {
		if _, _, f := parseMicros(number, Nanoseconds); f != faultNone {
			return decoration{}, numbers
		}
	}
	d.parts++
	return d, numbers
}

// isLabel reports whether b is brackets and asterisks with a name before or behind
// them, if there is one.
func isLabel(b []byte) bool {
	b = bytes.Trim(b, "*([{<'")
	name := bytes.TrimRight(b, ":=*([{<'")
	return len(b) == 0 || len(name) < len(b) && isName(name)
}

// undecorate takes away what stands around the numbers of columns, and makes two
// columns of two numbers with a slash between them.
func (t *table) undecorate() {
	for col := len(t.shape) - 1; col >= 0; col-- {
		if t.shape[col].kind != 'w' || len(t.rows) == 0 {
			continue
		}
		seen := map[decoration]int{}
		var most decoration
		for _, row := range t.rows {
			d, _ := decorationOf(row[col].text)
			if seen[d]++; seen[d] > seen[most] {
				most = d
			}
		}
		if most.parts == 0 || most == (decoration{parts: 1}) || 3*seen[most] < 2*len(t.rows) {
			continue
		}
		rows := t.rows[:0]
		for _, row := range t.rows {
			d, numbers := decorationOf(row[col].text)
			if d != most {
				continue
			}
			row[col].text = numbers[0]
			if most.parts == 2 {
				row = slices.Insert(row, col+1, piece{kind: 'w', text: numbers[1]})
			}
			rows = append(rows, row)
		}
		t.rows = rows
		t.shape[col].key += most.before
		last := col
		if most.parts == 2 {
			last++
			t.shape = slices.Insert(t.shape, last, piece{kind: 'w', key: "/", next: true})
		}
		t.shape[last].tail = most.after
	}
}

// all reports whether test holds for the values of a column that are not "-", up
// to t.odd of them, and for more than it does not.
func (t *table) all(col int, test func([]byte) bool) bool {
	good, bad := 0, 0
	for _, row := range t.rows {
		v := row[col].text
		if string(v) == "-" {
			continue
		}
		if test(v) {
			good++
		} else if bad++; bad > t.odd {
			return false
		}
	}
	return good > bad
}

// find returns the first column from on that test holds for, -1 if none.
func (t *table) find(from int, test func([]byte) bool) int {
	for i := from; i < len(t.shape); i++ {
		if t.all(i, test) {
			return i
		}
	}
	return -1
}

// only returns the one column without a role that test holds for, -1 if there
// is none or several.
func (t *table) only(roles []role, test func([]byte) bool) int {
	found := -1
	for i := range t.shape {
		if roles[i] != roleNone || !t.all(i, test) {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
}
