//go:build !linux

package host

import (
	"context"
	"errors"
)

var errNoNamespaces = errors.New("network namespaces exist on Linux only; name a host as ssh://user@name")

// Spawn needs Linux.
func Spawn(context.Context, string) (*Agent, error) { return nil, errNoNamespaces }

// openNamespace needs Linux.
func openNamespace(context.Context, string) (*Agent, error) { return nil, errNoNamespaces }

func prepareNamespace(string) error { return errNoNamespaces }

func unmount(string) {}
