package sourcecheck

import (
	"go/ast"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// unbounded are the calls that read without a bound, or wait for ever for a
// pipe's writer; internal/input has one of each that does not.
var unbounded = map[string][]string{
	"os":            {"Open", "ReadFile", "ReadDir"},
	"io":            {"ReadAll"},
	"io/fs":         {"ReadFile", "ReadDir", "WalkDir"},
	"io/ioutil":     {"ReadAll", "ReadFile", "ReadDir"},
	"path/filepath": {"Walk", "WalkDir"},
}

// unboundedBecause are the files that may call them, and why.
var unboundedBecause = map[string]string{
	"internal/input/input.go":               "is where the bounds are",
	"internal/input/map.go":                 "opens pipes, whose readers have bounds",
	"internal/catalog/catalog.go":           "reads the catalog that is built into the program",
	"internal/catalog/checked.go":           "reads the catalog that is built into the program",
	"internal/host/awake_linux.go":          "lists the threads of a process of its own in /proc",
	"internal/host/local.go":                "opens a folder to flush it",
	"internal/live/sources.go":              "opens a log, whose new part weblog reads in blocks",
	"internal/lab/kept_status_linux.go":     "opens a folder of its own to name a socket in it",
	"internal/lab/lab_linux.go":             "opens the namespace and the counters of its own agent in /proc",
	"internal/lab/terminal_linux.go":        "opens the terminal, which is no file",
	"internal/host/tempdir.go":              "lists the names in the machine's folder of temporary files",
	"internal/lab/awake.go":                 "reads the kernel's power supplies",
	"internal/lab/kept.go":                  "lists a folder of its own",
	"internal/lab/orphans_linux.go":         "opens the namespace of its own thread in /proc",
	"internal/lab/emulator/budget_linux.go": "counts in a table of the kernel's, of which a bounded part is read",
	"internal/weblog/follow.go":             "follows a log for ever, and waits for its writer",
}

// TestReadsAreBounded finds reads without a bound.
func TestReadsAreBounded(t *testing.T) {
	used := map[string]bool{}
	for _, s := range sources(t) {
		path := strings.TrimPrefix(s.path, root+"/")
		if s.isTest() || strings.HasPrefix(path, "tools/") {
			continue
		}
		names := map[string]string{} // of the imports
		for _, imp := range s.file.Imports {
			path, _ := strconv.Unquote(imp.Path.Value)
			name := path[strings.LastIndex(path, "/")+1:]
			if imp.Name != nil {
				name = imp.Name.Name
			}
			names[name] = path
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			x, ok := sel.X.(*ast.Ident)
			if !ok || !slices.Contains(unbounded[names[x.Name]], sel.Sel.Name) {
				return true
			}
			used[path] = true
			if unboundedBecause[path] == "" {
				t.Errorf("%s: %s.%s has no bound: use internal/input, or give a reason in unboundedBecause",
					s.fset.Position(n.Pos()), x.Name, sel.Sel.Name)
			}
			return true
		})
	}
	for path := range unboundedBecause {
		if !used[path] {
			t.Errorf("%s reads within bounds; take it out of unboundedBecause", path)
		}
	}
}
