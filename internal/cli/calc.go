package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/plan"
	"github.com/wirerate/wirerate/internal/units"
)

func newCalcCmd(env *Env) *cobra.Command {
	var list strings.Builder
	for _, c := range plan.Calculations() {
		fmt.Fprintf(&list, "\n  %-10s %s", c.Name, c.Title)
		for _, in := range c.Inputs {
			fmt.Fprintf(&list, "\n    %-13s %s", in.Name+"=", in.Means)
			if in.Default != "" {
				fmt.Fprintf(&list, " (default %s)", in.Default)
			}
		}
	}
	cmd := &cobra.Command{
		Use:   "calc FORMULA INPUT=VALUE...",
		Short: "Compute one formula: bdp, window, wscale, mss, bus, queue, loss, ...",
		Long:  "Compute one formula by itself, with its working, units and source. The formulas and their inputs:\n" + list.String(),
		Example: `  wirerate calc bdp rate=10gbit rtt=50ms
  wirerate calc wscale buffer=16MiB
  wirerate calc bus kind=pcie gen=3 lanes=8
  wirerate calc loss loss=0.01% rtt=80ms --json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("a FORMULA is expected: one of %s", formulaNames())
			}
			return nil
		},
	}
	format := formatFlag(cmd, "text", "json")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		how, err := format()
		if err != nil {
			return err
		}
		return calc(env, args[0], args[1:], how)
	}
	return cmd
}

func formulaNames() string {
	var names []string
	for _, c := range plan.Calculations() {
		names = append(names, c.Name)
	}
	return strings.Join(names, ", ")
}

func calc(env *Env, name string, inputs []string, how string) error {
	c, ok := plan.FindCalculation(name)
	if !ok {
		return usagef("formula %q: one of %s is expected", name, formulaNames())
	}
	var fields []units.Field
	if len(inputs) > 0 {
		var err error
		if fields, err = units.ParseFields(strings.Join(inputs, ",")); err != nil {
			return usage(err)
		}
	}
	result, err := c.Calculate(fields)
	if err != nil {
		return usage(err)
	}
	if how == "json" {
		return env.printJSON(result)
	}
	return printCalculated(env, c, result)
}

func printCalculated(env *Env, c plan.Calculation, r plan.Calculated) error {
	for _, res := range r.Results {
		fmt.Fprintf(env.Stdout, "%s = %s\n", res.Name, res.Shown)
		fmt.Fprintf(env.Stdout, "    %s", res.Formula)
		if res.Working != res.Formula {
			fmt.Fprintf(env.Stdout, " = %s", res.Working)
		}
		fmt.Fprintln(env.Stdout)
		if res.Note != "" {
			fmt.Fprintf(env.Stdout, "    %s\n", res.Note)
		}
	}
	for _, s := range r.Corrections {
		fmt.Fprintf(env.Stdout, "corrected: %s\n", s)
	}
	for _, s := range c.Sources {
		fmt.Fprintf(env.Stdout, "source: %s\n", s)
	}
	return nil
}
