package experiment

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/change"
	"github.com/wirerate/wirerate/internal/conffile"
	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/input"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/trial"
)

// Arm is a set of settings as it is named: parts joined by "+", later ones over
// earlier ones.
type Arm struct {
	Name  string
	parts []part
}

// part is default, current, plan, file:PATH, set:K=V,..., tuned:PROFILE or
// firewall:WHAT.
type part struct {
	kind, arg string
	values    []assigned
	ends      bool // for the ends, in a trial whose arms set the router
}

type assigned struct{ name, value string }

// ArmForms says how an arm is written.
const ArmForms = "default, current, plan, file:PATH, set:KEY=VALUE[,KEY=VALUE...], cc:ALGORITHM, tuned:PROFILE or " +
	"firewall:on|off|FILE, joined by +"

// endsPrefix begins a part of an arm that sets the ends of a path although the
// arms of the trial set the router between them.
const endsPrefix = "ends:"

var (
	// A comma separates assignments only where a name and = follow: values
	// may hold commas. The same for + and parts.
	nextAssignment = regexp.MustCompile(`,\s*([A-Za-z][\w./:@*-]*\s*=)`)
	nextPart       = regexp.MustCompile(
		`\+(?:ends:)?(default$|default\+|current$|current\+|plan$|plan\+|file:|set:|cc:|tuned:|firewall:)`)
)

// ParseArm reads an arm.
func ParseArm(text string) (Arm, error) {
	spec := Arm{Name: text}
	for _, part := range splitBefore(text, nextPart) {
		p, err := parsePart(part)
		if err != nil {
			return spec, fmt.Errorf("arm %q: %w", text, err)
		}
		spec.parts = append(spec.parts, p)
	}
	return spec, nil
}

// splitBefore splits text at the one-byte separators that begin a match.
func splitBefore(text string, separator *regexp.Regexp) []string {
	var parts []string
	for {
		at := separator.FindStringIndex(text)
		if at == nil {
			return append(parts, text)
		}
		parts, text = append(parts, text[:at[0]]), text[at[0]+1:]
	}
}

func parsePart(text string) (part, error) {
	text, ends := strings.CutPrefix(text, endsPrefix)
	kind, arg, named := strings.Cut(text, ":")
	p := part{kind: kind, arg: arg, ends: ends}
	switch kind {
	case "default", "current", "plan":
		if named {
			return p, fmt.Errorf("%s takes nothing after it", kind)
		}
		return p, nil
	case "file", "tuned", "firewall":
		if arg == "" {
			return p, fmt.Errorf("%s: a name is expected after it", kind)
		}
		return p, nil
	case "cc":
		if arg == "" {
			return p, errors.New("cc: the name of a congestion control is expected after it")
		}
		return p, nil
	case "set":
		for _, one := range splitBefore(arg, nextAssignment) {
			name, value, ok := strings.Cut(one, "=")
			name, value = strings.TrimSpace(name), strings.TrimSpace(value)
			if !ok || name == "" || value == "" {
				return p, fmt.Errorf("set: KEY=VALUE is expected, not %q", one)
			}
			p.values = append(p.values, assigned{name, value})
		}
		return p, nil
	}
	return p, fmt.Errorf("%s is expected", ArmForms)
}

// Planned tells whether a plan is a part of the arm.
func (a Arm) Planned() bool { return a.has("plan") }

// ForEnds tells whether a part of the arm sets the ends of a path with a router.
func (a Arm) ForEnds() bool {
	return slices.ContainsFunc(a.parts, func(p part) bool { return p.ends })
}

func (a Arm) has(kind string) bool {
	return slices.ContainsFunc(a.parts, func(p part) bool { return p.kind == kind })
}

// armValues is what an arm sets on the hosts.
type armValues struct {
	name   string
	values trial.Values
	notes  []trial.Note // what of it is not applied, and why
	wanted int          // settings that it names for these systems
	order  []string
}

func (a *armValues) note(kind trial.NoteKind, setting, format string, args ...any) {
	a.notes = append(a.notes, trial.Note{Kind: kind, Setting: setting, Text: fmt.Sprintf(format, args...)})
}

func (a *armValues) of(side string) map[string]string {
	switch side {
	case "client":
		return a.values.Client
	case "router":
		return a.values.Router
	}
	return a.values.Server
}

// resolveArms turns what the command line names into values for the hosts.
func (s *session) resolveArms(ctx context.Context) ([]*armValues, error) {
	var arms []*armValues
	for _, spec := range s.Arms {
		a := &armValues{name: spec.Name, values: trial.Values{Client: map[string]string{}, Server: map[string]string{},
			Router: map[string]string{}}}
		for _, part := range spec.parts {
			if err := s.resolvePart(ctx, a, part); err != nil {
				return nil, fmt.Errorf("arm %s: %w", spec.Name, err)
			}
		}
		arms = append(arms, a)
	}
	// What the others set has its default in an arm of defaults.
	for i, spec := range s.Arms {
		if spec.has("default") {
			s.fillDefaults(arms[i], arms)
		}
	}
	return arms, nil
}

func (s *session) resolvePart(ctx context.Context, a *armValues, p part) error {
	for _, e := range s.targets(p) {
		var values []assigned
		var err error
		switch p.kind {
		case "plan":
			values = e.tried
		case "set":
			values = p.values
		case "file":
			values, err = s.fromFile(a, e, p.arg)
		case "tuned":
			values, err = s.fromTuned(ctx, a, e, p.arg)
		case "cc":
			values, err = congestion(e.facts.System, p.arg)
		case "firewall":
			if values, err = firewall(e.facts.System, p.arg); err == nil {
				err = checkRules(ctx, e, p.arg, values)
			}
		}
		if err != nil {
			return err
		}
		for _, v := range values {
			s.assign(a, e, v, p.kind)
		}
	}
	return nil
}

// assign puts one value into an arm if its host can take it while it runs. Modules
// that FreeBSD's loader.conf loads are loaded, as apply does, but for ipfw, whose
// first rule would cut the host off.
func (s *session) assign(a *armValues, e *end, v assigned, kind string) {
	system := e.facts.System
	if system == catalog.Linux && !strings.HasPrefix(v.name, "/") && !strings.Contains(v.name, ":") {
		v.name = conffile.LinuxName(v.name)
	}
	a.wanted++
	module := system == catalog.FreeBSD && strings.HasSuffix(v.name, "_load") && strings.EqualFold(v.value, "yes") &&
		v.name != "ipfw_load"
	if record, ok := s.catalog.Lookup(system, v.name); ok && kind != "set" && !module &&
		(record.Kind == catalog.Boot || record.Kind == catalog.ReadOnly) {
		a.note(trial.AtBoot, v.name, "%s: %s counts from the next boot only and is left out", e.conn.Name(), v.name)
		return
	}
	if err := change.Supports(system, v.name); err != nil {
		a.note(trial.NotAtRunTime, v.name, "%s: %v; it is left out", e.conn.Name(), err)
		return
	}
	if change.OnlyRaised(system, v.name) {
		a.note(trial.NotAtRunTime, v.name, "%s: %s is left out: %s", e.conn.Name(), v.name, onlyRaised)
		return
	}
	a.of(e.side)[v.name] = v.value
	if slices.Contains(a.order, v.name) {
		return
	}
	if module { // what needs it comes after it
		a.order = append([]string{v.name}, a.order...)
		return
	}
	a.order = append(a.order, v.name)
}

// congestion names a congestion control as a system does; FreeBSD's may need a
// module (mod_cc(4)), OpenBSD has but one.
func congestion(system catalog.System, name string) ([]assigned, error) {
	switch system {
	case catalog.FreeBSD:
		return []assigned{{"cc_" + name + "_load", "YES"}, {"net.inet.tcp.cc.algorithm", name}}, nil
	case catalog.Linux:
		return []assigned{{"net.ipv4.tcp_congestion_control", name}}, nil
	}
	return nil, fmt.Errorf("cc: %s has no choice of congestion controls", system)
}

// firewall turns on, off or a file of rules into settings of a system's packet
// filter: pf of the BSDs, nftables of Linux, where off is no rule at all.
func firewall(system catalog.System, what string) ([]assigned, error) {
	bsd := system != catalog.Linux
	switch {
	case bsd && (what == "on" || what == "off"):
		return []assigned{{change.FirewallPF, what}}, nil
	case what == "off":
		return []assigned{{change.FirewallNFT, change.NoRules}}, nil
	case what == "on":
		return nil, errors.New("firewall:on is for pf: nftables is on when it has rules; name them as " +
			"firewall:FILE, or leave those that run with current")
	}
	rules, err := input.File(what, conffile.MaxSize)
	if err != nil {
		return nil, fmt.Errorf("firewall: on, off or a file of rules is expected: %w", err)
	}
	value := base64.StdEncoding.EncodeToString(rules)
	if bsd {
		return []assigned{{change.FirewallPF, "on"}, {change.FirewallPFRules, value}}, nil
	}
	return []assigned{{change.FirewallNFT, value}}, nil
}

// checkRules lets the host's own tool read a file of rules, without loading it:
// what it refuses ends the experiment with the tool's words about the file's
// line, rather than an arm without it. It loads nothing where the tool or the
// privilege is missing, which is found out when the rules are loaded.
func checkRules(ctx context.Context, e *end, file string, values []assigned) error {
	last := values[len(values)-1]
	script := map[string]string{
		change.FirewallNFT: "command -v nft >/dev/null && command -v base64 >/dev/null || exit 0; nft list " +
			"ruleset >/dev/null 2>&1 || exit 0; printf '%s\\n' '" + last.value + "' | base64 -d | nft -c -f -",
		change.FirewallPFRules: "command -v openssl >/dev/null || exit 0; printf '%s\\n' '" + last.value +
			"' | openssl base64 -d -A | pfctl -nf -",
	}[last.name]
	if script == "" || last.value == change.NoRules {
		return nil
	}
	answers, err := e.conn.Do(ctx, host.Script(script))
	if err != nil {
		return err
	}
	if a := answers[0]; a.Failure == host.Failed {
		said := strings.TrimRight(a.Stderr, "\n")
		for _, own := range []string{"/dev/stdin", "stdin", "(stdin)"} {
			said = strings.ReplaceAll(said, own+":", file+":")
		}
		return fmt.Errorf("%s refuses the rules of %s:\n%s", e.conn.Name(), file, said)
	}
	return nil
}

// fillDefaults gives an arm of defaults the value that the release ships for
// every setting that another arm changes, where that is known.
func (s *session) fillDefaults(a *armValues, all []*armValues) {
	for _, e := range s.hosts() {
		release, err := catalog.ParseVersion(e.facts.Release)
		if err != nil {
			continue
		}
		for _, other := range all {
			for name := range other.of(e.side) {
				if _, set := a.of(e.side)[name]; set {
					continue
				}
				running := strings.Join(strings.Fields(e.facts.Settings[name].Value), " ")
				record, known := s.catalog.Lookup(e.facts.System, name)
				if !known {
					continue
				}
				def, known := record.DefaultIn(release)
				value := strings.Join(strings.Fields(def.Value), " ")
				if !known || value == "" || value == "unknown" || value == "computed" || value == running ||
					running == "" {
					continue
				}
				a.of(e.side)[name] = value
				a.note(trial.Other, name, "%s: %s is %s here; default means %s, as %s ships it", e.conn.Name(), name,
					running, value, e.facts.Release)
			}
		}
	}
}

// fromFile reads the settings of a configuration file for one end.
func (s *session) fromFile(a *armValues, e *end, path string) ([]assigned, error) {
	data, err := input.File(path, conffile.MaxSize)
	if err != nil {
		return nil, err
	}
	values, _, err := s.fromText(a, e, path, data)
	return values, err
}

// fromText reads the settings of a configuration file and, of a TuneD profile,
// the names of those that it includes.
func (s *session) fromText(a *armValues, e *end, path string, data []byte) (values []assigned, include []string,
	err error) {
	guess := conffile.Detect(path, data)
	system := e.facts.System
	if guess.Confidence == conffile.NoIdea {
		guess.Kind = conffile.Sysctl
	}
	if guess.System != "" && guess.System != system {
		a.note(trial.Other, "", "%s is a file of %s: nothing of it is applied to %s, which is %s", filepath.Base(path),
			guess.System, e.conn.Name(), system)
		return nil, nil, nil
	}
	file, err := conffile.Parse(guess.Kind, system, path, data)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range file.Rejects {
		a.note(trial.Unread, fmt.Sprintf("line %d", r.Line), "%s:%d: %s", filepath.Base(path), r.Line, r.Reason)
	}
	for _, entry := range file.Entries {
		switch {
		case entry.Has(conffile.Glob), entry.Has(conffile.Exclude), entry.Has(conffile.Expands):
			a.note(trial.Unread, entry.Key, "%s:%d: %s is a pattern or holds a variable and is left out",
				filepath.Base(path), entry.Line, entry.Key)
		case entry.Name == "tuned:main/include":
			include = append(include, strings.FieldsFunc(entry.Value,
				func(r rune) bool { return r == ',' || r == ' ' })...)
		case strings.HasPrefix(entry.Name, "tuned:main/"), strings.HasPrefix(entry.Name, "tuned:variables/"):
		case strings.HasPrefix(entry.Name, "tuned:"):
			a.note(trial.Unread, entry.Key, "%s:%d: %s is not applied: an option of a plug-in of TuneD",
				filepath.Base(path), entry.Line, entry.Key)
		case entry.Name == "":
			a.note(trial.Unread, entry.Key, "%s:%d: %s is not a setting that can be changed", filepath.Base(path),
				entry.Line, entry.Key)
		case entry.Iface != "" && strings.Contains(entry.Name, ":"):
			values = append(values, assigned{entry.Name + "@" + entry.Iface, entry.Value})
		default:
			values = append(values, assigned{entry.Name, entry.Value})
		}
	}
	return values, include, nil
}

// fromTuned reads a TuneD profile where the host has it, else where this
// machine has it, with those that it includes.
func (s *session) fromTuned(ctx context.Context, a *armValues, e *end, name string) ([]assigned, error) {
	return s.readTuned(ctx, a, e, name, 0)
}

func (s *session) readTuned(ctx context.Context, a *armValues, e *end, name string, depth int) ([]assigned, error) {
	if depth > 10 || strings.ContainsAny(name, "/$") {
		return nil, fmt.Errorf("TuneD profile %q: not a profile's name, or profiles that include each other", name)
	}
	for _, conn := range []host.Conn{e.conn, host.NewLocal()} {
		for _, dir := range tunedFolders() {
			data, err := host.ReadFile(ctx, conn, dir+name+"/tuned.conf")
			if err != nil {
				continue
			}
			own, include, err := s.fromText(a, e, name+"/tuned.conf", data)
			if err != nil {
				return nil, err
			}
			var values []assigned
			for _, parent := range include {
				more, err := s.readTuned(ctx, a, e, strings.TrimPrefix(parent, "-"), depth+1)
				if err != nil {
					return nil, err
				}
				values = append(values, more...)
			}
			return append(values, own...), nil
		}
	}
	return nil, fmt.Errorf("TuneD profile %q is neither on %s nor on this machine; name its file as "+
		"file:PATH/tuned.conf", name, e.conn.Name())
}

// unionOrder lists every setting of the arms for one side, in the order in
// which they were named; a congestion control's module must be there before
// it is chosen, and a ceiling be raised before what is under it.
func unionOrder(arms []*armValues, side string) []string {
	var order []string
	for _, a := range arms {
		names := append(slices.Clone(a.order), slices.Sorted(maps.Keys(a.of(side)))...)
		for _, name := range names {
			if _, ok := a.of(side)[name]; ok && !slices.Contains(order, name) {
				order = append(order, name)
			}
		}
	}
	return order
}
