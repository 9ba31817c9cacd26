package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestCaptureOverSSH captures the packets of a transfer with the host's own
// tcpdump, and says so when the connection to it breaks meanwhile.
func TestCaptureOverSSH(t *testing.T) {
	t.Parallel()
	needsTcpdump(t)
	config, a, b := cutHosts(t)
	inspect := func(args ...string) (status int, stdout, stderr string) {
		var out, said strings.Builder
		cmd := exec.Command("ip", append([]string{"netns", "exec", a, "wirerate", "inspect", "--ssh-config", config,
			"ssh://root@wr-b", "--capture", "v0"}, args...)...)
		cmd.Stdout, cmd.Stderr = &out, &said
		return exitStatus(cmd.Run()), out.String(), said.String()
	}
	server := exec.Command("ip", "netns", "exec", a, "iperf3", "-s", "-1")
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Process.Kill(); server.Wait() })
	client := exec.Command("ip", "netns", "exec", b, "sh", "-c",
		"until iperf3 -c 10.78.0.1 -b 5M -t 20 >/dev/null; do sleep 0.1; done")
	if err := client.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Process.Kill(); client.Wait() })

	status, stdout, stderr := inspect("--for", "2s", "--json", "tcp", "port", "5201")
	var got struct {
		Flows []struct{ From, To, Captured_at string }
	}
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || status != 0 || len(got.Flows) == 0 ||
		!strings.HasPrefix(got.Flows[0].From, "10.78.0.2:") || got.Flows[0].To != "10.78.0.1:5201" {
		t.Errorf("%d, %v: %s%s", status, err, stdout, stderr)
	}
	if status, _, stderr := inspect("--for", "1s", "udp", "port", "9"); status != 1 || !strings.Contains(stderr, "no packet") {
		t.Errorf("nothing to capture: %d: %s", status, stderr)
	}
	if status, _, stderr := inspect("--for", "1s", "tcp", "prot"); status != 2 || !strings.Contains(stderr, "tcpdump: ") {
		t.Errorf("a wrong filter: %d: %s", status, stderr)
	}
	go func() {
		for until := time.Now().Add(5 * time.Minute); !captures(b) && time.Now().Before(until); {
			time.Sleep(50 * time.Millisecond)
		}
		exec.Command("ip", "-n", a, "link", "set", "v0", "down").Run()
	}()
	began := time.Now()
	status, stdout, stderr = inspect("--for", "10m")
	if status != 3 || stdout != "" || !strings.Contains(stderr, "ssh lost the connection") || time.Since(began) > 5*time.Minute {
		t.Errorf("cut: %d after %s: %s%s", status, time.Since(began), stdout, stderr)
	}
}

// captures tells whether tcpdump runs in a namespace.
func captures(ns string) bool {
	pids, _ := exec.Command("ip", "netns", "pids", ns).Output()
	for _, pid := range strings.Fields(string(pids)) {
		if name, _ := os.ReadFile("/proc/" + pid + "/comm"); strings.TrimSpace(string(name)) == "tcpdump" {
			return true
		}
	}
	return false
}

func needsTcpdump(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("tcpdump"); err != nil {
		t.Skip("tcpdump is not installed")
	}
}

// TestCaptureLacks says what a host lacks for a capture.
func TestCaptureLacks(t *testing.T) {
	t.Parallel()
	needsTcpdump(t)
	config, _ := shellHost(t, account{name: "wr", uid: 65001, shell: "sh"})
	capture := []string{"--ssh-config", config, "inspect", "--capture", "v0", "--for", "1s"}
	if out := wirerate(t, 3, append(capture, "ssh://wr@wr-a")...); !strings.Contains(out, "no right to capture on v0") {
		t.Error(out)
	}
	if out := wirerate(t, 2, append(capture, "ssh://root@wr-a", "tcp", "prot")...); !strings.Contains(out, "tcpdump: ") {
		t.Error(out)
	}
	thin, _ := thinHost(t)
	if out := wirerate(t, 3, "--ssh-config", thin, "inspect", "--capture", "v0", "ssh://root@wr-a"); !strings.Contains(out,
		"install the package tcpdump there") {
		t.Error(out)
	}
}
