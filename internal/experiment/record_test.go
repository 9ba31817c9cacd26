package experiment

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/store"
	"github.com/wirerate/wirerate/internal/trial"
	"github.com/wirerate/wirerate/internal/workload"
)

// TestHistoryFails: when the disk is full in the middle, the runs go on, none
// that was kept is lost, and the result says from which run on there are none.
func TestHistoryFails(t *testing.T) {
	ctx, path := t.Context(), filepath.Join(t.TempDir(), "history.db")
	h, err := store.Open(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	var messages bytes.Buffer
	s := &session{Config: Config{Sink: sink{&messages}}}
	r := &record{note: s.note, store: h, id: "x"}
	if err := h.Begin(ctx, store.Trial{ID: "x", Kind: "trial"}); err != nil {
		t.Fatal(err)
	}
	measure := func() (workload.Run, error) { return workload.Run{GoodputBPS: 1e9}, nil }
	for n := range 4 {
		if n == 2 {
			h.Close() // from here on nothing can be written
		}
		run, err := r.attempt(ctx, "current", measure)
		if err != nil || run.GoodputBPS != 1e9 {
			t.Fatalf("run %d: %+v, %v", n, run, err)
		}
	}
	if !strings.Contains(r.trouble, "runs from number 3 on are not in the history") || strings.Count(messages.String(), "what follows is not kept") != 1 {
		t.Errorf("%q, said %q", r.trouble, messages.String())
	}
	u := &under{session: s, record: r, trial: trial.Result{}}
	var result Result
	if u.addWarnings(&result); len(result.Warnings) == 0 || result.Warnings[0] != r.trouble {
		t.Errorf("warnings: %q", result.Warnings)
	}
	again, err := store.Open(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if attempts, err := again.Attempts(ctx, "x"); err != nil || len(attempts) != 2 {
		t.Errorf("%d runs are kept: %v", len(attempts), err)
	}
}
