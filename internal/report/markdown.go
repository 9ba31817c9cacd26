package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/wirerate/wirerate/internal/terminal"
)

// Markdown writes a result for an issue, a wiki or a README.
func Markdown(w io.Writer, r Result) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n", md(headline(r)))
	if r.Effect != nil {
		fmt.Fprintf(&b, "%s. ", md(evidence(r.Effect)))
	}
	fmt.Fprintf(&b, "%s\n\n", md(follow(r)))
	for _, c := range r.Comparisons[min(1, len(r.Comparisons)):] {
		fmt.Fprintf(&b, "%s. %s\n\n", md(compared(r, terminal.Clip(c.Arm, 32), c.Verdict, c.Effect)), md(evidence(c.Effect)))
	}
	facts := []string{pathWords(r), r.Workload}
	for _, h := range r.Hosts {
		facts = append(facts, fmt.Sprintf("%s %s: %s %s, %s, %s", sideIn(r, h.Side), h.Name, h.System, h.Release,
			plural(h.Cores, "core", "cores"), sizeOf(float64(h.Memory))))
	}
	for _, f := range facts {
		if f != "" {
			fmt.Fprintf(&b, "- %s\n", md(f))
		}
	}
	for _, warning := range r.Warnings {
		fmt.Fprintf(&b, "- **Warning:** %s\n", md(warning))
	}
	if len(r.Arms) > 0 {
		header := []string{"median of a run"}
		for _, a := range r.Arms {
			header = append(header, a.Name)
		}
		var body [][]string
		for _, row := range armTable(r) {
			body = append(body, append([]string{row.Label}, row.Cells...))
		}
		mdTable(&b, header, body)
	}
	mdBeside(&b, r)
	mdCeilings(&b, r)
	mdShares(&b, r)
	mdPlans(&b, r)
	if r.Undo != "" {
		fmt.Fprintf(&b, "\nUndo: %s\n", md(r.Undo))
	}
	if r.Command != "" {
		fmt.Fprintf(&b, "\nReproduce (seed %d):\n\n    %s\n", r.Seed, terminal.Clean(r.Command))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func mdBeside(b *strings.Builder, r Result) {
	var body [][]string
	for _, v := range besideViews(r) {
		body = append(body, []string{v.Arm, v.Metric, v.Words, v.Clear})
	}
	if len(body) > 0 {
		mdTable(b, []string{"beside it", "metric", "ratio and interval", ""}, body)
	}
	if n := noiseWords(r.Noise); n != "" {
		fmt.Fprintf(b, "\nNoise: %s.\n", md(n))
	}
}

func mdCeilings(b *strings.Builder, r Result) {
	var body [][]string
	table := rows(r)
	for _, row := range table {
		if !row.known() {
			continue
		}
		body = append(body, []string{row.Name, strings.TrimSpace(marked(row.Before, row.Binds)),
			strings.TrimSpace(marked(row.After, row.BindsA))})
	}
	if len(body) == 0 {
		return
	}
	mdTable(b, []string{"ceiling", beforeWords(r), afterWords(r)}, body)
	fmt.Fprintf(b, "\n%s binds: the lowest known ceiling.", md("*"))
	if missing := unknownRows(table); len(missing) > 0 {
		fmt.Fprintf(b, " Not known: %s.", md(strings.Join(missing, ", ")))
	}
	b.WriteByte('\n')
}

func mdShares(b *strings.Builder, r Result) {
	if len(r.Shares) == 0 {
		return
	}
	var body [][]string
	for _, s := range sortedShares(r.Shares) {
		body = append(body, []string{s.Setting, shareWords(s), keptWord(s.Kept), because(s)})
	}
	mdTable(b, []string{"setting", metricWords(r) + " with it over without it", "", "because"}, body)
}

func mdPlans(b *strings.Builder, r Result) {
	for i, p := range r.Plans {
		if len(p.Changes) == 0 {
			continue
		}
		fmt.Fprintf(b, "\n### %s\n", md(planTitle(p)))
		if i > 0 && samePlan(r.Plans[i-1], p) {
			b.WriteString("\nThe same as above.\n")
			continue
		}
		var body [][]string
		for _, c := range p.Changes {
			body = append(body, []string{c.Setting, c.From, c.To, string(c.Evidence), c.Because})
		}
		mdTable(b, []string{"setting", "from", "to", "evidence", "because"}, body)
	}
}

func mdTable(b *strings.Builder, header []string, body [][]string) {
	line := func(cells []string) {
		for _, c := range cells {
			fmt.Fprintf(b, "| %s ", md(c))
		}
		b.WriteString("|\n")
	}
	b.WriteByte('\n')
	line(header)
	b.WriteString(strings.Repeat("| --- ", len(header)) + "|\n")
	for _, cells := range body {
		line(cells)
	}
}

// md escapes what Markdown or HTML inside it would act upon.
func md(s string) string {
	return mdEscaper.Replace(terminal.Clean(s))
}

var mdEscaper = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;",
	">", "&gt;", "&", "&amp;", "|", `\|`, "#", `\#`, "~", `\~`, "!", `\!`, "$", `\$`)
