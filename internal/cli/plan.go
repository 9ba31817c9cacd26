package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/change"
	"github.com/wirerate/wirerate/internal/compare"
	"github.com/wirerate/wirerate/internal/conffile"
	"github.com/wirerate/wirerate/internal/experiment"
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/input"
	"github.com/wirerate/wirerate/internal/outdir"
	"github.com/wirerate/wirerate/internal/plan"
	"github.com/wirerate/wirerate/internal/report"
	"github.com/wirerate/wirerate/internal/units"
)

type planOptions struct {
	host, system, version string
	memory, nicRate, disk string
	cores, queues, ring   int
	disks                 int
	diskIOPS              float64
	diskLatency           string
	diskFrom              string
	driver, numa          string
	path, role, peer      string
	load                  plan.Load
	harden, why           bool
	compare               string
	out                   outputFolder
	export                []string
	conn                  host.Conn // to the host; nil for one that is recorded or described
}

func newPlanCmd(env *Env) *cobra.Command {
	var opt planOptions
	cmd := &cobra.Command{
		Use:   "plan [HOST | --os SYSTEM] --path PATH --role ROLE",
		Short: "Compute what a path, a role and a machine need",
		Long: `Plan computes what a host needs for a path and a role: for each setting the
formula with its numbers, the evidence that it matters, the risk and how to
undo it. The same inputs give the same plan. Nothing is changed; use wirerate
apply to apply a plan.

HOST is local, ns:NAME, ssh://[user@]name[:port] or a capture; see wirerate help
hosts, also for sudo and doas. With --os a plan is made for a machine that is
only described.`,
		Example: `  wirerate plan --path rate=1gbit,rtt=80ms --role bulk
  wirerate plan ssh://root@web1 --path rate=10gbit,rtt=30ms \
    --role web --connections 50000 -o plan/
  wirerate plan --os freebsd --version 14.2 --memory 64GiB --cores 16 --nic ix \
    --disks 4 --disk-rate 2GB --disk-iops 400000 --disk-latency 80us \
    --path rate=10gbit,rtt=50ms --role file
  wirerate plan --path rate=1gbit,rtt=20ms --role web --compare sysctl.conf`,
		Args: cobra.MaximumNArgs(1),
	}
	format := formatFlag(cmd, "text", "json")
	f := cmd.Flags()
	f.StringVar(&opt.system, "os", "", "plan for a described machine of this `system`: freebsd, openbsd or linux")
	f.StringVar(&opt.version, "version", "", "`release` of the system, such as 14.2")
	f.StringVar(&opt.memory, "memory", "", "the machine's memory, a `size` such as 64GiB")
	f.IntVar(&opt.cores, "cores", 0, "`number` of the machine's processors")
	f.StringVar(&opt.driver, "nic", "", "the machine's network interfaces, as `NIC`,...: a driver (ix, mlx5_core), a "+
		"name of a BSD (ix0), or NAME:DRIVER (eth0:igb)")
	f.StringVar(&opt.nicRate, "nic-rate", "", "speed of the interface, a `rate` such as 10gbit")
	f.StringVar(&opt.numa, "numa", "", "processors of the interfaces' NUMA node, as `LIST`, such as 0-15 or 0,2,4")
	f.IntVar(&opt.queues, "queues", 0, "`number` of receive queues of each interface")
	f.IntVar(&opt.ring, "ring-max", 0, "`length` of the largest ring of each interface")
	f.StringVar(&opt.disk, "disk-rate", "", "sustained write `rate` of all disks together, per second, such as 2GB")
	f.IntVar(&opt.disks, "disks", 0, "`number` of the machine's disks")
	countFlag(f, &opt.diskIOPS, "disk-iops", "`number` of operations per second of one disk")
	f.StringVar(&opt.diskLatency, "disk-latency", "", "`time` that one operation of a disk takes, such as 80us")
	f.StringVar(&opt.diskFrom, "disk-from", "",
		"take the disks' figures from `FILE`, the output of wirerate measure disk --json")
	f.StringVar(&opt.path, "path", "", "the `PATH`: rate=1gbit,rtt=80ms[,loss=1e-5][,mtu=1500], a profile of wirerate "+
		"lab profiles, a packet capture that shows it, or auto")
	f.StringVar(&opt.peer, "peer", "", "with --path auto: the `HOST` to which the path is measured")
	roleVar(f, &opt.role, "", "`role` of the host: "+strings.Join(catalog.Roles(), ", "))
	countFlag(f, &opt.load.Connections, "connections", "`number` of TCP connections open at once (default: by role)")
	countFlag(f, &opt.load.ConnRate, "conn-rate", "`number` of new connections per second (default: by role)")
	countFlag(f, &opt.load.PacketRate, "packet-rate", "`number` of packets per second (default: by role)")
	countFlag(f, &opt.load.States, "states", "`number` of firewall states at once (default: by role)")
	countFlag(f, &opt.load.Hosts, "hosts", "`number` of neighbours on the attached networks (default: by role)")
	f.BoolVar(&opt.harden, "harden", false, "add the settings that improve security, each with its cost")
	f.BoolVar(&opt.why, "why", false, "show formula, numbers, evidence, risk and sources of each setting")
	opt.out.declare(cmd, "plan.json and the system's own files")
	f.StringSliceVar(&opt.export, "export", nil, "`forms` to write into the folder as well: ansible, tuned, script")
	f.StringVar(&opt.compare, "compare", "", "compare this configuration `FILE` with the plan, line by line")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 {
			opt.host = hostName(args[0])
		}
		for _, name := range []string{"cores", "queues", "ring-max", "disks"} {
			if flag := cmd.Flag(name); flag.Changed && flag.Value.String() == "0" {
				return usagef("--%s 0: leave it out when it is not known", name)
			}
		}
		return planVerb(cmd.Context(), env, opt, *format)
	}
	return cmd
}

func planVerb(ctx context.Context, env *Env, opt planOptions, how string) error {
	request, err := opt.request(ctx, env)
	if opt.conn != nil {
		defer opt.conn.Close()
	}
	if err != nil {
		return err
	}
	c, err := catalog.Load()
	if err != nil {
		return failure(err)
	}
	p, err := opt.make(ctx, c, request)
	if err != nil {
		return err
	}
	if opt.compare != "" {
		return env.comparePlan(c, p, opt.compare, how)
	}
	if opt.out.dir != "" {
		if err := writePlan(env, p, opt); err != nil {
			return err
		}
	}
	if how == "json" {
		return env.printJSON(p)
	}
	report.PlanText(env.screen(), p, opt.why)
	return nil
}

// make plans for the host that is connected, else for the machine as it is known.
func (o *planOptions) make(ctx context.Context, c *catalog.Catalog, r plan.Request) (plan.Plan, error) {
	if o.conn == nil {
		p, err := plan.Make(c, r)
		return p, usage(err)
	}
	p, err := change.MakePlan(ctx, o.conn, c, r)
	if errors.Is(err, host.ErrUnreachable) {
		return p, missing(err)
	}
	return p, usage(err)
}

// comparePlan puts a configuration file beside the plan.
func (e *Env) comparePlan(c *catalog.Catalog, p plan.Plan, file, how string) error {
	text, err := input.Text(file, conffile.MaxSize)
	if err != nil {
		return usage(err)
	}
	beside, err := compare.File(c, p, file, text)
	if err != nil {
		return usage(err)
	}
	if how == "json" {
		return e.printJSON(beside)
	}
	report.Compared(e.screen(), beside)
	return nil
}

// request reads the flags and inspects the host.
func (o *planOptions) request(ctx context.Context, env *Env) (plan.Request, error) {
	r := plan.Request{Role: o.role, Load: o.load, Harden: o.harden}
	if err := checkRole(o.role); err != nil {
		return r, usage(err)
	}
	if o.path == "" {
		return r, usagef("--path is missing; write it like --path rate=1gbit,rtt=80ms")
	}
	var err error
	if o.path == "auto" && (o.system != "" || recorded(o.host)) {
		return r, usagef("--path auto measures from a running HOST: declare the path, like --path rate=1gbit,rtt=80ms")
	}
	if len(o.export) > 0 && o.out.dir == "" {
		return r, usagef("--export needs a folder: -o DIR")
	}
	if err := o.out.check("plan.json"); err != nil {
		return r, usage(err)
	}
	if r.Machine, err = o.machine(ctx, env); err != nil {
		return r, err
	}
	if err := o.describe(&r.Machine); err != nil {
		return r, usage(err)
	}
	r.Path, err = env.pathTo(ctx, o.path, o.host, o.peer)
	return r, err
}

// machine inspects the host, unless one is only described.
func (o *planOptions) machine(ctx context.Context, env *Env) (plan.Machine, error) {
	release, said := plan.ReleaseOf(catalog.System(strings.ToLower(o.system)), o.version)
	system, version, err := parseSystem(o.system, release)
	if err != nil {
		return plan.Machine{}, usage(err)
	}
	if system != "" {
		if o.host != "" {
			return plan.Machine{}, usagef("give HOST or --os, not both")
		}
		m := plan.Machine{System: system, Release: version}
		if said != "" {
			m.Assumed = []string{said}
		}
		return m, nil
	}
	f, err := o.collect(ctx, env)
	if err != nil {
		return plan.Machine{}, err
	}
	m := plan.MachineOf(f)
	m.Namespace = strings.HasPrefix(o.host, "ns:")
	return m, nil
}

// collect reads the facts of the host and stays connected to one that runs.
func (o *planOptions) collect(ctx context.Context, env *Env) (f *facts.Facts, err error) {
	if recorded(o.host) {
		return collect(ctx, env, o.host, 0)
	}
	if o.conn, err = env.open(ctx, o.host); err != nil {
		return nil, err
	}
	return collectLive(ctx, o.conn, 0)
}

// describe adds what the flags say about the machine; they win over what was
// seen.
func (o *planOptions) describe(m *plan.Machine) error {
	if o.cores < 0 || o.cores > 1<<16 {
		return fmt.Errorf("--cores %d: a number of processors is expected", o.cores)
	}
	if o.cores > 0 {
		m.Cores = o.cores
	}
	if o.memory != "" {
		memory, err := memorySize(o.memory)
		if err != nil {
			return err
		}
		m.Memory = memory
	}
	if m.Page == 0 {
		m.Page = 4096
	}
	if o.nicRate != "" {
		rate, err := units.ParseRate(o.nicRate)
		if err != nil {
			return fmt.Errorf("--nic-rate: %w", err)
		}
		if rate <= 0 {
			return fmt.Errorf("--nic-rate %q: a rate above 0 is expected", o.nicRate)
		}
		m.NICRate = rate
	}
	if err := o.describeDisks(m); err != nil {
		return err
	}
	if o.queues < 0 || o.queues > 1<<12 || o.ring < 0 || o.ring > 1<<20 {
		return fmt.Errorf("--queues %d, --ring-max %d: numbers of queues and descriptors are expected", o.queues, o.ring)
	}
	if (o.queues > 0 || o.ring > 0 || o.numa != "") && (o.driver == "" || o.system == "") {
		return errors.New("--queues, --ring-max and --numa describe the interfaces of a machine that is only " +
			"described: give --os and --nic too")
	}
	if o.driver == "" {
		return nil
	}
	nics, assumed, err := plan.DescribedInterfaces(m.System, o.driver)
	if err != nil {
		return fmt.Errorf("--nic: %w", err)
	}
	m.Driver = nics[0].Driver
	if o.system == "" {
		return nil // the host's own interfaces are known
	}
	local, err := processors(o.numa, m.Cores)
	if err != nil {
		return fmt.Errorf("--numa: %w", err)
	}
	for i := range nics {
		nics[i].Rate, nics[i].Queues, nics[i].RingMax, nics[i].Cores = m.NICRate, o.queues, o.ring, local
	}
	m.Interfaces, m.Assumed = nics, append(m.Assumed, assumed...)
	return nil
}

// processors reads a list of processors as the systems write it: 0-3,8.
func processors(list string, all int) ([]int, error) {
	if list == "" {
		return nil, nil
	}
	var cores []int
	for _, part := range strings.Split(list, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, err := strconv.Atoi(first)
		to, err2 := strconv.Atoi(last)
		if err != nil || err2 != nil || from < 0 || to < from || to >= 1<<16 {
			return nil, fmt.Errorf("%q: processors such as 0-15 or 0,2,4 are expected", list)
		}
		if all > 0 && to >= all {
			return nil, fmt.Errorf("%q: the machine has processors 0 to %d (--cores)", list, all-1)
		}
		for c := from; c <= to; c++ {
			if !slices.Contains(cores, c) {
				cores = append(cores, c)
			}
		}
	}
	slices.Sort(cores)
	return cores, nil
}

// describeDisks reads what the flags say about the disks.
func (o *planOptions) describeDisks(m *plan.Machine) error {
	if o.disks < 0 || o.disks > 1<<16 {
		return fmt.Errorf("--disks %d: a number of disks is expected", o.disks)
	}
	m.Disks = o.disks
	if o.diskFrom != "" {
		figures, err := readDisk(o.diskFrom)
		if err != nil {
			return err
		}
		figures.Describe(m)
	}
	if o.disk != "" {
		rate, err := units.ParseBytes(strings.TrimSuffix(o.disk, "/s"))
		if err != nil {
			return fmt.Errorf("--disk-rate: %w", err)
		}
		if rate <= 0 {
			return fmt.Errorf("--disk-rate %q: a rate above 0 is expected", o.disk)
		}
		m.DiskRate = float64(rate)
	}
	if (o.diskIOPS != 0) != (o.diskLatency != "") {
		return fmt.Errorf("--disk-iops and --disk-latency are needed together: their product is the " +
			"queue that keeps a disk busy")
	}
	if o.diskLatency == "" {
		return nil
	}
	latency, err := units.ParseDuration(o.diskLatency)
	if err != nil {
		return fmt.Errorf("--disk-latency: %w", err)
	}
	if !(o.diskIOPS > 0 && o.diskIOPS < 1e9) || latency <= 0 {
		return fmt.Errorf("--disk-iops %g, --disk-latency %s: numbers above 0 are expected", o.diskIOPS, o.diskLatency)
	}
	m.DiskDepth = experiment.DiskDepth(o.diskIOPS, latency.Seconds())
	return nil
}

// writePlan writes the plan and the files of its system.
func writePlan(env *Env, p plan.Plan, opt planOptions) error {
	data, err := indentedJSON(p)
	if err != nil {
		return failure(err)
	}
	files := append([]plan.File{{Name: "plan.json", Content: string(data)}}, plan.NativeFiles(p, plan.All)...)
	files = append(files, plan.Shown(p)...)
	for _, kind := range opt.export {
		export, err := plan.Export(p, kind)
		if err != nil {
			return usage(err)
		}
		files = append(files, export...)
	}
	var names []string
	var written []outdir.File
	for _, f := range files {
		names = append(names, filepath.Join(opt.out.dir, f.Name))
		written = append(written, outdir.File{Name: f.Name, Data: []byte(f.Content), Mode: f.Mode})
	}
	if err := opt.out.write(written...); err != nil {
		return err
	}
	env.note("written: %s", strings.Join(names, ", "))
	return nil
}

// recordedHost refuses a capture where a live host is needed.
func recordedHost(conn host.Conn, verb string) error {
	if _, ok := conn.(*host.Replay); ok {
		return usagef("%s is a capture: %s needs a live host", conn.Name(), verb)
	}
	return nil
}
