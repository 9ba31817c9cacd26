package lint

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/terminal"
)

// Code is the record of one kind of problem.
type Code struct {
	ID       string   `json:"id"`
	Title    string   `json:"title"`
	Severity Severity `json:"severity"` // the usual one
	// Explanation says when the code is reported, and when it is not.
	Explanation string  `json:"explanation"`
	Bad         Example `json:"bad"`  // has the problem
	Good        Example `json:"good"` // does not
}

// Example is a file that shows a code.
type Example struct {
	Files   []ExampleFile `json:"files"`
	System  string        `json:"os,omitempty"`
	Version string        `json:"release,omitempty"`
	Driver  string        `json:"driver,omitempty"`
}

// ExampleFile is one file of an example.
type ExampleFile struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

// one returns an example of a single file.
func one(system, version, path, text string) Example {
	return Example{System: system, Version: version, Files: []ExampleFile{{path, text}}}
}

// Codes returns every code, in the order of the documentation.
func Codes() []Code {
	return slices.Concat(existenceCodes(), placeCodes(), valueCodes(), effectCodes(), fileCodes())
}

// FindCode returns a code's record.
func FindCode(id string) (Code, bool) {
	codes := Codes()
	i := slices.IndexFunc(codes, func(c Code) bool { return c.ID == id })
	if i < 0 {
		return Code{}, false
	}
	return codes[i], true
}

// defaultSeverity is the usual severity of a code.
func defaultSeverity(id string) Severity {
	if c, ok := FindCode(id); ok {
		return c.Severity
	}
	return Warning
}

// WriteCode prints the record of a code for people.
func WriteCode(w io.Writer, c Code) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s (%s)\n\n%s", c.ID, c.Title, c.Severity, terminal.Wrap(terminal.Columns, "", "", c.Explanation))
	for _, ex := range []struct {
		title string
		Example
	}{{"Reported", c.Bad}, {"Not reported", c.Good}} {
		system := strings.TrimSpace(catalog.System(ex.System).Title() + " " + ex.Version)
		if ex.Driver != "" {
			system += ", driver " + ex.Driver
		}
		fmt.Fprintf(&b, "\n%s (%s):\n", ex.title, system)
		for _, f := range ex.Files {
			fmt.Fprintf(&b, "    # %s\n", f.Path)
			for line := range strings.Lines(f.Text) {
				b.WriteString("    " + line)
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
