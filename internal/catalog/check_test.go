package catalog

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// places are the values of Record.Belongs.
var places = []string{
	"sysctl", "loader", "rc", "hostname.if", "ethtool", "link-file", "network-file", "route", "link",
	"module", "sysfs", "pf", "ifconfig", "kernel-config", "zfs-property", "build", "interface-file", "src.conf",
	"tuned", "nft", "ipfw",
}

var (
	namePattern    = regexp.MustCompile(`^[A-Za-z0-9/][A-Za-z0-9_.:/*%@+-]*$`)
	versionPattern = regexp.MustCompile(`^[0-9]+(\.[0-9]+)*$`)
)

// check returns everything wrong with the records, one error each.
func check(records []Record) []error {
	var problems []error
	seen := map[string]string{}
	for i := range records {
		r := &records[i]
		report := func(format string, args ...any) {
			problems = append(problems, fmt.Errorf("%s %s: %s", r.System, r.Name, fmt.Sprintf(format, args...)))
		}
		checkForm(r, report)
		checkVersions(r, report)
		checkDefaults(r, report)
		for _, f := range r.Formulas {
			checkFormula(r, f, report)
		}
		for _, j := range r.Judge {
			checkJudgement(j, report)
		}
		checkEvidence(r, report)
		for _, name := range append([]string{r.Name}, r.Aliases...) {
			key := string(r.System) + " " + name
			if other, dup := seen[key]; dup {
				report("name %s is already taken by %s", name, other)
			}
			seen[key] = r.Name
		}
	}
	return problems
}

type reporter func(format string, args ...any)

func checkForm(r *Record, report reporter) {
	if !namePattern.MatchString(r.Name) {
		report("name is not well formed")
	}
	if strings.HasSuffix(r.Unit, "seconds") {
		report("the unit %s is written s, ms or us, as lint knows it", r.Unit)
	}
	oneOf(report, "kind", string(r.Kind), string(Runtime), string(Boot), string(Both), string(ReadOnly), string(Unknown))
	oneOf(report, "scope", string(r.Scope), string(ScopeHost), string(ScopeNetns), string(ScopeVnet),
		string(ScopeInterface), string(ScopeRoute), string(ScopeUserns), string(ScopeIPC), string(ScopeUTS),
		string(ScopeUnknown))
	oneOf(report, "type", string(r.Type), string(TypeBool), string(TypeInt), string(TypeUint), string(TypeTriple),
		string(TypeList), string(TypeEnum), string(TypeBitmask), string(TypeString), string(TypeOpaque))
	oneOf(report, "undo", r.Undo, "", "restore", "reboot", "none")
	if len(r.Belongs) == 0 {
		report("belongs is empty")
	}
	for _, place := range r.Belongs {
		oneOf(report, "belongs", place, places...)
	}
	if len(r.Does) < 20 {
		report("does must say in a sentence what the setting does")
	}
	if len(r.Sources) == 0 {
		report("no source")
	}
	for _, s := range r.Sources {
		if len(strings.TrimSpace(s)) < 6 {
			report("source %q names nothing", s)
		}
		if strings.Count(s, "(") != strings.Count(s, ")") {
			report("source %q is cut; quote text that has a # in it", s)
		}
	}
	if r.Type == TypeEnum && len(r.Values) == 0 {
		report("an enum needs its values")
	}
	for a := r.Range; a != nil; a = a.Before {
		switch {
		case a.Min == nil && a.Max == nil:
			report("range without an end")
		case a.Min != nil && a.Max != nil && *a.Min > *a.Max:
			report("range is empty")
		case a.Since != "" && (!versionPattern.MatchString(string(a.Since)) || !(a.Since.Compare(r.Since) > 0)):
			report("range since %s, in a setting since %q", a.Since, r.Since)
		case a.Before != nil && !(a.Since.Compare(a.Before.Since) > 0):
			report("ranges are not newest first")
		}
	}
}

func oneOf(report reporter, what, got string, allowed ...string) {
	if !slices.Contains(allowed, got) {
		report("%s %q: one of %s is expected", what, got, strings.Join(allowed, ", "))
	}
}

func checkVersions(r *Record, report reporter) {
	all := []Version{r.Since, r.Removed, r.NoEffectSince}
	for _, l := range r.Lifetimes {
		all = append(all, l.Since, l.Removed)
	}
	for _, d := range r.Default {
		all = append(all, d.Since)
	}
	for _, v := range all {
		if v != "" && !versionPattern.MatchString(string(v)) {
			report("version %q is not numeric", v)
		}
	}
	if r.Since != "" && r.Removed != "" && !(r.Removed.Compare(r.Since) > 0) {
		report("removed in %s, not after since %s", r.Removed, r.Since)
	}
	checkLifetimes(r, report)
	if r.Removed != "" && r.RenamedTo == "" && r.Became == "" {
		report("a removed setting needs renamed-to or became")
	}
}

func checkLifetimes(r *Record, report reporter) {
	if len(r.Lifetimes) > 0 && (r.Since != "" || r.Removed != "") {
		report("since and removed beside lifetimes")
	}
	for i, l := range r.Lifetimes {
		oneOf(report, "kind of a lifetime", string(l.Kind), string(Runtime), string(Boot), string(Both), string(ReadOnly), string(Unknown))
		last := i == len(r.Lifetimes)-1
		switch {
		case i > 0 && !l.Since.AtLeast(r.Lifetimes[i-1].Removed), i > 0 && l.Since == "", !last && l.Removed == "":
			report("lifetimes are not one after the other")
		case l.Removed != "" && !(l.Removed.Compare(l.Since) > 0):
			report("a lifetime ends in %s, not after %s", l.Removed, l.Since)
		case last && l.Kind != r.Kind:
			report("kind %s is not that of the last lifetime", r.Kind)
		case last && l.Removed != "" && r.Became == "":
			report("a removed setting needs became")
		}
	}
}

func checkDefaults(r *Record, report reporter) {
	for i, d := range r.Default {
		if i > 0 && d.Since.Compare(r.Default[i-1].Since) <= 0 {
			report("defaults are not in the order of their versions")
		}
		if d.Value == "" {
			report("a default without a value; write unknown, computed or the value (an empty string is \"\\\"\\\"\")")
		}
		if d.AtMost != "" && d.Value != "unknown" {
			report("at-most bounds a default that is unknown, not %s", d.Value)
		}
		if d.Value == "unknown" || d.Value == "computed" {
			continue
		}
		// A default that the kernel does not take back has a note that says so.
		if problem := r.checkValue(d.Value); problem != "" && !strings.Contains(d.Note, "cannot be written") {
			report("default %q: %s", d.Value, problem)
		}
	}
	if len(r.Default) == 0 && r.Kind != ReadOnly {
		report("no default; write unknown when it could not be established")
	}
}

// checkValue says what is wrong with a value for this setting: an empty string
// when nothing is. Opaque and string values are never judged.
func (r *Record) checkValue(value string) string {
	v := strings.TrimSpace(value)
	switch r.Type {
	case TypeBool:
		if !slices.Contains([]string{"0", "1", "on", "off", "yes", "no", "YES", "NO", "Y", "N", "y", "n", "true",
			"false"}, v) {
			return "not a boolean"
		}
	case TypeInt, TypeUint:
		return r.checkNumber(v)
	case TypeTriple:
		words := strings.Fields(v)
		if len(words) != 3 {
			return "three numbers are expected: minimum, default, maximum"
		}
		for _, w := range words {
			if problem := r.checkNumber(w); problem != "" {
				return problem
			}
		}
	case TypeEnum:
		for _, known := range r.Values {
			if known.Value == v {
				return ""
			}
		}
		return "not one of its values"
	}
	return ""
}

func (r *Record) checkNumber(v string) string {
	n, err := strconv.ParseInt(v, 0, 64)
	if err != nil {
		var numErr *strconv.NumError
		if errors.As(err, &numErr) && errors.Is(numErr.Err, strconv.ErrRange) {
			if u, err := strconv.ParseUint(v, 0, 64); err == nil && (r.Range == nil || r.Range.Max == nil) && u > 0 {
				return ""
			}
			return "does not fit 64 bits"
		}
		return "not a whole number"
	}
	if r.Type == TypeUint && n < 0 && (r.Range == nil || r.Range.Min == nil) {
		return "must not be negative"
	}
	if r.Range == nil {
		return ""
	}
	if r.Range.Min != nil && n < *r.Range.Min {
		return fmt.Sprintf("below the smallest value that is accepted, %d", *r.Range.Min)
	}
	if r.Range.Max != nil && n > *r.Range.Max {
		return fmt.Sprintf("above the largest value that is accepted, %d", *r.Range.Max)
	}
	return ""
}

func checkFormula(r *Record, f Formula, report reporter) {
	for _, role := range f.Roles {
		oneOf(report, "role", role, Roles()...)
	}
	if f.Because == "" {
		report("formula %q has no because", f.Value)
	}
	if f.Fires == nil {
		report("formula %q has no example that fires", f.Value)
		return
	}
	proposed, err := f.propose(r.compiler(), Inputs(f.Fires))
	switch {
	case err != nil:
		report("example of %q: %v", f.Value, err)
	case proposed == nil:
		report("the example of %q does not fire", f.Value)
	case proposed.Text() != f.Gives:
		report("the example of %q gives %s, not %s", f.Value, proposed.Text(), f.Gives)
	default:
		if problem := r.checkValue(proposed.Text()); problem != "" {
			report("formula %q proposes %s: %s", f.Value, proposed.Text(), problem)
		}
	}
	if f.When == "" {
		return
	}
	if f.Quiet == nil {
		report("formula %q has a condition and no example that stays quiet", f.Value)
		return
	}
	if proposed, err := f.propose(r.compiler(), Inputs(f.Quiet)); err != nil || proposed != nil {
		report("the quiet example of %q proposes something (%v)", f.Value, err)
	}
}

func checkJudgement(j Judgement, report reporter) {
	oneOf(report, "judgement code", j.Code, "harmful", "weakens-security", "no-effect", "wrong-unit", "below-default",
		"out-of-range", "conflict", "needs")
	oneOf(report, "severity", j.Severity, "", "error", "warning", "info")
	if j.Because == "" {
		report("judgement %q has no because", j.When)
	}
	if fires, err := new(compiler).holds(j.When, Inputs(j.Fires)); err != nil || !fires {
		report("the example of judgement %q does not fire (%v)", j.When, err)
	}
	if fires, err := new(compiler).holds(j.When, Inputs(j.Quiet)); err != nil || fires {
		report("the quiet example of judgement %q fires (%v)", j.When, err)
	}
}

func checkEvidence(r *Record, report reporter) {
	for _, e := range r.Evidence {
		oneOf(report, "grade", string(e.Grade), string(Proven), string(Published), string(Documented), string(Claimed),
			string(Refuted))
		if e.Says == "" || e.Source == "" {
			report("evidence needs says and source")
		}
		if e.Grade == Published && (e.Hardware == "" || e.Workload == "") {
			report("published evidence needs its conditions: hardware and workload")
		}
		if e.Effect != nil && e.Effect.Ratio <= 0 {
			report("effect needs a positive ratio")
		}
	}
}
