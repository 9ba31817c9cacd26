package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"
)

// Running is a lab that is up: a *Lab of this process, or a Kept one.
type Running interface {
	// Site returns where programs of a host run.
	Site(host string) (Site, error)
	// look returns what the links did so far, also when ctx has ended.
	look(ctx context.Context) (Status, error)
}

func (l *Lab) look(context.Context) (Status, error) { return l.Status(), nil }

func (k Kept) look(ctx context.Context) (Status, error) { return k.Status(context.WithoutCancel(ctx)) }

// Execution is a program to run on a host of a lab, and a shell command that
// serves it.
type Execution struct {
	On    string // the host
	Args  []string
	Serve string        // runs on the server meanwhile; "" is none
	Wait  time.Duration // how long Serve may take to listen
	Pcap  string        // folder for a packet capture of the program's host and the server's; "" is none
}

// Outcome is what became of an execution.
type Outcome struct {
	Status int    // the program's exit status
	Served int    // the exit status of Serve, where it had ended by itself, else 0
	Did    Status // what the links did meanwhile
}

// Run starts what serves, waits until it listens, runs the program with this
// process's terminal, and ends what serves. note is told what is to be known
// before the program runs. The error is a *ProgramError where the program cannot
// be run, and a *ServerError where Serve failed.
func (x Execution) Run(ctx context.Context, in Running, s Streams, note func(string)) (Outcome, error) {
	before, err := in.look(ctx)
	if err != nil {
		return Outcome{}, err
	}
	at, err := in.Site(x.On)
	if err != nil {
		return Outcome{}, err
	}
	captured, err := x.capture(in)
	if err != nil {
		return Outcome{}, err
	}
	end, err := x.serve(ctx, in, s.Stderr, note)
	if err != nil {
		return Outcome{}, errors.Join(err, captured())
	}
	status, runErr := at.Run(ctx, x.Args, s)
	after, err := in.look(ctx)
	served := end()
	if err = errors.Join(err, captured()); err != nil {
		return Outcome{}, errors.Join(runErr, err)
	}
	if err := errors.Join(runErr, err); err != nil {
		return Outcome{}, err
	}
	return Outcome{status, served, after.Since(before)}, nil
}

// capture begins packet captures; end ends them.
func (x Execution) capture(in Running) (end func() error, err error) {
	var running []*capture
	end = func() error {
		var err error
		for _, c := range running {
			err = errors.Join(err, c.end())
		}
		return err
	}
	if x.Pcap == "" {
		return end, nil
	}
	names := []string{x.On}
	if x.On != ServerHost {
		names = append(names, ServerHost)
	}
	for _, name := range names {
		at, err := in.Site(name)
		if err != nil {
			return nil, errors.Join(err, end())
		}
		c, err := startCapture(at, filepath.Join(x.Pcap, name+".pcapng"))
		if err != nil {
			return nil, errors.Join(err, end())
		}
		running = append(running, c)
	}
	return end, nil
}

// serve starts the command on the server, if there is one, and waits until it
// listens. end ends it and returns the exit status of one that had ended by itself.
func (x Execution) serve(ctx context.Context, in Running, out io.Writer, note func(string)) (end func() int,
	err error) {
	if x.Serve == "" {
		return func() int { return 0 }, nil
	}
	at, err := in.Site(ServerHost)
	if err != nil {
		return nil, err
	}
	server, err := at.Serve(x.Serve, out)
	if err != nil {
		return nil, err
	}
	silent, err := server.Await(ctx, x.Wait)
	if err != nil {
		server.End()
		return nil, err
	}
	if silent != "" {
		note(silent)
	}
	return server.End, nil
}

// announcement begins the line with which a holder says that its lab is up.
const announcement = "ready "

// Announce tells HoldInBackground, which reads what this process writes to w, that
// the lab is up.
func (k Kept) Announce(w io.Writer) error {
	data, err := json.Marshal(k)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s%s\n", announcement, data)
	return err
}

// HolderError is the error of a process that was to hold a lab and ended.
type HolderError struct {
	Status int    // its exit status
	Text   string // what it said
}

func (e *HolderError) Error() string { return e.Text }

// HoldInBackground runs this program again, with args, in a session of its own,
// where it is to call Hold and Announce, and returns the record of the lab once it
// is up.
func HoldInBackground(ctx context.Context, args []string) (Kept, error) {
	text, status, err := background(ctx, args, announcement)
	if err != nil {
		return Kept{}, err
	}
	if record, ok := strings.CutPrefix(text, announcement); ok {
		var k Kept
		if err := json.Unmarshal([]byte(record), &k); err != nil {
			return Kept{}, err
		}
		return FindKept(k.Name)
	}
	if text = strings.TrimSpace(strings.TrimPrefix(text, "wirerate: ")); text == "" {
		text = "the process that was to hold the lab ended without a message"
	}
	return Kept{}, &HolderError{status, text}
}
