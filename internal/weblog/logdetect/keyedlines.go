package logdetect

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/wirerate/wirerate/internal/weblog/logline"
)

// detectKeyed finds the format of lines of a kind, json, ltsv or logfmt; ok is false when
// they are not of it.
func detectKeyed(kind string, lines [][]byte, unit logline.Unit) (f *logline.Format, err error, ok bool) {
	seen := sampleOf(lines, func(l []byte) (pairs [][2]string, ok bool) {
		if kind == "json" {
			pairs = jsonPairs(l)
			return pairs, pairs != nil
		}
		pairs = logline.Pairs(kind, l)
		return pairs, len(pairs) >= 3
	})
	if seen == nil {
		return nil, nil, false
	}
	if kind == "logfmt" && !seen.has("status") && !seen.has("http.response.status") {
		return nil, nil, false // positional columns, some of them named
	}
	for _, p := range programs {
		if preset, ok := logline.PresetNamed(p.preset); ok && kind == "json" && unit == logline.UnitUnknown && seen.isOf(p) {
			f, err := preset.Format()
			return f, err, true
		}
	}
	f, _, err = seen.keyedFormat(kind, unit)
	return f, err, true
}

// jsonPairs returns the keys and values of the JSON object in a line, nil if there is none.
func jsonPairs(line []byte) [][2]string {
	i, j := bytes.IndexByte(line, '{'), bytes.LastIndexByte(line, '}')
	if i < 0 || j < i {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(line[i : j+1]))
	dec.UseNumber()
	var object map[string]any
	if dec.Decode(&object) != nil || len(object) == 0 {
		return nil
	}
	return flatten([][2]string{}, "", object, 3)
}

func flatten(to [][2]string, prefix string, object map[string]any, depth int) [][2]string {
	for _, k := range slices.Sorted(maps.Keys(object)) {
		switch v := object[k].(type) {
		case string:
			to = append(to, [2]string{prefix + k, v})
		case json.Number:
			to = append(to, [2]string{prefix + k, v.String()})
		case map[string]any:
			if depth > 0 {
				to = flatten(to, prefix+k+".", v, depth-1)
			}
		}
	}
	return to
}
