package conffile

import "testing"

func TestPFRule(t *testing.T) {
	for _, tt := range []struct{ rule, want string }{
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
		{"pass out on em0 from 10.0.0.0/8 queue bulk", "1:33 pf:rule/queue=inet [em0]\n"},
		{"pass out from any to any queue (q_d, q_p)", "1:26 pf:rule/queue=any\n"},
		{"pass in from <inside> dnpipe (1, 2)", "1:23 pf:rule/queue=any\n"},
		{"pass", ""}, {"pass no", ""}, {"pass state", ""}, {"pass flags", ""}, {"match queue", ""}, {"pass proto", ""},
		{"pass proto { tcp no state", "1:18 pf:rule/no-state=tcp no state\n"},
	} {
		if got := show(t, PF, OpenBSD, "/etc/pf.conf", tt.rule+"\n"); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.rule, got, tt.want)
		}
	}
}
