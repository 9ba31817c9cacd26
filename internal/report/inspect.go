package report

import (
	"cmp"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/diagnose"
	"github.com/wirerate/wirerate/internal/facts"
)

// Inspection is what inspect found out about one or both ends of a path.
type Inspection struct {
	Host     string // its name among several
	Hosts    []*facts.Facts
	Path     string // as declared or measured, empty when nobody said
	Verdict  string // what limits, in one sentence; made of the rest when empty
	Ceilings []diagnose.Ceiling
	Findings []diagnose.Finding
	Missing  []diagnose.NotEvaluated
	// Negligible are losses too small to matter, Unread what was posted and not understood.
	Negligible []diagnose.Negligible
	Unread     []facts.Unread
}

func hostWords(h *facts.Facts) string {
	parts := []string{h.SystemWords()}
	if h.Processor != "" {
		parts = append(parts, h.Processor)
	}
	if h.Cores > 0 {
		parts = append(parts, plural(h.Cores, "core", "cores"))
	}
	if h.Memory > 0 {
		parts = append(parts, sizeOf(float64(h.Memory)))
	}
	return cmp.Or(h.Host, h.Node) + ": " + strings.Join(parts, ", ")
}

func evidenceWords(s facts.Source) string {
	where := s.From
	if s.Line > 0 {
		where += fmt.Sprintf(":%d", s.Line)
	}
	return where + "  " + strings.TrimSpace(s.Text)
}

// severitySign is a severity's shape.
func severitySign(s diagnose.Severity) string {
	switch s {
	case diagnose.Critical:
		return "◆"
	case diagnose.Warning:
		return "▲"
	}
	return "○"
}

// inspectHeadline is what a reader takes along: the title of the worst finding, or the verdict's first clause.
func inspectHeadline(in Inspection) string {
	if len(in.Findings) > 0 && in.Findings[0].Severity.AtLeast(diagnose.Warning) {
		rules := diagnose.Rules()
		if i := slices.IndexFunc(rules, func(r diagnose.Rule) bool { return r.ID == in.Findings[0].Rule }); i >= 0 {
			return rules[i].Title
		}
	}
	if in.Verdict != "" {
		clause, _, _ := strings.Cut(in.Verdict, "; ")
		return capital(clause)
	}
	limit := "No goodput ceiling is known"
	if b, ok := diagnose.Binding(in.Ceilings); ok {
		limit = fmt.Sprintf("The %s limits the goodput to %s", resourceWords(b.Resource), bits(b.Value))
	}
	count := map[diagnose.Severity]int{}
	for _, f := range in.Findings {
		count[f.Severity]++
	}
	var parts []string
	for _, s := range []diagnose.Severity{diagnose.Critical, diagnose.Warning, diagnose.Info} {
		if n := count[s]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s))
		}
	}
	if len(parts) == 0 {
		return limit + "; no findings"
	}
	return limit + "; findings: " + strings.Join(parts, ", ")
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

type inspectPage struct {
	Headline string
	Several  bool
	Each     []inspectView
}

type inspectView struct {
	Inspection
	Number   int    // of several hosts, from 1; 0: the page is of one
	Name     string // the host's, on a page of several
	Headline string
	Worst    *diagnose.Finding // the first of the findings
	Roofline template.HTML
	Ceilings []ceilingView
	Unknown  []string // why ceilings are not known
	Findings []findingView
	Hosts    []string
}

type findingView struct {
	diagnose.Finding
	Sign, Subject string
	Lines         []string
	Do            [][]string
}

// InspectHTML writes the inspections as one page; that of several hosts begins with a table of them.
func InspectHTML(w io.Writer, all ...Inspection) error {
	var page inspectPage
	problems := 0
	for i, in := range all {
		v := viewOf(in)
		page.Headline = v.Headline
		if len(all) > 1 {
			v.Number, v.Name = i+1, in.Host
		}
		if v.Worst != nil && v.Worst.Severity.AtLeast(diagnose.Warning) {
			problems++
		}
		page.Each = append(page.Each, v)
	}
	if page.Several = len(all) > 1; page.Several {
		page.Headline = fmt.Sprintf("%d hosts, %d with problems", len(all), problems)
	}
	return writePage(w, "inspect", page)
}

func viewOf(in Inspection) inspectView {
	v := inspectView{Inspection: in, Headline: inspectHeadline(in), Unknown: diagnose.WhyUnknown(in.Ceilings)}
	v.Verdict = capital(in.Verdict)
	var c canvas
	if height := roofline(&c, Result{Ceilings: in.Ceilings}); height > 0 {
		v.Roofline = template.HTML(c.chart(height, "goodput ceilings"))
	}
	for _, c := range in.Ceilings {
		if c.Known {
			v.Ceilings = append(v.Ceilings, ceilingView{Ceiling: c, Binds: bindsAmong(in.Ceilings, c)})
		}
	}
	for _, f := range in.Findings {
		fv := findingView{Finding: f, Sign: severitySign(f.Severity), Subject: f.Said()}
		for _, fix := range f.Fix {
			fv.Do = append(fv.Do, fix.Steps())
		}
		for _, e := range f.Evidence {
			fv.Lines = append(fv.Lines, evidenceWords(e))
		}
		v.Findings = append(v.Findings, fv)
	}
	for _, h := range in.Hosts {
		v.Hosts = append(v.Hosts, hostWords(h))
	}
	if len(in.Findings) > 0 {
		v.Worst = &in.Findings[0]
	}
	return v
}
