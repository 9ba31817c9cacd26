package diagnose

import (
	"fmt"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/system"
)

// coreSaturated finds a core that does nothing but network work.
func coreSaturated() Rule {
	return Rule{
		ID: "core-saturated", Title: "A core is saturated by interrupts while others idle",
		Systems: []string{"linux", "freebsd", "openbsd"}, Severity: Critical,
		Needs:   []string{"sampled processors"},
		Because: "All packets of a queue wait for that core, so it limits the rate while other cores idle.",
		Check: func(in Input) (out []Finding) {
			if alone := coreShownAlone(in.Facts); alone != nil {
				return alone
			}
			var idle float64
			for _, p := range in.Facts.Processors {
				idle += p.Idle + p.Nice // which gives way to packets
			}
			for _, p := range in.Facts.Processors {
				busy, where := p.Interrupt, "in interrupts"
				if in.Facts.System == "openbsd" && busy >= 0.4 { // it waits for the lock of the network, or works beside
					busy, where = busy+p.System, "in interrupts and the kernel"
				}
				if !p.Sampled || busy < 0.85 || p.Idle+p.Nice > 0.1 || len(in.Facts.Processors) < 2 ||
					idle/float64(len(in.Facts.Processors)) < 0.2 {
					continue
				}
				others := fmt.Sprintf("while the host as a whole was %.0f%% idle", 100*idle/float64(len(in.Facts.Processors)))
				if !in.Facts.EveryProcessor() {
					others = fmt.Sprintf("while the %d cores shown were %.0f%% idle on average", len(in.Facts.Processors),
						100*idle/float64(len(in.Facts.Processors)))
				}
				s := Critical
				if p.Idle+p.Nice > 0.05 {
					s = Warning // its bursts are lost already, its mean is not the limit yet
				}
				out = append(out, with(s, do(spreadWork(in.Facts),
					one(fmt.Sprintf("CPU %d", p.ID), []facts.Source{p.Source},
						"%.0f%% of its time %s %s", 100*busy, where, others)))...)
			}
			return out
		},
		Fires: linuxExample("/proc/stat", "cpu0 100 0 100 1000 0 0 100 0\ncpu1 100 0 100 1000 0 0 100 0\n", "second sample",
			"==> /proc/stat <==\ncpu0 100 0 102 1002 0 0 600 0\ncpu1 100 0 100 1500 0 0 100 0\n"),
		Quiet: linuxExample("/proc/stat", "cpu0 100 0 100 1000 0 0 100 0\ncpu1 100 0 100 1000 0 0 100 0\n", "second sample",
			"==> /proc/stat <==\ncpu0 100 0 102 1402 0 0 200 0\ncpu1 100 0 100 1500 0 0 100 0\n"),
	}
}

// coreShownAlone finds a full core of which the others were not shown: top -P names a core where there are several.
func coreShownAlone(f *facts.Facts) []Finding {
	if len(f.Processors) != 1 || f.System == "linux" || f.Cores == 1 {
		return nil
	}
	p := f.Processors[0]
	if !p.Sampled || p.Interrupt < 0.85 || p.Idle+p.Nice > 0.05 {
		return nil
	}
	return with(Warning, do("check all cores (top -SH (FreeBSD) or mpstat -P ALL 1): if the others idle, spread "+
		"the queues' interrupts over them; if all are busy, reduce the work per packet (fewer firewall rules) or "+
		"use a faster machine", one(fmt.Sprintf("CPU %d", p.ID),
		[]facts.Source{p.Source},
		"%.0f%% of its time in interrupts; the other cores were not shown", 100*p.Interrupt)))
}

// spreadWork is what is done about one core that all packets wait for.
func spreadWork(f *facts.Facts) string {
	switch f.System {
	case system.FreeBSD:
		return "use more of the card's queues (vmstat -ia shows them); PPPoE and tunnel traffic arrives on one " +
			"queue: spread it with net.isr.dispatch=deferred, and net.isr.maxthreads=-1 in /boot/loader.conf"
	case system.OpenBSD:
		return "use a card with several queues (ix, ixl, mcx), fewer pf rules per packet (quick rules first), or a " +
			"faster CPU"
	}
	return "spread the card's queues over the cores: ethtool -l NAME shows how many there are, ethtool -L NAME combined N " +
		"sets them, systemctl enable --now irqbalance spreads their interrupts; for a card with one queue, steer packets in " +
		"software: echo MASK > /sys/class/net/NAME/queues/rx-0/rps_cpus (MASK: the bits of the other cores, in hexadecimal)"
}
