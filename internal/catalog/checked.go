package catalog

import (
	"slices"
	"strings"

	embedded "github.com/wirerate/wirerate/catalog"
)

// checkedIn returns the releases whose running kernels were asked about a name and bore
// its record out: catalog/checked.txt, lines of a system, a name and releases.
func (c *Catalog) checkedIn(system System, name string) (releases []Version) {
	c.readChecked.Do(func() {
		c.checked = make(map[string]string, 1200)
		for line := range strings.Lines(embedded.Checked) {
			if system, rest, ok := strings.Cut(line, " "); ok {
				name, releases, _ := strings.Cut(rest, " ")
				c.checked[system+" "+name] = releases
			}
		}
	})
	for v := range strings.FieldsSeq(c.checked[string(system)+" "+name]) {
		releases = append(releases, Version(v))
	}
	return releases
}

// Complete reports whether the kernel of a release was seen to have no name that
// begins with prefix and is not in the catalog.
func (c *Catalog) Complete(system System, prefix string, v Version) bool {
	return slices.ContainsFunc(c.checkedIn(system, "below:"+prefix), func(w Version) bool { return w.Compare(v.line()) == 0 })
}
