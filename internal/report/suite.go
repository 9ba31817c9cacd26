package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/experiment"
	"github.com/wirerate/wirerate/internal/terminal"
)

// Suite writes the table of a suite: the median of each arm, the ratio of each
// with its interval, and what bounded it. again is the command that makes it
// again.
func Suite(to Screen, rows []experiment.Row, again string) {
	to.Printf("%-20s %-20s %13s %9s  %-16s %-23s %s\n", "test", "arm", "median", "change", "interval",
		"verdict", "bounded by")
	for _, row := range rows {
		if row.Result == nil {
			to.Printf("%-20s not measured: %s\n", row.Title, row.Why)
			continue
		}
		for i, c := range suiteCells(row) {
			title := row.Title
			if i > 0 {
				title = ""
			}
			to.Printf("%s\n", strings.TrimRight(fmt.Sprintf("%-20s %-20s %13s %9s  %-16s %-23s %s",
				title, terminal.Clip(c.Arm, 20), c.Median, c.Change, c.Interval, c.Verdict, c.Limit), " "))
		}
	}
	for _, note := range suiteNotes(rows) {
		to.Wrap("! ", "  ", note)
	}
	to.Printf("again: %s\n", again)
}

// suiteCell is one line of the table as text; Why says more of what bounded it.
type suiteCell struct{ Arm, Median, Change, Interval, Verdict, Limit, Why string }

func suiteCells(row experiment.Row) []suiteCell {
	q := quantityOf(row.Metric.Name)
	var cells []suiteCell
	for _, a := range row.Arms {
		c := suiteCell{Arm: a.Arm, Median: q.print(a.Median), Verdict: string(a.Verdict)}
		if e := a.Effect; e != nil {
			c.Change = changeOf(e.Ratio)
			c.Interval = changeOf(e.Low) + " to " + changeOf(e.High)
		}
		if a.Limit != nil {
			c.Limit, c.Why = a.Limit.Code, a.Limit.Text
		}
		cells = append(cells, c)
	}
	return cells
}

// changeOf is a ratio as a change; of one beyond tenfold nobody wants the digits.
func changeOf(ratio float64) string {
	if ratio > 10 {
		return ">+900%"
	}
	return fmt.Sprintf("%+.1f%%", 100*(ratio-1))
}

// suiteNotes are what bounded each arm, in words, and what weakens the rows. That
// a tool is missing is said once, whatever rows would have used it.
func suiteNotes(rows []experiment.Row) []string {
	var notes []string
	add := func(note string) {
		if !slices.Contains(notes, note) {
			notes = append(notes, note)
		}
	}
	for _, row := range rows {
		for _, a := range row.Arms {
			if a.Limit != nil {
				add(fmt.Sprintf("%s, %s: bounded by %s", row.Title, a.Arm, a.Limit.Text))
			}
		}
	}
	for _, row := range rows {
		if row.Result != nil {
			for _, w := range row.Result.Warnings {
				add(row.Title + ": " + w)
			}
		}
	}
	return notes
}

// suiteView is what the page of a suite shows.
type suiteView struct {
	Title, Again string
	Rows         []suiteRowView
	Notes        []string
}

type suiteRowView struct {
	experiment.Row
	Cells  []suiteCell
	Folder string // of the row's own report, "" without one
}

// SuiteFolder is the folder of a row's own report beside the page of its suite.
func SuiteFolder(row experiment.Row) string {
	return strings.ReplaceAll(strings.ToLower(row.Title), " ", "-")
}

// SuiteHTML writes the table of a suite as a page that needs nothing but a
// browser, beside the folders of the rows.
func SuiteHTML(w io.Writer, name string, rows []experiment.Row, again string) error {
	v := suiteView{Title: "suite " + name, Again: again, Notes: suiteNotes(rows)}
	for _, row := range rows {
		one := suiteRowView{Row: row, Cells: suiteCells(row)}
		if row.Result != nil {
			one.Folder = SuiteFolder(row)
		}
		v.Rows = append(v.Rows, one)
	}
	return writePage(w, "suite", v)
}

// Measures says what a row measures.
func (r suiteRowView) Measures() string { return r.Metric.Means }
