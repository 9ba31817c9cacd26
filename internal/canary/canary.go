// Package canary proves a change on the production metrics of many hosts: it
// assigns hosts to steps at random within blocks, says beforehand what each step
// will see, and judges each by hosts, not by samples. Prometheus measures and
// another program, such as Ansible, carries the change out.
package canary

import (
	"fmt"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/stats"
)

// Metric is one query with a value per host.
type Metric struct {
	Query string `json:"query"`
	// HigherIsBetter tells which direction of it is good.
	HigherIsBetter bool `json:"higher_is_better"`
	// Mean is what values are divided by, the mean of all hosts before the change;
	// 0 where all are above 0 and their logarithms are compared.
	Mean float64 `json:"mean,omitempty"`
	// Positive says that every sample of the history was above 0.
	Positive bool `json:"positive"`
	// SD is the scatter of a host around what it was before, of logarithms or of
	// shares of Mean, over the window, from the history.
	SD float64 `json:"sd"`
	DF int     `json:"df"` // degrees of freedom behind SD
}

// ParseMetric reads "lower:QUERY" or "higher:QUERY", the direction that is better.
func ParseMetric(text string) (Metric, error) {
	better, query, found := strings.Cut(text, ":")
	m := Metric{Query: strings.TrimSpace(query), HigherIsBetter: better == "higher"}
	if !found || better != "higher" && better != "lower" || m.Query == "" {
		return m, fmt.Errorf("metric %q: say which direction is better in front of the query, like "+
			"lower:QUERY or higher:QUERY", text)
	}
	return m, nil
}

// Promise is when a change that went through the deciding step is promoted.
type Promise string

// The promises.
const (
	OnHelps  Promise = "helps"   // the metric became better, by more than the margin
	OnNoHarm Promise = "no-harm" // it did not become worse by more than the margin
)

// Design is how a canary is made, fixed before its first step.
type Design struct {
	Metric      Metric   `json:"metric"`
	Guards      []Metric `json:"guards"` // must not get worse
	Boot        string   `json:"boot_query,omitempty"`
	Blocks      []string `json:"blocks"`
	Before      float64  `json:"before_s"`     // the history that hosts are compared with
	Window      float64  `json:"window_s"`     // of each step
	Resolution  float64  `json:"resolution_s"` // between samples
	Margin      float64  `json:"margin"`       // smallest relative change worth having
	GuardMargin float64  `json:"guard_margin"` // largest worsening of a guard that is borne
	Alpha       float64  `json:"alpha"`        // over all looks
	Power       float64  `json:"power"`
	Promote     Promise  `json:"promote_on"`
	Seed        uint64   `json:"seed"`
}

func (d Design) before() time.Duration     { return span(d.Before) }
func (d Design) window() time.Duration     { return span(d.Window) }
func (d Design) resolution() time.Duration { return span(d.Resolution) }

func span(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }

// Host is one host of a canary.
type Host struct {
	Name  string   `json:"host"`
	Facts []string `json:"facts"` // its values of Design.Blocks
	Block int      `json:"block"` // the hosts that it is compared with
	Step  int      `json:"step"`  // in which it is changed, from 0; the number of steps: never
	// Before are its means before the change: of the metric, then of the guards;
	// null where they are not known.
	Before []*float64 `json:"before"`
}

// compared tells whether a host's metric was there before the change.
func (h Host) compared() bool { return len(h.Before) > 0 && h.Before[0] != nil }

// Step changes some hosts and then compares all that were changed so far with all
// that were not.
type Step struct {
	Changed     int     `json:"changed"` // hosts, with those of the steps before
	Information float64 `json:"information"`
	// Level is the two-sided level of the metric's interval at this step; Checks that of
	// guards and of what is looked at for harm, each divided among its tests. 0 where
	// nothing is left to compare with.
	Level  float64 `json:"level"`
	Checks float64 `json:"checks_level"`
	// Sees is the change of the metric (a ratio - 1) that this step finds with the
	// design's power; null where none. GuardSees is the same of each guard.
	Sees      *float64   `json:"sees"`
	GuardSees []*float64 `json:"guard_sees"`
	Decides   bool       `json:"decides"`
	Begun     *time.Time `json:"begun,omitempty"` // its hosts were handed out
	Since     *time.Time `json:"since,omitempty"` // its window began
	Windows   int        `json:"windows"`         // how often one was begun
	Look      *Look      `json:"look,omitempty"`  // its judgement, once made
}

// stateSchema is the version of a State's JSON.
const stateSchema = 3

// State is a canary on disk.
type State struct {
	Schema     int       `json:"schema"`
	Prometheus string    `json:"prometheus,omitempty"` // its address
	Weblogs    string    `json:"weblogs,omitempty"`    // folder of saved counts, in its place
	Label      string    `json:"label"`
	Made       time.Time `json:"made"`
	Design     Design    `json:"design"`
	Hosts      []Host    `json:"hosts"`
	Steps      []Step    `json:"steps"`
	Notes      []string  `json:"notes"`
	// Sum is the SHA-256 sum of all else, in hexadecimal digits: it shows that the file
	// was edited, not that nobody could have done so.
	Sum string `json:"sum"`
}

// Action is what follows from a look.
type Action string

// The actions.
const (
	Proceed   Action = "proceed"   // to the next step
	Promote   Action = "promote"   // the change has proved itself: change the others
	Stop      Action = "stop"      // it harms: take it back
	Undecided Action = "undecided" // it did not prove itself: take it back
	Done      Action = "done"      // every step is made
)

// Effect is a ratio of changed to unchanged hosts with its interval.
type Effect struct {
	Ratio      float64 `json:"ratio"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Confidence float64 `json:"confidence"`
}

// Compared is one comparison of changed with unchanged hosts.
type Compared struct {
	Query   string        `json:"query"`
	Of      string        `json:"of,omitempty"` // a part of the hosts or of the time
	Verdict stats.Verdict `json:"verdict"`
	Effect  *Effect       `json:"effect"`
	Changed int           `json:"changed"` // hosts with a value
	Others  int           `json:"others"`
}

// Look is what a step's judgement found.
type Look struct {
	At       time.Time  `json:"at"`
	Action   Action     `json:"action"`
	Because  []string   `json:"because"`
	Metric   *Compared  `json:"metric,omitempty"`
	Guards   []Compared `json:"guards,omitempty"`
	Parts    []Compared `json:"parts,omitempty"`   // of the hosts and the time
	Missing  []string   `json:"missing,omitempty"` // with those that have gaps
	Restarts []string   `json:"restarted,omitempty"`
	Fallen   []string   `json:"fallen,omitempty"` // changed hosts that became far worse than hosts scatter
	Notes    []string   `json:"notes,omitempty"`
}

// Current is the index of the step that is to be made or judged; the number of
// steps when all are.
func (s *State) Current() int {
	for i := range s.Steps {
		if s.Steps[i].Look == nil {
			return i
		}
	}
	return len(s.Steps)
}

// Ended is the look that ends a canary before its last step; nil while it goes on.
func (s *State) Ended() *Look {
	for i := range s.Steps {
		if l := s.Steps[i].Look; l != nil && (l.Action == Stop || l.Action == Undecided) {
			return l
		}
	}
	return nil
}

// ChangedBy lists the hosts that are changed by the end of a step.
func (s *State) ChangedBy(step int) []string {
	var names []string
	for _, h := range s.Hosts {
		if h.Step <= step {
			names = append(names, h.Name)
		}
	}
	return names
}
