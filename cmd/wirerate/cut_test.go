package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
		case c.name == "apply" && status == 0 && strings.Contains(said, "is in place for 5s"): // it was faster than the cut
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
