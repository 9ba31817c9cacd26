package conffile

import "testing"

func TestNFTables(t *testing.T) {
	const open = "table inet filter {\n chain input {\n  type filter hook input priority 0; policy drop;\n"
	for _, tt := range []struct{ name, text, want string }{
		{"neither", open + "  tcp dport 22 accept\n }\n}\n", "3:38 nft:neighbours=dropped\n3:38 nft:icmp-errors=dropped\n"},
		{"errors alone", open + "  ct state established,related accept\n }\n}\n", "3:38 nft:neighbours=dropped\n"},
		{"both", open + "  ct state { established, related } accept\n  icmpv6 type { nd-neighbor-solicit } accept\n }\n}\n", ""},
		{"untracked", open + "  ct state established,related,untracked accept\n }\n}\n", ""},
		{"vmap", open + "  ct state vmap { established : accept, related : accept }\n  meta l4proto { icmp, ipv6-icmp } accept\n }\n}\n", ""},
		{"no IPv6", open + "  meta nfproto ipv6 drop\n  ct state related accept\n }\n}\n", ""},
		{"another chain", open + "  jump rest\n }\n chain rest { accept; }\n}\n", ""},
		{"IPv4 alone", "table ip filter { chain input { type filter hook input priority 0; policy drop; ct state related accept; }; }\n", ""},
		{"a last rule", "table ip6 f { chain input { type filter hook input priority 0\n ct state related accept\n counter drop\n} }\n", "3:2 nft:neighbours=dropped\n"},
		{"a rule against ICMP", open + "  ip protocol icmp drop\n  ct state related accept\n  icmpv6 type nd-neighbor-solicit accept\n }\n}\n", "4:3 nft:icmp-errors=dropped\n"},
		{"a rule behind related", open + "  ct state related accept\n  ip protocol icmp drop\n  ip6 nexthdr ipv6-icmp accept\n }\n}\n", ""},
		{"pings", open + "  icmp type echo-request drop\n  ct state related accept\n  meta l4proto icmpv6 accept\n }\n}\n", ""},
		{"accepting", "table inet filter {\n chain input {\n  type filter hook input priority 0;\n }\n}\n", ""},
		{"an output chain", "table inet filter {\n chain output {\n  type filter hook output priority 0; policy drop;\n }\n}\n", ""},
		{"an include", "include \"x.nft\"\n" + open + " }\n}\n", ""},
		{"commands", "add rule inet filter input drop\n" + open + " }\n}\n", ""},
		{"a template", open + "{% if a %}\n }\n}\n", ""},
		{"a set", "table inet f {\n set a { type ipv4_addr; elements = { 192.0.2.1,\n 192.0.2.2 } }\n}\n", ""},
		{"a flowtable", "table inet f {\n chain c { type filter hook forward priority 0; flow add @ft; }\n flowtable ft { hook ingress priority 0; devices = { lan0 }; }\n}\n", ""},
		{"no flowtable", "table inet f {\n flowtable ft { hook ingress priority 0; devices = { lan0 }; }\n chain c { type filter hook forward priority 0; flow add @fast; }\n}\n",
			"refused 3:58 \"@fast\"\n"},
		{"a flowtable of another file", "table inet f {\n chain c { type filter hook forward priority 0; flow add @ft; }\n}\n", ""},
		{"flows of another hook", "table ip f {\n flowtable ft { hook ingress priority 0; devices = { lan0 }; }\n chain c { type filter hook input priority 0; flow add @ft; }\n}\n",
			"refused 3:56 \"@ft\"\n"},
		{"an end", "table inet f {\n chain c {\n  accept\n  tcp dport 22 drop\n }\n}\n", "refused 4:3 \"tcp dport 22 drop\"\n"},
		{"an end with a reason", "table inet f {\n chain c {\n  counter packets 0 bytes 0 reject with icmp type host-prohibited\n  tcp dport 22 drop\n }\n}\n",
			"refused 4:3 \"tcp dport 22 drop\"\n"},
		{"no end", "table inet f {\n chain c {\n  iif lo accept\n  log prefix \"x\"\n  tcp dport 22 drop\n  accept\n }\n chain d { tcp dport 22 drop; }\n}\n", ""},
		{"a match decided twice", "table inet f {\n chain c {\n  meta l4proto udp counter accept\n  tcp dport 22 accept\n  meta l4proto udp drop\n }\n}\n",
			"refused 5:3 \"meta l4proto udp drop\"\n"},
		{"matches like others", "table inet f {\n chain c {\n  tcp dport != 22 accept\n  tcp dport 22 drop\n  udp dport { 1, 2 } accept\n  udp dport 1-2 drop\n" +
			"  tcp dport 80 limit rate 3/second accept\n  tcp dport 80 drop\n  meta mark 1 drop\n  meta mark 1 accept\n  iif lo accept\n  iif lo accept\n }\n" +
			" chain d { tcp dport 22 accept; }\n}\n", ""},
		{"a segment size for nobody", "table inet f {\n chain c {\n  ct state new,established accept\n  tcp flags syn tcp option maxseg size set rt mtu\n }\n}\n",
			"4:28 nft:mss=rt\nrefused 4:3 \"tcp flags syn tcp option maxseg size set rt mtu\"\n"},
		{"a segment size before", "table inet f {\n chain c {\n  tcp flags syn tcp option maxseg size set rt mtu\n  ct state new,established accept\n }\n}\n", "3:28 nft:mss=rt\n"},
		{"a segment size behind some", "table inet f {\n chain c {\n  iifname lan ct state new accept\n  ct state established accept\n  tcp flags syn tcp option maxseg size set rt mtu\n }\n}\n", "5:28 nft:mss=rt\n"},
		{"all masqueraded", "table ip n {\n chain p {\n  type nat hook postrouting priority 100\n  masquerade\n }\n}\n", "refused 4:3 \"masquerade\"\n"},
		{"some masqueraded", "table ip n {\n chain p {\n  type nat hook postrouting priority 100\n  ip daddr 10.0.0.0/8 return\n  masquerade\n }\n chain q { masquerade; }\n}\n", ""},
		{"one way masqueraded", "table ip n {\n chain p {\n  type nat hook postrouting priority 100\n  oifname wan masquerade\n }\n}\n", ""},
		{"broken", "}}}{{ ; table { chain { policy drop } }", ""},
	} {
		if got := show(t, NFTables, Linux, "/etc/nftables.conf", tt.text); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func FuzzNFTables(f *testing.F) {
	fuzzKind(f, NFTables, Linux, "/etc/nftables.conf",
		"table inet filter { chain input { type filter hook input priority 0; policy drop; ct state related accept; }; }",
		"table inet f {\n set a { elements = { 1,\n 2 } }\n chain c { ip protocol icmp drop\n} }\n")
}
