package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLicencesAreCurrent compares what is embedded with what is linked now: a
// new dependency, or another version of one, comes with its notice.
func TestLicencesAreCurrent(t *testing.T) {
	want, err := notices("../..")
	if err != nil {
		t.Fatal(err)
	}
	packed, err := os.Open("../../internal/cli/licenses.txt.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	z, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(got, want) {
		return
	}
	t.Error("internal/cli/licenses.txt.gz is not of the modules that are linked; run make generate")
	all, err := modules("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		if !strings.Contains(string(got), "\n"+m.Path+" "+m.Version+"\n") {
			t.Errorf("%s %s is not in it", m.Path, m.Version)
		}
	}
}

func TestNoticeNames(t *testing.T) {
	for name, want := range map[string]bool{"LICENSE": true, "LICENSE.txt": true, "LICENSE-3RD-PARTY.md": true, "UNLICENSE": true, "COPYING": true, "NOTICE": true,
		"PATENTS": true, "AUTHORS": true, "THIRD_PARTY_LICENSES": true, "LICENCE.MIT": true, "license.go": false, "authorizer.go": false, "main.go": false, "README.md": false} {
		if got := notice.MatchString(name) && filepath.Ext(name) != ".go"; got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// A module without a licence stops the making of the list.
func TestNoLicence(t *testing.T) {
	dir := t.TempDir()
	m := &module{Path: "example.org/x", Version: "v1.0.0", Dir: dir, folders: map[string]bool{dir: true}}
	if _, err := m.files(); err == nil || !strings.Contains(err.Error(), "no licence") {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "COPYING"), []byte("do"), 0o600); err != nil {
		t.Fatal(err)
	}
	if files, err := m.files(); err != nil || len(files) != 1 {
		t.Error(files, err)
	}
}
