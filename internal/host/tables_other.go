//go:build !linux

package host

import (
	"fmt"
	"io/fs"
)

// table needs netlink.
func table(t Table, _ []byte) ([]byte, error) {
	return nil, fmt.Errorf("the kernel's table of %s: %w: netlink exists on Linux only", t, fs.ErrNotExist)
}
