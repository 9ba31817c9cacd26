package lint

import (
	"slices"
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/catalog"
)

// TestOpenBSD checks what is said of OpenBSD's files, and of guides and scripts that write them; what is not listed is
// an info at most.
func TestOpenBSD(t *testing.T) {
	c := load(t)
	for _, tt := range []struct {
		name, path, text string
		want             []string
	}{
		{"rules of a guide", "g.md", "# PF on OpenBSD\n```\naltq on em0 hfsc bandwidth 5Mb queue { a }\nqueue a bandwidth 5% hfsc(default)\n```\n" +
			"More:\n```\nset limit states 3000\npass in on ext_if proto tcp\npass quick all\npass in on em0 from any\n```\n",
			[]string{"has no altq", "is below the default", "ext_if is read as an interface name"}},
		{"rules of FreeBSD", "g.md", "# PF on FreeBSD\n```\naltq on em0 hfsc bandwidth 5Mb queue { a }\nqueue a bandwidth 5% hfsc(default)\n```\n", nil},
		{"rules of either", "g.md", "PF came from OpenBSD to FreeBSD:\n```\nscrub in all\nnat on em0 -> (em0)\n```\n", nil},
		{"rules in prose", "g.txt", "On my OpenBSD box this\n\naltq on em0 priq bandwidth 2Mb queue { a }\nqueue a priority 7 qlimit 20\n\nworks:\n\n" +
			"$ pfctl -sq\nqueue a priority 7 qlimit 20\n", []string{"has no altq"}},
		{"what sysctl prints", "g.txt", "My OpenBSD host\ntakes no more\nclients after a day:\n\n$ sysctl kern.maxfiles kern.nfiles\nkern.maxfiles=300\nkern.nfiles=61\n", nil},
		{"a session", "g.md", "# OpenBSD\n```\n# echo net.inet.tcp.sendspace=9000 >> /etc/sysctl.conf\nfw$ doas tee -a /etc/sysctl.conf <<EOF\n" +
			"net.inet.tcp.recvspace=9000\nEOF\n# sysctl kern.bufcachepercent\nkern.bufcachepercent=90\n```\n",
			[]string{"sendspace does not exist", "recvspace does not exist"}},
		{"files that cat prints", "g.md", "# OpenBSD\n```\n# cat /etc/hostname.em0\nup\n$ cat /etc/hostname.trunk0\ntrunkproto lacp trunkport em0\n```\n",
			[]string{"the value lacp was removed in"}},
		{"a file that an editor opens", "g.md", "# OpenBSD\n```\n$ doas vi /etc/hostname.pppoe0\n```\n\n```\ninet 0.0.0.0 255.255.255.255 NONE \\\n" +
			"\tpppoedev em0 authproto chap \\\n\tup\ndest 0.0.0.1\n!/sbin/route add default -ifp pppoe 0.0.0.1\n```\n", []string{"there is no interface pppoe"}},
		{"notes", "notes.sh", "# OpenBSD\nvi /etc/pf.conf\n\naltq on em0 cbq bandwidth 2Mb queue { a }\npass out on em0 proto tcp queue a\napt-get install x\n",
			[]string{"has no altq"}},
		{"a file below its name", "g.txt", "OpenBSD:\n\n/etc/hostname.pppoe0\n\ninet 0.0.0.0 255.255.255.255 NONE pppoedev em1 up\ndest 0.0.0.1\n" +
			"!/sbin/route add default -ifp pppoe0 0.0.0.\n", []string{"is not a valid address"}},
		{"a route", "hostname.em0", "inet 192.0.2.2 255.255.255.0\n!route add -inet 198.51.100/24 192.0.2.1\n!route add default -ifp egress 192.0.2.1\n", nil},
		{"a prefix that is none", "hostname.em0", "inet 192.0.2.2 255.255.255.0\n!route add -inet 198.51.100.0/42 192.0.2.1\n",
			[]string{"198.51.100.0/42 is not a valid address"}},
		{"a word for the broadcast address", "hostname.carp0", "inet 192.0.2.2 255.255.255.0 vhid 1 carpdev em0 adskew 100\n",
			[]string{"vhid is taken for the broadcast address", "did you mean advskew"}},
		{"commands without their sign", "hostname.em0", "inet 192.0.2.2 255.255.255.0 NONE !\nroute add 10/8 192.0.2.1\n!route add 10/8 192.0.2.1\n",
			[]string{"a command needs a line of its own", "route is passed to ifconfig"}},
		{"a password", "hostname.iwm0", "join a wpakey !route\nnwid \"!b\"\ninet autoconf\n", nil},
		{"files of two hosts", "g.txt", "#!/bin/sh\n# A\ncat <<EOF > /etc/hostname.em0\ninet 192.0.2.2 255.255.255.0\nEOF\n# B\n" +
			"cat <<EOF > /etc/hostname.em0\ninet 192.0.2.3 255.255.255.0\nEOF\n", nil},
		{"settings that were OpenBSD's", "g.md", "# OpenBSD\n```\nsysctl net.inet.tcp.sendspace=9000\nsysctl net.inet.tcp.recvspace=9000\n```\n" +
			"```\necho net.inet.tcp.sendspace=9000 >> /etc/sysctl.conf\necho net.inet.tcp.recvspace=9000 >> /etc/sysctl.conf\n```\n",
			[]string{"sendspace does not exist", "recvspace does not exist", "sendspace does not exist", "recvspace does not exist"}},
		{"a macro of two lines", "g.md", "# OpenBSD\n```sh\nnets = \"{ 10.0.0.0/8,\n  192.0.2.0/24 }\"\nset limit states 100\npass in on em0 from $nets\n```\n",
			[]string{"is below the default"}},
		{"a broadcast address", "hostname.carp0", "inet 192.0.2.2 255.255.255.0 NONE vhid 1 carpdev em0 advskew 100\ninet alias 192.0.2.3 0xffffffff\n", nil},
		{"files that a script of a guide writes", "g.md", "# OpenBSD\n```sh\n# cat > /etc/hostname.carp0 <<'EOF'\n" +
			"inet 192.0.2.2 255.255.255.0 vhid 1 carpdev em0\nEOF\n# ifconfig em0 $ADDRESS net mask 255.255.255.0\n```\n", []string{"vhid is taken for the broadcast address"}},
		{"a script with variables", "x.sh", "#!/bin/sh\necho \"inet $A 255.255.255.0 $B vhid 1 carpdev em0 adskew 1\" > /etc/hostname.carp0\nifconfig em0 $A net mask 255.255.255.0\n",
			[]string{"did you mean advskew", "netmask as one word"}},
		{"the last rule decides", "pf.conf", "# OpenBSD\npass in proto tcp to port 22\nblock in all\n", []string{"this rule has no effect: the later rule in line 3"}},
		{"queues that hold nothing back", "pf.conf", "# OpenBSD\nqueue a on em0 bandwidth 90M\nqueue b parent a bandwidth 50M min 95M default\n",
			[]string{"are guaranteed 95 Mbit/s in total", "the queue a has no max"}},
		{"few states", "pf.conf", "# OpenBSD\nset timeout { udp.multiple 5, adaptive.start 10, adaptive.end 2000 }\nmatch in scrub (max-mss 500)\n",
			[]string{"udp.multiple = 5 is harmful", "adaptive.end = 2000 is below", "max-mss = 500 is harmful"}},
		{"few ports", "sysctl.conf", "kern.somaxconn=512\nnet.inet.ip.portfirst=20000\nnet.inet.ip.portlast=20100\nhw.perfpolicy=low\n",
			[]string{"leaves only 101 ports", "hw.perfpolicy = low is out of range"}},
		{"a bridge that is down", "hostname.bridge0", "add em0\nadd em1\n", []string{"has no line up"}},
		{"a bridge", "hostname.veb0", "add em0\nadd vport0\nup\n", nil},
		{"an aggregation", "hostname.aggr0", "trunkproto lacp trunkport em0 trunkport em1\nup\n", nil},
		{"numbers of options", "hostname.carp1", "inet 192.0.2.1 255.255.255.0 NONE vhid 256 carpdev em0 advskew 100\n", []string{"vhid must be at most 255"}},
		{"a large network of another kind", "hostname.vxlan1", "vnetid 70000\nparent em0\nup\n", nil},
		{"a slow default", "pf.conf", "queue a on em0 bandwidth 90M max 90M\nqueue b parent a bandwidth 1M max 1M default\nqueue c parent a bandwidth 89M\npass out\nmatch out set queue b\n",
			[]string{"unassigned traffic uses b"}},
		{"a file that is begun anew", "x.sh", "#!/bin/ksh\necho kern.maxfiles=20000 | doas tee /etc/sysctl.conf\necho kern.somaxconn=512 | doas tee /etc/sysctl.conf\n" +
			"echo kern.maxthread=9000 | doas tee /etc/sysctl.conf\n", []string{"this is lost"}},
		{"a file that grows", "x.sh", "#!/bin/ksh\necho '# own' > /etc/sysctl.conf\necho kern.maxfiles=20000 > /etc/sysctl.conf\n" +
			"echo kern.somaxconn=512 | doas tee -a /etc/sysctl.conf\ncp /etc/sysctl.conf /root\necho kern.somaxconn=512 > /etc/sysctl.conf\n" +
			"if a; then\n echo kern.somaxconn=512 > /etc/sysctl.conf\nfi\n", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var serious []string
			for _, p := range Run(c, files(tt.path, tt.text), Options{}).Problems {
				if p.Severity != Info {
					serious = append(serious, p.Message)
				}
			}
			same := slices.EqualFunc(serious, tt.want, strings.Contains)
			if !same {
				t.Errorf("%q, want %q", serious, tt.want)
			}
		})
	}
}

// TestOpenBSDNamed holds that comments tell the system of rules that every pf takes.
func TestOpenBSDNamed(t *testing.T) {
	for text, want := range map[string]catalog.System{
		"# for OpenBSD\nset skip on lo\npass in on em0\n":              catalog.OpenBSD,
		"# $FreeBSD$\n# $OpenBSD$\nset skip on lo\npass in on em0\n":   "",
		"# as on OpenBSD\nset skip on lo\nnat on em0 -> (em0)\npass\n": catalog.FreeBSD,
	} {
		if got := SystemOf(files("pf.conf", text), Options{}); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
