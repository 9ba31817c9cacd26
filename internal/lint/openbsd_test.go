package lint

import (
	"path"
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
		{"the last rule decides", "pf.conf", "# OpenBSD\nset skip on lo\npass in proto tcp to port 22\nblock in all\n", []string{"this rule has no effect: the later rule in line 4"}},
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
		{"options of others", "pf.conf", "# OpenBSD\nset limit { eth-anchors 10, src-node 5 }\nset timeout tcp.establish 9000\nset altq yes\nset limit states 200000\nmatch in scrub (no-df)\nmatch out scrub (no-df)\n",
			[]string{"limit eth-anchors, which is FreeBSD's", "did you mean src-nodes", "no set timeout tcp.establish", "set altq, which is FreeBSD's"}},
		{"options of FreeBSD", "pf.conf", "# FreeBSD\nset limit { eth-anchors 10, states 200000 }\nset fail-policy return\nnat on em0 -> (em0)\n", nil},
		{"loopback and antispoof", "pf.conf", "# OpenBSD\nantispoof quick for em0\nmatch out on pppoe0 nat-to pppoe0\n",
			[]string{"blocks what the host sends to its own address", "write nat-to (pppoe0)"}},
		{"segments of tunnels", "pf.conf", "# OpenBSD\nmatch on wg1 scrub (max-mss 1400)\nmatch on gre0 scrub (max-mss 1436)\n", []string{"write max-mss 1380"}},
		{"daemons that are gone", "rc.conf.local", "rtadvd_flags=em1\nnamed_flags=NO\npkg_scripts=\"a \\\n b\"\npkg_scripts=$x\nunbound_flags=\n",
			[]string{"OpenBSD has no rtadvd since 6.4", "must be on one line", "$x is not expanded"}},
		{"ifconfig of others", "hostname.em0", "inet 192.0.2.5 netmask 255.255.255.0\n-tso lro autoconfprivacy\njoin DHCP wpakey lro\ninet 10.0.0.5\nifconfig_em0=\"DHCP\"\n",
			[]string{"without the word netmask", "no option tso", "write tcplro", "write temporary", "gets that of its class, /8", "a line of rc.conf"}},
		{"ifconfig of OpenBSD", "hostname.em0", "inet 192.0.2.5 255.255.255.0 NONE description lro\ninet6 autoconf -temporary\ntcplro\ninet 192.168.1.2\nmtu 9000 up\n", nil},
		{"peers", "hostname.wg0", "wgkey k wgport 1\nwgpeer a= wgendpoint 192.0.2.1:51820 wgaip 0.0.0.0/0\nwgpeer b= wgendpoint 192.0.2.2 51820\n" +
			"wgpeer c= wgendpoint 2001:db8::1 51820 wgaip ::/0\n", []string{"wgendpoint 192.0.2.1 51820", "no wgaip"}},
		{"a continued peer", "hostname.wg0", "wgkey k wgport 1\nwgpeer a= \\\n\twgendpoint 192.0.2.1 51820 \\\n\twgaip 0.0.0.0/0\nup\n", nil},
		{"gateways", "/etc/mygate", "# a\ndefault 192.0.2.1\n", []string{"not the address of a gateway"}},
		{"a gateway of each family", "/etc/mygate", "192.0.2.1\nfe80::1%em0\n!sleep 1\n192.0.2.2\n", []string{"only the first gateway"}},
		{"a gateway of the link", "/etc/mygate", "fe80::1\n", []string{"write fe80::1%em0"}},
		{"classes", "login.conf", "default:\\\n\t:umask=022:\n\t:tc=a:\ndaemon:\\\n\t:openfiles-max=100:\\\n\t:openfiles-cur=200:\ny:\\\n\t:b:\\ \n\t:c:\n",
			[]string{"belongs to no class", "above openfiles-max = 100", "blanks after the backslash"}},
		{"a class", "login.conf", "daemon:\\\n\t:openfiles=1024:\\\n\t:path=/bin /sbin:\\\n\t:tc=default:\n\nx:openfiles-cur=1:\n", nil},
		{"a relay", "relayd.conf", "t = \"30\"\ninterval 5\ntimeout 6000\nlog all\ntable <a> { 192.0.2.1\n192.0.2.2 }\nhttp protocol p {\n\trequest header append \"a\" to \"b\"\n" +
			"\ttcp { nodelay, backlog 500 }\n}\nrelay r {\n\tlisten on em0 port 443 ssl\n\tsession limit 9\n\tforward to <a> port 80 check http \"/\" code 200 timeout $t\n}\n",
			[]string{"6000 ms is not shorter", "log all since OpenBSD 6.5", "write match request", "write tls", "no session limit", "30 is 30 milliseconds"}},
		{"a relay of today", "relayd.conf", "interval 10\ntimeout 1000\nlog state changes\ntable <a> { 192.0.2.1 }\nhttp protocol p {\n\tmatch request header set \"ssl\" value \"on\"\n" +
			"\ttls session tickets\n\treturn error\n}\nrelay r {\n\tlisten on em0 port 443 tls\n\tprotocol p\n\tsession timeout 30\n\tforward to <a> port 80 check tcp\n}\n", nil},
		{"numbers and buffers of a relay", "relayd.conf", "p = 8080\nq = \"80\"\ntable <a> { 192.0.2.1 }\nprotocol x {\n\ttcp { nodelay, socket buffer 32768 }\n}\n",
			[]string{"write \"8080\"", "socket buffer 32768 fixes"}},
		{"commas of lists", "pf.conf", "# OpenBSD\nm = \"{ 22,\n 80 }\"\ntable <a> {\n 192.0.2.1,\n 192.0.2.2 }\npass in proto tcp to port { 22, 80, }\n" +
			"table <b> { 192.0.2.1, \\\n 192.0.2.2\n 192.0.2.3 }\nmatch in scrub (no-df,\\\n random-id)\n", []string{"write a backslash behind it", "cannot end in a comma"}},
		{"a name without its sign", "pf.conf", "# OpenBSD\nif_w = \"em0\"\negress = \"em0\"\nmatch out on $if_w from 192.0.2.0/24 to !(if_w) nat-to ($if_w)\npass on egress\n",
			[]string{"write $if_w"}},
		{"the loopback interface", "pf.conf", "# OpenBSD\nblock return\npass out\npass in on em0\npass in proto tcp to port 22\n", []string{"over the loopback interface"}},
		{"the loopback interface that is passed", "pf.conf", "# OpenBSD\nblock return\npass out\npass in from self\n", nil},
		{"options that are set again", "pf.conf", "# OpenBSD\nset loginterface em0\nset loginterface em1\nset skip on lo0\nset skip on lo1\n", []string{"loginterface = em0 has no effect"}},
		{"few connections", "pf.conf", "# OpenBSD\nweb = \"{ 80, 443 }\"\npass in proto tcp to port $web keep state (max-src-conn 3)\n" +
			"pass in proto tcp to port 80 keep state (max-src-conn-rate 20/120)\npass in proto tcp to port 443 keep state (max-src-conn 100, max-src-conn-rate 15/5)\n" +
			"pass in proto tcp to port 22 keep state (max-src-conn 3)\n", []string{"max-src-conn 3 shuts out", "max-src-conn-rate 20/120 shuts out"}},
		{"what is translated before", "pf.conf", "# OpenBSD\nlan = \"192.0.2.0/24\"\nmatch out on em0 from $lan nat-to (em0)\npass out on em0 from $lan\npass out on em0 inet6 from $lan\n" +
			"pass in on em0 from $lan\npass out on em1 from $lan\nmatch out on em1 from em2:network nat-to (em1)\npass out on em1 from em2:network\n",
			[]string{"replaces the source $lan before"}},
		{"what FreeBSD translates before", "pf.conf", "# FreeBSD\nset skip on lo\nnat on em0 from em1:network to any -> (em0)\nnat on em2 inet from em1:network to any -> (em2)\n" +
			"pass out on em0 from em1:network\npass out on em2 from em1:network\npass out on em2 inet from em1:network\n",
			[]string{"replaces the source em1:network before", "replaces the source em1:network before"}},
		{"what may not be translated, or to one of the sources", "pf.conf", "# OpenBSD\nset skip on lo\nmatch out on em0 inet from 192.0.2.0/24 probability 50% nat-to (em0)\npass out on em0 inet from 192.0.2.0/24\n" +
			"match out on em1 inet from em1:network nat-to (em1)\npass out on em1 inet from em1:network\nmatch out on em2 inet from 192.0.2.0/24 nat-to 192.0.2.1\npass out on em2 inet from 192.0.2.0/24\n", nil},
		{"translation to an address of one family", "pf.conf", "# FreeBSD\nset skip on lo\nw = \"2001:db8::1\"\nnat on em0 from em1:network to any -> 192.0.2.1\nrdr on em0 proto tcp to port 80 -> 192.0.2.1\n" +
			"rdr on em0 proto tcp to port 80 -> $w\npass out on em0 from em1:network\n", nil},
		{"options for the rules below them", "pf.conf", "# OpenBSD\nset skip on lo\nset block-policy return\nblock in on em0\nset block-policy drop\nblock in on em1\npass out\n", nil},
		{"rules of two blocks of a guide", "g.md", "# OpenBSD\n```\npass in on em0 proto tcp to port 22 keep state (max-src-conn 9, overload <b>)\n```\nand\n```\nblock in quick from <b>\n```\n" +
			"or\n```\nblock in\npass in on em0 proto tcp to port 22\n```\n", nil},
		{"lines of a guide", "g.md", "# PF on FreeBSD\n\n`/etc/pf.conf`:\n```\nset skip on lo\nnat on em0 from 192.0.2.0/24 to any -> (em0)\nnat on em0 from 192.0.2.0/24 to any -> (em0)\n" +
			"pass out on em0 from 192.0.2.0/24\n```\n", []string{"the rule in line 6 comes first", "the rule in line 6 replaces"}},
		{"what is spared from translation", "pf.conf", "# FreeBSD\nset skip on lo\nno nat on em0 from em1:network to 192.0.2.0/24\nnat on em0 from em1:network to any -> (em0)\n" +
			"pass out on em0 from em1:network\n", nil},
		{"the first of rules of translation", "pf.conf", "# FreeBSD\nnat on em0 inet from 192.0.2.0/24 to any -> (em0)\nno nat on em0 inet from 192.0.2.0/24 to 10.0.0.0/8\n" +
			"nat on em1 from 192.0.2.0/24 to 10.0.0.0/8 -> (em1)\nnat on em1 from 192.0.2.0/24 -> (em1)\nrdr on em0 proto tcp to port 80 -> 192.0.2.1\nrdr on em0 proto tcp to port 81 -> 192.0.2.1\n",
			[]string{"the rule in line 2 comes first"}},
		{"queues of a guide", "g.md", "# OpenBSD\n```\nw = \"egress\"\nqueue a on $w bandwidth 9M max 9M default\nqueue default parent a bandwidth 1M\n```\n",
			[]string{"needs an interface: egress is a group", "cannot be the name of a queue"}},
		{"queues of a guide to FreeBSD", "g.md", "# PF on FreeBSD\n```\nset skip on lo0\nqueue a on em0 bandwidth 9M\nqueue b parent a bandwidth 9M default\n```\n",
			[]string{"has no queues with parents"}},
		{"masks", "hostname.carp0", "inet 192.0.2.9 255.255.250.0 NONE\nvhid 1 carpdev em0 192.0.2.1 255.255.255.0\nvhid 2 carpdev em0 192.0.2.2 netmask 255.255.255.0\n",
			[]string{"one bits are not contiguous", "write netmask 255.255.255.0"}},
		{"a daemon that is enabled", "x.sh", "#!/bin/ksh\nrcctl enable httpd $x rtadvd\nrcctl set rtadvd flags em1\nrcctl disable rtadvd\n", []string{"OpenBSD has no rtadvd since 6.4"}},
		{"classes that are added", "x.sh", "#!/bin/ksh\ncat >> /etc/login.conf <<EOF\nstaff:\\\n\t:openfiles-max=90000:\\\n\t:tc=default:\nown:\\\n\t:openfiles-max=4096:\nEOF\n" +
			"echo kern.maxfiles=60000 >> /etc/sysctl.conf\n", []string{"has a class staff above", "more than kern.maxfiles = 60000"}},
		{"classes of a file that is edited", "x.sh", "#!/bin/ksh\nsed -i /^staff/,/tc=/d /etc/login.conf\ncat >> /etc/login.conf <<EOF\nstaff:\\\n\t:openfiles-max=9000:\\\n\t:tc=default:\nEOF\n", nil},
		{"what printf writes", "x.sh", "#!/bin/ksh\nrcctl enable apmd\nprintf \"\nkern.maxclusters=%d\nkern.maxclustres=%d\n\" $A $B >> /etc/sysctl.conf\n" +
			"printf '%s\\n' kern.maxclusters=900 'net.inet.tcp.sendspace=9' \"$C\" >> /etc/sysctl.conf\n",
			[]string{"did you mean kern.maxclusters", "is below the default", "sendspace does not exist"}},
		{"a template", "pf.conf", "# OpenBSD\n{% if a %}\nset block-policy drop\n{% else %}\nset block-policy return\n{% endif %}\ntable <a> { {% for h in hosts %}{{ h }},\n{% endfor %} }\n" +
			"block all\npass out\npass in on em0 proto tcp keep state (max-src-conn 50, overload <b>)\n", nil},
		{"rules of macOS", "pf.conf", "set limit states 20000\nnat on en0 from 192.0.2.0/24 -> (en0)\nanchor \"com.apple/*\"\nblock in proto tcp to port { 22, }\npass out all",
			[]string{"cannot end in a comma", "the last line has no line end"}},
		{"a block of hostname.if", "g.md", "# CARP on OpenBSD\n`/etc/hostname.carp0`:\n```\ninet 192.0.2.1 255.255.255.0 NONE vhid 1 carpdev em0\n```\nand on the other one\n```\n" +
			"inet 192.0.2.1 255.255.255.0 NONE vhid 1 carpdev em0 advskew 400\n```\n", []string{"advskew must be at most 254"}},
		{"routes", "hostname.em0", "inet 192.0.2.2 255.255.255.0\n!route add -inet6 -prefixlen 56 2001:db8:: ::1\n!route add -net 10.0.0.0 192.0.2.1\n!route add 10.1.0.0 192.0.2.1\n" +
			"!route add -net 10.2.0.0 -netmask 255.255.0.0 192.0.2.1\n!route add -inet6 2001:db8:: -prefixlen 56 ::1\n!route add 10/8 192.0.2.1\n!route add -host 10.0.0.0 192.0.2.1\n" +
			"!route -qn add default 192.0.2.1\n!route add 10.3.0.0/16 192.0.2.1\n!route add -net 10.4/16 192.0.2.1\n",
			[]string{"-prefixlen stands before the address", "refuses -net without a mask", "10.1.0.0 is one host"}},
		{"a report with files that it prints", "report.txt", "Hello,\n\nmy router with OpenBSD 7.5 is slow.\n\n$ cat /etc/hostname.em1\ninet 192.0.2.1 255.255.255.0\n" +
			"$ cat /etc/sysctl.conf\nnet.inet.ip.forwarding=1\nnet.inet.tcp.sendspace=262144\n$ sysctl net.inet\nnet.inet.tcp.recvspace=1\n\nthanks\n",
			[]string{"net.inet.tcp.sendspace does not exist"}},
		{"files in tasks", "x.yml", "- hosts: openbsd\n  tasks:\n    - copy:\n        dest: /etc/pf.conf\n        content: |\n          set limit state 9\n          pass\n" +
			"    - copy:\n        content: |\n          inet 192.0.2.1/24 -tso\n          up\n        dest: /etc/hostname.em0\n" +
			"    - copy:\n        dest: /etc/pf.conf\n        content: |\n          set limit state {{ n }}\n    - copy:\n        dest: /etc/ntpd.conf\n" +
			"        content: |\n          set limit state 9\n", []string{"did you mean states?", "no option tso"}},
		{"lines in tasks", "x.yml", "- hosts: openbsd\n  tasks:\n    - lineinfile:\n        path: /etc/pf.conf\n        line: set limit state 9\n    - lineinfile:\n        line: inet 192.0.2.1/24 -tso\n" +
			"        path: /etc/hostname.em0\n    - lineinfile:\n        line: set limit state 9\n    - lineinfile:\n        path: /etc/pf.conf\n        line: 'set limit state {{ n }}'\n    - lineinfile:\n" +
			"        path: /etc/rc.conf.local\n        line: 'pf_enable=\"YES\"'\n", []string{"did you mean states?", "no option tso", "pf_enable is not a variable of OpenBSD"}},
		{"lines in tasks for no system that is named", "x.yml", "- lineinfile:\n    path: /etc/rc.conf.local\n    line: httpd_flags=\n- lineinfile:\n    path: /etc/pf.conf\n    line: set limit states 9\n", nil},
		{"blanks in a guide", "g.md", "# OpenBSD\n/etc/sysctl.conf\n```\nnet.inet.ip.forwarding=1\nnet.inet6.ip6.forwarding = 1\nYOUR NAME = 1\n```\n", []string{"write key=value without blanks"}},
		{"a limit of another class", "login.conf", "daemon:\\\n\t:openfiles-max=1024:\\\n\t:openfiles-cur=512:\n\nwww:\\\n\t:openfiles-cur=4096:\\\n\t:tc=daemon:\n\nloop:\\\n\t:openfiles-cur=9:\\\n\t:tc=loop:\n\n" +
			"own:\\\n\t:openfiles-cur=4096:\\\n\t:openfiles-max=8192:\\\n\t:tc=daemon:\n", []string{"openfiles-cur = 4096 is above openfiles-max = 1024 in line 2"}},
		{"a class that is misspelt", "login.conf", "default:\\\n\t:tc=auth-defaults:\n\ndaemon:\\\n\t:openfiles=512:\\\n\t:tc=default:\n\nrelay:\\\n\t:tc=daemno:\n",
			[]string{"no class is called daemno; did you mean daemon?"}},
		{"tables of relayd", "relayd.conf", "table <web> { 192.0.2.1 }\nredirect a {\n\tlisten on 192.0.2.9 port 80\n\tforward to <web> check tcp\n\tforward to <wev> check icmp\n}\n",
			[]string{"nothing defines the table <wev>"}},
		{"tables of an included file", "relayd.conf", "include \"/etc/relayd.tables\"\nredirect a {\n\tlisten on 192.0.2.9 port 80\n\tforward to <web> check tcp\n}\n", nil},
		{"words for others", "g.md", "# pf on OpenBSD\n```\nset limit option value\nset limit states 200000\nset skip on lo\npass out\n```\n", nil},
		{"a playbook", "x.yml", "- hosts: openbsd\n  tasks:\n    - ansible.posix.sysctl:\n        name: kern.ipc.somaxconn\n        value: 1024\n", []string{"is a setting of FreeBSD"}},
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

// TestOpenBSDHost holds what is said of files of one host beside each other.
func TestOpenBSDHost(t *testing.T) {
	c := load(t)
	for _, tt := range []struct {
		name  string
		files []string
		want  []string
	}{
		{"a router that does not forward", []string{"etc/pf.conf", "set skip on lo\nmatch out on em0 nat-to em0\n", "etc/sysctl.conf", "ddb.panic=0\n", "etc/hostname.em0", "dhcp\n"},
			[]string{"write nat-to (em0)", "sysctl.conf does not set net.inet.ip.forwarding=1"}},
		{"a router", []string{"etc/pf.conf", "set skip on lo\nmatch out on em0 nat-to em0\n", "etc/sysctl.conf", "net.inet.ip.forwarding=1\n", "etc/hostname.em0",
			"inet 192.0.2.2 255.255.255.0\n", "etc/mygate", "192.0.2.1\n"}, nil},
		{"a router of IPsec", []string{"etc/pf.conf", "set skip on lo\nmatch out on em0 nat-to (em0)\n", "etc/sysctl.conf", "net.inet.ip.forwarding=2\n"}, []string{"2 forwards only packets of IPsec"}},
		{"a router of IPsec that translates nothing", []string{"etc/pf.conf", "set skip on lo\npass\n", "etc/sysctl.conf", "net.inet.ip.forwarding=2\n"}, nil},
		{"a gateway of another network", []string{"etc/mygate", "198.51.100.1\n", "etc/hostname.em0", "inet 192.0.2.2/24\n"},
			[]string{"is in none of the networks of the interfaces (192.0.2.0/24)"}},
		{"a gateway of another network of IPv6", []string{"etc/mygate", "192.0.2.1\n2001:db8:2::1\n", "etc/hostname.em0", "inet 192.0.2.2/24\ninet6 2001:db8:1::2/64\ninet6 alias 2001:db8:3::2 48\n"},
			[]string{"2001:db8:2::1 is in none of the networks of the interfaces (2001:db8:1::/64, 2001:db8:3::/48)"}},
		{"gateways of IPv6", []string{"etc/mygate", "2001:db8:2::1\n", "etc/hostname.em0", "inet6 2001:db8:1::2\ninet6 2001:db8:2::2\n"}, nil},
		{"a gateway of a link", []string{"etc/mygate", "fe80::1%em0\n", "etc/hostname.em0", "inet6 2001:db8:1::2\n"}, nil},
		{"a gateway of IPv6 beside autoconf", []string{"etc/mygate", "2001:db8:2::1\n", "etc/hostname.em0", "inet6 2001:db8:1::2\n", "etc/hostname.em1", "inet6 autoconf\n"}, nil},
		{"a gateway behind a tunnel", []string{"etc/mygate", "2001:db8:2::1\n", "etc/hostname.gif0", "tunnel 192.0.2.1 198.51.100.1\ninet6 2001:db8:1::2 2001:db8:2::1 prefixlen 128\n"}, nil},
		{"carp that is off", []string{"etc/sysctl.conf", "net.inet.carp.allow=0\nddb.panic=0\n", "etc/hostname.em0", "up\n", "etc/hostname.carp0", "vhid 1 carpdev em0 pass x 192.0.2.1\n"}, []string{"carp is off, but hostname.carp0"}},
		{"a gateway beside a command", []string{"etc/mygate", "198.51.100.1\n", "etc/hostname.em0", "inet 192.0.2.2/24\n!ifconfig em0 alias 198.51.100.2/24\n"}, nil},
		{"a gateway beside DHCP", []string{"etc/mygate", "192.0.2.1\n", "etc/hostname.em0", "inet autoconf\n"}, []string{"this gateway is not used: hostname.em0"}},
		{"virtual hosts", []string{"etc/hostname.carp0", "vhid 1 carpdev em0 pass x 192.0.2.1\n", "etc/hostname.carp1", "vhid 1 carpdev em0 pass x 192.0.2.2\n",
			"etc/sysctl.conf", "net.inet.ip.forwarding=1\n", "etc/hostname.em0", "up\n"},
			[]string{"2 carp interfaces without net.inet.carp.preempt=1", "vhid 1 on em0 is that of hostname.carp0 too"}},
		{"virtual hosts of two networks", []string{"etc/hostname.carp0", "vhid 1 carpdev em0 pass x 192.0.2.1\n", "etc/hostname.carp1", "vhid 1 carpdev em1 pass x 192.0.2.2\n",
			"etc/sysctl.conf", "net.inet.carp.preempt=1\n", "etc/hostname.em0", "up\n", "etc/hostname.em1", "up\n"}, nil},
		{"hosts that do not hear each other", []string{"etc/pf.conf", "set skip on { lo em1 }\nblock\npass out\npass in on em0 proto tcp\n", "etc/hostname.em0", "up\n", "etc/hostname.em1", "up\n",
			"etc/hostname.carp0", "vhid 1 carpdev em0 pass x 192.0.2.1\n", "etc/hostname.carp1", "vhid 1 carpdev em1 pass x 198.51.100.1\n", "etc/hostname.pfsync0", "up syncdev em2\n"},
			[]string{"nothing brings em2 up", "this rule blocks carp on em0", "this rule blocks pfsync on em2"}},
		{"hosts that do", []string{"etc/pf.conf", "ext = em0\nset skip on lo\nblock\npass out\npass on $ext proto carp\npass in quick on em1\n", "etc/hostname.em0", "up\n", "etc/hostname.em1", "up\n",
			"etc/hostname.carp0", "vhid 1 carpdev em0 pass x 192.0.2.1\n", "etc/hostname.pfsync0", "up syncdev em1\n"}, nil},
		{"rules of another place", []string{"etc/pf.conf", "block\ninclude \"/etc/pf.more\"\n", "etc/hostname.em0", "up\n", "etc/hostname.carp0", "vhid 1 carpdev em0 pass x 192.0.2.1\n"}, nil},
		{"a bundle that stays down", []string{"etc/hostname.aggr0", "trunkport ix0\ninet 192.0.2.1/24\n", "etc/hostname.ix0", "up\n", "etc/hostname.aggr1", "trunkport ix1\nup\n", "etc/hostname.ix1", "up\n",
			"etc/hostname.trunk0", "trunkproto failover trunkport em0\ninet 198.51.100.1/24\n", "etc/hostname.em0", "up\n"}, []string{"hostname.aggr0 has no line up"}},
		{"a bridge", []string{"etc/hostname.veb0", "add em0\nadd em1\nadd tap0\nup\n", "etc/hostname.em0", "up\n"}, []string{"nothing brings em1 up"}},
		{"full frames", []string{"etc/hostname.pppoe0", "inet 0.0.0.0 255.255.255.255 NONE mtu 1500 pppoedev em0\ndest 0.0.0.1\n", "etc/hostname.em0", "up\n"},
			[]string{"add mtu 1508 to hostname.em0"}},
		{"full frames above an interface that is not told", []string{"etc/hostname.pppoe0", "inet 0.0.0.0 255.255.255.255 NONE mtu 1500 pppoedev em0\ndest 0.0.0.1\n"}, nil},
		{"full frames with room", []string{"etc/hostname.pppoe0", "inet 0.0.0.0 255.255.255.255 NONE mtu 1500 pppoedev em0\ndest 0.0.0.1\n", "etc/hostname.em0", "mtu 1508\nup\n",
			"etc/pf.conf", "match on pppoe0 scrub (max-mss 1460)\n"}, nil},
		{"a long queue", []string{"etc/relayd.conf", "tcp protocol p {\n\ttcp { backlog 900 }\n}\n", "etc/sysctl.conf", "kern.somaxconn=512\nddb.panic=0\n"},
			[]string{"more than kern.somaxconn = 512"}},
		{"a long queue that fits", []string{"etc/relayd.conf", "tcp protocol p {\n\ttcp { backlog 900 }\n}\n", "etc/sysctl.conf", "kern.somaxconn=1024\nddb.panic=0\n"}, nil},
	} {
		var serious, names []string
		in := files(tt.files...)
		for _, f := range in {
			names = append(names, path.Base(f.Path))
		}
		for i := range in {
			in[i].Beside = names
		}
		for _, p := range Run(c, in, Options{System: catalog.OpenBSD}).Problems {
			if p.Severity != Info {
				serious = append(serious, p.Message)
			}
		}
		slices.Sort(serious)
		if same := slices.EqualFunc(serious, tt.want, strings.Contains); !same {
			t.Errorf("%s: %q, want %q", tt.name, serious, tt.want)
		}
	}
}

// TestOtherBSD holds that files of systems which are not described are refused, and those of others are not.
func TestOtherBSD(t *testing.T) {
	c := load(t)
	for text, refused := range map[string]bool{
		"# $NetBSD: sysctl.conf,v 1.8 $\nnet.inet.tcp.sendspace=9\n":           true,
		"kern.sbmax=16777216\nnet.inet.tcp.sendspace=9\n":                      true,
		"# from NetBSD\nnet.inet.tcp.sendbuf_max=9\n":                          false,
		"# $OpenBSD: a,v 1.1 $ after $NetBSD: a $\nnet.inet.ip.forwarding=1\n": false,
	} {
		if res := Run(c, files("sysctl.conf", text), Options{}); refused != (len(res.Errors) > 0) {
			t.Errorf("%q: %v", text, res.Errors)
		}
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
