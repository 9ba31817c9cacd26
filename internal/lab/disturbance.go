package lab

import (
	"fmt"
	"time"

	"github.com/wirerate/wirerate/internal/lab/emulator"
	"github.com/wirerate/wirerate/internal/units"
)

// Mark is a moment in the life of a lab.
type Mark struct {
	At         time.Time
	Directions []emulator.Stats // what each direction of each link did until then
}

// Disturbance is how far a lab was from what was asked of it between two
// moments, in its worst direction.
type Disturbance struct {
	Elapsed time.Duration `json:"elapsed_ns"`
	// Stalled is for how long the emulator was behind. What it carried then came
	// late by as much, so that a rate may be off by up to Stalled/Elapsed.
	Stalled time.Duration `json:"stalled_ns"`
	// WorstLate is the longest that a delivery came after its time, to the step
	// of LateSteps below.
	WorstLate time.Duration `json:"worst_late_ns"`
	// Lost counts units that the emulator lost against what was asked.
	Lost int64 `json:"lost"`
}

// MaxStalled is the share of time stalled from which a measurement says more
// about the machine than about the link: half of a difference of 2%.
const MaxStalled = 0.01

// Share returns the share of the time in which the emulator was behind, 0 to 1.
func (d Disturbance) Share() float64 {
	if d.Elapsed <= 0 {
		return 0
	}
	return min(d.Stalled.Seconds()/d.Elapsed.Seconds(), 1)
}

// TooMuch says whether a measurement that took this time is worth nothing.
func (d Disturbance) TooMuch() bool { return d.Lost > 0 || d.Share() > MaxStalled }

// String is a line for people.
func (d Disturbance) String() string {
	s := fmt.Sprintf("the emulator was behind for %s%% of the time, by %s at the worst", units.Digits(100*d.Share(), 2),
		units.Duration(d.WorstLate.Round(time.Microsecond)))
	if d.Lost > 0 {
		s += fmt.Sprintf(", and lost %d units", d.Lost)
	}
	return s
}

// Since returns how far the lab was from what was asked of it since an earlier
// mark.
func (now Mark) Since(mark Mark) Disturbance {
	d := Disturbance{Elapsed: now.At.Sub(mark.At)}
	for i := range now.Directions {
		s := now.Directions[i].Since(mark.Directions[i])
		d.Stalled = max(d.Stalled, s.Stalled)
		d.WorstLate = max(d.WorstLate, s.WorstLate)
		d.Lost += s.Lost()
	}
	return d
}

// LinkReport is what one link of a lab did. Up and Down are nil, and KeptUp is
// Unknown, where nobody says; Unknown then says why.
type LinkReport struct {
	From    string          `json:"from"`
	To      string          `json:"to"`
	Link    string          `json:"link"`
	Up      *emulator.Stats `json:"up"`
	Down    *emulator.Stats `json:"down"`
	KeptUp  Answer          `json:"kept_up"`
	Unknown string          `json:"unknown,omitempty"`
}

// since returns what the link did after mark, an earlier report of it.
func (r LinkReport) since(mark LinkReport) LinkReport {
	if r.Up == nil || r.Down == nil {
		return r
	}
	up, down := *r.Up, *r.Down
	if mark.Up != nil && mark.Down != nil {
		up, down = up.Since(*mark.Up), down.Since(*mark.Down)
	}
	r.Up, r.Down, r.KeptUp = &up, &down, AnswerOf(up.KeptUp() && down.KeptUp())
	return r
}
