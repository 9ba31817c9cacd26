package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/calc"
	"github.com/wirerate/wirerate/internal/units"
)

func newCalcCmd(env *Env) *cobra.Command {
	var list strings.Builder
	for _, c := range calc.All() {
		fmt.Fprintf(&list, "\n  %-10s %s", c.Name, c.Title)
		for _, in := range c.Inputs {
			means := in.Means
			if in.Default != "" {
				means += " (default " + in.Default + ")"
			}
			list.WriteString("\n" + strings.TrimSuffix(below(fmt.Sprintf("    %-13s ", in.Name+"="), means), "\n"))
		}
	}
	cmd := &cobra.Command{
		Use:   "calc FORMULA INPUT=VALUE...",
		Short: "Compute one formula: bdp, window, wscale, mss, loss, bus, ...",
		Long: `Compute one formula and show the working, units and source. Inputs take the
usual units: rate=10gbit, rate=1.25GB/s, rtt=50ms, iops=400k,
loss=0.01%. The formulas and their inputs:
` + list.String(),
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
		return calculate(env, args[0], args[1:], *format)
	}
	return cmd
}

func formulaNames() string {
	var names []string
	for _, c := range calc.All() {
		names = append(names, c.Name)
	}
	return strings.Join(names, ", ")
}

func calculate(env *Env, name string, inputs []string, how string) error {
	c, ok := calc.Find(name)
	if !ok {
		return usagef("formula %q: one of %s is expected", name, formulaNames())
	}
	var fields []units.Field
	if len(inputs) > 0 {
		var err error
		if fields, err = units.ParseFields(strings.Join(together(inputs), ",")); err != nil {
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
	printCalculated(env, c, result)
	return nil
}

// together joins what a space cut off: rtt=50 ms.
func together(inputs []string) []string {
	var whole []string
	for _, in := range inputs {
		if len(whole) > 0 && !strings.Contains(in, "=") && strings.Contains(whole[len(whole)-1], "=") {
			whole[len(whole)-1] += in
			continue
		}
		whole = append(whole, in)
	}
	return whole
}

func printCalculated(env *Env, c calc.Formula, r calc.Outcome) {
	for _, res := range r.Results {
		env.printf("%s = %s\n", res.Name, res.Shown)
		working := res.Formula
		if res.Working != res.Formula {
			working += " = " + res.Working
		}
		env.printf("%s", below("    ", working))
		if res.Note != "" {
			env.printf("%s", below("    ", res.Note))
		}
	}
	for _, s := range r.Corrections {
		env.printf("%s", below("corrected: ", s))
	}
	for _, s := range c.Sources {
		env.printf("%s", below("source: ", s))
	}
}
