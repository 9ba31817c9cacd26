// Package experiment makes runs on hosts and concludes from them: a workload by
// itself, arms against each other, a suite of workloads, the settings of an arm
// told apart, and all of it for a plan. It leaves the hosts as they were. It
// knows no terminal: a Sink is told what happens, and results are values.
package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/wirerate/wirerate/internal/change"
	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/lab"
	"github.com/wirerate/wirerate/internal/lab/link"
	"github.com/wirerate/wirerate/internal/netpath"
	"github.com/wirerate/wirerate/internal/store"
	"github.com/wirerate/wirerate/internal/trial"
	"github.com/wirerate/wirerate/internal/workload"
)

// Sink is told what happens while an experiment runs.
type Sink interface {
	Note(text string)
	Progress(p trial.Progress)
}

// Config is what an experiment is to be.
type Config struct {
	// Host, Peer and Via, a router between them, are names that Open takes.
	Host, Peer, Via string
	Open            func(ctx context.Context, name string) (host.Conn, error)
	Address         string // at which Host reaches Peer; empty: found out

	Lab    string    // the emulated path as it was given; empty: between Host and Peer
	Link   link.Link // the same
	Router bool      // in the lab

	Path        netpath.Path // declared; the zero Path is none
	MeasurePath bool
	Role        string       // of the hosts, for plans
	Disk        *DiskFigures // of the planned hosts; nil: not known

	Spec     workload.Spec // zero fields get the workload's defaults
	KeepOmit bool          // an Omit of 0 is meant
	// Live makes a run of the workload live; nil of the others.
	Live   func(context.Context, workload.Spec) (workload.Run, error)
	Metric string        // that decides; empty: the workload's first
	Arms   []Arm         // the first one is the reference
	Suite  string        // run for each row of it; empty: Spec alone
	Pairs  int           // at most; 0: what Budget allows
	Budget time.Duration // for all runs together
	Margin float64       // smallest relative change that is worthwhile
	Seed   uint64        // of the order of runs

	OneAtATime bool // attribution: each setting alone against none
	NoShares   bool // tune: without attribution

	Verbose   bool   // each note by itself, however many there are of a kind
	History   string // its file; empty: the user's own
	NoHistory bool
	Resumed   string   // ID of the experiment to go on with
	Args      []string // from which another session makes the same Config
	Command   string   // that makes the experiment again
	// Out is the folder to which the results go; empty: to none. It is only named.
	Out string
	// CommandFor is how a user types commands about the changes of a host, named as
	// it was given to Open; nil: with the connection's name alone.
	CommandFor func(host string) change.Command

	Sink Sink

	kind string // of the experiment, in the history
	// rowsLeft is the time of the rows of a suite that follow.
	rowsLeft time.Duration

	group string // ID of a suite's first experiment
	row   int    // of the suite
}

// The kinds of experiments in the history.
const (
	kindMeasure     = "measure"
	kindTrial       = "trial"
	kindAttribution = "attribution"
	kindTune        = "tune"
)

// Routed tells whether a host between the ends is what the arms set.
func (c *Config) Routed() bool { return c.Via != "" || c.Router }

// Alone tells whether the workload runs on one host.
func (c *Config) Alone() bool {
	kind, err := workload.FindKind(c.Spec.Workload)
	return err == nil && kind.Alone && (kind.Name != workload.Live || c.Peer == "")
}

// Place names the hosts or the link.
func (c *Config) Place() string {
	if c.Lab != "" && c.Router {
		return "lab " + c.Lab + " with a router"
	}
	if c.Lab != "" {
		return "lab " + c.Lab
	}
	from := cmp.Or(c.Host, "local")
	if c.Alone() && c.Spec.From != "" {
		return from
	}
	if c.Alone() {
		return from + ":" + cmp.Or(c.Spec.Dir, workload.DiskDir)
	}
	if c.Via != "" {
		return from + " to " + c.Peer + " via " + c.Via
	}
	return from + " to " + c.Peer
}

// fullSpec is what to measure on a path of a round-trip time.
func (c *Config) fullSpec(rtt time.Duration) (workload.Spec, error) {
	spec, err := c.Spec.WithDefaults(rtt)
	if c.KeepOmit {
		spec.Omit = c.Spec.Omit
	}
	return spec, err
}

func (c *Config) note(format string, args ...any) { c.Sink.Note(fmt.Sprintf(format, args...)) }

// Reason is the class of an Error.
type Reason uint8

// The reasons.
const (
	Input   Reason = iota + 1 // what was asked for is wrong
	Missing                   // the environment lacks something
	Failed                    // the rest
)

// Error ends an experiment.
type Error struct {
	Reason Reason
	Err    error
}

func (e *Error) Error() string { return e.Err.Error() }

func (e *Error) Unwrap() error { return e.Err }

// Interrupted is an error of an experiment of which runs are in the history,
// from where it can go on.
type Interrupted struct {
	Err         error
	ID          string
	Runs, Pairs int // so far; Pairs 0 also where there are none
}

func (e *Interrupted) Error() string { return e.Err.Error() }

func (e *Interrupted) Unwrap() error { return e.Err }

// withReason gives err a reason unless it has one.
func withReason(reason Reason, err error) error {
	var has *Error
	if err == nil || errors.As(err, &has) {
		return err
	}
	return &Error{reason, err}
}

func wrong(err error) error { return withReason(Input, err) }

func wrongf(format string, args ...any) error { return wrong(fmt.Errorf(format, args...)) }

func failed(err error) error { return withReason(Failed, err) }

// classified tells an environment that lacks something from a failure.
func classified(err error) error {
	switch {
	case errors.Is(err, workload.ErrMissing):
		return withReason(Missing, err)
	case errors.Is(err, workload.ErrTool):
		return failed(err)
	case errors.Is(err, host.ErrUnreachable), errors.Is(err, os.ErrPermission), errors.Is(err, lab.ErrUnavailable):
		return withReason(Missing, err)
	}
	return failed(err)
}

// OpenHistory opens the history of a file, or the user's own where it is empty.
func OpenHistory(ctx context.Context, file string) (*store.Store, error) {
	return openHistory(ctx, file, store.Open)
}

// ReadHistory opens a history to be read alone.
func ReadHistory(ctx context.Context, file string) (*store.Store, error) {
	return openHistory(ctx, file, store.Read)
}

func openHistory(ctx context.Context, file string,
	open func(context.Context, string) (*store.Store, error)) (*store.Store, error) {
	if file == "" {
		var err error
		if file, err = store.DefaultPath(); err != nil {
			return nil, withReason(Missing, err)
		}
	}
	s, err := open(ctx, file)
	if errors.Is(err, store.ErrDamaged) {
		return nil, failed(err)
	}
	return s, withReason(Missing, err)
}
