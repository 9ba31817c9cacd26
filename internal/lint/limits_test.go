package lint

import (
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/catalog"
)

// TestLimits judges lines of limits.conf, by themselves and with others.
func TestLimits(t *testing.T) {
	const path = "/etc/security/limits.conf"
	c := load(t)
	for _, tt := range []struct{ name, text, want string }{
		{"a misspelt item", "* soft noproc 65535\n", path + ":1:1 unknown-key warning\n"},
		{"no type", "* sft nproc 65535\n", path + ":1:1 bad-value warning\n"},
		{"no number", "* soft nproc 64k\n", path + ":1:14 bad-value warning\n"},
		{"too few words", "* soft nproc\n", path + ":1:1 syntax warning\n"},
		{"an item without effect", "* hard rss 10000\n", path + ":1:1 no-effect info\n"},
		{"more than the kernel allows", "* hard nofile 2000000\n", path + ":1:1 needs info\n" + path + ":1:15 harmful warning\n"},
		{"as many as the kernel allows", "* - nofile 1048576\n", path + ":1:1 needs info\n"},
		{"all", "* - nofile unlimited\n* - memlock unlimited\n", ""},
		{"less than systemd's", "www hard nofile 65536\n", path + ":1:1 needs info\n" + path + ":1:17 below-default info\n"},
		{"soft above hard", "a soft nproc 100\na hard nproc 50\nb soft nproc 200\n", path + ":1:14 no-effect info\n"},
		{"few processes", "* hard nproc 1024\nftp hard nproc 10\n", path + ":1:14 below-default info\n"},
		{"usual lines", "* hard core 0\n@audio - rtprio 95\nroot - chroot /x\na - maxlogins -\n", ""},
	} {
		res := Run(c, files(path, tt.text), Options{System: catalog.Linux, Version: "6.12"})
		if got := list(res); got != tt.want {
			t.Errorf("%s: got\n%swant\n%s", tt.name, got, tt.want)
		}
	}
	res := Run(c, files("set.sh", "#!/bin/sh\nsysctl -w fs.nr_open=4000000\necho '* hard nofile 2000000' >> /etc/security/limits.conf\n"),
		Options{System: catalog.Linux, Version: "6.12"})
	if got := list(res); strings.Contains(got, "harmful") {
		t.Errorf("a raised bound: %s", got)
	}
}

// TestStanzas judges the stanzas of ifupdown's interfaces.
func TestStanzas(t *testing.T) {
	const path = "/etc/network/interfaces"
	c := load(t)
	for _, tt := range []struct{ name, text, want string }{
		{"an address that DHCP gives", "iface eth0 inet dhcp\n address 192.0.2.1\n netmask 255.255.255.0\n", path + ":2:2 no-effect warning\n"},
		{"an address", "iface eth0 inet static\n address 192.0.2.1/24\n", ""},
		{"a port with an address", "iface eno1 inet dhcp\niface br0 inet dhcp\n bridge_ports eno1 eno2\n", path + ":1:17 conflict warning\n"},
		{"a port", "iface eno1 inet manual\niface br0 inet static\n address 192.0.2.1/24\n bridge-ports eno1\n", ""},
		{"a placeholder", "iface eth0 inet static\n address <IP>\n", path + ":2:10 bad-value error\n"},
		{"a bond by MAC addresses", "iface bond0 inet manual\n bond-mode 4\n bond-slaves a b\n", path + ":2:12 needs info\n"},
		{"an option without its prefix", "iface bond0 inet manual\n bond-mode 1\n ad_select bandwidth\n", path + ":3:2 no-effect warning\n"},
		{"options of no bond", "iface eth0 inet manual\n miimon 100\n", ""},
		{"a bond by ports", "iface bond0 inet manual\n bond-mode 802.3ad\n bond-xmit-hash-policy layer3+4\n", ""},
		{"two families", "iface eth0 inet dhcp\niface eth0 inet6 static\n address 2001:db8::1/64\n", ""},
	} {
		res := Run(c, files(path, tt.text), Options{System: catalog.Linux, Version: "6.12"})
		if got := list(res); got != tt.want {
			t.Errorf("%s: got\n%swant\n%s", tt.name, got, tt.want)
		}
	}
}
