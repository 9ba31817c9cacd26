package lint

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/catalog"
)

func load(t testing.TB) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func runExample(t testing.TB, c *catalog.Catalog, ex Example) *Result {
	t.Helper()
	opt := Options{System: catalog.System(ex.System), Version: catalog.Version(ex.Version), Driver: ex.Driver}
	// The machine of the examples: its accept queue is at the default.
	opt.Machine = &Machine{Running: func(name, _ string) (string, bool) { return "4096", name == "net.core.somaxconn" }}
	var in []Input
	for _, f := range ex.Files {
		in = append(in, Input{Path: f.Path, Text: f.Text})
	}
	res := Run(c, in, opt)
	for _, err := range res.Errors {
		t.Error(err)
	}
	return res
}

// TestCodes checks that each code's bad example has the problem and its good
// one has none of it.
func TestCodes(t *testing.T) {
	c := load(t)
	seen := map[string]bool{}
	for _, code := range Codes() {
		t.Run(code.ID, func(t *testing.T) {
			if seen[code.ID] || code.Title == "" || len(code.Explanation) < 40 || !slices.Contains(Severities(), code.Severity) {
				t.Errorf("incomplete record: %+v", code)
			}
			seen[code.ID] = true
			var text strings.Builder
			if err := WriteCode(&text, code); err != nil || !strings.Contains(text.String(), code.Bad.Files[0].Path) {
				t.Errorf("printed as %q, %v", text.String(), err)
			}
			has := func(p Problem) bool { return p.Code == code.ID }
			if res := runExample(t, c, code.Bad); !slices.ContainsFunc(res.Problems, has) {
				t.Errorf("the bad example does not have the problem: %v", brief(res))
			}
			if res := runExample(t, c, code.Good); slices.ContainsFunc(res.Problems, has) {
				t.Errorf("the good example has the problem: %v", brief(res))
			}
		})
	}
}

func brief(res *Result) string {
	var b strings.Builder
	for _, p := range res.Problems {
		b.WriteString("\n" + p.File + ":" + p.Key + " [" + p.Code + " " + string(p.Severity) + "] " + p.Message)
	}
	return b.String()
}

func TestCaptures(t *testing.T) {
	root := os.Getenv("WIRERATE_CAPTURES")
	if root == "" {
		t.Skip("WIRERATE_CAPTURES is not set: no real configuration files at hand")
	}
	files, _ := filepath.Glob(filepath.Join(root, "conf", "*", "*"))
	var in []Input
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		in = append(in, Input{Path: f, Text: string(data)})
	}
	res := Run(load(t), in, Options{})
	if len(in) == 0 || len(res.Errors) > 0 {
		t.Fatalf("%d files, errors: %v", len(in), res.Errors)
	}
	for _, p := range res.Problems {
		t.Logf("%s:%d:%d: %s: %s [%s]\n\t%s", p.File, p.Line, p.Column, p.Severity, p.Message, p.Code, p.Because)
	}
}

// TestStack13 holds lint against a real FreeBSD 13.0 network stack, which was
// asked to make many assignments: what it took must have no error, except
// values that it cut to a limit.
func TestStack13(t *testing.T) {
	root := os.Getenv("WIRERATE_CAPTURES")
	if root == "" {
		t.Skip("WIRERATE_CAPTURES is not set: no recorded answers at hand")
	}
	data, err := os.ReadFile(filepath.Join(root, "out", "freebsd", "stack13", "sysctl_set_and_errors.txt"))
	if err != nil {
		t.Fatal(err)
	}
	c := load(t)
	asked := regexp.MustCompile(`(?s)^sysctl (?:-\S+ )*([a-z][\w.]*)=([^\n]*)\n(.*)\[exit status (\d+)\]`)
	taken, refused, found := 0, 0, 0
	for block := range strings.SplitSeq(string(data), "\n$ ") {
		m := asked.FindStringSubmatch(block)
		if m == nil {
			continue
		}
		line := m[1] + "=" + strings.Trim(m[2], `"'`) + "\n"
		res := Run(c, []Input{{Path: "/etc/sysctl.conf", Text: line}}, Options{System: catalog.FreeBSD, Version: "13.0"})
		wrong := slices.ContainsFunc(res.Problems, func(p Problem) bool {
			return p.Severity == Error && p.Code != "out-of-range" && p.Code != "harmful" && p.Code != "wrong-unit" || p.Code == "removed" || p.Code == "unknown-key"
		})
		switch {
		case m[4] == "0":
			if taken++; wrong {
				t.Errorf("the system takes %s, lint does not: %s", line, brief(res))
			}
		default:
			if refused++; wrong || res.Worst() == Error {
				found++
			}
		}
	}
	if taken == 0 || refused == 0 {
		t.Fatalf("%d assignments taken, %d refused: the recording was not understood", taken, refused)
	}
	t.Logf("%d taken; %d refused, of which lint knows %d", taken, refused, found)
}
