package weblog

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// unitWords are how lines name the unit of the number before.
var unitWords = map[string]Unit{"s": Seconds, "sec": Seconds, "secs": Seconds, "seconds": Seconds, "ms": Milliseconds, "msec": Milliseconds, "msecs": Milliseconds,
	"milliseconds": Milliseconds, "us": Microseconds, "usec": Microseconds, "usecs": Microseconds, "µs": Microseconds, "microseconds": Microseconds}

// wordUnit returns the unit that the column after col names in every line,
// UnitUnknown if it does not.
func (t *table) wordUnit(col int) Unit {
	if col+1 >= len(t.shape) {
		return UnitUnknown
	}
	u := unitWords[string(t.rows[0][col+1].text)]
	for _, row := range t.rows {
		if unitWords[string(row[col+1].text)] != u {
			return UnitUnknown
		}
	}
	return u
}

// infer works out the format of text lines without a preset, from what their
// columns hold.
func infer(lines [][]byte, unit Unit) (*Format, error) {
	var first error
	for _, sep := range []byte(separators) {
		if sep != ' ' && bytes.Count(lines[0], []byte{sep}) < 3 {
			continue
		}
		f, err := inferColumns(lines, sep, unit)
		if err == nil {
			return f, nil
		}
		if first == nil || sep == ' ' {
			first = err
		}
	}
	return nil, first
}

// inferColumns is infer for one separator.
func inferColumns(lines [][]byte, sep byte, unit Unit) (*Format, error) {
	t := tableOf(lines, sep)
	if float64(len(t.rows)) < minScore*float64(len(lines)) || len(t.shape) < 3 {
		return nil, fmt.Errorf("no known format fits; say --format with the server's format string or a preset's name (wirerate weblog --help lists them). the first line: %s", Escape(string(lines[0]), 120))
	}
	roles := make([]role, len(t.shape))
	after := t.inferRequest(roles)
	status := t.find(after, isStatus)
	if status < 0 {
		status = t.only(roles, isStatus)
	}
	switch {
	case status >= 0:
		roles[status] = roleStatus
		if status+1 < len(roles) && t.shape[status+1].key == "" && t.all(status+1, isWhole) {
			roles[status+1] = roleBytes
		}
	case !slices.Contains(roles, roleRequest): // a request says well enough what the lines are
		return nil, fmt.Errorf("found no column of HTTP statuses; say --format. the first line: %s", Escape(string(lines[0]), 120))
	}
	if i := t.find(0, isAddress); i >= 0 && roles[i] == roleNone {
		roles[i] = roleClient
	}
	duration, u, note, err := t.inferDuration(roles, unit)
	if err != nil {
		return nil, err
	}
	f, err := newFormat("inferred", t.formatText(roles), u, t.tokens(roles))
	if err != nil {
		return nil, err
	}
	f.Note = note
	if status < 0 {
		f.Note += "; found no column of statuses"
	}
	f.has[roleDuration] = duration
	return f, nil
}

// inferRequest finds the time stamp and the request, and returns the column
// after it.
func (t *table) inferRequest(roles []role) (after int) {
	var c clock
	isStamp := func(b []byte) bool { s, ok := c.parse(b); return ok && s.unix > 0 }
	if i := t.find(0, isStamp); i >= 0 {
		roles[i] = roleTime
		after = i + 1
	}
	if i := t.find(0, looksLikeRequest); i >= 0 {
		roles[i] = roleRequest
		return i + 1
	}
	method := t.find(0, func(b []byte) bool { return methodIndex(b) < methodOther })
	if method < 0 {
		return after
	}
	roles[method] = roleMethod
	after = max(after, method+1)
	if method+1 < len(roles) && t.all(method+1, func(b []byte) bool { return bytes.HasPrefix(b, []byte("/")) || bytes.Contains(b, []byte("://")) }) {
		roles[method+1] = rolePath
		after = method + 2
	}
	if i := t.find(after, func(b []byte) bool { return hasPrefix(b, "HTTP/") }); i >= 0 {
		roles[i] = roleProto
	}
	return after
}

func isStatus(b []byte) bool {
	n, ok := parseStatus(b)
	return ok && len(b) == 3 && (n == 0 || n >= 100 && n <= 599)
}

func isWhole(b []byte) bool {
	_, known, ok := parseUint(b)
	return ok && known
}

func isAddress(b []byte) bool {
	s := string(b)
	if _, err := netip.ParseAddr(strings.Trim(s, "[]")); err == nil {
		return true
	}
	_, err := netip.ParseAddrPort(s)
	return err == nil
}

// inferDuration finds the request time among the columns without a role, and
// with it an upstream time. Its result says what it took for what.
func (t *table) inferDuration(roles []role, unit Unit) (ok bool, u Unit, note string, err error) {
	fraction := func(b []byte) bool {
		_, _, f := parseMicros(b, UnitUnknown)
		return f == faultNone || f == faultUnit && bytes.IndexByte(b, '.') >= 0
	}
	var times, wholes []int
	for i := range roles {
		if roles[i] != roleNone {
			continue
		}
		if t.all(i, fraction) {
			times = append(times, i)
		} else if i > 0 && t.all(i, isWhole) {
			wholes = append(wholes, i)
		}
	}
	for _, i := range append(append([]int{}, times...), wholes...) {
		if u = t.wordUnit(i); u != UnitUnknown {
			roles[i] = roleDuration
			return true, u, fmt.Sprintf("took column %d (%s) for the request time in %s", i+1, t.describe(i), u), nil
		}
	}
	if len(times) == 0 {
		return t.wholeDuration(roles, wholes, unit)
	}
	best := t.longest(times)
	if best >= 0 {
		if i := t.rival(best, wholes); i >= 0 {
			return false, 0, "", fmt.Errorf("column %d (%s) may be the request time in us and column %d (%s) that to the first byte in s, as varnishncsa logs them; say --format with the server's format string", i+1, t.describe(i), best+1, t.describe(best))
		}
	}
	if best < 0 {
		return false, 0, "", fmt.Errorf("columns %s all look like times, and none is always the longest; say --format with the server's format string", columnNumbers(times))
	}
	roles[best] = roleDuration
	if i := t.upstream(times, best); i >= 0 {
		roles[i] = roleUpstream
	}
	u, err = t.fractionUnit(best, unit)
	return err == nil, u, fmt.Sprintf("took column %d (%s) for the request time in %s", best+1, t.describe(best), u.label()), err
}

// rival returns a column of whole numbers that in microseconds are never below the
// times in seconds of column best, which has as many digits, and not the same; -1
// if there is none.
func (t *table) rival(best int, wholes []int) int {
	if t.shape[best].key != "" {
		return -1
	}
	for _, i := range wholes {
		above, equal := true, true
		for _, row := range t.rows {
			us, step, f := parseMicros(row[best].text, Seconds)
			whole, _, g := parseMicros(row[i].text, Microseconds)
			above = above && f == faultNone && g == faultNone && step == 1 && whole >= us
			equal = equal && whole-us <= 1
		}
		if above && !equal {
			return i
		}
	}
	return -1
}

// fractionUnit settles the unit of a column of numbers with fractions: what the
// user says, what they carry, else seconds, as servers that log a fraction do.
// Some frameworks log milliseconds with a fraction; where seconds would make half
// of the requests slower than slowSample, the user has to say.
func (t *table) fractionUnit(col int, said Unit) (Unit, error) {
	if said != UnitUnknown {
		return said, nil
	}
	carried := func(b []byte) bool { _, _, f := parseMicros(b, UnitUnknown); return f == faultNone }
	if t.all(col, carried) {
		return UnitUnknown, nil
	}
	if key := strings.ToLower(strings.TrimSuffix(t.shape[col].key, "=")); key != "" {
		for _, d := range durationKeys {
			if d.name == key && d.unit == decimalSeconds {
				return Seconds, nil
			}
		}
	}
	slow := 0
	for _, row := range t.rows {
		if us, _, f := parseMicros(row[col].text, Seconds); f == faultNone && us >= slowSample {
			slow++
		}
	}
	if len(t.rows) >= 2 && 2*slow > len(t.rows) {
		return UnitUnknown, fmt.Errorf("column %d (%s) looks like the request time, but does not say its unit, and in seconds most requests would be slow: say --unit s or --unit ms", col+1, t.describe(col))
	}
	return Seconds, nil
}

// slowSample is one second in us.
const slowSample = 1_000_000

// ErrNoTime is the error for a log in which nothing looks like a request time.
var ErrNoTime = errors.New("found no column with the request time; if there is one, say --format")

// TimeAdvice are the lines that make servers log the request time.
const TimeAdvice = `  nginx        log_format timed '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" $request_time';
               access_log /var/log/nginx/access.log timed;
  Apache       LogFormat "%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-Agent}i\" %D" timed
               CustomLog logs/access_log timed
  lighttpd     accesslog.format = "%h %V %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-Agent}i\" %D"
  varnishncsa  -F '%h %l %u %t "%r" %s %b "%{Referer}i" "%{User-agent}i" %D'
  HAProxy      option httplog`

// wholeDuration takes the last column of whole numbers for the request time if
// the user says its unit.
func (t *table) wholeDuration(roles []role, wholes []int, unit Unit) (bool, Unit, string, error) {
	if len(wholes) == 0 {
		return false, 0, "", ErrNoTime
	}
	last := wholes[len(wholes)-1]
	if unit == UnitUnknown {
		return false, 0, "", fmt.Errorf("column %d (%s) may be the request time, but whole numbers do not say their unit: say --unit us (Apache's %%D), --unit ms or --unit s (Apache's %%T), or --format", last+1, t.describe(last))
	}
	if len(wholes) > 1 {
		return false, 0, "", fmt.Errorf("columns %s all hold whole numbers; say --format with the server's format string", columnNumbers(wholes))
	}
	roles[last] = roleDuration
	return true, unit, fmt.Sprintf("took column %d (%s) for the request time in %s", last+1, t.describe(last), unit), nil
}

// longest returns the column whose time is never below another's: the request
// time includes the upstream's. Names decide before values.
func (t *table) longest(cols []int) int {
	for _, d := range durationKeys {
		for _, c := range cols {
			if strings.EqualFold(strings.TrimSuffix(t.shape[c].key, "="), d.name) {
				return c
			}
		}
	}
	value := func(row []piece, c int) (uint64, bool) {
		us, _, f := parseMicros(row[c].text, Seconds)
		return us, f == faultNone
	}
	for _, c := range cols {
		least := true
		for _, row := range t.rows {
			own, ok := value(row, c)
			for _, d := range cols {
				if other, has := value(row, d); d != c && has && (!ok || other > own) {
					least = false
				}
			}
		}
		if least {
			return c
		}
	}
	return -1
}

// upstream returns the column with the time of the server behind, -1 if none is
// known to be it: by its name or, of two, by requests that were not passed on.
// Another second time may be that to the first byte.
func (t *table) upstream(times []int, best int) int {
	for _, name := range otherKeys[roleUpstream] {
		for _, c := range times {
			if strings.EqualFold(strings.TrimSuffix(t.shape[c].key, "="), name) {
				return c
			}
		}
	}
	if len(times) != 2 {
		return -1
	}
	other := times[0] + times[1] - best
	for _, row := range t.rows {
		if string(row[other].text) == "-" {
			return other
		}
	}
	return -1
}

func (t *table) describe(col int) string {
	return Escape(t.shape[col].key+string(t.rows[0][col].text), 32)
}

func columnNumbers(cols []int) string {
	var out []string
	for _, c := range cols {
		out = append(out, fmt.Sprint(c+1))
	}
	return strings.Join(out, ", ")
}

// tokens makes a format of the columns.
func (t *table) tokens(roles []role) []token {
	var out []token
	for i, p := range t.shape {
		open, end := "", ""
		switch p.kind {
		case '[':
			open, end = "[", "]"
		case '"':
			open, end = `"`, `"`
		}
		if i > 0 {
			open = string(t.sep) + p.key + open
		} else {
			open = p.key + open
		}
		v := token{role: roles[i], name: fmt.Sprintf("column %d", i+1), list: roles[i] == roleUpstream, pad: p.pad && open == " "}
		out = append(out, token{lit: open}, v, token{lit: end})
	}
	return out
}

// roleNames are what formatText calls the columns, in nginx's notation.
var roleNames = map[role]string{
	roleDuration: "duration", roleUpstream: "upstream", roleTime: "time", roleClient: "client", roleRequest: "request",
	roleMethod: "method", rolePath: "path", roleProto: "proto", roleStatus: "status", roleBytes: "bytes",
}

// formatText is the format in the notation that ParseFormat takes.
func (t *table) formatText(roles []role) string {
	var b strings.Builder
	for _, tok := range t.tokens(roles) {
		switch {
		case tok.name == "":
			b.WriteString(tok.lit)
		case tok.role == roleNone:
			b.WriteString("$" + strings.ReplaceAll(tok.name, " ", "_"))
		default:
			b.WriteString("$" + roleNames[tok.role])
		}
	}
	return b.String()
}
