package cli

import (
	"context"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/experiment"
	"github.com/wirerate/wirerate/internal/outdir"
	"github.com/wirerate/wirerate/internal/report"
)

func newAttributeCmd(env *Env) *cobra.Command {
	var f experimentFlags
	cmd := &cobra.Command{
		Use:   "attribute --arm A [HOST [PEER] | --lab LINK]",
		Short: "Find which settings of an arm cause its effect",
		Long: `Attribute switches the settings of an arm on and off in a design that separates
single effects from pairwise ones (folded Plackett-Burman), confirms those that
seem to matter in all combinations on fresh runs, and divides the gain among
them (Shapley). A setting that is off has its previous value. The result is a
minimal file: the lines that help, and the others with their intervals.

With --via HOST, or in a lab with --router, the settings are those of the host
between the two ends; see wirerate trial --help.

--one-at-a-time compares each setting alone with none instead: easier to
follow, but it needs more runs and does not see settings that help only
together.`,
		Example: `  wirerate attribute --arm file:99-tuning.conf --lab rate=1gbit,rtt=50ms -o out/
  wirerate attribute --arm plan --workload rr ns:a --peer ns:b \
    --path rate=1gbit,rtt=5ms --for 40m`,
		Args: cobra.MaximumNArgs(2),
	}
	format := formatFlag(cmd, "text", "json")
	f.addArms(cmd, "the `ARM` whose settings are to be separated")
	cmd.Flags().BoolVar(&f.OneAtATime, "one-at-a-time", false, "compare each single setting with none")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if f.resume != "" {
			return f.resumes(cmd, env, *format)
		}
		if len(f.arms) != 1 {
			return usagef("one --arm is expected, whose settings are to be separated: %s", experiment.ArmForms)
		}
		if err := f.checkArms(args, 1); err != nil {
			return usage(err)
		}
		return attributeVerb(cmd.Context(), env, f, *format)
	}
	return cmd
}

func attributeVerb(ctx context.Context, env *Env, f experimentFlags, format string) error {
	o, err := run(ctx, env, &f, experiment.Attribute)
	if err != nil {
		return err
	}
	files := minimalFiles(o, f.arms[0])
	if f.out.dir != "" {
		if err := writeAttribution(f.out, o.Result, files); err != nil {
			return failure(err)
		}
		for _, file := range files {
			env.note("written: %s, report.html and result.json", filepath.Join(f.out.dir, file.name))
		}
	}
	return env.show(o.Result, format, func() {
		report.Shares(env.screen(), o.Result)
		for _, file := range files {
			env.printf("\n# %s\n%s", file.name, file.text)
		}
	})
}

// minimalFile is what of an arm earns its place on one host.
type minimalFile struct{ name, text string }

func minimalFiles(o experiment.Outcome, arm string) (files []minimalFile) {
	for _, side := range o.Sides {
		if text := report.Minimal(o.Result, arm, side.Values); text != "" {
			files = append(files, minimalFile{side.Name + "-minimal.conf", text})
		}
	}
	return files
}

func writeAttribution(out outputFolder, r experiment.Result, minimal []minimalFile) error {
	files, err := trialFiles(r)
	if err != nil {
		return err
	}
	for _, file := range minimal {
		files = append(files, outdir.File{Name: file.name, Data: []byte(file.text)})
	}
	data, err := indentedJSON(r.Shares)
	if err != nil {
		return err
	}
	return out.write(append(files, outdir.File{Name: "shares.json", Data: data})...)
}
