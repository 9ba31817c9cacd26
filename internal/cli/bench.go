package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/change"
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/lab"
	"github.com/wirerate/wirerate/internal/trial"
	"github.com/wirerate/wirerate/internal/units"
	"github.com/wirerate/wirerate/internal/workload"
)

// benchFlags are what measure, trial and attribute share.
type benchFlags struct {
	tuneOptions
	workload string
	history  string
	noStore  bool
}

// add declares the shared flags.
func (f *benchFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.address, "address", "", "`address` at which HOST reaches the peer (default: the peer's name, or its first address)")
	flags.StringVar(&f.lab, "lab", "", "emulated path between two namespaces: `LINK`, such as rate=1gbit,rtt=50ms")
	flags.DurationVar(&f.spec.Duration, "run", 0, "counted time of one run (default: the workload's, or from the round-trip time)")
	flags.DurationVar(&f.spec.Omit, "omit", 0, "time before it that does not count (default: the workload's)")
	flags.IntVar(&f.spec.Streams, "streams", 0, "parallel connections or flows (default: the workload's)")
	flags.StringVar((*string)(&f.spec.Direction), "direction", "", "up, down or both, seen from HOST (default: the workload's)")
	flags.StringVar(&f.spec.Tool, "tool", "", "measuring tool (default: the first of the workload's that both hosts have)")
	flags.IntVar(&f.spec.Port, "port", 5201, "port of the measuring server; some tools take the next one too")
	flags.StringVar(&f.history, "history", "", "`file` of the history (default: ~/.local/state/wirerate/history.db)")
	flags.BoolVar(&f.noStore, "no-history", false, "keep nothing in the history")
}

// where checks which hosts are meant.
func (f *benchFlags) where() error {
	if (f.lab == "") == (f.peer == "") {
		return errors.New("give either --lab LINK, or HOST and --peer HOST")
	}
	if f.lab != "" && (f.host != "" || f.path != "" || f.address != "") {
		return errors.New("--lab brings its own hosts and path: HOST, --path and --address do not go with it")
	}
	if f.lab != "" {
		if _, err := lab.ParseLink(f.lab); err != nil {
			return err
		}
	}
	if f.path != "" && f.path != "auto" {
		if _, err := facts.ParsePath(f.path); err != nil {
			return err
		}
	}
	_, err := f.spec.WithDefaults(0)
	return err
}

// place names the hosts or the link.
func (f *benchFlags) place() string {
	if f.lab != "" {
		return "lab " + f.lab
	}
	from := f.host
	if from == "" {
		from = "local"
	}
	return from + " to " + f.peer
}

// benchSession is two open hosts on which runs are made under arms.
type benchSession struct {
	tuneSession
	flags benchFlags
	known bool // whether the path's rate and round-trip time are known
	rtt   time.Duration
}

// openBench connects to both ends.
func openBench(ctx context.Context, env *Env, flags benchFlags) (*benchSession, error) {
	c, err := catalog.Load()
	if err != nil {
		return nil, failure(err)
	}
	s := &benchSession{flags: flags, tuneSession: tuneSession{env: env, opt: flags.tuneOptions, catalog: c, client: end{side: "client"}, server: end{side: "server"}}}
	if flags.lab != "" {
		err = s.bringLab(ctx)
	} else {
		err = s.openHosts(ctx)
	}
	if err == nil {
		err = s.look(ctx)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// bringLab is a lab whose link need not have a rate or a round-trip time.
func (s *benchSession) bringLab(ctx context.Context) error {
	link, err := lab.ParseLink(s.flags.lab)
	if err != nil {
		return usage(err)
	}
	if s.path, err = pathOf(link); err == nil {
		s.known = true
	}
	s.rtt = link.RTT()
	return s.bringUp(ctx, link)
}

// look collects both hosts' facts, the address and what is known of the path.
func (s *benchSession) look(ctx context.Context) error {
	for _, e := range []*end{&s.client, &s.server} {
		f, err := facts.Collect(ctx, e.conn, facts.Options{})
		if err != nil {
			return environment(err)
		}
		e.facts = f
		e.tuned = trial.Side{Conn: e.conn, System: catalog.System(f.System)}
	}
	if s.lab != nil {
		return nil
	}
	var err error
	if s.address, err = s.serverAddress(); err != nil {
		return usage(err)
	}
	switch s.opt.path {
	case "":
		s.rtt = s.ping(ctx)
		return nil
	case "auto":
		err = s.measurePath(ctx)
	default:
		s.path, err = facts.ParsePath(s.opt.path)
		err = usage(err)
	}
	s.known, s.rtt = err == nil, s.path.RTT
	return err
}

// ping finds the round-trip time, from which runs get their length; 0 when
// the peer does not answer.
func (s *benchSession) ping(ctx context.Context) time.Duration {
	answers, err := s.client.conn.Do(ctx, host.Command("ping", "-n", "-c", "3", s.address).Within(8*time.Second))
	if err != nil {
		return 0
	}
	var least time.Duration
	for _, m := range pingTime.FindAllSubmatch(answers[0].Out, -1) {
		ms, err := strconv.ParseFloat(string(m[1]), 64)
		if d := time.Duration(ms * float64(time.Millisecond)); err == nil && (least == 0 || d < least) {
			least = d
		}
	}
	return least
}

// pair is the hosts of a run.
func (s *benchSession) pair() workload.Pair {
	return workload.Pair{Client: s.client.conn, Server: s.server.conn, Addr: s.address}
}

// prepare opens the journals for everything that the arms change and finds
// out what the kernels accept.
func (s *benchSession) prepare(ctx context.Context, arms []*armValues, within time.Duration) (*trial.Bench, error) {
	for _, e := range []*end{&s.client, &s.server} {
		order := unionOrder(arms, e.side)
		if len(order) == 0 {
			continue
		}
		opt := change.Options{StateDir: s.journalDir(e), Now: time.Now(), Within: within, SkipAbsent: true}
		c, err := change.Begin(ctx, e.conn, e.tuned.System, order, opt)
		if err != nil {
			if errors.Is(err, change.ErrPending) {
				return nil, usage(err)
			}
			return nil, environment(err)
		}
		e.tuned.Change = c
		for _, name := range order {
			if why, absent := c.Absent[name]; absent {
				for _, a := range arms {
					if _, ok := a.of(e.side)[name]; ok {
						delete(a.of(e.side), name)
						a.note("%s: %s is not there and left out: %s", e.conn.Name(), name, strings.TrimSpace(why))
					}
				}
				continue
			}
			e.tuned.Order = append(e.tuned.Order, name)
		}
	}
	bench := &trial.Bench{Client: s.client.tuned, Server: s.server.tuned, Addr: s.address, Look: s.watchLab}
	values := make([]trial.Values, len(arms))
	for i, a := range arms {
		values[i] = a.values
	}
	notes, err := bench.ProbeArms(ctx, values)
	if err != nil {
		return nil, environment(err)
	}
	for i, a := range arms {
		a.notes = append(a.notes, notes[i]...)
	}
	return bench, s.judgeArms(arms)
}

// judgeArms refuses arms of which nothing can be applied.
func (s *benchSession) judgeArms(arms []*armValues) error {
	for _, a := range arms {
		for _, n := range a.notes {
			s.warnings = append(s.warnings, fmt.Sprintf("arm %s: %s", a.name, n))
			s.env.note("arm %s: %s", a.name, n)
		}
		if a.wanted > 0 && len(a.values.Client)+len(a.values.Server) == 0 {
			why := ""
			if len(a.notes) > 0 {
				why = ": " + a.notes[len(a.notes)-1]
			}
			return missing(fmt.Errorf("arm %s cannot be applied: nothing is left of its settings%s", a.name, why))
		}
	}
	return nil
}

// watchLab sees whether the emulator kept up during a run.
func (s *benchSession) watchLab() func(*workload.Run) {
	if s.lab == nil {
		return func(*workload.Run) {}
	}
	up, down := s.lab.Stats()
	return func(r *workload.Run) {
		laterUp, laterDown := s.lab.Stats()
		for i, d := range []lab.Stats{since(up, laterUp), since(down, laterDown)} {
			if !d.KeptUp() {
				r.Warnings = append(r.Warnings, workload.Warning{Code: workload.CodeEmulator, Value: float64(d.Late) / float64(max(1, d.Units)),
					Text: fmt.Sprintf("the link emulator was behind for %.1f%% of what it carried %s: this machine, not only the path, shaped the run",
						100*float64(d.Late)/float64(max(1, d.Units)), []string{"up", "down"}[i])})
				return
			}
		}
	}
}

// since is what a link did between two looks at it.
func since(a, b lab.Stats) lab.Stats {
	return lab.Stats{Units: b.Units - a.Units, Segments: b.Segments - a.Segments, Late: b.Late - a.Late, WorstLate: b.WorstLate,
		DropMemory: b.DropMemory - a.DropMemory, DropKernel: b.DropKernel - a.DropKernel}
}

// amount prints a metric's value with its unit.
func amount(m workload.Metric, v float64) string {
	switch m.Unit {
	case "bit/s":
		return units.Rate(v).String()
	case "s":
		return units.Duration(time.Duration(v * float64(time.Second)))
	case "share":
		return fmt.Sprintf("%.3g%%", 100*v)
	case "1/s":
		return fmt.Sprintf("%.4g/s", v)
	}
	return fmt.Sprintf("%.4g", v)
}
