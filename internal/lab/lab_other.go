//go:build !linux

package lab

import (
	"context"
	"errors"

	"github.com/wirerate/wirerate/internal/host"
)

// ErrNoLab is returned by Up and Bring on systems other than Linux.
var ErrNoLab = errors.New("the lab needs Linux: network namespaces and TUN devices with virtio headers")

// Lab needs Linux; here it cannot be brought up.
type Lab struct{}

// Up returns ErrNoLab.
func Up(context.Context, Link) (*Lab, error) { return nil, ErrNoLab }

// Bring returns ErrNoLab.
func Bring(context.Context, Topology) (*Lab, error) { return nil, ErrNoLab }

// EnterUserNamespace returns ErrNoLab.
func EnterUserNamespace() error { return ErrNoLab }

// Client is never reached.
func (l *Lab) Client() host.Conn { return nil }

// Server is never reached.
func (l *Lab) Server() host.Conn { return nil }

// PeerAddr is never reached.
func (l *Lab) PeerAddr() string { return "" }

// PeerAddr6 is never reached.
func (l *Lab) PeerAddr6() string { return "" }

// Link is never reached.
func (l *Lab) Link(int) Link { return Link{} }

// Stats is never reached.
func (l *Lab) Stats() (up, down Stats) { return }

// Close does nothing.
func (l *Lab) Close() error { return nil }
