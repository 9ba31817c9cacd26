package lab

import (
	"fmt"
	"os"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// inside calls do with a netlink socket of a network namespace.
func inside(ns *os.File, do func(h *netlink.Handle) error) error {
	h, err := netlink.NewHandleAt(netns.NsHandle(ns.Fd()), unix.NETLINK_ROUTE)
	if err != nil {
		return fmt.Errorf("netlink: %w", err)
	}
	defer h.Close()
	return do(h)
}

// onInterface calls do with a host's interface.
func (l *Lab) onInterface(name, dev string, do func(h *netlink.Handle, link netlink.Link) error) error {
	return inside(l.netns[name], func(h *netlink.Handle) error {
		link, err := h.LinkByName(dev)
		if err != nil {
			return fmt.Errorf("interface %s: %w", dev, err)
		}
		return do(h, link)
	})
}

// segmentsOnly makes an interface take one segment at a time.
func (l *Lab) segmentsOnly(name, dev string) error {
	return l.onInterface(name, dev, func(h *netlink.Handle, link netlink.Link) error {
		return h.LinkSetGSOMaxSegs(link, 1)
	})
}

// acknowledgeAll makes a host acknowledge each segment that comes by an
// interface's own subnet.
func (l *Lab) acknowledgeAll(name, dev string) error {
	return l.onInterface(name, dev, func(h *netlink.Handle, link netlink.Link) error {
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
	})
}
