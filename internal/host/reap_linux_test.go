package host

import (
	"os/exec"
	"testing"
	"time"
)

// A child that has ended is seen, and stays there for who waits for it.
func TestEndedChildIsSeenAndLeft(t *testing.T) {
	cmd := exec.Command("true")
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	for range 6000 {
		if ended() != 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if pid := ended(); pid != cmd.Process.Pid {
		t.Errorf("the ended child is %d, seen is %d", cmd.Process.Pid, pid)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("it is gone: %v", err)
	}
	if pid := ended(); pid == cmd.Process.Pid {
		t.Error("it is still there")
	}
}
