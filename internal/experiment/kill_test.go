package experiment

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wirerate/wirerate/internal/store"
	"github.com/wirerate/wirerate/internal/trial"
	"github.com/wirerate/wirerate/internal/workload"
)

// victimFile names the history of a process that runs a trial to be killed.
const victimFile = "WIRERATE_TEST_VICTIM"

func TestMain(m *testing.M) {
	if file := os.Getenv(victimFile); file != "" {
		if err := victim(context.Background(), file); err != nil {
			fmt.Println("failed:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// victimRun is what the n-th attempt of the trial measures.
func victimRun(n int, arm string) (workload.Run, error) {
	switch n {
	case 3:
		return workload.Run{}, fmt.Errorf("%w: it was killed", workload.ErrTool)
	case 8:
		return workload.Run{}, &workload.DisturbedError{Why: "memory"}
	}
	v := 1e9 * math.Exp(0.03*math.Sin(float64(7*n)))
	if arm == "b" {
		v *= 1.01
	}
	return workload.Run{Tool: "fake", GoodputBPS: v, Retransmits: int64(n), Raw: strings.Repeat("x", 1000*n)}, nil
}

// victim begins a trial in the history, or goes on with it, and says after each
// attempt how many are made.
func victim(ctx context.Context, file string) error {
	h, err := store.Open(ctx, file)
	if err != nil {
		return err
	}
	defer h.Close()
	r := &record{note: func(string, ...any) {}, store: h, id: "x"}
	if _, err := h.Trial(ctx, r.id); err != nil {
		if err := h.Begin(ctx, store.Trial{ID: r.id, Kind: "trial", Started: time.Now()}); err != nil {
			return err
		}
	} else if r.past, err = h.Attempts(ctx, r.id); err != nil {
		return err
	} else if err := h.Resume(ctx, r.id); err != nil {
		return err
	}
	d := trial.Design{Arms: []string{"a", "b"}, MaxPairs: 10, Looks: []int{4, 7}, Alpha: 0.05, Margin: 0.02, Seed: 11, Resumed: r.resumed()}
	result, err := trial.Compare(ctx, d, func(ctx context.Context, arm int) (workload.Run, error) {
		run, err := r.attempt(ctx, d.Arms[arm], func() (workload.Run, error) {
			time.Sleep(2 * time.Millisecond) // so that several kills come before the end
			return victimRun(r.next, d.Arms[arm])
		})
		fmt.Println("made", r.next)
		return run, err
	}, func(trial.Progress) {})
	if err != nil {
		return err
	}
	r.finish(ctx, store.Done, string(result.Comparisons[0].Verdict), map[string]int{"runs": len(result.Runs)})
	fmt.Printf("result %+v %v\n", result.Comparisons, result.Lost)
	return nil
}

// sacrifice runs the trial and kills it some moments after so many attempts;
// it returns how many it said were made and its result, if it came that far.
func sacrifice(t *testing.T, file string, after int, moments time.Duration) (made int, result string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), victimFile+"="+file)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(io.TeeReader(out, io.Discard))
	for lines.Scan() {
		text, ok := strings.CutPrefix(lines.Text(), "result ")
		switch {
		case ok:
			result = text
		case strings.HasPrefix(lines.Text(), "failed:"):
			t.Fatal(lines.Text())
		default:
			fmt.Sscanf(lines.Text(), "made %d", &made)
			if after--; after == 0 {
				time.AfterFunc(moments, func() { cmd.Process.Kill() })
			}
		}
	}
	_ = cmd.Wait()
	return made, result
}

// TestKilledAtAnyMoment kills a trial again and again, each time a little
// further on: nothing that was said to be made is lost or made twice, and the
// result is that of a trial that nobody disturbed.
func TestKilledAtAnyMoment(t *testing.T) {
	dir := t.TempDir()
	_, want := sacrifice(t, filepath.Join(dir, "whole.db"), 0, 0)
	if want == "" {
		t.Fatal("the trial did not end by itself")
	}
	random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	file := filepath.Join(dir, "killed.db")
	got, kills, known := "", 0, 0
	for got == "" {
		// What the history answers is said, too: every time at least one more.
		made, result := sacrifice(t, file, known+1+random.IntN(3), time.Duration(random.IntN(4000))*time.Microsecond)
		if got = result; got == "" {
			kills++
		}
		h, err := store.Open(t.Context(), file)
		if err != nil {
			t.Fatalf("after kill %d: %v", kills, err)
		}
		all, err := h.Attempts(t.Context(), "x")
		h.Close()
		if err != nil || len(all) < made || len(all) < known {
			t.Fatalf("after kill %d: %d attempts are kept where %d were made and %d known: %v", kills, len(all), made, known, err)
		}
		for n, a := range all {
			run, failed := victimRun(n, a.Arm)
			if a.Seq != n || a.Run.GoodputBPS != run.GoodputBPS || (a.Lost != "") != (failed != nil) || len(a.Raw) != len(run.Raw) {
				t.Fatalf("after kill %d: attempt %d is %+v", kills, n, a.Run)
			}
		}
		known = len(all)
	}
	if got != want {
		t.Errorf("after %d kills: %s\nwithout: %s", kills, got, want)
	}
	t.Logf("%d kills", kills)
}
