package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/wirerate/wirerate/internal/watch"
	"github.com/wirerate/wirerate/internal/watch/metrics"
	"github.com/wirerate/wirerate/internal/watch/probe"
	"github.com/wirerate/wirerate/internal/watch/switchport"
)

// besideOptions say what this machine asks beside the hosts.
type besideOptions struct {
	probes, switches []string
	every, auth      string
	metrics          string
}

func (o besideOptions) any() bool {
	return len(o.probes)+len(o.switches) > 0 || o.auth != "" || o.metrics != ""
}

const besideLimit = 32 // of probes, and of switch ports

func (o *besideOptions) flags(f *pflag.FlagSet) {
	f.StringArrayVar(&o.probes, "probe",
		nil, "`target` to probe from this machine: icmp:ADDR, tcp:HOST:PORT,\nhttp:URL; repeatable")
	f.StringVar(&o.every, "probe-every", "1s", "`time` between two probes of a target, from 100ms to 10m")
	f.StringArrayVar(&o.switches, "switch", nil, "`port` of a switch to read over "+
		"SNMP:\nsnmp://[COMMUNITY@]HOST[:PORT]/[IFNAME|lldp]; repeatable")
	f.StringVar(&o.auth, "switch-auth", "",
		"`file` with the community, or user and passphrases of\nSNMPv3, of the switches")
	f.StringVar(&o.metrics, "metrics", "", "`address` on which to serve OpenMetrics at /metrics, such as 127.0.0.1:9747")
}

// parse reads targets and switches.
func (o besideOptions) parse(name string) (targets []probe.Target, agents []switchport.Agent, err error) {
	for _, text := range o.probes {
		t, err := probe.Parse(text)
		if err != nil {
			return nil, nil, err
		}
		targets = append(targets, t)
	}
	for _, text := range o.switches {
		a, err := switchport.ParseAgent(text)
		if err != nil {
			return nil, nil, err
		}
		if a.Name == "" && name != "local" {
			return nil, nil, fmt.Errorf("--switch %s: LLDP finds the port of this machine; name that of %s: snmp://HOST/IFNAME",
				a, name)
		}
		agents = append(agents, a)
	}
	if len(targets) > besideLimit || len(agents) > besideLimit {
		return nil, nil, fmt.Errorf("--probe and --switch: at most %d each", besideLimit)
	}
	return targets, agents, nil
}

// watchBeside are probes and switches that are asked while hosts are watched.
type watchBeside struct {
	probers []*probe.Prober
	pollers []*switchport.Poller
	metrics *metrics.Exporter // nil without
	first   string            // the host whose states have the answers
}

// start begins to ask, and to serve metrics; the states of the first host will have
// the answers.
func (o besideOptions) start(ctx context.Context, names []string) (*watchBeside, error) {
	targets, agents, err := o.parse(names[0])
	if err != nil {
		return nil, usage(err)
	}
	every, err := watchTime("--probe-every", o.every, probe.Shortest, 10*time.Minute)
	if err != nil {
		return nil, usage(err)
	}
	var auth switchport.Auth
	if o.auth != "" {
		if auth, err = switchport.ReadAuth(o.auth); err != nil {
			return nil, usage(err)
		}
	}
	b := &watchBeside{first: names[0]}
	if o.metrics != "" {
		if b.metrics, err = metrics.Serve(o.metrics, Version); err != nil {
			return nil, missing(fmt.Errorf("--metrics: %w", err))
		}
	}
	for _, t := range targets {
		p, err := probe.Start(ctx, t, every)
		if err != nil {
			b.close()
			if errors.Is(err, probe.ErrPrivilege) {
				return nil, missing(err)
			}
			return nil, environment(err)
		}
		b.probers = append(b.probers, p)
	}
	for _, a := range agents {
		b.pollers = append(b.pollers, switchport.Start(ctx, a, auth, switchport.ThisMachine()))
	}
	return b, nil
}

// add puts what became known since it was called before into a state of the first
// host, and counts each.
func (b *watchBeside) add(s *watch.State) {
	if b.metrics != nil {
		defer func() { b.metrics.Add(*s) }()
	}
	if s.Host != b.first {
		return
	}
	for _, p := range b.probers {
		s.Probes = append(s.Probes, p.Take())
	}
	for _, p := range b.pollers {
		s.Switch = append(s.Switch, p.Take()...)
	}
}

func (b *watchBeside) close() {
	for _, p := range b.probers {
		p.Close()
	}
	for _, p := range b.pollers {
		p.Close()
	}
	if b.metrics != nil {
		b.metrics.Close()
	}
}
