package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestPackIsCurrent compares the packed catalog with the YAML files.
func TestPackIsCurrent(t *testing.T) {
	out := filepath.Join(t.TempDir(), "pack")
	if err := run("../../catalog", out); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../catalog/catalog.pack")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("catalog/catalog.pack is not what the YAML files say; run make generate")
	}
}
