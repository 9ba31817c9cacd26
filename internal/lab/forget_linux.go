package lab

import (
	"errors"
	"fmt"
	"os"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"github.com/wirerate/wirerate/internal/input"
	"github.com/wirerate/wirerate/internal/kerneltext"
)

// timeWait is TCP_TIME_WAIT of linux/net/tcp_states.h.
const timeWait = 6

// Forget drops what the hosts' kernels keep for minutes of connections that have
// ended: entries of the table of tracked connections, and ports in TIME-WAIT. What
// measures next would find the table full, and the ports gone.
func (l *Lab) Forget() error {
	var errs []error
	for _, name := range l.topology.Hosts {
		ns := l.netns[name]
		if err := inNamespace(int(ns.Fd()), freePorts); !errors.Is(err, unix.EOPNOTSUPP) {
			errs = append(errs, err)
		}
		if tracks(l.hosts[name].PID()) {
			errs = append(errs, forgetTracked(ns))
		}
	}
	return errors.Join(errs...)
}

// freePorts ends the TIME-WAIT of the ports that this thread's network namespace
// gives to connections. Older kernels end no socket in that state.
func freePorts() error {
	text, err := input.File("/proc/sys/net/ipv4/ip_local_port_range", recordLimit)
	if err != nil {
		return err
	}
	from, to, err := kerneltext.PortRange(string(text))
	if err != nil {
		return err
	}
	return endSockets(func(s *netlink.Socket) bool {
		return s.State == timeWait && s.ID.SourcePort >= from && s.ID.SourcePort <= to
	})
}

// tracks says whether a process's host has tracked connections. Where it has none,
// asking its kernel to drop them may load modules.
func tracks(pid int) bool {
	text, err := input.File(fmt.Sprintf("/proc/%d/net/stat/nf_conntrack", pid), recordLimit)
	if err != nil {
		return false
	}
	names, sums, err := kerneltext.StatColumns(string(text))
	if err != nil {
		return false
	}
	for i, name := range names {
		if name == "entries" {
			return sums[i] > 0
		}
	}
	return false
}

func forgetTracked(ns *os.File) error {
	h, err := netlink.NewHandleAt(netns.NsHandle(ns.Fd()), unix.NETLINK_NETFILTER)
	if err != nil {
		return fmt.Errorf("tracked connections: %w", err)
	}
	defer h.Close()
	if err := h.ConntrackTableFlush(netlink.ConntrackTable); err != nil {
		return fmt.Errorf("tracked connections: %w", err)
	}
	return nil
}
