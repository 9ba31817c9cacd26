package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/calc"
	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/conffile"
	"github.com/wirerate/wirerate/internal/lab"
	"github.com/wirerate/wirerate/internal/lab/link"
	"github.com/wirerate/wirerate/internal/store"
	"github.com/wirerate/wirerate/internal/workload"
)

// complete tells the shell what flags and arguments of a command, and of all
// below it, can be.
func complete(root *cobra.Command) {
	flags := map[string]func(*cobra.Command) []string{
		"role": fixed(catalog.Roles()...), "os": fixed(systemNames()...), "kind": fixed(kindNames()...),
		"workload": fixed(kindsOfWorkload()...),
		"level":    fixed("info", "warning", "error"), "fail-on": fixed("info", "warning", "error"), "color": fixed("auto",
			"always", "never"),
		"direction": fixed("up", "down", "both"), "export": fixed("ansible", "tuned", "script"),
		"awake": fixed("auto", "on", "off"),
		"arm":   fixed("current", "default", "plan", "set:", "file:", "tuned:", "cc:", "firewall:off"), "peer": fixed("ssh://",
			"local"), "via": fixed("ssh://"),
		"path": func(*cobra.Command) []string { return append(profileNames(), "auto", "rate=") },
		"lab":  func(*cobra.Command) []string { return append(profileNames(), "rate=") }, "access": fixed(profileNames()...),
		"resume": experimentIDs, "trial": experimentIDs,
	}
	completeBelow(root, flags, argumentWords())
}

func completeBelow(cmd *cobra.Command, flags map[string]func(*cobra.Command) []string,
	arguments map[string]func(*cobra.Command, int) []string) {
	for name, words := range flags {
		if cmd.Flags().Lookup(name) != nil {
			// The error is for words that the verb has registered itself.
			_ = cmd.RegisterFlagCompletionFunc(name, func(cmd *cobra.Command, _ []string, typed string) ([]string,
				cobra.ShellCompDirective) {
				return starting(words(cmd), typed)
			})
		}
	}
	if words := arguments[cmd.CommandPath()]; words != nil && cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			found, how := starting(words(cmd, len(args)), typed)
			if strings.HasSuffix(cmd.CommandPath(), " report") {
				how = cobra.ShellCompDirectiveDefault // a file, too
			}
			return found, how
		}
	}
	for _, sub := range cmd.Commands() {
		completeBelow(sub, flags, arguments)
	}
}

// describeCompletion adds the verb that prints the shells' scripts.
func describeCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	cmd, _, err := root.Find([]string{"completion"})
	if err != nil {
		return
	}
	cmd.Short = "Print the completion script of bash, zsh, fish or PowerShell"
	cmd.Long = "Print the script that completes wirerate's commands in a shell. make\ninstall puts those of bash, zsh " +
		"and fish where the shells look for them."
	for _, sub := range cmd.Commands() {
		sub.Short = "Print the completion script of " + sub.Name()
		sub.Long = sub.Short + ", to be loaded when the shell starts."
		sub.Example = map[string]string{
			"bash":       "  source <(wirerate completion bash)",
			"zsh":        "  wirerate completion zsh >\"${fpath[1]}/_wirerate\"",
			"fish":       "  wirerate completion fish >~/.config/fish/completions/wirerate.fish",
			"powershell": "  wirerate completion powershell | Out-String | Invoke-Expression",
		}[sub.Name()]
	}
}

// argumentWords are what the arguments of a command can be, by its path; at is
// how many stand before.
func argumentWords() map[string]func(cmd *cobra.Command, at int) []string {
	hosts := func(*cobra.Command, int) []string { return []string{"local", "ssh://", "ns:"} }
	experiments := func(cmd *cobra.Command, _ int) []string { return experimentIDs(cmd) }
	first := func(words func() []string) func(*cobra.Command, int) []string {
		return func(_ *cobra.Command, at int) []string {
			if at > 0 {
				return nil
			}
			return words()
		}
	}
	links := func() []string { return append(labNames(), profileNames()...) }
	return map[string]func(*cobra.Command, int) []string{
		"wirerate explain": first(explainable), "wirerate report": experiments, "wirerate export": experiments,
		"wirerate history compare": experiments,
		"wirerate inspect":         hosts, "wirerate plan": hosts, "wirerate capture": hosts, "wirerate status": hosts,
		"wirerate tune":  hosts,
		"wirerate trial": hosts, "wirerate attribute": hosts,
		"wirerate lab exec": first(links), "wirerate lab shell": first(labNames), "wirerate lab down": first(labNames),
		"wirerate lab up": func(*cobra.Command, int) []string { return profileNames() },
		"wirerate measure": func(cmd *cobra.Command, at int) []string {
			if at > 0 {
				return hosts(cmd, at)
			}
			return kindsOfWorkload()
		},
		"wirerate calc": func(*cobra.Command, int) []string {
			return namesOf(calc.All(), func(f calc.Formula) string { return f.Name })
		},
	}
}

func fixed(words ...string) func(*cobra.Command) []string {
	return func(*cobra.Command) []string { return words }
}

// starting are the words that begin with what is typed; what ends in : or =
// or / goes on.
func starting(words []string, typed string) ([]string, cobra.ShellCompDirective) {
	found, how := []string{}, cobra.ShellCompDirectiveNoFileComp
	for _, w := range words {
		if strings.HasPrefix(w, typed) {
			found = append(found, w)
			if strings.HasSuffix(w, ":") || strings.HasSuffix(w, "=") || strings.HasSuffix(w, "/") {
				how |= cobra.ShellCompDirectiveNoSpace
			}
		}
	}
	return found, how
}

// namesOf are what the members of a list are called.
func namesOf[T any](all []T, name func(T) string) []string {
	var names []string
	for _, v := range all {
		names = append(names, name(v))
	}
	return names
}

func systemNames() []string {
	return namesOf(catalog.Systems(), func(s catalog.System) string { return string(s) })
}

func kindNames() []string {
	return namesOf(conffile.Kinds(), func(k conffile.Kind) string { return string(k) })
}

func kindsOfWorkload() []string {
	return namesOf(workload.Kinds(), func(k workload.Kind) string { return k.Name })
}

func profileNames() []string {
	return namesOf(link.Profiles(), func(p link.Profile) string { return p.Name })
}

// labNames are the labs that are up; none where that cannot be told.
func labNames() []string {
	kept, _ := lab.KeptLabs()
	return namesOf(kept, func(k lab.Kept) string { return k.Name })
}

// explainable is every setting, code and rule.
func explainable() []string {
	names := otherNames()
	c, err := catalog.Load()
	if err != nil {
		return names
	}
	for _, s := range catalog.Systems() {
		names = append(names, c.Names(s)...)
	}
	return names
}

// experimentIDs are those of the history, newest first; none where it cannot be
// read.
func experimentIDs(cmd *cobra.Command) []string {
	file := ""
	if f := cmd.Flag("history"); f != nil {
		file = f.Value.String()
	}
	ids := []string{"last"}
	_ = withHistory(cmd.Context(), file, func(h *store.Store) error {
		all, err := h.Trials(cmd.Context(), 100)
		for _, t := range all {
			ids = append(ids, t.ID)
		}
		return err
	})
	return ids
}
