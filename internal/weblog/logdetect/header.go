package logdetect

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/wirerate/wirerate/internal/weblog/logline"
)

// headedFormat finds the format of columns whose first line names them, as
// spreadsheets, databases and Google Cloud Storage write them; ok is false if it does
// not.
func headedFormat(lines [][]byte, unit logline.Unit) (f *logline.Format, err error, ok bool) {
	for _, sep := range []byte(",\t;|") {
		names := headerNames(lines[0], sep)
		if len(names) < 3 || len(lines) < 2 {
			continue
		}
		seen := newSampleValues()
		rows := 0
		for _, l := range lines[1:] {
			values := logline.Separated(l, sep)
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
		d, unknown := seen.requestTime(unit)
		if d.name == "" {
			continue
		}
		if unknown != nil {
			return nil, fmt.Errorf("column %w", unknown), true
		}
		f, keys, err := seen.keyedFormat("columns", unit)
		if err != nil {
			return nil, err, true
		}
		return f.UnderHeader(string(lines[0]), names, keys, sep), nil, true
	}
	return nil, nil, false
}

// headerNames returns the names in a header line, nil if it is none.
func headerNames(line []byte, sep byte) []string {
	var names []string
	for _, v := range logline.Separated(line, sep) {
		name := bytes.TrimSpace(v)
		name = bytes.ReplaceAll(name, []byte{' '}, []byte{'_'})
		if !logline.IsName(name) || name[0] >= '0' && name[0] <= '9' || slices.Contains(names, string(name)) {
			return nil
		}
		names = append(names, string(name))
	}
	return names
}
