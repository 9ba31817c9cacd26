package logdetect

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/weblog/logline"
)

// keyName is a key as keys are compared.
func keyName(key string) string {
	return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(key))
}

// sampleValues are the values of every key in a sample, by keyName.
type sampleValues struct {
	names  map[string]string // keyName -> key as written
	values map[string][]string
}

// sampleOf gathers the values in lines, of which at least half must have some; nil if
// they do not.
func sampleOf(lines [][]byte, pairsOf func(line []byte) (pairs [][2]string, ok bool)) *sampleValues {
	seen, fits := newSampleValues(), 0
	for _, l := range lines {
		pairs, ok := pairsOf(l)
		if !ok {
			continue
		}
		fits++
		for _, kv := range pairs {
			seen.add(kv[0], kv[1])
		}
	}
	if 2*fits < len(lines) {
		return nil
	}
	return seen
}

func newSampleValues() *sampleValues {
	return &sampleValues{names: map[string]string{}, values: map[string][]string{}}
}

func (s *sampleValues) add(key, value string) {
	low := keyName(key)
	if _, ok := s.names[low]; !ok {
		s.names[low] = key
	}
	s.values[low] = append(s.values[low], value)
}

func (s *sampleValues) has(keys ...string) bool {
	return !slices.ContainsFunc(keys, func(k string) bool { return s.names[k] == "" })
}

// keyedFormat picks the fields among the keys of a sample.
func (s *sampleValues) keyedFormat(kind string, unit logline.Unit) (*logline.Format, map[logline.Role]string, error) {
	s = s.unnested()
	d, err := s.requestTime(unit)
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("%s %w", kind, err)
	case d.name == "":
		return nil, nil, fmt.Errorf("%s without a known name for the request time among its keys (%s); say --format "+
			"'%s:duration=KEY,unit=ms'", kind, s.some(), kind)
	}
	keys := s.otherFields(d.name)
	keys[logline.RoleDuration] = s.names[d.name]
	from, to := s.moments()
	between := to == d.name
	parts := []string{beforeTarget, behindTarget}
	switch {
	case between:
		parts = []string{from, ""}
		delete(keys, logline.RoleTime)
	case d.name == "service" && d.unit == logline.UnitUnknown:
		parts = []string{"connect", ""} // Heroku's router counts it apart
	case d.name != targetTime && d.name != backendTime:
		parts = []string{"", ""}
	}
	var shown []string
	for i, r := range []logline.Role{logline.RoleDuration2, logline.RoleDuration, logline.RoleDuration3} {
		if r != logline.RoleDuration && s.has(parts[i/2]) {
			keys[r] = s.names[parts[i/2]]
		}
		if keys[r] != "" {
			shown = append(shown, fmt.Sprintf("%q", logline.Escape(keys[r], 64)))
		}
	}
	f := logline.NewKeyed(kind, keys, d.unit, between)
	f.Note = fmt.Sprintf("the request time is %s in %s", strings.Join(shown, " and "), d.unit.Label())
	if between {
		f.Note = fmt.Sprintf("the request time is that from %s to %s", shown[0], shown[1])
	} else if d.name == firstByteTime.name {
		f.Note += ": only that to the first byte is logged"
	}
	return f, keys, nil
}

// requestTime returns the key of the request time with its unit, no name if there is
// none. The error is for one whose unit is not known. The first of its names counts:
// with a known unit, then without; of a key itself, then of one within an object.
func (s *sampleValues) requestTime(unit logline.Unit) (timeName, error) {
	candidates := s.named(func(name string) string { return name })
	_, end := s.moments()
	candidates = append(candidates, timeName{end, logline.Seconds}, firstByteTime)
	candidates = append(candidates, s.named(s.within)...)
	most := 0
	for _, d := range candidates {
		if s.numeric(d.name) {
			most = max(most, len(s.values[d.name]))
		}
	}
	for _, d := range candidates {
		switch {
		case !s.has(d.name), 2*len(s.values[d.name]) < most: // few lines have it: not what they all are about
			continue
		case d.name == end:
			return d, nil
		case !s.numeric(d.name), strings.HasSuffix(d.name, "processingtime") && !s.has(behindTarget): // one of three
			continue
		}
		u, err := s.unit(d, unit)
		if err != nil {
			return d, fmt.Errorf("key %q: %w", logline.Escape(s.names[d.name], 64), err)
		}
		if s.absurd(d.name, u) {
			continue // a moment, not how long something took
		}
		// nginx's apptime is of the server behind; H2O's is the whole, and reqtime that
		// of the request alone.
		if d.name == "reqtime" && s.longest("apptime") > 2*s.longest("reqtime") {
			d.name = "apptime"
		}
		return timeName{d.name, u}, nil
	}
	return timeName{}, nil
}

// named returns the keys that find finds for the names of the request time and for these
// with a unit at the end: those whose unit is known, then the others.
func (s *sampleValues) named(find func(name string) string) (known []timeName) {
	var others []timeName
	for _, d := range timeNames {
		if d.stem() {
			for _, ending := range slices.Sorted(maps.Keys(logline.UnitEndings)) {
				for _, in := range []string{"", "in"} {
					known = append(known, timeName{find(d.name + in + ending), logline.UnitEndings[ending]})
				}
			}
		}
		switch key := find(d.name); {
		case d.name == "total" || d.name == "ms": // of a column or with its unit only
		case d.unit == logline.UnitUnknown:
			others = append(others, timeName{key, d.unit})
		default:
			known = append(known, timeName{key, d.unit})
		}
	}
	return append(known, others...)
}

// stem reports whether the name may have a unit at its end.
func (d timeName) stem() bool {
	return d.unit == logline.UnitUnknown || d.unit == logline.DecimalSeconds
}

// unitOfName returns the unit of a name of the request time, ok if it is one.
func unitOfName(name string) (u logline.Unit, ok bool) {
	name = keyName(name)
	for _, d := range timeNames {
		rest, found := strings.CutPrefix(name, d.name)
		if found && rest == "" && name != "total" {
			return d.unit, true
		}
		if u := logline.UnitEndings[strings.TrimPrefix(rest, "in")]; found && d.stem() && u != logline.UnitUnknown {
			return u, true
		}
	}
	return logline.UnitUnknown, false
}

// within returns the one key in an object whose last part is k, "" if there is none
// or several.
func (s *sampleValues) within(k string) string {
	found := ""
	for low := range s.names {
		if len(k) <= 2 || !strings.HasSuffix(low, "."+k) {
			continue
		}
		if found != "" {
			return ""
		}
		found = low
	}
	return found
}

// moments returns the keys of when a request began and ended, if they say so finer
// than in seconds.
func (s *sampleValues) moments() (from, to string) {
	for _, pair := range momentNames {
		good, fine := 0, false
		for i, v := range s.values[pair[1]] {
			if i >= len(s.values[pair[0]]) {
				break
			}
			begin, a, ok := logline.MomentMicros([]byte(s.values[pair[0]][i]))
			end, b, also := logline.MomentMicros([]byte(v))
			if ok && also && end >= begin {
				good++
				fine = fine || (a || b) && end > begin
			}
		}
		if fine && 2*good > len(s.values[pair[1]]) {
			return pair[0], pair[1]
		}
	}
	return "", ""
}

// otherFields picks the keys of the fields next to the request time: by name, by name in
// the same object, by name in any.
func (s *sampleValues) otherFields(duration string) map[logline.Role]string {
	keys := map[logline.Role]string{}
	for r := range logline.NumRoles {
		if keys[logline.RoleRequest] != "" &&
			(r == logline.RoleMethod || r == logline.RolePath || r == logline.RoleProto) {
			continue
		}
		for _, name := range otherNames[r] {
			places := []string{name, duration[:strings.LastIndexByte(duration, '.')+1] + name, s.within(name)}
			i := slices.IndexFunc(places, func(k string) bool { return s.has(k) })
			if i >= 0 && (looks[r] == nil || s.looksLike(places[i], looks[r])) {
				keys[r] = s.names[places[i]]
				break
			}
		}
	}
	return keys
}

// unnested takes away what all names begin with, as where the whole request is
// one object in another ({"nginx": {...}}).
func (s *sampleValues) unnested() *sampleValues {
	prefix := ""
	out := newSampleValues()
	for low, name := range s.names {
		head, rest, ok := strings.Cut(low, ".")
		if !ok || prefix != "" && head != prefix {
			return s
		}
		prefix = head
		out.names[rest], out.values[rest] = name, s.values[low]
	}
	return out
}

// likeNginx reports whether the keys are those of an nginx log_format, whose
// times are seconds with three digits behind the point.
func (s *sampleValues) likeNginx() bool {
	n := 0
	for _, k := range nginxNames {
		if s.has(k) {
			n++
		}
	}
	return n >= 2
}

// startsWithAddress reports whether b is an address or a list of them.
func startsWithAddress(b []byte) bool {
	one, _, _ := bytes.Cut(b, []byte{','})
	return isAddress(bytes.TrimSpace(one))
}

// some names a few keys for a message.
func (s *sampleValues) some() string {
	var out []string
	for _, n := range slices.Sorted(maps.Keys(s.names)) {
		out = append(out, logline.Escape(s.names[n], 32))
	}
	if len(out) > 12 {
		out = append(out[:12], "...")
	}
	return strings.Join(out, ", ")
}

// numeric reports whether the values of key are durations or absent, but for some.
func (s *sampleValues) numeric(key string) bool {
	n := s.faults(key, logline.Nanoseconds)
	return n[logline.FaultNone] > 2*n[logline.FaultShape]
}

// absurd reports whether most values of key are too long for requests if in u.
func (s *sampleValues) absurd(key string, u logline.Unit) bool {
	return 2*s.faults(key, u)[logline.FaultAbsurd] > len(s.values[key])
}

// faults counts the values of key by what they are as times in u.
func (s *sampleValues) faults(key string, u logline.Unit) (n [logline.NumFaults]int) {
	for _, v := range s.values[key] {
		_, _, f := logline.ParseMicros([]byte(v), u)
		n[f]++
	}
	return n
}

// longest returns the longest of a key's times in us, if they are in seconds.
func (s *sampleValues) longest(key string) (most uint64) {
	for _, v := range s.values[key] {
		us, _, _ := logline.ParseMicros([]byte(v), logline.Seconds)
		most = max(most, us)
	}
	return most
}

// whole reports whether the values of key are whole numbers without a unit.
func (s *sampleValues) whole(key string) bool {
	return !slices.ContainsFunc(s.values[key], func(v string) bool { return !isWhole([]byte(v)) })
}

func (s *sampleValues) looksLike(key string, test func([]byte) bool) bool {
	return slices.ContainsFunc(s.values[key], func(v string) bool { return test([]byte(v)) })
}

// unit settles the unit of a key's values: what the user said, what the values carry,
// what the name means.
func (s *sampleValues) unit(d timeName, said logline.Unit) (logline.Unit, error) {
	carried, fraction, slow := true, false, 0
	for _, v := range s.values[d.name] {
		if _, _, f := logline.ParseMicros([]byte(v), logline.UnitUnknown); f == logline.FaultUnit {
			carried = false
		}
		if us, _, f := logline.ParseMicros([]byte(v), logline.Seconds); f == logline.FaultNone && us >= slowSample {
			slow++
		}
		fraction = fraction || strings.Contains(v, ".")
	}
	if n := len(s.values[d.name]); n < 2 || 2*slow <= n {
		slow = 0
	}
	for _, p := range programs {
		if p.unit != logline.UnitUnknown && d.name == p.keys[0] && s.isOf(p) {
			d.unit = p.unit
		}
	}
	if d.unit == logline.UnitUnknown && s.likeNginx() {
		d.unit = logline.DecimalSeconds
	}
	switch {
	case said != logline.UnitUnknown:
		return said, nil
	case carried:
		return logline.UnitUnknown, nil
	case d.unit == logline.DecimalSeconds && fraction && (slow == 0 || s.likeNginx()):
		return logline.Seconds, nil
	case d.unit != logline.DecimalSeconds && d.unit != logline.UnitUnknown:
		return d.unit, nil
	}
	return logline.UnitUnknown, fmt.Errorf("the unit of its numbers (such as %s) is not known; say --unit s, ms, us "+
		"or ns", logline.Escape(s.values[d.name][0], 32))
}

// isOf reports whether the program wrote the sample.
func (s *sampleValues) isOf(p program) bool {
	whole := s.whole(p.keys[0])
	return s.has(p.keys...) && (!p.whole || whole) && (!p.fraction || !whole)
}
