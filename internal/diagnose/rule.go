package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/netpath"
	"github.com/wirerate/wirerate/internal/regexp"
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

// trifling is the severity of what is too little to be a finding: one packet of millions.
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
	// OfBothEnds rules compare the host with its peer, or with hosts beside it, and are silent without one.
	OfBothEnds bool
	// LastResort rules guess, and are silent where another one found a cause.
	LastResort bool
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
	// Peer are the outputs of the other end.
	Peer map[string]string
	// Written are lines of configuration files.
	Written []Written
	// Post is what stands beside the outputs.
	Post string
	// Alone says that the post holds no output, and Told is the path in its words.
	Alone bool
	Told  facts.Told
}

// Input is what rules judge.
type Input struct {
	Facts *facts.Facts
	Peer  *facts.Facts // the other end; nil when not inspected
	// Beside are hosts that were read with this one and may be in one of its networks.
	Beside []*facts.Facts
	Path   netpath.Path // zero when not declared
	Role   string       // empty when not declared
	// PathFrom says where the path was found where nobody declared it.
	PathFrom string
	// Proposed are the values of a plan for the path and the role, by setting, or by setting@interface.
	Proposed map[string]string
	// ProposedFor says what the path and the role were estimated from, where nobody declared them.
	ProposedFor string
	// Written are the lines of configuration files beside the outputs that lint objects to.
	Written []Written
	// Catalog judges settings; nil means the embedded one.
	Catalog *catalog.Catalog
}

// Confidence is how sure a finding is.
type Confidence string

// The confidences: Certain is shown by the lines or observed over a window, Likely has something that would confirm it,
// Possible is too small, too old or too uncertain to be more than a hint.
const (
	Certain  Confidence = "certain"
	Likely   Confidence = "likely"
	Possible Confidence = "possible"
)

// Finding is a diagnosed problem.
type Finding struct {
	Rule       string     `json:"problem"`
	Severity   Severity   `json:"severity"`
	Confidence Confidence `json:"confidence"`
	Subject    string     `json:"subject"`
	Summary    string     `json:"summary"`
	// Host is the other end, where it is of that one.
	Host string `json:"host,omitempty"`
	// Share is the part of all packets that were lost, where it is known.
	Share    float64        `json:"share,omitempty"`
	Evidence []facts.Source `json:"evidence"`
	Because  string         `json:"because"`
	Fix      []Fix          `json:"fix"`
	Confirm  string         `json:"confirm,omitempty"`

	past    bool // only old lines of the kernel's log show it
	decides bool // an info that says what limits: the verdict begins with it where nothing is worse
}

// NotEvaluated says why a rule could not judge.
type NotEvaluated struct {
	Rule    string `json:"problem"`
	Because string `json:"because"`
}

// Negligible is a loss that was seen and is too small to matter, as SeverityRule or its rule says.
type Negligible struct {
	Rule     string         `json:"problem"`
	Summary  string         `json:"summary"` // with its subject
	Evidence []facts.Source `json:"evidence"`
}

// Evaluate applies every rule that knows the system. Findings are ordered by
// SeverityRule, then as Rules lists them.
func Evaluate(in Input) ([]Finding, []NotEvaluated) {
	findings, _, missing := evaluate(in)
	return findings, missing
}

func evaluate(in Input) (findings []Finding, small []Negligible, missing []NotEvaluated) {
	findings, small, missing = []Finding{}, []Negligible{}, []NotEvaluated{}
	if in.Catalog == nil {
		in.Catalog = embedded()
	}
	past := pastSources(in.Facts)
	for _, r := range Rules() {
		if len(r.Systems) > 0 && !slices.Contains(r.Systems, string(in.Facts.System)) || r.OfBothEnds && in.Peer == nil && len(in.Beside) == 0 ||
			in.Facts.Relative != "" && strings.HasPrefix(r.ID, "setting-") || r.LastResort && slices.ContainsFunc(findings, Finding.decided) {
			continue
		}
		if why := r.lacks(in.Facts); why != "" {
			missing = append(missing, NotEvaluated{r.ID, why})
			continue
		}
		for _, found := range r.Check(in) {
			if found.Severity == trifling {
				small = append(small, Negligible{r.ID, found.Said(), found.Evidence})
				continue
			}
			found = r.complete(found)
			if len(found.Evidence) > 0 && !slices.ContainsFunc(found.Evidence,
				func(s facts.Source) bool { return !past(s) }) {
				found.Severity, found.past = found.Severity.lower(), true
			}
			found.onPath(in.Path)
			found.decides = found.decides || found.explains()
			found.Confidence = found.confidence(in.Facts)
			found.remedies(in)
			findings = append(findings, found)
		}
	}
	slices.SortStableFunc(findings, func(a, b Finding) int { return cmp.Compare(a.rank(), b.rank()) })
	orderLosses(findings)
	return saidOnce(findings), small, missing
}

// embedded is the catalog of this program; its own tests say that it can be read.
func embedded() *catalog.Catalog {
	c, err := catalog.Load()
	if err != nil {
		return new(catalog.Catalog)
	}
	return c
}

// rank is the place of a finding by its severity; what is past comes behind what is not, and an info that decides
// before the others.
func (f Finding) rank() int {
	rank := 3 * f.Severity.rank()
	switch {
	case f.past:
		return rank + 2
	case f.Severity == Info && f.decides:
		return rank
	}
	return rank + 1
}

// decided reports whether a finding is a cause, or of a log's line.
func (f Finding) decided() bool {
	return f.decides || f.Severity.AtLeast(Warning) && !f.past && !strings.HasPrefix(f.Rule, "setting-") ||
		slices.ContainsFunc(f.Evidence, func(s facts.Source) bool { return s.From == "dmesg" })
}

// confidence is certain where the lines alone show the problem, or a window showed that it goes on.
func (f Finding) confidence(host *facts.Facts) Confidence {
	switch {
	case f.Severity == Info || f.past:
		return Possible
	case f.Confirm == "" || host.Window > 0:
		return Certain
	}
	return Likely
}

// orderLosses puts the larger of two losses of packets first, where they are of one rank; what is no loss of packets
// keeps its place.
func orderLosses(findings []Finding) {
	for from := 0; from < len(findings); {
		to := from
		var places []int
		var losses []Finding
		for ; to < len(findings) && findings[to].rank() == findings[from].rank(); to++ {
			if findings[to].Share > 0 {
				places, losses = append(places, to), append(losses, findings[to])
			}
		}
		slices.SortStableFunc(losses, func(a, b Finding) int { return cmp.Compare(b.Share, a.Share) })
		for i, at := range places {
			findings[at] = losses[i]
		}
		from = to
	}
}

// saidOnce drops findings all of whose lines findings before them quote, where they are of one subject, where they are
// messages, or where the catalog judges a setting of which a rule of its own spoke.
func saidOnce(findings []Finding) []Finding {
	type quote struct{ subject, from, text string }
	quoted := map[quote]bool{}
	for _, f := range findings {
		for _, s := range f.Evidence {
			if !strings.HasPrefix(f.Rule, "setting-") {
				quoted[quote{"rule", s.From, s.Text}] = true
			}
		}
	}
	kept := findings[:0]
	for _, f := range findings {
		isNew := len(f.Evidence) == 0
		for _, s := range f.Evidence {
			said := quoted[quote{f.Subject, s.From, s.Text}] || s.From == "dmesg" && quoted[quote{"", s.From, s.Text}] ||
				strings.HasPrefix(f.Rule, "setting-") && quoted[quote{"rule", s.From, s.Text}]
			isNew = isNew || !said
		}
		for _, s := range f.Evidence {
			quoted[quote{f.Subject, s.From, s.Text}], quoted[quote{"", s.From, s.Text}] = true, true
		}
		if isNew {
			kept = append(kept, f)
		}
	}
	return kept
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
		if !slices.ContainsFunc(f.Fix, func(fix Fix) bool { return fix.Setting == s }) {
			f.Fix = append(f.Fix, Fix{Setting: s})
		}
	}
	if f.Fix == nil {
		f.Fix = []Fix{}
	}
	f.Evidence = slices.Compact(slices.DeleteFunc(f.Evidence, func(s facts.Source) bool { return s.Text == "" }))
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
	why := fmt.Sprintf("no interface's %s was read", strings.TrimSpace(prefix))
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
