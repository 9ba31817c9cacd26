package lab

import (
	"fmt"
	"time"
)

// Status is what the links of a lab did so far.
type Status struct {
	Awake Awake        `json:"awake"`
	Links []LinkReport `json:"links"`
}

// Status returns what the lab did so far.
func (l *Lab) Status() Status { return Status{Awake: l.Awake(), Links: l.Report()} }

// Since returns what happened after mark, an earlier status of the same lab.
func (s Status) Since(mark Status) Status {
	d := Status{Awake: s.Awake}
	for i, r := range s.Links {
		if i < len(mark.Links) {
			r.Up, r.Down = r.Up.Since(mark.Links[i].Up), r.Down.Since(mark.Links[i].Down)
		}
		r.KeptUp = r.Up.KeptUp() && r.Down.KeptUp()
		d.Links = append(d.Links, r)
	}
	return d
}

// Carried returns how many packets the emulator was given.
func (s Status) Carried() int64 {
	var n int64
	for _, r := range s.Links {
		n += r.Up.Units + r.Down.Units
	}
	return n
}

// KeptUp says whether the emulator kept up on every link.
func (s Status) KeptUp() bool {
	for _, r := range s.Links {
		if !r.KeptUp {
			return false
		}
	}
	return true
}

// WorstLate returns the longest that a delivery came after its time on any link.
func (s Status) WorstLate() time.Duration {
	var worst time.Duration
	for _, r := range s.Links {
		worst = max(worst, r.Up.WorstLate, r.Down.WorstLate)
	}
	return worst
}

// String is a line for people.
func (s Status) String() string {
	kept := "yes"
	if !s.KeptUp() {
		kept = "no"
	}
	late := s.WorstLate().Round(time.Microsecond).String()
	if s.WorstLate() == 0 { // Since knows only the steps above the limit
		late = "below " + LateLimit.String()
	}
	return fmt.Sprintf("emulator kept up: %s, worst lateness %s", kept, late)
}
