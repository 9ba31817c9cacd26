package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A skeleton is registered, compiles, and fails the tests of rules for each
// thing that is not filled in.
func TestSkeletonFails(t *testing.T) {
	// The package with one more rule, laid over the real one.
	dir := t.TempDir()
	rules, err := os.ReadFile("../../internal/diagnose/rules.go")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "rules.go"), rules, 0o644); err != nil {
		t.Fatal(err)
	}
	file, err := create(dir, "made-up2-rule")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := create(dir, "made-up2-rule"); err == nil {
		t.Error("a rule is written over")
	}
	root, err := filepath.Abs("../../internal/diagnose")
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(dir, "overlay.json")
	text := `{"Replace":{"` + filepath.Join(root, "rules.go") + `":"` + filepath.Join(dir, "rules.go") + `","` +
		filepath.Join(root, filepath.Base(file)) + `":"` + file + `"}}`
	if err := os.WriteFile(overlay, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "test", "-overlay", overlay, "-run", "TestRulesOnTheirExamples|TestEveryRuleIsListed",
		"../../internal/diagnose").CombinedOutput()
	if err == nil || strings.Contains(string(out), "build failed") {
		t.Fatalf("the tests of the skeleton: %v\n%s", err, out)
	}
	for _, want := range []string{"TestRulesOnTheirExamples/made-up2-rule", "must be set", "the firing example gives"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the skeleton's tests do not say %q:\n%s", want, out)
		}
	}
	if n := strings.Count(string(out), "--- FAIL"); n != 2 {
		t.Errorf("%d failures, want the skeleton's alone:\n%s", n, out)
	}
}

func TestBadIDs(t *testing.T) {
	for _, id := range []string{"", "A", "a b", "../x", "a--b", "-a", "a-", "1a"} {
		if _, err := create(t.TempDir(), id); err == nil {
			t.Errorf("%q is taken", id)
		}
	}
}
