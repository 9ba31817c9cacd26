package lab

import (
	"context"
	"fmt"

	"github.com/vishvananda/netlink"

	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/lab/link"
)

// addNetem joins two hosts by a veth pair with netem on both ends. devs are the
// names of the interfaces.
func (l *Lab) addNetem(ctx context.Context, edge int, e Edge, devs [2]string) error {
	var args [2][]string
	for i, d := range []link.Direction{e.Link.Up, e.Link.Down} {
		var err error
		if args[i], err = e.Link.NetemArgs(d); err != nil {
			return err
		}
	}
	veth := netlink.NewVeth(netlink.LinkAttrs{Name: devs[0]})
	veth.PeerName = devs[1]
	veth.PeerNamespace = netlink.NsFd(l.netns[e.B].Fd())
	if err := inside(l.netns[e.A], func(h *netlink.Handle) error { return h.LinkAdd(veth) }); err != nil {
		return fmt.Errorf("%w: veth pair: %w", ErrUnavailable, err)
	}
	for i, name := range []string{e.A, e.B} {
		if err := l.configure(name, devs[i], e.Link.PathMTU(), edge, i == 1); err != nil {
			return err
		}
		if err := l.segmentsOnly(name, devs[i]); err != nil {
			return fmt.Errorf("turn GSO off: %w", err)
		}
		tc := append([]string{"tc", "qdisc", "replace", "dev", devs[i], "root", "netem"}, args[i]...)
		if _, err := host.Run(ctx, l.hosts[name], tc...); err != nil {
			return fmt.Errorf("%w: %w; netem needs the kernel module sch_netem and iproute2", ErrUnavailable, err)
		}
	}
	return nil
}
