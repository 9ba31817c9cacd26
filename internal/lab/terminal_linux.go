package lab

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

const (
	// endPatience is how long a program that was told to end may take before it is
	// told more firmly.
	endPatience = 2 * time.Second
	// stopPatience is how long this process waits to be stopped by its own signal: it
	// is not where no shell could let it go on.
	stopPatience = 100 * time.Millisecond
)

// foreground starts c, which has this process's terminal, and returns its exit
// status. What its keys send (interrupt, quit) the terminal sends to c, which
// decides what that means, as an interactive program does. Any other signal is
// passed on; after one that asks to end, c is told so more firmly.
func foreground(ctx context.Context, c *exec.Cmd, start func() error) (int, error) {
	signals, jobs := make(chan os.Signal, 8), make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP)
	signal.Notify(jobs, syscall.SIGCHLD, syscall.SIGCONT)
	defer signal.Stop(signals)
	defer signal.Stop(jobs)
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	tty := lendTerminal(c)
	defer tty.close()
	if err := start(); err != nil {
		return 0, err
	}
	done := make(chan error, 1)
	go func() { done <- c.Wait() }()
	var impatient, notStopped <-chan time.Time
	last := syscall.SIGTERM
	for {
		select {
		case err := <-done:
			return exitStatus(err)
		case s := <-signals:
			key := s == syscall.SIGINT || s == syscall.SIGQUIT
			if key && tty == nil && inForeground() {
				continue // the terminal has sent it to c too
			}
			c.Process.Signal(s)
			if s != syscall.SIGQUIT && impatient == nil {
				impatient = time.After(endPatience)
			}
		case <-impatient:
			c.Process.Signal(last)
			last, impatient = syscall.SIGKILL, time.After(endPatience)
		case s := <-jobs:
			if s == syscall.SIGCONT {
				tty.goOn(c.Process.Pid)
			} else if tty != nil && hasStopped(c.Process.Pid) {
				tty.stop()
				notStopped = time.After(stopPatience)
			}
		case <-notStopped:
			tty.goOn(c.Process.Pid)
		}
	}
}

// terminal is this process's, of which a program that it runs is the foreground
// process group, as a job of a shell is. In the group of this process it could not
// be: a shell in another PID namespace does not see that group, and cannot give the
// terminal back to it.
type terminal struct {
	file *os.File
	lent bool
}

// lendTerminal makes c begin with the terminal. It returns nil where there is
// none to lend: this process is not in the foreground, or c is in the middle of a
// pipeline, whose other programs may want the terminal too.
func lendTerminal(c *exec.Cmd) *terminal {
	for _, stream := range []any{c.Stdin, c.Stdout} {
		if f, ok := stream.(*os.File); !ok || !term.IsTerminal(int(f.Fd())) {
			return nil
		}
	}
	if !inForeground() {
		return nil
	}
	file, err := os.Open("/dev/tty")
	if err != nil {
		return nil
	}
	c.SysProcAttr = &syscall.SysProcAttr{Foreground: true, Ctty: int(file.Fd())}
	return &terminal{file, true}
}

// stop takes the terminal back and stops this process's job, as what was lent the
// terminal has stopped: ctrl-Z.
func (t *terminal) stop() {
	t.takeBack()
	syscall.Kill(0, syscall.SIGTSTP)
}

// goOn lets the program of that group go on, with the terminal if this process
// has it.
func (t *terminal) goOn(group int) {
	if t == nil {
		return
	}
	if inForeground() {
		t.lent = true
		t.give(group)
	}
	syscall.Kill(-group, syscall.SIGCONT)
}

// close takes the terminal back, if it was lent.
func (t *terminal) close() {
	if t != nil {
		t.takeBack()
		t.file.Close()
	}
}

func (t *terminal) takeBack() {
	if t.lent {
		t.lent = false
		t.give(unix.Getpgrp())
	}
}

// give makes a process group the terminal's foreground, which the kernel would
// stop one in the background for.
func (t *terminal) give(group int) {
	signal.Ignore(syscall.SIGTTOU)
	defer signal.Reset(syscall.SIGTTOU)
	unix.IoctlSetPointerInt(int(t.file.Fd()), unix.TIOCSPGRP, group)
}

// inForeground says whether this process has a terminal and is among those that
// its keys send signals to.
func inForeground() bool {
	tty, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	defer tty.Close()
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// hasStopped says whether a child has been stopped since it was last asked.
func hasStopped(pid int) bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, pid, &info, unix.WSTOPPED|unix.WNOHANG, nil)
	return err == nil && info.Signo != 0
}
