package lab

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// ErrNoProgram is the error of a program that is not installed.
var ErrNoProgram = exec.ErrNotFound

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

// Run runs a program with this process's terminal on a host of the lab and
// returns its exit status.
func (l *Lab) Run(ctx context.Context, name string, args []string, s Streams) (int, error) {
	c := s.command(args, l.Environment(name))
	return foreground(ctx, func() (*exec.Cmd, error) { return c, l.Start(name, c) })
}

// Run runs a program as Lab.Run does. self are this program's own arguments
// for the case that it has to enter the lab's namespaces first.
func (k Kept) Run(ctx context.Context, h KeptHost, args []string, s Streams, self []string) (int, error) {
	c := s.command(args, h.Environment)
	return foreground(ctx, func() (*exec.Cmd, error) { return k.StartIn(h, c, self) })
}

// Serve starts a shell command on the lab's server. The function it returns
// ends it; the command has a second to say its last words.
func (l *Lab) Serve(command string, out io.Writer) (end func(), err error) {
	server := Streams{Stdout: out, Stderr: out}.command([]string{"sh", "-c", command}, l.Environment(ServerHost))
	server.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt is for the client's program
	server.WaitDelay = time.Second
	if err := l.Start(ServerHost, server); err != nil {
		return nil, err
	}
	return func() {
		group := -server.Process.Pid
		syscall.Kill(group, syscall.SIGTERM)
		last := time.AfterFunc(time.Second, func() { syscall.Kill(group, syscall.SIGKILL) })
		defer last.Stop()
		server.Wait()
	}, nil
}

// Background runs this program again in a session of its own and returns the
// first line that it writes. If that does not begin with ready, it waits for
// the program to end and returns all that it wrote, and its exit status.
func Background(args []string, ready string) (text string, status int, err error) {
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
	out := bufio.NewReader(read)
	line, err := out.ReadString('\n')
	if err == nil && strings.HasPrefix(line, ready) {
		return line, 0, nil
	}
	rest, _ := io.ReadAll(out)
	c.Wait()
	return line + string(rest), c.ProcessState.ExitCode(), nil
}

// foreground runs a program with this process's terminal and returns its exit
// status. An interrupt from the terminal reaches it by itself; it decides when
// to end, and is ended if it does not.
func foreground(ctx context.Context, start func() (*exec.Cmd, error)) (int, error) {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	c, err := start()
	if err != nil {
		return 0, err
	}
	done := make(chan error, 1)
	go func() { done <- c.Wait() }()
	select {
	case err = <-done:
	case <-ctx.Done():
		err = endProgram(c, done)
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return 0, err
	}
	if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal()), nil
	}
	return exit.ExitCode(), nil
}

// endProgram ends a program, more firmly every two seconds.
func endProgram(c *exec.Cmd, done <-chan error) error {
	for _, s := range []os.Signal{nil, syscall.SIGTERM, syscall.SIGKILL} {
		if s != nil {
			c.Process.Signal(s)
		}
		select {
		case err := <-done:
			return err
		case <-time.After(2 * time.Second):
		}
	}
	return <-done
}
