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
		if m[1] == "net.fibs" || m[1] == "net.inet.tcp.hpts.skip_swi" {
			m[2] = "?" // what the recorded stack was built for: without software interrupts
		}
		if hasSetting(t, c, "13.0", m[1], m[2]) {
			compared++
		}
	}
	if compared < 300 {
		t.Errorf("only %d settings compared", compared)
	}
	t.Logf("%d settings compared", compared)
}

// TestFreeBSD14 does the same with a host that ran FreeBSD 14.0-RELEASE.
func TestFreeBSD14(t *testing.T) {
	data, err := os.ReadFile("testdata/freebsd-14.0.txt")
	if err != nil {
		t.Fatal(err)
	}
	c, compared := documentCatalog(t), 0
	for line := range strings.Lines(string(data)) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || name == "#" {
			continue
		}
		if hasSetting(t, c, "14.0", name, value) {
			compared++
		}
	}
	if compared < 300 {
		t.Errorf("only %d settings compared", compared)
	}
	t.Logf("%d settings compared", compared)
}

// hasSetting checks that the catalog has a setting in a version, with the
// default that a host showed (? for one that depends on the host), and reports
// whether there is a record of its own to check.
func hasSetting(t *testing.T, c *Catalog, version Version, name, value string) bool {
	t.Helper()
	r, ok := c.Lookup(FreeBSD, name)
	if !ok {
		t.Logf("%s: no record", name)
		return false
	}
	if r.Name != name || strings.Contains(r.Name, "*") {
		return false
	}
	if state := r.StateIn(version); state != Present {
		t.Errorf("%s: %s in %s, and a host of %s has it", name, state, version, version)
	}
	d, ok := r.DefaultIn(version)
	if ok && value != "?" && d.Value != "computed" && d.Value != "unknown" && d.Value != value {
		t.Errorf("%s: default %s in %s, and a host of %s has %s", name, d.Value, version, version, value)
	}
	return true
}
