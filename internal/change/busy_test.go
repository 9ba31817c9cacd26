package change

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// holder starts a script that works on a change until its input ends, as prefix
// has it.
func holder(t *testing.T, dir string, prefix ...string) *exec.Cmd {
	t.Helper()
	args := append(prefix, "sh", "-c", scriptPrologue+busyFunctions+"dir="+quote(dir)+"\ntake\necho taken\nread -r x\n")
	cmd := exec.Command(args[0], args[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); cmd.Process.Kill(); cmd.Wait() })
	if line, _ := bufio.NewReader(out).ReadString('\n'); line != "taken\n" {
		t.Fatalf("the holder says %q", line)
	}
	return cmd
}

// TestBusyEndsWithItsOwner: a script that works on a change is waited for, also
// from another PID namespace, in which its number is nobody's, and what a killed
// one left is taken over at once.
func TestBusyEndsWithItsOwner(t *testing.T) {
	other := []string{"unshare", "-pf", "--mount-proc", "--kill-child"}
	if err := exec.Command(other[0], append(other[1:], "true")...).Run(); err != nil {
		other = nil
	}
	for _, fifos := range []bool{true, false} {
		for _, prefix := range [][]string{nil, other} {
			t.Run(fmt.Sprintf("fifos %v, %v", fifos, prefix), func(t *testing.T) {
				if !fifos {
					bin := t.TempDir()
					os.WriteFile(filepath.Join(bin, "mkfifo"), []byte("#!/bin/sh\nexit 1\n"), 0o755)
					t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
				}
				dir := t.TempDir()
				first := holder(t, dir, prefix...)
				second := exec.Command("sh", "-c", scriptPrologue+busyFunctions+"dir="+quote(dir)+"\ntake\nmine && echo taken\n")
				var out strings.Builder
				second.Stdout = &out
				if err := second.Start(); err != nil {
					t.Fatal(err)
				}
				ended := make(chan error, 1)
				go func() { ended <- second.Wait() }()
				select {
				case <-ended:
					t.Fatalf("it did not wait: %q", &out)
				case <-time.After(1500 * time.Millisecond):
				}
				if !fifos && prefix != nil {
					return // without FIFOs a number of another namespace is not asked: it would take two minutes
				}
				first.Process.Kill()
				first.Wait()
				select {
				case <-ended:
				case <-time.After(time.Minute):
					t.Fatal("what the killed one left is not taken over")
				}
				if out.String() != "taken\n" {
					t.Errorf("%q", &out)
				}
				left, _ := filepath.Glob(filepath.Join(dir, "*"))
				if len(left) > 0 {
					t.Errorf("left: %v", left)
				}
			})
		}
	}
}
