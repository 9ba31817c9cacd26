// Package importcheck compares who imports whom with the floors of
// docs/ARCHITECTURE.md.
package importcheck

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/wirerate/wirerate/internal/"

// kernel are the packages by which a program reaches the machine it runs on.
var kernel = []string{"os/exec", "golang.org/x/sys/unix", "github.com/vishvananda/netlink"}

// reachers are the packages, with those below them, that may import kernel.
var reachers = []string{"host", "input", "lab", "lock", "workload"}

// TestImports wants every package on one floor, and its imports on floors below.
func TestImports(t *testing.T) {
	floors := readFloors(t)
	seen := map[string]bool{}
	for _, goos := range []string{"linux", "freebsd", "openbsd"} {
		for _, p := range list(t, goos) {
			name := strings.TrimPrefix(p.ImportPath, module)
			floor, known := floors[name]
			if !known {
				t.Errorf("%s is on no floor: add it to the table of docs/ARCHITECTURE.md", name)
			}
			seen[name] = true
			for _, imp := range p.Imports {
				if below, ok := strings.CutPrefix(imp, module); ok && floors[below] >= floor {
					t.Errorf("%s (floor %d) imports %s (floor %d)", name, floor, below, floors[below])
				}
				top, _, _ := strings.Cut(name, "/")
				if slices.Contains(kernel, imp) && !slices.Contains(reachers, top) {
					t.Errorf("%s imports %s; only %s reach the machine", name, imp, strings.Join(reachers, ", "))
				}
			}
		}
	}
	for name := range floors {
		if !seen[name] {
			t.Errorf("docs/ARCHITECTURE.md: there is no package %s", name)
		}
	}
}

// readFloors reads the page's table: | floor | package | is |.
func readFloors(t *testing.T) map[string]int {
	t.Helper()
	page, err := os.ReadFile("../../docs/ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(page), "| floor | package | is |\n|---|---|---|\n")
	if !found {
		t.Fatal("docs/ARCHITECTURE.md has no table of floors")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	floors := map[string]int{}
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) < 5 {
			t.Fatalf("docs/ARCHITECTURE.md: %q is no row of the table", line)
		}
		floor, err := strconv.Atoi(strings.TrimSpace(cells[1]))
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSpace(cells[2])
		if floors[name] != 0 {
			t.Errorf("docs/ARCHITECTURE.md has %s twice", name)
		}
		floors[name] = floor
	}
	return floors
}

type listed struct {
	ImportPath string
	Imports    []string
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
