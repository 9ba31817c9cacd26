package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// cutHosts joins two namespaces by a link over which the second one is reached
// by ssh from the first, and returns ssh's configuration.
func cutHosts(t *testing.T) (config, a, b string) {
	t.Helper()
	a, b = namespaces(t)
	config = sshHosts(t, a, b)
	server := strings.Replace(config, "ssh_config", "sshd_config", 1)
	sshd := exec.Command("ip", "netns", "exec", b, "/usr/sbin/sshd", "-D", "-e", "-f", server, "-p", "2222", "-o", "ListenAddress=10.78.0.2")
	if err := sshd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sshd.Process.Kill(); sshd.Wait() })
	data, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	proxy := fmt.Sprintf("ProxyCommand ip netns exec %s /usr/sbin/sshd -i -f %s\n", b, server)
	text := strings.Replace(string(data), proxy, "HostName 10.78.0.2\n Port 2222\n HostKeyAlias wr-b\n ServerAliveInterval 2\n ServerAliveCountMax 3\n", 1)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for until := time.Now().Add(2 * time.Minute); time.Now().Before(until); time.Sleep(100 * time.Millisecond) {
		if exec.Command("ip", "netns", "exec", a, "ssh", "-F", config, "-o", "BatchMode=yes", "root@wr-b", "true").Run() == nil {
			return config, a, b
		}
	}
	t.Fatal("sshd does not answer in its namespace")
	return "", "", ""
}

// TestConnectionCut takes the link down in the middle of apply and of tune, for
// longer than ssh waits: the host takes the change back by itself, wirerate says
// what happened and makes the run again, and what it says of the host afterwards
// is true.
func TestConnectionCut(t *testing.T) {
	t.Parallel()
	config, a, b := cutHosts(t)
	link := func(state string) { exec.Command("ip", "-n", a, "link", "set", "v0", state).Run() }
	before := map[string]string{a: sysctls(t, a), b: sysctls(t, b)}
	takenBack := func(when, ns string) {
		t.Helper()
		after := sysctls(t, ns)
		for until := time.Now().Add(3 * time.Minute); after != before[ns] && time.Now().Before(until); after = sysctls(t, ns) {
			time.Sleep(200 * time.Millisecond)
		}
		if after != before[ns] {
			t.Errorf("%s, %s differs: %s", when, ns, firstDifference(before[ns], after))
		}
	}
	inside := func(args ...string) *exec.Cmd {
		return exec.Command("ip", append([]string{"netns", "exec", a, "wirerate", "--ssh-config", config}, args...)...)
	}
	dir := t.TempDir()
	if out, err := inside("plan", "ssh://root@wr-b", "--path", "rate=10gbit,rtt=100ms", "--role", "bulk", "-o", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	keepNamespaced(t, filepath.Join(dir, "plan.json"))
	journals := "/var/lib/wirerate/ns/" + b
	progress := func() bool { found, _ := filepath.Glob(filepath.Join(journals, "*/progress")); return len(found) > 0 }
	for _, c := range []struct {
		name  string
		args  []string
		begun func() // waits until it is in the middle
	}{
		{"apply", []string{"apply", dir, "ssh://root@wr-b", "--runtime-only", "--confirm-within", "5s"}, func() {
			for until := time.Now().Add(3 * time.Minute); !progress() && time.Now().Before(until); time.Sleep(time.Millisecond) {
			}
		}},
		{"tune", []string{"tune", "local", "--peer", "ssh://root@wr-b", "--address", "10.78.0.2", "--path", "rate=10gbit,rtt=100ms", "--role", "bulk",
			"--no-history", "--for", "10m", "--run", "2s", "--omit", "1s", "--pairs", "2", "--no-shares"}, func() { waitForTraffic(t, b) }},
	} {
		exec.Command("rm", "-rf", journals).Run()
		var out bytes.Buffer
		cmd := inside(c.args...)
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		c.begun()
		link("down")
		time.Sleep(10 * time.Second) // ssh gives up after 8 s
		if c.name == "apply" {
			takenBack("while the link is down", b)
		}
		link("up")
		status := exitStatus(cmd.Wait())
		said := out.String()
		switch {
		case status == 3 && strings.Contains(said, "ssh://root@wr-b: host cannot be reached"):
		case status == 4 && strings.Contains(said, "its own timer was to take everything back by now"): // it was down for longer than is tried
		case c.name == "apply" && status == 0 && strings.Contains(said, "is in place for "): // it was faster than the cut
		case c.name == "tune" && (status == 0 || status == 1): // the run was made again, or ssh waited long enough
		default:
			t.Errorf("%s: exit status %d", c.name, status)
		}
		takenBack(c.name, a)
		takenBack(c.name, b)
		after, err := inside("status", "ssh://root@wr-b").CombinedOutput()
		if err != nil || strings.Contains(string(after), "pending") {
			t.Errorf("%s: status: %v", c.name, err)
		}
		t.Logf("%s: exit status %d: %s%s", c.name, status, said, after)
	}
}

// slowHost makes the thin host reachable over a link, through OpenSSH's own server
// there; each of its programs takes a while. It returns how wirerate is run at the
// other end, and what takes the link up and down.
func slowHost(t *testing.T, options string) (h thin, run func(args ...string) *exec.Cmd, link func(state string)) {
	t.Helper()
	config, root := thinHost(t, "mkfifo")
	data, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	proxy := regexp.MustCompile(` ProxyCommand ip netns exec (\S+) \S+ -i -f (\S+\.thin)\n`)
	found := proxy.FindStringSubmatch(string(data))
	if found == nil {
		t.Fatalf("no server in %s", data)
	}
	a := found[1]
	b := strings.Replace(a, "wr-test-a-", "wr-test-b-", 1)
	sshd := exec.Command("ip", "netns", "exec", a, "/usr/sbin/sshd", "-D", "-e", "-f", found[2], "-p", "2222", "-o", "ListenAddress=10.78.0.1")
	if err := sshd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sshd.Process.Kill(); sshd.Wait() })
	text := proxy.ReplaceAllString(string(data), " HostName 10.78.0.1\n Port 2222\n HostKeyAlias wr-a\n "+options+"\n")
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run = func(args ...string) *exec.Cmd {
		return exec.Command("ip", append([]string{"netns", "exec", b, "wirerate", "--ssh-config", config}, args...)...)
	}
	link = func(state string) { exec.Command("ip", "-n", b, "link", "set", "v0", state).Run() }
	for until := time.Now().Add(2 * time.Minute); time.Now().Before(until); time.Sleep(100 * time.Millisecond) {
		if run("status", "ssh://root@wr-a").Run() == nil {
			return thin(root), run, link
		}
	}
	t.Fatal("sshd does not answer in its namespace")
	return "", nil, nil
}

// TestSlowHostCut takes the link down in the middle of an apply on a slow host for
// longer than its timer waits, with ssh's own waiting and with one that the user
// chose so long that the answer comes late: what is claimed is what is there.
func TestSlowHostCut(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]string{"wirerate's waiting": "LogLevel ERROR", "the user's": "ServerAliveInterval 300"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, run, link := slowHost(t, options)
			host, before, dir := "ssh://root@wr-a", h.values(), t.TempDir()
			if out, err := run("plan", host, "--path", "rate=10gbit,rtt=100ms", "--role", "bulk", "--memory", "16GiB", "-o", dir).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			os.WriteFile(filepath.Join(string(h), "fake/slow"), []byte("0.7\n"), 0o644)
			var out bytes.Buffer
			cmd := run("apply", dir, host, "--confirm-within", "5s", "--runtime-only")
			cmd.Stdout, cmd.Stderr = &out, &out
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			for until := time.Now().Add(3 * time.Minute); time.Now().Before(until) && h.differ(before) == ""; time.Sleep(5 * time.Millisecond) {
			}
			link("down")
			for until := time.Now().Add(5 * time.Minute); time.Now().Before(until) && (h.differ(before) != "" || h.state() == "pending"); time.Sleep(100 * time.Millisecond) {
			}
			link("up")
			status := exitStatus(cmd.Wait())
			t.Logf("exit status %d: %s", status, &out)
			if d := h.differ(before); status != 3 && status != 4 || strings.Contains(out.String(), "is in place") || d != "" {
				t.Errorf("exit status %d, %s", status, d)
			}
			os.Remove(filepath.Join(string(h), "fake/slow"))
			after, err := run("status", host).CombinedOutput()
			if err != nil || strings.Contains(string(after), "pending") {
				t.Errorf("status: %v: %s", err, after)
			}
		})
	}
}

// state is that of the newest change.
func (h thin) state() string {
	files, _ := filepath.Glob(filepath.Join(string(h), "var/db/wirerate/*/state"))
	if len(files) == 0 {
		return ""
	}
	data, _ := os.ReadFile(files[len(files)-1])
	return strings.TrimSpace(string(data))
}

// TestSlowHostApplied: each write takes longer than the timer of the change would
// let all of them take, and what is claimed afterwards is there.
func TestSlowHostApplied(t *testing.T) {
	t.Parallel()
	h, run, _ := slowHost(t, "LogLevel ERROR")
	host, before, dir := "ssh://root@wr-a", h.values(), t.TempDir()
	if out, err := run("plan", host, "--path", "rate=10gbit,rtt=100ms", "--role", "bulk", "--memory", "16GiB", "-o", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	os.WriteFile(filepath.Join(string(h), "fake/slow"), []byte("0.2\n"), 0o644)
	out, err := run("apply", dir, host, "--confirm-within", "2s", "--runtime-only").CombinedOutput()
	state := h.state()
	switch status := exitStatus(err); {
	case status == 0 && strings.Contains(string(out), "is in place for ") && state == "pending" && h.differ(before) != "":
	case status == 0 && state == "rolled-back": // this machine was too slow to look in time
	case status == 4 && h.differ(before) == "" && state == "rolled-back":
	default:
		t.Errorf("exit status %d, %s, %s: %s", status, state, h.differ(before), out)
	}
	os.Remove(filepath.Join(string(h), "fake/slow"))
	for until := time.Now().Add(5 * time.Minute); time.Now().Before(until) && h.state() == "pending"; time.Sleep(100 * time.Millisecond) {
	}
	if d := h.differ(before); d != "" || h.state() != "rolled-back" {
		t.Errorf("%s: %s", h.state(), d)
	}
}
