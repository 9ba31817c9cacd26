package facts

import (
	"slices"
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/system"
)

// TestCollectors: what is registered is read from a host, from folders and from posts, and is on the page of outputs.
func TestCollectors(t *testing.T) {
	for _, s := range system.All() {
		parts := map[string]bool{}
		for _, c := range collectors() {
			if !slices.Contains(c.on, s) {
				continue
			}
			name := c.outputName()
			script := len(c.op.Args) > 0 && c.op.Args[0] == "sh"
			switch {
			case parts[c.part] && c.part != "ifconfig":
				t.Errorf("%s: two collectors are the part %q", s, c.part)
			case c.parse == nil || c.part == "":
				t.Errorf("%s: %s has no part or no parser", s, name)
			case script && c.name == "":
				t.Errorf("%s: the script of %s has no name", s, c.part)
			case c.when == again:
			case c.area == "" && !script:
				t.Errorf("%s: %s has no area: it is not in docs/outputs.md", s, name)
			case c.area != "" && !slices.Contains(Areas(), c.area):
				t.Errorf("%s: %s has the area %q, which is not listed", s, name, c.area)
			case c.op.Action == host.ActRead && OutputOfFile("sos"+name) != name:
				t.Errorf("%s: %s is not found in a folder", s, name)
			case c.op.Action != host.ActRead && c.area != "" && OutputAsTyped(name) == "":
				t.Errorf("%s: %s is not found in folders and posts: none of the forms fits it", s, name)
			}
			parts[c.part] = true
			if c.area != "" && !script && s != system.Linux && c.op.Action != host.ActRead {
				posted := &textConn{"a", map[string]string{OutputOfCommand(name): "x"}}
				if answers, err := posted.Do(t.Context(), c.op); err != nil || answers[0].Text() != "x" {
					t.Errorf("%s: what is posted of %s is not read: it is known as %q", s, name, OutputOfCommand(name))
				}
			}
		}
	}
	for _, name := range []string{"top -b -n 1", "ethtool -S eth0", "ethtool --show-ring eth0", "systat -b cpu"} {
		if OutputAsTyped(name) == "" {
			t.Errorf("%s is not known", name)
		}
	}
	for _, name := range []string{"ethtool -m eth0", "ethtool --set-ring eth0", "rm -rf /", "ethtool -S $(reboot)"} {
		if got := OutputAsTyped(name); strings.HasPrefix(got, "ethtool") && strings.ContainsAny(got, "$;") ||
			got != "" && !strings.HasPrefix(got, "ethtool") {
			t.Errorf("%s is %s", name, got)
		}
	}
}
