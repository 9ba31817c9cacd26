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
		{"soft above hard", "a soft nproc 100\na hard nproc 50\nb soft nproc 200\n", path + ":1:14 no-effect warning\n"},
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

// TestServices judges the limits in units of systemd.
func TestServices(t *testing.T) {
	const path = "/etc/systemd/system/a.service.d/b.conf"
	c := load(t)
	for _, tt := range []struct{ name, text, want string }{
		{"a usual limit", "[Service]\nLimitNOFILE=65536\n", ""},
		{"soft and hard", "[Service]\nLimitNOFILE=1024:524288\n", ""},
		{"misspelt", "[Service]\nLimitNOFile=65536\n", path + ":2:1 unknown-key warning\n"},
		{"none of systemd's", "[Service]\nLimitFILES=65536\n", path + ":2:1 unknown-key warning\n"},
		{"no number", "[Service]\nLimitNOFILE=64k\n", path + ":2:13 bad-value warning\n"},
		{"unlimited as in a shell", "[Service]\nLimitNOFILE=unlimited\n", path + ":2:13 bad-value warning\n"},
		{"soft above hard", "[Service]\nLimitNOFILE=2000:1000\n", path + ":2:13 bad-value warning\n"},
		{"fewer than without", "[Service]\nLimitNOFILE=512\n", path + ":2:13 below-default warning\n"},
		{"all", "[Service]\nLimitNOFILE=infinity\nLimitMEMLOCK=infinity\n", path + ":2:13 harmful info\n"},
		{"of all units", "[Manager]\nDefaultLimitNOFILE=100\n", path + ":2:20 below-default warning\n"},
		{"a command", "[Service]\nExecStartPre=sysctl -w net.ipv4.tcp_tw_recycle=1\n", path + ":2:24 removed warning\n"},
	} {
		res := Run(c, files(path, tt.text), Options{System: catalog.Linux, Version: "6.12"})
		if got := list(res); got != tt.want {
			t.Errorf("%s: got\n%swant\n%s", tt.name, got, tt.want)
		}
	}
}

// TestOther judges settings in files of other programs, of which nothing is corrected.
func TestOther(t *testing.T) {
	c := load(t)
	for _, tt := range []struct{ name, path, text, want string }{
		{"nix", "a.nix", "{\n  \"net.ipv4.tcp_tw_recycle\" = 1;\n  \"net.ipv4.tcp_fin_timout\" = 1;\n  \"kernel.foo\" = 1;\n}\n",
			"a.nix:2:4 removed warning\na.nix:3:4 unknown-key warning\n"},
		{"a refused value", "a.nix", "  \"net.ipv4.ip_local_port_range\" = \"10000 650\";\n", "a.nix:1:37 bad-value warning\n"},
		{"a value of the language", "a.nix", "  \"net.core.rmem_max\" = cfg.x + (1);\n", ""},
		{"a block of YAML", "a.yml", "- content: |\n    net.core.somaxconn = 8192\n    net.core.somaxconn = 8193\n" +
			"- content: |\n    net.core.somaxconn = 8194\n", "a.yml:2:5 duplicate warning\na.yml:2:26 needs info\na.yml:3:26 needs info\na.yml:5:26 needs info\n"},
		{"words of tc", "a.sh", "tc qdisc add dev a root fqcodel\ntc qdisc add dev a root sprout\ntc qdisc add dev a root htb\n" +
			"tc qdisc add dev a root fq_codel limit 50\n",
			"a.sh:1:25 bad-value error\na.sh:2:25 bad-value warning\na.sh:4:40 below-default warning\n"},
		{"set twice in a row", "a.sh", "sysctl -w net.ipv4.tcp_sack=0\n# c\nsysctl -w net.core.netdev_max_backlog=2000\n" +
			"sudo sysctl -w net.ipv4.tcp_sack=1\n",
			"a.sh:1:11 duplicate warning\na.sh:1:29 harmful warning\na.sh:4:34 same-as-default info\n"},
		{"set, used, set", "a.sh", "sysctl -w net.ipv4.tcp_sack=0\niperf3 -c h\nsysctl -w net.ipv4.tcp_sack=1\n",
			"a.sh:1:29 harmful warning\na.sh:3:29 same-as-default info\n"},
		{"a default class", "a.sh", "tc qdisc add dev a root handle 1: htb default 0x12\ntc class add dev a parent 1: classid 1:1 htb rate 10mbps\n" +
			"tc class add dev a parent 1:1 classid 1:12 htb rate 10mbit ceil 20mbit\n", "a.sh:2:51 wrong-unit warning\n"},
		{"a default class with classes", "a.sh", "tc qdisc add dev a root handle 1: htb default 1\ntc class add dev a parent 1: classid 1:1 htb rate 5mbit\n" +
			"tc class add dev a parent 1:1 classid 1:20 htb rate 3mbit\n", "a.sh:1:47 conflict warning\n"},
		{"rates above the parent", "a.sh", "tc qdisc add dev a root handle 1: htb default 20\ntc class add dev a parent 1: classid 1:1 htb rate 5mbit\n" +
			"tc class add dev a parent 1:1 classid 1:20 htb rate 3mbit\ntc class add dev a parent 1:1 classid 1:30 htb rate 3mbit ceil 6mbit\n",
			"a.sh:2:46 conflict warning\na.sh:4:64 no-effect info\n"},
		{"rates of one parent", "a.sh", "tc qdisc add dev a root handle 1: htb default 20\ntc class add dev a parent 1: classid 1:1 htb rate 5mbit\n" +
			"tc class add dev a parent 1:1 classid 1:20 htb rate 3mbit ceil 5mbit\ntc class add dev a parent 1:1 classid 1:30 htb rate 2mbit ceil 5mbit\n", ""},
		{"one of two rates", "a.sh", "tc qdisc add dev a root handle 1: htb default 20\ntc class add dev a parent 1: classid 1:1 htb rate 5mbit\n" + "if [ $1 ]; then\n" +
			"tc class add dev a parent 1:1 classid 1:20 htb rate 3mbit\nelse\ntc class add dev a parent 1:1 classid 1:20 htb rate 4mbit\nfi\n", ""},
		{"no default class", "a.sh", "tc qdisc add dev a root handle 1: htb default 12\ntc class add dev a parent 1: classid 1:1 htb rate 1mbit\n",
			"a.sh:1:47 conflict warning\n"},
		{"classes of a loop", "a.sh", "tc qdisc add dev a root handle 1: htb default 12\n" +
			"tc class add dev a parent 1: classid 1:$i htb rate 1mbit\n", ""},
		{"the MTU of lo", "a.sh", "ip link set lo mtu 1500\n", ""},
	} {
		res := Run(c, files(tt.path, tt.text), Options{System: catalog.Linux, Version: "6.12"})
		if got := list(res); got != tt.want {
			t.Errorf("%s: got\n%swant\n%s", tt.name, got, tt.want)
		}
		for _, p := range res.Problems {
			if p.Fix != nil && !strings.HasSuffix(tt.path, ".sh") {
				t.Errorf("%s: a correction of %s", tt.name, p.Key)
			}
		}
	}
}

// TestStanzas judges the stanzas of ifupdown's interfaces.
func TestStanzas(t *testing.T) {
	const path = "/etc/network/interfaces"
	c := load(t)
	for _, tt := range []struct{ name, text, want string }{
		{"a gateway of another network", "iface eth0 inet static\n address 10.4.0.9\n netmask 255.255.255.0\n gateway 10.4.1.1\n",
			path + ":4:10 conflict warning\n"},
		{"a gateway of the network", "iface eth0 inet static\n address 10.4.0.9\n netmask 255.255.254.0\n gateway 10.4.1.1\n", ""},
		{"a gateway that a route leads to", "iface eth0 inet static\n address 10.4.0.9/24\n gateway 10.5.0.1\n up ip route add 10.5.0.1 dev eth0\n", ""},
		{"a gateway beside a single address", "iface eth0 inet static\n address 10.4.0.9/32\n gateway 10.5.0.1\n", ""},
		{"an address that DHCP gives", "iface eth0 inet dhcp\n address 192.0.2.1\n netmask 255.255.255.0\n", path + ":2:2 no-effect warning\n"},
		{"an address", "iface eth0 inet static\n address 192.0.2.1/24\n", ""},
		{"a port with an address", "iface eno1 inet dhcp\niface br0 inet dhcp\n bridge_ports eno1 eno2\n", path + ":1:17 conflict warning\n"},
		{"a member with an address", "iface eno1 inet static\n address 192.0.2.9/24\niface bond0 inet manual\n bond-slaves eno1 eno2\n", path + ":1:17 conflict warning\n"},
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
