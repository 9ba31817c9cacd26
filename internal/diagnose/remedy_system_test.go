package diagnose

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/facts"
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

// TestRelativesHaveTheirTools holds that a remedy names no tool or setting of FreeBSD that its relative lacks.
func TestRelativesHaveTheirTools(t *testing.T) {
	for relative, want := range map[string]string{"": "sysctl dev.en)", "NetBSD": "vmstat -e)", "macOS": "netstat -I NAME"} {
		in := Input{Facts: &facts.Facts{System: "freebsd", Relative: relative}}
		found := buffersOrDamage(in, "en", []Finding{{}})
		if got := found[0].Fix[0].Action; !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", relative, got, want)
		}
	}
	const said = "find the program (sockstat -l -p 993); top -SH shows it"
	if got := nativeTools("freebsd", "macOS").Replace(said); got != "find the program (lsof -nP -iTCP:993); top -o cpu shows it" {
		t.Error(got)
	}
}
