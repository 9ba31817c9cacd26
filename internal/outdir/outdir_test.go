package outdir

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func open(t testing.TB, dir string) *Folder {
	t.Helper()
	f, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func write(t testing.TB, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func content(t testing.TB, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestOwnFilesAreReplaced: by the next run too, which reads the record.
func TestOwnFilesAreReplaced(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	for _, text := range []string{"one", "two", "two", "three"} {
		if err := open(t, dir).Write([]File{{Name: "a", Data: []byte(text), Mode: 0o600}, {Name: "deep/er/b", Data: []byte(text)}}, false); err != nil {
			t.Fatal(err)
		}
		if content(t, filepath.Join(dir, "a")) != text || content(t, filepath.Join(dir, "deep/er/b")) != text {
			t.Errorf("%s was not written", text)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "a")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	entries, _ := os.ReadDir(dir)
	if len(entries) != 3 {
		t.Errorf("left behind: %v", entries)
	}
}

// TestForeignFilesStay, and with them everything else that was to be written.
func TestForeignFilesStay(t *testing.T) {
	dir := t.TempDir()
	if err := open(t, dir).Write([]File{{Name: "ours", Data: []byte("1")}}, false); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "theirs"), "keep")
	write(t, filepath.Join(dir, "ours"), "edited by hand")
	files := []File{{Name: "new", Data: []byte("2")}, {Name: "ours", Data: []byte("2")}, {Name: "theirs", Data: []byte("2")}}
	err := open(t, dir).Write(files, false)
	if !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), "theirs") || !strings.Contains(err.Error(), "ours") {
		t.Errorf("%v", err)
	}
	if content(t, filepath.Join(dir, "theirs")) != "keep" || content(t, filepath.Join(dir, "ours")) != "edited by hand" {
		t.Error("a foreign file was replaced")
	}
	if _, err := os.Stat(filepath.Join(dir, "new")); err == nil {
		t.Error("a part was written")
	}
	if err := open(t, dir).Write(files, true); err != nil || content(t, filepath.Join(dir, "theirs")) != "2" {
		t.Errorf("with force: %v", err)
	}
}

// TestLinksAreRefused, whereto they may lead, with force too.
func TestLinksAreRefused(t *testing.T) {
	for _, c := range []struct{ link, name string }{{"f", "f"}, {"d", "d/f"}, {"a/d", "a/d/f"}, {record, "f"}} {
		base := t.TempDir()
		dir, out := filepath.Join(base, "dir"), filepath.Join(base, "out")
		for _, d := range []string{filepath.Join(dir, "a"), out} {
			if err := os.MkdirAll(d, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		victim := filepath.Join(out, "f")
		write(t, victim, "keep")
		to := victim
		if strings.HasSuffix(c.link, "d") {
			to = out
		}
		if err := os.Symlink(to, filepath.Join(dir, c.link)); err != nil {
			t.Fatal(err)
		}
		f, err := Open(dir)
		if err == nil {
			err = f.Write([]File{{Name: c.name, Data: []byte("x")}}, true)
			f.Close()
		}
		if !errors.Is(err, ErrLink) || content(t, victim) != "keep" {
			t.Errorf("%s: %v, %q", c.link, err, content(t, victim))
		}
	}
}

// TestNothingLeavesTheFolder writes any name, and looks at everything outside.
func TestNothingLeavesTheFolder(t *testing.T) {
	base := t.TempDir()
	write(t, filepath.Join(base, ".bashrc"), "keep")
	number := 0
	rapid.Check(t, func(r *rapid.T) {
		number++
		dir := filepath.Join(base, "x", "y")
		if err := os.RemoveAll(dir); err != nil {
			r.Fatal(err)
		}
		part := rapid.SampledFrom([]string{"..", ".", "", "a", "/", "...", "\x00", "a\nb", "-rf", "\u202e", "$(id)", ".bashrc", "~", strings.Repeat("n", 300)})
		name := strings.Join(rapid.SliceOfN(part, 1, 6).Draw(r, "parts"), "/")
		f, err := Open(dir)
		if err != nil {
			r.Fatal(err)
		}
		defer f.Close()
		err = f.Write([]File{{Name: name, Data: []byte("x")}}, rapid.Bool().Draw(r, "force"))
		if err == nil && content(t, filepath.Join(dir, name)) != "x" {
			r.Fatalf("%q was not written", name)
		}
		if all, err := os.ReadDir(base); err != nil || len(all) != 2 || content(t, filepath.Join(base, ".bashrc")) != "keep" {
			r.Fatalf("%q left the folder: %v", name, all)
		}
		if all, err := os.ReadDir(filepath.Join(base, "x")); err != nil || len(all) != 1 {
			r.Fatalf("%q left the folder: %v", name, all)
		}
	})
}

func TestDamagedRecords(t *testing.T) {
	for _, text := range []string{"", "{", "[]", `{"schema":2,"files":{}}`, strings.Repeat(" ", recordLimit+1)} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, record), text)
		if f, err := Open(dir); err == nil {
			f.Close()
			t.Errorf("%.20q is taken for a record", text)
		}
	}
	dir := t.TempDir()
	if err := open(t, dir).Write([]File{{Name: record, Data: []byte("x")}}, true); err == nil {
		t.Error("the record was written as a file")
	}
	if err := open(t, dir).Write([]File{{Name: "a"}, {Name: "a"}}, true); err == nil {
		t.Error("two files have one name")
	}
}
