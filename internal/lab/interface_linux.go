package lab

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"github.com/wirerate/wirerate/internal/input"
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

// OnInterface calls do with a host's interface of its first link.
func (l *Lab) OnInterface(name string, do func(h *netlink.Handle, link netlink.Link) error) error {
	return l.onInterface(name, interfaceName(0), do)
}

// counters tell what an interface did. They stay readable, at little cost, while
// the interface's host is there.
type counters struct {
	file *os.File // proc_net_dev(5)
	dev  string
}

// refused returns how many packets the interface did not take from its host, for
// want of room: in /proc/net/dev the fourth column of those for sending.
func (c counters) refused() int64 {
	const column = 1 + 8 + 3 // the name, eight columns for receiving
	const most = 1 << 20
	table, _ := input.Stream(io.NewSectionReader(c.file, 0, most), "", most) // of a host that is gone nothing
	for line := range bytes.Lines(table) {
		if f := bytes.Fields(line); len(f) > column && string(f[0]) == c.dev+":" {
			count, _ := strconv.ParseInt(string(f[column]), 10, 64)
			return count
		}
	}
	return 0
}

// segmentsOnly makes an interface take one segment at a time.
func (l *Lab) segmentsOnly(name, dev string) error {
	return l.onInterface(name, dev, func(h *netlink.Handle, link netlink.Link) error {
		return h.LinkSetGSOMaxSegs(link, 1)
	})
}
