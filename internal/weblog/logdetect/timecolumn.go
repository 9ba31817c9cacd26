package logdetect

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/weblog/logline"
)

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

// duration returns the column of the request time: one whose name says so, one whose
// values carry a unit, or the longest of the decimals that are appended to a line of
// request and status. Of anything else the user is asked. roles are what is known of the
// columns, to which that of the upstream's time is added.
func (t *table) duration(roles []logline.Role, said logline.Unit) (col int, u logline.Unit, err error) {
	if col, u := t.named(roles, said); col >= 0 {
		return col, u, nil
	}
	var carried, decimals, wholes []int
	for col, r := range roles {
		appended := t.name(col) == "" && (slices.Contains(roles[:col], logline.RoleRequest) ||
			slices.Contains(roles[:col], logline.RoleStatus))
		u := t.wordUnit(col)
		switch {
		case r != logline.RoleNone || !t.numbers(col):
		case u != logline.UnitUnknown:
			return col, u, nil
		case t.all(col, carriesUnit):
			carried = append(carried, col)
		case appended && t.all(col, isWhole):
			wholes = append(wholes, col)
		case appended:
			decimals = append(decimals, col)
		}
	}
	best := t.longest(decimals)
	switch {
	case len(carried) == 1:
		return carried[0], logline.UnitUnknown, nil
	case len(carried) > 1:
		return 0, 0, t.ask(roles, carried[0], "columns %s all look like times", columnNumbers(carried))
	case best >= 0 && len(wholes) > 0 && t.all(best, isOfMicros):
		return 0, 0, t.ask(roles, best, "column %s may be the request time in us and column %s that to the first "+
			"byte in s, as varnishncsa logs them", t.describe(wholes[0]), t.describe(best))
	case best >= 0 && said != logline.UnitUnknown:
		return best, said, nil
	case best >= 0 && t.slow(best):
		return 0, 0, fmt.Errorf("column %s looks like the request time, but does not say its unit, and in seconds "+
			"most requests would be slow: say --unit s or --unit ms", t.describe(best))
	case best >= 0:
		return best, logline.Seconds, nil
	case len(decimals) > 0:
		return 0, 0, t.ask(roles, decimals[0], "columns %s may be the request time in s, a part of it, or a ratio "+
			"such as nginx's $gzip_ratio", columnNumbers(decimals))
	case len(wholes) > 1:
		return 0, 0, t.ask(roles, wholes[len(wholes)-1],
			"columns %s all hold whole numbers, one of which may be the request time", columnNumbers(wholes))
	case len(wholes) == 0:
		return 0, 0, ErrNoTime
	case said == logline.UnitUnknown:
		return 0, 0, fmt.Errorf("column %s may be the request time, but whole numbers do not say their unit: say "+
			"--unit us (Apache's %%D), --unit ms or --unit s (Apache's %%T), or --format", t.describe(wholes[0]))
	}
	return wholes[0], said, nil
}

// ask is the error for what has to be said: it proposes a format with the request time
// in a column.
func (t *table) ask(roles []logline.Role, col int, format string, args ...any) error {
	proposed := slices.Clone(roles)
	proposed[col] = logline.RoleDuration
	return fmt.Errorf(format+"; say --format with the server's format string, such as --format %s. the first line: %s",
		append(args, logline.Escape("'"+t.formatText(proposed)+"'", 400), logline.Escape(string(t.first), 120))...)
}

// named returns the column whose name says that it is the request time, and marks that
// of the upstream's; -1 if there is none.
func (t *table) named(roles []logline.Role, said logline.Unit) (col int, u logline.Unit) {
	col = -1
	for i := range roles {
		name := t.name(i)
		if roles[i] != logline.RoleNone || name == "" || !t.numbers(i) {
			continue
		}
		if slices.Contains(otherNames[logline.RoleUpstream], keyName(name)) {
			roles[i] = logline.RoleUpstream
			continue
		}
		unit, known := unitOfName(name)
		switch {
		case col >= 0 || !known || name == "ta" || name == "tt":
			continue
		case t.all(i, carriesUnit):
			unit = logline.UnitUnknown
		case said != logline.UnitUnknown:
			unit = said
		case unit == logline.DecimalSeconds && !t.all(i, isWhole):
			unit = logline.Seconds
		case unit == logline.DecimalSeconds || unit == logline.UnitUnknown:
			continue
		}
		col, u = i, unit
	}
	return col, u
}

func carriesUnit(b []byte) bool {
	_, _, f := logline.ParseMicros(b, logline.UnitUnknown)
	return f == logline.FaultNone
}

// isRatio is true of two decimals, with which no server writes seconds.
func isRatio(b []byte) bool { return len(b) > 3 && b[len(b)-3] == '.' }

func isOfMicros(b []byte) bool {
	_, step, _ := logline.ParseMicros(b, logline.Seconds)
	return step == 1
}

// numbers reports whether most values of a column could be times, and few are none.
func (t *table) numbers(col int) bool {
	good, junk, values := 0, 0, 0
	for _, row := range t.rows {
		if b := row[col].text; string(b) != "-" {
			values++
			unit := logline.Seconds
			if isWhole(b) {
				unit = logline.Nanoseconds // of microseconds many are more seconds than a request takes
			}
			switch _, _, f := logline.ParseMicros(b, unit); f {
			case logline.FaultNone:
				good++
			case logline.FaultShape:
				junk++
			}
		}
	}
	return 2*good > values && junk <= t.tolerated()
}

// slow reports whether half of the times would be longer than slowSample in seconds.
func (t *table) slow(col int) bool {
	slow, limit := 0, uint64(slowSample)
	if len(t.rows) == 1 {
		limit *= 10
	}
	for _, row := range t.rows {
		if us, _, f := logline.ParseMicros(row[col].text, logline.Seconds); f == logline.FaultNone && us >= limit {
			slow++
		}
	}
	return 2*slow >= len(t.rows)
}

// longest returns the column with the longest times in all, -1 if some lines have none or
// one that is below another's by more than rounding makes of it, but for a few: the
// request time includes the upstream's.
func (t *table) longest(cols []int) int {
	cols = slices.DeleteFunc(slices.Clone(cols), func(c int) bool { return t.all(c, isRatio) })
	best, most := -1, uint64(0)
	for _, c := range cols {
		below, unknown, sum := 0, 0, uint64(1)
		for _, row := range t.rows {
			own, step, f := logline.ParseMicros(row[c].text, logline.Seconds)
			if f != logline.FaultNone {
				unknown++
				continue
			}
			sum += own
			if slices.ContainsFunc(cols, func(d int) bool {
				other, _, g := logline.ParseMicros(row[d].text, logline.Seconds)
				return g == logline.FaultNone && other > own+step
			}) {
				below++
			}
		}
		if below <= len(t.rows)/50 && unknown <= t.tolerated() && sum > most {
			best, most = c, sum
		}
	}
	return best
}

// describe is the number of a column and its first value.
func (t *table) describe(col int) string {
	return fmt.Sprintf("%d (%s)", col+1, logline.Escape(t.shape[col].key+string(t.rows[0][col].text), 32))
}

func columnNumbers(cols []int) string {
	var out []string
	for _, c := range cols {
		out = append(out, fmt.Sprint(c+1))
	}
	return strings.Join(out, ", ")
}

// wordUnit returns the unit that the column after col names ("83.4 ms"), UnitUnknown if
// it does not.
func (t *table) wordUnit(col int) logline.Unit {
	if col+1 >= len(t.shape) {
		return logline.UnitUnknown
	}
	u := logline.UnitEndings[string(t.rows[0][col+1].text)]
	if !t.all(col+1, func(b []byte) bool { return logline.UnitEndings[string(b)] == u }) {
		return logline.UnitUnknown
	}
	return u
}

// name is what a column's key, or the word before that ends in a colon, says it is.
func (t *table) name(col int) string {
	key := t.shape[col].key
	if key == "" && col > 0 && bytes.HasSuffix(t.rows[0][col-1].text, []byte(":")) {
		key = string(t.rows[0][col-1].text)
	}
	return strings.ToLower(strings.Trim(key, "=: "))
}
