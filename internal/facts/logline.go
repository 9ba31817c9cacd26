package facts

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// A logLine is a line of a log without what stands before its message.
type logLine struct {
	program, text string
	level         logLevel
	// stamped tells that a time of day, a level or a name with a process number stood before the message.
	stamped, kernel bool
}

// A logLevel is how loud a program says something.
type logLevel int

const (
	noLevel logLevel = iota
	quietLevel
	loudLevel
)

// The times of day with which lines of logs begin, in brackets or not.
const (
	monthDay = `(?:[A-Z][a-z]{2},? )?(?:[A-Za-z]{3} +\d{1,2}|\d{1,2}[ -][A-Za-z]{3})(?:[ -]\d{4})?[ :]+`
	isoDay   = `\d{4}[-/.]\d\d[-/.]\d\d[T _-]?`
	dayFirst = `\d{1,2}[/.-](?:\d{1,2}|[A-Z][a-z]{2})[/.-]\d{4}[: ,]+`
	clock    = `\d{1,2}:\d\d:\d\d(?:[.,]\d+)?(?: ?[AP]M\b)?(?: \d{4}\b)?(?:Z| ?[+-]\d\d:?\d\d\b| (?:UTC|GMT|CES?T)\b)?`
)

// The parts that stand before the message of a line, in any order.
var (
	stampPart = regexp.MustCompile(`^[\["'(]?(?:(?:` + monthDay + `|` + isoDay + `|` + dayFirst + `|\d{6} |\d\d-\d\d )?` + clock +
		`|\d{10}\.\d{3,9}\b|1[4-9]\d{8}:)[\]"')]?[:|]?(?:[ \t]|$)`)
	// eventPart is the begin of an event of Kubernetes, as kubectl describe and kubectl get events print it.
	eventPart = regexp.MustCompile(`^(?:(Warning)|Normal)\s{2,}[A-Z]\w+\s+(?:<\w+>|\d\w*)(?: \(x\d+ over \w+\))?\s+([\w/.-]+)(?:, \S+)?\s+|` +
		`^\d\w{1,8}\s+(?:(Warning)|Normal)\s+[A-Z]\w+\s+(\w+/\S+)\s+`)
	epochPart  = regexp.MustCompile(`^1[4-9]\d{8} \W?(?:ERROR|WARN|INFO|DEBUG|FATAL|ERR|CRIT)`)
	boxedPart  = regexp.MustCompile(`^\[(?:([^\]]{0,40}))\b\d\d:\d\d:\d\d(?:[.,]\d+)?([^\]]{0,40})\]:? ?`) // with its level
	loudBox    = regexp.MustCompile(`(?i:\b(?:error|err|warn\w*|fatal|severe|crit\w*)\b)|\b[EWFC]\b`)
	quietBox   = regexp.MustCompile(`(?i:\b(?:info\w*|debug|trace|notice|verbose)\b)|\b[IDNTV]\b`)
	kernelPart = regexp.MustCompile(`^\[ *\d{1,9}\.\d{3,9}\] ?`)
	// ovsPart is the begin of a line of Open vSwitch (lib/vlog.c: %D{...}|%05N|%c%T|%p|%m).
	ovsPart    = regexp.MustCompile(`^\S{19,30}Z?\|\d{5,}\|(\w+)(?:\([^)]{1,40}\))?\|(?:(EMER|ERR|WARN)|INFO|DBG)\|`)
	klogPart   = regexp.MustCompile(`^([IWEF])\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ [\w.-]+:\d+\] ?`)
	syslogPart = regexp.MustCompile(`^\S+ ([\w./-]+) (?:\d+|-) \S+ (?:-|\[[^\]]*\]) `) // RFC 5424, behind its time
	levelPart  = regexp.MustCompile(`^(?:(?:kern|user|daemon|auth\w*|syslog|local\d|mail|cron)\.|[\[<(=]?)` +
		`(?i:(emerg\w*|alert|crit\w*|critical|fatal|panic|severe|error|erro|err|warn|warning|wrn)|` +
		`info|inf|information|notice|debug|dbg|trace|verbose|note)(?: ?[\]>)]:?|[:|]| REPORT====|\b)`)
	namedLevel = regexp.MustCompile(`^([a-z][\w.-]*)(?: +|:)(?i:(error|warn|warning|critical|fatal)|info|notice|debug|` +
		`trace)(?: *: | +\d{4}-)`) // VLC, zigbee2mqtt, Frigate
	marked = regexp.MustCompile(`^(?i:error|warn(?:ing)?|fatal|` +
		`critical): `) // what stands before it names a part of the program
	letterPart = regexp.MustCompile(`^(?:([WEFC#])|[IDNTV*.-])(?: \||>|/| ) ?`)
	programPID = regexp.MustCompile(`^(?:[\w.:$-]+ )?([A-Za-z][\w./@()-]{0,40})\[[\d:.]+\]:? `)
	hostedPart = regexp.MustCompile(`^[\w.:$-]+ ([A-Za-z][\w./@()-]{1,40}): `)
	namedPart  = regexp.MustCompile(`^([A-Za-z][\w./@-]{1,40}): `)
	otherParts = regexp.MustCompile(`^(?:[\w.-]+ +\| |\*\* |[\w./-]+\.log:|<\d{1,3}>\d? ?|\[(?:[^\]:=]|[:=][^\d\] ]|` +
		`[:=]\d+[^\d\]]){1,60}\]:? ?|\[\w*[.\w/-]*:\d+\] ?|<[\w.:-]{1,40}> ?|\*\d+ |\d+(?:#\d+:|:[A-Z]|` +
		`\(\d+\)) |\d{2,7} +\d{2,7} +|PID\d+ |[\w./-]+\.(?:go|c|cc|cpp|py|java|rs|rb|js|ts|lua):\d+\]?:?[ \t]|[-|]+ )`)
	noProgram = regexp.MustCompile(`(?i)fail|error|time|lost|refused|reset|warn|^(?:read|write|dial|connect|accept|send\w*|` +
		`recv\w*|get|post|close|note)$`) // no name of a program
)

// mostParts bounds the parts before a message.
const mostParts = 12

// parseLogLine takes a line of a log apart.
func parseLogLine(line string) (l logLine) {
	l.text = strings.TrimLeft(line, " \t>`\"'")
	if l.fromJSON() || l.fromPairs() {
		return l
	}
	for range mostParts {
		if !l.strip() {
			break
		}
	}
	if strings.HasPrefix(l.text, "{") {
		l.fromJSON()
	}
	return l
}

// strip takes one part from the begin of a line, and reports whether there was one.
func (l *logLine) strip() bool {
	cut := func(n int) bool {
		l.text = strings.TrimLeft(l.text[n:], " \t,")
		return true
	}
	if m := klogPart.FindStringSubmatchIndex(l.text); m != nil {
		l.stamped, l.level = true, levelOf(l.text[m[2]] != 'I')
		return cut(m[1])
	}
	if m := ovsPart.FindStringSubmatchIndex(l.text); m != nil {
		l.program, l.stamped, l.level = "Open vSwitch "+l.text[m[2]:m[3]], true, levelOf(m[4] >= 0)
		return cut(m[1])
	}
	if m := kernelPart.FindStringIndex(l.text); m != nil {
		l.stamped, l.kernel, l.program = true, true, "kernel"
		return cut(m[1])
	}
	if m := stampPart.FindStringIndex(l.text); m != nil {
		l.stamped = true
		cut(m[1])
		for _, form := range []*regexp.Regexp{syslogPart, programPID, hostedPart} {
			if m := form.FindStringSubmatchIndex(l.text); m != nil && !levelPart.MatchString(l.text) && l.name(l.text[m[2]:m[3]]) {
				return cut(m[1])
			}
		}
		return true
	}
	if m := eventPart.FindStringSubmatch(l.text); m != nil && !l.stamped {
		l.stamped, l.level, l.program = true, levelOf(m[1]+m[3] != ""), m[2]+m[4]
		return cut(len(m[0]))
	}
	if epochPart.MatchString(l.text) {
		l.stamped = true
		return cut(len("1700000000 "))
	}
	if m := boxedPart.FindStringSubmatchIndex(l.text); m != nil {
		beside := l.text[m[2]:m[3]] + " " + l.text[m[4]:m[5]]
		if loud := loudBox.MatchString(beside); l.level == noLevel && (loud || quietBox.MatchString(beside)) {
			l.level = levelOf(loud)
		}
		l.stamped = true
		return cut(m[1])
	}
	if m := levelPart.FindStringSubmatchIndex(l.text); m != nil && l.isLevel(l.text, m[1]) {
		l.stamped, l.level = true, levelOf(m[2] >= 0)
		return cut(m[1])
	}
	if m := namedLevel.FindStringSubmatchIndex(l.text); m != nil && l.level == noLevel {
		l.name(l.text[m[2]:m[3]])
		l.stamped, l.level = true, levelOf(m[4] >= 0)
		return cut(m[1])
	}
	if m := letterPart.FindStringSubmatchIndex(l.text); m != nil && l.stamped && l.level == noLevel {
		l.level = levelOf(m[2] >= 0)
		return cut(m[1])
	}
	if m := programPID.FindStringSubmatchIndex(l.text); m != nil && l.name(l.text[m[2]:m[3]]) {
		l.stamped = true
		return cut(m[1])
	}
	if m := otherParts.FindStringIndex(l.text); m != nil {
		return cut(m[1])
	}
	if m := namedPart.FindStringSubmatchIndex(l.text); m != nil && (l.name(l.text[m[2]:m[3]]) || marked.MatchString(l.text[m[1]:])) {
		return cut(m[1])
	}
	return false
}

// isLevel reports whether a word at the begin of a line is a level: behind a time, marked as one, or in capitals.
func (l *logLine) isLevel(text string, end int) bool {
	word := text[:end]
	return l.level == noLevel && (strings.HasPrefix(text[end:], "\t") || l.stamped || strings.HasSuffix(word, ":") || strings.ContainsAny(word, "[<=.|") ||
		strings.ToUpper(word) == word)
}

// name keeps the name of the program, the first one that is given.
func (l *logLine) name(program string) bool {
	if noProgram.MatchString(program) || l.program != "" {
		return false
	}
	l.program, l.kernel = program, l.kernel || program == "kernel"
	return true
}

func levelOf(loud bool) logLevel {
	if loud {
		return loudLevel
	}
	return quietLevel
}

// The names that structured logs have for what a line says.
var (
	messageKeys = []string{"msg", "message", "MESSAGE", "log", "event", "short_message", "text"}
	reasonKeys  = []string{"err", "error", "reason", "exception"}
	levelKeys   = []string{"level", "lvl", "severity", "log.level", "PRIORITY"}
	programKeys = []string{"logger", "app", "service", "component", "SYSLOG_IDENTIFIER", "program", "subsys"}
)

// fromJSON reads a line that is an object of JSON, and reports whether it is one with a message.
func (l *logLine) fromJSON() bool {
	text := strings.TrimRight(l.text, " \t\r,")
	if !strings.HasPrefix(text, "{") || !strings.HasSuffix(text, "}") {
		return false
	}
	var fields map[string]any
	if json.Unmarshal([]byte(text), &fields) != nil {
		return false
	}
	return l.fromFields(func(key string) string {
		switch v := fields[key].(type) {
		case string:
			return v
		case float64:
			return fmt.Sprint(v)
		case map[string]any: // an exception: its own message
			for _, key := range []string{"Message", "message", "msg"} {
				if text, ok := v[key].(string); ok {
					return text
				}
			}
		}
		return ""
	})
}

// pairIn is the value of a key in logfmt: msg="..." or level=warn.
var pairIn = regexp.MustCompile(`(?:^| )([\w.]+)=(?:"((?:[^"\\]|\\.)*)(?:"|$)|(\S+))`)

// fromPairs reads a line of logfmt.
func (l *logLine) fromPairs() bool {
	if !strings.Contains(l.text, "msg=") && !strings.Contains(l.text, "message=") || !strings.Contains(l.text, "l=") &&
		!strings.Contains(l.text, "severity=") {
		return false
	}
	fields := map[string]string{}
	for _, m := range pairIn.FindAllStringSubmatch(l.text, -1) {
		fields[m[1]] = m[2] + m[3]
	}
	return l.fromFields(func(key string) string { return fields[key] })
}

// fromFields reads the fields of a structured line, and reports whether one of them is a message.
func (l *logLine) fromFields(field func(string) string) bool {
	first := func(keys []string) string {
		for _, key := range keys {
			if v := field(key); v != "" {
				return v
			}
		}
		return ""
	}
	message := first(messageKeys)
	if message == "" {
		return false
	}
	inner := parseLogLine(message) // a container's log holds the program's own line
	inner.stamped = true
	if reason := first(reasonKeys); reason != "" {
		inner.text += ": " + reason
	}
	if level := strings.ToLower(first(levelKeys)); level != "" {
		m := levelPart.FindStringSubmatchIndex(level)
		inner.level = levelOf(m != nil && m[2] >= 0 || len(level) == 1 && level <= "4" || len(level) == 2 && level >= "40" && level <= "60")
	}
	if program := first(programKeys); program != "" && inner.program == "" {
		inner.program = program
	}
	*l = inner
	return true
}
