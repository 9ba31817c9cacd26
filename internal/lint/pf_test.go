package lint

import (
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/catalog"
)

// TestPFRules checks what is said of rules in pf.conf.
func TestPFRules(t *testing.T) {
	c := load(t)
	for _, tt := range []struct{ text, want string }{
		{"pass in proto tcp to port 80 no state\n", "pf.conf:1:30 harmful warning\n"},
		{"pass in proto udp to port 53 no state\n", ""},
		{"pass in proto $p no state\n", ""},
		{"pass in all no state\n", "pf.conf:1:13 harmful info\n"},
		{"pass in on lo0 proto tcp no state\n", ""},
		{"pass in proto tcp flags any keep state\n", "pf.conf:1:19 harmful warning\n"},
		{"pass in proto tcp flags any keep state (sloppy)\n", ""},
		{"pass in proto tcp keep state\n", ""},
		{"pass in proto icmp keep state (max-src-conn-rate 5/10)\n", "pf.conf:1:32 no-effect warning\n"},
		{"pass in proto tcp keep state (max-src-conn-rate 5/10)\n", ""},
		{"pass in proto $p keep state (max-src-conn 5)\n", ""},
		{"pass in keep state (max-src-conn 5)\n", ""},
		{"pass in from 192.0.2.9/24\n", "pf.conf:1:14 harmful warning\n"},
		{"table <a> { 192.0.2.9/24, 192.0.2.0/24, 2001:db8::1/64 }\n",
			"pf.conf:1:13 harmful warning\npf.conf:1:41 harmful warning\n"},
		{"pass out nat-to 192.0.2.9/24\npass in from 0.0.0.0/0\nblock in from !192.0.2.9/32\n", ""},
		{"ext_if = em0\npass in on $ext_iff from $other\n", "pf.conf:2:12 unknown-key error\npf.conf:2:26 unknown-key warning\n"},
		{"a = em0\npass in on $a from $a:network to \"$x\" # $y\n", ""},
		{"pass in on $ext_if\n", ""},
		{"pass in proto tcp to a.lan keep state label a.example.net\npass out to { 192.0.2.1 mail.example.net }\n",
			"pf.conf:2:25 harmful warning\n"},
		{"host = \"ntp.example.org\"\npass out on vlan.guest proto udp from any to ! $host port ntp\n", "pf.conf:2:48 harmful warning\n"},
		{"table <a> const { db.example.com }\npass in from <a>\n", "pf.conf:1:19 harmful warning\n"},
		{"table <a> file \"a.example.com\"\npass in proto tcp from <a> to port ssh user www.data\n", ""},
		{"t = \"{ echoreq unreach }\"\nset skip on lo0\nblock in all\npass inet6 proto icmp6 icmp6-type $t\n", "pf.conf:3:1 harmful warning\n"},
		{"t = \"{ echoreq neighbrsol }\"\nset skip on lo0\nblock in all\npass inet6 proto icmp6 icmp6-type $t\n", ""},
		{"set skip on { em1 l0 }\n", "pf.conf:1:19 unknown-key warning\n"},
		{"o = \"synproxy state (max-src-conn-rate 2/10)\"\npass in proto tcp to port 443 $o\n", "pf.conf:2:31 harmful warning\npf.conf:2:31 harmful warning\n"},
		{"ext = em0\nset skip on lo0\nblock all\npass out\npass in on $ext\n", ""},
		{"ext = em0\nlo = lo0\nblock all\npass out\npass in on { $ext $lo }\n", ""},
		{"# an excerpt\next = em0\nblock in all\npass out\npass in on $ext proto tcp to port ssh\n", ""},
		{"ext = em0\nblock in all\npass out\npass in on $ext proto tcp to port ssh\n", "pf.conf:2:1 harmful warning\n"},
		{"wan_if = em0\npass out from !(wan_if) to (wan_if)\n", "pf.conf:2:17 unknown-key warning\npf.conf:2:29 unknown-key warning\n"},
		{"a = em0\ninclude \"/etc/pf.local\"\npass in on $ext_if from <bad>\n", ""},
		{"table <brute> persist\nblock from <bruet>\npass from { !<brute> <sshguard> <brute2> }\n", "pf.conf:2:12 unknown-key warning\n"},
		{"a = em0\ntable <brute> persist\nblock from <flies>\npass from <friends> to <friends>\npass from any (overload <bad>)\npass from <bad>\n",
			"pf.conf:4:11 unknown-key warning\n"},
		{"match out inet proto tcp set queue a\npass out inet set queue b\n", "pf.conf:1:30 harmful info\n"},
		{"match out inet proto tcp set queue a\nmatch out inet6 proto tcp set queue a\n", ""},
		{"match out proto tcp set queue a\nmatch out inet set queue b\n", ""},
	} {
		for _, system := range []catalog.System{catalog.OpenBSD, catalog.FreeBSD} {
			if system == catalog.FreeBSD { // which writes queue without set
				tt.text = strings.ReplaceAll(tt.text, "set queue", "    queue")
			}
			res := Run(c, files("pf.conf", tt.text), Options{System: system, Kind: "pf.conf"})
			if got := list(res); got != tt.want {
				t.Errorf("%s, %q: got\n%swant\n%s", system, tt.text, got, tt.want)
			}
		}
	}
}

// TestPFOldRules checks statements that FreeBSD has and OpenBSD lost.
func TestPFOldRules(t *testing.T) {
	c := load(t)
	text := "scrub in all\naltq on em0 cbq bandwidth 1Mb\nnat on em0 from 10.0.0.0/8 -> (em0)\nmatch in all scrub (no-df)\npass out nat-to em0\n"
	for system, want := range map[catalog.System]string{
		catalog.OpenBSD: "pf.conf:1:1 syntax error\npf.conf:2:1 syntax error\npf.conf:3:1 syntax error\n",
		catalog.FreeBSD: "",
		"":              "",
	} {
		res := Run(c, files("pf.conf", text), Options{System: system, Kind: "pf.conf"})
		if got := list(res); got != want {
			t.Errorf("%s: got\n%swant\n%s", system, got, want)
		}
	}
}

// TestPFNotYet holds that a statement of a later release is one error.
func TestPFNotYet(t *testing.T) {
	text := "source limiter \"dns\" id 1 entries 2 limit 3 rate 4/5\npass in proto udp to port 53\n"
	for version, want := range map[catalog.Version]string{"7.8": "pf.conf:1:1 not-yet error\n", "7.9": "", "": ""} {
		res := Run(load(t), files("pf.conf", text), Options{System: catalog.OpenBSD, Version: version, Kind: "pf.conf"})
		if got := list(res); got != want {
			t.Errorf("%s: got\n%swant\n%s", version, got, want)
		}
	}
}

// TestPFTranslated holds that FreeBSD before 15 has no options that translate.
func TestPFTranslated(t *testing.T) {
	text := "pass out on em0 inet from 10.0.0.0/8 nat-to (em0)\npass in to any label \"nat-to\"\n"
	for version, want := range map[catalog.Version]string{"14.3": "pf.conf:1:38 not-yet error\n", "15.0": "", "": ""} {
		res := Run(load(t), files("pf.conf", text), Options{System: catalog.FreeBSD, Version: version, Kind: "pf.conf"})
		if got := list(res); got != want {
			t.Errorf("%s: got\n%swant\n%s", version, got, want)
		}
	}
}
