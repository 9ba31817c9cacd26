package experiment

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/store"
	"github.com/wirerate/wirerate/internal/workload"
)

// setup is what a resumed experiment needs.
type setup struct {
	Args   []string      `json:"args"`
	Seed   uint64        `json:"seed"`
	Pairs  int           `json:"pairs"`
	Digest string        `json:"digest"` // of what the arms set
	Run    time.Duration `json:"run_ns"`
	Omit   time.Duration `json:"omit_ns"`
	// Asked is the whole of what a run is; the records of earlier versions do
	// not have it.
	Asked json.RawMessage `json:"asked,omitempty"`
	// Suite is the first trial of the suite to which this row belongs.
	Suite string `json:"suite,omitempty"`
	Row   int    `json:"row,omitempty"`
}

// setup is what another session needs to go on.
func (u *under) setup() setup {
	s := setup{Args: u.Args, Seed: u.Seed, Pairs: u.design.MaxPairs, Digest: digest(u.arms), Run: u.spec.Duration,
		Omit: u.spec.Omit, Asked: asJSON(u.spec)}
	if u.Suite != "" {
		s.Suite, s.Row = u.group, u.row
	}
	return s
}

func asJSON(spec workload.Spec) json.RawMessage {
	data, err := json.Marshal(spec) // strings and numbers: it cannot fail
	if err != nil {
		return nil
	}
	return data
}

// ofSuite tells whether the experiment was a row of a suite.
func (s setup) ofSuite() bool {
	return slices.ContainsFunc(s.Args, func(a string) bool {
		return a == "--suite" ||
			strings.HasPrefix(a, "--suite=")
	})
}

// sameQuestion tells whether two setups set and run the same. A field of the
// runs that only one of them has came or went with a version in between and
// decides nothing.
func (s setup) sameQuestion(now setup) bool {
	if s.Digest != now.Digest || s.Run != now.Run || s.Omit != now.Omit {
		return false
	}
	var before, after map[string]json.RawMessage
	if json.Unmarshal(s.Asked, &before) != nil || json.Unmarshal(now.Asked, &after) != nil {
		return len(s.Asked) == 0
	}
	for name, value := range before {
		if other, ok := after[name]; ok && !bytes.Equal(value, other) {
			return false
		}
	}
	return true
}

// digest is what the arms set, by their names.
func digest(arms []*armValues) string {
	all := [][]any{}
	for _, a := range arms {
		one := []any{a.name, a.values.Client, a.values.Server}
		if len(a.values.Router) > 0 {
			one = append(one, a.values.Router)
		}
		all = append(all, one)
	}
	data, err := json.Marshal(all)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// resumable finds the experiment that this one goes on with and checks that it
// asks the same question; nil where it is a new one.
func (u *under) resumable(ctx context.Context, now setup) (*store.Trial, error) {
	if u.Resumed == "" {
		return nil, nil
	}
	t, saved, err := u.recorded(ctx, u.Resumed)
	if err != nil {
		return nil, err
	}
	if t.Workload != u.spec.Workload || !saved.sameQuestion(now) {
		return nil, wrongf("%s cannot be resumed: its arms or its runs would not be the same now (a file, a running "+
			"value or the path has changed); start it anew", t.ID)
	}
	return &t, nil
}

// recorded reads an experiment of the history and how it was set up.
func (c *Config) recorded(ctx context.Context, id string) (t store.Trial, s setup, err error) {
	history, err := OpenHistory(ctx, c.History)
	if err != nil {
		return t, s, err
	}
	defer history.Close()
	if t, err = history.Trial(ctx, id); errors.Is(err, store.ErrUnknown) {
		return t, s, wrong(err)
	} else if err != nil {
		return t, s, failed(err)
	}
	if err := json.Unmarshal(t.Setup, &s); err != nil {
		return t, s, wrongf("%s is a %s, which nothing goes on with", t.ID, t.Kind)
	}
	return t, s, nil
}

// Unfinished is an experiment that can go on.
type Unfinished struct {
	ID    string
	First string // of its suite; its own ID where it is of none
	Runs  int
	Args  []string // with which it was begun
	Seed  uint64
	// Pairs, Run and Omit are as they were laid out; Pairs is 0 where each row
	// of a suite has its own.
	Pairs     int
	Run, Omit time.Duration
}

// FindUnfinished finds the experiment of an ID, or the last one, if verb began it
// and it is not finished. verbOf tells the verb of a command line.
func (c *Config) FindUnfinished(ctx context.Context, id, verb string, verbOf func(args []string) string) (u Unfinished,
	err error) {
	t, saved, err := c.recorded(ctx, id)
	if err != nil {
		return u, err
	}
	if verbOf(saved.Args) != verb {
		return u, wrongf("%s is a %s, which %s cannot go on with", t.ID, t.Kind, verb)
	}
	if t.State == store.Done && !saved.ofSuite() {
		return u, wrongf("%s is finished; wirerate report %s shows it", t.ID, t.ID)
	}
	u = Unfinished{ID: t.ID, First: t.ID, Runs: t.Runs, Args: saved.Args, Seed: saved.Seed, Pairs: saved.Pairs,
		Run: saved.Run, Omit: saved.Omit}
	if saved.Suite != "" {
		u.First = saved.Suite
	}
	if saved.ofSuite() {
		u.Pairs = 0
	}
	return u, nil
}
