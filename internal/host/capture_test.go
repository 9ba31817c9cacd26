package host

import (
	"archive/tar"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// archiveOf writes a .tar.gz of files of zeros, some of them many times.
func archiveOf(t *testing.T, size int64, names ...string) string {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "capture.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	zip, _ := gzip.NewWriterLevel(f, gzip.BestSpeed)
	archive := tar.NewWriter(zip)
	for _, name := range names {
		if err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: size}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.CopyN(archive, zeros{}, size); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return f.Name()
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// Small archives and sparse folders may stand for more than memory holds.
func TestCaptureIsBounded(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"a", "b"} {
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Truncate(filepath.Join(folder, "b"), 1<<40); err != nil {
		t.Fatal(err)
	}
	many := make([]string, captureFiles+1)
	for i := range many {
		many[i] = fmt.Sprint("f", i)
	}
	whole := []string{"a", "b", "c", "d", "e"}
	for what, c := range map[string]struct{ name, want string }{
		"a large file":     {archiveOf(t, readLimit+1, "files/a"), "files/a: larger than 64 MiB"},
		"a large manifest": {archiveOf(t, manifestLimit+1, manifestName), "manifest.json: larger than 8 MiB"},
		"many files":       {archiveOf(t, 0, many...), "more than 100000 files"},
		"much in all":      {archiveOf(t, captureLimit/4, whole...), "larger than 256 MiB"},
		"a sparse file":    {folder, "larger than 64 MiB"},
		"no end":           {"/dev/zero", "not a .tar.gz"},
	} {
		if _, err := LoadCapture(c.name); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", what, err, c.want)
		}
	}
}
