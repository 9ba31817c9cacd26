// Package outdir writes files into a folder that its user named. Nothing leaves
// the folder, whatever a file is called and whatever lies in it; no symbolic
// link is written through; and no file is replaced that wirerate did not write
// there itself, or that was changed since, unless its user says so.
package outdir

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/wirerate/wirerate/internal/input"
)

// File is a file to write: its path below the folder, with slashes, and its
// permissions, 0644 when they are 0.
type File struct {
	Name string
	Data []byte
	Mode fs.FileMode
}

// ErrForeign says that something is in the way which wirerate did not write.
var ErrForeign = errors.New("wirerate did not write it, or it was changed since; --force replaces it")

// ErrLink says that a symbolic link, or something else that is no file, is in
// the way.
var ErrLink = errors.New("it is a symbolic link or no regular file, and is left alone")

// record is the file in which a folder keeps the hashes of what was written.
const record = ".wirerate-files.json"

// recordLimit bounds the record that is read, in bytes.
const recordLimit = 4 << 20

// Folder is a folder that files are written into.
type Folder struct {
	root *os.Root
	path string
	// written are the SHA-256 of what wirerate wrote, by name: of a file that is
	// just being replaced the old one and the new one.
	written map[string][]string
}

// recorded is the JSON of the record.
type recorded struct {
	Schema int                 `json:"schema"`
	Files  map[string][]string `json:"files"`
}

// Open makes a folder where there is none. It is closed with Close.
func Open(dir string) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("output folder: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("output folder: %w", err)
	}
	f := &Folder{root: root, path: dir, written: map[string][]string{}}
	if err := f.readRecord(); err != nil {
		root.Close()
		return nil, fmt.Errorf("output folder: %w", err)
	}
	return f, nil
}

// Close lets the folder go.
func (f *Folder) Close() error { return f.root.Close() }

func (f *Folder) readRecord() error {
	data, err := f.read(record, recordLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(f.path, record), err)
	}
	var r recorded
	if err := json.Unmarshal(data, &r); err != nil || r.Schema != 1 {
		return fmt.Errorf("%s: not what wirerate writes; remove it, and what is in the folder counts as somebody else's",
			filepath.Join(f.path, record))
	}
	if r.Files != nil {
		f.written = r.Files
	}
	return nil
}

// read returns a regular file of the folder, of at most limit bytes.
func (f *Folder) read(name string, limit int64) ([]byte, error) {
	if err := f.regular(name); err != nil {
		return nil, err
	}
	file, err := f.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return input.Stream(file, name, limit)
}

// regular returns an error of fs.ErrNotExist where there is nothing, and
// ErrLink where a part of the path is a link, or its end no regular file.
func (f *Folder) regular(name string) error {
	parts := strings.Split(name, "/")
	for i := range parts {
		info, err := f.root.Lstat(path.Join(parts[:i+1]...))
		switch {
		case err != nil:
			return err
		case i < len(parts)-1 && !info.IsDir(), i == len(parts)-1 && !info.Mode().IsRegular():
			return ErrLink
		}
	}
	return nil
}

// Write writes files, all or, where one may not be replaced, none. Each is
// whole or not there at any time. An error wraps ErrForeign or ErrLink where
// something is in the way; force gives up what is ErrForeign.
func (f *Folder) Write(files []File, force bool) error {
	seen := map[string]bool{}
	for _, file := range files {
		if seen[file.Name] {
			return fmt.Errorf("%s: two files have this name", f.show(file.Name))
		}
		seen[file.Name] = true
	}
	if err := f.Check(force, names(files)...); err != nil {
		return err
	}
	old := map[string][]string{}
	for _, file := range files {
		old[file.Name] = f.written[file.Name]
		f.written[file.Name] = append(slices.Clone(old[file.Name]), sum(file.Data))
	}
	// The record comes first: a file that is there is then in it, also when
	// this program is killed between the two.
	if err := f.writeRecord(); err != nil {
		return err
	}
	for _, file := range files {
		if err := f.put(file); err != nil {
			return fmt.Errorf("%s: %w", f.show(file.Name), err)
		}
		f.written[file.Name] = []string{sum(file.Data)}
	}
	return f.writeRecord()
}

func names(files []File) []string {
	var all []string
	for _, file := range files {
		all = append(all, file.Name)
	}
	return all
}

// Check returns an error when one of the names could not be written now: for
// long work that writes at its end.
func (f *Folder) Check(force bool, names ...string) error {
	var problems []error
	for _, name := range names {
		if err := f.mayWrite(name, force); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", f.show(name), err))
		}
	}
	return errors.Join(problems...)
}

func (f *Folder) mayWrite(name string, force bool) error {
	if !fs.ValidPath(name) || name == "." || name == record || strings.ContainsFunc(name,
		func(r rune) bool { return unicode.IsControl(r) || r == unicode.ReplacementChar }) {
		return errors.New("it is not the name of a file in this folder")
	}
	switch err := f.regular(name); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil || force:
		return err
	}
	hash, err := f.hash(name)
	if err != nil {
		return err
	}
	if !slices.Contains(f.written[name], hash) {
		return ErrForeign
	}
	return nil
}

func (f *Folder) hash(name string) (string, error) {
	file, err := f.root.Open(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func sum(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}

func (f *Folder) writeRecord() error {
	data, err := json.MarshalIndent(recorded{1, f.written}, "", " ")
	if err != nil {
		return err
	}
	if err := f.put(File{Name: record, Data: append(data, '\n')}); err != nil {
		return fmt.Errorf("%s: %w", f.show(record), err)
	}
	return nil
}

// put writes a file beside its place and moves it there: what is in the place
// is replaced, never written into.
func (f *Folder) put(file File) error {
	folder := path.Dir(file.Name)
	if err := f.root.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if file.Mode == 0 {
		file.Mode = 0o644
	}
	beside := path.Join(folder, ".wirerate-"+rand.Text())
	out, err := f.root.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, file.Mode)
	if err != nil {
		return err
	}
	_, err = out.Write(file.Data)
	if err = errors.Join(err, out.Close()); err == nil {
		err = f.root.Rename(beside, file.Name)
	}
	if err != nil {
		return errors.Join(err, f.root.Remove(beside))
	}
	return nil
}

// show is a name as messages have it.
func (f *Folder) show(name string) string { return filepath.Join(f.path, filepath.FromSlash(name)) }
