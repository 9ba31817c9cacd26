package lab

import (
	"fmt"
	"time"

	"github.com/wirerate/wirerate/internal/lab/emulator"
	"github.com/wirerate/wirerate/internal/units"
)

// Status is what the links of a lab did so far.
type Status struct {
	Awake    Awake        `json:"awake"`
	Arrivals Arrivals     `json:"arrivals"`
	Links    []LinkReport `json:"links"`
}

// Arrivals says whether the kernel notes when packets come to an emulated link.
// Where it does not, what is read late is taken to have come late.
type Arrivals struct {
	Noted  bool   `json:"noted"`
	Reason string `json:"reason,omitempty"` // why not
}

// String is a line for people.
func (a Arrivals) String() string {
	if a.Noted {
		return "the kernel notes when packets come"
	}
	return "packets count as come when they are read: " + a.Reason
}

// Status returns what the lab did so far.
func (l *Lab) Status() Status {
	return Status{Awake: l.Awake(), Arrivals: l.Arrivals(), Links: l.Report()}
}

// Since returns what happened after mark, an earlier status of the same lab.
func (s Status) Since(mark Status) Status {
	d := Status{Awake: s.Awake, Arrivals: s.Arrivals}
	d.Awake.CPU -= mark.Awake.CPU
	for i, r := range s.Links {
		if i < len(mark.Links) {
			r = r.since(mark.Links[i])
		}
		d.Links = append(d.Links, r)
	}
	return d
}

// Carried returns how many packets the emulator was given.
func (s Status) Carried() int64 {
	var n int64
	for _, r := range s.Links {
		if r.Up != nil && r.Down != nil {
			n += r.Up.Units + r.Down.Units
		}
	}
	return n
}

// KeptUp says whether the emulator kept up on every link, and why it is unknown.
func (s Status) KeptUp() (kept Answer, unknown string) {
	kept = Yes
	for _, r := range s.Links {
		switch r.KeptUp {
		case No:
			return No, ""
		case Unknown:
			kept, unknown = Unknown, r.Unknown
		}
	}
	return kept, unknown
}

// WorstLate returns the longest that a delivery came after its time on any link.
func (s Status) WorstLate() time.Duration {
	var worst time.Duration
	for _, r := range s.Links {
		if r.Up != nil && r.Down != nil {
			worst = max(worst, r.Up.WorstLate, r.Down.WorstLate)
		}
	}
	return worst
}

// String is a line for people.
func (s Status) String() string {
	line := s.emulator()
	if took := s.Awake.Took(); took != "" {
		line += "; " + took
	}
	return line
}

func (s Status) emulator() string {
	kept, unknown := s.KeptUp()
	if kept == Unknown {
		return "emulator kept up: unknown, " + unknown
	}
	late := units.Duration(s.WorstLate().Round(time.Microsecond))
	if s.WorstLate() == 0 { // Since knows only the steps above the limit
		late = "below " + units.Duration(emulator.LateLimit)
	}
	return fmt.Sprintf("emulator kept up: %s, worst lateness %s", kept, late)
}
