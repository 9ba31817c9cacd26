package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/diagnose"
	"github.com/wirerate/wirerate/internal/terminal"
)

// Setting explains one setting of the catalog in 80 columns. With a version it
// says how the setting stands in that release; an empty one stands for none.
func Setting(w io.Writer, r *catalog.Record, version catalog.Version) {
	var p page
	p.wrap("", "  ", fmt.Sprintf("%s (%s)", r.Name, r.System.Title()))
	p.wrap("", "", r.Does)
	p.blank()
	settingLife(&p, r, version)
	here, gone := standing(r, version), isGone(r, version)
	vague := here.Kind == catalog.Unknown && r.Removed != "" // nobody asked how it was set
	if !vague {
		p.field("value", form(r))
	}
	if !gone && !vague {
		p.field("active", activeWords(here)+scopeWords(r))
		p.field("combined", combineWords(r))
	}
	if !vague && (!gone || !unknownDefault(r)) {
		settingDefaults(&p, r, version)
	}
	p.field("belongs", strings.Join(r.Belongs, ", "))
	p.field("drivers", strings.Join(r.Drivers, ", "))
	p.field("needs", strings.Join(r.Needs, ", "))
	p.field("conflicts", strings.Join(r.Conflicts, ", "))
	p.field("risk", r.Risk)
	if !gone && !vague { // nothing can be written, nothing taken back
		p.field("undo", undoWords(cmp.Or(r.Undo, defaultUndo(here.Kind))))
	}
	if r.Hardening {
		p.field("security", "its purpose is security, not speed")
	}
	p.field("aliases", strings.Join(r.Aliases, ", "))
	p.field("see", strings.Join(r.See, ", "))
	settingValues(&p, r)
	settingFormulas(&p, r, version)
	settingJudgements(&p, r)
	settingEvidence(&p, r)
	p.heading("Sources")
	for _, s := range r.Sources {
		p.wrap("  ", "    ", s)
	}
	p.flush(w)
}

// form describes the values that a setting takes.
func form(r *catalog.Record) string {
	s := map[catalog.Type]string{
		catalog.TypeBool: "0 or 1", catalog.TypeInt: "a number", catalog.TypeUint: "a number, not negative",
		catalog.TypeTriple: "three numbers: minimum, default, maximum", catalog.TypeList: "words",
		catalog.TypeEnum: "one of the values below", catalog.TypeBitmask: "a sum of bits",
		catalog.TypeString: "text", catalog.TypeOpaque: "not judged",
	}[r.Type]
	if r.Type == catalog.TypeTriple && r.Unit == "pages" {
		s = "three numbers: low, pressure, limit" // tcp_mem and the like bound all sockets together
	}
	if r.Type == catalog.TypeEnum && len(r.Values) == 0 {
		s = "a word"
	}
	if r.Type == catalog.TypeBool { // a range of 0 to 1 says no more
		if word := switchWord(r); word != "" {
			return word
		}
		if r.Range != nil && r.Range.Min != nil && *r.Range.Min > 0 {
			return "only 1; the kernel does not accept 0 afterwards"
		}
		return s
	}
	if r.Type == catalog.TypeUint && r.Range != nil {
		if rangeWords(r.Range) == ", at least 0" { // no more than "not negative"
			return unitWords(s, r.Unit)
		}
		if r.Range.Min != nil {
			s = "a number"
		}
	}
	return unitWords(s, r.Unit) + rangeWords(r.Range)
}

// unitWords adds to the form of a setting what its numbers count.
func unitWords(form, unit string) string {
	whole := map[string]string{"port": "a port number", "gid": "a group ID", "uid": "a user ID",
		"processor": "a processor number", "1/s": "a number per second", "cpu list": "a list of CPUs, such as 0-3",
		"cpu mask": "a mask of CPUs, in hexadecimal"}[unit]
	spelled := map[string]string{"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}[unit]
	switch {
	case unit == "":
		return form
	case whole != "":
		return whole
	case unit[0] >= '0' && unit[0] <= '9': // 10 ms, 1/256
		return form + ", in units of " + unit
	}
	return form + ", in " + cmp.Or(spelled, unit)
}

// rangeWords says between which ends numbers are accepted, newest version first.
func rangeWords(r *catalog.Range) string {
	if r == nil {
		return ""
	}
	s := ""
	switch low, high := r.Min, r.Max; {
	case low != nil && high != nil && *low == *high:
		s = fmt.Sprintf(", only %d", *low)
	case low != nil && high != nil:
		s = fmt.Sprintf(", %d to %d", *low, *high)
	case low != nil:
		s = fmt.Sprintf(", at least %d", *low)
	case high != nil:
		s = fmt.Sprintf(", at most %d", *high)
	}
	if r.Since != "" {
		s += fmt.Sprintf(" (known to be enforced from %s on)", r.Since)
	}
	if r.Before != nil {
		s += "; before that" + strings.TrimPrefix(rangeWords(r.Before), ",")
	}
	return s
}

// switchWord is how a switch is written whose values are words, which the place
// decides: rc.conf, loader.conf, a feature of an interface, an option of pf.conf or
// of a kernel's configuration.
func switchWord(r *catalog.Record) string {
	for _, d := range r.Default {
		switch d.Value {
		case "YES", "NO":
			return "YES or NO"
		case "on", "off":
			return "on or off"
		}
	}
	kind, _, _ := strings.Cut(r.Name, ":")
	place := ""
	if len(r.Belongs) > 0 {
		place = r.Belongs[0]
	}
	switch {
	case strings.HasSuffix(r.Name, "_load") || place == "rc":
		return "YES or NO"
	case kind == "ethtool":
		return "on or off"
	case kind == "ifconfig":
		return "the word to switch it on, with a - before it to switch it off"
	case kind == "pf" || place == "kernel-config" || place == "build" || place == "src.conf":
		return "given or not"
	}
	return ""
}

// settingDefaults lists the defaults, newest last; with a version, the one
// that holds there.
func settingDefaults(p *page, r *catalog.Record, version catalog.Version) {
	defaults := r.Default
	if version != "" {
		d, ok := r.DefaultIn(version)
		if !ok {
			return
		}
		defaults = catalog.Defaults{d}
	}
	label := "default"
	for i, d := range defaults {
		text := defaultWords(d)
		switch {
		case d.Since != "":
			text = fmt.Sprintf("from %s: %s", d.Since, text)
		case i+1 < len(defaults):
			text = fmt.Sprintf("before %s: %s", defaults[i+1].Since, text)
		}
		p.field(label, text)
		label = ""
	}
}

// defaultWords prefers a note to the formula that it describes.
func defaultWords(d catalog.Default) string {
	switch {
	case d.Value == "computed" && d.Note != "" && d.Formula != "":
		return fmt.Sprintf("%s = %s", d.Note, d.Formula)
	case d.Value == "computed" && d.Formula != "":
		return "= " + d.Formula
	case d.Value == "computed":
		return cmp.Or(d.Note, "computed by the kernel")
	case d.Value == "unknown":
		return "not known" + bracket(d.Note)
	case d.Value == `""`:
		return "empty" + bracket(d.Note)
	}
	return d.Value + bracket(d.Note)
}

func settingValues(p *page, r *catalog.Record) {
	if len(r.Values) == 0 {
		return
	}
	p.heading("Values")
	width := 9 // as of the fields above
	for _, v := range r.Values {
		width = max(width, len(v.Value))
	}
	for _, v := range r.Values {
		text := v.Means
		if v.Since != "" {
			text += fmt.Sprintf("; from %s", v.Since)
		}
		if v.Removed != "" {
			text += fmt.Sprintf("; gone in %s", v.Removed)
		}
		if v.Needs != "" {
			text += "; needs " + v.Needs
		}
		p.wrap(fmt.Sprintf("  %-*s ", width, v.Value), strings.Repeat(" ", width+3), text)
	}
}

// settingFormulas says what a plan sets, where the setting is there and works; of
// one that went, for which releases that was.
func settingFormulas(p *page, r *catalog.Record, version catalog.Version) {
	until := cmp.Or(r.NoEffectSince, r.Removed)
	if len(r.Formulas) == 0 || r.Removed == "0" || version != "" && r.StateIn(version) != catalog.Present {
		return
	}
	heading := "What wirerate proposes"
	if version == "" && until != "" {
		heading = fmt.Sprintf("For releases before %s %s", r.System.Title(), until)
	}
	p.heading(heading)
	for _, f := range r.Formulas {
		roles := "any role"
		if len(f.Roles) > 0 {
			roles = "role " + strings.Join(f.Roles, ", ")
		}
		p.wrap("  ", "    ", f.Value)
		p.wrap("    for  ", "         ", roles)
		if f.When != "" {
			p.wrap("    when ", "         ", f.When)
		}
		p.wrap("    why  ", "         ", f.Because)
	}
}

func settingJudgements(p *page, r *catalog.Record) {
	if len(r.Judge) == 0 {
		return
	}
	p.heading("What lint reports")
	for _, j := range r.Judge {
		p.wrap("  ", "    ", fmt.Sprintf("%s when %s", j.Code+bracket(j.Severity), j.When))
		p.wrap("    ", "    ", j.Because)
		for _, s := range j.Sources {
			p.wrap("    [", "     ", s+"]")
		}
	}
}

func settingEvidence(p *page, r *catalog.Record) {
	p.heading("Evidence that it matters")
	if len(r.Evidence) == 0 {
		p.line("  none recorded")
	}
	for _, e := range r.Evidence {
		p.wrap(fmt.Sprintf("  %-10s ", e.Grade), strings.Repeat(" ", 13), e.Says)
		rest := strings.Repeat(" ", 13)
		if e.Effect != nil {
			p.wrap(rest, rest, effectWords(*e.Effect))
		}
		if c := conditions(e); c != "" {
			p.wrap(rest, rest, "on "+c)
		}
		p.wrap(rest+"[", rest+" ", e.Source+"]")
	}
}

// effectWords prints a published effect; the interval only when there is one.
func effectWords(e catalog.Effect) string {
	s := fmt.Sprintf("%s x %s", e.Metric, ratio(e.Ratio))
	if e.Low > 0 && e.High > 0 {
		return s + fmt.Sprintf(", interval %s to %s", ratio(e.Low), ratio(e.High))
	}
	return s + ", published without an interval"
}

func conditions(e catalog.Evidence) string {
	var parts []string
	for _, s := range []string{e.Hardware, e.Release, e.Workload} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, "; ")
}

// activeWords says when a setting takes effect: one that can be written later
// and belongs to the loader alone is read when its driver attaches, one of rc.conf by
// the script of its service.
func activeWords(r *catalog.Record) string {
	switch in := func(place string) bool { return slices.Contains(r.Belongs, place) }; {
	case r.Kind == catalog.Both && in("loader") && !in("sysctl"):
		return "when the driver attaches; a later write applies the next time it attaches"
	case r.Kind == catalog.Boot && in("rc"):
		return "at boot, or when its service is restarted"
	}
	return kindWords(r.Kind)
}

func kindWords(k catalog.Kind) string {
	switch k {
	case catalog.Runtime:
		return "immediately, on the running system"
	case catalog.Boot:
		return "at boot, or when its module loads"
	case catalog.Both:
		return "at boot, and can be written later"
	case catalog.ReadOnly:
		return "never: read-only, reported by the kernel"
	}
	return "at a time that is not established"
}

// combineWords says how the kernel makes one value of those of all and of an interface,
// unless the description says it already.
func combineWords(r *catalog.Record) string {
	if strings.Contains(r.Does, " all ") {
		return ""
	}
	switch r.Combine {
	case "and":
		return "counts only where all and the interface both say so"
	case "or":
		return "one of all and the interface is enough"
	case "max":
		return "the larger value of all and the interface counts"
	case "own":
		return "the interface's own value counts; that of all is not looked at"
	}
	return ""
}

func scopeWords(r *catalog.Record) string {
	switch r.Scope {
	case catalog.ScopeHost:
		if strings.HasPrefix(r.Name, "/") && strings.Contains(r.Name, "*") { // a disk, an interrupt, a processor
			return ", for one device"
		}
		return ", for the whole machine"
	case catalog.ScopeNetns:
		return ", in one network namespace"
	case catalog.ScopeUserns:
		return ", in one user namespace"
	case catalog.ScopeIPC:
		return ", in one IPC namespace"
	case catalog.ScopeUTS:
		return ", in one UTS namespace, such as a container's"
	case catalog.ScopeVnet:
		return ", in one virtual network stack (vnet)"
	case catalog.ScopeInterface:
		return ", for one interface"
	case catalog.ScopeRoute:
		return ", for one route"
	}
	return ""
}

func defaultUndo(k catalog.Kind) string {
	switch k {
	case catalog.Boot:
		return "reboot"
	case catalog.ReadOnly, catalog.Unknown:
		return ""
	}
	return "restore"
}

func undoWords(undo string) string {
	switch undo {
	case "restore":
		return "write the old value"
	case "reboot":
		return "take the line out and reboot"
	case "none":
		return "none: the change cannot be taken back"
	}
	return undo
}

func bracket(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

// joinVersions lists versions.
func joinVersions(list []catalog.Version) string {
	var words []string
	for _, v := range list {
		words = append(words, string(v))
	}
	return strings.Join(words, ", ")
}

// Settings writes a line for each record, as wide as the terminal, and of 120
// columns where there is none.
func Settings(to Screen, records []*catalog.Record) {
	width, names := cmp.Or(to.Columns, 120), 0
	for _, r := range records {
		names = max(names, len(r.Name))
	}
	for _, r := range records {
		to.Printf("%s\n", terminal.Clip(fmt.Sprintf("%-7s %-*s %s", r.System, min(names, 44), r.Name, r.Does), width))
	}
}

// Rule explains a rule of inspect.
func Rule(to io.Writer, r diagnose.Rule) {
	var p page
	p.line("%s: %s (%s)", r.ID, r.Title, r.Severity)
	p.blank()
	p.wrap("", "", r.Because)
	p.blank()
	p.wrap("Confirmed if: ", "              ", r.Confirm)
	if len(r.Settings) > 0 {
		p.wrap("Settings: ", "          ", strings.Join(r.Settings, ", "))
	}
	p.flush(to)
}
