package change

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/plan"
)

// MakePlan plans for a running host, without the settings that its kernel would
// refuse to root. What cannot be written for its mount alone stays in the plan, which is
// then for the machine itself, and a warning says so.
func MakePlan(ctx context.Context, conn host.Conn, c *catalog.Catalog, r plan.Request) (plan.Plan, error) {
	p, err := plan.Make(c, r)
	if err != nil {
		return p, err
	}
	_, _, values := Divide(p)
	refused, err := unwritable(ctx, conn, p.System, values, "")
	if err != nil {
		return p, err
	}
	mounted := slices.Contains(slices.Collect(maps.Values(refused)), readOnlyMount)
	maps.DeleteFunc(refused, func(_, why string) bool { return why == readOnlyMount || why == notHere })
	if len(refused) > 0 {
		denied := maps.Clone(refused)
		maps.Copy(denied, r.Machine.Denied)
		r.Machine.Denied = denied
		if p, err = plan.Make(c, r); err != nil {
			return p, err
		}
		p.Warnings = append(p.Warnings, fmt.Sprintf("not planned, as this host does not let root write them: %s; "+
			"change them on the machine itself", strings.Join(slices.Sorted(maps.Keys(refused)), ", ")))
	}
	if mounted {
		p.Warnings = append(p.Warnings, "this plan cannot be applied from here: /proc/sys is mounted read-only, as "+
			"in a container; apply it on the machine itself")
	}
	return p, nil
}
