package experiment

import (
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"github.com/wirerate/wirerate/internal/store"
	"github.com/wirerate/wirerate/internal/workload"
)

// TestSuiteGoesOn: after a kill the rows that were finished come from the
// history, the one that was not goes on as it was laid out, the others are
// measured.
func TestSuiteGoesOn(t *testing.T) {
	ctx, path := t.Context(), filepath.Join(t.TempDir(), "history.db")
	history, err := store.Open(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	put := func(id, state string, s setup) {
		t.Helper()
		data, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if err := history.Begin(ctx, store.Trial{ID: id, Kind: "trial", Started: time.Now(), Setup: data}); err != nil {
			t.Fatal(err)
		}
		if state == store.Done {
			err = history.Finish(ctx, id, state, "", Result{Schema: ResultSchema, Command: "wirerate trial --suite host"})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"trial", "--suite", "host"}
	put("a", store.Done, setup{Args: args})
	put("b", store.Running, setup{Args: args, Suite: "a", Row: 1, Pairs: 7, Run: 3 * time.Second, Omit: time.Second})
	put("x", store.Done, setup{Args: []string{"trial"}})
	put("y", store.Done, setup{Args: args, Suite: "elsewhere", Row: 2})
	history.Close()

	c := Config{Suite: "host", Resumed: "a", History: path}
	before, err := c.rowsBefore(ctx)
	if err != nil || len(before) != 2 {
		t.Fatalf("%v %v", before, err)
	}
	suite, err := workload.Suite("host")
	if err != nil {
		t.Fatal(err)
	}
	_, r, done, err := c.rowConfig(suite[0], before[0])
	if err != nil || !done || r.Result == nil || r.Result.Command != "wirerate trial --suite host" {
		t.Errorf("the finished row: %v %+v %v", done, r, err)
	}
	one, _, done, err := c.rowConfig(suite[1], before[1])
	if err != nil || done || one.Resumed != "b" || one.Pairs != 7 || one.Spec.Duration != 3*time.Second || one.Spec.Streams != 4 {
		t.Errorf("the row that was killed: %v %+v %v", done, one, err)
	}
	if one, _, done, err = c.rowConfig(suite[2], before[2]); err != nil || done || one.Resumed != "" {
		t.Errorf("a row that was not begun: %v %+v %v", done, one, err)
	}
}
