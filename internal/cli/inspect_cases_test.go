package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/diagnose"
	"github.com/wirerate/wirerate/internal/netpath"
	"github.com/wirerate/wirerate/internal/transcript"
)

// A case is a session as somebody in trouble would paste it, and the rule
// that must be the first to speak. A line "also:" names the rules that may
// speak besides; any other finding is a false one. The
// cause "none" is a healthy host, of which nothing above info may be said.
type postedCase struct {
	cause, path, role, session string
	also                       []string
}

func readCase(t *testing.T, name string) (c postedCase) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	head, session, ok := strings.Cut(string(data), "\n---\n")
	if !ok {
		t.Fatalf("%s: no line of three dashes", name)
	}
	c.session = session
	for _, line := range strings.Split(head, "\n") {
		key, value, _ := strings.Cut(line, ": ")
		switch key {
		case "cause":
			c.cause = value
		case "also":
			c.also = strings.Fields(value)
		case "path":
			c.path = value
		case "role":
			c.role = value
		case "about":
		default:
			t.Fatalf("%s: %q", name, line)
		}
	}
	return c
}

// TestPostedCases judges sessions in the forms in which people post them: the
// known cause is named first, and nothing is said that is not so.
func TestPostedCases(t *testing.T) {
	files, err := filepath.Glob("testdata/cases/*.txt")
	if err != nil || len(files) < 25 {
		t.Fatalf("%d cases, %v", len(files), err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			c := readCase(t, name)
			posted, err := transcript.LoadSession(c.session)
			if err != nil {
				t.Fatal(err)
			}
			f, err := posted.Facts("posted")
			if err != nil {
				t.Fatal(err)
			}
			in := diagnose.Input{Facts: f, Role: c.role}
			if c.path != "" {
				if in.Path, err = netpath.Parse(c.path); err != nil {
					t.Fatal(err)
				}
			}
			found, missing := diagnose.Evaluate(in)
			if c.cause == "none" {
				for _, f := range found {
					if f.Severity.AtLeast(diagnose.Warning) {
						t.Errorf("false: %s %s %s: %s", f.Severity, f.Rule, f.Subject, f.Summary)
					}
				}
				return
			}
			if len(found) == 0 || found[0].Rule != c.cause {
				t.Errorf("first %v, want %s; outputs %v; not evaluated %v", rules(found), c.cause, names(posted.Texts), missing)
			}
			for _, other := range found {
				if other.Rule != c.cause && !slices.Contains(c.also, other.Rule) {
					t.Errorf("false: %s %s: %s", other.Rule, other.Subject, other.Summary)
				}
			}
		})
	}
}

func names(texts map[string]string) (out []string) {
	for name := range texts {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

func rules(all []diagnose.Finding) (out []string) {
	for _, f := range all {
		out = append(out, f.Rule)
	}
	return out
}

// FuzzSession reads any text: nothing panics, nothing is found without a line
// that shows it. The posted cases are the seeds. Each run reads and judges a
// whole post: let it minimize once, as make fuzz does (-fuzzminimizetime 1x),
// or it stands still for a minute at every input that is new to it.
func FuzzSession(f *testing.F) {
	files, err := filepath.Glob("testdata/cases/*.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 16<<10 {
			return // longer ones are slow and show no more
		}
		posted, _ := transcript.LoadSession(s)
		if posted.Texts["uname -a"] == "" {
			return
		}
		host, err := posted.Facts("fuzz")
		if err != nil {
			return
		}
		d := diagnose.Question{Facts: host}.Answer()
		for _, found := range d.Findings {
			if len(found.Evidence) == 0 {
				t.Errorf("%s says %q without a line", found.Rule, found.Summary)
			}
		}
	})
}
