// Package sourcecheck holds the code to the house's rules that no linter
// knows: bounded files and functions, and seeds for every fuzz target.
package sourcecheck

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	root        = "../.."
	maxFile     = 500 // lines of a file that is not a test
	maxFunction = 70  // lines of a function in such a file
)

// source is a parsed file of the module.
type source struct {
	path string
	file *ast.File
	fset *token.FileSet
}

func (s source) isTest() bool { return strings.HasSuffix(s.path, "_test.go") }

// lines returns how many lines a node spans.
func (s source) lines(n ast.Node) int {
	return s.fset.Position(n.End()).Line - s.fset.Position(n.Pos()).Line + 1
}

func TestLengths(t *testing.T) {
	for _, s := range sources(t) {
		if s.isTest() {
			continue
		}
		if n := s.fset.File(s.file.Pos()).LineCount(); n > maxFile {
			t.Errorf("%s has %d lines, more than %d", s.path, n, maxFile)
		}
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && s.lines(f) > maxFunction {
				t.Errorf("%s: %s has %d lines, more than %d", s.fset.Position(f.Pos()), f.Name.Name, s.lines(f), maxFunction)
			}
		}
	}
}

// TestFuzzTargetsHaveSeeds wants an Add in the tests, or a corpus in testdata,
// of every package with fuzz targets.
func TestFuzzTargetsHaveSeeds(t *testing.T) {
	targets, seeded := map[string]string{}, map[string]bool{}
	for _, s := range sources(t) {
		if !s.isTest() {
			continue
		}
		dir := filepath.Dir(s.path)
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !takesFuzzer(f) {
				continue
			}
			if strings.HasPrefix(f.Name.Name, "Fuzz") {
				targets[dir] = f.Name.Name
			}
			seeded[dir] = seeded[dir] || adds(f)
		}
	}
	if len(targets) == 0 {
		t.Fatal("no fuzz target found")
	}
	for dir, name := range targets {
		corpus, _ := filepath.Glob(filepath.Join(dir, "testdata", "fuzz", "*", "*"))
		if !seeded[dir] && len(corpus) == 0 {
			t.Errorf("%s: %s has no seeds", dir, name)
		}
	}
}

// takesFuzzer reports whether the function's first parameter is a *testing.F.
func takesFuzzer(f *ast.FuncDecl) bool {
	if len(f.Type.Params.List) == 0 {
		return false
	}
	star, ok := f.Type.Params.List[0].Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	sel, ok := star.X.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "F"
}

// adds reports whether the function calls Add.
func adds(f *ast.FuncDecl) (found bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			sel, ok := call.Fun.(*ast.SelectorExpr)
			found = found || ok && sel.Sel.Name == "Add"
		}
		return !found
	})
	return found
}

// sources parses the module's Go files.
func sources(t *testing.T) []source {
	t.Helper()
	fset := token.NewFileSet()
	var all []source
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && len(d.Name()) > 2 && d.Name()[0] == '.' {
			return fs.SkipDir // .git and the like
		}
		if d.IsDir() || filepath.Ext(path) != ".go" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(fset, path, text, parser.SkipObjectResolution)
		all = append(all, source{path, file, fset})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 50 {
		t.Fatalf("only %d files found", len(all))
	}
	return all
}
