package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/lab"
	"github.com/wirerate/wirerate/internal/lab/selfcheck"
)

func newLabCheckCmd(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check [WORD...]",
		Args:  cobra.ArbitraryArgs,
		Short: "Measure emulated links against their specification",
		Long: `check brings up links one after the other and compares, with real kernel
sockets, what was specified with what is measured: round-trip time, rate, loss,
marks, duplicates, jitter, queues, CoDel's schedule, BBR under loss, and TCP
against the tables of RFC 6349 and RFC 9438. A check that failed while the
emulator was behind is repeated, at most twice; one that failed while it could
not keep up says "no time": the machine was busy. A TCP transfer leaves out the
moments in which the emulator was behind, says how long that was, and continues
until the rest is enough. The exit status is 1 if a check failed.

RFC 9438's tables are for a sender that halves its window immediately. The
kernel's takes two round trips to detect a loss and to recover, which at 1% loss
is a quarter of the time, and follows the larger of CUBIC's two curves at each
moment. The rows where that matters expect the resulting value, and say so.`,
		Example: `  wirerate lab check
  wirerate lab check 'round trip' rtt=20ms
  wirerate lab check --full 'average window' cubic`,
	}
	full := cmd.Flags().Bool("full", false, "include checks that take minutes: low loss rates, long paths")
	awake := awakeFlag(cmd)
	format := formatFlag(cmd, "text", "json")
	cmd.RunE = func(cmd *cobra.Command, words []string) error {
		kept, err := awake()
		if err != nil {
			return err
		}
		opt := selfcheck.Options{Full: *full, Only: words, Awake: kept}
		if err := lab.EnterUserNamespace(cmd.Context(), env.args); err != nil {
			return labError(err)
		}
		if *format == "text" {
			opt.Report = func(r selfcheck.Result) { fmt.Fprintln(env.Stdout, r) }
		}
		report, err := selfcheck.Check(cmd.Context(), opt)
		if err != nil {
			return labError(err)
		}
		if len(report.Results) == 0 {
			return usagef("no check has all of %q in its name and link; wirerate lab check --full makes them all", words)
		}
		failed := 0
		for _, r := range report.Results {
			if !r.OK && r.Skipped == "" {
				failed++
			}
		}
		if *format == "json" {
			err = env.printJSON(checkedLab{1, report.Awake, report.Arrivals, report.Results, failed})
		} else {
			env.note("%d checks, %d not as asked; %s; %s", len(report.Results), failed, report.Awake, report.Arrivals)
		}
		if err == nil && failed > 0 {
			return negative()
		}
		return err
	}
	return cmd
}
