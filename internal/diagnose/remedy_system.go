package diagnose

import (
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/system"
)

// toolNames are tools as remedies and confirmations name them, for several systems at once or for Linux alone, and as each
// system has them; empty where the words stay as they are.
var toolNames = []struct{ said, linux, freebsd, openbsd string }{
	{"(Linux: xmit_hash_policy layer3+4; FreeBSD: lagghash l2,l3,l4)", "(ip link set NAME type bond xmit_hash_policy layer3+4)",
		"(ifconfig NAME lagghash l2,l3,l4)", ""},
	{"(FreeBSD: setkey -D; OpenBSD: ipsecctl -ss)", "(ip -s xfrm state)", "(setkey -D)", "(ipsecctl -s sa)"},
	{"(Linux: net.ipv4.tcp_rmem; FreeBSD: net.inet.tcp.recvbuf_max)", "(net.ipv4.tcp_rmem)", "(net.inet.tcp.recvbuf_max)", ""},
	{"(Linux: ethtool NAME; FreeBSD, OpenBSD: ifconfig NAME)", "(ethtool NAME)", "(ifconfig NAME)", "(ifconfig NAME)"},
	{"SERVER (FreeBSD: ping -D -s 1472; through a tunnel", "SERVER (through a tunnel", "SERVER (through a tunnel",
		"SERVER (through a tunnel"},
	{"ss -ltn or netstat -Lan", "ss -ltn", "netstat -Lan", ""},
	{"ss -ltn (netstat -Lan)", "ss -ltn", "netstat -Lan", ""},
	{"ss -ti, netstat -s -p tcp", "ss -ti, nstat TcpRetransSegs", "netstat -s -p tcp", "netstat -s -p tcp"},
	{"ss -ti or netstat shows", "ss -ti shows", "netstat -T shows", "tcpdump shows"},
	{"(ss -ti, ping -M do -s", "", "(netstat -s -p tcp, ping -D -s", "(netstat -s -p tcp, ping -D -s"},
	{"ss -s (netstat -an)", "ss -s", "netstat -an", "netstat -an"},
	{"(ss -tnp state close-wait, sockstat)", "(ss -tnp state close-wait)", "(sockstat)", "(fstat)"},
	{"(nstat TcpRetransSegs, netstat -sp tcp)", "(nstat TcpRetransSegs)", "(netstat -s -p tcp)", "(netstat -s -p tcp)"},
	{"nstat -az TcpRetransSegs", "", "netstat -s -p tcp", "netstat -s -p tcp"},
	{"(/proc/net/xfrm_stat, netstat -s)", "(/proc/net/xfrm_stat)", "(netstat -s)", "(netstat -s)"},
	{"(ethtool, ifconfig)", "(ethtool)", "(ifconfig)", "(ifconfig)"},
	{"ethtool -S NAME on both ends", "", "netstat -id (on Linux ethtool -S NAME) on both ends",
		"netstat -id (on Linux ethtool -S NAME) on both ends"},
	{"iw dev NAME link (BSD: ifconfig) shows", "iw dev NAME link shows", "ifconfig shows", "ifconfig shows"},
	{"(ip link, ping -M do -s", "", "(ifconfig, ping -D -s", "(ifconfig, ping -D -s"},
	{"ping -M do -s", "", "ping -D -s", "ping -D -s"},
	{"top -SH (FreeBSD) or mpstat -P ALL 1", "mpstat -P ALL 1", "top -SHP", "systat cpu"},
	{"WireGuard, or OpenVPN 2.6 with data channel offload (ovpn-dco)", "",
		"WireGuard, or OpenVPN 2.6 with if_ovpn of FreeBSD 14", "WireGuard (wg)"},
	{"(in the BIOS; on Linux pcie_aspm=off on the kernel command line)", "(pcie_aspm=off on the kernel command line)",
		"(in the BIOS)", "(in the BIOS)"},
	{"(Linux: /proc/interrupts; FreeBSD: vmstat -ia)", "(/proc/interrupts)", "(vmstat -ia)", "(vmstat -iz)"},
	{"top -SH shows the same", "top -H shows the same", "", ""},
	{"ip route get ADDRESS; BSD: route -n get ADDRESS", "ip route get ADDRESS", "route -n get ADDRESS",
		"route -n get ADDRESS"},
	{"ip route get PEER shows whether the MTU was learned (cache ... mtu) or is the interface's", "",
		"route -n get PEER shows the MTU of the route, ifconfig those of the interfaces",
		"route -n get PEER shows the MTU of the route, ifconfig those of the interfaces"},
	{"ip route add NETWORK via ", "", "route add -net NETWORK ", "route add -net NETWORK "},
	{"ip route get ADDRESS shows the wrong gateway; after ip route flush cache the first packet is redirected again", "",
		"route -n get ADDRESS shows the wrong gateway", "route -n get ADDRESS shows the wrong gateway"},
	{"(LimitNOFILE=65536 in the unit, ", "", `(NAME_limits="-n 65536" in /etc/rc.conf, `,
		"(openfiles=65536 of the daemon's class in /etc/login.conf, "},
	{"fs.file-max for the whole host", "", "kern.maxfilesperproc per process and kern.maxfiles for the whole host",
		"kern.maxfiles for the whole host"},
	{"(dmesg and ethtool -i NAME show the versions)", "", "(dmesg shows the versions)",
		"(dmesg shows the versions, fw_update fetches firmware)"},
	{"(FreeBSD: sysctl net.inet.carp.demotion; OpenBSD: ifconfig -g carp)", "", "(sysctl net.inet.carp.demotion)",
		"(ifconfig -g carp)"},
	{"lspci (FreeBSD: pciconf -lv; OpenBSD: pcidump)", "lspci", "pciconf -lv", "pcidump"},
	{"iw dev NAME station dump shows many tx retries and failures, or a weak signal", "",
		"ifconfig NAME list sta shows a weak signal (RSSI)", "ifconfig NAME shows a weak signal"},
	{"(ethtool -m NAME there: laser output power)", "", "(ifconfig -v NAME there)", "(ifconfig NAME sff there)"},
	{"ls /proc/PID/fd | wc -l", "", "procstat -f PID | wc -l", "fstat -p PID | wc -l"},
}

// macTools are what macOS has in place of tools of FreeBSD that it lacks; kernel settings below dev. are FreeBSD's alone.
var macTools = []string{"sockstat -l -p ", "lsof -nP -iTCP:", "(sockstat)", "(lsof -nP -i)", "then sockstat", "then lsof -nP -i",
	"top -SHP", "top -o cpu", "top -SH", "top -o cpu", "procstat -f PID | wc -l", "lsof -p PID | wc -l"}

// nativeTools replaces the tools in the words of a finding by those of the system, or of a relative of it.
func nativeTools(on system.System, relative string) *strings.Replacer {
	var pairs []string
	if relative == "macOS" {
		pairs = slices.Clone(macTools)
	}
	for _, t := range toolNames {
		own := map[system.System]string{system.Linux: t.linux, system.FreeBSD: t.freebsd, system.OpenBSD: t.openbsd}[on]
		if relative == "macOS" {
			own = strings.NewReplacer(macTools...).Replace(own)
		}
		if own != "" {
			pairs = append(pairs, t.said, own)
		}
	}
	return strings.NewReplacer(pairs...)
}

// firewallPages are where the distributions of FreeBSD made for firewalls keep what their start writes to the files: the
// page, and what the switch or the field is called there.
var firewallPages = []struct{ distribution, setting, page, label string }{
	{"OPNsense", "ifconfig:lro", "Interfaces > Settings", "Hardware LRO: disable"},
	{"OPNsense", "ifconfig:tso", "Interfaces > Settings", "Hardware TSO: disable"},
	{"OPNsense", "pf:set/limit/states", "Firewall > Settings > Advanced", "Firewall Maximum States: "},
	{"OPNsense", "pf:set/limit/table-entries", "Firewall > Settings > Advanced", "Firewall Maximum Table Entries: "},
	{"pfSense", "ifconfig:lro", "System > Advanced > Networking", "Disable hardware large receive offload"},
	{"pfSense", "ifconfig:tso", "System > Advanced > Networking", "Disable hardware TCP segmentation offload"},
	{"pfSense", "pf:set/limit/states", "System > Advanced > Firewall & NAT", "Firewall Maximum States: "},
	{"pfSense", "pf:set/limit/table-entries", "System > Advanced > Firewall & NAT", "Firewall Maximum Table Entries: "},
}

// keptByFirewall is where a fix is kept on a firewall whose own configuration overwrites the files of FreeBSD.
func keptByFirewall(distribution string, f *Fix, value string) (file, line string) {
	for _, p := range firewallPages {
		if p.distribution != distribution || p.setting != strings.TrimRight(f.Setting, "46") {
			continue
		}
		if strings.HasSuffix(p.label, " ") {
			return p.page, p.label + value
		}
		return p.page, p.label
	}
	switch {
	case distribution == "OPNsense" && (f.File == "/etc/sysctl.conf" || f.File == "/boot/loader.conf"):
		return "System > Settings > Tunables", f.Setting + "=" + value
	case distribution == "pfSense" && f.File == "/etc/sysctl.conf":
		return "System > Advanced > System Tunables", f.Setting + "=" + value
	case distribution == "pfSense" && f.File == "/boot/loader.conf":
		return "/boot/loader.conf.local", f.Line
	}
	return f.File, f.Line
}
