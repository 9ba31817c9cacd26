package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/tools/kernels/observed"
)

// result is what one release of a system says of the catalog.
type result struct {
	system  catalog.System
	version catalog.Version
	// problems are what does not agree, by the name of the setting; agree are
	// the records that were seen and hold.
	problems map[string][]string
	agree    map[string]bool
	seen     map[string]bool // names that the kernel has, interfaces' counted once
	release  string          // as the kernel calls itself
}

// The problems of a name that the catalog does not have, and of a record whose
// name the kernel does not have.
const (
	noRecord = "no record"
	notThere = "does not exist, the record says it does"
)

func (r *result) add(name, problem string) {
	if !slices.Contains(r.problems[name], problem) {
		r.problems[name] = append(r.problems[name], problem)
	}
}

// released is the part of a release that versions are told by.
var released = regexp.MustCompile(`^ *[0-9]+\.[0-9]+`)

// compare holds the catalog against one kernel.
func compare(c *catalog.Catalog, d observed.Dump) (*result, error) {
	version, err := catalog.ParseVersion(released.FindString(d.Release))
	if err != nil {
		return nil, err
	}
	r := &result{system: catalog.System(d.System), version: version, problems: map[string][]string{},
		agree: map[string]bool{},
		seen:  map[string]bool{}, release: d.Release}
	in := catalog.Inputs{"page": 4096.0, "version": string(version)}
	if d.Memory > 0 { // a dump of text does not say
		in["memory"], in["cores"] = float64(d.Memory), float64(d.Cores)
	}
	for _, s := range d.Settings {
		record, found := c.Lookup(r.system, s.Name)
		name := canonical(s.Name)
		if found {
			name = record.Name
		}
		r.seen[name] = true
		switch {
		case found:
			r.judge(record, s, d, in)
		case !instance(s.Name):
			r.add(name, noRecord)
		}
	}
	r.absent(c)
	for name := range r.seen {
		if _, found := c.Lookup(r.system, name); found && len(r.problems[name]) == 0 {
			r.agree[name] = true
		}
	}
	return r, nil
}

// judge compares a record with what the kernel shows of one of its settings.
func (r *result) judge(record *catalog.Record, s observed.Setting, d observed.Dump, in catalog.Inputs) {
	switch state := record.StateIn(r.version); state {
	case catalog.Gone, catalog.NotYet:
		r.add(record.Name, fmt.Sprintf("exists, the record says %s", state))
		return
	}
	if d.Writability && !s.New {
		kind := record.In(r.version).Kind
		later := kind == catalog.Runtime || kind == catalog.Both
		switch {
		case s.Writable && (kind == catalog.ReadOnly || kind == catalog.Boot):
			r.add(record.Name, fmt.Sprintf("is writable, the record says %s", kind))
		case !s.Writable && later && excused[record.Name] == "":
			r.add(record.Name, fmt.Sprintf("is not writable, the record says %s", kind))
		}
	}
	if excused[record.Name] != "" {
		return
	}
	for _, t := range s.Tried {
		r.judgeTry(record, t)
	}
	// What a namespace has of its own is judged in a new one, and what belongs to
	// an interface by the values that new ones get.
	if s.New == (record.Scope == catalog.ScopeNetns || record.Scope == catalog.ScopeInterface) && s.Read &&
		!instance(s.Name) {
		r.judgeDefault(record, s.Value, in)
	}
}

func (r *result) judgeTry(record *catalog.Record, t observed.Try) {
	accepted := record.RangeIn(r.version)
	if accepted == nil { // what the record does not know is not judged
		return
	}
	inside := (accepted.Min == nil || t.Value >= *accepted.Min) && (accepted.Max == nil || t.Value <= *accepted.Max)
	switch {
	case inside && !t.Accepted:
		r.add(record.Name, fmt.Sprintf("refuses %d, which is in the record's range", t.Value))
	case !inside && t.Accepted:
		r.add(record.Name, fmt.Sprintf("takes %d, which is beyond the record's range", t.Value))
	}
}

// excused are settings whose default or range a distribution's build, the probe's
// machine or another setting decides, with the reason: they say nothing of the record.
var excused = map[string]string{
	"dev.tty.legacy_tiocsti":                       "CONFIG_LEGACY_TIOCSTI",
	"fs.protected_hardlinks":                       "Debian's patch",
	"fs.protected_symlinks":                        "Debian's patch",
	"kernel.ctrl-alt-del":                          "set by the first process",
	"kernel.nmi_watchdog":                          "no such counter in the machine",
	"kernel.perf_event_paranoid":                   "Debian's patch",
	"kernel.sched_autogroup_enabled":               "CONFIG_SCHED_AUTOGROUP, switched off by Debian",
	"kernel.sysrq":                                 "CONFIG_MAGIC_SYSRQ_DEFAULT_ENABLE",
	"kernel.sched_energy_aware":                    "no energy model in the machine",
	"kernel.sched_rt_period_us":                    "at least sched_rt_runtime_us",
	"kernel.sched_util_clamp_max":                  "at least sched_util_clamp_min",
	"kernel.yama.ptrace_scope":                     "Debian's patch",
	"net.core.max_skb_frags":                       "CONFIG_MAX_SKB_FRAGS",
	"net.core.default_qdisc":                       "CONFIG_DEFAULT_NET_SCH",
	"net.core.netdev_budget_usecs":                 "CONFIG_HZ",
	"net.core.rps_sock_flow_entries":               "what there is of memory",
	"net.ipv4.tcp_probe_interval":                  "CONFIG_HZ",
	"net.ipv4.ip_unprivileged_port_start":          "at most the first of ip_local_port_range",
	"net.ipv4.ipfrag_high_thresh":                  "at least ipfrag_low_thresh",
	"net.ipv6.ip6frag_high_thresh":                 "at least ip6frag_low_thresh",
	"net.netfilter.nf_conntrack_frag6_high_thresh": "at least nf_conntrack_frag6_low_thresh",
	"net.netfilter.nf_log.*":                       "the modules that are loaded",
	"net.ipv4.tcp_tso_rtt_log":                     "at most 31 in later updates",
	"net.sctp.rto_max":                             "at least rto_min",
	"net.sctp.rto_min":                             "at most rto_max",
}

// near is how far a computed default may be off: formulas take the memory that the
// machine has, the kernel what was left when it started.
const near = 0.1

func (r *result) judgeDefault(record *catalog.Record, value string, in catalog.Inputs) {
	def, known := record.DefaultIn(r.version)
	if !known || def.Value == "unknown" {
		return
	}
	want, tolerance := def.Value, 0.0
	if def.Value == "computed" {
		if def.Formula == "" {
			return
		}
		result, err := record.Eval(def.Formula, in)
		if err != nil {
			return // it needs what a kernel does not tell
		}
		want, tolerance = result.Text(), near
	}
	if !same(value, want, tolerance) {
		r.add(record.Name, fmt.Sprintf("default %q, the record says %q", value, want))
	}
}

// same compares two values word by word, numbers within a tolerance.
func same(a, b string, tolerance float64) bool {
	x, y := strings.Fields(a), strings.Fields(strings.Trim(b, `"`))
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		m, err1 := number(x[i])
		n, err2 := number(y[i])
		if x[i] != y[i] && (err1 != nil || err2 != nil || math.Abs(m-n) > tolerance*math.Max(math.Abs(m), math.Abs(n))) {
			return false
		}
	}
	return true
}

// number reads a decimal or hexadecimal number.
func number(s string) (float64, error) {
	if n, err := strconv.ParseInt(s, 0, 64); err == nil {
		return float64(n), nil
	}
	return strconv.ParseFloat(s, 64)
}

// absent finds records of sysctls that the kernel should have and has not. What
// needs a module that was not loaded is no such record.
func (r *result) absent(c *catalog.Catalog) {
	for _, record := range c.All(r.system) {
		if !slices.Contains(record.Belongs, "sysctl") || r.seen[record.Name] || len(record.Needs) > 0 ||
			len(record.Drivers) > 0 {
			continue
		}
		if s := record.StateIn(r.version); s == catalog.Present || s == catalog.Inactive {
			r.add(record.Name, notThere)
		}
	}
}

// instances are the parts of names in whose place interfaces, processors and the
// like stand.
var instances = regexp.MustCompile(`^(net\.(?:ipv4|ipv6|mpls)\.(?:conf|neigh)\.)([^.]+)(\..*)`)

// instance reports whether a name is an interface's own copy of a setting.
func instance(name string) bool {
	m := instances.FindStringSubmatch(name)
	return m != nil && m[2] != "default"
}

// canonical is a name with a star in the place of an interface.
func canonical(name string) string { return instances.ReplaceAllString(name, "${1}*${3}") }

// printRanges prints the ranges of the Linux settings of one integer, but of what
// cannot be set back.
func printRanges(w io.Writer, c *catalog.Catalog) error {
	ranges := map[string]observed.Range{}
	for _, r := range c.All(catalog.Linux) {
		integer := slices.Contains([]catalog.Type{catalog.TypeBool, catalog.TypeInt, catalog.TypeUint, catalog.TypeEnum},
			r.Type)
		oneWay := r.Range != nil && r.Range.Min != nil && r.Range.Max != nil && *r.Range.Min == *r.Range.Max
		if r.Range != nil && integer && !oneWay && !strings.Contains(r.Name, "*") {
			ranges[r.Name] = observed.Range{Min: r.Range.Min, Max: r.Range.Max}
		}
	}
	return json.NewEncoder(w).Encode(ranges)
}

func (r *result) print(w io.Writer) {
	fmt.Fprintf(w, "%s %s: %d names, %d records agree, %d do not\n",
		r.system.Title(), r.version, len(r.seen), len(r.agree), len(r.problems))
	for _, name := range slices.Sorted(maps.Keys(r.problems)) {
		for _, p := range r.problems[name] {
			fmt.Fprintf(w, "  %s: %s\n", name, p)
		}
	}
}
