package diagnose

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestToolNamesAreSaid holds that the words which are replaced by a system's own still stand in a text: a text that is
// rewritten would otherwise keep the tools of another system.
func TestToolNamesAreSaid(t *testing.T) {
	var said strings.Builder
	joined := regexp.MustCompile(`"\s*\+\s*"`)
	for _, dir := range []string{".", "../facts"} {
		files, err := filepath.Glob(dir + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			if name == "remedy_system.go" || strings.HasSuffix(name, "_test.go") {
				continue
			}
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			said.WriteString(joined.ReplaceAllString(string(text), ""))
		}
	}
	for _, tool := range toolNames {
		if !strings.Contains(said.String(), tool.said) {
			t.Errorf("no text says %q", tool.said)
		}
	}
}
