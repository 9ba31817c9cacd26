package cli

import (
	"github.com/wirerate/wirerate/internal/calc"
	"github.com/wirerate/wirerate/internal/canary"
	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/change"
	"github.com/wirerate/wirerate/internal/compare"
	"github.com/wirerate/wirerate/internal/diagnose"
	"github.com/wirerate/wirerate/internal/experiment"
	"github.com/wirerate/wirerate/internal/fleet"
	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/lab"
	"github.com/wirerate/wirerate/internal/lab/link"
	"github.com/wirerate/wirerate/internal/lab/selfcheck"
	"github.com/wirerate/wirerate/internal/lint"
	"github.com/wirerate/wirerate/internal/packets"
	"github.com/wirerate/wirerate/internal/plan"
	"github.com/wirerate/wirerate/internal/report"
	"github.com/wirerate/wirerate/internal/store"
	"github.com/wirerate/wirerate/internal/watch"
	"github.com/wirerate/wirerate/internal/watch/period"
)

// Document is a JSON document that the program writes: what a verb prints with
// --json, or a file.
type Document struct {
	// Name is that of its schema in docs/schema: the verb's words, joined by
	// hyphens, or the file's name.
	Name string
	// Title says what it is.
	Title string
	// Forms are values of the types that it may have.
	Forms []any
}

// Documents lists every JSON document that the program writes.
func Documents() []Document {
	result, suite := experiment.Result{}, suiteResult{}
	return []Document{
		{"apply", "wirerate apply --json: what was set", []any{appliedChange{}}},
		{"attribute", "wirerate attribute --json: each setting's share of an effect", []any{result}},
		{"calc", "wirerate calc --json: one formula, calculated", []any{calc.Outcome{}}},
		{"canary-begin", "wirerate canary begin --json: the hosts that a step changes", []any{begunStep{}}},
		{"canary-design", "wirerate canary design --json, and its file: who is changed when, and what is seen",
			[]any{canary.State{}}},
		{"canary-judge", "wirerate canary judge --json: what a step found", []any{judgedStep{}}},
		{"canary-status", "wirerate canary status --json: what is to be done next", []any{canaryStatus{}}},
		{"confirm", "wirerate confirm --json: what was made permanent", []any{confirmedChange{}}},
		{"explain", "wirerate explain --json: settings of the catalog, or a problem's code",
			[]any{explainedSettings{}, explainedCode{}, explainedRule{}}},
		{"export", "wirerate export --json: past experiments with every run", []any{exportedTrials{}}},
		{"extend", "wirerate extend --json: until when a change waits", []any{extendedChange{}}},
		{"fleet", "wirerate fleet --json: inspections of many hosts, merged", []any{fleet.Report{}}},
		{"history", "wirerate history --json: past experiments", []any{pastTrials{}}},
		{"history-compare", "wirerate history compare --json: two past trials side by side", []any{experiment.Compared{}}},
		{"inspect", "wirerate inspect --json: what limits a host, or several, or the flows of a packet capture",
			[]any{diagnose.Diagnosis{}, inspections{}, packets.Analysis{}}},
		{"lab-check", "wirerate lab check --json: emulated links, measured", []any{checkedLab{}}},
		{"lab-down", "wirerate lab down --json: what a lab's links did", []any{labDown{}}},
		{"lab-exec", "wirerate lab exec --json and --stats: what a lab's links did while a program ran", []any{labRun{}}},
		{"lab-list", "wirerate lab list --json: the labs that are up", []any{labList{}}},
		{"lab-profiles", "wirerate lab profiles --json: the named links", []any{labProfiles{}}},
		{"lab-up", "wirerate lab up --json: the lab that is up", []any{labUp{}}},
		{"lint", "wirerate lint --json: the problems of configuration files", []any{lint.Document{}}},
		{"measure", "wirerate measure --json: what a workload reached", []any{experiment.Measured{}}},
		{"plan", "wirerate plan --json: a plan, or with --compare a file beside it",
			[]any{plan.Plan{}, compare.Comparison{}}},
		{"report", "wirerate report --json: the result of a past experiment, or the course of what watch recorded",
			[]any{result, period.Report{}}},
		{"rollback", "wirerate rollback --json: what was restored", []any{rolledBack{}}},
		{"status", "wirerate status --json: a host's changes", []any{hostStatus{}}},
		{"trial", "wirerate trial --json: a comparison of arms, or of a suite", []any{result, suite}},
		{"tune", "wirerate tune --json: what was tried and kept", []any{result}},
		{"verify", "wirerate verify --json: a host compared with a plan", []any{verifiedHost{}}},
		{"version", "wirerate version --json: the program", []any{versionInfo{}}},
		{"watch", "wirerate watch --json: what limits a host at one moment, an object for each sample", []any{watch.State{}}},
		{"finding", "what the command of wirerate watch --on-finding gets on its standard input", []any{watchFinding{}}},
		{"weblog", "wirerate weblog --json: request times of access logs", []any{joined{}}},
		{"weblog-merge", "wirerate weblog merge --json: request times of several logs", []any{joined{}}},
		{"plan.json", "the file of wirerate plan -o, and of tune -o for several hosts", []any{plan.Plan{}, []plan.Plan{}}},
		{"result.json", "the file of wirerate tune, trial and attribute -o", []any{result}},
		{"suite.json", "the file of wirerate trial --suite -o", []any{suite}},
		{"shares.json", "the file of wirerate attribute -o", []any{[]experiment.Share{}}},
		{"journal.json", "the journal of a change, on the host", []any{change.Sealed{}}},
		{"manifest.json", "the list of a capture's entries", []any{host.Capture{}}},
	}
}

type versionInfo struct {
	Schema  int    `json:"schema"`
	Version string `json:"version"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
	Go      string `json:"go"`
}

type explainedSettings struct {
	Schema   int               `json:"schema"`
	Settings []*catalog.Record `json:"settings"`
}

type explainedCode struct {
	Schema  int       `json:"schema"`
	Problem lint.Code `json:"problem"`
}

type explainedRule struct {
	Schema  int      `json:"schema"`
	Problem ruleJSON `json:"problem"`
}

type appliedChange struct {
	Schema int `json:"schema"`
	change.Applied
}

type confirmedChange struct {
	Schema    int    `json:"schema"`
	ID        string `json:"id"`
	Confirmed bool   `json:"confirmed"`
	change.ConfirmReport
}

type rolledBack struct {
	Schema int    `json:"schema"`
	ID     string `json:"id"`
	change.RollbackReport
}

type verifiedHost struct {
	Schema   int        `json:"schema"`
	Host     string     `json:"host"`
	Settings []verified `json:"settings"`
}

type exportedTrials struct {
	Schema int                    `json:"schema"`
	Trials []report.ExportedTrial `json:"trials"`
}

type pastTrials struct {
	Schema int           `json:"schema"`
	Trials []store.Trial `json:"trials"`
}

type suiteResult struct {
	Schema  int              `json:"schema"`
	Suite   string           `json:"suite"`
	Seed    uint64           `json:"seed"`
	Command string           `json:"command"`
	Trials  []experiment.Row `json:"trials"`
}

type checkedLab struct {
	Schema   int                `json:"schema"`
	Awake    lab.Awake          `json:"awake"`
	Arrivals lab.Arrivals       `json:"arrivals"`
	Checks   []selfcheck.Result `json:"checks"`
	Failed   int                `json:"failed"`
}

type labProfiles struct {
	Schema   int            `json:"schema"`
	Profiles []link.Profile `json:"profiles"`
}

type labUp struct {
	Schema int      `json:"schema"`
	Lab    lab.Kept `json:"lab"`
}

type labList struct {
	Schema int      `json:"schema"`
	Labs   []labNow `json:"labs"`
}

// keptUp says whether a lab's emulator kept up and how late it was at the
// worst; both are null where it is not known, and Unknown says why.
type keptUp struct {
	KeptUp    lab.Answer `json:"kept_up"`
	WorstLate *float64   `json:"worst_late_ms"`
	Unknown   string     `json:"kept_up_unknown,omitempty"`
}

func keptUpOf(did lab.Status) keptUp {
	kept, unknown := did.KeptUp()
	if kept == lab.Unknown {
		return keptUp{KeptUp: kept, Unknown: unknown}
	}
	return keptUp{KeptUp: kept, WorstLate: new(1000 * did.WorstLate().Seconds())}
}

// labDown is what the links of a lab did, or why that is unknown.
type labDown struct {
	Schema  int         `json:"schema"`
	Name    string      `json:"name"`
	Status  *lab.Status `json:"status,omitempty"`
	Unknown string      `json:"unknown,omitempty"`
	*keptUp
}

type labRun struct {
	Schema     int              `json:"schema"`
	ExitStatus int              `json:"exit_status"`
	Awake      lab.Awake        `json:"awake"`
	Arrivals   lab.Arrivals     `json:"arrivals"`
	Links      []lab.LinkReport `json:"links"`
	keptUp
}
