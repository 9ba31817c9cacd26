package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// sshHosts makes OpenSSH servers in two namespaces reachable as wr-a and wr-b
// through the configuration file that it returns. The servers run on demand
// with their traffic over a pipe, so nothing listens on this machine.
func sshHosts(t *testing.T, a, b string) (config string) {
	t.Helper()
	sshd, err := exec.LookPath("/usr/sbin/sshd")
	if err != nil {
		t.Skip("OpenSSH's server is not installed: ", err)
	}
	os.MkdirAll("/run/sshd", 0o755)
	dir := t.TempDir()
	for _, key := range []string{"host", "user"} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, key)).CombinedOutput(); err != nil {
			t.Fatalf("ssh-keygen: %v: %s", err, out)
		}
	}
	public, err := os.ReadFile(filepath.Join(dir, "host.pub"))
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, format string, args ...any) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, fmt.Appendf(nil, format, args...), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	known := write("known_hosts", "wr-a %s\nwr-b %s\n", strings.TrimSpace(string(public)), strings.TrimSpace(string(public)))
	server := write("sshd_config", "HostKey %s/host\nAuthorizedKeysFile %s/user.pub\nStrictModes no\nUsePAM no\nPermitRootLogin yes\n", dir, dir)
	var hosts strings.Builder
	for name, ns := range map[string]string{"wr-a": a, "wr-b": b} {
		fmt.Fprintf(&hosts, "Host %s\n IdentityFile %s/user\n UserKnownHostsFile %s\n ProxyCommand ip netns exec %s %s -i -f %s\n", name, dir, known, ns, sshd, server)
	}
	return write("ssh_config", "%s", hosts.String())
}

// TestTuneOverSSH runs the whole of tune between two OpenSSH servers.
func TestTuneOverSSH(t *testing.T) {
	t.Parallel()
	a, b := namespaces(t)
	config := sshHosts(t, a, b)
	before := [2]string{sysctls(t, a), sysctls(t, b)}
	out := t.TempDir()
	cmd := exec.Command("wirerate", "tune", "ssh://root@wr-a", "--peer", "ssh://root@wr-b", "--ssh-config", config, "--path", "rate=10gbit,rtt=100ms",
		"--role", "bulk", "--no-history", "--for", "10m", "--run", "1s", "--omit", "1s", "--pairs", "2", "--no-shares", "-o", out, "--json")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	stdout, err := cmd.Output()
	if status := exitStatus(err); status != 0 && status != 1 { // 1 is a verdict
		t.Fatalf("%v: %s", err, stderr.String())
	}
	var result struct {
		Effect *struct{ Pairs int }
		Hosts  []struct{ Name string }
		Arms   []struct{ Runs []json.RawMessage }
	}
	if err := json.Unmarshal(stdout, &result); err != nil {
		t.Fatal(err)
	}
	if result.Effect == nil || result.Effect.Pairs != 2 || len(result.Arms) != 2 || len(result.Arms[1].Runs) != 2 || result.Hosts[0].Name != "ssh://root@wr-a" {
		t.Errorf("%+v", result)
	}
	for i, ns := range []string{a, b} {
		if after := sysctls(t, ns); after != before[i] {
			t.Errorf("%s differs: %s", ns, firstDifference(before[i], after))
		}
	}
}

func TestSSHFailures(t *testing.T) {
	t.Parallel()
	a, b := namespaces(t)
	config := sshHosts(t, a, b)
	for target, want := range map[string]string{
		"ssh://root@wr-none":       "host cannot be reached",
		"ssh://nobody@wr-a":        "host cannot be reached",
		"ssh://root@wr-a?become=x": "become is sudo or doas",
	} {
		out, err := exec.Command("wirerate", "rollback", target, "--ssh-config", config).CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v: %s", target, err, out)
		}
	}
	// A changed host key is refused.
	known := strings.Replace(config, "ssh_config", "known_hosts", 1)
	exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", known+".other").Run()
	public, _ := os.ReadFile(known + ".other.pub")
	os.WriteFile(known, append([]byte("wr-a "), public...), 0o600)
	out, err := exec.Command("wirerate", "rollback", "ssh://root@wr-a", "--ssh-config", config).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "its host key is not the known one") {
		t.Errorf("changed key: %v: %s", err, out)
	}
}
