package catalog

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
)

// readChecked reads checked.txt, which a catalog may lack.
func readChecked(fsys fs.FS) (map[string]string, error) {
	text, err := fs.ReadFile(fsys, "checked.txt")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	checked := make(map[string]string, 1200)
	for line := range strings.Lines(string(text)) {
		if system, rest, ok := strings.Cut(line, " "); ok {
			name, releases, _ := strings.Cut(rest, " ")
			checked[system+" "+name] = releases
		}
	}
	return checked, err
}

// readSeen reads seen.txt, which a catalog may lack: lines of a system, a name that a
// running kernel of it showed and that has no record, and the releases.
func readSeen(fsys fs.FS) (string, error) {
	text, err := fs.ReadFile(fsys, "seen.txt")
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return string(text), err
}

// Seen returns the names, sorted, that are known to exist and have no record: running
// kernels showed them. They must not be changed.
func (c *Catalog) Seen(system System) []string {
	c.seenOnce.Do(func() {
		c.seen = map[System][]string{}
		for line := range strings.Lines(c.seenText) {
			if f := strings.Fields(line); len(f) > 2 {
				c.seen[System(f[0])] = append(c.seen[System(f[0])], f[1])
			}
		}
	})
	return c.seen[system]
}

// HasSeen reports whether a name is one of those.
func (c *Catalog) HasSeen(system System, name string) bool {
	_, found := slices.BinarySearch(c.Seen(system), name)
	return found
}

// checkedIn returns the releases whose running kernels were asked about a name and bore
// its record out: catalog/checked.txt, lines of a system, a name and releases.
func (c *Catalog) checkedIn(system System, name string) (releases []Version) {
	for v := range strings.FieldsSeq(c.checked[string(system)+" "+name]) {
		releases = append(releases, Version(v))
	}
	return releases
}

// Complete returns the releases whose running kernels were seen to have no name
// that begins with prefix and is not in the catalog, as far as they speak for release
// v: v itself, or else the nearest ones on both sides of it, or the oldest for one that
// is older still; all of them for an empty v.
func (c *Catalog) Complete(system System, prefix string, v Version) []Version {
	checked := c.checkedIn(system, "below:"+prefix)
	if v == "" {
		return checked
	}
	at, found := slices.BinarySearchFunc(checked, v.line(), Version.Compare)
	switch {
	case found:
		return checked[at : at+1]
	case at == len(checked):
		return nil
	}
	return checked[max(at-1, 0) : at+1]
}
