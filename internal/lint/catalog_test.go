package lint

import (
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/catalog"
)

// TestCatalogFits checks what lint takes from the catalog: every judgement has
// a code that lint knows, and what a setting needs or excludes is a setting or
// a module.
func TestCatalogFits(t *testing.T) {
	c := load(t)
	for _, r := range c.All("") {
		for _, j := range r.Judge {
			if _, ok := FindCode(j.Code); !ok {
				t.Errorf("%s %s: judgement of unknown code %q", r.System, r.Name, j.Code)
			}
		}
		for _, other := range append(append([]string{}, r.Needs...), r.Conflicts...) {
			name, _, _ := strings.Cut(other, "=")
			_, known := c.Lookup(r.System, name)
			if !known && !isModule(name) && r.System == catalog.FreeBSD {
				t.Errorf("%s %s: needs or excludes %s, which is not in the catalog", r.System, r.Name, name)
			}
		}
	}
}
