package input

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"testing/iotest"

	"pgregory.net/rapid"
)

func TestFile(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for name, size := range map[string]int64{"small": 10, "exact": 64, "over": 65, "sparse": 1 << 40} {
		if err := errors.Join(os.WriteFile(path(name), nil, 0o600), os.Truncate(path(name), size)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(path("fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		size int
		want string // part of the error
	}{
		{path("small"), 10, ""}, {path("exact"), 64, ""}, {path("over"), 0, "larger than 64 bytes"}, {path("sparse"), 0, "larger than 64 bytes"},
		{"/dev/zero", 0, "/dev/zero: larger than 64 bytes"}, {"/dev/null", 0, ""}, {path("fifo"), 0, "nothing writes to"},
		{dir, 0, "directory"}, {path("none"), 0, "no such file"},
	} {
		data, err := File(c.name, 64)
		if c.want == "" && (err != nil || len(data) != c.size) {
			t.Errorf("%s: %d bytes, %v", c.name, len(data), err)
		}
		if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	large := (*TooLarge)(nil)
	if _, err := File("/dev/zero", 3*MiB); !errors.As(err, &large) || !strings.Contains(err.Error(), "3 MiB") {
		t.Error(err)
	}
}

// A pipe that has a writer is read to its end, as a shell's <(command) is.
func TestPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	go func() {
		w.WriteString("hello, ")
		w.WriteString("pipe")
		w.Close()
	}()
	if text, err := Text(fmt.Sprintf("/dev/fd/%d", r.Fd()), 100); err != nil || text != "hello, pipe" {
		t.Errorf("%q, %v", text, err)
	}
}

// Whatever the pieces in which it comes, a stream is read up to its limit.
func TestLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "data")
		limit := rapid.IntRange(0, 200).Draw(t, "limit")
		var r io.Reader = strings.NewReader(string(data))
		if rapid.Bool().Draw(t, "bytewise") {
			r = iotest.OneByteReader(r)
		}
		got, err := Stream(r, "it", int64(limit))
		large := (*TooLarge)(nil)
		if errors.As(err, &large) != (len(data) > limit) || string(got) != string(data[:min(limit, len(data))]) {
			t.Fatalf("%d of %d with limit %d: %v", len(got), len(data), limit, err)
		}
	})
}

func TestJSON(t *testing.T) {
	var list []struct{ A, B, C string }
	if err := JSON("it", []byte(`[{},{"a":"x"}]`), &list); err != nil || list[1].A != "x" {
		t.Error(list, err)
	}
	many := (*TooMany)(nil)
	if err := JSON("it", []byte("["+strings.Repeat("0,", maxValues)+"0]"), &list); !errors.As(err, &many) || !strings.Contains(err.Error(), "300000 values") {
		t.Error(err)
	}
}

// Walk visits what fs.WalkDir visits, in the same order, unless it is too much.
func TestWalk(t *testing.T) {
	tree := fstest.MapFS{}
	for _, name := range []string{"b", "a/x", "a/y/z", "a/y/w", "c/d/e/f", "a.txt", "skip/1", "skip/2", "zz"} {
		tree[name] = &fstest.MapFile{Data: []byte(name)}
	}
	visited := func(walk func(fs.WalkDirFunc) error) (names []string) {
		err := walk(func(name string, d fs.DirEntry, err error) error {
			names = append(names, name)
			if name == "skip" {
				return fs.SkipDir
			}
			if name == "a/y/w" {
				return fs.SkipDir
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
		return names
	}
	want := visited(func(f fs.WalkDirFunc) error { return fs.WalkDir(tree, ".", f) })
	got := visited(func(f fs.WalkDirFunc) error { return Walk(tree, 17, f) })
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	many := (*TooMany)(nil)
	ignore := func(string, fs.DirEntry, error) error { return nil }
	if err := Walk(tree, 5, ignore); !errors.As(err, &many) {
		t.Errorf("%v, want TooMany", err)
	}
	if err := Walk(os.DirFS("/nowhere/at/all"), 5, ignore); err != nil {
		t.Errorf("%v: visit decides", err)
	}
}
