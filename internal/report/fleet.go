package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/wirerate/wirerate/internal/fleet"
	"github.com/wirerate/wirerate/internal/terminal"
)

// Fleet writes a merged inspection as a table.
func Fleet(to Screen, r fleet.Report) {
	to.Printf("%-20s %6s %14s %10s\n", "group", "hosts", "with problems", "deviating")
	for _, g := range r.Groups {
		to.Printf("%-20s %6d %14d %10d\n", terminal.Clip(g.Name, 20), g.Hosts, g.Problems, g.Deviate)
	}
	if len(r.Problems) > 0 {
		to.Printf("\nproblems\n")
	}
	for _, p := range r.Problems {
		to.Wrap(fmt.Sprintf("  %-8s %-24s %5d  ", p.Severity, p.Problem, len(p.Hosts)), "    ", firstNames(p.Hosts))
	}
	if len(r.Deviations) > 0 {
		to.Printf("\ndeviations\n")
	}
	for _, d := range r.Deviations {
		to.Wrap("  ", "    ", fmt.Sprintf("%s, %s: %s on %d hosts, but %s", d.Group, itemWords(d.Item),
			valueWords(d.Usual), d.Of, hostValues(d.Hosts)))
	}
	if n := len(r.Mixed); n > 0 {
		to.Printf("\nno usual value in %s: %s\n", plural(n, "setting or part", "settings or parts"), mixedNames(r.Mixed))
	}
	if r.Drift != nil {
		fleetDrift(to, r.Drift)
	}
}

func fleetDrift(to Screen, d *fleet.Drift) {
	to.Printf("\nsince then\n")
	if !d.Any() {
		to.Printf("  nothing has changed\n")
	}
	for i, names := range [][]string{d.Came, d.Gone} {
		if len(names) > 0 {
			to.Wrap([]string{"  came: ", "  gone: "}[i], "    ", firstNames(names))
		}
	}
	for _, c := range d.Changed {
		to.Wrap("  ", "    ", fmt.Sprintf("%s, %s: %s -> %s", c.Host, itemWords(c.Item), valueWords(c.From),
			valueWords(c.To)))
	}
	for _, p := range d.New {
		to.Wrap("  ", "    ", strings.TrimSpace(fmt.Sprintf("%s: new problem %s %s", p.Host, p.Problem, p.Subject)))
	}
	for _, p := range d.Solved {
		to.Wrap("  ", "    ", strings.TrimSpace(fmt.Sprintf("%s: solved %s %s", p.Host, p.Problem, p.Subject)))
	}
}

func itemWords(i fleet.Item) string { return strings.TrimSpace(i.Kind + " " + i.Name) }

func valueWords(v string) string { return cmp.Or(v, "none") }

// firstNames are the first of some hosts; the JSON has all.
func firstNames(names []string) string {
	const most = 8
	if n := len(names) - most; n > 0 {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(names, ", ")
}

func hostValues(hosts []fleet.HostValue) string {
	var all []string
	for _, h := range hosts {
		all = append(all, valueWords(h.Value)+" on "+h.Host)
	}
	return firstNames(all)
}

func mixedNames(mixed []fleet.Mixed) string {
	var all []string
	for _, m := range mixed {
		all = append(all, fmt.Sprintf("%s (%s, %d values)", itemWords(m.Item), m.Group, m.Values))
	}
	return firstNames(all)
}

type fleetView struct {
	fleet.Report
	Headline string
}

// FleetHTML writes a merged inspection as one page, with every host named.
func FleetHTML(w io.Writer, r fleet.Report) error {
	deviating := 0
	for _, g := range r.Groups {
		deviating += g.Deviate
	}
	head := fmt.Sprintf("%s: %s, %d deviating from their group", plural(r.Hosts, "host", "hosts"),
		plural(len(r.Problems), "problem", "problems"), deviating)
	return writePage(w, "fleet", fleetView{r, head})
}
