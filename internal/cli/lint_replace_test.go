package cli

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestReplaceFile(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("file", link); err != nil {
		t.Fatal(err)
	}
	uid, gid := os.Getuid(), os.Getgid()
	if uid == 0 {
		uid, gid = 12345, 23456
		if err := os.Chown(file, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(file, 0o640|os.ModeSetgid); err != nil {
		t.Fatal(err)
	}
	if err := replaceFile(link, []byte("new")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(file)
	if err != nil {
		t.Fatal(err)
	}
	owner := info.Sys().(*syscall.Stat_t)
	if int(owner.Uid) != uid || int(owner.Gid) != gid || info.Mode() != 0o640|os.ModeSetgid {
		t.Errorf("%v of %d:%d, want those of the old file, %d:%d", info.Mode(), owner.Uid, owner.Gid, uid, gid)
	}
	if data, _ := os.ReadFile(link); string(data) != "new" {
		t.Errorf("%q", data)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 2 {
		t.Errorf("%v is left", entries)
	}
	if err := replaceFile("/dev/null", nil); err == nil || !strings.Contains(err.Error(), "not a file") {
		t.Error(err)
	}
}
