package lint

import (
	"path"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
)

// tellers are names of files, with a prefix for a whole family, that only one of
// the systems has in a directory of configuration.
var tellers = []struct {
	name   string
	system catalog.System
}{
	{"hostname.", catalog.OpenBSD}, {"mygate", catalog.OpenBSD}, {"myname", catalog.OpenBSD},
	{"installurl", catalog.OpenBSD},
	{"doas.conf", catalog.OpenBSD}, {"loader.conf", catalog.FreeBSD}, {"device.hints", catalog.FreeBSD},
	{"freebsd-update.conf", catalog.FreeBSD}, {"devfs.rules", catalog.FreeBSD}, {"periodic.conf", catalog.FreeBSD},
	{"sysctl.d", catalog.Linux}, {"modprobe.d", catalog.Linux}, {"netplan", catalog.Linux}, {"systemd", catalog.Linux},
}

// bySiblings tells the system of files that fit several: the one that all files
// around them, given or in the same directory, are of.
func bySiblings(files []*source) map[*source]catalog.System {
	told := map[*source]catalog.System{}
	for _, f := range files {
		if len(f.systems) == 1 && !f.soft {
			continue
		}
		var around []catalog.System
		for _, name := range f.beside {
			for _, t := range tellers {
				if name == t.name || strings.HasSuffix(t.name, ".") && strings.HasPrefix(name, t.name) &&
					!strings.HasSuffix(name, ".conf") {
					around = append(around, t.system)
				}
			}
		}
		for _, other := range files {
			if len(other.systems) == 1 && !other.soft && near(f.path, other.path) {
				around = append(around, other.systems[0])
			}
		}
		slices.Sort(around)
		around = slices.Compact(around)
		if len(around) == 1 && (f.soft && around[0] != catalog.Linux || slices.Contains(f.systems, around[0])) {
			told[f] = around[0]
		}
	}
	return told
}

// near reports whether two files are in the same directory, or in the etc and
// boot of one tree.
func near(a, b string) bool {
	top := func(file string) string {
		dir := path.Dir(file)
		if base := path.Base(dir); base == "etc" || base == "boot" {
			return path.Dir(dir)
		}
		return dir
	}
	return path.Dir(a) == path.Dir(b) || top(a) == top(b)
}
