package canary

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/prometheus/common/model"
)

// What a query says of times other than its own. Within quotes nothing is meant so.
var (
	quoted    = regexp.MustCompile("\"(?:\\\\.|[^\"\\\\])*\"|'(?:\\\\.|[^'\\\\])*'|`[^`]*`")
	ranged    = regexp.MustCompile(`\[\s*([0-9a-z]+)\s*(:?)[^\]]*\]`)
	elsewhere = regexp.MustCompile(`(?i)\boffset\s+[-+(0-9]|@\s*[-+0-9a-z]`)
)

// reach is how far a value of a query looks back: a range such as [5m], longer by those
// of subqueries. A query that asks for another time than its own is refused: it shows
// hosts as they were before the change.
func reach(query string) (time.Duration, error) {
	bare := quoted.ReplaceAllString(query, `""`)
	if m := elsewhere.FindString(bare); m != "" {
		return 0, fmt.Errorf("%w: %s: %q asks for another time than that of the window, at which hosts were not changed; leave it out",
			ErrQuery, query, strings.TrimSpace(m))
	}
	var plain, nested time.Duration
	for _, m := range ranged.FindAllStringSubmatch(bare, -1) {
		d, err := model.ParseDuration(m[1])
		if err != nil {
			continue // Prometheus says what is wrong with it
		}
		if m[2] != "" {
			nested += time.Duration(d)
		} else {
			plain = max(plain, time.Duration(d))
		}
	}
	return plain + nested, nil
}

// reach is the time after a change from which no query of the design looks back before
// it: at least one sample.
func (d *Design) reach() (time.Duration, error) {
	longest := d.resolution()
	for _, m := range d.metrics() {
		r, err := reach(m.Query)
		if err != nil {
			return 0, err
		}
		longest = max(longest, r)
	}
	if longest > d.window() {
		return 0, fmt.Errorf("%w: it looks back for %s, longer than the window of %s; a shorter range or a longer --window is needed", ErrQuery, longest, d.window())
	}
	return longest, nil
}

// Takes is how long a step takes once its hosts are changed: until no query looks back
// before that, and the window.
func (s *State) Takes() time.Duration {
	before, err := s.Design.reach()
	if err != nil {
		before = s.Design.resolution()
	}
	return before + s.Design.window()
}
