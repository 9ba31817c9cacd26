package logline

import (
	"fmt"
	"slices"
	"strings"
)

// Format says where the fields of a log line are. Formats come from
// [ParseFormat] and [Detect]; a Format is not changed by use and may be shared.
type Format struct {
	Name string // what it is, for people: "nginx log_format", "squid", ...
	Unit Unit   // of the request times
	Note string // what detection had to assume; empty if nothing

	upstreamUnit Unit
	firstReuse   int64 // the value of roleReuse on a connection's first request
	ex           extractor
	between      bool      // the request time is that from roleDuration2 to roleDuration
	Untimed      bool      // the lines hold no request time; they are counted, no more
	Doubted      bool      // the unit is that of Apache's %D, which is not everybody's
	wrap         *Wrapping // nil: lines are as the server wrote them
	Directives   bool      // some lines say what the others hold: W3C's that begin with #, or
	header       string    // this one
	software     bool      // one of them named the program
	has          [NumRoles]bool
	// early tells from the value of roleEnd whether a request ended early.
	early func([]byte) bool
}

// ParseFormat reads what the user says of a format: the name of a preset
// ([Presets]); an nginx log_format, Apache LogFormat, HAProxy log-format, Squid
// logformat, Envoy, gunicorn, uWSGI or Traffic Server format string, told apart by their variables or by a
// prefix such as "apache:"; or "json:", "ltsv:" or "logfmt:" with a list of
// field=key ("json:duration=took,status=code,unit=ms").
func ParseFormat(text string) (*Format, error) {
	if p, ok := PresetNamed(text); ok {
		return p.Format()
	}
	kind, rest, ok := strings.Cut(text, ":")
	parse := parserOf(kind)
	if !ok || parse == nil {
		kind, rest = languageOf(text), text
		parse = parserOf(kind)
	}
	if parse == nil {
		return nil, fmt.Errorf("format %q is neither a preset (wirerate weblog --help lists them) nor a format "+
			"string with $variables or %%directives", text)
	}
	f, err := parse(rest)
	if err != nil {
		return nil, fmt.Errorf("%s format: %w", kind, err)
	}
	f.Doubted = kind == "apache" && f.Unit == Microseconds && strings.Contains(rest, "%D")
	return f, nil
}

// parserOf returns what reads format strings of a language, nil for one that is not known.
func parserOf(kind string) func(text string) (*Format, error) {
	switch kind {
	case "nginx":
		return parseNginx
	case "apache":
		return parseApache
	case "haproxy":
		return parseHAProxy
	case "squid":
		return parseSquid
	case "envoy":
		return parseEnvoy
	case "gunicorn", "uwsgi", "ats":
		return func(text string) (*Format, error) { return parseNamed(kind, text) }
	case "json", "ltsv", "logfmt":
		return func(text string) (*Format, error) { return parseKeys(kind, text) }
	}
	return nil
}

// languageOf tells the languages of format strings apart by variables that only
// one of them has.
func languageOf(text string) string {
	switch {
	case strings.Contains(text, "%(") && strings.Count(text, "%(") == strings.Count(text, ")s"):
		return "gunicorn"
	case isTrafficServer(text) && !strings.Contains(text, "%("):
		return "ats"
	}
	for _, l := range []struct {
		kind  string
		marks []string
	}{
		{"uwsgi", []string{"%("}},
		{"envoy", []string{"%START_TIME", "%RESPONSE_CODE%", "%DURATION%"}},
		{"haproxy", []string{"%ci", "%ST", "%Tt", "%Ta", "%{+"}},
		{"squid", []string{"%>a", "%ts", "tr %"}},
		{"nginx", []string{"$"}},
		{"apache", []string{"%"}},
	} {
		if slices.ContainsFunc(l.marks, func(m string) bool { return strings.Contains(text, m) }) {
			return l.kind
		}
	}
	return ""
}

// New compiles tokens and checks that they say enough: a request time is
// the one field that nothing can do without.
func New(name, text string, unit Unit, tokens []Token) (*Format, error) {
	f := &Format{Name: name, Unit: unit, upstreamUnit: unit, early: endedEarlyHAProxy}
	for i := range tokens {
		r := tokens[i].Role
		if r != RoleNone && f.has[r] {
			tokens[i].Role = RoleNone // the first of two sources counts
			continue
		}
		f.has[r] = true
	}
	if !f.has[RoleDuration] {
		return nil, fmt.Errorf("%q has no request time: add one ($request_time, %%D, %%Ta, ...) to the server's log "+
			"format", text)
	}
	plan, err := compile(tokens)
	if err != nil {
		return nil, err
	}
	f.ex = plan
	return f, nil
}

// tokenList gathers the tokens of a format string.
type tokenList []Token

// next adds the text before the mark, takes both away from *text, and reports whether
// there is a mark.
func (l *tokenList) next(text *string, mark string) bool {
	lit, rest, ok := strings.Cut(*text, mark)
	l.add(Token{Lit: lit})
	*text = rest
	return ok
}

func (l *tokenList) add(t Token) { *l = append(*l, t) }

// joins makes the token part of the field before, which nothing stands between, and
// reports whether that can be done: both are unwanted, or one is part of the other's
// path, as in "$host$request_uri" and "%U%q".
func (t Token) joins(f *field) bool {
	f.list = f.list || t.List
	if f.role == RoleNone && (t.Role == RoleNone || t.Role == RolePath) {
		f.role = t.Role
		return true
	}
	return f.role == RolePath && t.Role == RoleNone
}

// WithUnit returns the format with its request times in u.
func (f *Format) WithUnit(u Unit) *Format {
	g := *f
	g.Unit = u
	return &g
}

// Behind returns the format for lines that begin with n words, or with a syslog header
// if n is -1.
func (f *Format) Behind(n int) *Format {
	p, ok := f.ex.(*linePlan)
	if !ok {
		return f
	}
	q := *p
	q.behind = n
	g := *f
	g.ex = &q
	switch g.Name += " behind a syslog header"; {
	case n == 1:
		g.Name = f.Name + " behind 1 more word"
	case n > 1:
		g.Name = fmt.Sprintf("%s behind %d more words", f.Name, n)
	}
	return &g
}

// begin returns where the server's own text begins in a line, -1 if nowhere.
func (p *linePlan) begin(line []byte) int {
	if p.behind < 0 {
		return syslogEnd(line)
	}
	return BehindWords(line, p.behind)
}

// BehindWords returns where a line goes on behind its first n words and the blanks
// after them, which may be its end.
func BehindWords(line []byte, n int) int {
	pos := 0
	for range n {
		for pos < len(line) && line[pos] != ' ' {
			pos++
		}
		for pos < len(line) && line[pos] == ' ' {
			pos++
		}
	}
	return pos
}

// NewUntimed makes the format of lines without a request time, which are counted, no more.
func NewUntimed(name string, tokens []Token) (*Format, error) {
	plan, err := compile(tokens)
	if err != nil {
		return nil, err
	}
	f := &Format{Name: name, ex: plan, Untimed: true}
	for _, t := range tokens {
		f.has[t.Role] = true
	}
	return f, nil
}
