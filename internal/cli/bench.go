package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/lab"
	"github.com/wirerate/wirerate/internal/netpath"
	"github.com/wirerate/wirerate/internal/plan"
	"github.com/wirerate/wirerate/internal/trial"
	"github.com/wirerate/wirerate/internal/units"
	"github.com/wirerate/wirerate/internal/workload"
)

// benchFlags are what measure, trial, attribute and tune share.
type benchFlags struct {
	host, peer, address string
	lab, path, role     string
	via                 string // a host between the two
	router              bool   // a router in the lab
	out                 string
	budget              time.Duration
	spec                workload.Spec
	pairs               int
	margin              float64
	seed                uint64
	command             string
	workload            string
	history             string
	noStore             bool
	size                string // of the file of the workload disk
	diskFrom            string // figures of the planned hosts' disks
	given               func(flag string) bool
}

// add declares the shared flags.
func (f *benchFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	f.given = flags.Changed
	flags.StringVar(&f.address, "address", "", "`address` at which HOST reaches the peer (default: the peer's name, or its first address)")
	flags.StringVar(&f.lab, "lab", "", "emulated path between two namespaces: `LINK`, such as rate=1gbit,rtt=50ms")
	flags.DurationVar(&f.spec.Duration, "run", 0, "counted time of one run (default: the workload's, or from the round-trip time)")
	flags.DurationVar(&f.spec.Omit, "omit", 0, "time at the start of a run that does not count (default: the workload's)")
	flags.IntVar(&f.spec.Streams, "streams", 0, "parallel connections or flows (default: the workload's)")
	flags.StringVar((*string)(&f.spec.Direction), "direction", "", "`direction` of the data: up, down or both, seen from HOST (default: the workload's)")
	flags.StringVar(&f.spec.Tool, "tool", "", "measuring `tool` (default: the first of the workload's that both hosts have)")
	flags.IntVar(&f.spec.Port, "port", 5201, "port of the measuring server; some tools take the next one too")
	flags.StringVar(&f.history, "history", "", historyUsage)
	flags.BoolVar(&f.noStore, "no-history", false, "keep nothing in the history")
}

// addPlanned declares what the arm plan is told beside the path and the role.
func (f *benchFlags) addPlanned(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.diskFrom, "disk-from", "", "for the arm plan, take the hosts' disks' figures from `FILE`, the output of wirerate measure disk --json")
}

// where checks which hosts are meant.
func (f *benchFlags) where() error {
	if err := f.parseSize(); err != nil {
		return err
	}
	if f.diskFrom != "" {
		if err := measuredDisk(f.diskFrom, &plan.Machine{}); err != nil {
			return err
		}
	}
	if err := f.whereRouter(); err != nil {
		return err
	}
	if f.alone() {
		return f.whereAlone()
	}
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
		if _, err := netpath.Parse(f.path); err != nil {
			return err
		}
	}
	if f.given("streams") && f.spec.Streams == 0 {
		return errors.New("streams 0: 1 to 128 are possible")
	}
	_, err := f.spec.WithDefaults(0)
	return err
}

// fullSpec is what to measure on a path of a round-trip time; a start that is
// given as 0s is none.
func (f *benchFlags) fullSpec(rtt time.Duration) (workload.Spec, error) {
	spec, err := f.spec.WithDefaults(rtt)
	if f.given("omit") {
		spec.Omit = f.spec.Omit
	}
	return spec, err
}

// place names the hosts or the link.
func (f *benchFlags) place() string {
	if f.lab != "" && f.router {
		return "lab " + f.lab + " with a router"
	}
	if f.lab != "" {
		return "lab " + f.lab
	}
	from := f.host
	if from == "" {
		from = "local"
	}
	if f.alone() {
		return from + ":" + cmp.Or(f.spec.Dir, workload.DiskDir)
	}
	if f.via != "" {
		return from + " to " + f.peer + " via " + f.via
	}
	return from + " to " + f.peer
}

// end is one end of the path, or the router between them.
type end struct {
	side  string // client, server or router
	conn  host.Conn
	facts *facts.Facts
	plan  plan.Plan
	tuned trial.Side
	tried map[string]string // runtime settings of the plan and their values
}

// benchSession is two open hosts on which runs are made under arms, and what
// must be put back when it ends.
type benchSession struct {
	env            *Env
	flags          benchFlags
	catalog        *catalog.Catalog
	lab            *lab.Lab
	link           lab.Link
	stateDir       string // of a lab's journals, removed with it
	client, server end
	router         end // without a connection where the trial has none
	address        string
	path           netpath.Path
	known          bool // whether the path's rate and round-trip time are known
	rtt            time.Duration
	warnings       []string
	watch          watch
}

// openBench connects to both ends.
func openBench(ctx context.Context, env *Env, flags benchFlags) (*benchSession, error) {
	c, err := catalog.Load()
	if err != nil {
		return nil, failure(err)
	}
	s := &benchSession{env: env, flags: flags, catalog: c, client: end{side: "client"}, server: end{side: "server"}, router: end{side: "router"}}
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
	s.rtt, s.link = link.RTT(), link
	if err := lab.EnterUserNamespace(ctx); err != nil {
		return labError(err)
	}
	if s.stateDir, err = host.TempDir("lab"); err != nil {
		return failure(err)
	}
	if s.lab, err = lab.Bring(ctx, s.flags.labTopology(link)); err != nil {
		return labError(err)
	}
	s.client.conn, s.server.conn, s.address = s.lab.Client(), s.lab.Server(), s.lab.PeerAddr()
	if s.flags.router {
		s.router.conn = s.lab.Host(lab.RouterHost)
	}
	s.env.note("lab is up: %s", link)
	return nil
}

// pathOf describes a lab's link as a path.
func pathOf(link lab.Link) (netpath.Path, error) {
	p := netpath.Path{Rate: link.Up.Rate, RTT: link.Up.Delay + link.Down.Delay, Loss: link.Up.Loss.Rate(), MTU: link.PathMTU()}
	if p.Rate == 0 {
		return p, errors.New("--lab: a rate is needed to plan for the path, such as rate=1gbit,rtt=50ms")
	}
	if p.RTT == 0 {
		return p, errors.New("--lab: a round-trip time is needed to plan for the path, such as rate=1gbit,rtt=50ms")
	}
	return p, p.Check()
}

func (s *benchSession) openHosts(ctx context.Context) (err error) {
	if s.client.conn, err = s.openLive(ctx, s.flags.host); err != nil {
		return err
	}
	if s.flags.alone() {
		return nil
	}
	if s.server.conn, err = s.openLive(ctx, s.flags.peer); err != nil || s.flags.via == "" {
		return err
	}
	s.router.conn, err = s.openLive(ctx, s.flags.via)
	return err
}

func (s *benchSession) openLive(ctx context.Context, name string) (host.Conn, error) {
	c, err := s.env.open(ctx, name)
	if _, recorded := c.(*host.Replay); recorded {
		return nil, usagef("%s is a capture: live hosts are needed; try wirerate inspect or plan", name)
	}
	return c, err
}

// look collects both hosts' facts, the address and what is known of the path.
func (s *benchSession) look(ctx context.Context) error {
	for _, e := range s.hosts() {
		f, err := facts.Collect(ctx, e.conn, facts.Options{})
		if err != nil {
			return environment(err)
		}
		e.facts = f
		e.tuned = trial.Side{Conn: e.conn, System: f.System}
	}
	if s.lab != nil {
		return nil
	}
	var err error
	if s.flags.alone() {
		s.path, err = s.flags.declaredPath()
		s.known = s.path.Rate > 0
		return usage(err)
	}
	if s.address, err = s.serverAddress(); err != nil {
		return usage(err)
	}
	switch s.flags.path {
	case "":
		s.rtt, err = s.ping(ctx, 3)
		if err != nil {
			s.rtt = 0 // runs then have the length of a short path
		}
		return nil
	case "auto":
		err = s.measurePath(ctx)
	default:
		s.path, err = netpath.Parse(s.flags.path)
		err = usage(err)
	}
	s.known, s.rtt = err == nil, s.path.RTT
	return err
}

// pair is the hosts of a run.
func (s *benchSession) pair() workload.Pair {
	return workload.Pair{Client: s.client.conn, Server: s.server.conn, Addr: s.address}
}

func (s *benchSession) close() {
	if s.lab != nil {
		s.lab.Close()
		os.RemoveAll(s.stateDir)
		return
	}
	for _, e := range s.hosts() {
		if e.conn != nil {
			e.conn.Close()
		}
	}
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
	case "B/s":
		return units.Bytes(v).String() + "/s"
	}
	return fmt.Sprintf("%.4g", v)
}
