package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/terminal"
)

// TestHelpFits reads --help as a terminal of 80 columns shows it.
func TestHelpFits(t *testing.T) {
	verbs := 0
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		verbs++
		var b bytes.Buffer
		cmd.SetOut(&b)
		if err := cmd.Help(); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > terminal.Columns {
				t.Errorf("%s --help: %d columns: %s", cmd.CommandPath(), n, line)
			}
		}
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(Tree())
	if verbs < 19 {
		t.Fatalf("only %d verbs were read", verbs)
	}
}

// A verb says what arguments it takes and describes its JSON, and the tests of cmd/wirerate run it to success and with
// what it refuses.
func TestVerbsAreComplete(t *testing.T) {
	var tests strings.Builder
	for _, pattern := range []string{"testdata/*.txtar", "*_test.go"} {
		files, err := filepath.Glob("../../cmd/wirerate/" + pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			tests.Write(text)
		}
	}
	run := func(pattern string) bool { return regexp.MustCompile(`(?m)` + pattern).MatchString(tests.String()) }
	documented := map[string]bool{}
	for _, d := range Documents() {
		documented[d.Name] = true
	}
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
		words := strings.TrimPrefix(cmd.CommandPath(), "wirerate ")
		if cmd.Hidden || !cmd.Runnable() || !cmd.HasParent() || words == "help" {
			return
		}
		if cmd.Args == nil {
			t.Errorf("%s: Args must be set: without it any arguments are taken", words)
		}
		if name := strings.ReplaceAll(words, " ", "-"); cmd.Flags().Lookup("json") != nil && !documented[name] {
			t.Errorf("%s: Documents has no %q", words, name)
		}
		if strings.Contains(words, " ") {
			return
		}
		if !run(`^(\[.*\] )*(exec|measures) wirerate `+words+`\b`) && !run(`"`+words+`"`) {
			t.Errorf("%s: no script in cmd/wirerate/testdata has: exec wirerate %s", words, words)
		}
		if !run(`^(\[.*\] )*! exec wirerate `+words+`\b`) && words != "completion" {
			t.Errorf("%s: no script in cmd/wirerate/testdata has: ! exec wirerate %s", words, words)
		}
	}
	visit(Tree())
}
