package cli

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/change"
)

func newVerifyCmd(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "verify PLAN [HOST]",
		Short: "Compare a running host with a plan, setting by setting",
		Long: `Verify reads every setting of a plan on the host and says which are as planned,
which differ, which are read at the next boot, and which cannot be read. The
exit status is 1 unless all are as planned. Nothing is changed.`,
		Example: `  wirerate verify plan/ ssh://root@server`,
		Args:    argsFrom(1, 2, "PLAN and at most one HOST are"),
	}
	format := formatFlag(cmd, "text", "json")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		target := "local"
		if len(args) == 2 {
			target = hostName(args[1])
		}
		return verifyVerb(cmd.Context(), env, args[0], target, *format)
	}
	return cmd
}

// verified is one setting in the JSON of verify. State is as-planned, differs,
// at-next-boot (what is read at boot and is not yet as planned) or unknown.
type verified struct {
	Setting string `json:"setting"`
	Wanted  string `json:"value"`
	Running string `json:"running"`
	State   string `json:"state"`
	Because string `json:"because,omitempty"`
}

func verifyVerb(ctx context.Context, env *Env, planName, target, format string) error {
	p, err := loadPlan(planName, target)
	if err != nil {
		return usage(err)
	}
	conn, err := env.open(ctx, target)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := recordedHost(conn, "verify"); err != nil {
		return err
	}
	var names []string
	for _, ch := range p.Changes {
		names = append(names, ch.Setting)
	}
	values, failed, err := change.Read(ctx, conn, p.System, names)
	if err != nil {
		return environment(err)
	}
	_, boot, _ := change.Divide(p)
	result := []verified{}
	differ := 0
	for _, ch := range p.Changes {
		v := verified{Setting: ch.Setting, Wanted: ch.To, Running: values[ch.Setting], State: "as-planned",
			Because: failed[ch.Setting]}
		switch {
		case slices.Contains(boot, v.Setting) && (v.Because != "" || !change.Same(v.Setting, v.Running, v.Wanted)):
			v.State = atNextBoot
		case v.Because != "":
			v.State = "unknown"
		case !change.Same(ch.Setting, v.Running, v.Wanted):
			v.State = "differs"
		}
		if v.State != "as-planned" {
			differ++
		}
		result = append(result, v)
	}
	if format == "json" {
		err = env.printJSON(verifiedHost{2, conn.Name(), result})
	} else {
		printVerified(env, result, differ)
	}
	if err == nil && differ > 0 {
		return negative()
	}
	return err
}

// atNextBoot is the state of what is read at boot and is not as planned yet.
const atNextBoot = "at-next-boot"

func printVerified(env *Env, result []verified, differ int) {
	pending := 0
	for _, v := range result {
		switch v.State {
		case "differs":
			env.printf("differs  %s is %s, planned %s\n", v.Setting, v.Running, v.Wanted)
		case atNextBoot:
			pending++
			running := "not shown by the running system"
			if v.Because == "" {
				running = v.Running + " until then"
			}
			env.printf("at next boot  %s: planned %s, %s\n", v.Setting, v.Wanted, running)
		case "unknown":
			env.printf("unknown  %s: %s\n", v.Setting, v.Because)
		}
	}
	env.printf("%d of %d settings are as planned", len(result)-differ, len(result))
	if pending > 0 {
		env.printf(", %d are read at the next boot", pending)
	}
	env.printf("\n")
}
