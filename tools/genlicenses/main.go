// Genlicenses packs the licence notices of everything that is linked into the
// binary, on any of its systems, for wirerate version --licenses. It reads the
// module cache only.
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

//go:generate go run . -o ../../internal/cli/licenses.txt.gz

func main() {
	log.SetFlags(0)
	out := flag.String("o", "", "`file` to write, compressed")
	flag.Parse()
	text, err := notices("../..")
	if err == nil {
		err = write(*out, text)
	}
	if err != nil {
		log.Fatal("genlicenses: ", err)
	}
}

func write(file string, text []byte) error {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if _, err := z.Write(text); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(file, b.Bytes(), 0o644)
}

// systems are those that binaries are made for.
var systems = []string{"linux", "freebsd", "openbsd"}

// module is one that packages of the binary come from.
type module struct {
	Path, Version, Dir string
	folders            map[string]bool // of its packages, and those above them
}

// modules returns what the binary of the module in root is made of, by path.
func modules(root string) ([]*module, error) {
	found := map[string]*module{}
	for _, system := range systems {
		cmd := exec.Command("go", "list", "-deps", "-json=Dir,Module", "./cmd/wirerate")
		cmd.Dir, cmd.Env = root, append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		for dec := json.NewDecoder(bytes.NewReader(out)); ; {
			var p struct {
				Dir    string
				Module *struct {
					Path, Version, Dir string
					Main               bool
				}
			}
			if err := dec.Decode(&p); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, err
			}
			if p.Module == nil || p.Module.Main {
				continue
			}
			m := found[p.Module.Path]
			if m == nil {
				m = &module{p.Module.Path, p.Module.Version, p.Module.Dir, map[string]bool{}}
				found[m.Path] = m
			}
			for dir := p.Dir; strings.HasPrefix(dir, m.Dir); dir = filepath.Dir(dir) {
				m.folders[dir] = true
			}
		}
	}
	all := make([]*module, 0, len(found))
	for _, m := range found {
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b *module) int { return strings.Compare(a.Path, b.Path) })
	return all, nil
}

// notice is what files with licences, and what goes with them, are called.
var notice = regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying|copyright|notice|patents|authors|` +
	`third[-_]party)([-_.][a-z0-9_-]+)*(\.(txt|md))?$`)

// files are the notices in the folders of a module that are used, in order.
func (m *module) files() ([]string, error) {
	var files []string
	for dir := range m.folders {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if name := filepath.Join(dir, e.Name()); notice.MatchString(e.Name()) && filepath.Ext(name) != ".go" {
				more, err := textsAt(name)
				if err != nil {
					return nil, err
				}
				files = append(files, more...)
			}
		}
	}
	slices.Sort(files)
	if len(files) == 0 {
		return nil, fmt.Errorf("%s %s: no licence in it: may it be linked and given away?", m.Path, m.Version)
	}
	return files, nil
}

// textsAt is a file, or the files of a folder such as THIRD_PARTY_LICENSES.
func textsAt(name string) (files []string, err error) {
	err = filepath.WalkDir(name, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files = append(files, path)
		}
		return err
	})
	return files, err
}

// notices is the text: a heading for each module and each of its files.
func notices(root string) ([]byte, error) {
	all, err := modules(root)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteString("wirerate contains what follows, under these licences.\n")
	section := func(title string, files []string, below string) error {
		fmt.Fprintf(&b, "\n%s\n%s\n", strings.Repeat("=", 80), title)
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			name, err := filepath.Rel(below, file)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, "\n--- %s ---\n\n%s\n", filepath.ToSlash(name),
				strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n")))
		}
		return nil
	}
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	goroot := strings.TrimSpace(string(out))
	if err := section("the Go standard library and runtime",
		[]string{filepath.Join(goroot, "LICENSE")}, goroot); err != nil {
		return nil, err
	}
	for _, m := range all {
		files, err := m.files()
		if err != nil {
			return nil, err
		}
		if err := section(m.Path+" "+m.Version, files, m.Dir); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}
