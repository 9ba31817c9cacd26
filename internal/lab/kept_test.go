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

// A lab whose lock is held is up, whatever process numbers its record has: they
// may be of another PID namespace. Once its holder is gone the record goes at the
// next look, and so does one that was never finished.
func TestLabsLiveAsLongAsTheirLock(t *testing.T) {
	k := Kept{Name: fmt.Sprintf("test-%d", os.Getpid()), PID: 1 << 30, Born: "0", PIDSpace: "pid:[1]", Hosts: []KeptHost{{Name: "client", PID: os.Getpid(), Born: born(os.Getpid())}}}
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
	found, err := FindKept(k.Name)
	if err != nil || found.Name != k.Name {
		t.Errorf("it is not known: %v", err)
	}
	if _, err := found.Site("client"); !errors.Is(err, ErrUnavailable) {
		t.Errorf("a process of another PID namespace was taken for the host's: %v", err)
	}
	again := Kept{Name: k.Name}
	if err := again.claim(); !errors.Is(err, ErrNameTaken) {
		t.Errorf("its name was given away: %v", err)
	}
	if err := k.lock.Release(); err != nil { // as when it is killed
		t.Fatal(err)
	}
	if _, err := FindKept(k.Name); !errors.Is(err, ErrNoSuchLab) {
		t.Errorf("it is still known: %v", err)
	}
	if labs, err := KeptLabs(); err != nil || labs == nil {
		t.Errorf("no list, also where it is empty: %v", err)
	}
	for _, file := range []string{record, unfinished, lockFile(record)} {
		if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is left: %v", file, err)
		}
	}
}

// A lock without a record is of a program that was killed while it took the name.
func TestLocksOfNobodyGo(t *testing.T) {
	k := Kept{Name: fmt.Sprintf("test-lock-%d", os.Getpid())}
	if err := k.claim(); err != nil {
		t.Skipf("no folder for records: %v", err)
	}
	if err := errors.Join(os.Remove(k.file), k.lock.Release()); err != nil {
		t.Fatal(err)
	}
	if _, err := KeptLabs(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(lockFile(k.file)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is left: %v", err)
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
