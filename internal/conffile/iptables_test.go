package conffile

import (
	"strconv"
	"strings"
	"testing"
)

// TestIptablesRules compares with what iptables 1.8.9 says to each rule.
func TestIptablesRules(t *testing.T) {
	for _, tt := range []struct{ rules, want string }{
		{"-t raw -A PREROUTING -p tcp -j REJECT", "REJECT works only in the table filter"},
		{"-A INPUT -p tcp -j REJECT --reject-with tcp-reset", ""},
		{"-A INPUT -o eth0 -j ACCEPT", "-o does not go with INPUT"},
		{"-A OUTPUT -i eth0 -j ACCEPT", "-i does not go with OUTPUT"},
		{"-A FORWARD -i eth0 -o eth1 -j ACCEPT", ""},
		{"-A INPUT --dport 22 -j ACCEPT", "--dport needs a protocol"},
		{"-A INPUT -p icmp --dport 22 -j ACCEPT", "--dport needs a protocol"},
		{"-A INPUT -p $PROTO --dport 22 -j ACCEPT", ""},
		{"-A INPUT $MATCH --dport 22 -j ACCEPT", ""},
		{"-A PREROUTING -j ACCEPT", "the table filter has no chain PREROUTING"},
		{"-A MINE -j ACCEPT", ""},
		{"-t nat -A FORWARD -j MASQUERADE", "the table nat has no chain FORWARD"},
		{"-t nat -A PREROUTING -j MASQUERADE", "MASQUERADE works only in the chain POSTROUTING"},
		{"-t nat -A PREROUTING -j DNAT --to-destination 192.0.2.1:80", "DNAT to a port needs a protocol"},
		{"-t nat -A PREROUTING -p tcp -j DNAT --to-destination 192.0.2.1:80", ""},
		{"-A FORWARD -j TCPMSS --set-mss 1400", "TCPMSS needs -p tcp"},
		{"-A FORWARD -p tcp --tcp-flags SYN,RST SYN -j TCPMSS --clamp-mss-to-pmtu", ""},
		{"-t mangle -A INPUT -p tcp --syn -j TCPMSS --clamp-mss-to-pmtu", "--clamp-mss-to-pmtu works only in"},
		{"-A INPUT -p gre -j REJECT --reject-with tcp-reset", "tcp-reset needs -p tcp"},
		{"-A INPUT -m state --state RELATED, ESTABLISHED -j ACCEPT", "the list ends at the blank: write RELATED,ESTABLISHED"},
		{"-A INPUT -p tcp -m multiport --dports 22, 80 -j ACCEPT", "the list ends at the blank"},
		{"-A INPUT -p tcp -m comment --comment \"a, b\" -j ACCEPT", ""},
		{"-A INPUT -m state NEW -j ACCEPT", "-m state needs --state before NEW"},
		{"-A INPUT -m state --state NEW -j ACCEPT", ""},
		{"-A INPUT -p tcp --state NEW -j ACCEPT", "--state needs -m state before it"},
		{"-A INPUT -p udp --syn -j DROP", "--syn needs -p tcp"},
		{"-A INPUT -p tcp ! --syn -m state --state NEW -j DROP", ""},
		{"-A INPUT -p tcp --dport 22,80 -j ACCEPT", "a list of ports needs -m multiport"},
		{"-A INPUT -p tcp -m multiport --dport 22,80 -j ACCEPT", ""},
		{"-A INPUT -p tcp --dports 22,80 -j ACCEPT", "--dports needs -m multiport"},
		{"-A INPUT -p tcp -m multiport --dports 1,2,3,4,5,6,7,8,9,10,11,12,13,14:15 -j ACCEPT", ""},
		{"-A INPUT -p tcp -m multiport --dports 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15:16 -j ACCEPT", "multiport takes at most 15 ports"},
		{"-A INPUT -j ACEPT", "did you mean ACCEPT"},
		{"-A INPUT -i eth0:1 -j ACCEPT", "no packet comes in through eth0:1"},
		{"-A INPUT -i ! lo -j DROP", "the ! belongs before the option"},
		{"-A INPUT ! -i lo -j DROP", ""},
		{"-P INPUT DROP", ""},
		{"-P MYCHAIN DROP", "have a policy"},
		{"-t mangle -A INPUT -p tcp -j SYNPROXY --mss 1460", ""},
		{"-A INPUT -j DROP\n-A INPUT -p tcp --dport 22 -j ACCEPT", "DROP on line 1 takes everything"},
		{"-A INPUT -p tcp --dport 22 -j ACCEPT\n-A INPUT -j DROP", ""},
		{"-A INPUT -p tcp -j DROP\n-A INPUT -p udp --dport 53 -j ACCEPT", ""},
		{"-t nat -A PREROUTING -p udp --dport 10000:65535 -j REDIRECT --to-port 51820\n-t nat -A PREROUTING -p udp --dport 10000:60000 -j DNAT --to 192.0.2.7", "REDIRECT on line 1"},
		{"-A INPUT -p udp --dport 1000:2000 -j DROP\n-A INPUT -p udp --dport 1500:2500 -j ACCEPT", ""},
		{"-A INPUT -s 10.0.0.0/8 -j DROP\n-A INPUT -s 10.1.2.3 -j ACCEPT", "DROP on line 1"},
		{"-A INPUT -s 10.1.2.0/24 -j DROP\n-A INPUT -s 10.0.0.0/8 -j ACCEPT", ""},
		{"-A INPUT -s 2001:db8::/32 -j DROP\n-A INPUT -s 10.1.2.3 -j ACCEPT", ""},
		{"-A INPUT -m conntrack --ctstate NEW,ESTABLISHED -j ACCEPT\n-A INPUT -p udp -m conntrack --ctstate NEW -j udp_in", "ACCEPT on line 1"},
		{"-A INPUT -m conntrack --ctstate ESTABLISHED -j ACCEPT\n-A INPUT -p udp -m conntrack --ctstate NEW,ESTABLISHED -j udp_in", ""},
		{"-A INPUT -p icmp -j ACCEPT\n-A INPUT -p icmp --icmp-type 8 -m limit --limit 1/s -j ACCEPT", "ACCEPT on line 1"},
		{"-A INPUT -p icmp -m limit --limit 1/s -j ACCEPT\n-A INPUT -p icmp --icmp-type 3 -j ACCEPT", ""},
		{"-N X\nopen_web() {\niptables -A INPUT -p tcp --dport 80 -j ACCEPT\niptables -A INPUT -p tcp --dport 80 -m limit --limit 9/m -j DROP\n}\nopen_web", "ACCEPT on line 3"},
		{"-N X\nfunction a {\niptables -A INPUT -p tcp --dport 80 -j ACCEPT\n}\nb() {\niptables -A INPUT -p tcp --dport 80 -j DROP\n}", ""},
		{"-N X\na() {\niptables -A INPUT -p tcp --dport 80 -j ACCEPT\nif x; then\niptables -A INPUT -p tcp --dport 80 -j DROP\nfi\n}", ""},
		{"-N X\na() {\nif x; then\niptables -A INPUT -p tcp --dport 80 -j ACCEPT\nfi\niptables -A INPUT -p tcp --dport 80 -j DROP\n}", ""},
		{"-N X\nx && {\niptables -A INPUT -p tcp --dport 80 -j ACCEPT\n}\niptables -A INPUT -p tcp --dport 80 -j DROP", ""},
		{"-A INPUT -j DROP\n-I INPUT -p tcp --dport 22 -j ACCEPT", ""},
		{"-A INPUT -j DROP\n-F INPUT\n-A INPUT -p tcp --dport 22 -j ACCEPT", ""},
		{"-A INPUT -j DROP\n-F\n-A INPUT -p tcp --dport 22 -j ACCEPT", ""},
		{"-A INPUT -m limit --limit 5/s -j ACCEPT\n-A INPUT -j DROP", ""},
		{"-A INPUT -p tcp -m recent --update -j DROP\n-A INPUT -p tcp -j ACCEPT", ""},
		{"-A INPUT ! -i lo -j DROP\n-A INPUT -i lo -j ACCEPT", ""},
		{"-t nat -A POSTROUTING -o $wan -j MASQUERADE\n-t nat -A POSTROUTING -o $wan -j SNAT --to-source 192.0.2.9", "MASQUERADE on line 1"},
		{"-t nat -A POSTROUTING -o $1 -j MASQUERADE\n-t nat -A POSTROUTING -o $1 -j SNAT --to-source 192.0.2.9", ""},
	} {
		script := "iptables " + strings.ReplaceAll(tt.rules, "\n-", "\niptables -") + "\n"
		var got []string
		if err := Scan(Script, Linux, "fw.sh", script, func(Entry) bool { return true }, func(r Reject) { got = append(got, r.Reason) }); err != nil {
			t.Fatal(err)
		}
		if all := strings.Join(got, "\n"); tt.want == "" && all != "" || !strings.Contains(all, tt.want) || len(got) > 1 {
			t.Errorf("%s: got %q, want %q", tt.rules, got, tt.want)
		}
	}
}

// TestNeighbours follows whether ICMPv6, without which IPv6 does not work, is dropped.
func TestNeighbours(t *testing.T) {
	const line = "-A INPUT -p ipv6-icmp -j DROP\n"
	for _, tt := range []struct{ rules, want string }{
		{line, "2:1 iptables:neighbours=dropped\n"},
		{"-A INPUT -p ipv6-icmp --icmpv6-type 135 -j ACCEPT\n" + line, ""},
		{"-A INPUT -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT\n" + line, "3:1 iptables:neighbours=dropped\n"},
		{"-A FORWARD -p ipv6-icmp -j DROP\n", ""},
		{"-A OUTPUT -p ipv6-icmp -j DROP\n", ""},
	} {
		if got := show(t, IPTables, Linux, "rules.v6", "*filter\n"+tt.rules+"COMMIT\n"); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.rules, got, tt.want)
		}
	}
}

func TestIptablesSave(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"*raw\n-A PREROUTING -p tcp -j ACCEPT\n*filter\n-A INPUT -j ACCEPT\nCOMMIT\n", "1 the table raw has no COMMIT before the next one"},
		{"*filter\n:INPUT DROP [0:0]\n-A INPUT -p tcp -j ACCEPT\n", "1 the table filter has no COMMIT"},
		{"# by hand\n*nat\n:POSTROUTING ACCEPT [0:0]\n-A POSTROUTING -o eth1 -j MASQUERADE\nCOMMIT\n*filter\n-A INPUT -p tcp --dport 22 -j ACCEPT\nCOMMIT\n", ""},
		{"*filter\n-A INPUT -j DROP\n-A FORWARD -p tcp --dport 22 -j ACCEPT\nCOMMIT\n*nat\n-A INPUT -j ACCEPT\nCOMMIT\n", ""},
		{"*filter\n-A INPUT -p tcp --dport 1,2 -j ACCEPT\nCOMMIT\n", "2 a list of ports needs"},
	} {
		if g := Detect("rules", []byte(tt.text)); g.Kind != IPTables || g.System != Linux {
			t.Errorf("%q is taken for %v", tt.text, g)
		}
		got := ""
		if err := Scan(IPTables, Linux, "rules", tt.text, func(Entry) bool { return true }, func(r Reject) { got += strconv.Itoa(r.Line) + " " + r.Reason + "\n" }); err != nil {
			t.Fatal(err)
		}
		if tt.want == "" && got != "" || !strings.HasPrefix(got, tt.want) {
			t.Errorf("%q: got %q, want %q", tt.text, got, tt.want)
		}
	}
}
