package plan

import "github.com/wirerate/wirerate/internal/catalog"

// rewrites are the settings that a kernel itself rewrites when another one is
// written, with the function that does it. A * stands for every interface, all
// and default.
var rewrites = map[catalog.System]map[string][]string{catalog.Linux: {
	// net/ipv4/devinet.c, inet_forward_change
	"net.ipv4.ip_forward": {"net.ipv4.conf.*.forwarding", "net.ipv4.conf.all.accept_redirects"},
	"net.ipv4.conf.all.forwarding": {"net.ipv4.ip_forward", "net.ipv4.conf.*.forwarding",
		"net.ipv4.conf.all.accept_redirects"},
	// net/ipv6/addrconf.c, addrconf_fixup_forwarding, addrconf_disable_ipv6
	"net.ipv6.conf.all.forwarding":   {"net.ipv6.conf.*.forwarding"},
	"net.ipv6.conf.all.disable_ipv6": {"net.ipv6.conf.*.disable_ipv6"},
	// net/ipv4/tcp_cong.c, tcp_set_default_congestion_control: the default
	// may then be chosen by everyone
	"net.ipv4.tcp_congestion_control": {"net.ipv4.tcp_allowed_congestion_control"},
	// mm/page-writeback.c, dirty_bytes_handler and its fellows: of a pair
	// one is 0
	"vm.dirty_bytes":            {"vm.dirty_ratio"},
	"vm.dirty_ratio":            {"vm.dirty_bytes"},
	"vm.dirty_background_bytes": {"vm.dirty_background_ratio"},
	"vm.dirty_background_ratio": {"vm.dirty_background_bytes"},
	// kernel/watchdog.c, proc_watchdog_update
	"kernel.watchdog": {"kernel.nmi_watchdog", "kernel.soft_watchdog"},
}, catalog.FreeBSD: {
	// sys/netinet/ip_reass.c, ipreass_zone_change; sys/netinet6/frag6.c,
	// frag6_change
	"kern.ipc.nmbclusters": {"net.inet.ip.maxfrags", "net.inet.ip.maxfragpackets", "net.inet6.ip6.maxfrags",
		"net.inet6.ip6.maxfragpackets"},
}}

// Rewrites lists the settings that the kernel rewrites when this one is
// written: they are written after it, and taken back with it.
func Rewrites(system catalog.System, setting string) []string {
	return rewrites[system][setting]
}
