package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/diagnose"
	"github.com/wirerate/wirerate/internal/lint"
	"github.com/wirerate/wirerate/internal/workload"
)

// pageName is the name that cobra's links between its Markdown pages have.
func pageName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "_") }

// manName is the name of a command's manual page.
func manName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// made says in a page where it comes from.
const made = "<!-- Written by tools/gendocs; run make generate. -->\n"

func lintPage() page {
	var b bytes.Buffer
	b.WriteString(made + `# What lint reports

Every problem has one of these codes. A comment ` + "`# wirerate: ignore CODE reason`" + ` suppresses a code on its
line or, alone on a line, on the next one.

| code | severity | says |
|---|---|---|
`)
	for _, c := range lint.Codes() {
		fmt.Fprintf(&b, "| [%s](#%s) | %s | %s |\n", c.ID, c.ID, c.Severity, c.Title)
	}
	for _, c := range lint.Codes() {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", c.ID, c.Explanation)
		writeExample(&b, "Reported", c.Bad)
		writeExample(&b, "Not reported", c.Good)
	}
	return page{"lint.md", b.Bytes()}
}

func writeExample(b *bytes.Buffer, title string, e lint.Example) {
	on := strings.TrimSpace(e.System + " " + e.Version)
	if e.Driver != "" {
		on += ", driver " + e.Driver
	}
	fmt.Fprintf(b, "\n%s (%s):\n", title, on)
	for _, f := range e.Files {
		fmt.Fprintf(b, "\n    # %s\n", f.Path)
		for line := range strings.Lines(f.Text) {
			b.WriteString(strings.TrimRight("    "+line, " \n") + "\n")
		}
	}
}

func rulesPage() page {
	var b bytes.Buffer
	b.WriteString(made + `# What inspect finds

Each rule judges the facts of a host and quotes the lines that prove its finding. A rule whose facts are missing
is listed as not evaluated, with what it lacks.

## Severity

` + diagnose.SeverityRule + `
## Confidence

` + diagnose.ConfidenceRule + `
## Rules

| rule | severity | finds |
|---|---|---|
`)
	for _, r := range diagnose.Rules() {
		fmt.Fprintf(&b, "| [%s](#%s) | %s | %s |\n", r.ID, r.ID, r.Severity, r.Title)
	}
	for _, r := range diagnose.Rules() {
		systems := "every system"
		if len(r.Systems) > 0 {
			systems = strings.Join(r.Systems, ", ")
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s. %s\n\n- systems: %s\n", r.ID, r.Title, r.Because, systems)
		for _, l := range []struct {
			title string
			items []string
		}{{"needs", r.Needs}, {"settings", quoted(r.Settings)}} {
			if len(l.items) > 0 {
				fmt.Fprintf(&b, "- %s: %s\n", l.title, strings.Join(l.items, ", "))
			}
		}
		if r.Confirm != "" {
			fmt.Fprintf(&b, "- to confirm: %s\n", r.Confirm)
		}
	}
	return page{"rules.md", b.Bytes()}
}

const diskNotes = "\n" +
	"It works with files of its own in a new folder under `--dir` (/var/tmp unless told), of random bytes, and " +
	"removes them,\n" +
	"also when it is killed. A synchronous write is one with O_SYNC. Reads use O_DIRECT; where a cache answers all the\n" +
	"same (ZFS without primarycache=metadata, memory, file systems that are not known) they are reported as unknown " +
	"with\n" +
	"the reason, as is what the tool does not tell. What a hypervisor or a controller caches counts as the disk. " +
	"fio is run\n" +
	"where it is installed, else the built-in generator (over ssh: wirerate in its PATH), else dd, which tells " +
	"means only.\n" +
	"`measure --read` takes the output of fio and of FreeBSD's diskinfo -wS, which writes to the raw device and is " +
	"never run.\n" +
	"`plan --disk-from` takes the output of `measure disk --json`.\n"

func workloadsPage() page {
	var b bytes.Buffer
	b.WriteString(made + "# Workloads\n\nThe first metric of a workload decides a trial; the first tool that both " +
		"hosts have runs it.\n")
	for _, k := range workload.Kinds() {
		fmt.Fprintf(&b, "\n## %s\n\nImitates %s.\n\n| metric | unit | is | better |\n|---|---|---|---|\n", k.Name, k.Imitates)
		for _, m := range k.Metrics {
			better := "higher"
			if m.Lower {
				better = "lower"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", m.Name, m.Unit, m.Means, better)
		}
		fmt.Fprintf(&b, "\n- tools: %s\n", strings.Join(k.Tools, ", "))
		if k.Alone {
			fmt.Fprintf(&b, "- runs on one host, without a peer\n- one run takes about %s\n", k.Duration)
		} else {
			fmt.Fprintf(&b, "- connections or flows: %d\n- data goes: %s\n", k.Streams, k.Direction)
		}
		fmt.Fprintf(&b, "- warm-up: %s\n", k.WarmUp)
		if k.Name == "disk" {
			b.WriteString(diskNotes)
		}
	}
	b.WriteString(rowNotes)
	return page{"workloads.md", b.Bytes()}
}

// quoted marks names as code, in which * and _ mean nothing.
func quoted(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = "`" + n + "`"
	}
	return out
}
