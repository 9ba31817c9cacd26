package conffile

import "testing"

func TestPFRule(t *testing.T) {
	for _, tt := range []struct{ rule, want string }{
		{"pass in proto tcp port 80\npass in on em0 all port 80", "refused 1:19 \"port\"\nrefused 2:20 \"port\"\n"},
		{"pass in proto tcp from port 20 to any port 80\npass in on em0 inet proto tcp to port 80 divert-to 127.0.0.1 port 8080", ""},
		{"pass in proto tcp to port 80 no state", "1:30 pf:rule/no-state=tcp\n"},
		{"pass out on em0 no state", "1:17 pf:rule/no-state=any [em0]\n"},
		{"pass proto { tcp, udp } no \\\n state", "1:25 pf:rule/no-state=tcp udp\n"},
		{"pass proto $p no state", "1:15 pf:rule/no-state=\n"},
		{"pass on lo0 proto tcp no state", ""},
		{"block proto tcp no state", ""},
		{"pass proto tcp keep state", ""},
		{"pass proto tcp flags S/SA modulate state", ""},
		{"pass proto tcp flags any keep state", "1:16 pf:rule/flags=any\n"},
		{"pass proto tcp flags any", "1:16 pf:rule/flags=any\n"},
		{"pass proto tcp flags any keep state (sloppy)", ""},
		{"pass proto tcp flags any no state", "1:26 pf:rule/no-state=tcp\n"},
		{"match out on em0 inet proto tcp set queue (bulk, ack)", "1:37 pf:rule/queue=inet [em0]\n"},
		{"match out on em0 inet6 set queue bulk", "1:28 pf:rule/queue=inet6 [em0]\n"},
		{"pass out on em0 from 10.0.0.0/8 set queue bulk", "1:37 pf:rule/queue=inet [em0]\n"},
		{"pass out from any to any set ( prio 3, queue (q_d, q_p) )", "1:40 pf:rule/queue=any\n"},
		{"pass in from <inside> dnpipe (1, 2)", "1:23 pf:rule/queue=any\nrefused 1:23 \"dnpipe\"\n"},
		{"antispoof quick for em0\nblock in", "1:21 pf:rule/antispoof=em0\n"}, {"set skip on lo\nantispoof quick for { em0 }", "1:5 pf:set/skip=lo [lo]\n"},
		{"antispoof for em0\npass", ""}, {"antispoof quick for { lo em0 }\npass quick on lo0", ""}, {"include \"/etc/x\"\nantispoof quick for em0", ""},
		{"# old \\\npass in on em0 from any\npass out on em0", "2:1 pf:rule/commented=pass\n"}, {"# old \\\n# more \\\n  to any\npass out on em0 from any", ""},
		{"#\\", ""}, {"# a \\ \npass out on em0", ""},
		{"pass in proto tcp to port 21 rdr-to 127.0.0.1 port 8021", "1:30 pf:rule/proxy=ftp-proxy\n"},
		{"pass in inet proto tcp to port 21 divert-to 127.0.0.1 port 8021\npass in proto tcp to port 80 rdr-to 127.0.0.1 port 8080", ""},
		{"pass in proto tcp to port 2004:2000\npass in proto tcp to port 5 >< 5", "refused 1:27 \"2004:2000\"\nrefused 2:29 \"><\"\n"},
		{"pass in proto tcp from port 5 >< 9 to port { 2000:2004 7:7 }", ""}, {"pass in to 2001:7 label \"port 9:1\"", ""},
		{"pass in from any route-to 192.0.2.1@em1", "refused 1:27 \"192.0.2.1@em1\"\n"},
		{"set skip on { lo em }", "1:5 pf:set/skip={ lo em } [*]\n1:18 pf:rule/driver=em\n"}, {"set skip on { lo0 vlan em0 }", "1:5 pf:set/skip={ lo0 vlan em0 } [*]\n"},
		{"set reassemble tcp\nset syncookies adaptive (start 29%, end 15%)\nset keepcounters", "2:5 pf:set/syncookies=adaptive ( start 29% end 15% )\n" +
			"3:5 pf:set/keepcounters=yes\nrefused 1:16 \"tcp\"\n"},
		{"e = egress\nqueue a on egress bandwidth 20m\nqueue b on em0 bandwidth 20Mbit max 20Mb default", "2:7 pf:queue=a [egress]\n2:19 pf:queue/bandwidth=20m [egress]\n" +
			"3:7 pf:queue=b [em0]\n3:16 pf:queue/bandwidth=20Mbit [em0]\n3:33 pf:queue/max=20Mb [em0]\n" +
			"refused 2:12 \"egress\"\nrefused 2:29 \"20m\"\n"},
		{"match on wg0 scrub (max-mss 1420)\nmatch on wg0 scrub (max-mss 1380)\nmatch on em0 scrub (max-mss 1460)", "1:21 pf:scrub/max-mss=1420 [wg0]\n" +
			"2:21 pf:scrub/max-mss=1380 [wg0]\n3:21 pf:scrub/max-mss=1460 [em0]\n1:29 pf:rule/segment=wg0\n2:29 pf:rule/segment=wg0\n3:29 pf:rule/segment=em0\n"},
		{"match out on em0 nat-to (em0)", "1:25 pf:rule/nat=(\n"}, {"match out on pppoe0 nat-to pppoe0:0", "1:28 pf:rule/nat=pppoe0:0\n1:28 pf:rule/fixed=pppoe0\n"},
		{"pass out on rdomain 1 nat-to (em0) rtable 2", ""},
		{"pass out all modulate state log", "refused 1:29 \"log\"\n"}, {"pass on em0 in", "refused 1:13 \"in\"\n"}, {"pass in inet on em0", "refused 1:14 \"on\"\n"},
		{"pass in inet6 from any to 64:ff9b::/96 af-to inet from (em0)", ""}, {"pass in on em0 route-to 192.0.2.1 from any", "refused 1:35 \"from\"\n"}, {"pass in proto tcp from any os \"x\" port 1 to any port 2 user 3", ""},
		{"block return-rst(ttl 5) in quick log on em0 proto tcp all", ""}, {"pass in proto tcp to port 22 keep-state", "refused 1:30 \"keep-state\"\n"},
		{"set skip on {lo0 em0\npass in\npass out from { a\n b }", "1:5 pf:set/skip={ lo0 em0 [*]\nrefused 1:13 \"{\"\n"},
		{"block in quick on em0 inet6\npass on em1 inet6 proto icmp6", ""},
		{"state limiter \"dns\" id 1 limit 1000 rate 1/10",
			"1:1 pf:state-limiter=dns\n1:26 pf:state-limiter/limit=1000\n1:37 pf:state-limiter/rate=1/10\n"},
		{"source limiter dns id 1 entries 2 limit 3 rate 4/5 inet mask 16",
			"1:1 pf:source-limiter=dns\n1:25 pf:source-limiter/entries=2\n1:35 pf:source-limiter/limit=3\n1:43 pf:source-limiter/rate=4/5\n"},
		{"state limiter", ""}, {"source limiter dns limit", "1:1 pf:source-limiter=dns\n"}, {"state dns limit 3", "refused 1:1 \"state\"\n"},
		{"pass proto tcp state limiter dns (no-match)", ""},
		{"pass proto tcp state limiter dns no state", "1:34 pf:rule/no-state=tcp\n"},
		{"pass out quick on em0 inet keep state\nblock out quick inet6\nblock out on em0 to 192.0.2.0/24", "3:1 pf:rule/unreached=1\n"},
		{"pass in quick on $lan\nblock in on $lan proto tcp to port 25\nblock in on $wan proto tcp to port 25", "2:1 pf:rule/unreached=1\n"},
		{"pass out quick\nmatch in on em0 from any nat-to em0\nmatch out on em0 inet from 192.0.2.0/24 nat-to em0", "3:1 pf:rule/unreached=1\n2:33 pf:rule/nat=em0\n2:33 pf:rule/fixed=em0\n3:48 pf:rule/fixed=em0\n"},
		{"pass quick\nblock in proto tcp to port 25", "2:1 pf:rule/unreached=1\n"},
		{"pass out quick inet\nblock out to 192.0.2.0/24\nblock in to 192.0.2.0/24\nblock out inet6 to any", ""},
		{"pass out on em0\nblock out on em0 to 192.0.2.0/24", ""},
		{"pass in quick on em0 reply-to 192.0.2.1\nblock in on em0 proto tcp to port 25", ""},
		{"pass in quick on { em0 em1 }\nblock in on em0 proto tcp to port 25", ""},
		{"pass in quick\npass out quick\nblock log all", ""},
		{"pass in quick\npass in on { em0 em1 } proto tcp to port 25\npass out on { em0 em1 } to any", "2:1 pf:rule/unreached=1\n"},
		{"pass", ""}, {"pass no", ""}, {"pass state", ""}, {"pass flags", ""}, {"match queue", ""}, {"match set queue", ""}, {"pass proto", ""},
		{"pass proto { tcp no state", "1:18 pf:rule/no-state=tcp no state\n"},
	} {
		if got := show(t, PF, OpenBSD, "/etc/pf.conf", tt.rule+"\n"); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.rule, got, tt.want)
		}
	}
}

// TestPFGrammar holds what one system's pf takes and the other's refuses.
func TestPFGrammar(t *testing.T) {
	for _, tt := range []struct{ rules, openbsd, freebsd string }{
		{"pass in on em2 route-to { (em0 192.0.2.1) (em1 192.0.2.9) } round-robin from any", "refused 1:27 \"(em0 192.0.2.1)\"\nrefused 1:73 \"from\"\n", ""},
		{"queue a priority 16\nqueue b priority 15", "1:7 pf:queue=a\n2:7 pf:queue=b\nrefused 1:9 \"priority 16\"\nrefused 2:9 \"priority 15\"\n",
			"1:7 pf:queue=a\n1:9 pf:queue/priority=16\n2:7 pf:queue=b\n2:9 pf:queue/priority=15\nrefused 1:18 \"16\"\n"},
		{"pass out queue bulk", "1:10 pf:rule/queue=any\n", "1:10 pf:rule/queue=any\n"},
		{"pass out set queue bulk", "1:14 pf:rule/queue=any\n", "refused 1:14 \"queue\"\n"},
		{"queue a bandwidth 5Mb hfsc(default)", "1:7 pf:queue=a\n1:9 pf:queue/bandwidth=5Mb\nrefused 1:23 \"hfsc(\"\n", "1:7 pf:queue=a\n1:9 pf:queue/bandwidth=5Mb\n"},
		{"queue web parent main bandwidth 5M", "1:7 pf:queue=web\n1:23 pf:queue/bandwidth=5M\n", "1:7 pf:queue=web\nrefused 1:11 \"parent\"\n"},
		{"queue main on em0 bandwidth 10M\nqueue web parent main bandwidth 5M default\nqueue b parent mian bandwidth 1M\nmatch set queue (web, b)\nmatch queue main\nmatch set queue c",
			"1:7 pf:queue=main [em0]\n1:19 pf:queue/bandwidth=10M [em0]\n2:7 pf:queue=web\n2:23 pf:queue/bandwidth=5M\n3:7 pf:queue=b\n3:21 pf:queue/bandwidth=1M\n" +
				"4:11 pf:rule/queue=any\n5:7 pf:rule/queue=any\n6:11 pf:rule/queue=any\nrefused 3:16 \"mian\"\nrefused 5:13 \"main\"\nrefused 6:17 \"c\"\n",
			"1:7 pf:queue=main [em0]\n1:19 pf:queue/bandwidth=10M [em0]\n2:7 pf:queue=web\n3:7 pf:queue=b\n5:7 pf:rule/queue=any\nrefused 2:11 \"parent\"\n" +
				"refused 3:9 \"parent\"\nrefused 4:11 \"queue\"\nrefused 6:11 \"queue\"\n"},
		{"queue main on em0 bandwidth 10M", "1:7 pf:queue=main [em0]\n1:19 pf:queue/bandwidth=10M [em0]\nrefused 1:7 \"main\"\n", "1:7 pf:queue=main [em0]\n1:19 pf:queue/bandwidth=10M [em0]\n"},
		{"block log (all, to pflog1)\nblock log (al)", "refused 2:12 \"al\"\n", "refused 2:12 \"al\"\n"},
		{"pass log (user, group)", "refused 1:17 \"group\"\n", ""},
		{"pass proto tcp to 192.0.2.300 port 99999\npass to 192.0.2.1/33", "refused 1:19 \"192.0.2.300\"\nrefused 1:36 \"99999\"\nrefused 2:9 \"192.0.2.1/33\"\n",
			"refused 1:19 \"192.0.2.300\"\nrefused 1:36 \"99999\"\nrefused 2:9 \"192.0.2.1/33\"\n"},
		{"a = em0\nset skip on { lo $a }\npass in on $a\npass in on em1", "2:5 pf:set/skip={ lo $a } [* expands]\n3:12 pf:rule/skipped=em0\n", "2:5 pf:set/skip={ lo $a } [* expands]\n3:12 pf:rule/skipped=em0\n"},
		{"a = pppoe0\nmatch on $a scrub (max-mss 1460)\nmatch on pppoe1 scrub (max-mss 1452)",
			"2:20 pf:scrub/max-mss=1460 [*]\n3:24 pf:scrub/max-mss=1452 [pppoe1]\n2:28 pf:rule/segment=pppoe0\n3:32 pf:rule/segment=pppoe1\n",
			"2:20 pf:scrub/max-mss=1460 [*]\n3:24 pf:scrub/max-mss=1452 [pppoe1]\n2:28 pf:rule/segment=pppoe0\n3:32 pf:rule/segment=pppoe1\n"},
		{"a = em0\na = em1\npass on $a\na = em2\nb = 1\nb = 1\npass on $c\npass on $c", "7:9 pf:rule/macro=\n1:1 pf:rule/again=2\n", "7:9 pf:rule/macro=\n1:1 pf:rule/again=2\n"},
		{"pass in proto tcp to port 22 keep\nstate (no-sync)", "refused 2:1 \"state\"\n", "refused 2:1 \"state\"\n"},
		{"pass out\nnat on em0 from 10.0.0.0/8 -> (em0)\nnat on em1 -> (em1)", "refused 2:1 \"nat\"\nrefused 3:1 \"nat\"\n", "refused 2:1 \"nat\"\n"},
		{"scrub in\nset skip on lo0\nset block-policy drop", "2:5 pf:set/skip=lo0 [lo0]\n3:5 pf:set/block-policy=drop\nrefused 1:1 \"scrub\"\n",
			"2:5 pf:set/skip=lo0 [lo0]\n3:5 pf:set/block-policy=drop\nrefused 3:1 \"set\"\n"},
		{"set require-order no\npass out\nnat on em0 -> (em0)", "1:5 pf:set/require-order=no\nrefused 3:1 \"nat\"\n", "1:5 pf:set/require-order=no\n"},
		{"nat on em0 -> (em0)\nanchor a {\npass\n}\nblock", "refused 1:1 \"nat\"\n", ""},
		{"pass from (em0) to (em1", "refused 1:20 \"(\"\n", "refused 1:20 \"(\"\n"},
		{"pass from (em0)) to {{ x) }}", "refused 1:16 \")\"\n", "refused 1:16 \")\"\n"},
		{"pass from %{a)", "", ""},
		{"block in from !192.0.2.9/24", "1:15 pf:rule/host-bits=192.0.2.0/24\n", "1:15 pf:rule/host-bits=192.0.2.0/24\n"},
		{"passs out", "refused 1:1 \"passs\"\n", "refused 1:1 \"passs\"\n"},
		{"ext = em0\n$rule\n{{ rules }}\n\"x\" y\ninclude \"/etc/pf.local\"\nether block\n", "refused 6:1 \"ether\"\n", ""},
	} {
		for system, want := range map[System]string{OpenBSD: tt.openbsd, FreeBSD: tt.freebsd} {
			if got := show(t, PF, system, "/etc/pf.conf", tt.rules+"\n"); got != want {
				t.Errorf("%s: %q: %q, want %q", system, tt.rules, got, want)
			}
		}
	}
}

// TestPFConsistent holds what pfctl refuses of rules whose parts do not fit together, on both systems where no other is named.
func TestPFConsistent(t *testing.T) {
	both := []System{OpenBSD, FreeBSD}
	open := both[:1]
	for _, tt := range []struct {
		systems    []System
		rule, want string
	}{
		{both, "pass in to any port 80", "port"}, {both, "pass in proto { tcp icmp } to any port 80", "port"},
		{both, "pass in proto { tcp udp } to port 80", ""}, {both, "pass in $tcp to port 80", ""}, {both, "pass in proto $p to port 80", ""},
		{open, "pass in proto sctp to port 80", "port"}, {both[1:], "pass in proto sctp to port 80", ""},
		{open, "match out on em0 nat-to em0 port 1024:65535", ""}, {both, "block out user build", "user"},
		{both, "block return-rst in on em0", "return-rst"}, {both, "block return-rst in proto tcp", ""},
		{both, "pass in proto icmp icmp-type echoreq", "icmp-type"}, {both, "pass in inet proto icmp icmp-type echoreq", ""},
		{both, "pass in proto icmp to ($a) icmp-type { echoreq unreach }", "icmp-type"}, {both, "pass in proto icmp to $a icmp-type echoreq", ""},
		{both, "pass in proto icmp from { <a> any } to em0 icmp-type echoreq", ""}, {both, "pass in proto icmp from { <a> ($b) } icmp-type 8", "icmp-type"},
		{both, "pass in inet6 proto icmp icmp-type echoreq", "icmp-type"}, {both, "pass in inet proto tcp icmp-type echoreq", "icmp-type"},
		{both, "pass in inet6 proto tcp icmp6-type 128", "icmp6-type"}, {both, "pass in proto icmp to 192.0.2.1 icmp-type echoreq", ""},
		{both, "block in proto tcp keep state", "keep"}, {open, "match in proto tcp modulate state", "modulate"},
		{both, "block in label \"keep\"", ""}, {both, "block in all allow-opts", "allow-opts"},
		{both, "pass on em0 reply-to 192.0.2.1", "reply-to"}, {both, "pass in on em0 reply-to 192.0.2.1", ""},
		{both, "pass $in on em0 reply-to 192.0.2.1", ""}, {open, "match on em0 nat-to em1", "nat-to"},
		{open, "match in on em0 from a to b binat-to c", "binat-to"}, {open, "match on em0 from a to b binat-to c", ""},
		{open, "pass out proto tcp to port 80 divert-to 127.0.0.1 port 8080", "divert-to"},
		{open, "pass in route-to (em1 192.0.2.1)", "(em1 192.0.2.1)"}, {open, "pass in route-to { (em1 192.0.2.1), (em2 192.0.2.2) }", "(em1 192.0.2.1)"},
		{open, "pass in route-to (em1:peer)", ""}, {both[1:], "pass in route-to (em1 192.0.2.1)", ""},
		{open, "match out set prio (5, 9)", "9"}, {open, "match out set prio (5, 7) tag 9", ""}, {open, "match out set prio", ""},
		{both, "pass in proto tcp form any", "form"}, {both, "pass in on em0 proto udp ot any", "ot"}, {both, "pass quik on em0", "quik"},
		{both, "pass in log (all) quick on ! lo0 inet proto tcp from any port >= 1024 to ! <a> port { 80 443 } flags S/SA keep state (max 9)", ""},
		{both, "pass in proto tcp from any os \"OpenBSD\" to any port 33433 >< 33626 user { a != b } label \"form\" tag form", ""},
		{both, "pass in on rdomain 1 proto tcp from (self) to port = 80 synproxy state", ""}, {both, "pass in $x form any", ""},
		{both, "block return-icmp (3) in", ""}, {open, "pass out set (prio 3, queue a) scrub (no-df)", ""}, {both, "pass on { em0 em1", ""},
		{both, "pass out nat-to { 192.0.2.1 192.0.2.2 } source-hash form static-port", ""}, {both, "pass source-hash", ""}, {both, "pass from", ""},
		{both, "Some words that are no comment", "Some"},
	} {
		for _, system := range tt.systems {
			got := ""
			Scan(PF, system, "/etc/pf.conf", tt.rule+"\n", func(Entry) bool { return true },
				func(r Reject) { got += (tt.rule + "\n")[r.Span.Start:r.Span.End] })
			if got != tt.want {
				t.Errorf("%s: %q: refused %q, want %q", system, tt.rule, got, tt.want)
			}
		}
	}
}

// TestPFReach holds which rules a later or an earlier one leaves without effect, and queues that are chosen too early.
func TestPFReach(t *testing.T) {
	for _, tt := range []struct{ rules, want string }{
		{"pass in proto tcp to port 22\nblock in log all", "1:1 pf:rule/overruled=2\n2:1 pf:rule/loopback=lo0\n"},
		{"block in from <a>\npass in proto tcp to port 22 keep state (max 9, overload <a> flush)", "1:1 pf:rule/overload=2\n"},
		{"o = \"(max 9, overload <a> flush)\"\nblock from <a>\npass in proto tcp to port 22 keep state $o", "2:1 pf:rule/overload=3\n"},
		{"block in quick from <a>\npass in proto tcp to port 22 keep state (max 9, overload <a>)", ""},
		{"block in from <a>\npass in proto tcp to port 22 keep state (max 9, overload <a>)\nblock in from <a>", ""},
		{"block in from <a>\npass in proto tcp to port 22 keep state (max 9, overload <b>)", "2:58 pf:rule/unused=<b>\n"},
		{"o = \"overload <b>\"\nblock in quick from { 192.0.2.1 <b> }\npass in proto tcp to port 22 keep state (max 9, overload <b>)", ""},
		{"anchor \"a/*\"\npass in proto tcp to port 22 keep state (max 9, overload <b>)", ""},
		{"pass quick proto tcp from any to any port 22 flags S/SA keep state (max-src-conn 9)\npass in on em0 proto tcp to (em0) port ssh\npass in proto tcp from any port 22 to (em0)",
			"1:69 pf:rule/src-conn=tcp\n2:1 pf:rule/unreached=1\n"},
		{"p = \"{ 80, 443 }\"\npass out quick on em0 proto { tcp udp } from any to any port $p user { a b }\npass out on em0 proto tcp to <t> port https user a\npass out on em0 proto tcp to <t> port { 443 8443 } user a\n" +
			"pass out on em0 proto tcp to <t> port 443", "3:1 pf:rule/unreached=2\n"},
		{"block in quick proto tcp to (em0) port 25\npass in on em0 inet proto tcp from ! <t> to (em0) port smtp\npass in proto tcp to em0 port 25", "2:1 pf:rule/unreached=1\n"},
		{"pass in proto tcp from <t> to any port 22\nblock in proto tcp to port { 22 23 }\npass in proto tcp to port 24\nblock in proto tcp to port 23 flags S/SAFR", "1:1 pf:rule/overruled=2\n"},
		{"pass quick proto tcp to port 22\nblock proto tcp to port 22 flags /S\npass proto tcp to port > 22\npass quick proto tcp to port > 22\npass proto tcp to port > 22",
			"5:1 pf:rule/unreached=4\n"},
		{"pass quick proto tcp from any port 22 to any\npass in on em0 proto tcp to port 22\npass in proto udp to port 22", ""},
		{"block in on em0 from <a>\npass in on em1 proto tcp to port 22 keep state (max 9, overload <a>)", ""},
		{"pass in on em0\nblock all\npass out", "1:1 pf:rule/overruled=2\n2:1 pf:rule/loopback=lo0\n"},
		{"block in proto tcp to port 22\nblock all\npass in quick proto tcp to port 22\nblock in on em0 all", "2:1 pf:rule/loopback=lo0\n"},
		{"block in on ! lo0 proto tcp to port 6000\npass in quick all", "1:1 pf:rule/overruled=2\n"},
		{"pass in quick on em0 inet6 proto icmp6\npass in quick on em0 inet6 proto icmp6 to (em0)\npass in on em0 inet6 proto udp", "2:1 pf:rule/unreached=1\n"},
		{"pass in quick on em0 proto tcp\npass in on em0 proto { tcp udp }\npass in on em0", ""},
		{"pass in inet proto tcp\nblock in inet6\npass in $quick proto tcp\nblock out\nblock in on em0", ""},
		{"pass in proto tcp tag a\nblock in\npass tagged a", ""},
		{"pass in quick on em0 proto tcp to port 80\npass in on em0 proto tcp to port 8080 rdr-to 192.0.2.5 port 80\npass in on em0 proto tcp to port 81 divert-packet port 80", ""},
		{"pass in quick proto tcp to port { 21, > 1023 }\npass in proto tcp to port 1023\npass in quick from { ! 192.0.2.1, 192.0.2.3 - 192.0.2.9 }\npass in from 192.0.2.1\n" +
			"block in from 192.0.2.9\nblock in from { 192.0.2.3 - 192.0.2.9 }", "6:1 pf:rule/unreached=3\n"},
		{"pass in quick from 192.0.2.3\nblock in from 192.0.2.3 - 192.0.2.9\nblock in quick from route \"a\"\npass in from route \"b\"\npass in from (em0)/24\npass in from ( em0 )", ""},
		{"pass in quick inet proto icmp icmp-type { echoreq, unreach code needfrag }\nblock in inet proto icmp icmp-type unreach\nblock in inet proto icmp icmp-type echoreq",
			"3:1 pf:rule/unreached=1\n"},
		{"block in quick proto tcp to port 25 flags S/SA\npass in proto tcp to port 25\nblock in proto tcp flags FUP/FUP\npass in log (matches) proto tcp to port 26\npass in\npass in quick on any from <a>\n" +
			"pass in on lo0 from <a>", ""},
		{"pass in quick inet6 proto tcp to 64:ff9b::/96\npass in inet6 proto tcp to 64:ff9b::1 af-to inet from 192.0.2.1 to 64:ff9b::/96", ""},
		{"block in tagged a\npass in on em0 from \"\"", ""},
		{"block in\npass on !egress", ""},
		{"k = \"{ lo0, em1 }\"\nset skip on $k\nblock in\npass in on em0", "2:5 pf:set/skip=$k [* expands]\n"},
		{"pass in proto tcp to port 22 keep state (max-src-conn 25, max-src-conn-rate 3/30)\npass out proto tcp to port 80 keep state (max-src-conn 3)\n" +
			"pass in proto tcp to port https keep state (max-src-conn 3)",
			"1:42 pf:rule/src-conn=tcp\n1:59 pf:rule/src-conn=tcp\n2:43 pf:rule/src-conn=tcp\n3:45 pf:rule/src-conn=tcp\n3:45 pf:rule/few=max-src-conn 3\n"},
		{"pass in quick on any all allow-opts\nmatch in all scrub (no-df)", "2:21 pf:scrub/no-df=yes\n2:1 pf:rule/unreached=1\n"},
		{"queue a on em0 bandwidth 10M\nqueue b parent a bandwidth 1M max 1M default\nqueue c parent a bandwidth 8M\nmatch set queue b",
			"1:7 pf:queue=a [em0]\n1:16 pf:queue/bandwidth=10M [em0]\n2:7 pf:queue=b\n2:18 pf:queue/bandwidth=1M\n2:31 pf:queue/max=1M\n" +
				"3:7 pf:queue=c\n3:18 pf:queue/bandwidth=8M\n4:11 pf:rule/queue=any\n2:7 pf:rule/default-queue=c\n"},
		{"queue a on em0 bandwidth 9M default", "1:7 pf:queue=a [em0]\n1:16 pf:queue/bandwidth=9M [em0]\n1:7 pf:rule/uncapped=a\n"},
		{"queue a on em0 bandwidth 9M\nqueue b parent a bandwidth 9M max 9M min 6M default\nqueue c parent a bandwidth 1M max 9M min 6M",
			"1:7 pf:queue=a [em0]\n1:16 pf:queue/bandwidth=9M [em0]\n2:7 pf:queue=b\n2:18 pf:queue/bandwidth=9M\n2:31 pf:queue/max=9M\n2:38 pf:queue/min=6M\n" +
				"3:7 pf:queue=c\n3:18 pf:queue/bandwidth=1M\n3:31 pf:queue/max=9M\n3:38 pf:queue/min=6M\n1:7 pf:rule/guarantees=12\n"},
		{"match set queue a\nqueue a on em0 bandwidth 10M default",
			"1:11 pf:rule/queue=any\n2:7 pf:queue=a [em0]\n2:16 pf:queue/bandwidth=10M [em0]\nrefused 1:17 \"a\"\n"},
	} {
		if got := show(t, PF, OpenBSD, "/etc/pf.conf", tt.rules+"\n"); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.rules, got, tt.want)
		}
	}
}

func TestPFNeighbours(t *testing.T) {
	for _, tt := range []struct{ rules, want string }{
		{"block in inet6 proto icmp6", "1:1 pf:rule/neighbours=blocked\n"},
		{"block in inet6\nblock in inet6 proto icmp6", ""},
		{"block all\npass in inet6 proto tcp to port 22", "1:1 pf:rule/neighbours=blocked\n1:1 pf:rule/loopback=lo0\n"},
		{"block all\npass in proto tcp to port 22", "1:1 pf:rule/loopback=lo0\n"},
		{"set skip on lo\nblock all\npass in proto tcp to port 22", "1:5 pf:set/skip=lo [lo]\n"},
		{"block all\npass in inet6 proto tcp to port 22\npass inet6 proto ipv6-icmp icmp6-type $types", "1:1 pf:rule/loopback=lo0\n"},
		{"block all\npass inet6 proto icmp6 icmp6-type { echoreq toobig }", "1:1 pf:rule/neighbours=blocked\n1:1 pf:rule/loopback=lo0\n"},
		{"block all\npass inet6 proto icmp6 icmp6-type { echoreq 135 }", "1:1 pf:rule/loopback=lo0\n"},
		{"block all\npass inet6 proto icmp6 icmp6-type { echoreq $more }", "1:1 pf:rule/loopback=lo0\n"},
		{"pass inet6 proto icmp6\nblock all", "1:1 pf:rule/overruled=2\n2:1 pf:rule/neighbours=blocked\n2:1 pf:rule/loopback=lo0\n"},
		{"pass quick inet6 proto icmp6\nblock all", "2:1 pf:rule/loopback=lo0\n"},
		{"block all\npass out inet6", "1:1 pf:rule/neighbours=blocked\n"},
		{"block all\npass in proto tcp to 2001:db8::1 port 80\npass quick", "3:1 pf:rule/opened=1\n"},
		{"block all\npass in inet6 proto tcp\nanchor \"mine\"", ""},
		{"block all\npass in inet6 proto tcp\nanchor \"ftp-proxy/*\"", "1:1 pf:rule/neighbours=blocked\n"},
		{"block in inet6 proto icmp6 icmp6-type echoreq", ""}, {"block in inet6 proto icmp6 from <bad>", ""},
		{"table <m> { 2001:db8::/32, fe80::/10 }\nblock in quick on em0 from <m>\npass in inet6",
			"2:1 pf:rule/neighbours=blocked\n"},
		{"block in quick from { ::/128 fe80::/10 } to any\npass in inet6", "1:1 pf:rule/neighbours=blocked\n"},
		{"pass quick inet6 proto icmp6\nblock in quick from fe80::/10\npass in inet6", ""},
		{"table <m> { 2001:db8::/32 !fe80::/10 }\nblock in quick from <m>\npass in inet6", ""},
		{"block in quick from any to fe80::/10\nblock out quick from fe80::/10\npass in inet6", ""},
		{"block in quick from {\npass in inet6", "refused 1:21 \"{\"\n"}, {"block in quick from", ""},
		{"block in on lo0 inet6 proto icmp6", ""}, {"block inet proto icmp", ""}, {"block", ""}, {"anchor", ""},
	} {
		if got := show(t, PF, OpenBSD, "/etc/pf.conf", tt.rules+"\n"); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.rules, got, tt.want)
		}
	}
}

// TestPFGone refuses what pf.conf had once.
func TestPFGone(t *testing.T) {
	for _, tt := range []struct {
		system     System
		rule, want string
	}{
		{FreeBSD, "scrub in on em0 all fragment crop", "refused 1:1 \"scrub in on em0 all fragment crop\"\n"},
		{FreeBSD, "scrub in all fragment drop-ovl", "refused 1:1 \"scrub in all fragment drop-ovl\"\n"},
		{FreeBSD, "nat-anchor \"x\"", ""},
		{OpenBSD, "queue bulk parent root bandwidth 40%", "1:7 pf:queue=bulk\nrefused 1:24 \"bandwidth 40%\"\n"},
		{OpenBSD, "block out quick on egress to <martians> return", "refused 1:41 \"return\"\n"},
		{FreeBSD, "block return out quick on em0", ""}, {FreeBSD, "block drop in log all", ""},
		{OpenBSD, "rdr-anchor \"x\"", "refused 1:1 \"rdr-anchor\"\n"},
		{OpenBSD, "no nat on em0 to any", "refused 1:1 \"no nat\"\n"},
	} {
		if got := show(t, PF, tt.system, "/etc/pf.conf", tt.rule+"\n"); got != tt.want {
			t.Errorf("%s %q: %q, want %q", tt.system, tt.rule, got, tt.want)
		}
	}
}
