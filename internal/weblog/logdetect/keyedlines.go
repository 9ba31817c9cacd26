package logdetect

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/weblog/logline"
)

// minKeyed is the share of a sample's lines that must be JSON, LTSV or logfmt
// for the log to be taken for it.
const minKeyed = 0.5

// detectJSON finds the format of JSON lines; ok is false when they are none.
func detectJSON(lines [][]byte, unit logline.Unit) (f *logline.Format, err error, ok bool) {
	var seen sampleValues
	objects := 0
	for _, l := range lines {
		if flattenLine(l, &seen) {
			objects++
		}
	}
	if float64(objects) < minKeyed*float64(len(lines)) {
		return nil, nil, false
	}
	has := func(keys string) bool {
		for _, k := range strings.Fields(keys) {
			if _, ok := seen.names[keyName(k)]; !ok {
				return false
			}
		}
		return true
	}
	var known string
	switch {
	case has("duration request.uri status") && !seen.whole("duration"): // Caddy can be told to write ns or ms
		known = "caddy"
	case has("duration response_code bytes_sent") && seen.whole("duration"):
		known = "envoy-json"
	case has("duration downstreamstatus requestpath") && seen.whole("duration"):
		known = "traefik-json"
	}
	if p, ok := logline.PresetNamed(known); ok && unit == logline.UnitUnknown {
		f, err := p.Format()
		return f, err, true
	}
	if unit == logline.UnitUnknown && (has("responsetime res.statuscode") || has("duration response_flags") && seen.whole("duration") || has("duration controller action") || has("latency apisix_latency") || has("elapsed @mt requestpath")) {
		unit = logline.Milliseconds // pino-http, Istio before 1.6, lograge, APISIX, Serilog
	}
	f, _, err = seen.keyedFormat("json", unit)
	return f, err, true
}

// flattenLine enters the keys and values of the JSON object in line.
func flattenLine(line []byte, to *sampleValues) bool {
	i, j := bytes.IndexByte(line, '{'), bytes.LastIndexByte(line, '}')
	if i < 0 || j < i {
		return false
	}
	dec := json.NewDecoder(bytes.NewReader(line[i : j+1]))
	dec.UseNumber()
	var object map[string]any
	if dec.Decode(&object) != nil || len(object) == 0 {
		return false
	}
	flatten("", object, to, 3)
	return true
}

func flatten(prefix string, object map[string]any, to *sampleValues, depth int) {
	for k, v := range object {
		switch v := v.(type) {
		case string:
			to.add(prefix+k, v)
		case json.Number:
			to.add(prefix+k, v.String())
		case map[string]any:
			if depth > 0 {
				flatten(prefix+k+".", v, to, depth-1)
			}
		}
	}
}

// detectPairs finds the format of LTSV or logfmt lines; ok is false when they
// are neither.
func detectPairs(kind string, lines [][]byte, unit logline.Unit) (f *logline.Format, err error, ok bool) {
	var seen sampleValues
	fits := 0
	for _, l := range lines {
		pairs := ltsvPairs(l)
		if kind == "logfmt" {
			pairs = logfmtPairs(l)
		}
		if len(pairs) < 3 {
			continue
		}
		fits++
		for _, kv := range pairs {
			seen.add(kv[0], kv[1])
		}
	}
	if float64(fits) < minKeyed*float64(len(lines)) {
		return nil, nil, false
	}
	_, status := seen.names["status"]
	_, long := seen.names["http.response.status"]
	if kind == "logfmt" && !status && !long {
		return nil, nil, false // positional columns, some of them named
	}
	if _, ok := seen.names["controller"]; ok && unit == logline.UnitUnknown {
		unit = logline.Milliseconds // lograge
	}
	f, _, err = seen.keyedFormat(kind, unit)
	return f, err, true
}

// durationStems and logline.UnitEndings make names such as elapsedMilliseconds and
// http.duration_ms, as far as the unit is part of them.
var (
	durationStems = []string{"duration", "elapsed", "elapsedtime", "latency", "took", "taken", "responsetime", "requesttime", "requestduration", "responseduration",
		"timetaken", "total", "totaltime", "resptime", "processtime", "processingtime", "reqtime", "runtime", "totalduration", "totallatency", "requestlatency"}
)

// telling returns the key whose name says that it is the request time, and in what
// unit; none if several on the same level do.
func (s *sampleValues) telling() []durationKey {
	var found []durationKey
	for low := range s.names {
		if u := unitOfName(low[strings.LastIndexByte(low, '.')+1:]); u != logline.UnitUnknown && s.numeric(low) {
			found = append(found, durationKey{low, u})
		}
	}
	level := func(k durationKey) int { return strings.Count(k.name, ".") }
	slices.SortFunc(found, func(a, b durationKey) int { return level(a) - level(b) })
	if len(found) == 0 || len(found) > 1 && level(found[0]) == level(found[1]) {
		return nil
	}
	return found[:1]
}

// unitOfName returns the unit of a name in lower case that says that it is the
// request time and in what ("elapsed_ms"), else UnitUnknown.
func unitOfName(name string) logline.Unit {
	name = strings.NewReplacer("_", "", "-", "").Replace(name)
	for _, stem := range durationStems {
		rest, ok := strings.CutPrefix(name, stem)
		if u := logline.UnitEndings[strings.TrimPrefix(rest, "in")]; ok && u != logline.UnitUnknown {
			return u
		}
	}
	return logline.UnitUnknown
}

func ltsvPairs(line []byte) [][2]string {
	var out [][2]string
	for _, field := range bytes.Split(line, []byte{'\t'}) {
		if label, value, ok := bytes.Cut(field, []byte{':'}); ok && logline.IsName(label) {
			out = append(out, [2]string{string(label), string(value)})
		}
	}
	return out
}

func logfmtPairs(line []byte) [][2]string {
	var out [][2]string
	for len(line) > 0 {
		line = bytes.TrimLeft(line, " ")
		end := bytes.IndexAny(line, " =")
		if end < 0 {
			break
		}
		key := line[:end]
		if line[end] == ' ' || !logline.IsName(key) {
			line = line[end+1:]
			continue
		}
		line = line[end+1:]
		var value []byte
		if bytes.HasPrefix(line, []byte(`"`)) {
			if end = logline.QuoteEnd(line, 1); end < 0 {
				break
			}
			value, line = line[1:end], line[end+1:]
		} else {
			value, line, _ = bytes.Cut(line, []byte{' '})
		}
		out = append(out, [2]string{string(key), string(value)})
	}
	return out
}
