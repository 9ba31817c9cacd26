package cli

import (
	"context"
	"encoding/json"
	"errors"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/diagnose"
	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/netpath"
	"github.com/wirerate/wirerate/internal/terminal"
	"github.com/wirerate/wirerate/internal/units"
	"github.com/wirerate/wirerate/internal/watch"
	"github.com/wirerate/wirerate/internal/watch/record"
	"github.com/wirerate/wirerate/internal/watch/screen"
)

type watchOptions struct {
	path, role, lasts, interval, failOn, onFinding string
	record, replay, at, peer                       string
	beside                                         besideOptions
}

func newWatchCmd(env *Env) *cobra.Command {
	var opt watchOptions
	cmd := &cobra.Command{
		Use:   "watch [HOST...]",
		Args:  cobra.ArbitraryArgs,
		Short: "Watch what limits a host now, and since when",
		Long: `Sample hosts every second: each TCP connection, the interfaces, the
processors and the kernel's counters. The current limit, and since when, comes
first: the program, the send buffer, the peer's window, a peer that reads
slowly, slow start, losses, a full queue, a policer, a full accept queue, device
drops. On this machine and in its namespaces no program is started for this;
over ssh it runs ss, every five seconds by default, and on FreeBSD and OpenBSD
netstat, every ten, which shows less: what is missing is listed. With more than
2000 connections each sample reads those that are active or waiting; others that
become active are found within some seconds. Nothing is changed.

On a terminal it is a screen, which ? explains. Elsewhere, and with --format
text, a line is printed for each sample of each host, with --json an object. It
runs until it is interrupted, or for the time of --for.

--probe measures loss and round trips from this machine, each probe when it is
due, whatever became of those before. --switch reads what the port of a switch
counts over SNMP. Both stand in the states of the first HOST. --metrics serves
it all to Prometheus. docs/watch.md has more.`,
		Example: `  wirerate watch
  wirerate watch ns:router ssh://web1 --path rate=1gbit,rtt=80ms
  wirerate watch ssh://web1 --peer ssh://backup
  wirerate watch --for 10m --fail-on warning
  wirerate watch --json | jq -r .verdict.limit
  wirerate watch --record /var/lib/wirerate-watch
  wirerate watch --replay /var/lib/wirerate-watch --at 3h
  wirerate watch --probe icmp:192.0.2.1 --probe tcp:web1:443
  wirerate watch --switch snmp://192.0.2.2/lldp --switch-auth /etc/wirerate/snmp
  wirerate watch --metrics 127.0.0.1:9747 --record /var/lib/wirerate-watch
  wirerate watch --on-finding 'mail -s "wirerate" root'`,
	}
	format := formatFlag(cmd, "screen", "text", "json")
	f := cmd.Flags()
	f.StringVar(&opt.path, "path", "", "the `path`: rate=1gbit,rtt=80ms[,loss=1e-5][,mtu=1500]")
	f.StringVar(&opt.peer, "peer", "",
		"`host` at the other end of the path, watched as well: shows which end limits\nthe flows between them")
	roleVar(f, &opt.role, "", "`role` of the host: "+strings.Join(catalog.Roles(), ", "))
	f.StringVar(&opt.interval, "interval", "",
		"`time` between two samples, from 200ms to 10m (default: 1s; 5s over ssh;\n10s for a BSD)")
	f.StringVar(&opt.lasts, "for", "", "end after this `time`, such as 10m")
	f.StringVar(&opt.failOn, "fail-on", "", "exit with status 1 if a limit or problem of this `severity` or above "+
		"was\nseen: error, warning, info")
	f.StringVar(&opt.onFinding, "on-finding", "", "shell `command` to run when a limit or problem begins, with its "+
		"description\non standard input as JSON")
	f.StringVar(&opt.record, "record", "", "`folder` to record in: each state for a day, minutes for a month, hours "+
		"for\na year, 1 GiB at most")
	f.StringVar(&opt.replay, "replay", "", "show what was recorded in a `folder`")
	f.StringVar(&opt.at, "at", "", "with --replay, the `time` to begin at: 2026-11-22T03:00, or 3h for 3 hours ago")
	opt.beside.flags(f)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return opt.run(cmd.Context(), env, args, *format)
	}
	return cmd
}

// hosts are those that are watched.
func (opt watchOptions) hosts(names []string) []string {
	if len(names) == 0 {
		names = []string{"local"}
	}
	if opt.peer != "" {
		names = append(slices.Clone(names), opt.peer)
	}
	return names
}

func (opt watchOptions) run(ctx context.Context, env *Env, names []string, how string) error {
	shared := inspectOptions{path: opt.path, role: opt.role, failOn: opt.failOn}
	path, _, err := shared.check()
	if err != nil {
		return usage(err)
	}
	interval, err := watchTime("--interval", opt.interval, 200*time.Millisecond, 10*time.Minute)
	if err != nil {
		return usage(err)
	}
	lasts, err := watchTime("--for", opt.lasts, 100*time.Millisecond, 100*365*24*time.Hour)
	if err != nil {
		return usage(err)
	}
	if err := opt.together(names); err != nil {
		return err
	}
	names = opt.hosts(names)
	debug.SetGCPercent(30) // it runs for months beside other programs, and leaves little garbage
	ctx, cancel := context.WithCancel(ctx)
	if lasts > 0 {
		ctx, cancel = context.WithTimeout(ctx, lasts)
	}
	defer cancel()
	out := &watchOutput{env: env, json: how == "json", many: len(names) > 1, onFinding: opt.onFinding,
		failOn: diagnose.Severity(opt.failOn), begun: map[string]map[string]bool{}}
	onScreen := how == "screen" && env.columns() > 0
	if opt.replay != "" {
		err = opt.play(ctx, cancel, out, onScreen)
	} else {
		err = opt.live(ctx, cancel, out, liveSources{names, interval, path}, onScreen)
	}
	if err != nil {
		return err
	}
	out.commands.Wait()
	if out.failed {
		return negative()
	}
	return failure(out.err)
}

// together refuses flags that do not go with each other.
func (opt watchOptions) together(names []string) error {
	if opt.replay == "" && opt.at != "" {
		return usagef("--at is for --replay")
	}
	if opt.replay != "" && (len(names) > 0 || opt.peer != "" || opt.record != "" || opt.interval != "" ||
		opt.lasts != "" || opt.beside.any()) {
		return usagef("--replay shows what was recorded: HOST, --peer, --record, --interval, --for, --probe, --switch and " +
			"--metrics do not go with it")
	}
	return nil
}

// liveSources are the hosts that are watched now, how often, and their path.
type liveSources struct {
	names    []string
	interval time.Duration
	path     netpath.Path
}

// live watches hosts, with probes and a switch's port beside them.
func (opt watchOptions) live(ctx context.Context, cancel func(), out *watchOutput, from liveSources,
	onScreen bool) (err error) {
	if opt.record != "" {
		if out.recording, err = record.Create(opt.record); err != nil {
			return environment(err)
		}
		defer out.recording.Close()
	}
	beside, err := opt.beside.start(ctx, from.names)
	if err != nil {
		return err
	}
	defer beside.close()
	follow := func(tell func(watch.State)) error {
		return followAll(ctx, cancel, out.env, from.names, from.interval, from.path, opt.role, func(s watch.State) {
			beside.add(&s)
			tell(s)
		})
	}
	if onScreen {
		return out.onScreen(cancel, screen.New(from.names), follow)
	}
	return follow(out.tell)
}

// followAll watches hosts side by side; the first one that cannot be watched ends
// it for all.
func followAll(ctx context.Context, cancel func(), env *Env, names []string, interval time.Duration, path netpath.Path,
	role string, tell func(watch.State)) error {
	errs := make([]error, len(names))
	joiner := watch.NewJoiner()
	var mu sync.Mutex
	var wait sync.WaitGroup
	for i, name := range names {
		wait.Go(func() {
			o := watch.Options{Interval: interval, Path: path, Role: role, Name: name,
				Open: func(ctx context.Context) (host.Conn, error) { return env.open(ctx, name) }}
			errs[i] = watch.Follow(ctx, o, func(s watch.State) {
				mu.Lock()
				defer mu.Unlock()
				joiner.Join(&s)
				tell(s)
			})
			if errs[i] != nil {
				cancel()
			}
		})
	}
	wait.Wait()
	for _, err := range errs {
		switch {
		case err == nil, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		case errors.Is(err, host.ErrUnreachable), errors.Is(err, watch.ErrSystem):
			return missing(err)
		default:
			return environment(err)
		}
	}
	return nil
}

func watchTime(flag, text string, least, most time.Duration) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := units.ParseDuration(text)
	if err == nil && (d < least || d > most) {
		return 0, errors.New(flag + " " + text + ": between " + units.Duration(least) + " and " +
			units.Duration(most) + " is expected")
	}
	return d, err
}

// watchOutput prints states, and acts on what begins in them.
type watchOutput struct {
	env       *Env
	json      bool
	many      bool // hosts
	onFinding string
	failOn    diagnose.Severity
	failed    bool
	err       error
	begun     map[string]map[string]bool // host, what goes on there
	commands  sync.WaitGroup
	recording *record.Recording // nil without one
	unkept    bool              // the last state could not be recorded
	dates     bool
}

// watchFinding is what the command of --on-finding gets.
type watchFinding struct {
	Schema  int            `json:"schema"`
	Host    string         `json:"host"`
	Time    time.Time      `json:"time"`
	Verdict *watch.Verdict `json:"verdict"` // null for a problem
	Problem *watch.Problem `json:"problem"` // null for a limit
}

// onScreen shows what follow tells on the terminal until the screen is left, the
// time is over, or a host cannot be watched.
func (o *watchOutput) onScreen(cancel func(), model screen.Model, follow func(func(watch.State)) error) error {
	p := tea.NewProgram(model, tea.WithInput(o.env.Stdin), tea.WithOutput(o.env.Stdout), tea.WithoutSignalHandler())
	followed := make(chan error, 1)
	go func() {
		err := follow(func(s watch.State) {
			o.keep(s)
			o.findings(s)
			p.Send(screen.StateMsg(s))
		})
		if err != nil || !model.Recorded() { // the end of a recording stays to be read
			p.Send(screen.EndMsg{})
		}
		followed <- err
	}()
	_, err := p.Run()
	cancel()
	if watched := <-followed; watched != nil {
		return watched
	}
	return environment(err)
}

// play shows a recording.
func (opt watchOptions) play(ctx context.Context, cancel func(), out *watchOutput, onScreen bool) error {
	from, err := opt.begin(time.Now())
	if err != nil {
		return usage(err)
	}
	r, err := record.Open(opt.replay)
	if errors.Is(err, record.ErrEmpty) {
		return usage(err)
	}
	if err != nil {
		return environment(err)
	}
	defer r.Close()
	out.many, out.dates = true, true
	if !onScreen {
		return environment(r.Each(ctx, from, func(s watch.State) error { out.tell(s); return out.err }))
	}
	player := screen.NewPlayer()
	var before watch.State
	return out.onScreen(cancel, screen.Replay(player), func(tell func(watch.State)) error {
		err := r.Each(ctx, from, func(s watch.State) error {
			if before.Time.IsZero() {
				before = s
			}
			if err := player.Wait(ctx, before, s); err != nil {
				return err
			}
			before = s
			tell(s)
			return nil
		})
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return nil
		}
		return environment(err)
	})
}

// begin is when to begin to show a recording: a time, or so long ago.
func (opt watchOptions) begin(now time.Time) (time.Time, error) {
	if opt.at == "" {
		return time.Time{}, nil
	}
	if ago, err := units.ParseDuration(opt.at); err == nil {
		return now.Add(-ago), nil
	}
	for _, form := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04",
		time.DateTime, "2006-01-02 15:04", time.DateOnly} {
		if at, err := time.ParseInLocation(form, opt.at, time.Local); err == nil {
			return at, nil
		}
	}
	return time.Time{}, errors.New("--at " + opt.at + ": a time such as 2026-11-22T03:00, or 3h " +
		"for so long ago is expected")
}

// keep records a state. What cannot be kept is told once, until it can again.
func (o *watchOutput) keep(s watch.State) {
	if o.recording == nil {
		return
	}
	err := o.recording.Add(s)
	if err != nil && !o.unkept {
		o.env.note("%v; it is tried again at each state", err)
	}
	o.unkept = err != nil
}

func (o *watchOutput) tell(s watch.State) {
	o.keep(s)
	var err error
	if o.json {
		var data []byte
		if data, err = terminal.JSON(s, ""); err == nil {
			_, err = o.env.Stdout.Write(data)
		}
	} else {
		line := s.Line()
		if o.many {
			line = s.Host + ": " + line
		}
		form := time.TimeOnly
		if o.dates {
			form = time.DateTime
		}
		o.env.printf("%s %s\n", s.Time.Format(form), line)
	}
	if o.err == nil {
		o.err = err
	}
	o.findings(s)
}

// findings acts on limits and problems that were not there in the state before.
func (o *watchOutput) findings(s watch.State) {
	now := map[string]bool{}
	note := func(key string, severity diagnose.Severity, f watchFinding) {
		now[key] = true
		o.failed = o.failed || o.failOn != "" && severity.AtLeast(o.failOn)
		if !o.begun[s.Host][key] && o.onFinding != "" {
			f.Schema, f.Host, f.Time = 1, s.Host, s.Time
			o.command(f)
		}
	}
	if v := s.Verdict; v.Limit != watch.NoLimit {
		note("limit "+v.Limit+" "+v.Peer+" "+v.Subject, v.Severity(), watchFinding{Verdict: &v})
	}
	for _, p := range s.Problems {
		note("problem "+p.Problem+" "+p.Subject, diagnose.Severity(p.Severity), watchFinding{Problem: &p})
	}
	o.begun[s.Host] = now
}

// command runs the command of --on-finding beside the watching; its failure is
// told and ends nothing.
func (o *watchOutput) command(f watchFinding) {
	data, err := json.Marshal(f)
	if err != nil {
		o.env.note("--on-finding: %v", err)
		return
	}
	o.commands.Go(func() {
		op := host.Op{Action: host.ActRun, Args: []string{"sh", "-c", o.onFinding}, Data: append(data, '\n')}
		local := host.NewLocal()
		defer local.Close()
		a, err := host.One(context.Background(), local, op)
		if err != nil {
			o.env.note("--on-finding: %v", err)
		}
		if text := a.Text(); text != "" && !slices.Contains([]byte(text), 0) {
			o.env.note("--on-finding: %s", text)
		}
	})
}
