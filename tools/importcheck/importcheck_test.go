// Package importcheck compares who imports whom with the table of the
// architecture.
package importcheck

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/wirerate/wirerate/"

// allowed is the table of docs/ARCHITECTURE.md: which internal packages each
// one may import.
var allowed = map[string]string{
	"units":    "",
	"stats":    "",
	"terminal": "",
	"host":     "units",
	"catalog":  "units",
	"conffile": "units",
	"weblog":   "stats units weblog/latency weblog/logdetect weblog/logline",
	"facts":    "host units",

	"weblog/latency":   "",
	"weblog/logline":   "units",
	"weblog/logdetect": "weblog/logline",

	"lab":      "host units",
	"lint":     "catalog conffile facts terminal units",
	"diagnose": "catalog facts terminal units",
	"plan":     "catalog facts units",
	"change":   "catalog conffile host plan units",
	"workload": "host units stats",
	"trial":    "catalog change plan workload stats host units",
	"store":    "trial workload facts units",
	"report":   "catalog conffile diagnose facts lab lint plan stats store terminal trial units weblog weblog/latency weblog/logdetect weblog/logline workload",
	"cli":      "catalog change conffile diagnose facts host lab lint plan report stats store terminal trial units weblog weblog/latency weblog/logdetect weblog/logline workload",
}

// TestTable compares allowed with the page that people read.
func TestTable(t *testing.T) {
	page, err := os.ReadFile("../../docs/ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "| package | is | may import |")
	table, _, _ = strings.Cut(table, "\n\n")
	rows := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) < 5 || strings.HasPrefix(line, "|---") {
			continue
		}
		rows++
		name, may := strings.TrimSpace(cells[1]), strings.TrimSpace(cells[3])
		rule, known := allowed[name]
		words := strings.Fields(strings.ReplaceAll(may, ",", ""))
		inWords := may == "nothing internal" && rule == "" || name == "report" || name == "cli"
		if !known || !inWords && !slices.Equal(words, strings.Fields(rule)) {
			t.Errorf("docs/ARCHITECTURE.md says that %s may import %s; this test says %q", name, may, rule)
		}
	}
	if rows != len(allowed) {
		t.Errorf("docs/ARCHITECTURE.md has %d packages; this test has %d", rows, len(allowed))
	}
}

// kernel are imports that only host, lab and workload may have: they reach the
// machine.
var kernel = []string{"os/exec", "github.com/vishvananda/netlink", "golang.org/x/sys/unix"}

type listed struct {
	ImportPath string
	Imports    []string
}

func TestImports(t *testing.T) {
	for _, goos := range []string{"linux", "freebsd", "openbsd"} {
		for _, p := range list(t, goos) {
			name, ok := strings.CutPrefix(p.ImportPath, module+"internal/")
			if !ok {
				continue
			}
			rule, known := allowed[name]
			if !known {
				t.Errorf("%s: not in the table; add it there and to docs/ARCHITECTURE.md", name)
				continue
			}
			check(t, name, strings.Fields(rule), p.Imports)
		}
	}
}

func check(t *testing.T, name string, may, imports []string) {
	for _, imp := range imports {
		if inner, ok := strings.CutPrefix(imp, module+"internal/"); ok && !slices.Contains(may, inner) {
			t.Errorf("%s imports %s; it may import: %s", name, inner, strings.Join(may, ", "))
		}
		if slices.Contains(kernel, imp) && !slices.Contains([]string{"host", "lab", "workload"}, name) {
			t.Errorf("%s imports %s; only host, lab and workload reach the machine", name, imp)
		}
	}
}

func list(t *testing.T, goos string) []listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", module+"...")
	cmd.Env = append(cmd.Environ(), "GOOS="+goos)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	if len(all) < 10 {
		t.Fatalf("only %d packages found", len(all))
	}
	return all
}
