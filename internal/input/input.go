// Package input reads what comes from outside within bounds: files, streams
// and folders may be larger than memory, have no end, or never begin.
package input

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
)

// MiB is what limits are given in.
const MiB = 1 << 20

// TooLarge is the error of what has more bytes than are read.
type TooLarge struct {
	Name  string
	Limit int64 // in bytes
}

func (e *TooLarge) Error() string {
	size := fmt.Sprintf("%d bytes", e.Limit)
	if e.Limit >= MiB {
		size = fmt.Sprintf("%d MiB", e.Limit/MiB)
	}
	return fmt.Sprintf("%s: larger than %s, the most that is read of it", e.Name, size)
}

// TooMany is the error of what has more parts than are looked at.
type TooMany struct {
	Name  string
	What  string // the parts
	Limit int
}

func (e *TooMany) Error() string {
	return fmt.Sprintf("%s: more than %d %s in it, the most that are looked at", e.Name, e.Limit, e.What)
}

// maxValues is how many values a document has at most: each may take hundreds
// of times its length in memory.
const maxValues = 300_000

// JSON is json.Unmarshal for documents that are not too large in memory; name
// is for the error.
func JSON(name string, data []byte, v any) error {
	if bytes.Count(data, []byte{','}) >= maxValues {
		return &TooMany{name, "values", maxValues}
	}
	return json.Unmarshal(data, v)
}

// Open opens a file for reading without waiting: a named pipe that nobody
// writes to is empty.
func Open(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// File reads a file of at most limit bytes. It may be a pipe, such as a
// shell's <(command), but not one that nobody writes to.
func File(name string, limit int64) ([]byte, error) {
	f, err := Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Mode().IsRegular() && info.Size() > limit {
		return nil, &TooLarge{name, limit}
	}
	data, err := Stream(f, name, limit)
	if err == nil && len(data) == 0 && info.Mode()&fs.ModeNamedPipe != 0 {
		return nil, fmt.Errorf("%s: a pipe that nothing writes to; a file is expected", name)
	}
	return data, err
}

// Text is File for text, which is held once.
func Text(name string, limit int64) (string, error) {
	data, err := File(name, limit)
	return string(data), err
}

// Stream reads at most limit bytes, to the end; name is for the error.
func Stream(r io.Reader, name string, limit int64) ([]byte, error) {
	return io.ReadAll(Limit(r, name, limit))
}

// Limit passes at most limit bytes of r on; one more is a *TooLarge.
func Limit(r io.Reader, name string, limit int64) io.Reader {
	return &limited{r, limit, &TooLarge{name, limit}}
}

type limited struct {
	r    io.Reader
	left int64
	err  *TooLarge
}

func (l *limited) Read(p []byte) (int, error) {
	if l.left < 0 {
		return 0, l.err
	}
	if int64(len(p)) > l.left+1 {
		p = p[:l.left+1]
	}
	n, err := l.r.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return n - 1, l.err
	}
	return n, err
}

// Walk is fs.WalkDir for folders of at most most files and folders in all; a
// folder that has more ends it with a *TooMany.
func Walk(fsys fs.FS, most int, visit fs.WalkDirFunc) error {
	info, err := fs.Stat(fsys, ".")
	if err != nil {
		return visit(".", nil, err)
	}
	w := walk{fsys, most, most, visit}
	if err = w.entry(".", fs.FileInfoToDirEntry(info)); err == fs.SkipDir || err == fs.SkipAll {
		return nil
	}
	return err
}

type walk struct {
	fsys       fs.FS
	most, left int
	visit      fs.WalkDirFunc
}

func (w *walk) entry(name string, d fs.DirEntry) error {
	if err := w.visit(name, d, nil); err != nil || !d.IsDir() {
		if err == fs.SkipDir && d.IsDir() {
			return nil
		}
		return err
	}
	entries, err := w.entries(name)
	if _, ok := err.(*TooMany); ok {
		return err
	}
	if err != nil {
		if err = w.visit(name, d, err); err != nil {
			if err == fs.SkipDir {
				return nil
			}
			return err
		}
	}
	for _, e := range entries {
		if err := w.entry(strings.TrimPrefix(name+"/"+e.Name(), "./"), e); err == fs.SkipDir {
			return nil // the rest of this folder
		} else if err != nil {
			return err
		}
	}
	return nil
}

// entries lists a folder in the order of names, in pieces, so that one that is
// too large is not read to its end.
func (w *walk) entries(name string) ([]fs.DirEntry, error) {
	f, err := w.fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	dir, ok := f.(fs.ReadDirFile)
	if !ok {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrInvalid}
	}
	var all []fs.DirEntry
	for {
		some, err := dir.ReadDir(1024)
		if w.left -= len(some); w.left < 0 {
			return nil, &TooMany{name, "files and folders", w.most}
		}
		all = append(all, some...)
		if err == io.EOF {
			break
		}
		if err != nil {
			return all, err
		}
	}
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return all, nil
}
