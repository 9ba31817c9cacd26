package change

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/units"
)

// lostWait is how long a host that was lost is tried again.
const lostWait = time.Minute

// TakeBack rolls the change back, also on a host behind ssh whose connection was
// lost and comes back within a minute, which note is told; else the host's own
// timer is left to it.
func (c *Change) TakeBack(ctx context.Context, note func(format string, args ...any)) (RollbackReport, error) {
	_, remote := c.conn.(*host.SSH)
	until := time.Now().Add(lostWait)
	for said := false; ; said = true {
		report, err := c.Rollback(ctx)
		if !errors.Is(err, host.ErrUnreachable) {
			if said && err == nil {
				note("%s is reached again: the change is taken back", c.conn.Name())
			}
			return report, err
		}
		if !remote || time.Now().After(until) || ctx.Err() != nil {
			return report, fmt.Errorf("%w; %s", err, c.WhenLost(time.Now()))
		}
		if !said {
			note("%s is lost: trying for %s to reach it and take the change back; %s", c.conn.Name(), units.Duration(lostWait), c.WhenLost(time.Now()))
		}
		select {
		case <-ctx.Done():
		case <-time.After(2 * time.Second):
		}
	}
}
