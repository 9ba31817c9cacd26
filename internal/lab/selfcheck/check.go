package selfcheck

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/lab"
	"github.com/wirerate/wirerate/internal/units"
)

// A full-size packet on a path with the usual MTU: bytes of IP, and on the wire
// with Ethernet framing.
const (
	fullPacket = 1500
	fullFrame  = 1538
)

// Options chooses what Check does.
type Options struct {
	// Full adds what takes minutes: low loss rates, long paths, slow links.
	Full bool
	// Only makes the checks whose name and link have all these words in them.
	Only []string
	// Awake says when processors are kept awake.
	Awake lab.AwakeOptions
	// Report is called with each result as it comes; it may be nil.
	Report func(Result)
}

// names tells whether all the words that were given are in a check's title.
func (opt Options) names(title string) bool {
	return !slices.ContainsFunc(opt.Only, func(word string) bool { return !strings.Contains(title, word) })
}

// Result compares what was asked of a link with what was measured on it.
type Result struct {
	What     string  `json:"what"`
	Link     string  `json:"link"`
	Unit     string  `json:"unit"`
	Expected float64 `json:"expected"`
	Low      float64 `json:"low"`  // least that is accepted
	High     float64 `json:"high"` // most that is accepted
	Measured float64 `json:"measured"`
	OK       bool    `json:"ok"`
	// KeptUp is No where the machine did not let the emulator run in time: then
	// the result says something about the machine.
	KeptUp lab.Answer `json:"kept_up"`
	// LeftOut is the time in which the emulator was behind and which a transfer
	// therefore leaves out.
	LeftOut time.Duration `json:"left_out_ns"`
	// WorstLate is the emulator's worst lateness during the check.
	WorstLate time.Duration `json:"worst_late_ns"`
	// Skipped says why the check was not made; empty where it was.
	Skipped string `json:"skipped,omitempty"`
	Basis   string `json:"basis"` // where the expected number comes from
	// Note says how the expected number differs from a published one.
	Note string `json:"note,omitempty"`

	sliced bool // KeptUp is known already
}

// Report is what Check found.
type Report struct {
	Awake    lab.Awake // of the last lab
	Arrivals lab.Arrivals
	Results  []Result
}

// within fills in a result that may differ from expected by a share of it.
func (r Result) within(expected, measured, share float64) Result {
	return r.between(expected, expected*(1-share), expected*(1+share), measured)
}

// between fills in a result with its bounds. What is not a number, which JSON does
// not have, is 0 with a note.
func (r Result) between(expected, low, high, measured float64) Result {
	if math.IsNaN(measured) {
		measured, r.Note = 0, "there was nothing to measure"
	}
	r.Expected, r.Low, r.High, r.Measured = expected, low, high, measured
	r.OK = measured >= low && measured <= high
	return r
}

// disturbed tells whether r may be the machine's doing.
func (r Result) disturbed() bool {
	return r.Skipped == "" && !r.OK && (r.KeptUp == lab.No || r.LeftOut > 0)
}

// calmer tells whether the emulator was less behind than in other.
func (r Result) calmer(other Result) bool {
	if r.KeptUp != other.KeptUp {
		return other.KeptUp == lab.No
	}
	return r.LeftOut < other.LeftOut
}

// String is a line for people.
func (r Result) String() string {
	if r.Skipped != "" {
		return fmt.Sprintf("skipped  %s on %s: %s", r.What, r.Link, r.Skipped)
	}
	verdict := "ok      "
	switch {
	case !r.OK && r.KeptUp != lab.No:
		verdict = "FAILED  "
	case !r.OK:
		verdict = "no time "
	}
	left := ""
	if r.LeftOut > 0 {
		left = fmt.Sprintf("; without %s in which the emulator was behind", r.LeftOut.Round(100*time.Millisecond))
	}
	if r.Note != "" {
		left += "; " + r.Note
	}
	return fmt.Sprintf("%s %s on %s: %s, expected %s (%s to %s)%s", verdict, r.What, r.Link,
		quantity(r.Measured, r.Unit), quantity(r.Expected, r.Unit), quantity(r.Low, r.Unit), quantity(r.High, r.Unit),
		left)
}

// quantity prints a number with five significant digits and its unit.
func quantity(v float64, unit string) string {
	s := units.Digits(v, 5)
	if math.Abs(v) >= 1e5 {
		s = fmt.Sprintf("%.0f", v)
	}
	return s + " " + unit
}

// quantile returns the q-quantile (0 to 1) of durations, in ms; not a number
// where there are none. It sorts them.
func quantile(d []time.Duration, q float64) float64 {
	if len(d) == 0 {
		return math.NaN()
	}
	slices.Sort(d)
	return d[min(int(q*float64(len(d))), len(d)-1)].Seconds() * 1e3
}

// binomialInterval returns the bounds that a count of n trials of probability
// p stays within, but for one time in 1000 (normal approximation, 3.29 sigma).
func binomialInterval(n int, p float64) (low, high float64) {
	mean, sigma := float64(n)*p, math.Sqrt(float64(n)*p*(1-p))
	return math.Floor(mean - 3.29*sigma), math.Ceil(mean + 3.29*sigma)
}
