package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wirerate/wirerate/internal/plan"
)

// TestApplyOverSSH applies a plan over ssh and loses the connection for good:
// the host takes the change back by itself.
func TestApplyOverSSH(t *testing.T) {
	t.Parallel()
	a, b := namespaces(t)
	config := sshHosts(t, a, b)
	before := sysctls(t, a)
	dir := t.TempDir()
	run := func(args ...string) (string, error) {
		out, err := exec.Command("wirerate", append(args, "--ssh-config", config)...).CombinedOutput()
		return string(out), err
	}
	if out, err := run("plan", "ssh://root@wr-a", "--path", "rate=10gbit,rtt=100ms", "--role", "bulk", "-o", dir); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	// What governs the whole machine is not for this test.
	keepNamespaced(t, filepath.Join(dir, "plan.json"))
	if out, err := run("apply", dir, "ssh://root@wr-a", "--confirm-within", "10s", "--runtime-only"); err != nil || !strings.Contains(out, "is in place for ") || !strings.Contains(out, "set   net.ipv4.tcp_rmem = ") {
		t.Fatalf("%v: %s", err, out)
	}
	deadline := time.Now().Add(5 * time.Minute)
	for sysctls(t, a) != before && time.Now().Before(deadline) {
		time.Sleep(200 * time.Millisecond)
	}
	if after := sysctls(t, a); after != before {
		t.Errorf("not taken back: %s", firstDifference(before, after))
	}
	out, err := run("status", "ssh://root@wr-a")
	for !strings.Contains(out, "rolled-back") && time.Now().Before(deadline) {
		out, err = run("status", "ssh://root@wr-a")
	}
	if err != nil || !strings.Contains(out, "rolled-back") {
		t.Errorf("%v: %s", err, out)
	}
}

// TestKilledApply kills apply at random moments; a rollback, or the host's own
// timer, leaves no setting changed.
func TestKilledApply(t *testing.T) {
	t.Parallel()
	a, _ := namespaces(t)
	before := sysctls(t, a)
	dir := t.TempDir()
	if out, err := exec.Command("wirerate", "plan", "ns:"+a, "--path", "rate=10gbit,rtt=100ms", "--role", "router", "--harden", "-o", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	keepNamespaced(t, filepath.Join(dir, "plan.json"))
	for i := range killPoints() {
		cmd := exec.Command("wirerate", "apply", dir, "ns:"+a, "--runtime-only", "--skip-absent")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(20+i*13%400) * time.Millisecond)
		cmd.Process.Kill()
		cmd.Wait()
		takeBack(t, a, before)
	}
}

// killPoints is how often TestKilledApply kills; WIRERATE_KILL_POINTS asks for
// more.
func killPoints() int {
	if n, err := strconv.Atoi(os.Getenv("WIRERATE_KILL_POINTS")); err == nil {
		return n
	}
	return 8
}

// keepNamespaced leaves in a plan only what belongs to a network namespace.
func keepNamespaced(t *testing.T, name string) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var p plan.Plan
	if err := json.Unmarshal(data, &p); err != nil {
		t.Fatal(err)
	}
	p.Changes = slices.DeleteFunc(p.Changes, func(ch plan.Change) bool {
		return !strings.HasPrefix(ch.Setting, "net.ipv4.") || strings.Contains(ch.Setting, "neigh") || strings.Contains(ch.Setting, "tcp_mem") || ch.Setting == "net.ipv4.tcp_congestion_control"
	})
	if len(p.Changes) == 0 {
		t.Fatal("the plan has nothing for a namespace")
	}
	if data, err = json.Marshal(p); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
}
