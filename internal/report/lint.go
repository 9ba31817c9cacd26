package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/wirerate/wirerate/internal/lint"
	"github.com/wirerate/wirerate/internal/terminal"
)

// colours of a terminal (ECMA-48, SGR).
const (
	bold   = "\x1b[1m"
	red    = "\x1b[1;31m"
	yellow = "\x1b[1;33m"
	cyan   = "\x1b[1;36m"
	reset  = "\x1b[0m"
)

// maxShown is how much of a long line is shown, in bytes.
const maxShown = 160

// LintLook is how LintText shows problems.
type LintLook struct {
	Colour bool
	// Verbose shows each line that sets a default; without it one line says
	// which lines of a file do.
	Verbose bool
}

// foldDefaults makes one problem of all same-as-default of a file, where the
// first of them was; its message names the lines.
func foldDefaults(problems []lint.Problem) []lint.Problem {
	lines := map[string][]int{}
	for _, p := range problems {
		if p.Code == "same-as-default" && p.Severity == lint.Info {
			lines[p.File] = append(lines[p.File], p.Line)
		}
	}
	var out []lint.Problem
	for _, p := range problems {
		all := lines[p.File]
		if p.Code != "same-as-default" || p.Severity != lint.Info || len(all) == 1 {
			out = append(out, p)
			continue
		}
		if all == nil {
			continue
		}
		lines[p.File] = nil
		p.Message = fmt.Sprintf("%d lines set what is the default: %s", len(all), lineRanges(all))
		p.Because = "They change nothing now, and pin today's defaults when the system's own improve; --verbose shows each."
		p.Text, p.Fix = "", nil
		out = append(out, p)
	}
	return out
}

// lineRanges writes ascending line numbers as 3, 7-9, 12.
func lineRanges(lines []int) string {
	lines = slices.Compact(slices.Clone(lines))
	var words []string
	for i := 0; i < len(lines); {
		j := i
		for j+1 < len(lines) && lines[j+1] == lines[j]+1 {
			j++
		}
		word := strconv.Itoa(lines[i])
		if j > i {
			word += "-" + strconv.Itoa(lines[j])
		}
		words = append(words, word)
		i = j + 1
	}
	return strings.Join(words, ", ")
}

// LintText prints problems for people: place and message, the line with a
// caret below what is meant, the reason, and the correction.
func LintText(w io.Writer, problems []lint.Problem, look LintLook) error {
	if !look.Verbose {
		problems = foldDefaults(problems)
	}
	paint := func(style, text string) string {
		if !look.Colour {
			return text
		}
		return style + text + reset
	}
	var b strings.Builder
	for _, p := range problems {
		style := map[lint.Severity]string{lint.Error: red, lint.Warning: yellow, lint.Info: cyan}[p.Severity]
		fmt.Fprintf(&b, "%s: %s %s [%s]\n", paint(bold, fmt.Sprintf("%s:%d:%d", terminal.Escape(p.File), p.Line, p.Column)),
			paint(style, string(p.Severity)+":"), terminal.Escape(p.Message), p.Code)
		if p.Text != "" {
			line, marks := caret(p)
			number := fmt.Sprintf("%5d", p.Line)
			fmt.Fprintf(&b, "%s | %s\n%s | %s\n", number, line, strings.Repeat(" ", len(number)), paint(style, marks))
		}
		if p.Because != "" {
			fmt.Fprintf(&b, "      = %s\n", terminal.Escape(p.Because))
		}
		if p.Fix != nil {
			fmt.Fprintf(&b, "      = fix: %s\n", terminal.Escape(p.Fix.String()))
		}
		if b.Len() > 1<<16 {
			if _, err := io.WriteString(w, b.String()); err != nil {
				return err
			}
			b.Reset()
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// caret returns the line as it is shown, with what is hidden escaped, and the
// marks below the problem's text.
func caret(p lint.Problem) (line, marks string) {
	start := min(p.Column-1, len(p.Text))
	end := min(start+p.Width, len(p.Text))
	from := 0
	if end > maxShown {
		from = max(0, start-20)
	}
	to := min(len(p.Text), from+maxShown)
	end = min(end, to)
	line = terminal.Clean(p.Text[from:to])
	if from > 0 {
		line = "…" + line
	}
	if to < len(p.Text) {
		line += "…"
	}
	indent := utf8.RuneCountInString(terminal.Clean(p.Text[from:start]))
	if from > 0 {
		indent++
	}
	return line, strings.Repeat(" ", indent) + "^" +
		strings.Repeat("~", max(0, utf8.RuneCountInString(terminal.Clean(p.Text[start:end]))-1))
}

// LintSummary counts problems by severity, in words.
func LintSummary(res *lint.Result) string {
	count := map[lint.Severity]int{}
	for _, p := range res.Problems {
		count[p.Severity]++
	}
	files := plural(len(res.Files), "file", "files")
	if len(res.Problems) == 0 {
		return "no problem in " + files
	}
	return fmt.Sprintf("%s, %s, %s in %s", plural(count[lint.Error], "error", "errors"),
		plural(count[lint.Warning], "warning", "warnings"),
		plural(count[lint.Info], "info", "infos"), files)
}

// basisFiles is how many files a line of LintBasis names.
const basisFiles = 3

// LintBasis says by which system and release files were judged, a line for all
// that were judged alike; from says where the release comes from.
func LintBasis(res *lint.Result, from string) []string {
	var order []string
	files := map[string][]string{}
	for _, f := range res.Files {
		as := lintedAs(f, from)
		if files[as] == nil {
			order = append(order, as)
		}
		files[as] = append(files[as], f.Path)
	}
	var lines []string
	for _, as := range order {
		names := files[as]
		text := strings.Join(names[:min(len(names), basisFiles)], ", ")
		if more := len(names) - basisFiles; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		lines = append(lines, text+": as "+as+"; --os, --version override")
	}
	return lines
}

// lintedAs is what one file was judged as.
func lintedAs(f lint.FileInfo, from string) string {
	var titles []string
	for _, s := range f.Systems {
		titles = append(titles, s.Title())
	}
	switch {
	case len(titles) > 1:
		return "what it could be, " + strings.Join(titles, " or ") + " (only what is a problem on each is reported)"
	case f.Release == "":
		return titles[0] + ", release not known"
	case from != "":
		return titles[0] + " " + string(f.Release) + ", " + from
	}
	return titles[0] + " " + string(f.Release)
}
