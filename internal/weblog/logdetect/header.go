package logdetect

import (
	"bytes"
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
		seen := sampleOf(lines[1:], func(l []byte) (pairs [][2]string, ok bool) {
			values := logline.Separated(l, sep)
			if len(values) != len(names) || bytes.Equal(l, lines[0]) {
				return nil, len(values) == len(names)
			}
			for i, v := range values {
				if string(v) != "" && string(v) != "-" {
					pairs = append(pairs, [2]string{names[i], string(v)})
				}
			}
			return pairs, true
		})
		if seen == nil {
			continue
		}
		if d, _ := seen.requestTime(unit); d.name == "" {
			continue
		}
		f, keys, err := seen.keyedFormat("column", unit)
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
