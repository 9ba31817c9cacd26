//go:build !linux

package lab

import (
	"context"
	"fmt"
	"os/exec"

	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/lab/emulator"
	"github.com/wirerate/wirerate/internal/lab/link"
)

func noLab() error {
	return fmt.Errorf("%w: it needs Linux, for its network namespaces and TUN devices", ErrUnavailable)
}

// Lab needs Linux; on this system none can be brought up.
type Lab struct{}

// Bring returns ErrUnavailable.
func Bring(context.Context, Topology) (*Lab, error) { return nil, noLab() }

// EnterUserNamespace returns ErrUnavailable.
func EnterUserNamespace(context.Context, []string) error { return noLab() }

// The methods below are never reached; programs for all systems call them.

func (*Lab) Host(string) *host.Agent { return nil }

func (*Lab) OnKill(host.Leftover) error { return noLab() }

func (*Lab) Client() host.Conn { return nil }

func (*Lab) Server() host.Conn { return nil }

func (*Lab) PeerAddr() string { return "" }

func (*Lab) PeerAddr6() string { return "" }

func (*Lab) Addr(string, bool) string { return "" }

func (*Lab) Link(int) link.Link { return link.Link{} }

func (*Lab) LinkStats(int) (up, down emulator.Stats) { return }

func (*Lab) Stats() (up, down emulator.Stats) { return }

func (*Lab) Forget() error { return noLab() }

func (*Lab) Mark() Mark { return Mark{} }

func (*Lab) Since(Mark) Disturbance { return Disturbance{} }

func (*Lab) Report() []LinkReport { return nil }

func (*Lab) Awake() Awake { return Awake{} }

func (*Lab) Arrivals() Arrivals { return Arrivals{} }

func (*Lab) Site(string) (Site, error) { return Site{}, noLab() }

func (*Lab) Close() error { return nil }

// Hold returns ErrUnavailable.
func Hold(context.Context, string, Topology, func(Kept)) error { return noLab() }

// TakeDown returns ErrUnavailable.
func (k Kept) TakeDown(context.Context) error { return noLab() }

// Enter returns ErrUnavailable.
func (k Kept) Enter(context.Context, []string, Streams) error { return noLab() }

// Status returns ErrUnavailable.
func (k Kept) Status(context.Context) (Status, error) { return Status{}, noLab() }

func (k Kept) sweep() {}

func startInside(int, *exec.Cmd) error { return noLab() }

func listeners(int) (map[string]bool, error) { return nil, noLab() }

func daemons(int) map[int]bool { return nil }

func foreground(context.Context, *exec.Cmd, func() error) (int, error) { return 0, noLab() }

type capture struct{}

func startCapture(Site, string) (*capture, error) { return nil, noLab() }

func (*capture) end() error { return nil }
