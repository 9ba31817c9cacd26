package weblog

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// inferDuration finds the request time among the columns without a role, and
// with it an upstream time. Its result says what it took for what.
func (t *table) inferDuration(roles []role, unit Unit) (ok bool, u Unit, note string, err error) {
	var times, wholes []int
	for i := range roles {
		if roles[i] != roleNone {
			continue
		}
		if t.fractions(i) {
			times = append(times, i)
		} else if (i > 0 || t.shape[i].key != "") && t.mayBeTime(i) && t.all(i, isWhole) {
			wholes = append(wholes, i)
		}
	}
	for _, i := range append(append([]int{}, times...), wholes...) {
		if u = t.wordUnit(i); u != UnitUnknown {
			roles[i] = roleDuration
			return true, u, t.took(i, u), nil
		}
	}
	if carried := t.carrying(times); len(carried) > 0 {
		times = carried // "1.5ms" beside "0.25"
	}
	if col, u := t.named(times); u != UnitUnknown && unit == UnitUnknown {
		roles[col] = roleDuration
		return true, u, t.took(col, u), nil
	}
	times, ratio := t.withoutRatios(times)
	if len(times) == 0 && ratio >= 0 {
		return false, 0, "", fmt.Errorf("column %d (%s) may be the request time in s or a ratio such as nginx's $gzip_ratio; say --format with the server's format string", ratio+1, t.describe(ratio))
	}
	if len(times) == 0 {
		return t.wholeDuration(roles, wholes, unit)
	}
	best := t.longest(times)
	if best >= 0 && !t.soundsLikeTime(best) {
		if col, u := t.named(wholes); u != UnitUnknown {
			roles[col] = roleDuration
			return true, u, t.took(col, u), nil
		}
		return false, 0, "", fmt.Errorf("column %d (%s) may be the request time in s, but its name does not say so; say --format with the server's format string", best+1, t.describe(best))
	}
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
	return err == nil, u, t.took(best, u), err
}

// took says which column was taken for the request time, and in what unit.
func (t *table) took(col int, u Unit) string {
	return fmt.Sprintf("took column %d (%s) for the request time in %s", col+1, t.describe(col), u.label())
}

// carrying returns the columns whose numbers carry their units.
func (t *table) carrying(cols []int) []int {
	var out []int
	for _, c := range cols {
		if t.mostly(c, carriesUnit) {
			out = append(out, c)
		}
	}
	return out
}

func carriesUnit(b []byte) bool {
	_, _, f := parseMicros(b, UnitUnknown)
	return f == faultNone
}

// withoutRatios takes away the columns of numbers with fractions that are hardly
// times: nginx's ratios have two decimals where its times have three, and what is the
// same in every line is none beside one that is not. The first ratio is returned, -1
// if there is none.
func (t *table) withoutRatios(times []int) (rest []int, ratio int) {
	ratio = -1
	varying := t.varying(times)
	var same []int
	for _, c := range times {
		known := t.name(c) != "" && slices.ContainsFunc(durationKeys, func(d durationKey) bool { return d.name == t.name(c) })
		switch {
		case known:
			rest = append(rest, c)
		case t.all(c, hasTwoDecimals):
			if ratio < 0 {
				ratio = c
			}
		case slices.Contains(varying, c) || len(t.rows) < 5 || t.name(c) != "":
			rest = append(rest, c)
		case !t.all(c, isVersion):
			same = append(same, c)
		}
	}
	if len(rest) == 0 {
		rest = same
	}
	return rest, ratio
}

// isVersion reports whether b is a version of HTTP.
func isVersion(b []byte) bool {
	return len(b) == 3 && b[1] == '.' && (b[2] == '0' || string(b) == "1.1")
}

func hasTwoDecimals(b []byte) bool { return len(b) > 3 && b[len(b)-3] == '.' }

// rival returns a column of whole numbers that in microseconds are never below the
// times in seconds of column best, which has as many digits, and not the same; -1
// if there is none.
func (t *table) rival(best int, wholes []int) int {
	if t.shape[best].key != "" {
		return -1
	}
	for _, i := range wholes {
		below, equal := 0, true
		for _, row := range t.rows {
			us, step, f := parseMicros(row[best].text, Seconds)
			whole, _, g := parseMicros(row[i].text, Microseconds)
			if f != faultNone || g != faultNone || step != 1 || whole < us {
				below++
				continue
			}
			equal = equal && whole-us <= 1
		}
		if below <= t.odd && !equal {
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
	if t.mostly(col, carriesUnit) {
		return UnitUnknown, nil
	}
	if key := t.name(col); key != "" {
		for _, d := range durationKeys {
			if d.name == key && d.unit == decimalSeconds {
				return Seconds, nil
			}
		}
	}
	slow, limit := 0, uint64(slowSample)
	if len(t.rows) == 1 {
		limit *= 10
	}
	for _, row := range t.rows {
		if us, _, f := parseMicros(row[col].text, Seconds); f == faultNone && us >= limit {
			slow++
		}
	}
	if 2*slow >= len(t.rows) {
		return UnitUnknown, fmt.Errorf("column %d (%s) looks like the request time, but does not say its unit, and in seconds most requests would be slow: say --unit s or --unit ms", col+1, t.describe(col))
	}
	return Seconds, nil
}

// slowSample is one second in us.
const slowSample = 1_000_000

// ErrNoTime, wrapped, is the error for a log in which nothing looks like a request time.
var ErrNoTime = errors.New("found no column with the request time (if there is one, say --format)")

// TimeAdvice are the lines that make servers log the request time.
const TimeAdvice = `  nginx        log_format timed '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" $request_time';
               access_log /var/log/nginx/access.log timed;
  Apache       LogFormat "%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-Agent}i\" %D" timed
               CustomLog logs/access_log timed
  lighttpd     accesslog.format = "%h %V %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-Agent}i\" %D"
  varnishncsa  -F '%h %l %u %t "%r" %s %b "%{Referer}i" "%{User-agent}i" %D'
  HAProxy      option httplog`

// wholeDuration finds the request time among columns of whole numbers: by two that
// hold the same time in two units, or the one whose unit its name or the user says.
func (t *table) wholeDuration(roles []role, wholes []int, unit Unit) (bool, Unit, string, error) {
	if len(wholes) == 0 {
		return false, 0, "", ErrNoTime
	}
	if col, u := t.twice(wholes); u != UnitUnknown && (unit == UnitUnknown || unit == u) {
		roles[col] = roleDuration
		return true, u, t.took(col, u) + ", since another one holds it in s", nil
	}
	if col, u := t.named(wholes); u != UnitUnknown {
		roles[col] = roleDuration
		return true, u, t.took(col, u), nil
	}
	if varying := t.varying(wholes); len(varying) > 0 {
		wholes = varying
	}
	last := wholes[len(wholes)-1]
	if len(wholes) > 1 {
		return false, 0, "", fmt.Errorf("columns %s all hold whole numbers, of which one may be the request time; say --format with the server's format string", columnNumbers(wholes))
	}
	if unit == UnitUnknown {
		return false, 0, "", fmt.Errorf("column %d (%s) may be the request time, but whole numbers do not say their unit: say --unit us (Apache's %%D), --unit ms or --unit s (Apache's %%T), or --format", last+1, t.describe(last))
	}
	roles[last] = roleDuration
	return true, unit, t.took(last, unit), nil
}

// varying returns the columns that do not hold the same value in every line.
func (t *table) varying(cols []int) []int {
	var out []int
	for _, c := range cols {
		first := t.rows[0][c].text
		if !t.all(c, func(b []byte) bool { return bytes.Equal(b, first) }) {
			out = append(out, c)
		}
	}
	return out
}

// twice returns a column that holds in ms, us or ns what another one holds in whole
// seconds, as Apache's "%T %D" does, and its unit. The requests have to tell the
// units apart.
func (t *table) twice(wholes []int) (col int, u Unit) {
	for _, seconds := range t.varying(wholes) {
		for _, fine := range wholes {
			if fine == seconds {
				continue
			}
			var fits []Unit
			for _, u := range []Unit{Milliseconds, Microseconds, Nanoseconds} {
				if t.sameTime(seconds, fine, u) {
					fits = append(fits, u)
				}
			}
			if len(fits) == 1 {
				return fine, fits[0]
			}
		}
	}
	return -1, UnitUnknown
}

// sameTime reports whether column fine in u is the time that column seconds holds,
// cut off or rounded. Requests of less than a second do not show it.
func (t *table) sameTime(seconds, fine int, u Unit) bool {
	off, shown := 0, 0
	for _, row := range t.rows {
		s, _, f := parseMicros(row[seconds].text, Seconds)
		us, _, g := parseMicros(row[fine].text, u)
		if f != faultNone || g != faultNone || us+500_000 < s || us >= s+1_000_000 {
			off++
			continue
		}
		if s > 0 {
			shown++
		}
	}
	return shown > off && off <= t.odd
}

// named returns the column whose name says that it is the request time, and in what
// unit ("latency_ms:12").
func (t *table) named(cols []int) (col int, u Unit) {
	for _, c := range cols {
		name := t.name(c)
		if u := unitOfName(name); u != UnitUnknown {
			return c, u
		}
		if name == "ms" { // Google App Engine
			return c, Milliseconds
		}
		for _, d := range durationKeys {
			if d.name == name && d.unit != UnitUnknown && d.unit != decimalSeconds && len(name) > 2 {
				return c, d.unit
			}
		}
	}
	return -1, UnitUnknown
}

// fractions reports whether the column holds numbers with fractions or units. Other
// numbers among them, and some junk, say nothing.
func (t *table) fractions(col int) bool {
	good, junk, values := 0, 0, 0
	for _, row := range t.rows {
		b := row[col].text
		if string(b) == "-" {
			continue
		}
		values++
		_, _, f := parseMicros(b, UnitUnknown)
		_, _, inSeconds := parseMicros(b, Seconds)
		switch {
		case f == faultNone || f == faultUnit && inSeconds == faultNone && bytes.IndexByte(b, '.') >= 0:
			good++
		case f == faultShape:
			junk++
		}
	}
	return 2*good > values && junk <= t.tolerated()
}

// mostly is all for values of which none looks so by chance.
func (t *table) mostly(col int, test func([]byte) bool) bool {
	was := t.odd
	t.odd = max(was, t.tolerated())
	ok := t.all(col, test)
	t.odd = was
	return ok
}

// longest returns the column whose time is not below another's, but for a few
// requests and for rounding: the request time includes the upstream's. Names decide
// before values.
func (t *table) longest(cols []int) int {
	for _, d := range durationKeys {
		for _, c := range cols {
			if t.name(c) == d.name {
				return c
			}
		}
	}
	if len(cols) == 1 {
		return cols[0]
	}
	best := -1
	for _, c := range cols {
		below, unknown := 0, 0
		for _, row := range t.rows {
			own, step, f := parseMicros(row[c].text, Seconds)
			if f != faultNone {
				unknown++
				continue
			}
			for _, d := range cols {
				if other, _, g := parseMicros(row[d].text, Seconds); d != c && g == faultNone && other > own+step {
					below++
					break
				}
			}
		}
		if unknown <= t.tolerated() && below <= len(t.rows)/50+t.odd && (best < 0 || t.longer(c, best)) {
			best = c
		}
	}
	return best
}

// longer reports whether the times of column a are longer than those of column b
// where both are known, by more than rounding makes of them, or as long and there in
// more lines.
func (t *table) longer(a, b int) bool {
	var sumA, sumB, slack uint64
	dashes := 0
	for _, row := range t.rows {
		for _, c := range []int{a, b} {
			if string(row[c].text) != "-" {
				continue
			}
			if c == a {
				dashes--
			} else {
				dashes++
			}
		}
		x, step, f := parseMicros(row[a].text, Seconds)
		y, _, g := parseMicros(row[b].text, Seconds)
		if f == faultNone && g == faultNone {
			sumA, sumB, slack = sumA+x, sumB+y, slack+step
		}
	}
	if sumA > sumB+slack || sumB > sumA+slack {
		return sumA > sumB
	}
	return dashes > 0 || dashes == 0 && sumA > sumB
}

// upstream returns the column with the time of the server behind, -1 if none is
// known to be it: by its name or, of two, by requests that were not passed on.
// Another second time may be that to the first byte.
func (t *table) upstream(times []int, best int) int {
	for _, name := range otherKeys[roleUpstream] {
		for _, c := range times {
			if t.name(c) == name {
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

// unitWords are how lines name the unit of the number before.
var unitWords = map[string]Unit{"s": Seconds, "sec": Seconds, "secs": Seconds, "seconds": Seconds, "ms": Milliseconds, "msec": Milliseconds, "msecs": Milliseconds,
	"milliseconds": Milliseconds, "us": Microseconds, "usec": Microseconds, "usecs": Microseconds, "µs": Microseconds, "microseconds": Microseconds}

// wordUnit returns the unit that the column after col names, UnitUnknown if it does
// not.
func (t *table) wordUnit(col int) Unit {
	if col+1 >= len(t.shape) {
		return UnitUnknown
	}
	var seen [decimalSeconds + 1]int
	best := UnitUnknown
	for _, row := range t.rows {
		u := unitWords[string(bytes.TrimRight(row[col+1].text, ",;)"))]
		if seen[u]++; seen[u] > seen[best] {
			best = u
		}
	}
	if len(t.rows)-seen[best] > t.tolerated() {
		return UnitUnknown
	}
	return best
}

// tolerated is how many values of a column may be other than the rest where they
// are all the same kind of thing: a log holds junk, too.
func (t *table) tolerated() int { return len(t.rows) / 3 }

// mayBeTime reports whether nothing says that the column's numbers are something
// else, as "example.org:443" and "pid:12" do.
func (t *table) mayBeTime(col int) bool {
	key, name := t.shape[col].key, t.name(col)
	if key == "" || name == "" || strings.HasSuffix(key, "=") || unitOfName(name) != UnitUnknown {
		return true
	}
	return slices.ContainsFunc(durationKeys, func(d durationKey) bool { return d.name == name })
}

// timeSounds are parts of names of times, but for those of three letters ("rt").
var timeSounds = []string{"time", "dur", "laten", "elaps", "took", "taken", "sec", "resp"}

// soundsLikeTime reports whether a column's key could be that of a time, which
// "cpm_usd=" is not.
func (t *table) soundsLikeTime(col int) bool {
	name := t.name(col)
	for _, s := range timeSounds {
		if strings.Contains(name, s) {
			return true
		}
	}
	return t.shape[col].key == "" || len(name) <= 3
}

// name is what a column's key, or the word before that ends in a colon, says it is.
func (t *table) name(col int) string {
	key := t.shape[col].key
	if key == "" && col > 0 && bytes.HasSuffix(t.rows[0][col-1].text, []byte(":")) {
		key = string(t.rows[0][col-1].text)
	}
	return strings.ToLower(strings.Trim(key, "=:*([{<'/ "))
}
