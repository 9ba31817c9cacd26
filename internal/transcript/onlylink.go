package transcript

import (
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

var linkBegin = regexp.MustCompile(`(?m)^(?:\d+: )?([a-z][a-zA-Z0-9_.-]*)(?:@\S+)?(?:: flags=|: <|:?\s+[RT]X packets[: ]\d|` +
	`\s+(?:Link encap|Lien encap|Encapsulamento do Link):)`)

// nameOnlyLink gives an output that names no interface to the only one that
// was pasted.
func (o outputs) nameOnlyLink() {
	names := map[string]bool{}
	for name, text := range o.texts {
		if nic := facts.InterfaceOf(name); nic != "" && nic != facts.UnnamedLink {
			names[nic] = true
		}
		if name == "ifconfig -a" || name == "ip -s -d link show" {
			for _, m := range linkBegin.FindAllStringSubmatch(text, -1) {
				names[m[1]] = true
			}
		}
	}
	delete(names, "lo")
	delete(names, facts.UnnamedLink)
	if len(names) != 1 {
		return
	}
	for only := range names {
		for _, r := range *o.rounds {
			if rest, ok := strings.CutPrefix(r.texts["ifconfig -a"], facts.UnnamedLink); ok {
				r.texts["ifconfig -a"] = only + rest
			}
		}
		for _, prefix := range []string{"ethtool -S ", "ethtool -i ", "ethtool -m ", "ethtool "} {
			for _, r := range *o.rounds {
				if text := r.texts[prefix+facts.UnnamedLink]; text != "" && r.texts[prefix+only] == "" {
					r.texts[prefix+only], r.places[prefix+only] = text, r.places[prefix+facts.UnnamedLink]
					r.at[prefix+only] = r.at[prefix+facts.UnnamedLink]
					delete(r.texts, prefix+facts.UnnamedLink)
				}
			}
		}
	}
}
