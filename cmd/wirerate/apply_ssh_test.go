package main

import (
	"encoding/json"
	"math/rand/v2"
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

// TestKilled kills apply, confirm and rollback at random moments, in a namespace
// and over ssh. What is confirmed then runs as planned, what was cut off is not
// confirmed, and a rollback leaves no setting changed and no timer behind.
func TestKilled(t *testing.T) {
	t.Parallel()
	a, b := namespaces(t)
	config := sshHosts(t, a, b)
	before := sysctls(t, a)
	dir := t.TempDir()
	if out, err := exec.Command("wirerate", "plan", "ns:"+a, "--path", "rate=10gbit,rtt=100ms", "--role", "router", "--harden", "-o", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	keepNamespaced(t, filepath.Join(dir, "plan.json"))
	journals := "/var/lib/wirerate/ns/" + a
	seen := map[string]int{}
	for i := range killPoints() {
		host, victim := []string{"ns:" + a, "ssh://root@wr-a"}[i%2], []string{"apply", "apply", "confirm", "rollback"}[rand.IntN(4)]
		command := func(verb string, words ...string) *exec.Cmd {
			return exec.Command("wirerate", append(append([]string{verb}, words...), host, "--ssh-config", config)...)
		}
		kill := func(cmd *exec.Cmd) {
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Duration(rand.IntN(700)) * time.Millisecond)
			cmd.Process.Kill()
			cmd.Wait()
		}
		apply := command("apply", dir, "--runtime-only", "--skip-absent", "--confirm-within", "20m")
		if victim == "apply" {
			kill(apply)
		} else {
			if out, err := apply.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			kill(command(victim))
		}
		if i%4 < 2 { // over ssh, what was begun there may go on for a while
			out, err := command("confirm").CombinedOutput()
			switch said := string(out); {
			case err == nil:
				seen[victim+" killed, confirmed"]++
				if out, err := command("verify", dir).CombinedOutput(); err != nil {
					t.Errorf("%s killed: confirmed, and not as planned: %s", victim, out)
				}
			case strings.Contains(said, "cannot be confirmed"), strings.Contains(said, "nothing to confirm"), strings.Contains(said, "is not confirmed"), strings.Contains(said, "nothing is pending"):
				seen[victim+" killed, not confirmed"]++
			default:
				t.Errorf("%s killed: confirm: %v: %s", victim, err, said)
			}
		}
		if out, err := command("status").CombinedOutput(); exitStatus(err) > 1 {
			t.Errorf("%s killed: status: %v: %s", victim, err, out)
		}
		takeAllBack(t, a, before, command)
		if ids, _ := filepath.Glob(journals + "/*/rollback.sh"); len(ids) > 0 {
			for _, name := range ids {
				waitForNoTimers(t, filepath.Dir(name))
				os.RemoveAll(filepath.Dir(name))
			}
		}
		if t.Failed() {
			t.Fatalf("kill %d: %s on %s", i, victim, host)
		}
	}
	t.Log(seen)
}

// takeAllBack rolls back what is pending and what is confirmed.
func takeAllBack(t *testing.T, ns, before string, command func(verb string, words ...string) *exec.Cmd) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		out, err := command("rollback").CombinedOutput()
		names, _ := filepath.Glob("/var/lib/wirerate/ns/" + ns + "/*/state")
		open := false
		for _, name := range names {
			if state, _ := os.ReadFile(name); strings.TrimSpace(string(state)) == "confirmed" {
				out, err = command("rollback", filepath.Base(filepath.Dir(name))).CombinedOutput()
			}
			state, _ := os.ReadFile(name)
			open = open || strings.TrimSpace(string(state)) != "rolled-back"
		}
		after := sysctls(t, ns)
		if (err == nil || strings.Contains(string(out), "nothing is pending")) && after == before && !open {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is not taken back: %v: %s%s", ns, err, out, firstDifference(before, after))
		}
	}
}

// waitForNoTimers waits until no process of a change's timers is left.
func waitForNoTimers(t *testing.T, journal string) {
	t.Helper()
	left := func() []int {
		return processes(func(proc string) bool {
			line, _ := os.ReadFile(proc + "/cmdline")
			out, _ := os.Readlink(proc + "/fd/1")
			return strings.Contains(string(line), "\x00"+journal+"\x00") || strings.HasPrefix(out, journal+"/")
		})
	}
	for deadline := time.Now().Add(2 * time.Minute); len(left()) > 0; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Errorf("processes of the timers of %s are left: %v", journal, left())
			return
		}
	}
}

// killPoints is how often TestKilled kills; WIRERATE_KILL_POINTS asks for
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
