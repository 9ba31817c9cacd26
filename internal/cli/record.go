package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/wirerate/wirerate/internal/shell"
	"github.com/wirerate/wirerate/internal/store"
	"github.com/wirerate/wirerate/internal/workload"
)

// record keeps the attempts of an experiment in the history and answers from
// it what was measured before an interruption.
type record struct {
	env   *Env
	store *store.Store // nil: nothing is kept
	id    string
	past  []store.Attempt
	next  int
	// trouble is why runs were not kept; "" when all were.
	trouble string
}

// setup is what a resumed experiment needs.
type setup struct {
	Args   []string      `json:"args"`
	Seed   uint64        `json:"seed"`
	Pairs  int           `json:"pairs"`
	Digest string        `json:"digest"` // of what the arms set
	Spec   string        `json:"spec"`
	Run    time.Duration `json:"run_ns"`
	Omit   time.Duration `json:"omit_ns"`
	// Suite is the first trial of the suite to which this row belongs.
	Suite string `json:"suite,omitempty"`
	Row   int    `json:"row,omitempty"`
}

// environmentOf is the hosts as they were.
func (s *benchSession) environmentOf() json.RawMessage {
	hosts := map[string]any{}
	for _, e := range s.hosts() {
		settings := map[string]string{}
		for name, v := range e.facts.Settings {
			settings[name] = v.Value
		}
		hosts[e.side] = map[string]any{"host": e.describe(), "nic": e.facts.Outlet(), "settings": settings}
	}
	data, err := json.Marshal(hosts)
	if err != nil {
		return nil
	}
	return data
}

// openStore opens the history that the flags name.
func (f *benchFlags) openStore(ctx context.Context) (*store.Store, error) {
	return openHistory(ctx, f.history, store.Open)
}

// withHistory opens the history to be read for as long as use takes.
func withHistory(ctx context.Context, path string, use func(*store.Store) error) error {
	h, err := openHistory(ctx, path, store.Read)
	if err != nil {
		return err
	}
	defer h.Close()
	return use(h)
}

func openHistory(ctx context.Context, path string, open func(context.Context, string) (*store.Store, error)) (*store.Store, error) {
	if path == "" {
		var err error
		if path, err = store.DefaultPath(); err != nil {
			return nil, missing(err)
		}
	}
	s, err := open(ctx, path)
	if errors.Is(err, store.ErrDamaged) {
		return nil, failure(err)
	}
	return s, missing(err)
}

// startRecord begins an experiment in the history, or goes on with one. A
// history that cannot be written costs only itself.
func (e *Env) startRecord(ctx context.Context, s *benchSession, t store.Trial, resumed *store.Trial) (*record, error) {
	r := &record{env: e}
	if s.flags.noStore {
		return r, nil
	}
	history, err := s.flags.openStore(ctx)
	if err != nil {
		if resumed != nil {
			return nil, err
		}
		e.note("%v; this experiment is not kept (--no-history says so)", err)
		return r, nil
	}
	r.store = history
	if resumed != nil {
		r.id = resumed.ID
		if r.past, err = history.Attempts(ctx, r.id); err == nil {
			err = history.Resume(ctx, r.id)
		}
		return r, failure(err)
	}
	t.ID, t.Started = store.NewID(time.Now()), time.Now()
	t.Where, t.Command, t.Environment = s.flags.place(), s.flags.command, s.environmentOf()
	if t.Command == "" {
		t.Command = e.typed()
	}
	if err := history.Begin(ctx, t); err != nil {
		e.note("%v; this experiment is not kept", err)
		history.Close()
		return &record{env: e}, nil
	}
	r.id = t.ID
	return r, nil
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

// lostRun is why a kept attempt gave no value, in the words of then.
type lostRun store.Attempt

func (l lostRun) Error() string { return l.Lost }

func (l lostRun) Unwrap() []error {
	if l.Kind == "disturbed" {
		return []error{workload.ErrTool, workload.ErrDisturbed}
	}
	return []error{workload.ErrTool}
}

// attempt answers from the history, or measures and keeps what came out.
func (r *record) attempt(ctx context.Context, arm string, measure func() (workload.Run, error)) (workload.Run, error) {
	if r.next < len(r.past) {
		a := r.past[r.next]
		r.next++
		if a.Arm != arm {
			return workload.Run{}, fmt.Errorf("the history of %s has a run of %q where %q comes next: it cannot be resumed, start it anew", r.id, a.Arm, arm)
		}
		if a.Lost == "" {
			return a.Run, nil
		}
		return a.Run, lostRun(a)
	}
	at := time.Now()
	run, err := measure()
	if r.store == nil || ctx.Err() != nil || err != nil && (!errors.Is(err, workload.ErrTool) || errors.Is(err, workload.ErrMissing)) {
		return run, err
	}
	a := store.Attempt{Seq: r.next, Arm: arm, At: at, Run: run, Raw: run.Raw}
	if err != nil {
		a.Lost, a.Kind = err.Error(), "tool"
		if errors.Is(err, workload.ErrDisturbed) {
			a.Kind = "disturbed"
		}
	}
	r.next++
	if kept := r.store.Record(ctx, r.id, a); kept != nil {
		r.trouble = fmt.Sprintf("%v; runs from number %d on are not in the history", kept, r.next)
		r.env.note("%v; what follows is not kept, the experiment goes on", kept)
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
		r.env.note("%v", err)
	}
}

func (r *record) close() {
	if r.store != nil {
		r.store.Close()
		r.store = nil
	}
}

func (e *Env) typed() string {
	text := "wirerate"
	for _, a := range e.args {
		text += " " + shell.Word(a)
	}
	return text
}

// metricNames lists the metrics that any of the runs has, the decided ones
// first.
func metricNames(runs []workload.Run) []string {
	names := map[string]bool{}
	for _, r := range runs {
		for name := range r.Metrics {
			names[name] = true
		}
		for _, name := range workload.Beside()[:2] {
			if _, ok := r.Value(name); ok {
				names[name] = true
			}
		}
	}
	sorted := slices.Sorted(maps.Keys(names))
	if len(runs) > 0 {
		if _, ok := names[workload.Goodput]; ok {
			i := slices.Index(sorted, workload.Goodput)
			sorted = slices.Insert(slices.Delete(sorted, i, i+1), 0, workload.Goodput)
		}
	}
	return sorted
}

func spread(runs []workload.Run, metric string) (low, high float64) {
	first := true
	for _, r := range runs {
		v, ok := r.Value(metric)
		if !ok {
			continue
		}
		if first || v < low {
			low = v
		}
		if first || v > high {
			high = v
		}
		first = false
	}
	return low, high
}
