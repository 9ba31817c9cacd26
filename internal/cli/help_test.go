package cli

import (
	"bytes"
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
