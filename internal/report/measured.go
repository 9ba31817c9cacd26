package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/experiment"
	"github.com/wirerate/wirerate/internal/units"
	"github.com/wirerate/wirerate/internal/workload"
)

// Measured writes what the runs of a workload measured and what the kernels saw
// in the last one.
func Measured(to Screen, m experiment.Measured) {
	to.Printf("%s by %s, %d run(s)\n", cmp.Or(m.Workload, "output"), m.Tool, len(m.Runs))
	for _, metric := range m.Metrics {
		line := fmt.Sprintf("  %-22s %14s", metric.Name, exact(metric.Unit, m.Median[metric.Name]))
		if len(m.Runs) > 1 {
			low, high := m.Range(metric.Name)
			line += fmt.Sprintf("   %s to %s", exact(metric.Unit, low), exact(metric.Unit, high))
			if q := m.Intervals[metric.Name]; q.Confidence > 0 {
				line += fmt.Sprintf("   median: %s to %s (%.0f%%)",
					exact(metric.Unit, q.Low), exact(metric.Unit, q.High), 100*q.Confidence)
			}
		}
		to.Printf("%s\n", line)
	}
	last := m.Runs[len(m.Runs)-1]
	kernels(to, last)
	if last.Limit != nil {
		to.Wrap("  ", "  ", "bounded by "+last.Limit.Text)
	}
	if flags := diskFlags(m.Disk()); m.Workload == "disk" && flags != "" {
		to.Printf("  plan with it: wirerate plan --role file --path PATH%s\n", flags)
		to.Wrap("  ", "  ", "--disk-iops is of one disk: in a pool of N give a part of it and --disks N, or all of it by "+
			"--disk-from FILE, the output of --json")
	}
	for _, w := range m.Warnings {
		to.Wrap("  ! ", "    ", w)
	}
}

// exact writes a value with as many digits as were measured.
func exact(unit string, v float64) string {
	switch unit {
	case "bit/s":
		return units.Rate(v).String()
	case "s":
		return units.Duration(time.Duration(v * float64(time.Second)))
	case "share":
		return fmt.Sprintf("%s%%", units.Digits(100*v, 3))
	case "1/s":
		if v >= 1000 {
			return prefixed(v, "/s")
		}
		return units.Digits(v, 4) + "/s"
	case "1/min":
		return units.Digits(v, 4) + "/min"
	case "B/s":
		return units.Bytes(v).String() + "/s"
	}
	if v >= 1e4 && v < 1e15 {
		return units.Count(uint64(v))
	}
	return units.Digits(v, 4)
}

// kernels writes what the kernels saw in a run.
func kernels(to Screen, run workload.Run) {
	for i, k := range []*workload.Kernel{run.ClientKernel, run.ServerKernel} {
		side := []string{"client", "server"}[i]
		if run.Server == nil {
			side = "host"
		}
		if cpu := []*workload.CPU{run.Client, run.Server}[i]; cpu != nil && cpu.Shared {
			if i == 0 {
				sharedCPU(to, run)
			}
		} else if cpu != nil {
			to.Printf("  %s CPU %.0f%% busy, its busiest core %.0f%%, softirq %.0f%%\n",
				side, 100*cpu.Busy, 100*cpu.Busiest, 100*cpu.SoftIRQ)
		}
		if k == nil {
			continue
		}
		measuredFlows(to, side, k.Flows)
	}
}

// sharedCPU writes what the processors did that both ends run on.
func sharedCPU(to Screen, run workload.Run) {
	line := fmt.Sprintf("  CPU of this machine %.0f%% busy, its busiest core %.0f%%, softirq %.0f%%",
		100*run.Client.Busy, 100*run.Client.Busiest, 100*run.Client.SoftIRQ)
	if run.Server != nil && run.Client.Own+run.Server.Own > 0 {
		line += fmt.Sprintf("; programs of the client %.0f%%, of the server %.0f%%, the emulated link %.0f%%",
			100*run.Client.Own, 100*run.Server.Own, 100*run.Client.Link)
	}
	to.Printf("%s\n", line)
}

// mostFlows of a side are shown.
const mostFlows = 3

// measuredFlows writes what held back the flows that sent most.
func measuredFlows(to Screen, side string, flows []workload.Flow) {
	flows = slices.DeleteFunc(slices.Clone(flows), func(f workload.Flow) bool { return f.Limit == "" })
	slices.SortStableFunc(flows, func(a, b workload.Flow) int { return cmp.Compare(b.Sent, a.Sent) })
	for _, f := range flows[:min(mostFlows, len(flows))] {
		to.Printf("  %s flow to %s: %s, round trip %s, queue %s, limited by the %s\n", side, f.Peer, f.Congestion,
			exact("s", f.RTT), exact("s", f.Queue()), f.Limit)
	}
	if more := len(flows) - mostFlows; more > 0 {
		to.Printf("  and %d more flows of the %s; --json has all\n", more, side)
	}
}

// diskFlags writes a disk's figures as plan takes them.
func diskFlags(d experiment.DiskFigures) string {
	text := ""
	if d.Rate > 0 {
		text += " --disk-rate " + roundBytes(d.Rate)
	}
	if d.IOPS > 0 && d.Latency > 0 {
		text += fmt.Sprintf(" --disk-iops %s --disk-latency %s",
			units.Digits(d.IOPS, 3), time.Duration(d.Latency*1e9).Round(100*time.Nanosecond))
	}
	return strings.ReplaceAll(text, "µs", "us")
}

func roundBytes(v float64) string {
	if v >= 1e7 {
		return fmt.Sprintf("%.0fMB", v/1e6)
	}
	return fmt.Sprintf("%.0fkB", v/1e3)
}
