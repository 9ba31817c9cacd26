package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/report"
	"github.com/wirerate/wirerate/internal/store"
)

func newExportCmd(env *Env) *cobra.Command {
	var file, out string
	cmd := &cobra.Command{
		Use:   "export [ID...]",
		Args:  cobra.ArbitraryArgs,
		Short: "Write the runs of past experiments as OpenMetrics, CSV or JSON",
		Long: `Export writes every run that the history kept of the named experiments, all of
them when none is named. Quantities are in base units.`,
		Example: `  wirerate export last --format csv
  wirerate export --format openmetrics -o wirerate.prom`,
	}
	format := formatFlag(cmd, "openmetrics", "csv", "json")
	cmd.Flags().StringVar(&file, "history", "", historyUsage)
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to `FILE` instead of standard output (-)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		all, err := exported(cmd.Context(), file, args)
		if err != nil {
			return err
		}
		return env.writeTo(out, func(to *Env) error {
			switch *format {
			case "csv":
				return failure(report.CSV(to.Stdout, all))
			case "json":
				return to.printJSON(exportedTrials{1, all})
			}
			return failure(report.OpenMetrics(to.Stdout, all))
		})
	}
	return cmd
}

func exported(ctx context.Context, file string, ids []string) ([]report.ExportedTrial, error) {
	all := []report.ExportedTrial{}
	err := withHistory(ctx, file, func(h *store.Store) error {
		trials, err := named(ctx, h, ids)
		if err != nil {
			return err
		}
		for _, t := range trials {
			attempts, err := h.Attempts(ctx, t.ID)
			if err != nil {
				return failure(err)
			}
			all = append(all, report.ExportedTrial{Trial: t, Attempts: attempts})
		}
		return nil
	})
	return all, err
}

// named are the experiments of that name, all when none is named.
func named(ctx context.Context, h *store.Store, ids []string) ([]store.Trial, error) {
	if len(ids) == 0 {
		trials, err := h.Trials(ctx, 0)
		return trials, failure(err)
	}
	var trials []store.Trial
	for _, id := range ids {
		t, err := findTrial(ctx, h, id)
		if err != nil {
			return nil, err
		}
		trials = append(trials, t)
	}
	return trials, nil
}
