package cli

import (
	"cmp"
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/experiment"
	"github.com/wirerate/wirerate/internal/input"
	"github.com/wirerate/wirerate/internal/report"
	"github.com/wirerate/wirerate/internal/store"
)

const historyUsage = "`file` of the history (default: ~/.local/state/wirerate/history.db)"

func newHistoryCmd(env *Env) *cobra.Command {
	var file string
	var n int
	cmd := &cobra.Command{
		Use:   "history",
		Short: "List past experiments, or compare two of them",
		Long: `History lists past tune, trial, attribute and measure experiments, newest first,
with the verdict and the effect. Absolute numbers of different sessions are not
comparable: history compare shows the effects side by side.`,
		Args: cobra.NoArgs,
	}
	format := formatFlag(cmd, "text", "json")
	cmd.PersistentFlags().StringVar(&file, "history", "", historyUsage)
	cmd.Flags().IntVarP(&n, "number", "n", 20, "maximum number to list; 0 for all")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return withHistory(cmd.Context(), file, func(h *store.Store) error {
			all, err := h.Trials(cmd.Context(), n)
			if err != nil && !errors.Is(err, store.ErrDamaged) {
				return failure(err)
			}
			if len(all) == 0 && err != nil {
				return failure(err)
			}
			return cmp.Or(env.showHistory(all, *format), failure(cmp.Or(err, h.Check(cmd.Context()))))
		})
	}
	compare := &cobra.Command{
		Use:   "compare A B",
		Short: "Show the effects of two past trials side by side",
		Args:  exactArgs(2, "two IDs are"),
	}
	compareFormat := formatFlag(compare, "text", "json")
	compare.RunE = func(cmd *cobra.Command, args []string) error {
		return withHistory(cmd.Context(), file, func(h *store.Store) error {
			return env.compareHistory(cmd.Context(), h, args[0], args[1], *compareFormat)
		})
	}
	cmd.AddCommand(compare)
	return cmd
}

func (e *Env) showHistory(all []store.Trial, format string) error {
	if format == "json" {
		return e.printJSON(pastTrials{1, all})
	}
	if len(all) == 0 {
		e.note("the history is empty: tune, trial, attribute and measure fill it")
		return nil
	}
	report.History(e.screen(), all)
	return nil
}

func (e *Env) compareHistory(ctx context.Context, h *store.Store, a, b, format string) error {
	x, err := findTrial(ctx, h, a)
	if err != nil {
		return err
	}
	y, err := findTrial(ctx, h, b)
	if err != nil {
		return err
	}
	c, err := experiment.CompareTrials(x, y)
	if err != nil {
		return err
	}
	if format == "json" {
		return e.printJSON(c)
	}
	report.ComparedTrials(e.screen(), c)
	return nil
}

// withHistory opens the history for as long as use takes.
func withHistory(ctx context.Context, file string, use func(*store.Store) error) error {
	h, err := experiment.ReadHistory(ctx, file)
	if err != nil {
		return err
	}
	defer h.Close()
	return use(h)
}

func newReportCmd(env *Env) *cobra.Command {
	var file, out string
	var watched watchedOptions
	cmd := &cobra.Command{
		Use:   "report ID | FILE | DIR",
		Short: "Show a past experiment, a result.json or a recording of watch",
		Long: `Report shows a past experiment or a result.json in any format.

For a folder of wirerate watch --record, it shows the time between --from and
--to: goodput, round-trip times, losses, when limits and problems began, and the
changes and experiments in this machine's journal and history, with those added
by --mark. --compare compares the time before one of these with the time after
it: the ID of a change or an experiment, the text of a --mark, or a time.
Nothing is randomised there, so it is weaker than a trial.`,
		Args: exactArgs(1, "the ID of an experiment (see wirerate history; last is the newest), a result.json or the "+
			"folder of a recording is"),
		Example: `  wirerate report last
  wirerate report 20260101-120000-ab12 --format html -o report.html
  wirerate report /var/lib/wirerate/watch --from 24h --format html -o day.html
  wirerate report /var/lib/wirerate/watch --mark 3h=switch --compare switch`,
	}
	format := formatFlag(cmd, "text", "html", "markdown", "json")
	cmd.Flags().StringVar(&file, "history", "", historyUsage)
	f := cmd.Flags()
	f.StringVarP(&out, "output", "o", "", "write to `FILE` instead of standard output (-)")
	f.StringVar(&watched.from, "from", "",
		"of a recording: the `time` to begin at, 2026-11-22T03:00, or 3h for 3 hours\nago")
	f.StringVar(&watched.to, "to", "", "of a recording: the `time` to end at")
	f.StringVar(&watched.compare, "compare", "", "of a recording: compare before and after this `mark`")
	f.StringArrayVar(&watched.notes, "mark", nil, "of a recording: a change, as `time=text`; repeatable")
	f.StringVar(&watched.stateDir, "state-dir", "", "of a recording: "+stateDirUsage)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if isRecording(args[0]) {
			if *format == "markdown" {
				return usagef("a recording is shown as text, html or json")
			}
			watched.history = file
			return env.writeTo(out, func(to *Env) error { return watched.run(cmd.Context(), to, args[0], *format) })
		}
		if watched.any() {
			return usagef("--from, --to, --compare, --mark and --state-dir are for the folder of a recording; %s is none",
				args[0])
		}
		r, err := findResult(cmd.Context(), file, args[0])
		if err != nil {
			return err
		}
		return env.writeTo(out, func(to *Env) error { return to.showResult(r, *format) })
	}
	return cmd
}

// findResult reads a result by the ID of its experiment or from a file.
func findResult(ctx context.Context, history, name string) (experiment.Result, error) {
	if _, err := os.Stat(name); err == nil {
		data, err := input.File(name, jsonLimit)
		if err != nil {
			return experiment.Result{}, usage(err)
		}
		r, err := experiment.ReadResult(data)
		return r, usage(err)
	}
	var r experiment.Result
	err := withHistory(ctx, history, func(h *store.Store) error {
		t, err := findTrial(ctx, h, name)
		if err != nil {
			return err
		}
		if r, err = experiment.ReadResult(t.Result); err == nil && t.Kind != "measure" {
			return nil
		}
		return usagef("%s has no result to show: it is a %s of %d runs, %s; wirerate export %s has the runs",
			t.ID, t.Kind, t.Runs, t.State, t.ID)
	})
	return r, err
}

// findTrial finds an experiment by its ID.
func findTrial(ctx context.Context, h *store.Store, id string) (store.Trial, error) {
	t, err := h.Trial(ctx, id)
	if errors.Is(err, store.ErrUnknown) {
		return t, usage(err)
	}
	return t, failure(err)
}

func (e *Env) showResult(r experiment.Result, format string) error {
	switch format {
	case "json":
		return e.printJSON(r)
	case "html":
		return failure(report.HTML(e.Stdout, r))
	case "markdown":
		return failure(report.Markdown(e.Stdout, r))
	}
	if r.Attribution != nil && len(r.Arms) == 0 {
		report.Shares(e.screen(), r)
		return nil
	}
	report.Text(e.Stdout, r)
	return nil
}
