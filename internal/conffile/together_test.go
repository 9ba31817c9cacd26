package conffile

import (
	"strings"
	"testing"
)

// TestRulesTogether holds what is judged of all commands of a firewall's or a shaper's text: each case says what is found, or that
// nothing is.
func TestRulesTogether(t *testing.T) {
	const (
		clear  = "iptables -F\niptables -X\niptables -t nat -F\n"
		htb    = "tc qdisc add dev eth0 root handle 1: htb default 20\ntc class add dev eth0 parent 1: classid 1:1 htb rate 9mbit\n"
		leaves = "tc class add dev eth0 parent 1:1 classid 1:10 htb rate 4mbit ceil 9mbit\ntc class add dev eth0 parent 1:1 classid 1:20 htb rate 5mbit\n"
		to10   = "tc filter add dev eth0 parent 1: protocol ip u32 match ip dport 22 0xffff flowid 1:10\n"
		fw     = "tc filter add dev eth0 parent 1: protocol ip handle 1 fw flowid 1:10\n"
		mark   = "iptables -t mangle -A POSTROUTING -p udp -j MARK --set-mark "
	)
	for _, tt := range []struct{ text, want string }{
		{"iptables -t nat -A POSTROUTING -j MASQUERADE", "MASQUERADE without -o"},
		{"iptables -A FORWARD -p tcp -j TCPMSS --clamp-mss-to-pmtu", "TCPMSS needs --tcp-flags"},
		{"iptables -A FORWARD -p tcp --syn -j TCPMSS --clamp-mss-to-pmtu", ""},
		{"iptables -A FORWARD -p tcp $SYN -j TCPMSS --clamp-mss-to-pmtu", ""},
		{"iptables -t nat -A POSTROUTING -o eth0 -j MASQUERADE", ""},
		{"iptables -t nat -A POSTROUTING -s 10.8.0.0/24 -j MASQUERADE", ""},
		{"iptables -t nat -A POSTROUTING -m policy --pol none --dir out -j MASQUERADE", ""},
		{"iptables -t nat -A POSTROUTING -d 10.0.0.0/8 -j RETURN\niptables -t nat -A POSTROUTING -j MASQUERADE", ""},
		{"iptables -t nat -D POSTROUTING -j MASQUERADE", ""},
		{"iptables -A INPUT -s 192.168.7.0 -j ACCEPT", "192.168.7.0 without a mask"},
		{"iptables -A INPUT -s 192.168.7.0/24 -j ACCEPT", ""},
		{"iptables -A INPUT -s 192.168.7.1 -j ACCEPT", ""},
		{"iptables -A INPUT -s $LAN -j ACCEPT", ""},
		{"iptables -F\niptables -t nat -A POSTROUTING -o eth0 -j MASQUERADE", "-F without -t nat leaves the rules of nat"},
		{clear + "iptables -t nat -A POSTROUTING -o eth0 -j MASQUERADE", ""},
		{"iptables -F\niptables --table nat --flush\niptables -t nat -A POSTROUTING -o eth0 -j MASQUERADE", ""},
		{"iptables -F INPUT\niptables -t nat -A POSTROUTING -o eth0 -j MASQUERADE", ""},
		{"iptables -F\niptables -t nat -D POSTROUTING -o eth0 -j MASQUERADE\niptables -t nat -A POSTROUTING -o eth0 -j MASQUERADE", ""},
		{"for t in filter nat; do iptables -t $t -F; done\niptables -F\niptables -t nat -A POSTROUTING -o eth0 -j MASQUERADE", ""},
		{"iptables -N SCAN\niptables -A SCAN -j DROP", "no rule leads to the chain SCAN"},
		{"iptables -N SCAN\niptables -A SCAN -j DROP\n# iptables -A INPUT -j SCAN", "no rule leads to the chain SCAN"},
		{"iptables --new-chain SCAN\niptables --append SCAN --jump DROP", "no rule leads to the chain SCAN"},
		{"iptables -N SCAN\niptables -A SCAN -j DROP\niptables -A INPUT -p tcp -j SCAN", ""},
		{"iptables -N SCAN\niptables -A SCAN -j DROP\niptables -A INPUT -g SCAN", ""},
		{"iptables -N SCAN\niptables -A SCAN -j DROP\niptables -A INPUT -j $CHAIN", ""},
		{"iptables -N SCAN\niptables -A SCAN -j DROP\nload_rules SCAN", ""},
		{"iptables -N SCAN", ""},
		{"iptables -N LOGD\niptables -A INPUT -j LOGD\niptables -A LOGD -j DROP\niptables -A INPUT -p tcp --dport 22 -j ACCEPT", "the chain LOGD, to which line 2"},
		{"iptables -N LOGD\niptables -A INPUT -p udp -j LOGD\niptables -A LOGD -j DROP\niptables -A INPUT -p tcp --dport 22 -j ACCEPT", ""},
		{"iptables -N LOGD\niptables -A INPUT -j LOGD\niptables -A LOGD -s 10.0.0.0/8 -j RETURN\niptables -A LOGD -j DROP\niptables -A INPUT -p tcp -j ACCEPT", ""},
		{"iptables -N LOGD\niptables -A INPUT -j LOGD\niptables -A LOGD -p udp -j DROP\niptables -A INPUT -p tcp --dport 22 -j ACCEPT", ""},
		{"iptables -N LOGD\niptables -A INPUT -j LOGD\niptables -A LOGD -j DROP\niptables -I INPUT -p tcp --dport 22 -j ACCEPT", ""},
		{"iptables -N LOGD\niptables -A INPUT -j LOGD\niptables -A LOGD -j DROP\nip6tables -A INPUT -p tcp --dport 22 -j ACCEPT", ""},
		{"iptables -t mangle -N LOGD\niptables -A INPUT -j LOGD\niptables -t mangle -A LOGD -j DROP\niptables -A INPUT -p tcp --dport 22 -j ACCEPT", ""},
		{"iptables -N LOGD\nif x; then iptables -A INPUT -j LOGD; fi\niptables -A LOGD -j DROP\niptables -A INPUT -p tcp --dport 22 -j ACCEPT", ""},
		{"iptables -N LOGD\niptables -A INPUT -j LOGD\niptables -A LOGD -j DROP\niptables -F\niptables -A INPUT -p tcp --dport 22 -j ACCEPT", ""},

		{htb + leaves + to10, ""},
		{htb + leaves + to10 + "tc filter add dev eth0 parent 1: protocol ip u32 match ip dport 80 0xffff flowid 1:30", "no command makes the class 1:30"},
		{htb + leaves + to10 + "tc filter add dev eth0 parent 1: protocol ip u32 match ip dport 80 0xffff flowid 1:$n", ""},
		{htb + leaves + to10 + "tc qdisc add dev eth0 parent 1:30 handle 30: sfq", "no command makes the class 1:30"},
		{htb + leaves + to10 + "tc qdisc add dev eth0 parent 1:20 handle 30: sfq", ""},
		{htb + leaves + to10 + "for n in 30 40; do tc class add dev eth0 parent 1:1 classid 1:$n htb rate 1mbit; done\ntc qdisc add dev eth0 parent 1:30 handle 30: sfq", ""},
		{htb + leaves + to10 + "tc filter add dev eth1 parent 1: protocol ip u32 match ip dport 80 0xffff flowid 1:30", ""},
		{"tc qdisc add dev eth0 root handle 1: prio\ntc filter add dev eth0 parent 1: protocol ip u32 match ip dport 22 0xffff flowid 1:1", ""},
		{htb + leaves + "tc filter add dev eth0 parent 1: protocol ip u32 match ip dport 22 0xffff flowid 1:20", "no filter leads to the class 1:10"},
		{htb + leaves, ""}, // another script may have the filters
		{htb + leaves + "tc filter add dev eth0 parent 1: protocol ip u32 match ip dport 22 0xffff flowid 1:20\niptables -t mangle -A OUTPUT -j CLASSIFY --set-class 1:10", ""},
		{htb + leaves + "tc filter add dev eth0 parent 1: handle 1 cgroup", ""},
		{htb + leaves + to10 + "tc filter add dev eth0 parent 1: protocol ip u32 match ip sport 53 0xff flowid 1:10", "one port in 256"},
		{htb + leaves + to10 + "tc filter add dev eth0 parent 1: protocol ip u32 match ip sport 1024 0xfc00 flowid 1:10", ""},
		{htb + leaves + to10 + "tc filter add dev eth0 parent 1: protocol ip u32 match ip tos 0x10 0xff flowid 1:10", ""},

		{htb + leaves + fw + mark + "1\n" + mark + "2", "no filter of tc takes the mark 2"},
		{htb + leaves + fw + mark + "0x1", ""},
		{htb + leaves + fw + mark + "2", ""}, // nothing here pairs them
		{htb + leaves + fw + mark + "1\n" + mark + "2\nip rule add fwmark 2 table 7", ""},
		{htb + leaves + fw + mark + "1\n" + mark + "$MARK", ""},
		{htb + leaves + fw + mark + "1\niptables -t mangle -A OUTPUT -j MARK --set-xmark 0x4/0x4", ""},
	} {
		got := ""
		if err := Scan(Script, Linux, "fw.sh", tt.text+"\n", func(Entry) bool { return true }, func(r Reject) {
			got += r.Reason + "; "
			if r.Line < 1 || r.Span.End > len(tt.text) || r.Span.Start >= r.Span.End {
				t.Errorf("%s: %+v", tt.text, r)
			}
		}); err != nil {
			t.Fatal(err)
		}
		if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%s:\ngot %q, want %q", tt.text, got, tt.want)
		}
	}
}
