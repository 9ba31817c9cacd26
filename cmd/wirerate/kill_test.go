package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// namespaceCount gives the tests, of which some run side by side, names of their
// own.
var namespaceCount atomic.Int64

// namespaces makes two network namespaces joined by a veth pair.
func namespaces(t *testing.T) (a, b string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("network namespaces with names need root")
	}
	n := namespaceCount.Add(1)
	a, b = fmt.Sprintf("wr-test-a-%d-%d", os.Getpid(), n), fmt.Sprintf("wr-test-b-%d-%d", os.Getpid(), n)
	t.Cleanup(func() { removeNamespaces(a, b) })
	for _, line := range []string{
		"netns add " + a, "netns add " + b, "-n " + a + " link add v0 type veth peer name v0 netns " + b,
		"-n " + a + " addr add 10.78.0.1/24 dev v0", "-n " + b + " addr add 10.78.0.2/24 dev v0",
		"-n " + a + " link set v0 up", "-n " + b + " link set v0 up",
	} {
		if out, err := exec.Command("ip", strings.Fields(line)...).CombinedOutput(); err != nil {
			t.Skipf("ip %s: %v: %s", line, err, out)
		}
	}
	return a, b
}

// removeNamespaces ends what runs in network namespaces and removes them with
// their journals.
func removeNamespaces(names ...string) {
	for _, ns := range names {
		if pids, err := exec.Command("ip", "netns", "pids", ns).Output(); err == nil && len(pids) > 0 {
			exec.Command("kill", append([]string{"-9"}, strings.Fields(string(pids))...)...).Run()
		}
		exec.Command("ip", "netns", "del", ns).Run() // there is none where the test was skipped
		os.RemoveAll("/var/lib/wirerate/ns/" + ns)
	}
}

// volatile are keys that change by themselves, or when the kernel loads a module,
// which it does for the whole machine and keeps.
var volatile = regexp.MustCompile(`(?m)^(fs\.(dentry|inode|file-nr|quota|aio-nr).*|kernel\.(random|ns_last_pid|pty|sched_domain|tainted|hung_task_detect).*|net\.(netfilter|nf_conntrack|bridge)[._].*|net\.ipv4\.tcp_(available|allowed)_congestion_control.*|debug\..*|dev\.cdrom.*|vm\.stat.*|kernel\.perf.*|net\.ipv4\.tcp_fastopen_key.*|net\.ipv[46]\..*\.stable_secret.*)\n`)

func sysctls(t *testing.T, ns string) string {
	t.Helper()
	out, err := exec.Command("ip", "netns", "exec", ns, "sysctl", "-a").Output()
	if err != nil && len(out) == 0 {
		t.Fatal(err)
	}
	return volatile.ReplaceAllString(string(out), "")
}

// TestKilledTuneRollsBack kills tune without warning at random moments and
// expects rollback to bring every setting of both namespaces back.
func TestKilledTuneRollsBack(t *testing.T) {
	t.Parallel()
	a, b := namespaces(t)
	before := [2]string{sysctls(t, a), sysctls(t, b)}
	rng := rand.New(rand.NewPCG(1, uint64(time.Now().UnixNano())))
	changed := false
	for range 4 {
		cmd := exec.Command("wirerate", "tune", "ns:"+a, "--peer", "ns:"+b, "--path", "rate=10gbit,rtt=100ms", "--role", "bulk", "--no-history", "--for", "10m", "--run", "1s", "--omit", "0s")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(500*time.Millisecond + time.Duration(rng.IntN(3000))*time.Millisecond)
		cmd.Process.Kill()
		cmd.Wait()
		changed = changed || sysctls(t, a) != before[0]
		for i, ns := range []string{a, b} {
			takeBack(t, ns, before[i])
		}
	}
	if !changed {
		t.Log("no kill came while settings were changed")
	}
}

// takeBack rolls a namespace back, again while the agent of a killed wirerate has
// not noticed yet that its parent is gone.
func takeBack(t *testing.T, ns, before string) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		out, err := exec.Command("wirerate", "rollback", "ns:"+ns).CombinedOutput()
		after := sysctls(t, ns)
		if (err == nil || strings.Contains(string(out), "nothing is pending")) && after == before {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is not taken back: %v: %s%s", ns, err, out, firstDifference(before, after))
		}
	}
}

func firstDifference(before, after string) string {
	was := map[string]bool{}
	for line := range strings.Lines(before) {
		was[line] = true
	}
	for line := range strings.Lines(after) {
		if !was[line] {
			return strings.TrimSpace(line)
		}
	}
	return "a line is missing"
}

// TestInterruptedTuneRestores stops tune in a run as Ctrl-C does.
func TestInterruptedTuneRestores(t *testing.T) {
	t.Parallel()
	a, b := namespaces(t)
	before := [2]string{sysctls(t, a), sysctls(t, b)}
	cmd := exec.Command("wirerate", "tune", "ns:"+a, "--peer", "ns:"+b, "--path", "rate=10gbit,rtt=100ms", "--role", "bulk", "--no-history", "--for", "10m", "--run", "2s", "--omit", "0s")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitForTraffic(t, b)
	cmd.Process.Signal(os.Interrupt)
	err := cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 4 || !strings.Contains(stderr.String(), "interrupted; nothing is left changed") {
		t.Errorf("%v: %s", err, stderr.String())
	}
	for i, ns := range []string{a, b} {
		if after := sysctls(t, ns); after != before[i] {
			t.Errorf("%s differs: %s", ns, firstDifference(before[i], after))
		}
	}
}
