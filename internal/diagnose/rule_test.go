package diagnose

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/netpath"
	"github.com/wirerate/wirerate/internal/system"
	"github.com/wirerate/wirerate/internal/terminal"
	"github.com/wirerate/wirerate/internal/units"
)

func judge(t *testing.T, e Example) (*facts.Facts, []Finding, []NotEvaluated) {
	t.Helper()
	f, err := facts.FromTexts("example", e.Texts, e.Window)
	if err != nil {
		t.Fatal(err)
	}
	f.Rest, f.Told = e.Post, e.Told
	if e.Alone {
		f.NoOutput = errors.New("no output")
	}
	in := Input{Facts: f, Path: e.Path, Role: e.Role, Written: e.Written}
	if e.Peer != nil {
		if in.Peer, err = facts.FromTexts("peer", e.Peer, 0); err != nil {
			t.Fatal(err)
		}
	}
	findings, missing := Evaluate(in)
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
			for field, set := range map[string]bool{"Title": r.Title != "", "Because": r.Because != "",
				"Severity": r.Severity.rank() >= 0, "Needs": len(r.Needs) > 0} {
				if !set {
					t.Errorf("%s must be set", field)
				}
			}
			for _, need := range r.Needs {
				head, parts, named := strings.Cut(need, ":")
				if named && !slices.Contains(system.All(), system.System(head)) || strings.Contains(parts, ":") {
					t.Errorf("Needs %q: a system stands only at the front", need)
				}
			}
			_, fired, missing := judge(t, r.Fires)
			i := slices.IndexFunc(fired, func(f Finding) bool { return f.Rule == r.ID })
			if i < 0 {
				missing = slices.DeleteFunc(missing, func(m NotEvaluated) bool { return m.Rule != r.ID })
				t.Fatalf("the firing example gives %v; not evaluated: %v", ids(fired), missing)
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

// A function that returns a rule is in Rules.
func TestEveryRuleIsListed(t *testing.T) {
	list, err := os.ReadFile("rules.go")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("rule_*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	rule := regexp.MustCompile(`(?m)^func (\w+)\(\) Rule \{`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range rule.FindAllStringSubmatch(string(text), -1) {
			if !regexp.MustCompile(`\b` + m[1] + `\(\)`).Match(list) {
				t.Errorf("%s: %s is not listed in rules.go", file, m[1])
			}
		}
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

// What a rule and its findings tell to set is in the catalog, under that name.
func TestFixesAreInTheCatalog(t *testing.T) {
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range Rules() {
		for _, name := range r.Settings {
			if !slices.ContainsFunc(system.All(), func(s system.System) bool { _, ok := c.Lookup(s, name); return ok }) {
				t.Errorf("%s: no system has the setting %s", r.ID, name)
			}
		}
		f, fired, _ := judge(t, r.Fires)
		for _, found := range fired {
			for _, fix := range found.Fix {
				if fix.Setting == "" || found.Rule != r.ID {
					continue
				}
				if _, ok := c.Lookup(f.System, fix.Setting); !ok {
					t.Errorf("%s: %s has no setting %s", r.ID, f.System, fix.Setting)
				}
			}
		}
	}
}

// FuzzRules judges any output: no rule panics, none finds anything without a
// line that shows it. The examples of all rules are the seeds.
func FuzzRules(f *testing.F) {
	seeds := 0
	for _, r := range Rules() {
		for _, e := range []Example{r.Fires, r.Quiet} {
			for name, text := range e.Texts {
				if name != "uname -a" {
					f.Add(e.Texts["uname -a"], name, text)
					seeds++
				}
			}
		}
	}
	if seeds < 2*45 {
		f.Fatalf("only %d seeds", seeds)
	}
	f.Fuzz(func(t *testing.T, uname, name, text string) {
		texts := map[string]string{"ip -s -d link show": ipLink("eth0", 1500, 1000, 0, 0, 0), name: text, "uname -a": uname}
		host, err := facts.FromTexts("fuzz", texts, 0)
		if err != nil {
			return
		}
		path := netpath.Path{Rate: units.Gbit, RTT: 20 * time.Millisecond, Loss: 1e-4, MTU: 1500}
		d := Question{Facts: host, Path: path, Role: "latency"}.Answer()
		for _, found := range d.Findings {
			if len(found.Evidence) == 0 || found.Summary == "" {
				t.Errorf("%s finds %q without a line", found.Rule, found.Summary)
			}
		}
		var b strings.Builder
		if err := d.Text(&b, false); err != nil {
			t.Error(err)
		}
		for _, line := range strings.Split(b.String(), "\n") {
			if utf8.RuneCountInString(line) > terminal.Columns {
				t.Errorf("a line of more than %d columns: %q", terminal.Columns, line)
			}
		}
		if _, err := json.Marshal(d); err != nil {
			t.Error(err)
		}
	})
}
