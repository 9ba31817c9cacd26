package report

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/wirerate/wirerate/internal/lint"
	"github.com/wirerate/wirerate/internal/terminal"
)

// lineMessage is a problem in one line, with its reason.
func lineMessage(p lint.Problem) string {
	text := p.Message
	if p.Because != "" {
		text += ". " + p.Because
	}
	return terminal.Escape(strings.Join(strings.Fields(text), " "))
}

// LintGitHub writes problems as the commands by which a step of GitHub Actions
// annotates files.
func LintGitHub(w io.Writer, problems []lint.Problem) error {
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	command := map[lint.Severity]string{lint.Error: "error", lint.Warning: "warning", lint.Info: "notice"}
	var b strings.Builder
	for _, p := range problems {
		fmt.Fprintf(&b, "::%s file=%s,line=%d,col=%d,title=%s::%s\n", command[p.Severity],
			property.Replace(terminal.Escape(filepath.ToSlash(p.File))), p.Line, p.Column,
			property.Replace("wirerate "+p.Code), data.Replace(lineMessage(p)))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// GitLabIssue is one issue of GitLab's Code Quality report.
type GitLabIssue struct {
	Description string         `json:"description"`
	CheckName   string         `json:"check_name"`
	Fingerprint string         `json:"fingerprint"`
	Severity    string         `json:"severity"`
	Location    gitLabLocation `json:"location"`
}

type gitLabLocation struct {
	Path  string `json:"path"`
	Lines struct {
		Begin int `json:"begin"`
	} `json:"lines"`
}

// LintGitLab returns problems as GitLab's Code Quality report. A fingerprint
// stays when lines are added above the problem.
func LintGitLab(problems []lint.Problem) []GitLabIssue {
	severity := map[lint.Severity]string{lint.Error: "critical", lint.Warning: "major", lint.Info: "info"}
	seen := map[string]int{}
	issues := []GitLabIssue{}
	for _, p := range problems {
		about := strings.Join([]string{p.File, p.Code, p.Key, p.Value, p.Message}, "\x00")
		seen[about]++
		sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", about, seen[about]))
		issue := GitLabIssue{Description: lineMessage(p), CheckName: p.Code, Severity: severity[p.Severity],
			Fingerprint: hex.EncodeToString(sum[:16])}
		issue.Location.Path, issue.Location.Lines.Begin = filepath.ToSlash(p.File), p.Line
		issues = append(issues, issue)
	}
	return issues
}

type checkstyleError struct {
	Line     int    `xml:"line,attr"`
	Column   int    `xml:"column,attr"`
	Severity string `xml:"severity,attr"`
	Message  string `xml:"message,attr"`
	Source   string `xml:"source,attr"`
}

type checkstyleFile struct {
	Name   string            `xml:"name,attr"`
	Errors []checkstyleError `xml:"error"`
}

// LintCheckstyle writes a result as a Checkstyle report, which many CI servers
// read.
func LintCheckstyle(w io.Writer, res *lint.Result) error {
	report := struct {
		XMLName xml.Name         `xml:"checkstyle"`
		Version string           `xml:"version,attr"`
		Files   []checkstyleFile `xml:"file"`
	}{Version: "4.3"}
	byFile := problemsByFile(res)
	for _, f := range res.Files {
		file := checkstyleFile{Name: f.Path}
		for _, p := range byFile[f.Path] {
			file.Errors = append(file.Errors, checkstyleError{p.Line, p.Column, string(p.Severity), lineMessage(p),
				"wirerate." + p.Code})
		}
		report.Files = append(report.Files, file)
	}
	return writeXML(w, report)
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	File    string        `xml:"file,attr"`
	Failure *junitFailure `xml:"failure"`
	Output  string        `xml:"system-out,omitempty"`
}

type junitFailure struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Cases    []junitCase `xml:"testcase"`
}

// LintJUnit writes a result as a JUnit report: a file is a suite, an error or a
// warning a failed test, an info one that passed with a message, and a file
// without problems one test that passed.
func LintJUnit(w io.Writer, res *lint.Result) error {
	report := struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}{Name: "wirerate lint"}
	byFile := problemsByFile(res)
	for _, f := range res.Files {
		suite := junitSuite{Name: f.Path}
		for _, p := range byFile[f.Path] {
			c := junitCase{Name: fmt.Sprintf("line %d: %s", p.Line, p.Code), Class: f.Path, File: f.Path}
			if p.Severity == lint.Info {
				c.Output = lineMessage(p)
			} else {
				c.Failure = &junitFailure{p.Code, string(p.Severity) + ": " + terminal.Escape(p.Message),
					fmt.Sprintf("%s:%d:%d: %s", terminal.Escape(p.File), p.Line, p.Column, lineMessage(p))}
				suite.Failures++
			}
			suite.Cases = append(suite.Cases, c)
		}
		if len(suite.Cases) == 0 {
			suite.Cases = []junitCase{{Name: "no problem", Class: f.Path, File: f.Path}}
		}
		suite.Tests = len(suite.Cases)
		report.Tests += suite.Tests
		report.Failures += suite.Failures
		report.Suites = append(report.Suites, suite)
	}
	return writeXML(w, report)
}

func problemsByFile(res *lint.Result) map[string][]lint.Problem {
	out := map[string][]lint.Problem{}
	for _, p := range res.Problems {
		out[p.File] = append(out[p.File], p)
	}
	return out
}

// writeXML writes a document with its declaration, indented.
func writeXML(w io.Writer, v any) error {
	data, err := xml.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, data)
	return err
}
