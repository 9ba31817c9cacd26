package lab

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/wirerate/wirerate/internal/units"
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

// programName is what this program is called where it runs itself again.
const programName = "wirerate"

// Ended is the error of a process that ran the program again in another user
// namespace: that has done the work, and what is left is to end with its exit
// status.
type Ended struct{ Status int }

func (e *Ended) Error() string {
	return fmt.Sprintf("the program ended with status %d in another user namespace", e.Status)
}

// Streams are what a program reads and writes.
type Streams struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// adminFolders are where programs like sysctl and ip are, which the PATH of an
// ordinary user lacks: in a lab these may run them.
var adminFolders = []string{"/usr/local/sbin", "/usr/sbin", "/sbin"}

func (s Streams) command(args, environment []string) *exec.Cmd {
	c := exec.Command(args[0], args[1:]...)
	folders := filepath.SplitList(os.Getenv("PATH"))
	for _, folder := range adminFolders {
		if slices.Contains(folders, folder) {
			continue
		}
		folders = append(folders, folder)
		if errors.Is(c.Err, exec.ErrNotFound) {
			// The folder is named: what is not there stays not found.
			if path, err := exec.LookPath(filepath.Join(folder, args[0])); err == nil {
				c.Path, c.Err = path, nil
			}
		}
	}
	path := "PATH=" + strings.Join(folders, string(filepath.ListSeparator))
	c.Env = append(append(os.Environ(), path), environment...)
	c.Stdin, c.Stdout, c.Stderr = s.Stdin, s.Stdout, s.Stderr
	return c
}

// Site is a host of a lab as programs see it: the namespaces of a process, and the
// variables that a program there is given.
type Site struct {
	pid         int
	environment []string
}

// Run runs a program with this process's terminal and returns its exit status.
// Meanwhile this process passes its signals on. In a kept lab the caller is in
// the lab's user namespace (see Kept.Enter).
func (at Site) Run(ctx context.Context, args []string, s Streams) (int, error) {
	c := s.command(args, at.environment)
	return foreground(ctx, c, func() error { return startInside(at.pid, c) })
}

// Server is a shell command that runs on a lab's server.
type Server struct {
	at     Site
	before map[string]bool // what listened before it was started
	others map[int]bool    // and which daemons ran
	cmd    *exec.Cmd
	done   chan struct{} // closed when the command has ended
	status int           // its exit status, once done is closed
}

// Serve starts a shell command that serves others.
func (at Site) Serve(command string, out io.Writer) (*Server, error) {
	before, err := listeners(at.pid)
	if err != nil {
		return nil, err
	}
	c := Streams{Stdout: out, Stderr: out}.command([]string{"sh", "-c", command}, at.environment)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt is for the client's program
	c.WaitDelay = time.Second
	others := daemons(at.pid)
	if err := startInside(at.pid, c); err != nil {
		return nil, err
	}
	s := &Server{at: at, before: before, others: others, cmd: c, done: make(chan struct{})}
	go func() {
		s.status, _ = exitStatus(c.Wait())
		close(s.done)
	}()
	return s, nil
}

// Await waits until the command, or a daemon that it began, listens: on a port
// of TCP or UDP that others reach, or for packets as tcpdump does. It returns
// what stands in the way: an error where the command failed, a note where
// nothing listens after limit. A command that ended well and left no daemon had
// something else to do than to listen.
func (s *Server) Await(ctx context.Context, limit time.Duration) (note string, err error) {
	deadline := time.Now().Add(limit)
	ended := s.done
	for {
		runs := ended != nil || s.leftDaemon()
		now, err := listeners(s.at.pid)
		if err != nil {
			return "", err
		}
		for socket := range now {
			if !s.before[socket] {
				return "", nil
			}
		}
		if !runs {
			return "", nil
		}
		if !time.Now().Before(deadline) {
			return fmt.Sprintf("nothing listens on the server after %s; going on", units.Duration(limit)), nil
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-ended:
			if s.status != 0 {
				return "", &ServerError{s.status}
			}
			ended = nil
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// leftDaemon says whether a process runs that the command began and did not wait
// for.
func (s *Server) leftDaemon() bool {
	for pid := range daemons(s.at.pid) {
		if !s.others[pid] {
			return true
		}
	}
	return false
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

// background runs this program again in a session of its own and returns the
// first line that it writes that begins with ready. If it ends without one,
// it returns all that it wrote, and its exit status. The end of ctx before
// that line ends the program.
func background(ctx context.Context, args []string, ready string) (text string, status int, err error) {
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
	c.Args[0] = programName
	c.Stdout, c.Stderr = write, write
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = c.Start()
	write.Close()
	if err != nil {
		return "", 0, err
	}
	unbind := context.AfterFunc(ctx, func() { c.Process.Signal(syscall.SIGTERM) })
	for out := bufio.NewReader(read); err == nil; {
		var line string
		line, err = out.ReadString('\n')
		if err == nil && strings.HasPrefix(line, ready) && unbind() {
			return line, 0, nil
		}
		text += line
	}
	c.Wait()
	if err := ctx.Err(); err != nil {
		return "", 0, err
	}
	return text, c.ProcessState.ExitCode(), nil
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
