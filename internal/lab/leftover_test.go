//go:build linux

package lab

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wirerate/wirerate/internal/lab/link"
)

// Labs up and down in a row leave no process, thread, file or interface.
func TestLabsInARowLeaveNothing(t *testing.T) {
	needLab(t)
	topology := Pair(link.Link{Up: link.Direction{Rate: 1e9}})
	topology.Awake.Mode = AwakeOn
	once := func() {
		l, err := Bring(t.Context(), topology)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	count := func(pattern string) int {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	once() // threads of the runtime, and what else stays
	files, threads, interfaces := count("/proc/self/fd/*"), count("/proc/self/task/*"), count("/sys/class/net/*")
	for range 8 {
		once()
	}
	// The runtime keeps some threads of its own, and a file; a leak is one a lab.
	if f, th, i := count("/proc/self/fd/*"), count("/proc/self/task/*"), count("/sys/class/net/*"); f > files+4 || th > threads+8 || i != interfaces {
		t.Errorf("files %d, threads %d, interfaces %d before; %d, %d, %d after", files, threads, interfaces, f, th, i)
	}
	children, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/children", os.Getpid()))
	if err == nil && len(bytes.Fields(children)) > 0 {
		t.Errorf("children are left: %s", children)
	}
}

// A program that is killed at any moment, while its lab comes up, is up or goes
// down, leaves no process.
func TestKilledAtAnyMomentLeavesNoProcess(t *testing.T) {
	needLab(t)
	program := self(t)
	marker := fmt.Sprintf("WIRERATE_LAB_TEST_MARKER=%d", os.Getpid())
	for range 12 {
		cmd := exec.Command(program)
		cmd.Env = append(holdEnvironment(), marker)
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(rand.N(400 * time.Millisecond))
		if rand.N(2) == 0 {
			stdin.Close() // it is killed while it takes the lab down
			time.Sleep(rand.N(50 * time.Millisecond))
		}
		cmd.Process.Signal(syscall.SIGKILL)
		cmd.Wait()
		stdin.Close()
	}
	for range 1000 {
		if len(marked(marker)) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("processes are left: %v", marked(marker))
}

// marked lists the processes that have a variable in their environment.
func marked(variable string) []string {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	var found []string
	for _, f := range files {
		environment, err := os.ReadFile(f) // empty of one that has ended
		if err == nil && strings.Contains(string(environment), variable) {
			found = append(found, filepath.Dir(f))
		}
	}
	return found
}
