package lint

import "testing"

// The interfaces of netplan are judged beside each other.
func TestNetplanTogether(t *testing.T) {
	const path = "/etc/netplan/40-lan.yaml"
	const head = "network:\n  version: 2\n  ethernets:\n    ena: {}\n    enb:\n      mtu: 1500\n"
	c := load(t)
	for _, tt := range []struct{ name, text, want string }{
		{"whole", "  bonds:\n    up:\n      mtu: 1500\n      interfaces: [ena, enb]\n      parameters:\n        mode: 802.3ad\n" +
			"        transmit-hash-policy: layer3+4\n  vlans:\n    v3:\n      id: 3\n      link: up\n      mtu: 1500\n      addresses:\n      - 192.0.2.7/24\n", ""},
		{"a name too many", "  bridges:\n    br3:\n      interfaces: [ena, enc]\n", path + ":9:25 needs warning\n"},
		{"a small member", "  bonds:\n    up:\n      mtu: 9000\n      interfaces:\n        - enb\n", path + ":6:12 conflict warning\n"},
		{"a large VLAN", "  vlans:\n    v3:\n      id: 3\n      mtu: 9000\n      link: enb\n", path + ":10:12 conflict warning\n"},
		{"nothing looks", "  bonds:\n    up:\n      interfaces: [ena]\n      parameters:\n        mode: active-backup\n",
			path + ":11:15 needs warning\n"},
		{"by MAC addresses", "  bonds:\n    up:\n      interfaces: [ena]\n      parameters:\n        mode: 802.3ad\n", path + ":11:15 needs info\n"},
		{"a member with addresses", "      addresses: [192.0.2.9/24, 192.0.2.8/24]\n  bridges:\n    br3:\n      interfaces: [enb]\n", path + ":7:19 conflict warning\n"},
		{"a member with DHCP", "      dhcp4: yes\n  bridges:\n    br3:\n      interfaces: [enb]\n", path + ":7:14 conflict warning\n"},
		{"a member without", "      dhcp4: false\n  bridges:\n    br3:\n      dhcp4: true\n      interfaces: [enb]\n", ""},
		{"ARP looks", "  bonds:\n    up:\n      parameters:\n        mode: active-backup\n        arp-interval: 500\n", ""},
		{"two gateways", "      gateway4: 192.0.2.1\n    enc:\n      routes:\n      - to: default\n        via: 192.0.2.2\n",
			path + ":7:7 renamed warning\n" + path + ":10:9 conflict warning\n"},
		{"of two metrics", "      routes:\n      - to: default\n        via: 192.0.2.1\n    enc:\n      routes:\n" +
			"      - to: default\n        via: 192.0.2.2\n        metric: 900\n      - to: default\n        via: 2001:db8::1\n", ""},
		{"a gateway of another network", "      addresses: [10.0.0.5/24]\n      routes:\n      - to: 10.9.0.0/16\n        via: 10.0.1.1\n",
			path + ":10:14 conflict warning\n"},
		{"a gateway on the link", "      addresses: [10.0.0.5/24]\n      routes:\n      - to: default\n        via: 10.0.1.1\n        on-link: true\n", ""},
		{"a gateway to which NetworkManager adds a route", "      renderer: NetworkManager\n      addresses: [10.0.0.5/24]\n      routes:\n      - to: default\n        via: 10.0.1.1\n", ""},
		{"a gateway by DHCP's network", "      dhcp4: true\n      addresses: [10.0.0.5/24]\n      routes:\n      - to: default\n        via: 10.0.1.1\n", ""},
		{"a gateway of a second network", "      addresses: [10.0.0.5/24, 10.0.1.5/24]\n      routes:\n      - to: default\n        via: 10.0.1.1\n", ""},
		{"no prefix", "      addresses: [192.0.2.7]\n", path + ":7:19 bad-value error\n"},
		{"a tab", "\tgateway4: 192.0.2.1\n", path + ":7:1 syntax warning\n"},
	} {
		if got := list(Run(c, files(path, head+tt.text), Options{Ignore: []string{"same-as-default"}})); got != tt.want {
			t.Errorf("%s: got\n%swant\n%s", tt.name, got, tt.want)
		}
	}
}
