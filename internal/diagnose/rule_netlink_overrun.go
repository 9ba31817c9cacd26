package diagnose

import "github.com/wirerate/wirerate/internal/regexp"

// netlinkOverrun finds programs that lost the kernel's notices of routes, neighbours and interfaces (ENOBUFS of a netlink
// socket), as keepalived, FRR, BIRD and the Go libraries say it.
func netlinkOverrun() Rule {
	return Rule{
		ID: "netlink-overrun", Title: "A program missed netlink notifications (routes, neighbours, links)", Systems: onLinux(),
		Needs: []string{"messages"}, Severity: Warning, Settings: []string{"net.core.rmem_default"},
		Because: "Notifications wait in the receive buffer of a netlink socket. Those that do not fit are lost, and the " +
			"program acts on stale state: routes or overlay network entries are updated late or never.",
		Confirm: "ss -f netlink -m shows a drop count (d) that grows for this program.",
		Check: func(in Input) []Finding {
			lines, n := matching(in.Facts, netlinkLost)
			if n == 0 {
				return nil
			}
			found := do("give its netlink socket a larger buffer (keepalived: vrrp_netlink_monitor_rcv_bufs; zebra: -s BYTES; conntrackd: NetlinkBufferSize; "+
				"programs that set none use net.core.rmem_default), and give the program more CPU time",
				one("netlink", lines, "its netlink receive buffer overflowed (%s)", counted(n, "line")))
			const once = 1
			if n == once {
				found = decisive(with(Info, found))
			}
			return found
		},
		Fires: linuxExample("dmesg", "Mar 02 21:36:58 a fl[9]: Failed to receive from netlink: no buffer space available\n"+
			"Mar 02 21:36:59 a fl[9]: Failed to receive from netlink: no buffer space available\n"),
		Quiet: linuxExample("dmesg", "[ 2.1] audit: initializing netlink subsys (disabled)\n"),
	}
}

var netlinkLost = regexp.MustCompile(`(?i)\bnetlink\S*:? .*(?:no buffer space|\boverrun)|netlink.*ENOBUFS|` +
	`kernel dropped some netlink messages|kernel dropped events\b|we have hit ENOBUFS|unable to dump conntrack: no buffer space|` +
	`netlink receive failure: out of memory`) // libnl tells ENOBUFS so (lib/error.c)
