package main

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// tuneNamespaces prepares tune between two named namespaces.
func tuneNamespaces(a, b string, more ...string) []string {
	args := []string{"wirerate", "tune", "ns:" + a, "--peer", "ns:" + b, "--path", "rate=10gbit,rtt=100ms", "--role", "bulk", "--no-history", "--for", "10m", "--run", "1s", "--omit", "0s", "--no-shares"}
	return append(args, more...)
}

func exitStatus(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	if err != nil {
		return -1
	}
	return 0
}

// TestReadOnlySettings runs tune where /proc/sys cannot be written, as in many
// containers.
func TestReadOnlySettings(t *testing.T) {
	t.Parallel()
	a, b := namespaces(t)
	before := sysctls(t, a)
	script := "mount --make-rprivate / && mount --bind /proc/sys /proc/sys && mount -o remount,ro,bind /proc/sys && exec " + strings.Join(tuneNamespaces(a, b), " ")
	out, err := exec.Command("unshare", "-m", "sh", "-c", script).CombinedOutput()
	if exitStatus(err) != 3 || !strings.Contains(string(out), "arm plan cannot be applied") || !strings.Contains(string(out), "Read-only file system") {
		t.Errorf("%v: %s", err, out)
	}
	if after := sysctls(t, a); after != before {
		t.Errorf("differs: %s", firstDifference(before, after))
	}
}

// TestPeerDisappears ends the peer's agent in a run.
func TestPeerDisappears(t *testing.T) {
	t.Parallel()
	a, b := namespaces(t)
	before := [2]string{sysctls(t, a), sysctls(t, b)}
	args := tuneNamespaces(a, b)
	cmd := exec.Command(args[0], args[1:]...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitForTraffic(t, b)
	pids, _ := exec.Command("ip", "netns", "pids", b).Output()
	others := slices.DeleteFunc(strings.Fields(string(pids)), func(pid string) bool {
		return pid == strconv.Itoa(cmd.Process.Pid) // whose first thread may be there for a moment, to start a program
	})
	exec.Command("kill", append([]string{"-9"}, others...)...).Run()
	err := cmd.Wait()
	if exitStatus(err) != 4 || !strings.Contains(stderr.String(), "the host's agent has ended") || !strings.Contains(stderr.String(), "rollback.sh") {
		t.Errorf("%v: %s", err, stderr.String())
	}
	if out, err := exec.Command("wirerate", "rollback", "ns:"+b).CombinedOutput(); err != nil {
		t.Errorf("rollback: %v: %s", err, out)
	}
	for i, ns := range []string{a, b} {
		if after := sysctls(t, ns); after != before[i] {
			t.Errorf("%s differs: %s", ns, firstDifference(before[i], after))
		}
	}
}

// TestPathIsMeasured lets tune measure the path between two namespaces.
func TestPathIsMeasured(t *testing.T) {
	t.Parallel()
	a, b := namespaces(t)
	args := tuneNamespaces(a, b, "--path", "auto", "--pairs", "2", "--json")
	out, err := exec.Command(args[0], args[1:]...).Output()
	if status := exitStatus(err); status != 0 && status != 1 { // 1 is a verdict
		t.Fatalf("%v: %s", err, out)
	}
	for _, want := range []string{`"rtt": "smallest of 10 pings"`, `"rate": "8 streams for 4 s by`, `"mtu": "MTU of v0"`} {
		if !strings.Contains(string(out), want) {
			t.Errorf("result lacks %s", want)
		}
	}
}

// waitForTraffic waits until a namespace has a pending change and the server of a
// run.
func waitForTraffic(t *testing.T, ns string) {
	t.Helper()
	for range 1800 {
		_, err := os.Stat("/var/lib/wirerate/ns/" + ns + "/pending")
		pids, _ := exec.Command("ip", "netns", "pids", ns).Output()
		for _, pid := range strings.Fields(string(pids)) {
			line, _ := os.ReadFile("/proc/" + pid + "/cmdline") // empty once it has ended
			if err == nil && (strings.HasPrefix(string(line), "iperf3") || strings.Contains(string(line), "\x00traffic\x00")) {
				return
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("no run began within three minutes")
}
