// Package host is the only door to a machine: the local one, a network
// namespace, one behind ssh, or a recorded one. Everything above is written
// against Conn, so that it works the same on all of them.
package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"
)

// Conn is a connection to one host.
type Conn interface {
	// Name is the host as the user names it: local, ns:a, ssh://root@b.
	Name() string
	// Do performs the operations in order in one round trip and answers each.
	// An operation that fails does not stop the others unless it is marked
	// Must; those after it are answered with Skipped. The error is about
	// reaching the host: what failed there is in the answers.
	Do(ctx context.Context, ops ...Op) ([]Answer, error)
	// Start runs a command until it ends or is stopped.
	Start(ctx context.Context, args ...string) (Process, error)
	// Close ends the connection and what Start left running.
	Close() error
}

// Process is a command that Start began.
type Process interface {
	// Stop ends the command if it still runs and returns what it printed.
	Stop() Answer
	// Ended reports whether the command has ended by itself.
	Ended() bool
}

// Action is what an operation does.
type Action string

// The actions of an operation.
const (
	ActRead  Action = "read"  // a file's content
	ActList  Action = "list"  // the paths that match a pattern, a line each
	ActRun   Action = "run"   // a command
	ActWrite Action = "write" // a whole file, atomically and durably
	ActPoke  Action = "poke"  // a value into a file of /proc/sys or /sys
	ActTable Action = "table" // a table of the kernel, over netlink
)

// Table is what the kernel tells over netlink, without a program started. It is
// read on this machine and in its namespaces; other hosts answer with Absent.
type Table string

// The tables. Connections is in the binary form of sock_diag(7): each message,
// without its header, behind its length, both in the machine's byte order.
// Devices is lines: interface, counter, value.
const (
	Connections Table = "connections" // struct inet_diag_msg with TCP_INFO and memory
	Devices     Table = "devices"     // counters of interfaces and of their queues

	ConnectionList Table = "connection list" // the ConnectionHead of each, one behind the other
	ConnectionsOf  Table = "connections of"  // as Connections, of those whose ConnectionHeads are the operation's data
)

// ConnectionHead is the size of struct inet_diag_msg: a socket's addresses, state,
// cookie and queues.
const ConnectionHead = 72

// ReadTable returns the operation that reads a table of at most 64 MiB.
func ReadTable(t Table) Op { return Op{Action: ActTable, Path: string(t)} }

// Op is one operation on a host.
type Op struct {
	Action Action
	Path   string
	Args   []string // of a command
	Data   []byte   // what is written, or a command's standard input; of a table, room for the answer
	Mode   fs.FileMode
	// Must stops the batch when the operation fails.
	Must bool
	// Limit bounds a command's time; 0 means a minute. Here and in namespaces
	// the command is then ended. Behind ssh only its answer is given up: what
	// it started there, a dead-man timer perhaps, is not to die with it.
	Limit time.Duration
}

// Read returns the operation that reads a file of at most 64 MiB.
func Read(path string) Op { return Op{Action: ActRead, Path: path} }

// List returns the operation that lists the paths matching a shell pattern.
func List(pattern string) Op { return Op{Action: ActList, Path: pattern} }

// Command returns the operation that runs a command, without a shell.
func Command(args ...string) Op { return Op{Action: ActRun, Args: args} }

// Script returns the operation that runs a POSIX shell script given as text.
func Script(script string) Op {
	return Op{Action: ActRun, Args: []string{"sh", "-s"}, Data: []byte(script)}
}

// Write returns the operation that replaces a file: written under a temporary
// name beside it, flushed to the disk, renamed. Missing folders are made.
func Write(path string, data []byte, mode fs.FileMode) Op {
	return Op{Action: ActWrite, Path: path, Data: data, Mode: mode}
}

// Poke returns the operation that writes a value into an existing file of a
// kernel file system.
func Poke(path, value string) Op { return Op{Action: ActPoke, Path: path, Data: []byte(value)} }

// OrStop returns the operation marked Must.
func (o Op) OrStop() Op { o.Must = true; return o }

// Within returns the operation with a bound on its command's time.
func (o Op) Within(limit time.Duration) Op { o.Limit = limit; return o }

// String names the operation as messages and captures do.
func (o Op) String() string {
	if o.Action == ActRun {
		return strings.Join(o.Args, " ")
	}
	return o.Path
}

// Failure classifies why an operation failed.
type Failure string

// The failures of an operation.
const (
	None     Failure = ""
	Absent   Failure = "absent"    // no such file, command or device
	Denied   Failure = "denied"    // no permission
	ReadOnly Failure = "read-only" // read-only file or file system
	Refused  Failure = "refused"   // the kernel does not accept the value
	Full     Failure = "full"      // no space left on the device
	TimedOut Failure = "timed-out"
	Failed   Failure = "failed" // anything else, a command's exit status above all
	Skipped  Failure = "skipped"
)

// Answer is what an operation returned.
type Answer struct {
	Op      Op
	Out     []byte
	Stderr  string
	Status  int // a command's exit status
	Failure Failure
}

// Text returns the output without surrounding white space.
func (a Answer) Text() string { return string(bytes.TrimSpace(a.Out)) }

// ErrRefused is wrapped by the error of an answer with that failure.
var ErrRefused = errors.New("value refused by the kernel")

// Err returns nil for success, else an error that says what failed and wraps
// fs.ErrNotExist, fs.ErrPermission, ErrRefused or context.DeadlineExceeded
// where they apply.
func (a Answer) Err() error {
	if a.Failure == None {
		return nil
	}
	detail := Reason(a.Stderr)
	if detail == "" {
		detail = string(a.Failure)
		if a.Status != 0 {
			detail = fmt.Sprintf("exit status %d", a.Status)
		}
	}
	return &opError{fmt.Sprintf("%s: %s", a.Op, detail), a.Failure}
}

type opError struct {
	text string
	why  Failure
}

func (e *opError) Error() string { return e.text }

func (e *opError) Is(target error) bool {
	switch e.why {
	case Absent:
		return target == fs.ErrNotExist
	case Denied, ReadOnly:
		return target == fs.ErrPermission
	case Refused:
		return target == ErrRefused
	case TimedOut:
		return target == context.DeadlineExceeded
	}
	return false
}

// Run runs one command and returns its standard output.
func Run(ctx context.Context, c Conn, args ...string) (string, error) {
	a, err := One(ctx, c, Command(args...))
	return string(a.Out), err
}

// ReadFile reads one file.
func ReadFile(ctx context.Context, c Conn, path string) ([]byte, error) {
	a, err := One(ctx, c, Read(path))
	return a.Out, err
}

// One performs a single operation and returns its failure as an error.
func One(ctx context.Context, c Conn, op Op) (Answer, error) {
	answers, err := c.Do(ctx, op)
	if err != nil {
		return Answer{Op: op, Failure: Failed}, fmt.Errorf("%s: %w", c.Name(), err)
	}
	if err := answers[0].Err(); err != nil {
		return answers[0], fmt.Errorf("%s: %w", c.Name(), err)
	}
	return answers[0], nil
}
