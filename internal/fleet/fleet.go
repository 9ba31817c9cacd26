package fleet

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// usual is the share of a group's hosts that makes a value the usual one, from
// which the others deviate. Values with less agreement, such as those that follow
// the size of memory, are nobody's deviation.
const usual = 2.0 / 3

// smallestGroup is the number of hosts from which a group has what is usual.
const smallestGroup = 3

// Report is a fleet at one time, and what has changed since another.
type Report struct {
	Schema     int         `json:"schema"`
	Hosts      int         `json:"hosts"`
	Groups     []Group     `json:"groups"`
	Problems   []Problem   `json:"problems"`
	Deviations []Deviation `json:"deviations"`
	Mixed      []Mixed     `json:"mixed"`
	Drift      *Drift      `json:"drift,omitempty"`
	Unread     []Fault     `json:"unread"`
}

// Group is a group and how many hosts of it deviate in something.
type Group struct {
	Name     string `json:"group"`
	Hosts    int    `json:"hosts"`
	Deviate  int    `json:"deviating_hosts"`
	Problems int    `json:"hosts_with_problems"`
}

// Problem is a problem with the hosts that have it.
type Problem struct {
	Problem  string   `json:"problem"`
	Severity string   `json:"severity"` // the worst that it has on a host
	Hosts    []string `json:"hosts"`
}

// HostValue is the value that a host has; empty where it has none.
type HostValue struct {
	Host  string `json:"host"`
	Value string `json:"value"`
}

// Deviation is an item in which some hosts of a group are not as most of it.
type Deviation struct {
	Group string `json:"group"`
	Item
	Usual string      `json:"usual"`
	Of    int         `json:"usual_hosts"` // that have the usual value
	Hosts []HostValue `json:"hosts"`
}

// Mixed is an item in which a group has no usual value.
type Mixed struct {
	Group string `json:"group"`
	Item
	Values int `json:"values"` // different ones
}

// Drift is what has changed between two times.
type Drift struct {
	Came    []string      `json:"came"`
	Gone    []string      `json:"gone"`
	Changed []Changed     `json:"changed"`
	New     []HostProblem `json:"new_problems"`
	Solved  []HostProblem `json:"solved_problems"`
	Unread  []Fault       `json:"unread"`
}

// Changed is an item of a host with two values, of which one may be missing.
type Changed struct {
	Host string `json:"host"`
	Item
	From string `json:"from"`
	To   string `json:"to"`
}

// HostProblem is a problem of a host.
type HostProblem struct {
	Host    string `json:"host"`
	Problem string `json:"problem"`
	Subject string `json:"subject"`
}

// Any tells whether anything has changed.
func (d *Drift) Any() bool {
	return len(d.Came)+len(d.Gone)+len(d.Changed)+len(d.New)+len(d.Solved) > 0
}

// Merge makes the report of hosts that are ordered by name.
func Merge(hosts []Host, faults []Fault) Report {
	r := Report{Schema: 1, Hosts: len(hosts), Groups: []Group{}, Problems: problems(hosts), Deviations: []Deviation{},
		Mixed: []Mixed{}, Unread: faults}
	groups := map[string][]Host{}
	for _, h := range hosts {
		groups[h.Group] = append(groups[h.Group], h)
	}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		in := groups[name]
		g := Group{Name: name, Hosts: len(in)}
		for _, h := range in {
			if len(h.Findings) > 0 {
				g.Problems++
			}
		}
		if len(in) >= smallestGroup {
			g.Deviate = r.deviations(name, in)
		}
		r.Groups = append(r.Groups, g)
	}
	return r
}

// deviations adds those of one group, and counts the hosts that deviate.
func (r *Report) deviations(group string, hosts []Host) int {
	counts := map[Item]map[string]int{}
	for _, h := range hosts {
		for item, value := range h.Items {
			if counts[item] == nil {
				counts[item] = map[string]int{}
			}
			counts[item][value]++
		}
	}
	deviating := map[string]bool{}
	for _, item := range slices.SortedFunc(maps.Keys(counts), compareItems) {
		values, most, n := counts[item], "", 0
		have := 0
		for value, count := range values {
			have += count
			if count > n || count == n && value < most {
				most, n = value, count
			}
		}
		if absent := len(hosts) - have; absent > n {
			most, n = "", absent
		}
		switch {
		case n == len(hosts):
		case float64(n) < usual*float64(len(hosts)):
			r.Mixed = append(r.Mixed, Mixed{group, item, len(values)})
		default:
			d := Deviation{Group: group, Item: item, Usual: most, Of: n}
			for _, h := range hosts {
				if v := h.Items[item]; v != most {
					d.Hosts = append(d.Hosts, HostValue{h.Name, v})
					deviating[h.Name] = true
				}
			}
			r.Deviations = append(r.Deviations, d)
		}
	}
	return len(deviating)
}

// kinds is the order in which items are shown.
var kinds = []string{"release", "machine", "processor", "driver", "firmware", "setting"}

func compareItems(a, b Item) int {
	return cmp.Or(cmp.Compare(slices.Index(kinds, a.Kind), slices.Index(kinds, b.Kind)), strings.Compare(a.Name, b.Name))
}

var severities = []string{"error", "warning", "info"}

// problems lists each problem once, the worst and most frequent first.
func problems(hosts []Host) []Problem {
	found := map[string]*Problem{}
	for _, h := range hosts {
		for _, f := range h.Findings {
			p := found[f.Problem]
			if p == nil {
				p = &Problem{Problem: f.Problem, Severity: f.Severity}
				found[f.Problem] = p
			}
			if slices.Index(severities, f.Severity) < slices.Index(severities, p.Severity) {
				p.Severity = f.Severity
			}
			if n := len(p.Hosts); n == 0 || p.Hosts[n-1] != h.Name {
				p.Hosts = append(p.Hosts, h.Name)
			}
		}
	}
	all := []Problem{}
	for _, p := range found {
		all = append(all, *p)
	}
	slices.SortFunc(all, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(slices.Index(severities, a.Severity), slices.Index(severities, b.Severity)),
			cmp.Compare(len(b.Hosts), len(a.Hosts)), strings.Compare(a.Problem, b.Problem))
	})
	return all
}

// Since compares hosts with what they were.
func Since(before, now []Host, faults []Fault) *Drift {
	d := &Drift{Came: []string{}, Gone: []string{}, Changed: []Changed{}, New: []HostProblem{},
		Solved: []HostProblem{}, Unread: faults}
	old := map[string]Host{}
	for _, h := range before {
		old[h.Name] = h
	}
	for _, h := range now {
		was, known := old[h.Name]
		if !known {
			d.Came = append(d.Came, h.Name)
			continue
		}
		delete(old, h.Name)
		both := maps.Clone(was.Items)
		maps.Copy(both, h.Items)
		for _, item := range slices.SortedFunc(maps.Keys(both), compareItems) {
			if from, to := was.Items[item], h.Items[item]; from != to {
				d.Changed = append(d.Changed, Changed{h.Name, item, from, to})
			}
		}
		d.New = append(d.New, without(h, was)...)
		d.Solved = append(d.Solved, without(was, h)...)
	}
	d.Gone = append(d.Gone, slices.Sorted(maps.Keys(old))...)
	return d
}

// without lists the findings of a that b has not.
func without(a, b Host) []HostProblem {
	var all []HostProblem
	for _, f := range a.Findings {
		if !slices.ContainsFunc(b.Findings,
			func(g Finding) bool { return g.Problem == f.Problem && g.Subject == f.Subject }) {
			all = append(all, HostProblem{a.Name, f.Problem, f.Subject})
		}
	}
	return all
}
