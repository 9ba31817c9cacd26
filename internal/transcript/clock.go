package transcript

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/regexp"
)

// moment is when something was printed, as far as the session says: by an output of date, by a time in the prompt, or
// by how long it slept since.
type moment struct {
	clock time.Time // zero: not known
	slept float64   // seconds of sleep since the session began, the only measure without a clock
	every float64   // between what the command prints again and again; 0 is unknown
}

// since is how many seconds lie between two moments; 0 where that is not known.
func (m moment) since(before moment) float64 {
	if !m.clock.IsZero() && !before.clock.IsZero() {
		return max(0, m.clock.Sub(before.clock).Seconds())
	}
	return m.slept - before.slept
}

// pass lets seconds of sleep go by.
func (m *moment) pass(seconds float64) {
	m.slept += seconds
	if !m.clock.IsZero() {
		m.clock = m.clock.Add(time.Duration(seconds * float64(time.Second)))
	}
}

var (
	promptClock = regexp.MustCompile(`(?:^|[\[( ])(\d{1,2}:\d\d:\d\d)(?:[\]) ]|$)`)
	sleeping    = regexp.MustCompile(`(?:^|[;&|$#%>] *|do +)sleep +(\d+(?:\.\d+)?)`)
	watched     = regexp.MustCompile(`(?:^|[ ;])watch +(?:-\w+ +)*-n *(\d+(?:\.\d+)?)`)
)

// dateForms are those in which date prints a moment.
var dateForms = []string{time.UnixDate, "Mon _2 Jan 15:04:05 MST 2006", "Mon _2 Jan 03:04:05 PM MST 2006",
	"Mon Jan _2 03:04:05 PM MST 2006", "Mon 02 Jan 2006 03:04:05 PM MST", "Mon 02 Jan 2006 15:04:05 MST", time.RFC3339,
	time.DateTime, time.ANSIC, time.TimeOnly}

// read takes the time out of a section: of its prompt, of its command and, where that is date, of what it printed.
func (m *moment) read(part section) {
	m.every = pause(part.line)
	if c := promptClock.FindStringSubmatch(part.prompt()); c != nil {
		if t, err := time.Parse("15:04:05", c[1]); err == nil {
			m.clock = t
		}
	}
	if part.command == "date" || strings.HasPrefix(part.command, "date ") {
		for _, line := range part.lines {
			for _, form := range dateForms {
				if t, err := time.Parse(form, strings.TrimSpace(line)); err == nil {
					m.clock = t
				}
			}
		}
	}
	if s := sleeping.FindStringSubmatch(part.line); s != nil && !strings.Contains(part.line, "done") {
		m.pass(seconds(s[1]))
	}
}

// clockedLine is a line that a script of somebody's own printed: a time of the day in front of a counter.
var clockedLine = regexp.MustCompile(`^\s*[\[(]?(\d\d:\d\d:\d\d)[\])]?:? +(\w+: +\d+)\s*$`)

// takeClocked keeps the counters of a card that stand behind a time of the day, each at that time, and returns the
// passage without them.
func (o outputs) takeClocked(p passage) passage {
	var rest []string
	for i, line := range p.lines {
		m := clockedLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		l := looseForm(m[2])
		t, err := time.Parse("15:04:05", m[1])
		if l == nil || err != nil || !strings.HasPrefix(l.name, "ethtool -S ") {
			continue
		}
		if rest == nil {
			rest = slices.Clone(p.lines)
		}
		before := *o.now
		o.now.clock = t
		o.add(l.name, "", m[2], []int{p.first + i})
		*o.now, rest[i] = before, ""
	}
	if rest != nil {
		p.lines = rest
	}
	return p
}

// pause is how many seconds a command lets pass between what it prints again and again; 0 is unknown.
func pause(typed string) float64 {
	for _, form := range []*regexp.Regexp{watched, sleeping} {
		if s := form.FindStringSubmatch(typed); s != nil {
			return seconds(s[1])
		}
	}
	return 0
}

func seconds(s string) float64 {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || v > 1e6 {
		return 0
	}
	return v
}
