// Package release holds what makes a release, and its test.
package release

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestRelease makes the release of this machine's platform twice, in two folders,
// and compares; then it installs the deb into a folder, uses it and removes it.
func TestRelease(t *testing.T) {
	if os.Getenv("WIRERATE_RELEASE") == "" {
		t.Skip("a release takes minutes to build: make release-check does it")
	}
	first, second := built(t), built(t)
	entries, err := os.ReadDir(first)
	if err != nil || len(entries) != 9 { // archive, sources, ports, four packages, bill of materials, checksums
		t.Fatalf("%v: %v", entries, err)
	}
	for _, e := range entries {
		a, err := os.ReadFile(filepath.Join(first, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(second, e.Name()))
		if err != nil || string(a) != string(b) {
			t.Errorf("%s differs between two folders: %v", e.Name(), err)
		}
	}
	t.Run("bill of materials", func(t *testing.T) { checkBill(t, one(t, first, "*.cdx.json")) })
	t.Run("ports", func(t *testing.T) { checkPorts(t, one(t, first, "*-ports.tar.gz"), one(t, first, "*-src.tar.gz")) })
	t.Run("lintian", func(t *testing.T) { judged(t, "lintian", "--fail-on", "error,warning", one(t, first, "*.deb")) })
	t.Run("rpmlint", func(t *testing.T) {
		if out := judged(t, "rpmlint", "-r", "../../contrib/packages/lint/rpmlintrc", one(t, first, "*.rpm")); !strings.Contains(out, "0 errors, 0 warnings") {
			t.Error(out)
		}
	})
	t.Run("deb", func(t *testing.T) { checkDeb(t, one(t, first, "*.deb")) })
}

// built copies the tree to a folder of its own, makes the release there and
// returns its folder.
func built(t *testing.T) string {
	t.Helper()
	tree, out := t.TempDir(), t.TempDir()
	run(t, "sh", "-c", `cd ../.. && git ls-files -z | tar --null -T - -cf - | tar -C "$1" -xf -`, "sh", tree)
	cmd := exec.Command("sh", filepath.Join(tree, "tools/release/release.sh"), out, "linux/amd64")
	cmd.Env = append(os.Environ(), "VERSION=v1.2.3", "SOURCE_DATE_EPOCH=1700000000")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return out
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// judged runs a program that judges packages, where it is.
func judged(t *testing.T, name string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skip(err)
	}
	return run(t, name, args...)
}

func one(t *testing.T, dir, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %v %v", pattern, found, err)
	}
	return found[0]
}

func checkBill(t *testing.T, path string) {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var bill struct {
		Format     string `json:"bomFormat"`
		Components []struct{ Name, Version, Purl string }
	}
	if err := json.Unmarshal(data, &bill); err != nil || bill.Format != "CycloneDX" {
		t.Fatalf("%v: %s", err, data)
	}
	found := map[string]bool{}
	for _, c := range bill.Components {
		found[c.Name] = c.Version != "" && c.Purl != ""
	}
	for _, name := range []string{"std", "github.com/spf13/cobra", "modernc.org/sqlite"} {
		if !found[name] {
			t.Errorf("%s is missing", name)
		}
	}
}

// checkDeb installs a package into an empty tree.
func checkDeb(t *testing.T, deb string) {
	if _, err := exec.LookPath("dpkg"); err != nil || os.Geteuid() != 0 {
		t.Skip("dpkg and root are needed")
	}
	root := t.TempDir()
	for _, dir := range []string{"var/lib/dpkg/info", "var/lib/dpkg/updates"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "var/lib/dpkg/status"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	dpkg := func(args ...string) string {
		return run(t, "dpkg", append([]string{"--root=" + root, "--force-not-root"}, args...)...)
	}
	dpkg("-i", deb)
	program := filepath.Join(root, "usr/bin/wirerate")
	if out := run(t, program, "version", "--json"); !strings.Contains(out, `"version": "v1.2.3"`) {
		t.Errorf("version: %s", out)
	}
	if out := run(t, program, "explain", "net.ipv4.tcp_rmem"); !strings.Contains(out, "Sources") {
		t.Errorf("explain: %s", out)
	}
	if out := run(t, "sh", "-c", `gzip -dc "$1"/usr/share/man/man1/wirerate-lint.1.gz`, "sh", root); !strings.Contains(out, ".TH") {
		t.Errorf("the manual page: %.100s", out)
	}
	if out := run(t, "bash", "-nc", `. "$0"`, filepath.Join(root, "usr/share/bash-completion/completions/wirerate")); out != "" {
		t.Errorf("the completion: %s", out)
	}
	for _, name := range []string{"bash-completion/completions/wirerate", "zsh/vendor-completions/_wirerate", "fish/vendor_completions.d/wirerate.fish",
		"doc/wirerate/README.md", "doc/wirerate/docs/json.md", "doc/wirerate/copyright", "doc/wirerate/LICENSES.gz", "doc/wirerate/changelog.Debian.gz"} {
		if _, err := os.Stat(filepath.Join(root, "usr/share", name)); err != nil {
			t.Error(err)
		}
	}
	dpkg("-r", "wirerate")
	left, err := filepath.Glob(filepath.Join(root, "usr/*/*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}
