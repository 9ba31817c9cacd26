package stats

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Stage is a part of an attribution.
type Stage string

// The stages: all settings by a folded Plackett-Burman design, then all
// combinations of those that seemed to matter, on fresh runs.
const (
	StageScreen    Stage = "screen"
	StageFactorial Stage = "factorial"
)

// ErrStop is returned by a measuring function when its time is up: the
// attribution then works with what has been measured.
var ErrStop = errors.New("time is up")

// Setup tells for each setting whether it is on in a run.
type Setup []bool

// Block is the unit of measuring: two runs, one directly after the other, in
// this order. The second is the first with every tested setting switched, so
// that what drifts between blocks cancels.
type Block struct {
	Number int // from 0
	Stage  Stage
	Setups [2]Setup
}

// AttributionPlan describes an attribution beforehand.
type AttributionPlan struct {
	Settings       int     // 1 to MaxFactors
	Runs           int     // how many runs may be made; at least MinRuns(Settings)
	Seed           uint64  // of the order of runs
	Alpha          float64 // false-positive probability over all settings together
	Margin         float64 // smallest relative change worth having
	HigherIsBetter bool    // direction of the metric
}

const (
	// maxSurvivors bounds the second stage at 32 combinations.
	maxSurvivors = 5
	// screenLevel is the p-value up to which a setting reaches the second
	// stage. It is generous: the second stage decides on fresh runs.
	screenLevel = 0.10
	// leastFactorial is the fewest runs that leave the second stage an answer.
	leastFactorial = 12
)

// MinRuns is the smallest number of runs that can attribute an effect to the
// given number of settings; 0 for a number that no design holds.
func MinRuns(settings int) int {
	switch {
	case settings < 1 || settings > MaxFactors:
		return 0
	case settings <= maxSurvivors:
		return max(leastFactorial, 1<<settings)
	}
	return len(PlackettBurman(settings)) + leastFactorial
}

// SettingEffect is what an attribution says of one setting.
type SettingEffect struct {
	Setting   int       // index
	Screened  *Interval // on against off, averaged over the others; nil without a screen
	ScreenP   float64   // its p-value, unadjusted; 1 without a screen
	Survived  bool      // reached the second stage
	Share     *Interval // Shapley share of the survivors' gain, from fresh runs; nil if none
	AdjustedP float64   // of both stages together, by Holm over all settings; 1 if not a survivor
	Verdict   Verdict   // of the share if also AdjustedP <= Alpha, or of the screened effect

	screen Test
}

// Kind is how two settings act on each other.
type Kind string

// Kinds of interactions.
const (
	OnlyTogether Kind = "help-only-together" // neither helps alone
	Reinforce    Kind = "reinforce"          // more than the product of both
	Overlap      Kind = "overlap"            // less than the product of both
)

// Interaction is a pair of settings whose joint effect is not the product of
// their effects, over the other survivors' combinations.
type Interaction struct {
	A, B           int      // settings
	Extra          Interval // joint effect over the product of the single ones
	AloneA, AloneB Interval // each with the other off
	Together       Interval // both on against both off
	AdjustedP      float64  // of Extra, by Holm over all pairs of survivors
	Kind           Kind
}

// Fit compares a sum of single effects with the measured whole.
type Fit struct {
	Sum      Interval // product of all single effects
	Measured Interval // everything on against everything off
	P        float64  // small: the single effects do not explain the whole
}

// Attribution is the result: which settings did it.
type Attribution struct {
	Effects      []SettingEffect // one per setting, in order
	Keep         []int           // settings with verdict helps: the minimal set
	Interactions []Interaction   // those that are there at level Alpha
	Total        *Interval       // everything on against everything off; nil if not measured
	Kept         *Interval       // all survivors on against everything off
	Rest         *Interval       // Total over Kept: what the other settings do together
	Fit          *Fit            // nil when the whole was not measured
	Runs         int             // made
	Lost         int             // of those, runs of blocks without a usable pair of values
	Stopped      bool            // ended by ErrStop before the planned number of runs
	Warnings     []Warning
}

// Attribute finds the settings that change a metric, by screening and then
// confirming on fresh runs, and divides the gain among them. measure makes the
// two runs of a block and returns their metric, one positive number each; a
// value that is not positive or not finite marks a lost run, whose block is
// measured once more. measure ends the measuring with ErrStop; any other error
// ends the attribution, which then returns what it has with that error. The
// blocks follow from the plan and the values alone, so an interrupted
// attribution resumes when measure answers from its records first.
func Attribute(plan AttributionPlan, measure func(Block) ([2]float64, error)) (Attribution, error) {
	if err := plan.check(); err != nil {
		return Attribution{}, err
	}
	c := &collector{plan: plan, measure: measure, rng: newRand(plan.Seed)}
	result := Attribution{}
	for i := range plan.Settings {
		result.Effects = append(result.Effects, SettingEffect{Setting: i, ScreenP: 1, AdjustedP: 1, Verdict: NotEnough})
	}
	survivors, screened, ok := allSettings(plan.Settings), Test{}, true
	var err error
	if plan.Settings > maxSurvivors {
		survivors, screened, ok, err = result.screen(c)
	}
	if ok && err == nil && !c.stopped {
		err = result.confirm(c, survivors, screened)
	}
	result.Runs, result.Lost, result.Stopped = c.runs, c.lost, c.stopped
	for _, e := range result.Effects {
		if e.Verdict == Helps {
			result.Keep = append(result.Keep, e.Setting)
		}
	}
	return result, err
}

func (p AttributionPlan) check() error {
	switch {
	case p.Settings < 1 || p.Settings > MaxFactors:
		return fmt.Errorf("%d settings cannot be attributed at once; 1 to %d can", p.Settings, MaxFactors)
	case !(p.Alpha > 0 && p.Alpha < 1):
		return fmt.Errorf("alpha %v is outside 0 to 1", p.Alpha)
	case !(p.Margin >= 0) || math.IsInf(p.Margin, 1):
		return fmt.Errorf("margin %v is negative or not a number", p.Margin)
	case p.Runs < MinRuns(p.Settings):
		return fmt.Errorf("%d runs are too few for %d settings; at least %d are needed", p.Runs, p.Settings,
			MinRuns(p.Settings))
	}
	return nil
}

// screen estimates all settings and returns those worth a second look and the
// sum of all effects; ok is false when the runs do not estimate them.
func (a *Attribution) screen(c *collector) (survivors []int, total Test, ok bool, err error) {
	design := PlackettBurman(c.plan.Settings)
	order := len(design) / 2
	pairs := make([]mirrorPair, order)
	for p := range pairs {
		pairs[p] = mirrorPair{signs(design[p]), setupOf(design[p]), setupOf(design[order+p])}
	}
	seen, err := c.collect(StageScreen, pairs, max(len(design), c.plan.Runs/2))
	seen, stalls := withoutStalls("screen", seen)
	a.Warnings = append(a.Warnings, stalls...)
	fit, ok := fitHalves(seen)
	if !ok {
		a.Warnings = append(a.Warnings, Warning{
			Code: CodeTooFew, Run: -1, Value: float64(c.runs), Need: order,
			Text: fmt.Sprintf("the screen has %d usable pairs of runs and needs %d to tell the settings apart",
				len(seen), order),
		})
		return nil, Test{}, false, err
	}
	all := make([]float64, c.plan.Settings)
	for i := range a.Effects {
		all[i] = 2
		test := fit.single(i, 2)
		effect := test.ratio(1-c.plan.Alpha, len(seen))
		a.Effects[i].Screened, a.Effects[i].ScreenP, a.Effects[i].screen = &effect, test.P, test
		a.Effects[i].Verdict = NotEnough
		if Judge(effect, c.plan.Margin, c.plan.HigherIsBetter) == NoDifference {
			a.Effects[i].Verdict = NoDifference
		}
		if test.P <= screenLevel {
			survivors = append(survivors, i)
		}
	}
	slices.SortStableFunc(survivors, func(i, j int) int {
		switch {
		case a.Effects[i].ScreenP < a.Effects[j].ScreenP:
			return -1
		case a.Effects[i].ScreenP > a.Effects[j].ScreenP:
			return 1
		}
		return 0
	})
	most := maxSurvivors
	for most > 0 && c.runs+2<<most/2+2 > c.plan.Runs {
		most--
	}
	survivors = survivors[:min(most, len(survivors))]
	slices.Sort(survivors)
	return survivors, fit.contrast(all), true, err
}

// fitHalves fits the halved differences of mirror pairs to their signs.
func fitHalves(seen []halves) (regression, bool) {
	rows, y := make([][]float64, len(seen)), make([]float64, len(seen))
	for i, s := range seen {
		rows[i], y[i] = s.signs, s.odd
	}
	return regress(rows, y)
}

func allSettings(k int) []int {
	all := make([]int, k)
	for i := range all {
		all[i] = i
	}
	return all
}

func signs(row []int8) []float64 {
	out := make([]float64, len(row))
	for i, v := range row {
		out[i] = float64(v)
	}
	return out
}

func setupOf(row []int8) Setup {
	out := make(Setup, len(row))
	for i, v := range row {
		out[i] = v > 0
	}
	return out
}
