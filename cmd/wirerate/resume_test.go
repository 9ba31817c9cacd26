package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/wirerate/wirerate/internal/store"
)

func TestKillAndResumeTrial(t *testing.T) {
	t.Parallel()
	killAndResume(t, "trial", "--arm", "current", "--arm", "set:net.ipv4.tcp_fin_timeout=21", "--workload", "rr", "--lab", "rate=100mbit,rtt=2ms")
}

func TestKillAndResumeTune(t *testing.T) {
	t.Parallel()
	killAndResume(t, "tune", "--role", "bulk", "--no-shares", "--lab", "rate=200mbit,rtt=20ms")
}

// killAndResume kills an experiment of three pairs after some runs; what was
// finished is in the history, and is not made again when it is resumed.
func killAndResume(t *testing.T, verb string, args ...string) {
	if !labPossible() {
		t.Skip("no namespaces or /dev/net/tun here")
	}
	file := filepath.Join(t.TempDir(), "history.db")
	args = append([]string{verb, "--tool", "builtin", "--run", "1s", "--omit", "100ms", "--pairs", "3", "--for", "10m", "--history", file}, args...)
	victim := exec.CommandContext(t.Context(), "wirerate", args...)
	var said bytes.Buffer
	victim.Stdout, victim.Stderr = &said, &said
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	id, kept := await(t, file, 2, &said)
	victim.Process.Kill()
	_ = victim.Wait()

	if listed, err := exec.CommandContext(t.Context(), "wirerate", "history", "--history", file).Output(); err != nil || !bytes.Contains(listed, []byte(" killed ")) {
		t.Errorf("its state is not that it was killed: %v\n%s", err, listed)
	}
	out, err := exec.CommandContext(t.Context(), "wirerate", verb, "--resume", "last", "--history", file, "--json").Output()
	if _, negative := err.(*exec.ExitError); err != nil && !negative {
		t.Fatal(err)
	}
	var result struct {
		ID   string
		Arms []struct{ Runs []any }
	}
	if err := json.Unmarshal(out, &result); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if result.ID != id || len(result.Arms) != 2 || len(result.Arms[0].Runs)+len(result.Arms[1].Runs) != 6 {
		t.Errorf("resumed %s: %+v", id, result)
	}
	h, err := store.Open(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	all, err := h.Attempts(t.Context(), id)
	if err != nil || len(all) < 6 {
		t.Fatalf("%d attempts, %v", len(all), err)
	}
	for i, a := range kept {
		if !a.At.Equal(all[i].At) {
			t.Errorf("run %d was made again", i)
		}
	}
}

// await waits until the history has n attempts.
func await(t *testing.T, file string, n int, said *bytes.Buffer) (string, []store.Attempt) {
	t.Helper()
	for range 3000 {
		time.Sleep(100 * time.Millisecond)
		if _, err := os.Stat(file); err != nil {
			continue
		}
		h, err := store.Open(t.Context(), file)
		if err != nil {
			continue
		}
		last, err := h.Trial(t.Context(), "last")
		if err == nil {
			var all []store.Attempt
			if all, err = h.Attempts(t.Context(), last.ID); err == nil && len(all) >= n {
				h.Close()
				return last.ID, all
			}
		}
		h.Close()
	}
	t.Fatalf("no %d runs in the history after five minutes: %s", n, said.String())
	return "", nil
}
