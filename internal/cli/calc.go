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
			means := in.Means
			if in.Default != "" {
				means += " (default " + in.Default + ")"
			}
			list.WriteString("\n" + strings.TrimSuffix(hanging(fmt.Sprintf("    %-13s ", in.Name+"="), means), "\n"))
		}
	}
	cmd := &cobra.Command{
		Use:   "calc FORMULA INPUT=VALUE...",
		Short: "Compute one formula: bdp, window, wscale, mss, loss, bus, ...",
		Long: `Compute one formula by itself, with its working, units and source. Inputs are
written as people do: rate=10gbit, rate=1.25GB/s, rtt=50ms, iops=400k,
power=3.4W, farads=2.2mF, loss=0.01%. The formulas and their inputs:
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
	return printCalculated(env, c, result)
}

// together joins what a space cut off: rtt=50 ms.
func together(inputs []string) []string {
	var whole []string
	for _, in := range inputs {
		if len(whole) > 0 && !strings.Contains(in, "=") {
			whole[len(whole)-1] += in
			continue
		}
		whole = append(whole, in)
	}
	return whole
}

func printCalculated(env *Env, c plan.Calculation, r plan.Calculated) error {
	for _, res := range r.Results {
		fmt.Fprintf(env.Stdout, "%s = %s\n", res.Name, res.Shown)
		working := res.Formula
		if res.Working != res.Formula {
			working += " = " + res.Working
		}
		fmt.Fprint(env.Stdout, hanging("    ", working))
		if res.Note != "" {
			fmt.Fprint(env.Stdout, hanging("    ", res.Note))
		}
	}
	for _, s := range r.Corrections {
		fmt.Fprint(env.Stdout, hanging("corrected: ", s))
	}
	for _, s := range c.Sources {
		fmt.Fprint(env.Stdout, hanging("source: ", s))
	}
	return nil
}

// hanging writes text in 80 columns after a label, further lines below the
// text's beginning.
func hanging(label, text string) string {
	var b strings.Builder
	line := label
	indent := strings.Repeat(" ", len(label))
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
			line += word
		case len([]rune(line))+1+len([]rune(word)) > 80:
			b.WriteString(line + "\n")
			line = indent + word
		default:
			line += " " + word
		}
	}
	return b.String() + line + "\n"
}
