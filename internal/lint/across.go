package lint

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/conffile"
	"github.com/wirerate/wirerate/internal/regexp"
)

// assign remembers that a setting got a value, and reports the earlier line
// that it takes the effect from.
func (k *checker) assign(e conffile.Entry, r *catalog.Record, effective bool) {
	a := k.here(e)
	a.record = r
	k.kinds[a.kind] = true
	if a.kind == conffile.RC && len(k.variables) < cacheLimit {
		k.variables[e.Name] = true
	}
	if !effective {
		k.refused[r.Name] = a
	}
	if effective && r != nil {
		k.sameSetting(a)
		if before := k.effects[r.Name]; before == nil || !precedes(a, before) {
			k.effects[r.Name] = a
		}
		p := pending{assignment: a}
		for _, v := range r.Values {
			if v.Needs != "" && v.Value == strings.TrimSpace(e.Value) {
				p.valueNeeds = v.Needs
			}
		}
		if len(r.Needs)+len(r.Conflicts) > 0 || p.valueNeeds != "" {
			k.pending[r.Name+"\x00"+e.Iface] = p
		}
	}
	if e.Name == "pf:rule/queue" && r != nil {
		k.shapers = append(k.shapers, a)
	}
	if e.Name == "ipfw:queue" && len(k.slots) < cacheLimit {
		k.slots = append(k.slots, a)
	}
	if e.Has(conffile.Module) && !strings.Contains(e.Name, "/") {
		k.effects[e.Name] = a
	}
	k.expandsAgain(a, effective)
	if !replaces(e, a.kind) {
		return
	}
	key := e.Name + "\x00" + e.Iface
	if r != nil && !strings.Contains(r.Name, "*") {
		key = r.Name + "\x00" + e.Iface // two names of one setting are one
		if k.bothNames(r, k.versions[0]) {
			key = r.RenamedTo + "\x00" + e.Iface
		}
	}
	if before, ok := k.set[key]; ok && effective && oneBlock(before, a) && oneBranch(before, a) {
		if precedes(a, before) {
			k.superseded(a, before)
			return
		}
		k.superseded(before, a) // a line that is refused supersedes none
	}
	if len(k.set) < cacheLimit*20 {
		k.set[key] = a
	}
}

// expandsAgain reports a line of rc.conf that a later one of the same lines replaces, when a variable is in one of their
// values: the set of settings has none whose values are not known.
func (k *checker) expandsAgain(a *assignment, effective bool) {
	e := a.entry
	if a.kind != conffile.RC || !effective || e.Has(conffile.Part) || len(k.expanding) >= cacheLimit {
		return
	}
	before := k.expanding[e.Name]
	if before == nil && e.Has(conffile.Expands) {
		before = k.set[e.Name+"\x00"+e.Iface]
	}
	if before != nil && before.file == a.file && oneBlock(before, a) && oneBranch(before, a) &&
		!strings.Contains(e.Value, e.Name) && variablesOnly(a.file.text, before.entry, e) {
		k.superseded(before, a)
	}
	delete(k.expanding, e.Name)
	if e.Has(conffile.Expands) {
		k.expanding[e.Name] = a
	}
}

// variablesOnly reports whether the text between two lines is lines of rc.conf, of which none takes the value of the first.
func variablesOnly(text string, before, after conffile.Entry) bool {
	const near = 4 << 10
	from, to := before.Raw.End, after.Raw.Start
	if from > to || to-from > near || strings.Contains(text[from:to], "$"+before.Name) || strings.Contains(text[from:to], "${"+before.Name) {
		return false
	}
	for line := range strings.SplitSeq(text[from:to], "\n") {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' && !variableLine.MatchString(line) {
			return false
		}
	}
	return true
}

var variableLine = regexp.MustCompile(`^\w+(?:\$\{?\w+\}?\w*)?=`)

// oneBlock reports two lines of one block, or of paragraphs of a guide between which there is nothing but settings.
func oneBlock(before, after *assignment) bool {
	const near = 4 << 10
	from, to := before.entry.Raw.End, after.entry.Raw.Start
	return before.entry.Block == after.entry.Block || after.file.kind == conffile.Other && before.kind == after.kind &&
		before.file == after.file && to-from < near && assignmentsOnly(after.file.text, from, to)
}

// branchWord is a word of the shell at which other commands run, or from which on they may not.
var branchWord = regexp.MustCompile(`(?m)^[ \t]*(?:else|elif|fi|esac)\b|;;[ \t]*$`)

// oneBranch reports two lines that a script writes in the same run, the second wherever it writes the first.
func oneBranch(before, after *assignment) bool {
	const near = 4 << 10
	if before.file != after.file || !after.entry.Has(conffile.Conditional) {
		return true
	}
	from, to := before.entry.Raw.End, after.entry.Raw.Start
	return before.entry.Has(conffile.Conditional) && from <= to && to-from < near && !branchWord.MatchString(after.file.text[from:to])
}

// precedes reports a loader's line that a script writes behind one of sysctl.conf:
// the loader sets its value first, wherever the script writes it.
func precedes(a, before *assignment) bool {
	return a.kind == conffile.Loader && before.kind == conffile.Sysctl
}

// sameSetting reports a command of a script that undoes an earlier one by the
// other name of the setting.
func (k *checker) sameSetting(a *assignment) {
	before := k.effects[a.record.Name]
	const uncertain = conffile.Glob | conffile.Conditional | conffile.Expands
	if before == nil || before.kind != conffile.Script || a.kind != conffile.Script || before.file != a.file ||
		before.entry.Name == a.entry.Name || strings.Contains(a.record.Name, "*") ||
		(before.entry.Flags|a.entry.Flags)&uncertain != 0 || before.entry.Value == a.entry.Value {
		return
	}
	k.reportIn(before.file, before.entry, finding{code: "duplicate", severity: Warning, sources: a.record.Sources,
		message: fmt.Sprintf("%s = %s has no effect: line %d sets %s, another name of the same setting, to %s",
			before.entry.Name, before.entry.Value, a.entry.Line, a.entry.Name, a.entry.Value),
		because: "The commands run in order, and the last one wins."})
}

// inPlace are options of pf.conf that hold for the rules below them, up to where they are set again.
var inPlace = []string{"skip", "block-policy", "state-policy", "state-defaults", "fail-policy", "require-order"}

// replaces reports whether a second assignment of the same setting in
// another line means that the first one is dead.
func replaces(e conffile.Entry, kind conffile.Kind) bool {
	switch kind {
	case conffile.Sysctl:
		return e.Flags&(conffile.Glob|conffile.Conditional) == 0 && !strings.HasSuffix(e.Name, ".flush")
	case conffile.Script:
		return e.Flags&(conffile.Conditional|conffile.Expands) == 0 && placeOf(kind, e) == "sysctl" &&
			!strings.HasSuffix(e.Name, ".flush")
	case conffile.Other:
		return !e.Has(conffile.Expands) && placeOf(kind, e) == "sysctl"
	case conffile.Loader:
		return e.Key != "exec"
	case conffile.RC:
		return !e.Has(conffile.Part) && e.Flags&(conffile.Conditional|conffile.Expands) == 0
	case conffile.PF:
		option, is := strings.CutPrefix(e.Name, "pf:set/")
		return is && !slices.Contains(inPlace, option) && !e.Has(conffile.Conditional)
	}
	return false
}

// settingsOnly reports whether a part of a script does nothing but set sysctls.
func settingsOnly(text string, from, to int) bool {
	for line := range strings.SplitSeq(text[min(from, to):to], "\n") {
		line = strings.TrimPrefix(strings.TrimSpace(line), "sudo ")
		if line != "" && line[0] != '#' && !strings.HasPrefix(line, "sysctl ") && !strings.HasPrefix(line, "/sbin/sysctl ") {
			return false
		}
	}
	return true
}

// assignmentsOnly reports whether a part of a guide consists of lines of sysctl.conf, comments and empty lines.
func assignmentsOnly(text string, from, to int) bool {
	if to-from > 64<<10 {
		return false // far apart
	}
	for line := range strings.SplitSeq(text[min(from, to):to], "\n") {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' && !sysctlLine.MatchString(line) {
			return false
		}
	}
	return true
}

// sysctlLine is a line of sysctl.conf.
var sysctlLine = regexp.MustCompile(`^[a-z][a-z0-9_]*(?:[./][-A-Za-z0-9_*]+)+[ \t]*=[ \t]*[^ \t]`)

// superseded reports the first of two assignments of the same setting.
func (k *checker) superseded(before, after *assignment) {
	if len(k.problems) >= MaxProblems {
		k.dropped++
		return
	}
	if after.kind == conffile.Other && after.entry.Block == 0 &&
		!assignmentsOnly(after.file.text, before.entry.Raw.End, after.entry.Raw.Start) {
		return // two examples
	}
	if after.kind == conffile.Script && (before.file != after.file || before.entry.Name != after.entry.Name ||
		!settingsOnly(after.file.text, before.entry.Raw.End, after.entry.Raw.Start)) {
		return // something may run in between that wants the first value; two names are sameSetting's
	}
	same := strings.Join(strings.Fields(before.entry.Value), " ") == strings.Join(strings.Fields(after.entry.Value), " ")
	name := before.entry.Name
	f := finding{severity: Warning}
	switch {
	case before.kind == conffile.Loader && after.kind == conffile.Sysctl && !same && before.record != nil &&
		k.refused[before.record.Name] != before:
		f.code = "overridden"
		f.message = fmt.Sprintf("%s = %s is in effect only until %s:%d sets %s",
			name, before.entry.Value, after.file.path, after.entry.Line, after.entry.Value)
		f.because = "The kernel starts with the loader's value, and sysctl.conf is read late in the boot."
	case before.kind != after.kind:
		return
	case before.file == after.file && same:
		f.code, f.severity = "duplicate", Info
		f.message = fmt.Sprintf("%s is set to the same value again in line %d", name, after.entry.Line)
		f.because = "One of the two lines is enough."
	case before.file == after.file:
		f.code = "duplicate"
		f.message = fmt.Sprintf("%s = %s has no effect: line %d sets %s",
			name, before.entry.Value, after.entry.Line, after.entry.Value)
		f.because = "The lines are applied in order, and the last one wins."
		f.fix = &Fix{Kind: FixCommentOut, Reason: fmt.Sprintf("set again below to %s", after.entry.Value)}
	case k.system == catalog.Linux && path.Base(after.file.path) == "sysctl.conf" &&
		path.Base(before.file.path) > "99-sysctl.conf":
		return // systemd reads sysctl.conf as 99-sysctl.conf, procps after all others
	default:
		f.code = "overridden"
		f.message = fmt.Sprintf("%s = %s has no effect: %s:%d, read later, sets %s",
			name, before.entry.Value, after.file.path, after.entry.Line, after.entry.Value)
		f.because = "The system reads the files in this order, and the last one wins."
		if same {
			f.severity = Info
			f.message = fmt.Sprintf("%s is set to the same value in %s:%d, which is read later",
				name, after.file.path, after.entry.Line)
		}
	}
	k.reportIn(before.file, before.entry, f)
}

// reportIn reports a problem in a file other than the one being read.
func (k *checker) reportIn(file *source, e conffile.Entry, f finding) {
	current := k.file
	k.open(file)
	k.report(e, f)
	k.open(current)
}

// judgePending judges what settings need and what they must not stand beside.
func (k *checker) judgePending() {
	told := map[string]bool{} // pairs of conflicting settings
	first := func(a, b string) int {
		return cmp.Or(cmp.Compare(k.pending[a].file.path, k.pending[b].file.path),
			k.pending[a].entry.Line-k.pending[b].entry.Line, cmp.Compare(a, b))
	}
	for _, key := range slices.SortedFunc(maps.Keys(k.pending), first) {
		p := k.pending[key]
		if p.entry.Has(conffile.Expands) || isOff(p.entry.Value) && !k.exists(p.record) {
			continue // what is switched off needs nothing
		}
		needs := p.record.Needs
		if slices.ContainsFunc(p.record.Values, func(v catalog.Value) bool { return v.Needs != "" }) {
			needs = slices.DeleteFunc(slices.Clone(needs), isModule) // which one is up to the value
		}
		if p.valueNeeds != "" && !k.isDefault(p.assignment) {
			needs = append(slices.Clone(needs), p.valueNeeds)
		}
		for _, need := range needs {
			f := k.unmet(p.assignment, need)
			if f == nil || told[need] {
				continue
			}
			told[need] = brings(p.record, need) // a module once
			k.reportIn(p.file, p.entry, *f)
		}
		for _, other := range p.record.Conflicts {
			name, _, _ := strings.Cut(other, "=")
			f := k.conflicting(p.assignment, other)
			if f == nil || told[name+" "+p.record.Name] {
				continue
			}
			told[p.record.Name+" "+name] = true
			k.reportIn(p.file, p.entry, *f)
		}
	}
}

// judgeShapers reports that the rules which choose queues match IPv4 alone.
func (k *checker) judgeShapers() {
	for i, a := range k.shapers {
		if a.entry.Value != "inet" {
			return
		}
		if i+1 < len(k.shapers) {
			continue
		}
		first := k.shapers[0]
		k.reportIn(first.file, first.entry, finding{code: "harmful", severity: Info, sources: first.record.Sources,
			message: "no rule chooses a queue for IPv6",
			because: "All rules that choose one match IPv4 alone, so that IPv6 packets take the default queue, or none."})
	}
}

// isDefault reports whether a value is the default in a release at hand, and
// so needs no module there.
func (k *checker) isDefault(a *assignment) bool {
	return slices.ContainsFunc(k.versions, func(v catalog.Version) bool {
		d, ok := a.record.DefaultIn(v)
		return ok && strings.TrimSpace(d.Value) == strings.TrimSpace(a.entry.Value)
	})
}

// isModule reports whether a need is a module of FreeBSD.
func isModule(need string) bool {
	return strings.HasSuffix(need, "_load") && !strings.Contains(need, ".")
}

// unmet judges one need: a module, a setting, or name=value.
func (k *checker) unmet(a *assignment, need string) *finding {
	f := &finding{code: "needs", severity: Warning, sources: a.record.Sources}
	if isModule(need) {
		return k.moduleUnmet(a, need, strings.TrimSuffix(need, "_load"), f)
	}
	if k.system == catalog.Linux && !strings.ContainsAny(need, "./") {
		if (a.kind == conffile.Sysctl || a.kind == conffile.YAML && !strings.Contains(a.file.text, need)) &&
			brings(a.record, need) {
			return k.broughtLater(a, need, f)
		}
		return nil // Linux loads a module when a value names it
	}
	if k.isDefault(a) {
		return nil // what the system does by itself asks for nothing
	}
	name, want, hasWant := strings.Cut(need, "=")
	r := k.lookup(name)
	if r == nil || r.StateIn(k.versions[0]) != catalog.Present {
		return nil
	}
	have, set := k.effects[name]
	refused, tried := k.refused[name]
	switch {
	case !set && tried:
		f.message = fmt.Sprintf("%s needs %s, but %s:%d does not take effect",
			a.entry.Name, name, refused.file.path, refused.entry.Line)
	case set && hasWant && strings.TrimSpace(have.entry.Value) != want:
		f.message = fmt.Sprintf("%s needs %s, but %s:%d sets %s",
			a.entry.Name, need, have.file.path, have.entry.Line, have.entry.Value)
	case set && !hasWant && isOff(have.entry.Value):
		f.message = fmt.Sprintf("%s needs %s, which %s:%d switches off", a.entry.Name, name, have.file.path, have.entry.Line)
	case !set && strings.Contains(name, "*") && strings.Contains(a.file.text, path.Base(name)):
		return nil // a loop writes it
	case !set:
		d, ok := r.DefaultIn(k.versions[0])
		if !ok || d.Formula != "" || d.Value == "unknown" || d.Value == "computed" ||
			hasWant && d.Value == want || !hasWant && !isOff(d.Value) {
			return nil
		}
		f.message = fmt.Sprintf("%s needs %s, which is %s unless it is set", a.entry.Name, need, d.Value)
		f.severity = Info
	default:
		return nil
	}
	f.because = r.Does
	return f
}

// brings reports whether a module brings the setting itself, rather than one of its
// values: without the module there is nothing to write to.
func brings(r *catalog.Record, need string) bool {
	return slices.Contains(r.Needs, need) && !strings.ContainsAny(need, "./") && !strings.HasPrefix(need, "CONFIG_")
}

// exists reports whether even switching the setting off needs a module: it comes with
// one, and is not off by itself.
func (k *checker) exists(r *catalog.Record) bool {
	d, known := r.DefaultIn(k.versions[0])
	return k.system == catalog.Linux && known && !isOff(d.Value) &&
		slices.ContainsFunc(r.Needs, func(need string) bool { return brings(r, need) })
}

// broughtLater judges a setting that exists only while a module is loaded, which a
// rule or a program does long after sysctl files are read.
func (k *checker) broughtLater(a *assignment, module string, f *finding) *finding {
	if _, loaded := k.effects["module:"+module]; loaded || k.running(a.entry) {
		return nil
	}
	f.severity, f.sources = Info, []string{"sysctl.d(5), EXAMPLES: br_netfilter in modules-load.d"}
	f.message = fmt.Sprintf("%s exists only while the module %s is loaded; load it at boot by a "+
		"line in /etc/modules-load.d", a.entry.Name, module)
	f.because = "If nothing has loaded it when the sysctl files are read, the line fails, and the kernel's " +
		"default holds from then on."
	return f
}

func isOff(value string) bool {
	on, ok := truth(value)
	return ok && on == 0
}

// moduleUnmet judges the loading of a FreeBSD module.
func (k *checker) moduleUnmet(a *assignment, need, module string, f *finding) *finding {
	if load, ok := k.effects[need]; ok && !isOff(load.entry.Value) {
		return nil
	}
	if enable, ok := k.set[module+"_enable\x00"]; ok && !isOff(enable.entry.Value) {
		return nil // the service of that name loads its module
	}
	for _, v := range k.versions {
		if r := k.lookup(need); r == nil || r.StateIn(v) != catalog.Present {
			return nil // built in, or not known to be a module
		}
	}
	f.message = fmt.Sprintf("%s = %s needs the module %s: %s=\"YES\" in /boot/loader.conf, or kld_list in /etc/rc.conf",
		a.entry.Name, a.entry.Value, module, need)
	f.because = "Without the module the kernel does not know the setting or the value, and refuses the line."
	if !k.kinds[conffile.Loader] || !k.kinds[conffile.RC] {
		f.severity = Info
		f.message += " (not both of these files were given)"
	}
	return f
}

// conflicting judges one conflict: a name, or name=value.
func (k *checker) conflicting(a *assignment, other string) *finding {
	name, value, hasValue := strings.Cut(other, "=")
	have, set := k.effects[name]
	if !set || hasValue && strings.TrimSpace(have.entry.Value) != value || !hasValue && isOff(have.entry.Value) {
		return nil
	}
	if have.entry.Iface != a.entry.Iface && have.entry.Iface != "" && a.entry.Iface != "" {
		return nil
	}
	return &finding{code: "conflict", severity: Warning, sources: a.record.Sources, because: a.record.Does,
		message: fmt.Sprintf("%s does not go with %s = %s in %s:%d",
			a.entry.Name, name, have.entry.Value, have.file.path, have.entry.Line)}
}

// drift reports a running value that differs from the file's.
func (k *checker) drift(r *catalog.Record, e conffile.Entry) {
	m := k.opt.Machine
	if m == nil || m.Running == nil || e.Flags&(conffile.Expands|conffile.Glob|conffile.Conditional) != 0 ||
		r.Kind == catalog.Boot {
		return
	}
	running, known := m.Running(e.Name, e.Iface)
	if !known {
		return
	}
	place := placeOf(k.kindOf(e), e)
	if sameValue(k.read(r, e.Value, place), running) {
		return
	}
	k.report(e, finding{code: "drift", severity: Info, value: true, sources: r.Sources,
		message: fmt.Sprintf("%s is %s on the running system", e.Name, running),
		because: "The file has not been applied, something changed the value since, or the kernel rounded it."})
}

// pfName is a setting of pf.conf in the words of the file.
func (k *checker) pfName(e conffile.Entry) string {
	if rest, is := strings.CutPrefix(e.Name, "pf:set/"); is {
		return "set " + strings.ReplaceAll(rest, "/", " ")
	}
	return e.Key
}
