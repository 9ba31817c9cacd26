package lab

import (
	"fmt"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// segmentsOnly makes an interface take one segment at a time.
func (l *Lab) segmentsOnly(name, dev string) error {
	h, err := netlink.NewHandleAt(netns.NsHandle(l.netns[name].Fd()), unix.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	defer h.Close()
	link, err := h.LinkByName(dev)
	if err != nil {
		return err
	}
	return h.LinkSetGSOMaxSegs(link, 1)
}

// acknowledgeAll makes a host acknowledge each segment that comes by an
// interface's own subnet.
func (l *Lab) acknowledgeAll(name, dev string) error {
	h, err := netlink.NewHandleAt(netns.NsHandle(l.netns[name].Fd()), unix.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	defer h.Close()
	link, err := h.LinkByName(dev)
	if err != nil {
		return err
	}
	routes, err := h.RouteList(link, netlink.FAMILY_V4)
	if err != nil {
		return err
	}
	for _, r := range routes {
		r.QuickACK = 1
		if err := h.RouteReplace(&r); err != nil {
			return fmt.Errorf("route %s with quickack: %w", r.Dst, err)
		}
	}
	return nil
}
