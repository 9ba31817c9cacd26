//go:build linux

package lab

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The record of a lab whose process is gone goes at the next look, and so does a
// record that was never finished.
func TestRecordsOfDeadLabsGo(t *testing.T) {
	k := Kept{Name: fmt.Sprintf("test-%d", os.Getpid()), PID: os.Getpid(), Born: "0"}
	if err := k.claim(); err != nil {
		t.Skipf("no folder for records: %v", err)
	}
	record := k.file
	unfinished := filepath.Join(filepath.Dir(record), ".new"+k.Name)
	if err := os.WriteFile(unfinished, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(unfinished, old, old); err != nil {
		t.Fatal(err)
	}
	if _, err := FindKept(k.Name); !errors.Is(err, ErrNoSuchLab) {
		t.Errorf("it is still known: %v", err)
	}
	if labs, err := KeptLabs(); err != nil || labs == nil {
		t.Errorf("no list, also where it is empty: %v", err)
	}
	for _, file := range []string{record, unfinished} {
		if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is left: %v", file, err)
		}
	}
}

// Where no folder takes a record, nothing is made, and one line says why.
func TestNoFolderForRecords(t *testing.T) {
	dir := t.TempDir()
	missing, file := filepath.Join(dir, "missing"), filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	full := filepath.Join(dir, "full")
	if err := os.MkdirAll(filepath.Join(full, "wirerate"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(full, "wirerate", "labs"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	k := Kept{Name: "test"}
	err := k.claimIn([]string{filepath.Join(missing, "wirerate", "labs"), filepath.Join(file, "wirerate", "labs"), filepath.Join(full, "wirerate", "labs")})
	if !errors.Is(err, ErrUnavailable) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "XDG_RUNTIME_DIR") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(missing); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a folder was made that is not wirerate's own")
	}
}

// A folder that somebody else may write is not trusted with process numbers.
func TestOnlyOwnFoldersHoldRecords(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := own(dir); err != nil {
		t.Error(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if own(dir) == nil {
		t.Error("a folder that all may write was taken")
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if own(link) == nil {
		t.Error("a link was taken")
	}
	if own("/proc/self/nowhere") == nil {
		t.Error("nothing was taken")
	}
}
