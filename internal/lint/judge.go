package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/conffile"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/spelling"
)

// judge returns the problems of one setting. A release that is not known is
// stood for by the newest and the oldest one that the catalog describes: what
// holds in both is reported in full, what holds in the newest alone as a
// warning at most, what holds in the oldest alone not at all.
func (k *checker) judge(r *catalog.Record, e conffile.Entry, place string) []finding {
	found := k.judgeIn(r, e, place, k.versions[0])
	for _, v := range k.versions[1:] {
		if r.StateIn(v) == catalog.NotYet {
			v = r.Since // the oldest release that has it
		}
		others := k.judgeIn(r, e, place, v)
		for i := range found {
			if !slices.ContainsFunc(others, sameID(found[i])) {
				found[i].severity = k.newestOnly(r, found[i], e)
				found[i].because += k.newSince(r, found[i], e)
			}
		}
		found = slices.DeleteFunc(found, func(f finding) bool {
			return f.code == "same-as-default" && !slices.ContainsFunc(others, sameID(f))
		})
	}
	if e.Has(conffile.IgnoreErrors) {
		for i := range found {
			switch found[i].code {
			case "removed", "renamed", "not-yet", "read-only":
				found[i].severity = Info
			}
		}
	}
	return found
}

// sameID tells whether a finding is about the same problem as f.
func sameID(f finding) func(finding) bool {
	return func(o finding) bool { return o.id == f.id }
}

// judgeIn returns the problems of a setting in one release.
func (k *checker) judgeIn(r *catalog.Record, e conffile.Entry, place string, version catalog.Version) []finding {
	if f, dead := k.existence(r, e, version); dead {
		return f
	}
	if f := k.misplaced(r, e, place); f != nil {
		return []finding{*f}
	}
	found := k.driver(r, e)
	if _, newest := catalog.Supported(k.system); r.Removed.Compare(newest) > 0 {
		found = append(found, finding{id: "goes", code: "removed", severity: Info, because: r.Became, sources: r.Sources,
			message: fmt.Sprintf("%s is deprecated and goes with %s %s", e.Name, k.system.Title(), r.Removed)})
	}
	if k.bothNames(r, version) {
		found = append(found, k.renamed(r, Info, fmt.Sprintf("%s is the old name of %s; both still work",
			r.Name, r.RenamedTo)))
	}
	if e.Has(conffile.Expands) || isTemplate(e.Value) || place == "" && !judgedPlace(e) {
		return found
	}
	v := k.read(r, e.Value, place)
	if f := k.refusedValue(r, e, v, place, version); f != nil {
		found = append(found, *f)
		if f.code == "out-of-range" && !k.known && r.Range != nil && r.Range.Since != "" {
			found = append(found, k.judgements(r, e, v, version)...) // what it does where it is taken
		}
		return found
	}
	if v.extra {
		found = append(found, finding{id: "extra", code: "syntax", severity: Warning, sources: r.Sources, value: true,
			message: fmt.Sprintf("%s takes one number; the kernel reads %s and ignores the rest", e.Name, v.words[0]),
			because: r.Does})
	}
	judged := k.unitSlip(r, e, v, version)
	if len(judged) == 0 {
		judged = k.judgements(r, e, v, version)
	}
	if len(judged) == 0 {
		judged = k.smallBound(r, e, v, version)
	}
	found = append(found, judged...)
	if len(judged) == 0 && !v.extra {
		if f := cmp.Or(k.sameAsDefault(r, e, v, version), noSwitch(r, e, v, place), k.leftOff(r, e, v)); f != nil {
			found = append(found, *f)
		}
	}
	return found
}

// isTemplate reports a value that some program fills in before the system
// reads the file.
func isTemplate(value string) bool {
	for _, mark := range []string{"{{", "${", "$(", "<%", "%%"} {
		if strings.Contains(value, mark) {
			return true
		}
	}
	return len(value) > 2 && value[0] == '@' && value[len(value)-1] == '@'
}

// judgedPlace reports whether a name outside of the usual places has values
// that the catalog's judgements are about.
func judgedPlace(e conffile.Entry) bool {
	return strings.ContainsAny(e.Name, ":/")
}

// existence judges whether the release has the setting; dead is true when
// nothing else about it matters.
func (k *checker) existence(r *catalog.Record, e conffile.Entry, version catalog.Version) (found []finding, dead bool) {
	because := r.Became
	if because == "" {
		because = r.Does
	}
	name, refused := e.Name, Warning
	if strings.HasPrefix(name, "pf:") {
		name, refused = k.pfName(e), Error // pfctl loads nothing then
	}
	state := r.StateIn(version)
	if state != catalog.Inactive && k.running(e) {
		return nil, false
	}
	switch state {
	case catalog.Gone:
		text := fmt.Sprintf("%s does not exist since %s %s", name, k.system.Title(), r.Removed)
		switch {
		case r.Removed == "0":
			text = fmt.Sprintf("%s is not a setting of %s's own kernel", name, k.system.Title())
		case !r.Removed.AtLeast("2") && k.system != catalog.Linux:
			text = fmt.Sprintf("%s does not exist in %s, and never did", name, k.system.Title())
		}
		switch {
		case strings.ContainsAny(r.RenamedTo, ":/"):
			return []finding{k.renamed(r, Warning, text+"; "+r.RenamedTo+" is what sets it")}, true
		case k.renamedAndGone(r, version):
			to := k.lookup(r.RenamedTo)
			because = cmp.Or(to.Became, because)
			text += fmt.Sprintf("; its later name, %s, does not exist since %s either", to.Name, to.Removed)
		case r.RenamedTo != "":
			return []finding{k.renamed(r, Warning, text+"; it is called "+r.RenamedTo+" now")}, true
		}
		return []finding{{id: "removed", code: "removed", severity: refused, message: text, because: because,
			sources: r.Sources,
			fix:     &Fix{Kind: FixCommentOut, Reason: text}}}, true
	case catalog.NotYet:
		return []finding{{id: "not-yet", code: "not-yet", severity: refused, because: r.Does, sources: r.Sources,
			message: fmt.Sprintf("%s appears in %s %s, later than %s", name, k.system.Title(), r.Since, version)}}, true
	case catalog.Inactive:
		text := fmt.Sprintf("%s is accepted but ignored since %s %s", name, k.system.Title(), r.NoEffectSince)
		return []finding{{id: "no-effect", code: "no-effect", severity: Warning, message: text, because: because,
			sources: r.Sources,
			fix:     &Fix{Kind: FixCommentOut, Reason: text}}}, true
	}
	return nil, false
}

// renamedAndGone tells whether the later name of a setting is gone as well.
func (k *checker) renamedAndGone(r *catalog.Record, version catalog.Version) bool {
	to := k.lookup(r.RenamedTo)
	return to != nil && to.StateIn(version) == catalog.Gone && to.RenamedTo == ""
}

// running reports whether the machine is known to have the setting, whatever
// its release: distributions bring settings to older kernels and keep old ones.
func (k *checker) running(e conffile.Entry) bool {
	if k.opt.Machine == nil || k.opt.Machine.Running == nil {
		return false
	}
	_, known := k.opt.Machine.Running(e.Name, e.Iface)
	return known
}

// bothNames reports whether a release has the old and the new name of a setting.
func (k *checker) bothNames(r *catalog.Record, version catalog.Version) bool {
	if r.RenamedTo == "" || r.Removed != "" {
		return false
	}
	to := k.lookup(r.RenamedTo)
	return to == nil || to.StateIn(version) == catalog.Present
}

// renamed reports an old name. The key is only rewritten when the new setting
// takes the same values.
func (k *checker) renamed(r *catalog.Record, severity Severity, text string) finding {
	f := finding{id: "renamed", code: "renamed", severity: severity, message: text, because: r.Became, sources: r.Sources}
	if f.because == "" {
		f.because = "The setting lives on under the new name."
	}
	if to := k.lookup(r.RenamedTo); to != nil && to.Type == r.Type && to.Unit == r.Unit &&
		!strings.Contains(r.RenamedTo, "*") {
		f.fix = &Fix{Kind: FixRename, To: r.RenamedTo, Reason: text}
	}
	return f
}

// driver judges a setting of another network driver than the machine's.
func (k *checker) driver(r *catalog.Record, e conffile.Entry) []finding {
	var have []string
	switch {
	case k.opt.Driver != "":
		have = []string{k.opt.Driver}
	case k.opt.Machine != nil && k.opt.Machine.Drivers != nil:
		have = k.opt.Machine.Drivers
	}
	if len(r.Drivers) == 0 || len(have) == 0 ||
		slices.ContainsFunc(r.Drivers, func(d string) bool { return slices.Contains(have, d) }) {
		return nil
	}
	return []finding{{id: "driver", code: "driver", severity: Warning, because: r.Does, sources: r.Sources,
		message: fmt.Sprintf("%s is a setting of %s; the interfaces here use %s",
			e.Name, strings.Join(r.Drivers, ", "), strings.Join(have, ", "))}}
}

// refusedValue judges values that the system does not take.
func (k *checker) refusedValue(r *catalog.Record, e conffile.Entry, v reading, place string,
	version catalog.Version) *finding {
	bad := func(severity Severity, message, because string) *finding {
		return &finding{id: "bad-value", code: "bad-value", severity: severity, message: message, because: because,
			sources: r.Sources, value: true}
	}
	if k.file.kind == conffile.Other && slices.Contains(metaWords, e.Value) {
		return nil // which a guide writes for the values that there are
	}
	if v.refused != "" {
		return bad(Error, fmt.Sprintf("%s takes a number: %s", e.Name, v.refused),
			"The kernel refuses the value and keeps the old one.")
	}
	if f := trailingComment(k.system, r, e, place, bad); f != nil {
		return f
	}
	if f := cmp.Or(order(r, e, v), k.word(r, e)); f != nil {
		return f
	}
	if r.Type == catalog.TypeTriple && v.numeric && len(v.numbers) < 3 && k.system == catalog.Linux {
		return bad(Warning, fmt.Sprintf("%s takes three numbers; the last %d stay as they were", e.Name, 3-len(v.numbers)),
			"The kernel writes the numbers that it gets, in order, and leaves the others.")
	}
	if f := k.joined(r, v, version); f != "" && place == "sysctl" {
		return bad(Error, fmt.Sprintf("%s takes numbers with blanks between them, not %s", e.Name, strconv.Quote(f)),
			"The kernel refuses the value and keeps the old one.")
	}
	if r.Type == catalog.TypeEnum {
		return enumValue(r, e, v, version, k.system, bad)
	}
	accepted := r.RangeIn(version)
	if !v.numeric || accepted == nil || r.Type == catalog.TypeBitmask || r.Type == catalog.TypeList {
		return nil
	}
	for _, n := range v.numbers {
		text := ""
		switch {
		case accepted.Min != nil && n < float64(*accepted.Min):
			text = fmt.Sprintf("%s: %.0f is below %d, the smallest value that the kernel takes", e.Name, n, *accepted.Min)
		case accepted.Max != nil && n > float64(*accepted.Max):
			text = fmt.Sprintf("%s: %.0f is above %d, the largest value that the kernel takes", e.Name, n, *accepted.Max)
		default:
			continue
		}
		return &finding{id: "out-of-range", code: "out-of-range", severity: Error, message: text,
			because: "The value is refused or cut to the limit.", sources: r.Sources, value: true}
	}
	return nil
}

// joinedNumbers are numbers that something else than a blank separates.
var joinedNumbers = regexp.MustCompile(`^[0-9]+(?:[-,:;][0-9]+)+$`)

// joined returns the first word of a list of numbers where it is several of them, "" for
// another list.
func (k *checker) joined(r *catalog.Record, v reading, version catalog.Version) string {
	d, known := r.DefaultIn(version)
	normal := strings.Fields(d.Value)
	if !known || k.system != catalog.Linux || r.Type != catalog.TypeList || len(normal) < 2 || len(v.words) == 0 ||
		!joinedNumbers.MatchString(v.words[0]) {
		return ""
	}
	for _, n := range normal {
		if _, number := lastNumber(n); !number {
			return ""
		}
	}
	return v.words[0]
}

// trailingComment finds a comment behind a word in Linux' sysctl files, where
// it becomes part of the value. Behind numbers the kernel never reads it.
func trailingComment(system catalog.System, r *catalog.Record, e conffile.Entry, place string,
	bad func(Severity, string, string) *finding) *finding {
	if system != catalog.Linux || place != "sysctl" || r.Type != catalog.TypeEnum && r.Type != catalog.TypeString ||
		allNumeric(r.Values) {
		return nil
	}
	word, rest, ok := strings.Cut(e.Value, " ")
	if !ok || !strings.HasPrefix(strings.TrimSpace(rest), "#") {
		return nil
	}
	return bad(Error, fmt.Sprintf("the value is %q with the comment, not %q", e.Value, word),
		"A '#' begins a comment only at the start of a line in these files, so the kernel gets the comment too.")
}

// metaWords stand for a value.
var metaWords = []string{"option", "value", "name", "number", "policy", "mode", "string", "level", "setting"}

// goneValue is the id of a value that a later release lost.
const goneValue = "gone-value"

// enumValue judges a value of a fixed set.
func enumValue(r *catalog.Record, e conffile.Entry, v reading, version catalog.Version, system catalog.System,
	bad func(Severity, string, string) *finding) *finding {
	open := false // modules may bring further values
	var names []string
	for _, known := range r.Values {
		names = append(names, known.Value)
		open = open || known.Needs != ""
		if !sameValue(v, known.Value) {
			continue
		}
		switch {
		case known.Removed != "" && version.AtLeast(known.Removed):
			f := bad(Warning, fmt.Sprintf("%s: the value %s was removed in %s %s",
				e.Name, known.Value, system.Title(), known.Removed), "It meant: "+known.Means+".")
			f.id = goneValue
			return f
		case known.Since != "" && !version.AtLeast(known.Since):
			return bad(Warning, fmt.Sprintf("%s: the value %s exists only from %s %s on",
				e.Name, known.Value, system.Title(), known.Since), "It means: "+known.Means+".")
		}
		return nil
	}
	severity, text := Warning, fmt.Sprintf("%s: %q is not one of its values: %s",
		e.Name, e.Value, strings.Join(names, ", "))
	for _, name := range names {
		if open && len(name) > 2 && spelling.Edits(name, e.Value) == 1 {
			severity, text = Error, text+"; did you mean "+name+"?"
		}
	}
	return bad(severity, text, r.Does)
}

// plannedFile begins the files that a plan writes (plan.NativeFiles).
const plannedFile = "# wirerate plan: "

// gathering are commands by which a card gathers packets without a time that is set.
var gathering = regexp.MustCompile(`adaptive-rx[ \t]+on|rx-frames[ \t]+(?:[2-9]|[1-9][0-9])`)

// gathers reports whether a file has the interrupts wait for something else than rx-usecs.
func (k *checker) gathers() bool { return gathering.MatchString(k.file.text) }

// judgements evaluates the catalog's conditions on the value.
func (k *checker) judgements(r *catalog.Record, e conffile.Entry, v reading, version catalog.Version) []finding {
	if len(r.Judge) == 0 || !judgedAlone(r, e) || r.Name == "ethtool:coalesce/rx-usecs" && k.gathers() {
		return nil
	}
	in := k.inputs(e, v, version)
	normal, exact, hasStandard := k.standard(r, version, in)
	if hasStandard && exact {
		in["standard"] = normal
	}
	as := &supposed{known: []catalog.Inputs{in}, version: version}
	least := as
	if n, ok := leastDefault(r, version); ok && !hasStandard {
		least = &supposed{known: []catalog.Inputs{{"standard": n}, in}, version: version}
	}
	var found []finding
	for i, j := range r.Judge {
		known := as
		if j.Code == "below-default" {
			known = least // below the least that the default can be is below the default
		}
		held, certain := k.holds(r, j, known)
		if !held {
			continue
		}
		severity, because := Severity(j.Severity), j.Because
		if severity == "" {
			severity = defaultSeverity(j.Code)
		}
		if strings.HasPrefix(k.file.text, plannedFile) && (severity == Info && j.Code == "harmful" || j.Typical) {
			continue // the value was computed for its path and machine
		}
		if !certain {
			severity = Info
		}
		if !certain || j.Typical && in["memory"] == nil {
			because += " " + assumedText
		}
		sources := j.Sources
		if len(sources) == 0 {
			sources = r.Sources
		}
		named := hasStandard && (exact || j.Code == "below-default")
		if j.Code == "below-default" && v.numeric && v.numbers[len(v.numbers)-1] >= normal {
			named = false // the system's default is more than the kernel's
		}
		message := cmp.Or(k.memberMessage(r, j, e, v, version, in), k.valueMessage(j.Code, e, defaultText(r, normal, named, version), version))
		if j.Typical && slices.ContainsFunc(found, func(o finding) bool { return o.message == message && o.severity == severity }) {
			continue // what an ordinary machine would have is said of this one already
		}
		found = append(found, finding{id: fmt.Sprintf("judge%d", i), code: j.Code, severity: severity, because: because,
			message: message, sources: sources, value: true})
	}
	return slices.DeleteFunc(found, func(f finding) bool { // the certain one of two says it all, of units the graver
		return slices.ContainsFunc(found, func(o finding) bool {
			return o.code == f.code && (f.severity == Info && o.severity != Info ||
				f.code == "wrong-unit" && f.severity == Warning && o.severity == Error)
		})
	})
}

// sameAsDefault reports a value that the system has by itself.
func (k *checker) sameAsDefault(r *catalog.Record, e conffile.Entry, v reading, version catalog.Version) *finding {
	d, ok := r.DefaultIn(version)
	if e.Name == "link:mtu" && e.Iface == "lo" {
		return nil // 65536 there
	}
	if !ok || d.Formula != "" || d.Value == "unknown" || d.Value == "computed" || !sameValue(v, d.Value) {
		return nil
	}
	text := fmt.Sprintf("%s = %s is the default", e.Name, strings.TrimSpace(e.Value))
	if k.known {
		text += fmt.Sprintf(" of %s %s", k.system.Title(), version)
	}
	return &finding{id: "same-as-default", code: "same-as-default",
		severity: Info, message: text, sources: r.Sources, value: true,
		because: "The line changes nothing now, and pins today's default: a better one in a later " +
			"release will not take effect."}
}
