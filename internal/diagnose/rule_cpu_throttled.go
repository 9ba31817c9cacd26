package diagnose

import (
	"cmp"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/units"
)

// cpuThrottled finds containers and services that wait since their share of the processors is used up. Kubernetes' own alert
// (kubernetes-mixin, CPUThrottlingHigh) begins at a quarter of the periods.
func cpuThrottled() Rule {
	return Rule{
		ID: "cpu-throttled", Title: "A CPU limit throttles a container or service", Systems: onLinux(),
		Needs: []string{"server statistics"}, Severity: Warning,
		Because: "When the quota of a period (100 ms) is used up, all threads of the group are paused until the next one: " +
			"responses are up to 100 ms late and queues fill, although CPUs are idle.",
		Confirm: "nr_throttled grows while it is slow.",
		Check: func(in Input) (out []Finding) {
			const often, worth, few = 0.25, 0.05, 100
			for _, t := range in.Facts.Throttled {
				if t.Share < worth || t.Periods > 0 && t.Periods < few || len(out) >= 3 {
					continue
				}
				evidence := []facts.Source{t.Source}
				if t.Total.Text != "" {
					evidence = append(evidence, t.Total)
				}
				severity := Warning
				if t.Share < often {
					severity = Info
				}
				out = append(out, do("raise or remove the limit (resources.limits.cpu of the container, --cpus of docker, CPUQuota= "+
					"of the unit), or run no more threads (GOMAXPROCS, worker_processes) than the quota has CPUs",
					with(severity, one(cmp.Or(t.Subject, "control group"), evidence, "it was throttled in %s%% of the periods",
						units.Digits(100*t.Share, 3))))...)
			}
			return out
		},
		Fires: linuxExample(facts.ProgramStats, "nr_periods 41210\nnr_throttled 18211\n"),
		Quiet: linuxExample(facts.ProgramStats, "nr_periods 41210\nnr_throttled 12\n"),
	}
}
