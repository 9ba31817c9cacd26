// Package workload measures what a path carries: it drives real tools, or its
// own generator where they are missing, and turns what they print into runs.
package workload

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/stats"
)

// Direction is which way the data of a workload goes.
type Direction string

// The directions of a workload, seen from the client.
const (
	Up   Direction = "up"   // client to server
	Down Direction = "down" // server to client
	Both Direction = "both" // both ways at once
)

// Spec is what to measure.
type Spec struct {
	Workload  string        // a Kind's name; empty means bulk
	Streams   int           // parallel connections or flows, 1 to 128; of requests, clients, up to 100000
	Direction Direction     // empty means Up
	Duration  time.Duration // that counts
	Omit      time.Duration // before it, for the connection to reach its pace
	Tool      string        // one of the workload's tools, or empty for the first that is there
	Port      int           // 0 means 5201
	Dir       string        // of disk: where it makes its files; empty means DiskDir
	Size      int64         // of disk: bytes of its file; 0 means DiskSize or a quarter of what is free
	From      string        `json:",omitempty"` // of live: where its metric comes from
}

// Pair is the two hosts of a measurement. The client reaches the server at
// Addr. A workload that is Alone has the client only.
type Pair struct {
	Client, Server host.Conn
	Addr           string
}

// Run is one execution of a workload.
type Run struct {
	Tool  string    `json:"tool"`
	Start time.Time `json:"start"`
	// GoodputBPS is the payload that arrived, in bit/s, all streams and both
	// directions together, the omitted start left out.
	GoodputBPS float64 `json:"goodput_bps"`
	// Retransmits counts segments sent again; -1 when the tool cannot tell.
	Retransmits int64 `json:"retransmits"`
	// MeanRTT is the senders' smoothed round-trip time in s; 0 when not known.
	MeanRTT float64 `json:"mean_rtt_s,omitempty"`
	// Metrics are what the workload measures, by name, in base units.
	Metrics map[string]float64 `json:"metrics,omitempty"`
	// Unknown are metrics that this run could not measure, with the reason.
	Unknown map[string]string `json:"unknown,omitempty"`
	// Counted is the time that the tool says it measured, in s; 0 when it
	// does not say.
	Counted float64 `json:"counted_s,omitempty"`
	// IntervalsBPS is the goodput of each second, for a look at its course.
	IntervalsBPS []float64 `json:"intervals_bps,omitempty"`
	// CPU is the busy part of the hosts' processors, 0 to 1.
	Client *CPU `json:"client_cpu,omitempty"`
	Server *CPU `json:"server_cpu,omitempty"`
	// ClientKernel and ServerKernel are what the kernels counted meanwhile.
	ClientKernel *Kernel `json:"client_kernel,omitempty"`
	ServerKernel *Kernel `json:"server_kernel,omitempty"`
	// Router and RouterKernel are the same of a host between the two, where
	// one is observed.
	Router       *CPU      `json:"router_cpu,omitempty"`
	RouterKernel *Kernel   `json:"router_kernel,omitempty"`
	Warnings     []Warning `json:"warnings,omitempty"`
	// Limit is what bounded the run; nil where that is not known.
	Limit *Limit `json:"limit,omitempty"`
	Raw   string `json:"-"`
}

// Value returns a metric of the run.
func (r Run) Value(metric string) (float64, bool) {
	if metric == Goodput || metric == "" {
		return r.GoodputBPS, r.GoodputBPS > 0
	}
	switch metric {
	case Retransmits:
		return float64(r.Retransmits), r.Retransmits >= 0
	case MeanRTT:
		return r.MeanRTT, r.MeanRTT > 0
	case ClientCPU:
		return r.Client.busy()
	case ServerCPU:
		return r.Server.busy()
	}
	v, ok := r.Metrics[metric]
	return v, ok
}

func (c *CPU) busy() (float64, bool) {
	if c == nil {
		return 0, false
	}
	return c.Busy, true
}

// Beside are metrics of every run that show what a gain costs; smaller is
// better.
func Beside() []string {
	return []string{Retransmits, MeanRTT, ClientCPU, ServerCPU}
}

// ErrTool is wrapped when a measuring tool is missing or failed.
var ErrTool = errors.New("measuring tool")

const defaultPort = 5201

// ErrDisturbed is wrapped, beside ErrTool, when something outside the
// measurement spoilt a run.
var ErrDisturbed = errors.New("disturbed from outside")

// DisturbedError is ErrTool and ErrDisturbed with what disturbed a run.
type DisturbedError struct{ Why string }

func (e *DisturbedError) Error() string {
	return ErrTool.Error() + ": " + ErrDisturbed.Error() + ": " + e.Why
}

// Is tells what e is besides itself.
func (e *DisturbedError) Is(target error) bool { return target == ErrTool || target == ErrDisturbed }

// Why says why a run was lost.
func Why(err error) string {
	var disturbed *DisturbedError
	if errors.As(err, &disturbed) {
		return disturbed.Why
	}
	return err.Error()
}

// check reports a specification that cannot be run.
func (s Spec) check() error {
	if s.Workload == "" {
		s.Workload = "bulk"
	}
	kind, err := FindKind(s.Workload)
	switch {
	case err != nil:
		return err
	case kind.Name == Live:
		return nil
	case s.Streams < 1 || s.Streams > kind.mostStreams():
		return fmt.Errorf("streams %d: 1 to %d are possible", s.Streams, kind.mostStreams())
	case s.Direction != "" && s.Direction != Up && s.Direction != Down && s.Direction != Both:
		return fmt.Errorf("direction %q: up, down or both is expected", s.Direction)
	case s.Duration < time.Second || s.Duration > time.Hour:
		return fmt.Errorf("duration %s: 1s to 1h is possible", s.Duration)
	case s.Omit < 0 || s.Omit > time.Minute:
		return fmt.Errorf("omit %s: 0 to 60s is possible", s.Omit)
	case s.Port < 0 || s.Port > 65000:
		return fmt.Errorf("port %d: 1 to 65000 is possible", s.Port)
	case s.Tool != "" && !slices.Contains(kind.Tools, s.Tool):
		return fmt.Errorf("tool %q: for %s one of %s is expected", s.Tool, kind.Name, strings.Join(kind.Tools, ", "))
	}
	return s.checkDisk(kind.Alone)
}

// Measure runs the workload once.
func Measure(ctx context.Context, p Pair, s Spec) (Run, error) {
	if err := s.check(); err != nil {
		return Run{}, err
	}
	if s.Workload == "" {
		s.Workload = "bulk"
	}
	kind, err := FindKind(s.Workload)
	if err != nil {
		return Run{}, err
	}
	if kind.Name == Live {
		return Run{}, fmt.Errorf("%w: %s is not a load; wirerate trial --metric-from reads it", ErrMissing, Live)
	}
	if kind.Alone {
		return measureDisk(ctx, p.Client, kind, s)
	}
	if s.Direction == "" {
		s.Direction = kind.Direction
	}
	if s.Port == 0 {
		s.Port = defaultPort
	}
	d, err := p.choose(ctx, kind, s)
	if err != nil {
		return Run{}, err
	}
	if err := p.portFree(ctx, s.Port); err != nil {
		return Run{}, err
	}
	asked := s.Streams
	var short Limit
	s.Streams, short = p.room(ctx, asked)
	crowd := crowdOf(asked, s.Streams, short)
	watch, err := startWatch(ctx, p, s)
	if err != nil {
		return Run{}, err
	}
	start := time.Now()
	run, err := d.run(ctx, p, s)
	end := time.Now()
	elapsed := end.Sub(start)
	tele := watch.finish(ctx)
	if ctx.Err() != nil {
		return Run{}, fmt.Errorf("%w: %w", ErrTool, ctx.Err())
	}
	if err != nil {
		return Run{}, crowded(fmt.Errorf("%w: %w", ErrTool, err), crowd)
	}
	if by := clockStep(end.Round(0).Sub(start.Round(0)), elapsed); by != 0 {
		return Run{}, clockSet(by)
	}
	run.Tool, run.Start = d.tool, start
	if d.tool == "builtin" && len(d.instead) > 0 {
		slices.Sort(d.instead)
		run.warn(CodeBuiltin, 1, "measured with the built-in server and client: %s",
			strings.Join(slices.Compact(d.instead), ", "))
	}
	if short.Code != "" {
		run.warn(short.Code, float64(s.Streams), "%s", crowd)
	}
	tele.attach(&run)
	run.bounded(kind, s)
	if l := run.Limit; short.Code != "" && (l == nil || l.Code == LimitRoundTrip || l.Code == LimitClients) {
		run.Limit = &short
	}
	run, err = run.complete(kind, s, elapsed)
	return run, crowded(err, crowd)
}

// crowdOf says how many connections a run was to have, where they are many.
func crowdOf(asked, possible int, short Limit) string {
	switch {
	case short.Code != "":
		return fmt.Sprintf("%d connections were asked for, and %d are possible: %s", asked, possible, short.Text)
	case asked > mostClients:
		return fmt.Sprintf("%d connections were asked for", asked)
	}
	return ""
}

// crowded is an error of a run, with how many connections that was to have where
// they are many.
func crowded(err error, crowd string) error {
	if err == nil || crowd == "" {
		return err
	}
	return fmt.Errorf("%w; %s; ask for fewer with --streams", err, crowd)
}

// startUpSeconds is the fewest seconds of a run that show a start-up.
const startUpSeconds = 20

func clockSet(by time.Duration) error {
	return &DisturbedError{fmt.Sprintf("this machine's clock was set by %s during the run, by which tools measure", by)}
}

// clockStep is by how much the clock was set during a time, of which wall is
// what the clock says and elapsed what really passed; 0 for what an NTP daemon
// slews at most (0.05%, adjtimex(2)) and reading both takes.
func clockStep(wall, elapsed time.Duration) time.Duration {
	by := (wall - elapsed).Round(time.Millisecond)
	if by.Abs() <= 20*time.Millisecond+elapsed/1000 {
		return 0
	}
	return by
}

// complete checks a run's numbers against what was asked for.
func (r Run) complete(kind Kind, s Spec, elapsed time.Duration) (Run, error) {
	if r.Metrics == nil {
		r.Metrics = map[string]float64{}
	}
	if r.GoodputBPS > 0 {
		r.Metrics[Goodput] = r.GoodputBPS
	}
	primary := kind.Primary()
	v, known := r.Metrics[primary.Name]
	if !known && primary.Name != Goodput {
		return Run{}, fmt.Errorf("%w: %s does not tell %s (%s)", ErrTool, r.Tool, primary.Name, primary.Means)
	}
	if !(v > 0) {
		why := ""
		if r.Limit != nil {
			why = ": " + r.Limit.Text
		}
		return Run{}, fmt.Errorf("%w: %s measured no %s at all%s", ErrTool, r.Tool, primary.Name, why)
	}
	if want := s.Duration.Seconds(); r.Counted > 0 && (r.Counted < 0.8*want || r.Counted > 1.5*want+1) {
		return Run{}, fmt.Errorf("%w: %s measured %.1f s where %.1f s were asked for", ErrTool, r.Tool, r.Counted, want)
	}
	if elapsed < s.Duration && !kind.Search { // a search ends when it knows
		return Run{}, fmt.Errorf("%w: %s ended after %s where %s were asked for",
			ErrTool, r.Tool, elapsed.Round(time.Millisecond), s.Duration)
	}
	// Intervals are seconds: a long run shows whether its start was left out.
	if w, ok := stats.CheckStartUp(r.IntervalsBPS, 0); ok && len(r.IntervalsBPS) >= startUpSeconds {
		r.warn(w.Code, w.Value, "%s", w.Text)
	}
	if why := r.disturbance(); why != "" {
		return Run{}, &DisturbedError{why}
	}
	return r, nil
}
