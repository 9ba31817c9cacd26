package lint

import (
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
)

// rootGroups are the groups of FreeBSD's settings that people take for one another.
var rootGroups = []string{"dev", "hw", "kern", "net", "net.inet", "security", "vfs", "vm"}

// below is the only setting, somewhere in the groups that people take for one another, whose last part is the name that
// stands directly below one of them, as security.bsd.see_other_uids is for kern.see_other_uids.
func (k *checker) below(group, last string) (found string) {
	if !slices.Contains(rootGroups, group) || len(last) < 10 || !strings.Contains(last, "_") {
		return ""
	}
	if k.lasts == nil {
		k.lasts = map[string][]string{}
		for _, name := range k.names {
			if root, _, _ := strings.Cut(name, "."); slices.Contains(rootGroups, root) && !strings.Contains(name, "*") {
				k.lasts[lastPart(name)] = append(k.lasts[lastPart(name)], name)
			}
		}
	}
	for _, name := range k.lasts[last] {
		if !k.meant(group+"."+last, name) {
			continue
		}
		if found != "" {
			return ""
		}
		found = name
	}
	return found
}

// underOther is the setting that a name of FreeBSD is but for its group, as dev.netmap.buf_size is for hw.netmap.buf_size;
// "" where there is none, or several.
func (k *checker) underOther(name string) (found string) {
	group, rest, _ := strings.Cut(name, ".")
	if k.system != catalog.FreeBSD {
		return ""
	}
	if !strings.Contains(rest, ".") {
		return k.below(group, rest)
	}
	for _, root := range rootGroups {
		other := root + "." + rest
		if _, known := slices.BinarySearch(k.names, other); !known || root == group || !k.meant(name, other) {
			continue
		}
		if found != "" {
			return ""
		}
		found = other
	}
	return found
}
