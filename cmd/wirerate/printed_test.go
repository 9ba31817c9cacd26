package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// printedCommand is a command that wirerate tells its user to type.
var printedCommand = regexp.MustCompile(`(?m)(?:with: |see:? |then: |from here: )(wirerate (\w+) .*)$`)

// TestPrintedCommands pastes every command that apply, confirm, rollback and
// status print into a shell, where the host, the folder of the journals and ssh's
// configuration need quoting and are not the usual ones.
func TestPrintedCommands(t *testing.T) {
	t.Parallel()
	a, b := namespaces(t)
	odd := filepath.Join(t.TempDir(), "it's a $HOME; `id`")
	if err := os.Mkdir(odd, 0o755); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(sshHosts(t, a, b))
	if err != nil {
		t.Fatal(err)
	}
	config, state, dir := filepath.Join(odd, "ssh config"), filepath.Join(odd, "state"), t.TempDir()
	if err := os.WriteFile(config, text, 0o600); err != nil {
		t.Fatal(err)
	}
	host := "ssh://root@wr-a"
	if _, err := exec.LookPath("sudo"); err == nil {
		host += "?become=sudo"
	}
	before := sysctls(t, a)
	run := func(want int, args ...string) string {
		t.Helper()
		return wirerate(t, want, append(args, "--ssh-config", config)...)
	}
	run(0, "plan", host, "--path", "rate=10gbit,rtt=100ms", "--role", "bulk", "-o", dir)
	keepNamespaced(t, filepath.Join(dir, "plan.json"))
	// paste runs the one command of that verb in a text and returns what it prints.
	paste := func(want int, verb, said string) string {
		t.Helper()
		for _, m := range printedCommand.FindAllStringSubmatch(said, -1) {
			if m[2] != verb {
				continue
			}
			out, err := exec.Command("sh", "-c", m[1]).CombinedOutput()
			if got := exitStatus(err); got != want {
				t.Fatalf("%s: exit status %d, want %d: %s", m[1], got, want, out)
			}
			return string(out)
		}
		t.Fatalf("no command to %s is printed: %s", verb, said)
		return ""
	}
	apply := func() string { return run(0, "apply", dir, host, "--runtime-only", "--state-dir", state) }
	inside := func(line string) {
		t.Helper()
		if out, err := exec.Command("ip", append([]string{"netns", "exec", a}, strings.Fields(line)...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}

	paste(0, "rollback", paste(0, "confirm", apply()))
	apply()
	listed := paste(0, "status", run(2, "apply", dir, host, "--state-dir", state))
	paste(0, "rollback", listed)
	apply()
	paste(0, "rollback", paste(0, "confirm", run(0, "status", host, "--state-dir", state)))

	apply()
	inside("sysctl -qw net.ipv4.tcp_slow_start_after_idle=1")
	paste(0, "rollback", paste(0, "confirm", run(1, "confirm", host, "--state-dir", state)))

	apply()
	id, err := os.ReadFile(filepath.Join(state, "pending/id"))
	if err != nil {
		t.Fatal(err)
	}
	last := filepath.Join(state, strings.TrimSpace(string(id)), "progress")
	data, err := os.ReadFile(last)
	if err != nil {
		t.Fatal(err)
	}
	os.WriteFile(last, []byte(strings.Replace(string(data), "complete\n", "", 1)), 0o600)
	if out := run(1, "status", host, "--state-dir", state); !strings.Contains(out, "apply did not come to its end: 3 of 3 settings are written") || strings.Contains(out, "as it was left") {
		t.Errorf("status: %s", out)
	}
	paste(0, "rollback", run(4, "confirm", host, "--state-dir", state))
	if after := sysctls(t, a); after != before {
		t.Error(firstDifference(before, after))
	}
	paste(0, "status", run(2, "rollback", "20260102-030405-a1b2c3", host, "--state-dir", state))
}
