package weblog

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// byteOrderMark begins UTF-8 text of some programs.
const byteOrderMark = "\xef\xbb\xbf"

// headedFormat finds the format of columns whose first line names them, as
// spreadsheets, databases and Google Cloud Storage write them; ok is false if it does
// not.
func headedFormat(lines [][]byte, unit Unit) (f *Format, err error, ok bool) {
	for _, sep := range []byte(",\t;|") {
		names := headerNames(lines[0], sep)
		if len(names) < 3 || len(lines) < 2 {
			continue
		}
		var seen sampleValues
		rows := 0
		for _, l := range lines[1:] {
			values := separated(l, sep)
			if len(values) != len(names) {
				continue
			}
			rows++
			if bytes.Equal(l, lines[0]) {
				continue
			}
			for i, v := range values {
				if string(v) != "" && string(v) != "-" {
					seen.add(names[i], string(v))
				}
			}
		}
		if 2*rows < len(lines)-1 {
			continue
		}
		d, _, unknown := seen.durationKey(unit)
		if d.name == "" {
			continue
		}
		if unknown != nil {
			return nil, fmt.Errorf("column %w", unknown), true
		}
		f, err = seen.keyedFormat("columns", unit, func(keys map[role]string) extractor { return headedPlan(names, keys, sep) })
		if err != nil {
			return nil, err, true
		}
		f.Name = "columns named by the first line"
		f.directives, f.header = true, string(lines[0])
		return f, nil, true
	}
	return nil, nil, false
}

// headerNames returns the names in a header line, nil if it is none.
func headerNames(line []byte, sep byte) []string {
	var names []string
	for _, v := range separated(line, sep) {
		name := bytes.TrimSpace(v)
		name = bytes.ReplaceAll(name, []byte{' '}, []byte{'_'})
		if !isName(name) || name[0] >= '0' && name[0] <= '9' || slices.Contains(names, string(name)) {
			return nil
		}
		names = append(names, string(name))
	}
	return names
}

// headedPlan finds the columns of keys.
func headedPlan(names []string, keys map[role]string, sep byte) extractor {
	p := &columnPlan{count: len(names), sep: sep}
	for i, name := range names {
		for r := range numRoles {
			if keys[r] == name {
				p.columns = append(p.columns, column{i, r})
			}
		}
	}
	return p
}

// separated returns the values between separators, without their quotes (RFC 4180).
func separated(line []byte, sep byte) [][]byte {
	var out [][]byte
	for pos := 0; pos <= len(line); {
		lo, hi, next := separatedValue(line, pos, sep)
		out = append(out, line[lo:hi])
		pos = next
	}
	return out
}

// separatedValue returns where the value at pos lies without its quotes, and where
// the next one begins.
func separatedValue(line []byte, pos int, sep byte) (lo, hi, next int) {
	if pos < len(line) && line[pos] == '"' {
		for i := pos + 1; i < len(line); i++ {
			if line[i] != '"' {
				continue
			}
			if i+1 == len(line) || line[i+1] == sep {
				return pos + 1, i, i + 2
			}
			if line[i+1] == '"' {
				i++
			}
		}
	}
	if i := bytes.IndexByte(line[pos:], sep); i >= 0 {
		return pos, pos + i, pos + i + 1
	}
	return pos, len(line), len(line) + 1
}

// isDirective reports whether the line says something about those after it.
func (f *Format) isDirective(line []byte) bool {
	line = bytes.TrimPrefix(line, []byte(byteOrderMark))
	if f.header != "" {
		return string(line) == f.header
	}
	return len(line) > 0 && line[0] == '#'
}

// trimMark returns a directive without what some programs put before it.
func trimMark(line string) string {
	return strings.TrimSpace(strings.TrimPrefix(line, byteOrderMark))
}
