package cli

import (
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/canary"
)

// canaryStatus is what is to be done next with the hosts of a canary.
type canaryStatus struct {
	Schema int       `json:"schema"`
	Made   time.Time `json:"made"` // tells one canary from another in a file of the same name
	Step   int       `json:"step"` // from 1: the one to be made or watched, else the last
	Steps  int       `json:"steps"`
	// Watch says that the step is to be made and judged; false at the end.
	Watch    bool     `json:"watch"`
	Keep     bool     `json:"keep"`      // the change is promoted: confirm it on the changed hosts
	TakeBack bool     `json:"take_back"` // roll it back on the changed hosts
	Changed  []string `json:"changed"`   // hosts of the steps that are judged
	Next     []string `json:"next"`      // all hosts that are to have the change now
	Window   float64  `json:"window_s"`  // from the change of its hosts to the judgement
	Because  string   `json:"because"`
	Notes    []string `json:"notes"` // what the last judgement rests on, and what it did not see
}

func newCanaryStatusCmd(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status FILE",
		Short: "Say what to do next, and on which hosts",
		Long: `Status reads the file of a canary and changes nothing. It says which hosts
should have the change now, whether to keep it or take it back, and why.`,
		Args: exactArgs(1, "the file of a canary is"),
	}
	format := formatFlag(cmd, "text", "json")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		s, err := canary.Load(args[0])
		if err != nil {
			return usage(err)
		}
		status := statusOfCanary(s)
		if *format == "json" {
			return env.printJSON(status)
		}
		env.printf("%s\n", status.Because)
		for _, note := range status.Notes {
			env.screen().Wrap("  ", "  ", note)
		}
		return nil
	}
	return cmd
}

func statusOfCanary(s *canary.State) canaryStatus {
	current, last := s.Current(), len(s.Steps)-1
	st := canaryStatus{Schema: 1, Made: s.Made, Step: min(current, last) + 1, Steps: len(s.Steps), Changed: []string{},
		Next: []string{}, Window: s.Takes().Seconds(), Notes: []string{}}
	st.Changed = append(st.Changed, s.ChangedBy(current-1)...)
	if current > 0 {
		look := s.Steps[current-1].Look
		st.Notes = append(append(st.Notes, look.Because...), look.Notes...)
	}
	if ended := s.Ended(); ended != nil {
		st.Step, st.TakeBack = current, true
		st.Because = fmt.Sprintf("step %d: %s: take the change back on %d hosts", current, ended.Action, len(st.Changed))
		return st
	}
	st.Next = append(st.Next, s.ChangedBy(min(current, last))...)
	st.Watch = current <= last
	st.Keep = slices.ContainsFunc(s.Steps,
		func(step canary.Step) bool { return step.Look != nil && step.Look.Action == canary.Promote })
	switch {
	case !st.Watch:
		st.Because = fmt.Sprintf("every step is made: the change stays on %d hosts", len(st.Changed))
	case st.Keep:
		st.Because = fmt.Sprintf("the change is promoted: step %d of %d changes %d hosts in all",
			st.Step, st.Steps, len(st.Next))
	default:
		st.Because = fmt.Sprintf("step %d of %d changes %d hosts in all", st.Step, st.Steps, len(st.Next))
	}
	return st
}
