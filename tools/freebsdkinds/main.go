// Freebsdkinds compares the kinds, scopes and defaults of FreeBSD's settings in the catalog
// with the declarations of a source tree: go run ./tools/freebsdkinds /usr/src/sys 14.3
//
// It reads the static declarations, SYSCTL_* with their flags and TUNABLE_*, and the
// numbers with which their variables start; what drivers add for each device at run
// time has no name in the source.
package main

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: freebsdkinds SOURCE RELEASE (such as /usr/src/sys 14.3)")
		os.Exit(2)
	}
	c, err := catalog.Load()
	if err == nil {
		var d declarations
		if d, err = read(os.DirFS(os.Args[1])); err == nil {
			differences := compare(c, d, catalog.Version(os.Args[2]))
			fmt.Println(strings.Join(differences, "\n"))
			fmt.Printf("%d declarations, %d differ from the catalog\n", len(d.kinds), len(differences))
			return
		}
	}
	fmt.Fprintln(os.Stderr, "freebsdkinds:", err)
	os.Exit(4)
}

var (
	// SYSCTL_INT(_net_inet_tcp, OID_AUTO, sack, CTLFLAG_VNET | CTLFLAG_RW, &VNET_NAME(sack),
	sysctl = regexp.MustCompile(`SYSCTL_([A-Z0-9_]+)\(\s*(_\w+),\s*\w+,\s*(\w+),([^&",;]*)` +
		`(?:,\s*&(?:VNET_NAME\()?(\w+)\)?\s*,)?`)
	// VNET_DEFINE_STATIC(int, sack) = 1; or static int sack = 1;
	initial = regexp.MustCompile(`(?m)^(?:VNET_DEFINE(?:_STATIC)?\([\w ]+,\s*(\w+)\)|[a-z][\w \t]*[ \t](\w+))` +
		`\s*=\s*(-?\w+);`)
	// TUNABLE_INT("net.isr.maxthreads", ...
	tunable = regexp.MustCompile(`TUNABLE_[A-Z0-9_]+\(\s*"([\w.]+)"`)
)

// declarations are kinds, defaults and places by key: a name with underscores for dots,
// since the nodes of a declaration are joined by underscores that names have too.
type declarations struct {
	kinds    map[string]catalog.Kind
	vnet     map[string]bool
	defaults map[string]int64
	where    map[string]string
}

func key(name string) string { return strings.ReplaceAll(name, ".", "_") }

// read collects the declarations below a directory.
func read(tree fs.FS) (declarations, error) {
	d := declarations{map[string]catalog.Kind{}, map[string]bool{}, map[string]int64{}, map[string]string{}}
	tunables := map[string]bool{}
	err := fs.WalkDir(tree, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".c") {
			return err
		}
		text, err := fs.ReadFile(tree, path)
		values := initials(string(text))
		for _, m := range sysctl.FindAllStringSubmatch(string(text), -1) {
			name := strings.TrimPrefix(m[2], "_") + "_" + m[3]
			kind := kindOf(m[4])
			if kind == "" {
				continue
			}
			d.kinds[name], d.where[name] = kind, path
			d.vnet[name] = strings.Contains(m[4], "CTLFLAG_VNET")
			if value, ok := values[m[5]]; ok && m[1] != "PROC" {
				d.defaults[name] = value
			}
		}
		for _, m := range tunable.FindAllStringSubmatch(string(text), -1) {
			tunables[key(m[1])] = true
		}
		return err
	})
	for name := range tunables {
		switch d.kinds[name] {
		case catalog.Runtime:
			d.kinds[name] = catalog.Both
		case catalog.ReadOnly:
			d.kinds[name] = catalog.Boot
		}
	}
	return d, err
}

// initials returns the numbers with which the variables of a file start; those that
// are a macro or a sum, or differ by an #ifdef, are left out.
func initials(text string) map[string]int64 {
	values, differ := map[string]int64{}, map[string]bool{}
	for _, m := range initial.FindAllStringSubmatch(text, -1) {
		name, word := m[1]+m[2], strings.NewReplacer("true", "1", "false", "0").Replace(m[3])
		value, err := strconv.ParseInt(word, 0, 64)
		if before, ok := values[name]; err != nil || ok && before != value {
			differ[name] = true
		}
		values[name] = value
	}
	maps.DeleteFunc(values, func(name string, _ int64) bool { return differ[name] })
	return values
}

// kindOf tells the kind by the flags, "" for a node or flags that a macro hides.
func kindOf(flags string) catalog.Kind {
	writable := strings.Contains(flags, "CTLFLAG_RW") || strings.Contains(flags, "CTLFLAG_WR")
	atBoot := strings.Contains(flags, "TUN")
	switch {
	case writable && atBoot:
		return catalog.Both
	case writable:
		return catalog.Runtime
	case atBoot:
		return catalog.Boot
	case strings.Contains(flags, "CTLFLAG_RD"):
		return catalog.ReadOnly
	}
	return ""
}

// compare returns a line for each setting of which source and catalog differ.
func compare(c *catalog.Catalog, d declarations, release catalog.Version) []string {
	var out []string
	for _, name := range c.Names(catalog.FreeBSD) {
		r, ok := c.Lookup(catalog.FreeBSD, name)
		declared := d.kinds[key(name)]
		if !ok || declared == "" {
			continue
		}
		r = r.In(release)
		if r.StateIn(release) != catalog.Present {
			out = append(out, fmt.Sprintf("%s: declared in %s, and not in %s by the catalog", name, d.where[key(name)], release))
			continue
		}
		if cmp.Or(r.Kind, catalog.Unknown) != declared {
			out = append(out, fmt.Sprintf("%s: %s by %s, %s by the catalog", name, declared, d.where[key(name)], r.Kind))
		}
		if vnet := d.vnet[key(name)]; vnet != (r.Scope == catalog.ScopeVnet) {
			out = append(out, fmt.Sprintf("%s: CTLFLAG_VNET is %t in %s, the scope is %s by the catalog", name, vnet, d.where[key(name)], r.Scope))
		}
		standard, _ := r.DefaultIn(release)
		recorded, err := strconv.ParseInt(standard.Value, 0, 64)
		if value, ok := d.defaults[key(name)]; ok && (err == nil && recorded != value || standard.Value == "unknown") {
			out = append(out, fmt.Sprintf("%s: starts as %d in %s, %s by the catalog",
				name, value, d.where[key(name)], standard.Value))
		}
	}
	slices.Sort(out)
	return out
}
