package lint

import (
	"path"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/conffile"
)

// Find returns the settings that a name means, in the order of
// catalog.Systems: the setting of that name, the settings that a pattern fits,
// those whose name ends with the words given (tcp_rmem), or the members of the
// group of that name (net.inet.tcp).
// A field of a setting, as ceilings name it (tcp_rmem[2]), means the setting.
func Find(c *catalog.Catalog, system catalog.System, name string) []*catalog.Record {
	if setting, field, ok := strings.Cut(name, "["); ok && (field == "0]" || field == "1]" || field == "2]") {
		name = setting
	}
	for _, spelt := range Spellings(name) {
		var found []*catalog.Record
		for _, s := range catalog.Systems() {
			if system != "" && s != system {
				continue
			}
			if r, ok := c.Lookup(s, spelt); ok {
				found = append(found, r)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	pattern := strings.ContainsAny(name, "*?[")
	spelt := Spellings(name)
	last := spelt[len(spelt)-1]
	group, member, _ := strings.Cut(last, ":") // ethtool:tso for ethtool:features/tso
	tails := c.Filter(system, func(n string) bool {
		if pattern {
			ok, _ := path.Match(name, n)
			return ok
		}
		n = strings.ToLower(n)
		return hasTail(n, last) || member != "" && strings.HasPrefix(n, group+":") && hasTail(n, member)
	})
	if pattern {
		return tails
	}
	tails = slices.DeleteFunc(tails, func(r *catalog.Record) bool { return r.Removed == "0" }) // misspellings
	if len(tails) > 0 {
		return tails
	}
	return c.Filter(system, func(n string) bool {
		rest, ok := strings.CutPrefix(strings.ToLower(n), last)
		return ok && last != "" && rest != "" && strings.ContainsAny(rest[:1], "./:")
	})
}

// hasTail reports whether name ends with the components of tail.
func hasTail(name, tail string) bool {
	rest, ok := strings.CutSuffix(name, tail)
	return ok && tail != "" && rest != "" && strings.IndexByte("./:", rest[len(rest)-1]) >= 0
}

// Spellings are the forms in which a setting may be in the catalog: as it was
// given, and as a name that was taken from a command line, an assignment or a
// path below /proc/sys.
func Spellings(name string) []string {
	plain, _, _ := strings.Cut(name, "=")
	if words := strings.Fields(plain); len(words) > 0 {
		plain = words[len(words)-1]
	}
	if !strings.Contains(plain, ":") && !strings.HasPrefix(plain, "/sys/") {
		plain = conffile.LinuxName(plain)
	}
	return slices.Compact([]string{strings.ReplaceAll(name, " ", ""), plain, strings.ToLower(plain)})
}
