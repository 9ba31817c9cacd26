package experiment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/store"
	"github.com/wirerate/wirerate/internal/workload"
)

// record keeps the attempts of an experiment in the history and answers from
// it what was measured before an interruption.
type record struct {
	note  func(format string, args ...any)
	store *store.Store // nil: nothing is kept
	id    string
	past  []store.Attempt
	next  int
	// trouble is why runs were not kept; "" when all were.
	trouble string
}

// environment is a host as it was.
type environment struct {
	Host     Host              `json:"host"`
	NIC      *facts.NIC        `json:"nic"`
	Settings map[string]string `json:"settings"`
}

// environment is the hosts as they are, by their sides.
func (s *session) environment() json.RawMessage {
	hosts := map[string]environment{}
	for _, e := range s.hosts() {
		settings := map[string]string{}
		for name, v := range e.facts.Settings {
			settings[name] = v.Value
		}
		hosts[e.side] = environment{e.describe(), e.facts.Outlet(), settings}
	}
	data, err := json.Marshal(hosts)
	if err != nil {
		return nil
	}
	return data
}

// startRecord begins an experiment in the history, or goes on with one. A
// history that cannot be written costs only itself.
func (s *session) startRecord(ctx context.Context, t store.Trial, resumed *store.Trial) (*record, error) {
	r := &record{note: s.note}
	if s.NoHistory {
		return r, nil
	}
	history, err := OpenHistory(ctx, s.History)
	if err != nil {
		if resumed != nil {
			return nil, err
		}
		s.note("%v; this experiment is not kept (--no-history says so)", err)
		return r, nil
	}
	r.store = history
	if resumed != nil {
		r.id = resumed.ID
		if r.past, err = history.Attempts(ctx, r.id); err == nil {
			err = history.Resume(ctx, r.id)
		}
		if err != nil {
			r.close()
			return nil, resumeError(err)
		}
		return r, nil
	}
	t.ID, t.Kind, t.Started = store.NewID(time.Now()), s.kind, time.Now()
	t.Where, t.Command, t.Environment = s.Place(), s.Command, s.environment()
	if err := history.Begin(ctx, t); err != nil {
		s.note("%v; this experiment is not kept", err)
		history.Close()
		return &record{note: s.note}, nil
	}
	r.id = t.ID
	return r, nil
}

// resumeError tells an experiment that still runs from a history that fails.
func resumeError(err error) error {
	if errors.Is(err, store.ErrRunning) {
		return wrong(err)
	}
	return failed(err)
}

// resumed is how many attempts come from the history, those that were answered
// left out.
func (r *record) resumed() int { return len(r.past) - r.next }

// upcoming is the arm of the attempt that the history answers next; false when
// it answers none.
func (r *record) upcoming() (arm string, ok bool) {
	if r.resumed() <= 0 {
		return "", false
	}
	return r.past[r.next].Arm, true
}

// The kinds of lost attempts in the history.
const (
	lostTool      = "tool"
	lostDisturbed = "disturbed"
)

// lostRun is why a kept attempt gave no value.
func lostRun(a store.Attempt) error {
	if a.Kind == lostDisturbed {
		return &workload.DisturbedError{Why: a.Lost}
	}
	return &lostError{a.Lost}
}

// lostError is workload.ErrTool in the words in which it was kept.
type lostError struct{ text string }

func (e *lostError) Error() string { return e.text }

func (e *lostError) Unwrap() error { return workload.ErrTool }

// attempt answers from the history, or measures and keeps what came out.
func (r *record) attempt(ctx context.Context, arm string, measure func() (workload.Run, error)) (workload.Run, error) {
	if r.next < len(r.past) {
		a := r.past[r.next]
		r.next++
		if a.Arm != arm {
			return workload.Run{}, fmt.Errorf("the history of %s has a run of %q where %q comes next: it cannot be "+
				"resumed, start it anew", r.id, a.Arm, arm)
		}
		if a.Lost == "" {
			return a.Run, nil
		}
		return a.Run, lostRun(a)
	}
	at := time.Now()
	run, err := measure()
	if r.store == nil || ctx.Err() != nil ||
		err != nil && (!errors.Is(err, workload.ErrTool) || errors.Is(err, workload.ErrMissing)) {
		return run, err
	}
	a := store.Attempt{Seq: r.next, Arm: arm, At: at, Run: run, Raw: run.Raw}
	if err != nil {
		a.Lost, a.Kind = workload.Why(err), lostTool
		if errors.Is(err, workload.ErrDisturbed) {
			a.Kind = lostDisturbed
		}
	}
	r.next++
	if kept := r.store.Record(ctx, r.id, a); kept != nil {
		r.trouble = fmt.Sprintf("%v; runs from number %d on are not in the history", kept, r.next)
		r.note("%v; what follows is not kept, the experiment goes on", kept)
		r.close()
	}
	return run, err
}

// finish keeps the result. It works after an interruption too.
func (r *record) finish(ctx context.Context, state, verdict string, result any) {
	if r.store == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if err := r.store.Finish(ctx, r.id, state, verdict, result); err != nil {
		r.note("%v", err)
	}
}

func (r *record) close() {
	if r.store != nil {
		r.store.Close()
		r.store = nil
	}
}
