package trial

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/change"
	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/workload"
)

// Side is one host of a bench with the journal of what is changed on it. The
// change is nil when nothing is to be changed there.
type Side struct {
	Conn   host.Conn
	System catalog.System
	Change *change.Change
	Order  []string // settings in the order in which they are written
	boot   string   // what tells one start of the system from another; "" not known yet
}

// errRestarted is wrapped when a host of a bench was started anew between two
// runs.
var errRestarted = errors.New("restarted during the experiment")

// Bench makes runs of a workload under chosen settings.
type Bench struct {
	Client, Server Side
	// Router is a host that forwards between them, with settings of its own;
	// its Conn is nil where there is none, or none is observed.
	Router Side
	Addr   string
	Spec   workload.Spec
	// Measure, when set, makes the run in place of a workload.
	Measure func(ctx context.Context) (workload.Run, error)
	// Look, when set, is called before a run, and what it returns after it,
	// to add what is seen from outside the hosts; an error costs the run.
	Look func() func(*workload.Run) error
}

// Values are settings' values for the hosts; settings that are left out get
// what they were before the journal began.
type Values struct {
	Client, Server, Router map[string]string
}

// Run puts the values in place and measures.
func (b *Bench) Run(ctx context.Context, v Values) (workload.Run, error) {
	if err := b.Client.set(ctx, v.Client); err != nil {
		return workload.Run{}, err
	}
	if err := b.Server.set(ctx, v.Server); err != nil {
		return workload.Run{}, err
	}
	if err := b.Router.set(ctx, v.Router); err != nil {
		return workload.Run{}, err
	}
	for _, side := range []*Side{&b.Client, &b.Server, &b.Router} {
		if err := side.forget(ctx); err != nil {
			return workload.Run{}, err
		}
	}
	seen := func(*workload.Run) error { return nil }
	if b.Look != nil {
		seen = b.Look()
	}
	var router workload.Router
	if b.Router.Conn != nil {
		router = workload.WatchRouter(ctx, b.Router.Conn)
	}
	measure := b.Measure
	if measure == nil {
		measure = func(ctx context.Context) (workload.Run, error) {
			return workload.Measure(ctx, workload.Pair{Client: b.Client.Conn, Server: b.Server.Conn, Addr: b.Addr}, b.Spec)
		}
	}
	run, err := measure(ctx)
	switch {
	case b.Router.Conn == nil:
	case err == nil:
		router.Finish(ctx, &run)
	case errors.Is(err, workload.ErrTool) && !errors.Is(err, workload.ErrDisturbed):
		err = router.Explain(ctx, err)
	}
	if err == nil {
		err = seen(&run)
	}
	return run, err
}

// set writes every setting of the side's journal.
func (s *Side) set(ctx context.Context, values map[string]string) error {
	if s.Change == nil {
		return nil
	}
	all := s.Change.Old()
	for name, v := range values {
		all[name] = v
	}
	outcomes, err := s.Change.Set(ctx, s.Order, all)
	if err != nil {
		return err
	}
	if n := len(outcomes); n > 0 && outcomes[n-1].Refused != "" {
		o := outcomes[n-1]
		return fmt.Errorf("%s: %s=%s is refused: %s", s.Conn.Name(), o.Setting, short(o.Setting, o.Wanted), o.Refused)
	}
	return nil
}

// forget drops what the kernel remembers of earlier connections, so that one
// run does not start with another's measurements (ip-tcp_metrics(8); the
// FreeBSD host cache is purged by net.inet.tcp.hostcache.purgenow, tcp(4)). It
// fails when the host is no longer the same start of its system: settings that
// the journal does not know are then others than before.
func (s *Side) forget(ctx context.Context) error {
	if s.Conn == nil {
		return nil
	}
	boot := host.Command("sysctl", "-n", "kern.boottime")
	ops := []host.Op{boot}
	switch s.System {
	case catalog.FreeBSD:
		ops = append(ops, host.Command("sysctl", "net.inet.tcp.hostcache.purgenow=1"))
	case catalog.OpenBSD:
	default:
		ops = []host.Op{host.Read("/proc/sys/kernel/random/boot_id"), host.Command("ip", "tcp_metrics", "flush")}
	}
	answers, err := s.Conn.Do(ctx, ops...)
	// A host that cannot forget, or does not tell, is measured all the same.
	if err != nil || len(answers) == 0 || answers[0].Failure != host.None {
		return nil
	}
	now := bootOf(string(answers[0].Out))
	if s.boot != "" && now != "" && now != s.boot {
		return fmt.Errorf("%s was %w (or its clock was set): runs before and after do not compare", s.Conn.Name(),
			errRestarted)
	}
	s.boot = now
	return nil
}

// bootOf reads a boot_id of Linux, or the second in kern.boottime of a BSD:
// FreeBSD prints "{ sec = 1700000000, usec = 5 } Tue ...", OpenBSD a date.
func bootOf(text string) string {
	text = strings.TrimSpace(text)
	if _, rest, ok := strings.Cut(text, "sec ="); ok {
		text, _, _ = strings.Cut(strings.TrimSpace(rest), ",")
	}
	return text
}

// ProbeArms finds which values of the arms the hosts accept: it writes each
// once, reads it back and restores the old ones. What is refused or changed by
// the kernel is returned as text, by arm. A setting that a host refuses in every
// arm that has it is not written again.
func (b *Bench) ProbeArms(ctx context.Context, arms []Values) ([][]Note, error) {
	notes := make([][]Note, len(arms))
	for _, side := range []struct {
		*Side
		of func(Values) map[string]string
	}{
		{&b.Client, func(v Values) map[string]string { return v.Client }},
		{&b.Server, func(v Values) map[string]string { return v.Server }},
		{&b.Router, func(v Values) map[string]string { return v.Router }},
	} {
		if side.Change == nil {
			continue
		}
		had, has := map[string]bool{}, map[string]bool{}
		for i, arm := range arms {
			values := side.of(arm)
			for name := range values {
				had[name] = true
			}
			said, err := side.probe(ctx, values)
			if err != nil {
				return notes, err
			}
			notes[i] = append(notes[i], said...)
			for name := range values {
				has[name] = true
			}
		}
		side.Order = slices.DeleteFunc(slices.Clone(side.Order),
			func(name string) bool { return had[name] && !has[name] })
		if err := side.set(ctx, nil); err != nil {
			return notes, err
		}
	}
	return notes, nil
}

// probe writes the values of one arm over the old ones; those that are refused
// are taken out of it.
func (s *Side) probe(ctx context.Context, values map[string]string) ([]Note, error) {
	old := s.Change.Old()
	var names []string
	var notes []Note
	wanted := map[string]string{}
	for _, name := range s.Order {
		v, ok := values[name]
		if ok {
			names = append(names, name)
			wanted[name] = v
		} else if _, known := old[name]; known {
			// Another arm's value must not stand in this one's way.
			names = append(names, name)
			wanted[name] = old[name]
		}
	}
	outcomes, err := s.Change.Try(ctx, names, wanted)
	if err != nil {
		return nil, err
	}
	for _, o := range outcomes {
		if _, ok := values[o.Setting]; !ok {
			continue
		}
		switch {
		case o.Refused != "":
			notes = append(notes, Note{Refused, o.Setting,
				fmt.Sprintf("%s: %s=%s is refused by the kernel (%s) and left out%s", s.Conn.Name(), o.Setting,
					short(o.Setting, o.Wanted), o.Refused, s.allows(o))})
			delete(values, o.Setting)
		case o.Setting == change.FirewallNFT:
			// nft lists rules in a form of its own.
			values[o.Setting] = o.Got
		case o.Got != o.Wanted:
			notes = append(notes, Note{Changed, o.Setting,
				fmt.Sprintf("%s: the kernel makes %s=%s into %s", s.Conn.Name(), o.Setting, o.Wanted,
					strings.TrimSpace(o.Got))})
			values[o.Setting] = o.Got
		}
	}
	return notes, nil
}

// short cuts a value that is no reading matter, and leaves out a packed rule set.
func short(setting, value string) string {
	rules := setting == change.FirewallNFT || setting == change.FirewallPFRules
	if rules && value != change.NoRules && !strings.HasPrefix(value, "/") {
		return "the arm's rules"
	}
	if len(value) > 60 {
		return value[:57] + "..."
	}
	return value
}

// allows says which command lets a congestion control be chosen: other network
// namespaces than the machine's first may take only those of
// tcp_allowed_congestion_control, whoever asks (net/ipv4/tcp_cong.c, since
// Linux 4.15), and only its root may load a module.
func (s *Side) allows(o change.Outcome) string {
	if s.System != catalog.Linux || o.Setting != "net.ipv4.tcp_congestion_control" {
		return ""
	}
	name := strings.TrimSpace(o.Wanted)
	switch {
	case strings.Contains(o.Refused, "not permitted"):
		return fmt.Sprintf("; as root of the machine this allows it: sysctl -w "+
			"net.ipv4.tcp_allowed_congestion_control=\"$(sysctl -n net.ipv4.tcp_allowed_congestion_control) %s\"", name)
	case strings.Contains(o.Refused, "No such file"):
		return "; as root of the machine this may bring it: modprobe tcp_" + name
	}
	return ""
}
