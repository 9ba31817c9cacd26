package screen

import (
	"fmt"
	"slices"

	"github.com/wirerate/wirerate/internal/terminal"
	"github.com/wirerate/wirerate/internal/units"
	"github.com/wirerate/wirerate/internal/watch"
)

// besideLines show the probes, over the states that are kept, and what the ports of
// switches answered last.
func (m Model) besideLines(most int) []string {
	course := map[string][]float64{}
	var sums []watch.Probe
	var ports []watch.SwitchPort
	for _, s := range m.seen() {
		sums = watch.MergeProbes(sums, s.Probes)
		for _, p := range s.Probes {
			if p.RTT != nil {
				course[p.Target] = append(course[p.Target], p.RTT.P50)
			}
		}
		ports = latest(ports, s.Switch)
	}
	var lines []string
	for _, p := range sums {
		rtt := "no answer"
		if p.RTT != nil {
			rtt = fmt.Sprintf("p50 %s  p99 %s  max %s ms", units.Digits(p.RTT.P50, 4), units.Digits(p.RTT.P99, 4), units.Digits(p.RTT.Max, 4))
		}
		lost := fmt.Sprintf("lost %s%%", units.Digits(100*p.Loss(), 3))
		if p.Lost > 0 {
			lost = alarm.Render(lost)
		}
		lines = append(lines, fmt.Sprintf("%-24s %s  %s  %s", terminal.Clip(clean(p.Target), 24), rtt, lost,
			sparkline(course[p.Target], min(len(course[p.Target]), max(0, m.width-76)))))
	}
	for _, p := range ports {
		lines = append(lines, "switch "+clean(p.Text()))
	}
	if len(lines) > most {
		rest := len(lines) - most + 1
		lines = append(lines[:most-1], faint.Render(fmt.Sprintf("and %d more probes and switch ports", rest)))
	}
	return lines
}

// latest takes the newer of what ports told.
func latest(all, news []watch.SwitchPort) []watch.SwitchPort {
	for _, p := range news {
		i := slices.IndexFunc(all, func(o watch.SwitchPort) bool { return o.Switch == p.Switch && o.Port == p.Port })
		if i < 0 {
			i, all = len(all), append(all, p)
		}
		all[i] = p
	}
	return all
}
