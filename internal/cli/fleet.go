package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/canary"
	"github.com/wirerate/wirerate/internal/fleet"
	"github.com/wirerate/wirerate/internal/report"
)

func newFleetCmd(env *Env) *cobra.Command {
	var against, groupBy []string
	var inventory, out string
	cmd := &cobra.Command{
		Use:   "fleet FILE...",
		Short: "Merge inspections of many hosts: problems, deviations, drift",
		Long: `Fleet merges what wirerate inspect --json printed on any number of hosts, each
in a file or all in a folder: which problems are on which hosts, and which hosts
deviate from their group in a setting, driver, firmware or release. A value is
usual when two thirds of a group have it. The groups are the operating systems,
or with --inventory the values of --group-by. With --against, an earlier folder
or file, the exit status is 1 if anything has changed since.`,
		Example: `  wirerate fleet inspections/
  wirerate fleet today/ --against last-week/ --format html -o fleet.html
  wirerate fleet inspections/ --inventory hosts --group-by role,hardware`,
		Args: cobra.MinimumNArgs(1),
	}
	format := formatFlag(cmd, "text", "html", "json")
	f := cmd.Flags()
	f.StringArrayVar(&against, "against", nil, "earlier `file` or folder: shows what has changed since")
	f.StringVar(&inventory, "inventory", "",
		"`file` with the hosts' groups: ansible-inventory --list, or lines of HOST KEY=VALUE")
	f.StringSliceVar(&groupBy, "group-by", nil, "inventory `keys` that define the groups")
	f.StringVarP(&out, "output", "o", "", "write to `FILE` instead of standard output (-)")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		group, err := env.groupsOf(inventory, groupBy)
		if err != nil {
			return usage(err)
		}
		hosts, faults, err := readFleet(args, group)
		if err != nil {
			return usage(err)
		}
		r := fleet.Merge(hosts, faults)
		if len(against) > 0 {
			before, lost, err := readFleet(against, group)
			if err != nil {
				return usage(err)
			}
			r.Drift = fleet.Since(before, hosts, lost)
		}
		if err := env.writeTo(out, func(to *Env) error { return to.showFleet(r, *format) }); err != nil {
			return err
		}
		return env.fleetStatus(r)
	}
	return cmd
}

// groupsOf reads which group each host is in; nil without an inventory.
func (e *Env) groupsOf(inventory string, keys []string) (func(string) string, error) {
	if (inventory == "") != (len(keys) == 0) {
		return nil, usagef("--inventory and --group-by go together: the file, and which of its keys make groups")
	}
	if inventory == "" {
		return nil, nil
	}
	data, err := e.read(inventory, inventoryLimit)
	if err != nil {
		return nil, err
	}
	hosts, err := canary.Inventory(data, keys)
	if err != nil {
		return nil, err
	}
	groups := map[string]string{}
	for _, h := range hosts {
		groups[h.Name] = strings.Join(h.Facts, ", ")
	}
	return func(host string) string {
		name := strings.TrimPrefix(host, "ssh://")
		return groups[name[strings.LastIndex(name, "@")+1:]]
	}, nil
}

func readFleet(names []string, group func(string) string) ([]fleet.Host, []fleet.Fault, error) {
	files, err := fleet.Files(names)
	if err != nil {
		return nil, nil, err
	}
	hosts, faults := fleet.Read(files, group)
	if len(hosts) == 0 {
		return nil, nil, usagef("%s: %s", faults[0].File, faults[0].Error)
	}
	return hosts, faults, nil
}

func (e *Env) showFleet(r fleet.Report, form string) error {
	switch form {
	case "json":
		return e.printJSON(r)
	case "html":
		return failure(report.FleetHTML(e.Stdout, r))
	}
	report.Fleet(e.screen(), r)
	return nil
}

// fleetStatus names what was not read, and tells drift by the exit status.
func (e *Env) fleetStatus(r fleet.Report) error {
	faults := r.Unread
	if r.Drift != nil {
		faults = append(faults[:len(faults):len(faults)], r.Drift.Unread...)
	}
	for _, f := range faults {
		e.note("%s: %s", f.File, f.Error)
	}
	switch {
	case len(faults) > 0:
		return usagef("not all was read: %d of the files or hosts are left out", len(faults))
	case r.Drift != nil && r.Drift.Any():
		return negative()
	}
	return nil
}
