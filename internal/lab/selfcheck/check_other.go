//go:build !linux

package selfcheck

import (
	"context"
	"fmt"

	"github.com/wirerate/wirerate/internal/lab"
)

// Check returns lab.ErrUnavailable.
func Check(context.Context, Options) (Report, error) {
	return Report{}, fmt.Errorf("%w: it needs Linux, for its network namespaces and TUN devices", lab.ErrUnavailable)
}
