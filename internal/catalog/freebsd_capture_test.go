package catalog

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestFreeBSD13 compares the catalog with what FreeBSD 13.0's own network
// stack answered: every name it has must be known there, with its default.
// WIRERATE_CAPTURES names the folder with the recorded outputs.
func TestFreeBSD13(t *testing.T) {
	root := os.Getenv("WIRERATE_CAPTURES")
	if root == "" {
		t.Skip("WIRERATE_CAPTURES names no folder of captures")
	}
	files, _ := filepath.Glob(filepath.Join(root, "*", "freebsd", "stack13", "sysctl_-a.txt"))
	if len(files) == 0 {
		t.Skipf("no recorded FreeBSD 13 stack under %s", root)
	}
	output, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	c, compared := documentCatalog(t), 0
	line := regexp.MustCompile(`(?m)^((?:net|kern\.ipc)\.[A-Za-z0-9_.]+): (.*)$`)
	for _, m := range line.FindAllStringSubmatch(string(output), -1) {
		name, value := m[1], m[2]
		r, ok := c.Lookup(FreeBSD, name)
		if !ok {
			t.Logf("%s: no record", name)
			continue
		}
		if strings.Contains(r.Name, "*") || r.Name != name {
			continue
		}
		compared++
		if state := r.StateIn("13.0"); state != Present {
			t.Errorf("%s: %s in 13.0, and the stack of 13.0 has it", name, state)
		}
		d, ok := r.DefaultIn("13.0")
		if !ok || d.Value == "computed" || d.Value == "unknown" || name == "net.fibs" {
			continue // net.fibs is what the recorded kernel was built with
		}
		if d.Value != value {
			t.Errorf("%s: default %s, and the stack of 13.0 has %s", name, d.Value, value)
		}
	}
	if compared < 300 {
		t.Errorf("only %d settings compared", compared)
	}
	t.Logf("%d settings compared", compared)
}
