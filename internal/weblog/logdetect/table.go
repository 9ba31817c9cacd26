package logdetect

import (
	"bytes"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/weblog/logline"
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
	pad  bool // blanks stand before it
	list bool // of addresses, with a comma and a blank between them
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
			end = logline.QuoteEnd(line, pos+1)
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
	first []byte // line of the sample
}

func tableOf(lines [][]byte, sep byte) *table {
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
	t := &table{sep: sep, rows: shapes[best], first: lines[0]}
	if len(t.rows) > 0 {
		t.shape = slices.Clone(t.rows[0])
	}
	for _, row := range t.rows {
		for i := range row {
			t.shape[i].pad = t.shape[i].pad || row[i].pad
			t.shape[i].list = t.shape[i].list || row[i].list
		}
	}
	return t
}

// all reports whether test holds for the values of a column that are not "-", but for a
// few: a log holds junk, too.
func (t *table) all(col int, test func([]byte) bool) bool {
	good, bad := 0, 0
	for _, row := range t.rows {
		if v := row[col].text; string(v) == "-" {
			continue
		} else if test(v) {
			good++
		} else {
			bad++
		}
	}
	return good > bad && bad <= t.tolerated()
}

// tolerated is how many values of a column may be other than the rest.
func (t *table) tolerated() int { return len(t.rows) / 3 }

// find returns the first column from on that test holds for, -1 if none.
func (t *table) find(from int, test func([]byte) bool) int {
	for i := from; i < len(t.shape); i++ {
		if t.all(i, test) {
			return i
		}
	}
	return -1
}
