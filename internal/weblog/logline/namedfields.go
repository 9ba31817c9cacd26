package logline

import (
	"fmt"
	"strings"
)

// namedField is what a name stands for in formats of names between marks.
type namedField struct {
	role Role
	unit Unit // of times
}

// gunicornFields maps gunicorn's access_log_format
// (https://docs.gunicorn.org/en/stable/settings.html#access-log-format).
var gunicornFields = map[string]namedField{
	"h": {role: RoleClient}, "t": {role: RoleTime}, "r": {role: RoleRequest}, "s": {role: RoleStatus},
	"b": {role: RoleBytes}, "B": {role: RoleBytes},
	"m": {role: RoleMethod}, "U": {role: RolePath}, "H": {role: RoleProto},
	"T": {RoleDuration, Seconds}, "M": {RoleDuration, Milliseconds}, "D": {RoleDuration, Microseconds},
	"L": {RoleDuration, DecimalSeconds},
}

// uwsgiFields maps uWSGI's logformat
// (https://uwsgi-docs.readthedocs.io/en/latest/LogFormat.html).
var uwsgiFields = map[string]namedField{
	"addr": {role: RoleClient}, "ltime": {role: RoleTime}, "ctime": {role: RoleTime}, "time": {role: RoleTime},
	"status": {role: RoleStatus},
	"size":   {role: RoleBytes}, "rsize": {role: RoleBytes}, "method": {role: RoleMethod}, "uri": {role: RolePath},
	"proto": {role: RoleProto},
	"msecs": {RoleDuration, Milliseconds}, "micros": {RoleDuration, Microseconds},
}

// atsFields maps the log fields of Apache Traffic Server
// (https://docs.trafficserver.apache.org/en/latest/admin-guide/logging/formatting.en.html).
var atsFields = map[string]namedField{
	"chi": {role: RoleClient}, "cqtn": {role: RoleTime}, "cqtq": {role: RoleTime}, "cqts": {role: RoleTime},
	"cqtx": {role: RoleRequest}, "pssc": {role: RoleStatus},
	"pscl": {role: RoleBytes}, "psql": {role: RoleBytes}, "cqhm": {role: RoleMethod}, "pqu": {role: RolePath},
	"cquc": {role: RolePath}, "cquuc": {role: RolePath},
	"cqpv": {role: RoleProto}, "crc": {role: RoleCache}, "tts": {RoleDuration, Seconds},
	"ttms": {RoleDuration, Milliseconds}, "ttmsf": {RoleDuration, DecimalSeconds},
}

// isTrafficServer reports whether the text holds %<name>, which Apache httpd's %<s and
// Squid's %<st are not.
func isTrafficServer(text string) bool {
	_, rest, ok := strings.Cut(text, "%<")
	name, _, closed := strings.Cut(rest, ">")
	return ok && closed && !strings.ContainsAny(name, ` "%`)
}

// parseNamed reads a format of %(name)s, as gunicorn has it, of uWSGI's %(name) or
// Traffic Server's %<name>.
func parseNamed(kind, text string) (*Format, error) {
	fields, begin, end := uwsgiFields, "%(", ")"
	switch kind {
	case "gunicorn":
		fields, end = gunicornFields, ")s"
	case "ats":
		fields, begin, end = atsFields, "%<", ">"
	}
	var tokens tokenList
	for body := text; tokens.next(&body, begin); {
		name, after, ok := strings.Cut(body, end)
		if !ok {
			return nil, fmt.Errorf("%q ends inside a name", text)
		}
		f := fields[name]
		tokens.add(Token{Role: f.role, Name: begin + name + end, unit: f.unit})
		body = after
	}
	return New(kind+" format", text, finestDuration(tokens), tokens)
}
