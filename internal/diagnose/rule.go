package diagnose

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/netpath"
)

// Severity orders findings.
type Severity string

// The severities: Critical costs throughput or connections now, Warning did or
// will under load, Info is worth knowing.
const (
	Critical Severity = "error"
	Warning  Severity = "warning"
	Info     Severity = "info"
)

// trifling is the severity of what is not worth a word: one packet of millions.
const trifling Severity = "trifling"

// lower is the severity of the same in the past.
func (s Severity) lower() Severity {
	if s == Critical {
		return Warning
	}
	return Info
}

func (s Severity) rank() int { return slices.Index([]Severity{Critical, Warning, Info}, s) }

// Rule recognises one problem.
type Rule struct {
	ID    string
	Title string
	// Systems are those the rule knows; empty means all.
	Systems []string
	// Needs are the parts of the facts without which the rule cannot judge:
	// "counters"; "rings *" for those of at least one interface; with
	// "linux:" in front, on that system only; of "settings|messages" either
	// will do.
	Needs []string
	// Settings are the catalog's names of what the fix changes.
	Settings []string
	// Severity is that of the plain case; a finding may differ.
	Severity Severity
	// Because says why it matters, Confirm what would confirm it.
	Because, Confirm string
	// Check returns what it finds: subject, summary, evidence.
	Check func(Input) []Finding
	// Fires and Quiet are outputs, by their names, in which the rule finds
	// something, and in which it does not.
	Fires, Quiet Example
}

// Example is what a rule is tried on.
type Example struct {
	Texts  map[string]string
	Path   netpath.Path
	Role   string
	Window time.Duration
}

// Input is what rules judge.
type Input struct {
	Facts *facts.Facts
	Path  netpath.Path // zero when not declared
	Role  string       // empty when not declared
}

// Finding is a diagnosed problem.
type Finding struct {
	Rule     string         `json:"problem"`
	Severity Severity       `json:"severity"`
	Subject  string         `json:"subject"`
	Summary  string         `json:"summary"`
	Evidence []facts.Source `json:"evidence"`
	Because  string         `json:"because"`
	Fix      []Fix          `json:"fix"`
	Confirm  string         `json:"confirm,omitempty"`
}

// Fix is one thing to do: a setting of the catalog, or a physical action.
type Fix struct {
	Setting string `json:"setting,omitempty"`
	Action  string `json:"action,omitempty"`
}

// NotEvaluated says why a rule could not judge.
type NotEvaluated struct {
	Rule    string `json:"problem"`
	Because string `json:"because"`
}

// Evaluate applies every rule that knows the system. Findings are ordered by
// severity; what the kernel reported long ago counts for less; then as Rules
// lists them.
func Evaluate(in Input) (findings []Finding, missing []NotEvaluated) {
	findings, missing = []Finding{}, []NotEvaluated{}
	for _, r := range Rules() {
		if len(r.Systems) > 0 && !slices.Contains(r.Systems, string(in.Facts.System)) {
			continue
		}
		if why := r.lacks(in.Facts); why != "" {
			missing = append(missing, NotEvaluated{r.ID, why})
			continue
		}
		for _, found := range r.Check(in) {
			if found.Severity == trifling {
				continue
			}
			findings = append(findings, r.complete(found))
		}
	}
	past := pastSources(in.Facts)
	weight := map[string]int{}
	for i := range findings {
		if f := &findings[i]; len(f.Evidence) > 0 && !slices.ContainsFunc(f.Evidence,
			func(s facts.Source) bool { return !past(s) }) {
			f.Severity = f.Severity.lower()
			weight[f.Rule+f.Subject] = 1
		}
	}
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Severity.rank(), b.Severity.rank()), cmp.Compare(weight[a.Rule+a.Subject],
			weight[b.Rule+b.Subject]))
	})
	return findings, missing
}

// recent is how long ago the kernel may have said what counts as now.
const recent = time.Hour

var kernelTime = regexp.MustCompile(`^\[ *(\d+)\.\d+\]`)

// pastSources tells lines that show only what was: old ones of the kernel's
// log, and with a window all of the log from before it.
func pastSources(f *facts.Facts) func(facts.Source) bool {
	return func(s facts.Source) bool {
		m := kernelTime.FindStringSubmatch(s.Text)
		if s.From != "dmesg" || m == nil || f.Uptime == 0 {
			return false
		}
		at, err := strconv.ParseFloat(m[1], 64)
		limit := recent.Seconds()
		if f.Window > 0 {
			limit = f.Window + 60
		}
		return err == nil && f.Uptime-at > limit
	}
}

// complete fills in what the rule's record says.
func (r Rule) complete(f Finding) Finding {
	f.Rule = r.ID
	f.Severity = cmp.Or(f.Severity, r.Severity)
	f.Because = cmp.Or(f.Because, r.Because)
	f.Confirm = cmp.Or(f.Confirm, r.Confirm)
	for _, s := range r.Settings {
		f.Fix = append(f.Fix, Fix{Setting: s})
	}
	if f.Fix == nil {
		f.Fix = []Fix{}
	}
	f.Evidence = slices.DeleteFunc(f.Evidence, func(s facts.Source) bool { return s.Text == "" })
	return f
}

// lacks says why the facts do not suffice; empty when they do.
func (r Rule) lacks(f *facts.Facts) string {
	for _, need := range r.Needs {
		if system, part, ok := strings.Cut(need, ":"); ok {
			if system != string(f.System) {
				continue
			}
			need = part
		}
		first := ""
		for _, part := range strings.Split(need, "|") {
			why := lacksPart(f, part)
			if why == "" {
				first = ""
				break
			}
			first = cmp.Or(first, why)
		}
		if first != "" {
			return first
		}
	}
	return ""
}

func lacksPart(f *facts.Facts, part string) string {
	if part == "sampled processors" {
		if slices.ContainsFunc(f.Processors, func(p facts.Processor) bool { return p.Sampled }) {
			return ""
		}
		return "it needs a sampling window: --for 5s"
	}
	if prefix, each := strings.CutSuffix(part, "*"); each {
		return lacksEach(f, prefix)
	}
	return f.Why(part)
}

// lacksEach wants the part of at least one interface.
func lacksEach(f *facts.Facts, prefix string) string {
	why := fmt.Sprintf("no interface was asked for its %s", strings.TrimSpace(prefix))
	names := make([]string, 0, len(f.Parts))
	for name := range f.Parts {
		if strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if f.Parts[name].State == facts.Read {
			return ""
		}
		why = f.Why(name)
	}
	return why
}

// AtLeast reports whether s is as severe as t, or more.
func (s Severity) AtLeast(t Severity) bool { return s.rank() <= t.rank() }
