//go:build linux

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Interrupt and quit from a terminal are the program's: one that goes on after
// them is not ended, and wirerate itself neither ends nor speaks of them.
func TestKeysOfTheTerminalAreTheProgramsInALab(t *testing.T) {
	t.Parallel()
	const program = `trap 'echo interrupted' INT; trap 'echo told to quit; exit 7' QUIT
echo ready; while :; do read line && echo "read $line"; done`
	c := begin(t, "wirerate", "lab", "exec", "rtt=1ms", "--", "sh", "-c", program)
	const interrupt, quit = "\x03", "\x1c"
	c.until("ready")
	fmt.Fprint(c.terminal, interrupt)
	c.until("interrupted")
	time.Sleep(3 * time.Second) // longer than a program that is to end is waited for
	c.line("still here")
	c.until("read still here")
	fmt.Fprint(c.terminal, quit)
	c.until("told to quit")
	_, _ = io.Copy(&c.seen, c.terminal) // up to the error that the end of a terminal is
	err := c.cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 7 {
		t.Errorf("ended with %v, want status 7", err)
	}
	if all := c.seen.String(); strings.Contains(all, "goroutine") {
		t.Errorf("it speaks of itself:\n%s", all)
	}
}

// onTerminal starts a program with a terminal of its own, and returns the other
// side of that.
func onTerminal(t *testing.T, args ...string) (*os.File, *exec.Cmd) {
	t.Helper()
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	t.Cleanup(func() { terminal.Close() })
	number, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(terminal.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	side, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer side.Close()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = side, side, side
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	return terminal, cmd
}
