package lsp

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/conffile"
	"github.com/wirerate/wirerate/internal/input"
	"github.com/wirerate/wirerate/internal/lint"
)

// What is read beside an open file: so many files, of so many bytes each, and so
// many names of a folder.
const (
	neighbours     = 300
	neighbourLimit = input.MiB
	folderNames    = 2000
)

// disk remembers files by the time of their last change.
type disk struct {
	files map[string]diskFile
}

type diskFile struct {
	changed time.Time
	size    int64
	text    string
}

// read returns a file's text, and whether it is one that can be read.
func (d *disk) read(path string) (string, bool) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > neighbourLimit {
		delete(d.files, path)
		return "", false
	}
	if f, ok := d.files[path]; ok && f.changed.Equal(info.ModTime()) && f.size == info.Size() {
		return f.text, true
	}
	data, err := input.File(path, neighbourLimit)
	if err != nil {
		return "", false
	}
	if len(d.files) >= 2*neighbours {
		clear(d.files)
	}
	d.files[path] = diskFile{info.ModTime(), info.Size(), string(data)}
	return string(data), true
}

// names lists a folder, sorted and bounded.
func names(dir string) []string {
	f, err := input.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	list, err := f.Readdirnames(folderNames)
	if err != nil {
		return nil
	}
	slices.Sort(list)
	return list
}

// around returns the files that may act together with one: those of its
// machine, for a file at its place, else the configuration files of its folder.
func around(path string, system conffile.System) []string {
	if root, ok := conffile.Root(system, path); ok && !strings.HasSuffix(root, "/") {
		return placed(root, system)
	}
	var out []string
	dir := filepath.Dir(path)
	for _, name := range names(dir) {
		if file := filepath.Join(dir, name); conffile.Detect(file, nil).Kind != "" {
			out = append(out, file)
		}
	}
	return out
}

// placed lists the files of a machine's tree that its system reads.
func placed(root string, system conffile.System) []string {
	var out []string
	for _, place := range conffile.Places(system) {
		dir, base := filepath.Split(root + place)
		if base != "" && !strings.HasSuffix(base, ".") {
			out = append(out, root+place)
			continue
		}
		for _, name := range names(dir) {
			if strings.HasPrefix(name, base) {
				out = append(out, dir+name)
			}
		}
	}
	return out
}

// inputs returns an open file with those around it. Open files count as they
// are in the editor.
func (s *Server) inputs(d *document, system conffile.System) []lint.Input {
	own := lint.Input{Path: d.path, Text: d.text.src}
	if !d.local {
		return []lint.Input{own}
	}
	beside := map[string][]string{}
	list := func(path string) []string {
		dir := filepath.Dir(path)
		if _, ok := beside[dir]; !ok {
			beside[dir] = names(dir)
		}
		return beside[dir]
	}
	own.Beside = list(d.path)
	all := []lint.Input{own}
	for _, path := range around(d.path, system) {
		if path == d.path || len(all) > neighbours {
			continue
		}
		text, ok := s.disk.read(path)
		if open := s.byPath(path); open != nil {
			text, ok = open.text.src, true
		}
		if ok {
			all = append(all, lint.Input{Path: path, Text: text, Beside: list(path)})
		}
	}
	for _, other := range s.docs { // new files, which the disk does not have yet
		known := slices.ContainsFunc(all, func(in lint.Input) bool { return in.Path == other.path })
		if other.local && !known && filepath.Dir(other.path) == filepath.Dir(d.path) {
			all = append(all, lint.Input{Path: other.path, Text: other.text.src, Beside: list(other.path)})
		}
	}
	slices.SortFunc(all, func(a, b lint.Input) int { return strings.Compare(a.Path, b.Path) })
	return all
}

// pathOf returns the path of a document, and whether it is a file of this
// machine.
func pathOf(uri string) (path string, local bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || !filepath.IsAbs(u.Path) {
		if err == nil && u.Path != "" {
			return u.Path, false
		}
		return uri, false
	}
	return filepath.Clean(u.Path), true
}

func uriOf(path string) string { return (&url.URL{Scheme: "file", Path: path}).String() }
