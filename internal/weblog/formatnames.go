package weblog

import (
	"fmt"
	"strings"
)

// namedField is what a name stands for in formats of names between marks.
type namedField struct {
	role role
	unit Unit // of times
}

// gunicornFields maps gunicorn's access_log_format
// (https://docs.gunicorn.org/en/stable/settings.html#access-log-format).
var gunicornFields = map[string]namedField{
	"h": {role: roleClient}, "t": {role: roleTime}, "r": {role: roleRequest}, "s": {role: roleStatus}, "b": {role: roleBytes}, "B": {role: roleBytes},
	"m": {role: roleMethod}, "U": {role: rolePath}, "H": {role: roleProto},
	"T": {roleDuration, Seconds}, "M": {roleDuration, Milliseconds}, "D": {roleDuration, Microseconds}, "L": {roleDuration, decimalSeconds},
}

// uwsgiFields maps uWSGI's logformat
// (https://uwsgi-docs.readthedocs.io/en/latest/LogFormat.html).
var uwsgiFields = map[string]namedField{
	"addr": {role: roleClient}, "ltime": {role: roleTime}, "ctime": {role: roleTime}, "time": {role: roleTime}, "status": {role: roleStatus},
	"size": {role: roleBytes}, "rsize": {role: roleBytes}, "method": {role: roleMethod}, "uri": {role: rolePath}, "proto": {role: roleProto},
	"msecs": {roleDuration, Milliseconds}, "micros": {roleDuration, Microseconds},
}

// atsFields maps the log fields of Apache Traffic Server
// (https://docs.trafficserver.apache.org/en/latest/admin-guide/logging/formatting.en.html).
var atsFields = map[string]namedField{
	"chi": {role: roleClient}, "cqtn": {role: roleTime}, "cqtq": {role: roleTime}, "cqts": {role: roleTime}, "cqtx": {role: roleRequest}, "pssc": {role: roleStatus},
	"pscl": {role: roleBytes}, "psql": {role: roleBytes}, "cqhm": {role: roleMethod}, "pqu": {role: rolePath}, "cquc": {role: rolePath}, "cquuc": {role: rolePath},
	"cqpv": {role: roleProto}, "crc": {role: roleCache}, "tts": {roleDuration, Seconds}, "ttms": {roleDuration, Milliseconds}, "ttmsf": {roleDuration, decimalSeconds},
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
		tokens.add(token{role: f.role, name: begin + name + end, unit: f.unit})
		body = after
	}
	return newFormat(kind+" format", text, finestDuration(tokens), tokens)
}
