package lab

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// ProgramError is the error of a program that cannot be run: it is not there, or
// is none.
type ProgramError struct {
	Program string
	Err     error
}

func (e *ProgramError) Error() string {
	if errors.Is(e.Err, exec.ErrNotFound) {
		return e.Program + " is not installed"
	}
	return fmt.Sprintf("cannot run %s: %v", e.Program, e.Err)
}

func (e *ProgramError) Unwrap() error { return e.Err }

// Streams are what a program reads and writes.
type Streams struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

func (s Streams) command(args, environment []string) *exec.Cmd {
	c := exec.Command(args[0], args[1:]...)
	c.Env = append(os.Environ(), environment...)
	c.Stdin, c.Stdout, c.Stderr = s.Stdin, s.Stdout, s.Stderr
	return c
}

// site is where programs of a lab run: the namespaces of a process, and the
// variables that a program there is given.
type site struct {
	pid         int
	environment []string
}

// Run runs a program with this process's terminal on a host of the lab and
// returns its exit status. Meanwhile this process passes its signals on.
func (l *Lab) Run(ctx context.Context, name string, args []string, s Streams) (int, error) {
	at, err := l.site(name)
	if err != nil {
		return 0, err
	}
	return at.run(ctx, args, s)
}

// Run runs a program as Lab.Run does. The caller is in the lab's user namespace
// (see Kept.Enter).
func (k Kept) Run(ctx context.Context, name string, args []string, s Streams) (int, error) {
	at, err := k.site(name)
	if err != nil {
		return 0, err
	}
	return at.run(ctx, args, s)
}

func (at site) run(ctx context.Context, args []string, s Streams) (int, error) {
	c := s.command(args, at.environment)
	return foreground(ctx, c, func() error { return startInside(at.pid, c) })
}

// Serve starts a shell command on the lab's server.
func (l *Lab) Serve(command string, out io.Writer) (*Server, error) {
	at, err := l.site(ServerHost)
	if err != nil {
		return nil, err
	}
	return at.serve(command, out)
}

// Serve starts a shell command on the kept lab's server.
func (k Kept) Serve(command string, out io.Writer) (*Server, error) {
	at, err := k.site(ServerHost)
	if err != nil {
		return nil, err
	}
	return at.serve(command, out)
}

// Server is a shell command that runs on a lab's server.
type Server struct {
	at     site
	before map[string]bool // what listened before it was started
	cmd    *exec.Cmd
	done   chan struct{} // closed when the command has ended
	status int           // its exit status, once done is closed
}

func (at site) serve(command string, out io.Writer) (*Server, error) {
	before, err := listeners(at.pid)
	if err != nil {
		return nil, err
	}
	c := Streams{Stdout: out, Stderr: out}.command([]string{"sh", "-c", command}, at.environment)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt is for the client's program
	c.WaitDelay = time.Second
	if err := startInside(at.pid, c); err != nil {
		return nil, err
	}
	s := &Server{at: at, before: before, cmd: c, done: make(chan struct{})}
	go func() {
		s.status, _ = exitStatus(c.Wait())
		close(s.done)
	}()
	return s, nil
}

// daemonGrace is how long after its start a daemon may begin to listen, whose
// first process has ended already.
const daemonGrace = time.Second

// Await waits until the command, or a daemon that it began, listens: on a port
// of TCP or UDP that others reach, or for packets as tcpdump does. It returns
// what stands in the way: an error where the command failed, a note where
// nothing listens after limit. A command that ended well had something else to
// do than to listen.
func (s *Server) Await(ctx context.Context, limit time.Duration) (note string, err error) {
	deadline := time.Now().Add(limit)
	ended := s.done
	for {
		now, err := listeners(s.at.pid)
		if err != nil {
			return "", err
		}
		for socket := range now {
			if !s.before[socket] {
				return "", nil
			}
		}
		if ended == nil && !time.Now().Before(deadline) {
			return "", nil
		}
		if !time.Now().Before(deadline) {
			return fmt.Sprintf("nothing listens on the server after %s; going on", limit), nil
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-ended:
			if s.status != 0 {
				return "", &ServerError{s.status}
			}
			ended = nil
			if grace := time.Now().Add(daemonGrace); grace.Before(deadline) {
				deadline = grace
			}
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// ServerError is a server's command that failed.
type ServerError struct{ Status int }

func (e *ServerError) Error() string {
	return fmt.Sprintf("the command on the server ended with status %d before it listened", e.Status)
}

// End ends the command, which has a second to say its last words. It returns the
// exit status of one that had ended by itself, else 0.
func (s *Server) End() int {
	select {
	case <-s.done:
		return s.status
	default:
	}
	group := -s.cmd.Process.Pid
	syscall.Kill(group, syscall.SIGTERM)
	last := time.AfterFunc(time.Second, func() { syscall.Kill(group, syscall.SIGKILL) })
	defer last.Stop()
	<-s.done
	return 0
}

// Background runs this program again in a session of its own and returns the
// first line that it writes. If that does not begin with ready, it waits for
// the program to end and returns all that it wrote, and its exit status. The end
// of ctx before that line ends the program.
func Background(ctx context.Context, args []string, ready string) (text string, status int, err error) {
	read, write, err := os.Pipe()
	if err != nil {
		return "", 0, err
	}
	defer read.Close()
	program, err := os.Executable()
	if err != nil {
		return "", 0, err
	}
	c := exec.Command(program, args...)
	c.Args[0] = os.Args[0]
	c.Stdout, c.Stderr = write, write
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = c.Start()
	write.Close()
	if err != nil {
		return "", 0, err
	}
	unbind := context.AfterFunc(ctx, func() { c.Process.Signal(syscall.SIGTERM) })
	out := bufio.NewReader(read)
	line, err := out.ReadString('\n')
	if err == nil && strings.HasPrefix(line, ready) && unbind() {
		return line, 0, nil
	}
	rest, _ := io.ReadAll(out)
	c.Wait()
	if err := ctx.Err(); err != nil {
		return "", 0, err
	}
	return line + string(rest), c.ProcessState.ExitCode(), nil
}

// endPatience is how long a program that was told to end may take before it is told
// more firmly.
const endPatience = 2 * time.Second

// foreground starts c, which has this process's terminal, and returns its exit
// status. What its keys send (interrupt, quit) the terminal has sent to c too,
// which decides what that means, as an interactive program does. Any other signal
// is passed on; after one that asks to end, c is told so more firmly.
func foreground(ctx context.Context, c *exec.Cmd, start func() error) (int, error) {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if err := start(); err != nil {
		return 0, err
	}
	done := make(chan error, 1)
	go func() { done <- c.Wait() }()
	var impatient <-chan time.Time
	last := syscall.SIGTERM
	for {
		select {
		case err := <-done:
			return exitStatus(err)
		case s := <-signals:
			key := s == syscall.SIGINT || s == syscall.SIGQUIT
			if key && inForeground() {
				continue
			}
			c.Process.Signal(s)
			if s != syscall.SIGQUIT && impatient == nil {
				impatient = time.After(endPatience)
			}
		case <-impatient:
			c.Process.Signal(last)
			last, impatient = syscall.SIGKILL, time.After(endPatience)
		}
	}
}

// exitStatus returns the exit status that Wait's error tells of, as a shell
// counts: 128 and the number of the signal that ended the program.
func exitStatus(err error) (int, error) {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return 0, err
	}
	if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal()), nil
	}
	return exit.ExitCode(), nil
}
