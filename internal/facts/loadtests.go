package facts

import (
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// LoadTest is what a tool that sends requests over many connections at once counted.
type LoadTest struct {
	// Target is what it asked for, as far as it was shown.
	Target      string  `json:"target,omitempty"`
	Connections int     `json:"connections"`
	Rate        float64 `json:"requests_per_second"`
	// Requests were answered, Late not in the time that the tool waits, Refused with a status that is no success. Paced says
	// that the tool held its requests back to a rate.
	Requests int    `json:"requests"`
	Late     int    `json:"late"`
	Refused  int    `json:"refused"`
	Paced    bool   `json:"paced,omitempty"`
	Source   Source `json:"source"`
	// LateLine and RefusedLine are those of the errors.
	LateLine    Source `json:"-"`
	RefusedLine Source `json:"-"`
}

// LoadTestForm is a line with which wrk (src/wrk.c) or ab (support/ab.c) begins to say what it counted.
var LoadTestForm = regexp.MustCompile(`^\s*Running \d+\w* test @ \S|^\s*\d+ threads? and \d+ connections?$|^Concurrency Level: +\d+$`)

var (
	loadTarget   = regexp.MustCompile(`^(?:Running \S+ test @|Document Path:) +(\S+)`)
	loadSize     = regexp.MustCompile(`^(?:\d+ threads? and (\d+) connections?|Concurrency Level: +(\d+))$`)
	loadRate     = regexp.MustCompile(`^Requests(?:/sec| per second): +(\d{1,9}(?:\.\d+)?)`)
	loadAnswered = regexp.MustCompile(`^(\d{1,12}) requests in |^Complete requests: +(\d{1,12})$`)
	loadLate     = regexp.MustCompile(`^Socket errors: .*\btimeout (\d{1,12})$`)
	loadRefused  = regexp.MustCompile(`^Non-2xx (?:or 3xx )?responses: +(\d{1,12})$`)
	loadPaced    = regexp.MustCompile(`^Thread calibration: `) // of wrk2
)

// readLoadTests reads the summaries of load tests.
func (f *Facts) readLoadTests(t text) error {
	const limit = 64
	var all []LoadTest
	target := ""
	for i, line := range t.lines() {
		line = strings.TrimSpace(line)
		if len(line) > 1024 || len(all) > limit {
			continue
		}
		if m := loadTarget.FindStringSubmatch(line); m != nil {
			target = m[1]
			continue
		}
		if m := loadSize.FindStringSubmatch(line); m != nil {
			all = append(all, LoadTest{Target: target, Connections: smallNumber(m[1] + m[2])})
			continue
		}
		if len(all) > 0 {
			all[len(all)-1].read(line, f.Line(t.from, i+1))
		}
	}
	found := false
	for _, test := range all {
		if test.Rate > 0 && test.Connections > 0 { // others did not end
			f.LoadTests, found = append(f.LoadTests, test), true
		}
	}
	return nothingUnless(found)
}

// read takes what a line of a test's summary says.
func (l *LoadTest) read(line string, src Source) {
	if m := loadRate.FindStringSubmatch(line); m != nil && l.Rate == 0 {
		l.Rate, l.Source = amount(m[1]), src
	} else if m := loadAnswered.FindStringSubmatch(line); m != nil {
		l.Requests = int(amount(m[1] + m[2]))
	} else if m := loadLate.FindStringSubmatch(line); m != nil {
		l.Late, l.LateLine = int(amount(m[1])), src
	} else if m := loadRefused.FindStringSubmatch(line); m != nil {
		l.Refused, l.RefusedLine = int(amount(m[1])), src
	} else if loadPaced.MatchString(line) {
		l.Paced = true
	}
}
