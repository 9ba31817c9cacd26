package experiment

import (
	"time"

	"github.com/wirerate/wirerate/internal/diagnose"
	"github.com/wirerate/wirerate/internal/lab"
	"github.com/wirerate/wirerate/internal/plan"
	"github.com/wirerate/wirerate/internal/stats"
	"github.com/wirerate/wirerate/internal/workload"
)

// ResultSchema is the version of the result's JSON.
const ResultSchema = 2

// Result is what tune found: the contract of result.json. Quantities are in
// base units.
type Result struct {
	Schema  int           `json:"schema"`
	Verdict stats.Verdict `json:"verdict"`
	Effect  *Effect       `json:"effect"` // of the plan against the default; null without two pairs
	// Comparisons are of every arm with the first one, when there are more
	// than two; Verdict and Effect are then those of the first comparison.
	Comparisons []Comparison `json:"comparisons,omitempty"`
	LinkGoodput float64      `json:"link_goodput_bps"`
	// Ceilings are those of the hosts as they were found; After those with
	// the plan in place.
	Ceilings []diagnose.Ceiling `json:"ceilings"`
	Binding  string             `json:"binding"` // resource of the lowest ceiling, "" when none is known
	After    []diagnose.Ceiling `json:"ceilings_after"`
	Arms     []ArmResult        `json:"arms"`
	Shares   []Share            `json:"shares"`
	// Attribution says how the shares were found; null without one.
	Attribution *Attribution `json:"attribution"`
	Path        Path         `json:"path"`
	Hosts       []Host       `json:"hosts"`
	Emulator    *Emulator    `json:"emulator,omitempty"` // of a lab
	Workload    string       `json:"workload"`
	Metric      string       `json:"metric,omitempty"` // that decides; goodput_bps when empty
	ID          string       `json:"id,omitempty"`     // in the history
	Noise       *Noise       `json:"noise,omitempty"`
	Beside      []Beside     `json:"beside,omitempty"`
	// Design is how the trial was laid out; null when it is not known.
	Design *Design `json:"design,omitempty"`
	// Margin is the smallest relative change worth having, 0.02 for 2%; 0
	// when it is not known.
	Margin   float64   `json:"margin,omitempty"`
	Seed     uint64    `json:"seed"`
	Warnings []string  `json:"warnings"`
	Started  time.Time `json:"started"`
	Elapsed  float64   `json:"elapsed_s"`
	Command  string    `json:"command"` // that makes this result again
	Undo     string    `json:"undo"`    // in words, with the commands
	// Unproved are the planned settings that a tune does not bear out.
	Unproved []Unproved `json:"unproved,omitempty"`
	// Next are the commands that put in place what was proved.
	Next  []string    `json:"next,omitempty"`
	Plans []plan.Plan `json:"plans"`
}

// Design is what was fixed before the first run.
type Design struct {
	Tool     string  `json:"tool"`       // iperf3, builtin, ...
	Duration float64 `json:"duration_s"` // of a run, what counts
	Omit     float64 `json:"omit_s"`     // of a run's start, left out
	MaxPairs int     `json:"max_pairs"`
	Looks    []int   `json:"looks"` // pairs after which the trial may stop
	Alpha    float64 `json:"alpha"` // over all looks
}

// Interval is the limits of an estimated ratio.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Effect is a ratio with its interval.
type Effect struct {
	Metric     string  `json:"metric"`
	Ratio      float64 `json:"ratio"`
	Interval   `json:"interval"`
	Confidence float64 `json:"confidence"`
	Pairs      int     `json:"pairs"`
	Wilcoxon   float64 `json:"wilcoxon_p,omitempty"` // of pairs; 0 where none were compared
	// Resampled are the limits at the same confidence by resampling the pairs,
	// a cross-check that supposes nothing of their distribution; null with few.
	Resampled *[2]float64 `json:"resampled,omitempty"`
}

// Comparison is one arm against the first.
type Comparison struct {
	Arm     string        `json:"arm"`
	Verdict stats.Verdict `json:"verdict"`
	Effect  *Effect       `json:"effect"` // null without two pairs
}

// The processors' time by what was transferred, in Beside of trials of goodput.
const (
	ClientCPUPerGbit = "client_cpu_per_gbit"
	ServerCPUPerGbit = "server_cpu_per_gbit"
)

// Beside are other metrics of an arm against the first one, by the same
// pairs: what a gain costs.
type Beside struct {
	Arm     string   `json:"arm"`
	Effects []Effect `json:"effects"`
}

// Noise is what a trial could see: the standard deviation of a pair's
// log-ratio, and the effect (ratio - 1) that its pairs see with a probability
// of 0.8.
type Noise struct {
	PairSD        float64 `json:"pair_sd"`
	MinDetectable float64 `json:"min_detectable"`
	Pairs         int     `json:"pairs"`
}

// ArmResult is one set of settings with its runs.
type ArmResult struct {
	Name   string  `json:"name"`
	Median Metrics `json:"median"`
	Runs   []Run   `json:"runs"`
	Sets   []Set   `json:"sets,omitempty"` // what the arm changes; not known of all
	// Limit is what bounded most of its runs; null where that is not known.
	Limit *workload.Limit `json:"limit,omitempty"`
}

// Set is one setting that an arm changes on one host.
type Set struct {
	Side    string `json:"side"` // client, server or router
	Setting string `json:"setting"`
	From    string `json:"before"`
	To      string `json:"value"`
}

// Unproved is a planned setting of a host that the experiment does not bear out,
// so that apply does not set it.
type Unproved struct {
	Host    string `json:"host"`
	Setting string `json:"setting"`
	Because string `json:"because"`
}

// Metrics are what a run measured.
type Metrics struct {
	GoodputBPS  float64 `json:"goodput_bps"`
	Retransmits float64 `json:"retransmits"` // -1: not known
	MeanRTT     float64 `json:"mean_rtt_s"`  // 0: not known
	ClientCPU   float64 `json:"client_cpu"`  // busy part, 0 to 1
	ServerCPU   float64 `json:"server_cpu"`
	// Values are all metrics of the workload by name, in base units.
	Values map[string]float64 `json:"values,omitempty"`
}

// Run is one run of an arm.
type Run struct {
	Order int     `json:"order"` // among all runs of the trial
	Pair  int     `json:"pair"`
	At    float64 `json:"at_s"` // since the start
	Metrics
	IntervalsBPS []float64 `json:"intervals_bps,omitempty"`
}

// Share is one setting's part of the gain: the goodput with it over the
// goodput without it, averaged over what else is on (Shapley).
type Share struct {
	Setting  string  `json:"setting"`
	Ratio    float64 `json:"ratio"`
	Interval `json:"interval"`
	Kept     bool `json:"kept"`
	// Verdict is helps, hurts, no-worthwhile-difference or
	// not-enough-evidence; Stage is factorial (fresh runs), screen or none.
	Verdict stats.Verdict `json:"verdict"`
	Stage   string        `json:"stage"`
	Because string        `json:"because"`
}

// Attribution is how the shares were found.
type Attribution struct {
	Runs         int      `json:"runs"`
	Lost         int      `json:"lost"`
	Stopped      bool     `json:"stopped"` // by the time budget
	Interactions []string `json:"interactions"`
	// SumOfShares against Measured is the check that single effects explain
	// the whole; null when it was not measured.
	SumOfShares *Effect `json:"sum_of_shares"`
	Measured    *Effect `json:"measured"`
	FitP        float64 `json:"fit_p"`
}

// Path is the path of the trial.
type Path struct {
	RateBPS  int64             `json:"rate_bps"`
	RTT      float64           `json:"rtt_ms"` // milliseconds
	Loss     float64           `json:"loss"`
	MTU      int               `json:"mtu_bytes"`
	Spec     string            `json:"spec"`
	Measured map[string]string `json:"measured"` // how, by quantity; others were declared
}

// Host describes one end, or the router between them.
type Host struct {
	Name      string `json:"name"`
	Side      string `json:"side"` // client, server or router
	System    string `json:"os"`
	Release   string `json:"release"`
	Processor string `json:"processor"`
	Cores     int    `json:"cores"`
	Memory    int64  `json:"memory_bytes"`
}

// Emulator says how faithful the emulated path was. Of a queueing discipline of
// the kernel (netem) that is unknown, WorstLateness nil.
type Emulator struct {
	KeptUp        lab.Answer `json:"kept_up"`
	WorstLateness *float64   `json:"worst_lateness_s"`
	Link          string     `json:"link"`
	// Awake is the process that kept this machine's processors awake, and what it
	// took of their time; nil without one.
	Awake *lab.Awake `json:"awake,omitempty"`
}

// Alone tells whether one host was measured without a path, as disks are.
func (r Result) Alone() bool {
	return len(r.Hosts) == 1 && r.Path.RateBPS == 0 && r.Path.RTT == 0
}

// Measured tells whether a share has an estimate with an interval.
func (s Share) Measured() bool { return s.Ratio > 0 && s.Low > 0 && s.High >= s.Low }

// Clear tells whether an effect is more than chance at its confidence.
func (e Effect) Clear() bool { return e.Low > 1 || e.High < 1 }
