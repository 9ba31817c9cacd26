package diagnose

import (
	"slices"
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/facts"
)

func judge(t *testing.T, e Example) (*facts.Facts, []Finding, []NotEvaluated) {
	t.Helper()
	f, err := facts.FromTexts("example", e.Texts, e.Window)
	if err != nil {
		t.Fatal(err)
	}
	findings, missing := Evaluate(Input{Facts: f, Path: e.Path, Role: e.Role})
	return f, findings, missing
}

// Every rule finds what its firing example shows, quotes the line, and stays
// quiet on the other one, both judged from the outputs themselves.
func TestRulesOnTheirExamples(t *testing.T) {
	rules := Rules()
	if len(rules) < 45 {
		t.Fatalf("only %d rules", len(rules))
	}
	seen := map[string]bool{}
	for _, r := range rules {
		t.Run(r.ID, func(t *testing.T) {
			if seen[r.ID] {
				t.Error("the id is taken")
			}
			seen[r.ID] = true
			if r.Title == "" || r.Because == "" || r.Severity.rank() < 0 || len(r.Needs) == 0 {
				t.Error("title, because, severity and needs must be set")
			}
			_, fired, missing := judge(t, r.Fires)
			i := slices.IndexFunc(fired, func(f Finding) bool { return f.Rule == r.ID })
			if i < 0 {
				t.Fatalf("the firing example gives %v, not evaluated %v", ids(fired), missing)
			}
			found := fired[i]
			if found.Summary == "" || found.Subject == "" || len(found.Fix)+len(found.Confirm) == 0 && found.Because == "" {
				t.Errorf("incomplete: %+v", found)
			}
			if len(found.Evidence) == 0 {
				t.Error("no line is quoted")
			}
			for _, e := range found.Evidence {
				if e.From == "" || strings.TrimSpace(e.Text) == "" {
					t.Errorf("evidence %+v", e)
				}
			}
			_, quiet, missing := judge(t, r.Quiet)
			for _, f := range quiet {
				if f.Rule == r.ID {
					t.Errorf("the quiet example fires: %s", f.Summary)
				}
			}
			for _, m := range missing {
				if m.Rule == r.ID {
					t.Errorf("the quiet example is not evaluated: %s", m.Because)
				}
			}
		})
	}
}

func ids(all []Finding) (out []string) {
	for _, f := range all {
		out = append(out, f.Rule)
	}
	return out
}

// A host that answers nothing but its name gives no finding, and says of every
// rule why.
func TestNothingKnownIsNothingSaid(t *testing.T) {
	for _, uname := range []string{unameLinux, unameFreeBSD, unameOpenBSD} {
		_, findings, missing := judge(t, example(uname, nil))
		if len(findings) > 0 || len(missing) == 0 {
			t.Errorf("%s: %v, %d not evaluated", uname, ids(findings), len(missing))
		}
		for _, m := range missing {
			if m.Because == "" {
				t.Errorf("%s: no reason", m.Rule)
			}
		}
	}
}

// What a finding tells to set is in the catalog, under that name.
func TestFixesAreInTheCatalog(t *testing.T) {
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range Rules() {
		f, fired, _ := judge(t, r.Fires)
		for _, found := range fired {
			for _, fix := range found.Fix {
				if fix.Setting == "" || found.Rule != r.ID {
					continue
				}
				if _, ok := c.Lookup(catalog.System(f.System), fix.Setting); !ok {
					t.Errorf("%s: %s has no setting %s", r.ID, f.System, fix.Setting)
				}
			}
		}
	}
}
