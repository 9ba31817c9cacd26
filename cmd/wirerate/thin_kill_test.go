package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// processes are those of this machine for which is holds; it gets their folder
// of /proc.
func processes(is func(proc string) bool) []int {
	var found []int
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, proc := range all {
		if pid, err := strconv.Atoi(filepath.Base(proc)); err == nil && is(proc) {
			found = append(found, pid)
		}
	}
	return found
}

// TestThinFreeBSDCutShort ends a part of an apply over ssh without warning at a
// random step: wirerate itself, the server's process of the connection, or
// everything that runs on the host. What comes after finds the way back.
func TestThinFreeBSDCutShort(t *testing.T) {
	t.Parallel()
	config, root := thinHost(t)
	host, h := "ssh://root@wr-a", thin(root)
	os.WriteFile(filepath.Join(root, "fake/slow"), nil, 0o644) // a program costs time, as where each starts a whole stack
	before := h.values()
	dir := t.TempDir()
	ssh := []string{"--ssh-config", config}
	wirerate(t, 0, append(ssh, "plan", host, "--path", "rate=10gbit,rtt=100ms", "--role", "bulk", "--memory", "16GiB", "-o", dir)...)
	text, _ := os.ReadFile(config)
	inside := regexp.MustCompile(`netns exec (\S+) \S+ -i -f \S+\.thin`).FindSubmatch(text)
	if inside == nil {
		t.Fatalf("no namespace in %s", text)
	}
	namespace, err := os.Stat("/run/netns/" + string(inside[1]))
	if err != nil {
		t.Fatal(err)
	}
	victims := map[string]func(own int) []int{
		"wirerate": func(own int) []int { return []int{own} },
		"the server's process": func(int) []int {
			return processes(func(proc string) bool {
				line, _ := os.ReadFile(proc + "/cmdline")
				its, err := os.Stat(proc + "/ns/net")
				return err == nil && bytes.HasPrefix(line, []byte("sshd: root")) && os.SameFile(its, namespace)
			})
		},
		"everything there": func(int) []int {
			return processes(func(proc string) bool { at, _ := os.Readlink(proc + "/root"); return at == root })
		},
	}
	for i := range max(1, killPoints()/8) {
		for name, victim := range victims {
			var out bytes.Buffer
			cmd := exec.Command("wirerate", append(ssh, "apply", dir, host, "--confirm-within", "1h")...)
			cmd.Stdout, cmd.Stderr = &out, &out
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			steps := 1 + rand.IntN(8)
			for until := time.Now().Add(2 * time.Minute); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
				if begun, _ := filepath.Glob(filepath.Join(root, "var/db/wirerate/*/progress")); len(begun) > 0 {
					if data, _ := os.ReadFile(begun[len(begun)-1]); bytes.Count(data, []byte("\n")) >= steps {
						break
					}
				}
			}
			pids := victim(cmd.Process.Pid)
			if len(pids) == 0 {
				t.Errorf("%s: nothing to end", name)
			}
			for _, pid := range pids {
				syscall.Kill(pid, syscall.SIGKILL)
			}
			err := <-ended
			if status := exitStatus(err); name != "wirerate" && status != 0 && status != 3 && status != 4 { // 0: it was faster
				t.Errorf("%s: exit status %d", name, status)
			}
			t.Logf("%d, %s, step %d: %v: %s", i, name, steps, err, &out)
			back, err := exec.Command("wirerate", append(ssh, "rollback", host)...).CombinedOutput()
			if err != nil && !strings.Contains(string(back), "nothing is pending") {
				t.Errorf("%s: %v: %s", name, err, back)
			}
			if d := h.differ(before); d != "" {
				t.Errorf("%s: %s", name, d)
			}
			if state := wirerate(t, 0, append(ssh, "status", host)...); strings.Contains(state, "pending") {
				t.Errorf("%s: %s", name, state)
			}
			exec.Command("sh", "-c", fmt.Sprintf("rm -rf '%s'/var/db/wirerate/[0-9]*", root)).Run()
		}
	}
}
