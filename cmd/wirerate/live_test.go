package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// live runs tools/live.sh and returns what it printed and its exit status.
func live(shell string, args ...string) (string, int) {
	words := append(strings.Fields(shell), "../../tools/live.sh")
	cmd := exec.Command(words[0], append(words[1:], args...)...)
	out, err := cmd.CombinedOutput()
	return string(out), exitStatus(err)
}

// program is the wirerate of the tests as a file.
func program(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("wirerate")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestLive runs all steps that a namespace of Linux can have.
func TestLive(t *testing.T) {
	t.Parallel()
	ns, _ := namespaces(t)
	before := sysctls(t, ns)
	kept := t.TempDir()
	out, status := live("sh", "--yes", "--wirerate", program(t), "--kills", "4", "--keep", kept, "ns:"+ns)
	if status != 0 || strings.Contains(out, "FAIL") {
		t.Errorf("exit status %d: %s", status, out)
	}
	for _, want := range []string{"inspect", "lint: ", "bulk: confirm", "web: rollback", "router: settings and files are those of the start",
		"kills: 4 times", "timer: the host took the change back by itself", "cut: the host took the change back by itself"} {
		if !strings.Contains(out, "ok    "+want) {
			t.Errorf("no %q: %s", want, out)
		}
	}
	if after := sysctls(t, ns); after != before {
		t.Errorf("differs: %s", firstDifference(before, after))
	}
	if left, _ := filepath.Glob("/var/lib/wirerate/ns/" + ns + "/*-*"); len(left) > 0 {
		t.Errorf("journals are left: %q", left)
	}
	for _, name := range []string{"inspect.json", "plan-web.json", "sysctl"} {
		if _, err := os.Stat(filepath.Join(kept, name)); err != nil {
			t.Error(err)
		}
	}
}

// TestLivePutsBack gives it a wirerate that takes nothing back and says it did.
func TestLivePutsBack(t *testing.T) {
	t.Parallel()
	ns, _ := namespaces(t)
	before := sysctls(t, ns)
	broken := filepath.Join(t.TempDir(), "broken")
	script := fmt.Sprintf("#!/bin/sh\ncase \" $* \" in *' rollback '*) exit 0 ;; esac\nexec '%s' \"$@\"\n", program(t))
	if err := os.WriteFile(broken, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	out, status := live("sh", "--yes", "--wirerate", broken, "--skip", "inspect", "--skip", "lint", "--skip", "kills", "--skip", "timer", "--skip", "cut", "ns:"+ns)
	if status != 1 || !strings.Contains(out, "FAIL  bulk: settings differ from the start") || !strings.Contains(out, "FAIL  net.ipv4.tcp_wmem was left changed and is put back") {
		t.Errorf("exit status %d: %s", status, out)
	}
	if after := sysctls(t, ns); after != before {
		t.Errorf("differs: %s", firstDifference(before, after))
	}
}

// TestLiveInterrupted ends it in the middle of a change.
func TestLiveInterrupted(t *testing.T) {
	t.Parallel()
	ns, _ := namespaces(t)
	before := sysctls(t, ns)
	slow := filepath.Join(t.TempDir(), "slow")
	script := fmt.Sprintf("#!/bin/sh\n'%s' \"$@\" || exit\ncase \" $* \" in *' apply '*) kill -INT $PPID ;; esac\n", program(t))
	if err := os.WriteFile(slow, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	out, status := live("sh", "--yes", "--wirerate", slow, "--skip", "inspect", "--skip", "lint", "ns:"+ns)
	if status != 130 || !strings.Contains(out, "ended early, with exit status 130") {
		t.Errorf("exit status %d: %s", status, out)
	}
	if after := sysctls(t, ns); after != before {
		t.Errorf("differs: %s", firstDifference(before, after))
	}
}

// TestLiveRefuses says what is missing before it changes anything, in each shell
// that is here.
func TestLiveRefuses(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"sh", "dash", "busybox sh", "bash --posix", "ksh"} {
		if _, err := exec.LookPath(strings.Fields(shell)[0]); err != nil {
			t.Logf("skipped: %v", err)
			continue
		}
		for _, c := range []struct {
			args   []string
			status int
			want   string
		}{
			{nil, 2, "say --yes if that is meant"},
			{[]string{"--yes", "--wirerate", "/nowhere"}, 2, "/nowhere: no program"},
			{[]string{"--yes", "--skip", "everything"}, 2, "--skip everything: no such step"},
			{[]string{"--yes", "--kills", "many"}, 2, "take a number"},
			{[]string{"--yes", "--kills"}, 2, "--kills takes a value"},
			{[]string{"--yes", "nowhere"}, 2, "nowhere: not an option or a host"},
			{[]string{"--yes", "--wirerate", program(t), "ns:wr-none"}, 3, "ns:wr-none: cannot be reached"},
		} {
			if out, status := live(shell, c.args...); status != c.status || !strings.Contains(out, c.want) {
				t.Errorf("%s %q: exit status %d: %s", shell, c.args, status, out)
			}
		}
	}
}

// TestLiveFreeBSD runs it over ssh on a host with FreeBSD's network stack, made
// up: files are written and taken back there too.
func TestLiveFreeBSD(t *testing.T) {
	t.Parallel()
	config, root := thinHost(t, "id", "find")
	h := thin(root)
	for name, s := range map[string][2]string{"hw.physmem": {"17179869184", "long ro"}, "hw.ncpu": {"8", "integer ro"}} {
		os.WriteFile(filepath.Join(root, "fake/sysctl", name), []byte(s[0]+"\n"), 0o644)
		os.WriteFile(filepath.Join(root, "fake/oid", name), []byte(s[1]+"\n"), 0o644)
	}
	os.MkdirAll(filepath.Join(root, "etc"), 0o755)
	own := "# of this host\nnet.inet.tcp.sack.enable=1\n"
	if err := os.WriteFile(filepath.Join(root, "etc/sysctl.conf"), []byte(own), 0o644); err != nil {
		t.Fatal(err)
	}
	before := h.values()
	out, status := live("sh", "--yes", "--wirerate", program(t), "--ssh-config", config, "--kills", "2", "ssh://root@wr-a")
	if status != 0 || !regexp.MustCompile(`(?m)^ok    bulk: confirm`).MatchString(out) || !strings.Contains(out, "ssh://root@wr-a: FreeBSD 13.0-STABLE") {
		t.Errorf("exit status %d: %s", status, out)
	}
	if d := h.differ(before); d != "" {
		t.Error(d)
	}
	if data, err := os.ReadFile(filepath.Join(root, "etc/sysctl.conf")); err != nil || string(data) != own {
		t.Errorf("%v: %s", err, data)
	}
	t.Log(out)
}
