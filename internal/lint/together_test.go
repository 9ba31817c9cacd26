package lint

import (
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/catalog"
)

// TestTogether judges lines that act with lines of other names or files.
func TestTogether(t *testing.T) {
	c := load(t)
	const rc, sysctl, loader, jail = "/etc/rc.conf", "/etc/sysctl.conf", "/boot/loader.conf", "/etc/jail.conf"
	for _, tt := range []struct {
		name  string
		files []string
		want  string // what the only warning says, "" for none
	}{
		{"a route that is not described", []string{rc, "static_routes=\"a b:em0\"\nroute_a=\"-net 10.0.0.0/8 192.0.2.1\"\n"}, `static_routes lists "b"`},
		{"a route that is not listed", []string{rc, "static_routes=\"a\"\nroute_a=\"x\"\nroute_b=\"y\"\n"}, "route_b is not in static_routes"},
		{"routes", []string{rc, "static_routes=\"a b\"\nroute_a=\"x\"\nroute_b=\"y\"\n"}, ""},
		{"a pasted sysrc", []string{rc, "sysrc pf_enable=\"YES\"\n"}, "runs sysrc again"},
		{"routes of a condition", []string{rc, "static_routes=\"a\"\nif [ -f /x ]; then route_a=\"x\"; fi\n"}, ""},
		{"two filters", []string{rc, "pf_enable=YES\nfirewall_enable=\"YES\"\n"}, "switch on two packet filters"},
		{"one filter", []string{rc, "pf_enable=YES\nfirewall_enable=\"NO\"\n"}, ""},
		{"forwarding that rc.conf undoes", []string{rc, "hostname=a\n", sysctl, "net.inet.ip.forwarding=1\n"}, `does not set gateway_enable="YES"`},
		{"forwarding that sysctl.conf undoes", []string{rc, "gateway_enable=YES\n", sysctl, "net.inet.ip.forwarding=0\n"}, "rc.conf:1 sets gateway_enable"},
		{"forwarding", []string{rc, "gateway_enable=YES\n", sysctl, "net.inet.ip.forwarding=1\n"}, ""},
		{"forwarding without rc.conf", []string{sysctl, "net.inet.ip.forwarding=1\n"}, ""},
		{"advertisements on a router", []string{rc, "ipv6_gateway_enable=YES\nifconfig_em0_ipv6=\"inet6 accept_rtadv\"\n"}, "accept_rtadv, which ipv6_gateway_enable"},
		{"advertisements on a router of a home", []string{rc, "ipv6_gateway_enable=YES\nipv6_cpe_wanif=em0\nifconfig_em0_ipv6=\"inet6 accept_rtadv\"\n"}, ""},
		{"advertisements on a host", []string{rc, "ifconfig_em0_ipv6=\"inet6 accept_rtadv\"\n"}, ""},
		{"advertisements that none takes", []string{rc, "rtsold_enable=YES\nifconfig_em0_ipv6=\"inet6 2001:db8::1/64\"\n"}, "no line of an interface says accept_rtadv"},
		{"advertisements that one takes", []string{rc, "rtsold_enable=YES\nifconfig_em0_ipv6=\"inet6 2001:db8::1/64\"\nifconfig_em1_ipv6=\"inet6 accept_rtadv\"\n"}, ""},
		{"advertisements that a sysctl takes", []string{rc, "rtsold_enable=YES\nifconfig_em0_ipv6=\"inet6 2001:db8::1/64\"\n", sysctl, "net.inet6.ip6.accept_rtadv=1\n"}, ""},
		{"advertisements of interfaces that are set elsewhere", []string{rc, "rtsold_enable=YES\nifconfig_em0=DHCP\n"}, ""},
		{"an address of two interfaces", []string{rc, "ifconfig_em0=\"inet 192.0.2.9/24\"\nifconfig_em1=\"inet 192.0.2.9 netmask 255.255.255.0\"\n"}, "the address 192.0.2.9, which em0 has (line 1)"},
		{"an address in two examples", []string{"a.md", "rc.conf:\n```\nifconfig_em0=\"inet 192.0.2.9/24\"\n```\nrc.conf:\n```\nifconfig_em1=\"inet 192.0.2.9/24\"\n```\n"}, ""},
		{"an address twice in one example", []string{"a.md", "rc.conf:\n```\nifconfig_em0=\"inet 192.0.2.9/24\"\nifconfig_em1=\"inet 192.0.2.9/24\"\n```\n"}, "which em0 has (line 3)"},
		{"several files in one block", []string{"a.md", "```\n# /etc/rc.conf\nifconfig_em0=DHCP\n# /etc/sysctl.conf\nnet.inet.tcp.recvbuf_inc=9\n```\n"}, "recvbuf_inc does not exist"},
		{"a VLAN that nothing makes", []string{rc, "hostname=a\nifconfig_vlan7=\"inet 192.0.2.9/24 vlan 7 vlandev em0\"\nifconfig_em0=up\n"}, "nothing creates vlan7"},
		{"a VLAN of its parent's list", []string{rc, "hostname=a\nvlans_em0=vlan7\nifconfig_vlan7=\"inet 192.0.2.9/24 vlan 7 vlandev em0\"\nifconfig_em0=up\n"}, ""},
		{"typographic quotes", []string{rc, "gateway_enable=”YES”\n"}, "write gateway_enable=\"YES\""},
		{"typographic quotes in a guide", []string{"a.md", "/etc/rc.conf\n```\nifconfig_em0=DHCP\nsshd_enable=“YES”\n```\n"}, "write sshd_enable=\"YES\""},
		{"an open quote in a guide", []string{"a.md", "/etc/rc.conf\n```\nifconfig_em1=DHCP\nifconfig_em0=\"DHCP\n```\n"}, "quote is not closed"},
		{"a broadcast address of no network", []string{"hostname.em0", "inet 192.0.2.9 255.255.255.0 192.0.2.0\n"}, "192.0.2.255, or NONE"},
		{"broadcast addresses", []string{"hostname.em0", "inet 192.0.2.9 255.255.255.128 192.0.2.127\ninet alias 192.0.2.200 255.255.255.255 192.0.2.200\n"}, ""},
		{"an address of a member of a bridge", []string{rc, "ifconfig_bridge0=\"addm em0 addm em1 up\"\nifconfig_em0=\"inet 192.0.2.9/24\"\nifconfig_em1=\"up\"\n"}, "the address belongs to the bridge"},
		{"an address of a bridge", []string{rc, "ifconfig_bridge0=\"inet 192.0.2.9/24 addm em0 up\"\nifconfig_em0=\"up\"\nifconfig_em1=\"DHCP\"\n"}, ""},
		{"an address without a mask", []string{rc, "ifconfig_em0=\"inet 10.0.0.9\"\n"}, "without a mask"},
		{"addresses that need no mask", []string{rc, "ifconfig_em0=\"inet 192.0.2.9 netmask 255.255.255.0\"\nifconfig_lo1=\"inet 127.0.1.1\"\nifconfig_gif0=\"inet 10.0.0.1 10.0.0.2\"\nifconfig_em1=\"DHCP\"\n"}, ""},
		{"segments that libalias cannot change", []string{rc, "firewall_enable=YES\nfirewall_nat_enable=YES\n", sysctl, "net.inet.tcp.tso=1\n"}, "translates addresses by libalias"},
		{"no segments for libalias", []string{rc, "firewall_enable=YES\ngateway_enable=YES\nfirewall_nat_enable=YES\n", sysctl, "net.inet.tcp.tso=0\n"}, ""},
		{"a port that nothing brings up", []string{rc, "hostname=a\ncloned_interfaces=lagg0\nifconfig_lagg0=\"laggproto lacp laggport em0 laggport em1 up\"\nifconfig_em1=\"up\"\n"}, "has the port em0"},
		{"the segment size of peers that announce none", []string{sysctl, "net.inet.tcp.mssdflt=1460\n"}, "mssdflt = 1460 does not have"},
		{"the segment size without discovery", []string{sysctl, "net.inet.tcp.mssdflt=1460\nnet.inet.tcp.path_mtu_discovery=0\n"}, "path_mtu_discovery = 0 is harmful"},
		{"a tunnel as large as its path", []string{rc, "ifconfig_wg0=\"inet 10.9.0.1/24 mtu 1500\"\n"}, "write mtu 1420"},
		{"a tunnel on a larger path", []string{rc, "ifconfig_ix0=\"inet 192.0.2.9/24 mtu 9000\"\nifconfig_wg0=\"inet 10.9.0.1/24 mtu 1500\"\n"}, ""},
		{"settings of FreeBSD in YAML", []string{"a.yml", "- hosts: gates\n  tasks:\n    - sysctl:\n        name: net.inet.tcp.recvbuf_inc\n        value: 65536\n    - lineinfile:\n        line: 'net.isr.maxthreads=\"-1\"'\n"}, "recvbuf_inc does not exist"},
		{"ports", []string{rc, "hostname=a\ncloned_interfaces=\"tap0 bridge0\"\nifconfig_bridge0=\"addm em0 addm tap0 up\"\nifconfig_em0=\"up\"\n"}, ""},
		{"a prefix that is too long", []string{rc, "ifconfig_em0=\"inet 192.0.2.9/33\"\n"}, "at most /32"},
		{"prefixes", []string{rc, "ifconfig_em0=\"inet 192.0.2.9/32\"\nifconfig_em0_ipv6=\"inet6 2001:db8::9/128\"\n"}, ""},
		{"a tag that there is not", []string{rc, "vlans_em0=\"20 4095\"\nifconfig_em0=up\n"}, "lists the tag 4095"},
		{"a VLAN above its parent", []string{rc, "vlans_em0=\"20\"\nifconfig_em0=up\nifconfig_em0_20=\"inet 192.0.2.9/24 mtu 9000\"\n"}, "sets mtu 9000, and em0"},
		{"a VLAN below its parent", []string{rc, "vlans_em0=\"20\"\nifconfig_em0=\"up mtu 9000\"\nifconfig_em0_20=\"inet 192.0.2.9/24 mtu 1500\"\n"}, ""},
		{"rules of a guide out of order", []string{"guide.md", "# pf on FreeBSD\n```\nset skip on lo\nblock in all\npass out\nscrub in all\n```\n"}, "out of order"},
		{"parts of a guide", []string{"guide.md", "# pf on FreeBSD\n```\npass out\nblock in all\nscrub in all\nnat on em0 from 192.0.2.0/24 -> (em0)\n```\n"}, ""},
		{"a translation without its firewall", []string{rc, "natd_enable=YES\n"}, "natd_enable does nothing without firewall_enable"},
		{"two daemons", []string{rc, "ntpd_enable=YES\nchronyd_enable=YES\n"}, "start two daemons for one task"},
		{"one of two daemons", []string{rc, "ntpd_enable=NO\nchronyd_enable=YES\n"}, ""},
		{"a rule that is always there", []string{"/etc/ipfw.rules", "#!/bin/sh\ncmd=\"ipfw -q add\"\n$cmd 100 allow ip from any to any\n$cmd 65535 deny ip from any to any\n"}, "rule numbers up to 65534"},
		{"a rule that nothing which goes out reaches", []string{"/etc/ipfw.rules", "#!/bin/sh\nkldload ipfw\nipfw add 100 allow all from any to any out keep-state\nipfw add 200 deny tcp from any to any 25 out\n"}, "decides about all of them that go out"},
		{"a rule of the other direction", []string{"/etc/ipfw.rules", "#!/bin/sh\nkldload ipfw\nipfw add 100 allow all from any to any out keep-state\nipfw add 200 deny tcp from any to me 23 in\nipfw add 300 deny tcp from any to me 25\n"}, ""},
		{"a rule that nothing via its interface reaches", []string{"/etc/ipfw.rules", "c=\"ipfw -q add\"\n$c 10 allow ip from any to any via wg1\n$c 30 skipto 900 tcp from 192.0.2.0/24 to any out via wg1\n$c 900 allow ip from any to any\n"}, "decides about all of them via wg1"},
		{"behind a jump", []string{"/etc/ipfw.rules", "ipfw add 5 skipto 30 tcp from any to any\nipfw add 10 allow ip from any to any via wg1\nipfw add 30 deny tcp from any to any 25 out via wg1\n"}, ""},
		{"received there", []string{"/etc/ipfw.rules", "ipfw add 10 allow ip from any to any via wg1\nipfw add 30 deny tcp from any to any 25 out recv wg1\n"}, ""},
		{"translation one way", []string{"/etc/ipfw.rules", "ipfw nat 7 config if em0\nipfw add 10 nat 7 ip from any to any out via em0\nipfw add 20 allow ip from any to any\n"}, "none as they come in"},
		{"translation without an instance", []string{"/etc/ipfw.rules", "ipfw -q -f flush\nipfw add 10 nat 7 ip from any to any via em0\n"}, "no line configures nat 7"},
		{"a part of a script", []string{"/etc/ipfw.rules", "ipfw add 10 nat 7 ip from any to any via em0\n"}, ""},
		{"a script in a post", []string{"post.md", "FreeBSD: my hosts behind the gateway get no answers at all.\n\n#!/bin/sh\nc=\"ipfw -q add\"\nipfw nat 3 config if em0\n\n" +
			"$c 90 nat 3 all from any to any out via em0\n$c 99 allow all from any to any\n\nWhat is missing in these rules of mine?\n"}, "none as they come in"},
		{"translation both ways", []string{"/etc/ipfw.rules", "ipfw nat 7 config if em0\nipfw add 10 nat 7 ip from any to any out via em0\nipfw add 15 nat 7 ip from any to me in\n"}, ""},
		{"a rule that nothing reaches", []string{"/etc/ipfw.rules", "#!/bin/sh\nkldload ipfw\nipfw add 100 allow all from any to any\nipfw add 200 deny tcp from any to me 23\n"}, "decides about all of them"},
		{"rules", []string{"/etc/ipfw.rules", "#!/bin/sh\nkldload ipfw\nipfw add 50 skipto 200 tcp from any to me 23\nipfw add 100 allow all from any to any\nipfw add 200 deny tcp from any to me 23\n"}, ""},
		{"rules after a flush", []string{"/etc/ipfw.rules", "#!/bin/sh\nkldload ipfw\nipfw add 100 allow all from any to any\nipfw -q -f flush\nipfw add 200 deny tcp from any to me 23\n"}, ""},
		{"an instance that is not configured", []string{"/etc/ipfw.rules", "#!/bin/sh\nkldload ipfw\nipfw nat 1 config if em0\nipfw add 100 nat 2 ip from any to any\n"}, "no line configures nat 2"},
		{"a queue that is too long", []string{"/etc/ipfw.rules", "#!/bin/sh\nkldload dummynet\nipfw pipe 1 config bw 20Mbit/s queue 500\nipfw add 100 pipe 1 ip from any to any\n"}, "queue 500 is more than"},
		{"a long queue", []string{"/etc/ipfw.rules", "#!/bin/sh\nkldload dummynet\nsysctl net.inet.ip.dummynet.pipe_slot_limit=1000\nipfw pipe 1 config bw 20Mbit/s queue 500\n"}, ""},
		{"tunables of config.xml", []string{"config.xml", "<opnsense><sysctl><item>\n<tunable>net.inet.ip.fastforwarding</tunable>\n<value>1</value>\n</item><item><tunable>net.inet.tcp.tso</tunable><value>default</value></item></sysctl></opnsense>\n"}, "fastforwarding does not exist"},
		{"a post of a forum", []string{"post.txt", "My tuning:\n/etc/sysctl.conf\n[CODE]\nnet.inet.tcp.msl=15000\nnet.inet.tcp.inflight.enable=1\n[/CODE]\n"}, "inflight.enable does not exist"},
		{"a wiki about two systems", []string{"page.wiki", "== FreeBSD ==\nIn /etc/sysctl.conf:\n<pre>\nnet.inet.tcp.blackhole=2\n</pre>\n== OpenBSD ==\nIn /etc/sysctl.conf:\n<pre>\nnet.inet.ip.ifq.maxlen=4096\n</pre>\n"}, ""},
		{"a congestion control that there is not", []string{loader, "cc_bbr_load=\"YES\"\n"}, "bbr is a TCP stack: tcp_bbr_load"},
		{"sysrc of the loader's file", []string{"/root/tune.sh", "#!/bin/sh\nsysrc -f /boot/loader.conf fuse_load=\"YES\"\nsysrc -f /etc/rc.conf kld_list+=\"cuse\"\n"}, "it is called fusefs_load now"},
		{"a name with dots for sysrc", []string{"/root/tune.sh", "#!/bin/sh\nsysrc -f /boot/loader.conf kern.ipc.nmbjumbop=2097152\n"}, "none has a dot"},
		{"half a word", []string{rc, "pflog_enable=\"Y\"\n"}, "takes YES or NO"},
		{"a file of rules", []string{"/etc/ipfw.rules", "add 100 allow ip from any to any\nadd 200 deny log all from any to any\n"}, "decides about all of them"},
		{"a default router outside", []string{rc, "ifconfig_em0=\"inet 192.0.2.9 netmask 255.255.255.0\"\nifconfig_em1=\"up\"\ndefaultrouter=\"198.51.100.1\"\n"}, "none of the networks of the interfaces (192.0.2.0/24) has 198.51.100.1"},
		{"a default router", []string{rc, "ifconfig_em0=\"inet 192.0.2.9 netmask 0xffffff00\"\ndefaultrouter=\"192.0.2.1\"\n"}, ""},
		{"a default router of a bridge", []string{rc, "ifconfig_bridge0=\"addm em0 192.0.2.9/24\"\nifconfig_em1=\"198.51.100.4/24\"\ndefaultrouter=\"192.0.2.1\"\n"}, ""},
		{"a default router beside DHCP", []string{rc, "ifconfig_em0=\"SYNCDHCP\"\nifconfig_em1=\"inet 192.0.2.9/24\"\ndefaultrouter=\"198.51.100.1\"\n"}, ""},
		{"a default router beyond a tunnel", []string{rc, "ifconfig_gif0=\"inet 10.0.0.1 10.0.0.2\"\nifconfig_em1=\"inet 192.0.2.9/24\"\ndefaultrouter=\"10.0.0.2\"\n"}, ""},
		{"a default router without an address", []string{rc, "ifconfig_bridge0=\"addm em0 up\"\nifconfig_em0=\"up\"\ndefaultrouter=\"192.0.2.1\"\n"}, "no line of ifconfig gives an interface an address"},
		{"a default router of a wireless link", []string{rc, "wlans_ath0=wlan0\nifconfig_em0=\"up\"\ndefaultrouter=\"192.0.2.1\"\n"}, ""},
		{"a table of a guide", []string{"README.md", "# FreeBSD\n| Tunable | Value | Default |\n|:--|--|--|\n| `net.inet.tcp.recvbuf_inc` | 65536 | 16384 |\n| `hw.igb.rxd` | 4096 (or 2048) | |\n| net.isr.maxthreads | -1 | 1 |\n"}, "recvbuf_inc does not exist"},
		{"a list of a guide", []string{"README.md", "* /etc/sysctl.conf\n  * net.inet.tcp.blackhole=2\n  * net.inet.tcp.path_mtu_discovery=0\n* net.inet.udp.blackhole=1 or 2\n"}, "path_mtu_discovery"},
		{"commands of a guide", []string{"README.md", "/etc/sysctl.conf of FreeBSD:\n```\nkern.ipc.maxsockbuf=67108864\n```\n\n```\nkldload cc_htcp\nsysctl net.inet.tcp.rfc6675_pipe=1\n```\n"}, "rfc6675_pipe does not exist"},
		{"the address of a network", []string{rc, "ifconfig_em0=\"inet 192.0.2.0/24\"\n"}, "the address of the network itself"},
		{"the broadcast address of a network", []string{rc, "ifconfig_em0=\"inet 192.0.2.127 netmask 255.255.255.128\"\n"}, "the broadcast address of its network"},
		{"addresses of small networks", []string{rc, "ifconfig_em0=\"inet 192.0.2.0/31\"\nifconfig_em1=\"inet 192.0.2.9/32\"\nifconfig_gif0=\"inet 10.0.0.0/24 10.0.0.1\"\n"}, ""},
		{"the router of a route outside", []string{rc, "ifconfig_em0=\"inet 192.0.2.9/24\"\nstatic_routes=\"a b c\"\nroute_a=\"-net 10.0.0.0 -netmask 255.0.0.0 198.51.100.1\"\nroute_b=\"-net 10.0.0.0/8 192.0.2.1\"\nroute_c=\"-net 10.0.0.0/8 -iface em1\"\n"}, "has 198.51.100.1"},
		{"a vlan without its tag", []string{rc, "vlans_em0=\"10 guests lan\"\ncreate_args_guests=\"vlan 20\"\nifconfig_em0=up\nifconfig_lan=\"inet 192.0.2.9/24\"\n"}, "create_args_lan"},
		{"vlans", []string{rc, "vlans_em0=\"10 guests lan\"\ncreate_args_guests=\"vlan 20\"\nifconfig_lan=\"vlan 30 192.0.2.9/24\"\n"}, ""},
		{"a pasted prompt", []string{rc, "root@gate:~ # cat /etc/rc.conf\nhostname=a\n"}, "the prompt of a shell"},
		{"a word of ifconfig in capitals", []string{rc, "ifconfig_em0=\"UP mtu 9000\"\n"}, "did you mean up"},
		{"words of rc.conf in capitals", []string{rc, "ifconfig_em0=\"WPA SYNCDHCP\"\nifconfig_em1=\"NOAUTO\"\n"}, ""},
		{"a guide", []string{"router.md", "# Router\nIn `/boot/loader.conf`:\n\n```\nnet.isr.maxthreads=-1\nfuse_load=YES\n```\nText.\n\n```sh\n# sysctl net.inet.tcp.tso=1\n```\n"}, "it is called fusefs_load"},
		{"a guide that names two files", []string{"router.md", "loader.conf or rc.conf of FreeBSD\n```\nfuse_load=\"YES\"\n```\n/boot/loader.conf\n```\nkern.hz=1000\n```\n"}, "fuse_load does not exist"},
		{"a slip in a word of ifconfig", []string{rc, "ifconfig_em0=\"inet 192.0.2.9/24 broadcst 192.0.2.255\"\n"}, "did you mean broadcast"},
		{"words of ifconfig", []string{rc, "ifconfig_em0=\"inet 192.0.2.9/24 media autoselect description medai\"\n"}, ""},
		{"a loader's value that a script writes last", []string{"x.sh", "#!/bin/sh\necho kern.maxfiles=2000000 >> /etc/sysctl.conf\necho 'kern.maxfiles=\"3000000\"' >> /boot/loader.conf\n"}, "is in effect only until"},
		{"a file that nothing reads", []string{"x.sh", "#!/bin/sh\ncat > /etc/sysctl.d/9.conf <<EOF\nnet.inet.tcp.blackhole=2\nEOF\n"}, "does not read /etc/sysctl.d"},
		{"variables that a script writes", []string{"x.sh", "#!/bin/sh\necho 'static_routes=\"a\"' >> /etc/rc.conf\necho \"hostname=\\\"b\\\"\" >> /etc/rc.conf\n"}, "no line sets route_a"},
		{"settings in a variable", []string{"x.sh", "#!/bin/sh\nTUNE='\n# old\nnet.inet.tcp.recvbuf_inc=65536\nnet.inet.tcp.recvbuf_auto=1\n'\n"}, "recvbuf_inc does not exist"},
		{"settings of two runs", []string{"x.sh", "#!/bin/sh\na='\nnet.inet.tcp.sendspace=131072\nnet.inet.tcp.recvspace=131072\n'\nb='\nnet.inet.tcp.sendspace=262144\nnet.inet.tcp.recvspace=262144\n'\n"}, ""},
		{"quotation marks behind backslashes", []string{"x.sh", "#!/bin/sh\necho \"# old\nhw.igb.rxd=\\\"4096\\\"\n\" >> /boot/loader.conf\n"}, "hw.igb.rxd does not exist"},
		{"a path below another folder", []string{"x.sh", "#!/bin/sh\necho 'hostname=\"a\"' > /etc/rc.conf\ncd /mnt\necho 'sshd_enable=\"YES\"' >> etc/rc.conf\n"}, ""},
		{"a path below the folder", []string{"x.sh", "#!/bin/sh\necho 'hostname=\"a\"' > /etc/rc.conf\necho 'sshd_enable=\"YES\"' >> etc/rc.conf\n"}, "not to /etc/rc.conf"},
		{"a variable that the environment has", []string{"x.sh", "#!/bin/sh\ncat > /etc/rc.local <<EOF\n#!/bin/sh\nPATH=/bin\necho $PATH\nEOF\necho 'hostname=\"a\"' > /etc/rc.conf\n"}, ""},
		{"a variable between such marks", []string{"x.sh", "#!/bin/sh\necho \"ifconfig_$IF=\\\"DHPC\\\"\" >> /etc/rc.conf\n"}, ""},
		{"segmentation of a host", []string{"x.sh", "#!/bin/sh\nsysrc hostname=\"a\"\nsysctl net.inet.tcp.tso=0\n"}, "net.inet.tcp.tso"},
		{"segmentation beside libalias", []string{"x.sh", "#!/bin/sh\nsysrc firewall_enable=\"YES\" firewall_type=open\nsysrc firewall_nat_enable=\"YES\"\nsysctl net.inet.tcp.tso=0\n"}, ""},
		{"settings of the loader in a variable", []string{"x.sh", "#!/bin/sh\nLOADER_TUNE=\"\nkern.maxproc=65536\nkern.ipc.maxsockbuf=16777216\n\"\n"}, "kern.ipc.maxsockbuf is not a boot-time tunable"},
		{"a variable of other text", []string{"x.sh", "#!/bin/sh\nA='\nnet.inet.tcp.recvbuf_inc=65536\nand more\n'\nB='\n'\nC='\nnet.inet.tcp.recvbuf_inc=1'\n"}, ""},
		{"a letter for the number of a card", []string{loader, "dev.igb.X.fc=\"0\"\n"}, "X stands for the number"},
		{"letters of a module that changed places", []string{loader, "if_brigde_load=\"YES\"\n"}, "did you mean if_bridge_load"},
		{"two names of a setting", []string{"x.sh", "#!/bin/sh\nsysctl kern.ipc.somaxconn=2048\nsysctl kern.ipc.soacceptqueue=4096\n"}, "another name of the same setting"},
		{"a name without a value", []string{"x.sh", "#!/bin/sh\nsysctl -w net.inet.tcp.blackhole\nsysctl -n kern.ostype\n"}, "the value is missing"},
		{"an address twice on one", []string{rc, "ifconfig_em0=\"inet 192.0.2.9/24\"\nifconfig_em0_alias0=\"inet 192.0.2.9/32\"\n"}, ""},
		{"an address that members of carp share", []string{rc, "ifconfig_em0=\"inet vhid 1 192.0.2.9/24\"\nifconfig_em1=\"inet 192.0.2.9/24\"\n"}, ""},
		{"an address of two tables", []string{rc, "ifconfig_em0=\"inet 192.0.2.9/24\"\nifconfig_em1=\"inet 192.0.2.9/24 fib 1\"\n"}, ""},
		{"checksums of a host", []string{rc, "ifconfig_em0=\"DHCP -rxcsum\"\n"}, "ifconfig:rxcsum"},
		{"checksums of a router", []string{rc, "gateway_enable=YES\nifconfig_em0=\"DHCP -rxcsum\"\n"}, ""},
		{"fixed speed", []string{rc, "ifconfig_em0=\"DHCP media 1000baseTX mediaopt full-duplex\"\n"}, "ifconfig:media"},
		{"media of fibre", []string{rc, "ifconfig_ix0=\"DHCP media 10Gbase-Twinax\"\n"}, ""},
		{"turns", []string{rc, "ifconfig_lagg0=\"laggproto roundrobin laggport em0\"\n"}, "ifconfig:laggproto"},
		{"polling", []string{rc, "ifconfig_em0=\"DHCP polling\"\n"}, "ifconfig:polling"},
		{"a loader's value that does not last", []string{loader, "kern.ipc.nmbclusters=\"4194304\"\n", sysctl, "kern.ipc.nmbclusters=8388608\n"}, "is in effect only until /etc/sysctl.conf:1 sets 8388608"},
		{"aliases that do not begin with 0", []string{rc, "ifconfig_em0=\"inet 192.0.2.9/24\"\nifconfig_em0_alias1=\"inet 192.0.2.10/32\"\nifconfig_em0_alias2=\"inet 192.0.2.11/32\"\n"}, ""},
		{"aliases with a gap", []string{rc, "ifconfig_em0=\"inet 192.0.2.9/24\"\nifconfig_em0_alias0=\"inet 192.0.2.10/32\"\nifconfig_em0_alias2=\"inet 192.0.2.11/32\"\n"}, ""},
		{"an alias of IPv6 by its name", []string{rc, "ifconfig_em0_alias0_ipv6=\"inet6 2001:db8::9 prefixlen 64\"\n"}, ""},
		{"aliases", []string{rc, "ifconfig_em0_alias0=\"inet 192.0.2.10/32\"\nifconfig_em0_alias1=\"inet6 2001:db8::9 prefixlen 64\"\n"}, ""},
		{"a route to a network of its own", []string{rc, "ifconfig_em0=\"inet 192.0.2.9/24\"\nstatic_routes=a\nroute_a=\"-net 192.0.2.0/24 192.0.2.1\"\n"}, "which em0 is attached to"},
		{"a route to a part of a network", []string{rc, "ifconfig_em0=\"inet 192.0.2.9/24\"\nstatic_routes=a\nroute_a=\"-net 192.0.2.128/25 192.0.2.1\"\n"}, ""},
		{"a queue above its maximum", []string{loader, "net.isr.maxqlimit=\"20480\"\n", sysctl, "net.inet.ip.intr_queue_maxlen=65536\n"}, "is above net.isr.maxqlimit, 20480"},
		{"a queue within its maximum", []string{loader, "net.isr.maxqlimit=\"20480\"\n", sysctl, "net.inet.ip.intr_queue_maxlen=20480\n"}, ""},
		{"files that are opened in an editor", []string{"notes.txt", "vim /etc/sysctl.conf\n\n# forwarding\nnet.inet.tcp.blackhole=2\n#\nnet.inet.tcp.ecn.enable=1\n\nsudo ee /boot/loader.conf\n#... cards ...\nhw.ix.flow_control=\"0\"\nhw.ix.rxd=\"4096\"\n#\n"}, "hw.ix.rxd does not exist"},
		{"a block of Jekyll with a file in the wrong folder", []string{"g.md", "FreeBSD 有 tmpfs:\n{% highlight sh %}\necho 'tmpfs_load=\"YES\"' >> /etc/loader.conf\necho 'tmpfs /tmp tmpfs rw 0 0' >> /etc/fstab\n{% endhighlight %}\n"}, "write the lines to /boot/loader.conf"},
		{"a list of tunables without a file", []string{"g.md", "OPNsense tunables:\n\n- net.isr.defaultqlimit=512\n- vm.pmap.pti=0\n"}, "vm.pmap.pti = 0 weakens"},
		{"a here-document of a guide with one mark", []string{"g.md", "On FreeBSD:\n```\ncat >> /etc/sysctl.conf <EOF\nnet.inet.tcp.blackhole=2\nEOF\n```\n"}, "write <<EOF"},
		{"a lead with a word of code", []string{"g.md", "OpenBSD `/etc/hostname.em0`:\n```\ninet 192.0.2.1/24\n```\nFreeBSD `lagg`:\n```\nifconfig lagg0 create\nifconfig lagg0 laggproto lacp laggport em0\n```\n"}, ""},
		{"a lagg of a guide that nothing makes", []string{"g.md", "FreeBSD's /etc/rc.conf:\n```\nifconfig_ix2=up\nifconfig_ix3=up\nifconfig_lagg1=\"laggproto lacp laggport ix2 laggport ix3 192.0.2.7/24\"\n```\n"}, "nothing creates lagg1"},
		{"a lagg of a guide that makes it by hand", []string{"g.md", "FreeBSD: `ifconfig lagg1 create`, and in /etc/rc.conf:\n```\nifconfig_ix2=up\nifconfig_ix3=up\nifconfig_lagg1=\"laggproto lacp laggport ix2 laggport ix3 192.0.2.7/24\"\n```\n"}, ""},
		{"a bridge with another name that nothing makes", []string{rc, "hostname=a\nifconfig_bridge3_name=lan\nifconfig_lan=\"addm em1 192.0.2.1/24\"\nifconfig_em1=up\n"}, "nothing creates bridge3"},
		{"files of two hosts in a script", []string{"x.sh", "#!/bin/sh\ncat > $dir/left/etc/rc.conf <<EOF\nhostname=left\ndefaultrouter=10.0.0.1\nEOF\ncat > $dir/right/etc/rc.conf <<EOF\nhostname=right\ndefaultrouter=10.0.0.2\nEOF\n"}, ""},
		{"branches that write to loader.conf", []string{"x.sh", "#!/bin/sh\nif [ -n \"$serial\" ]; then\n\techo 'console=\"comconsole\"' >> /boot/loader.conf\nelse\n\techo 'console=\"vidconsole\"' >> /boot/loader.conf\nfi\n"}, ""},
		{"one branch that writes to loader.conf twice", []string{"x.sh", "#!/bin/sh\nif [ -n \"$serial\" ]; then\n\techo 'console=\"comconsole\"' >> /boot/loader.conf\n\techo 'console=\"vidconsole\"' >> /boot/loader.conf\nfi\n"}, "has no effect"},
		{"notes with the first line of a script", []string{"notes.sh", "#!/bin/sh\n\n## FreeBSD 14 on a router\npkg update\n\nvi /etc/sysctl.conf\n\n#\nnet.inet.tcp.blackhole=2\n\nvi /boot/loader.conf\n\nhw.ix.txd=\"4096\"\n"}, "hw.ix.txd does not exist"},
		{"rc.subr's variable for sysctl", []string{"etc/rc.d/entropy", "#!/bin/sh\n. /etc/rc.subr\nstart()\n{\n\t${SYSCTL_W} kern.random.sys.harvest.swi=1 >/dev/null\n}\n"}, "kern.random.sys.harvest.swi does not exist"},
		{"commands of a guide by sudo", []string{"guide.md", "## On FreeBSD\n```\n# queues\nsudo sysctl net.isr.maxthreads=4\n```\n"}, "net.isr.maxthreads is read at boot only"},
		{"pf.conf in a script", []string{"x.sh", "#!/bin/sh\nsysrc pf_enable=YES\ncat > /etc/pf.conf <<EOF\next_if = \"em0\"\npass out on \\$ext_if\nscrub in on \\$ext_if\nEOF\n"}, "out of order"},
		{"pf.conf with what a script puts in", []string{"x.sh", "#!/bin/sh\nsysrc pf_enable=YES\nPF=\"$ROOT/etc/pf.conf\"\ncat > \"$PF\" <<EOF\nif = \"$IF\"\n$RULES\nset limit states 2000\nEOF\n"}, "below the default"},
		{"pf.conf of a variable", []string{"x.sh", "#!/bin/sh\nsysrc pf_enable=YES\ncat > $PF_CONF <<EOF\npass in on $IF proto tcp to port $PORT\nset limit states 2000\nEOF\n"}, "below the default"},
		{"pf.conf that a script completes", []string{"x.sh", "#!/bin/sh\nsysrc pf_enable=YES\ncat > /etc/pf.conf <<EOF\nscrub in on $ext_if\npass out on $ext_if\nEOF\ncat >> /etc/pf.conf <<'EOF'\npass in\nnat on em0 -> (em0)\nEOF\n"}, ""},
		{"a lagg that nothing makes", []string{rc, "hostname=a\nifconfig_em0=up\nifconfig_lagg0=\"laggproto lacp laggport em0 up\"\n"}, "nothing creates lagg0"},
		{"a part of rc.conf with a lagg", []string{rc, "ifconfig_em0=up\nifconfig_lagg0=\"laggproto lacp laggport em0 up\"\n"}, ""},
		{"sysrc of a sysctl", []string{"x.sh", "#!/bin/sh\nsysrc pf_enable=YES\nsysrc net.inet.tcp.blackhole=2\n"}, "but net.inet.tcp.blackhole is a kernel setting"},
		{"an option of ifconfig on Linux", []string{"x.sh", "#!/bin/sh\nsysrc pf_enable=YES\nifconfig em0 txqueuelen 1000\n"}, "ifconfig has no option txqueuelen"},
		{"a file whose path is kept in a function", []string{"x.sh", "#!/bin/sh\nf() {\n  file=/boot/loader.conf\n  cat >> \"$file\" <<'EOF'\nhw.ix.rxd=\"4096\"\nEOF\n}\nf\n"}, "hw.ix.rxd does not exist"},
		{"a file whose path depends", []string{"x.sh", "#!/bin/sh\nsysrc pf_enable=YES\nif a; then file=/etc/x; else file=/boot/loader.conf; fi\ncat >> \"$file\" <<'EOF'\nhw.ix.rxd=\"4096\"\nEOF\n"}, "hw.ix.rxd does not exist"},
		{"here-documents of a guide", []string{"lab.md", "Set this in `/etc/sysctl.conf` and `/boot/loader.conf`:\n```bash\ncat << 'EOF' >> /etc/sysctl.conf\nnet.inet.tcp.somaxconn=4096\nnet.inet.tcp.blackhole=2\nEOF\ncat << 'EOF' >> /boot/loader.conf\ncc_htcp_load=\"YES\"\nEOF\n```\n"}, "somaxconn does not exist"},
		{"a block of a guide that sets it twice", []string{"g.md", "# On FreeBSD\n```\nnet.inet.tcp.blackhole=1\nnet.inet.udp.blackhole=1\nnet.inet.tcp.blackhole=2\n```\n"}, "net.inet.tcp.blackhole = 1 has no effect: line 5 sets 2"},
		{"two blocks of a guide", []string{"g.md", "# On FreeBSD\n```\nnet.inet.tcp.blackhole=1\n```\nor rather\n```\nnet.inet.tcp.blackhole=2\n```\n"}, ""},
		{"jail.conf of a guide", []string{"g.md", "# On FreeBSD\nEdit `/etc/jail.conf.d/web.conf`:\n```\nweb {\n  vnet;\n  vnet.interface = \"e0b_web\";\n  ip4.addr = 192.0.2.9;\n}\n```\n"}, "cannot have ip4.addr"},
		{"a jail of a guide with gaps", []string{"g.md", "# On FreeBSD\n/etc/jail.conf\n```\n<name> {\n  path = \"/jails/$name\";\n  ip4.addr = <address>;\n  ...\n}\n```\n"}, ""},
		{"a name without its underscore", []string{loader, "vm.kmemsizes=128G\n"}, "did you mean vm.kmem_size"},
		{"an address of a jail with a stack of its own", []string{jail, "exec.clean;\nweb {\n  vnet; # own\n  vnet.interface = \"e0b\";\n  ip4.addr = 192.0.2.9;\n}\n"}, "cannot have ip4.addr"},
		{"an address of a jail", []string{jail, "$n = \"x\";\nweb { host.hostname = \"$n{a}\"; ip4.addr = 192.0.2.9, 192.0.2.10; exec.start += '/bin/sh /etc/rc'; }\nown { vnet = \"inherit\"; /* ; */ ip6.addr = 2001:db8::1; } // }\n"}, ""},
		{"an interface that is moved before the jail is there", []string{jail, "vnet;\nweb {\n exec.prestart = \"ifconfig epair3 create; \\\n  ifconfig epair3b vnet web\";\n}\n"}, "before there is a jail web"},
		{"interfaces of jails", []string{jail, "web {\n vnet;\n exec.prestart = \"ifconfig bridge0 addm epair3a up\";\n exec.prestart += \"ifconfig epair3a up\";\n exec.prestop = \"ifconfig epair3b -vnet web\";\n exec.poststart = \"ifconfig e0 vnet web\";\n}\n"}, ""},
		{"a command of a jail that another one replaces", []string{jail, "web {\n exec.prestart = \"a\";\n exec.prestart = \"b\";\n}\n"}, "which replaces this command"},
		{"a lost semicolon of jail.conf", []string{jail, "web {\n path = \"/jails/web\"\n vnet.interface = \"e0b\";\n}\n"}, "no semicolon ends the statement before vnet.interface"},
		{"a slip in a parameter of jail.conf", []string{jail, "web { vnet.interfaces = \"e0b\"; mount.nodevfs; allow.mount; }\n"}, "did you mean vnet.interface"},
		{"jail.conf in a script", []string{"x.sh", "#!/bin/sh\nsysrc jail_enable=YES\ncat > /etc/jail.conf <<EOF\n${NAME} {\n  vnet;\n  ip4.addr = \"${IP}\";\n}\nEOF\n"}, "cannot have ip4.addr"},
		{"an interface of a jail without a stack", []string{jail, "exec.clean;\nweb {\n  vnet.interface = \"e0b\";\n}\n"}, "write vnet;"},
		{"interfaces of jails with a stack", []string{jail, "a { vnet = 1; vnet.interface = e0b; }\nb { vnet; vnet.interface = e1b; }\n"}, ""},
		{"a parameter that another file may set", []string{jail, ".include \"/etc/jail.d/base\";\na { vnet.interface = e0b; }\n"}, ""},
		{"a member that carries no frames", []string{rc, "ifconfig_bridge0=\"addm gre0 addm tap0 up\"\n"}, "gre0 cannot be a member"},
		{"a member that carries no frames, in a guide", []string{"a.md", "On FreeBSD:\n```sh\nkldload if_bridge\nifconfig bridge1 addm wg0 addm gif0\n```\n"}, "wg0 cannot be a member"},
		{"an interface that was taken away", []string{rc, "cloned_interfaces=\"lo1 carp0\"\n"}, "cannot create carp0: since 10.0"},
		{"a wlan without its device", []string{rc, "cloned_interfaces=\"bridge0 wlan1\"\n"}, `wlans_DEVICE="wlan1"`},
		{"a wlan with its device", []string{rc, "cloned_interfaces=\"wlan1\"\ncreate_args_wlan1=\"wlandev ath0 wlanmode hostap\"\n"}, ""},
		{"a name of Linux", []string{rc, "ifconfig_eno1=\"DHCP\"\nifconfig_enp3s0=\"up\"\n"}, "eno1 is an interface name of Linux"},
		{"a name that a line gives", []string{rc, "ifconfig_igb0_name=\"eno1\"\nifconfig_eno1=\"DHCP\"\nifconfig_em0=\"up\"\n"}, ""},
		{"a segment above all of the memory", []string{sysctl, "kern.ipc.shmmax=2147483648\n"}, "also set kern.ipc.shmall=524288"},
		{"a segment within the memory", []string{sysctl, "kern.ipc.shmmax=2147483648\nkern.ipc.shmall=524288\n"}, ""},
		{"hosts of a guide", []string{"a.md", "On host a, /etc/rc.conf of FreeBSD:\n```\nifconfig_em0=\"inet 192.0.2.1/24\"\n```\nOn host b, /etc/rc.conf:\n```\nifconfig_em0=\"inet 192.0.2.2/24\"\n```\n"}, ""},
		{"a rule without its add", []string{"/etc/ipfw.rules", "#!/bin/sh\nfwcmd=\"/sbin/ipfw -q\"\n${fwcmd} check-state\n${fwcmd} add 100 allow ip from any to any keep-state\n"}, "write ipfw add check-state"},
		{"a rule without its add in a file that a script writes", []string{"x.sh", "#!/bin/sh\nsysrc firewall_script=/etc/ipfw.conf\ntee /etc/ipfw.conf <<'EOF'\ncmd=ipfw\n$cmd check-state\nEOF\n"}, "write ipfw add check-state"},
		{"rules without numbers behind one for all", []string{"/etc/ipfw.rules", "ipfw -q flush\nipfw add pass all from any to any\nipfw add divert natd ip from any to any via em0\n"}, "rule 100 decides about all of them"},
		{"rules without numbers", []string{"/etc/ipfw.rules", "ipfw add divert natd ip from any to any via em0\nipfw add pass all from any to any\n"}, ""},
		{"a network that was misspelt", []string{"/etc/ipfw.rules", "#!/bin/sh\ncmd=\"ipfw add\"\n$cmd 300 deny all from 169.254.0.0/6 to any in via em0\n$cmd 310 allow ip from 192.0.2.9/24 to any\n"}, "169.254.0.0/6 means the whole network 168.0.0.0/6"},
		{"packets that are let in and not out", []string{"fw.txt", "cmd=\"ipfw -q add\"\nlan=\"ix0\"\n$cmd 10 allow all from any to any via em0\n$cmd 500 allow udp from any to any in via $lan\n$cmd 900 deny log all from any to any\n"}, "no rule lets any out except via em0"},
		{"packets that are let in and out", []string{"fw.txt", "cmd=\"ipfw -q add\"\n$cmd 500 allow udp from any to any in via ix0\n$cmd 510 allow udp from any to any out via ix1\n$cmd 520 allow udp from any to any out via ix0\n$cmd 900 deny log all from any to any\n"}, ""},
		{"packets that a state lets out", []string{"fw.txt", "cmd=\"ipfw -q add\"\n$cmd 500 allow udp from any to any in via ix0 keep-state\n$cmd 900 deny log all from any to any\n"}, ""},
		{"an open quote in a file that a script writes", []string{"x.sh", "#!/bin/sh\ncat <<EOF > /mnt/etc/rc.conf\nntpd_enable=YES\"\nsshd_enable=\"YES\"\nEOF\n"}, "quote is not closed"},
		{"an open quote in a line that a script adds", []string{"x.txt", "check cp a b\nls\necho 'ifconfig_lo1=\"inet 192.0.2.1 netmask 255.255.255.0' >> /etc/rc.conf\n"}, "quote is not closed"},
		{"lines between sentences", []string{"post.txt", "My gateway has been slow since I upgraded it.\n\n# buffers\nnet.inet.tcp.recvbuf_inc=65536 \\# more\nvm.kmem_size=\"9G\"\n\nWhat else could I try to make it faster?\n"}, "recvbuf_inc does not exist"},
		{"files by their paths", []string{"post.txt", "/boot/loader.conf\nnet.isr.maxthreads=\"-1\"\n\n/etc/sysctl.conf\nnet.isr.dispatch=deferred\nnet.isr.bindthreads=1\n"}, "net.isr.bindthreads is read at boot only"},
		{"lines that a page joined", []string{"post.txt", "Our settings of FreeBSD were\n/boot/loader.conf\nhw.igb.rxd=2048 hw.ix.enable_msix=\"1\"\nand it was slow.\n"}, "hw.igb.rxd does not exist"},
		{"rules between sentences", []string{"post.txt", "This is what I have in the file so far:\n\next_if=\"em0\" # the card\n\nset skip on lo\nnat on $ext_if from lo1:network to any -> ($ext_if)\npass out quick all\nblock out proto tcp to port 25\n\nThe other way would be to have no translation at all.\n"}, "this rule has no effect: the quick rule"},
		{"a line that echo adds to sysctl.conf", []string{"opt.txt", "echo \"tuning\"\nchown -R www /srv\necho 'security.bsd.see_other_uids=0' >> /etc/sysctl.conf\necho 'net.inet.tcp.rfc6675_pipe=1' >> /etc/sysctl.conf\n"}, "rfc6675_pipe does not exist"},
		{"the file of a stack in user space", []string{"f.conf.txt", "[port0]\naddr=192.0.2.7\n\n[freebsd.sysctl]\nnet.inet.tcp.recvspace=8192\nkern.ipc.somaxconn=4096\nnet.inet.tcp.delayed_ack=0\n"}, ""},
		{"a quoted end of a here-document", []string{"a.md", "On FreeBSD:\n```sh\ncat <<- \"EOF\" >> /etc/sysctl.conf\nnet.inet.tcp.blackhole=2\n\"EOF\"\n```\n"}, "without quotes"},
		{"ends of here-documents", []string{"x.sh", "#!/bin/sh\nsysrc a_enable=YES\ncat > /etc/motd <<'EOF'\n'EOF'\nEOF\ncat > /etc/issue <<END\nEND\n"}, ""},
		{"a here-document that a function prints", []string{"x.sh", "#!/bin/sh\nsysrc a_enable=YES\nparams() {\n cat << EOF\nnet.inet.tcp.msl=15000 # TIME_WAIT\nnet.inet.ip.fastforwarding=1\nEOF\n}\nparams > $conf\n"}, "fastforwarding does not exist"},
		{"a function that sets several", []string{"x.sh", "#!/bin/sh\nkldload pf\nsysctl_set vfs.usermount=1 \\\n\tnet.inet.ip.fastforwarding=1 # fast\n"}, "fastforwarding does not exist"},
		{"sysrc of a variable of the loader", []string{"x.sh", "#!/bin/sh\nsysrc linux_enable=\"YES\"\nsysrc fdescfs_load=\"YES\"\n"}, "fdescfs_load is a variable of the boot loader"},
		{"a port that a script's rc.conf does not bring up", []string{"x.sh", "#!/bin/sh\ncat > /etc/rc.conf <<EOF\nhostname=a\nifconfig_ice0=up\ncloned_interfaces=lagg0\nifconfig_lagg0=\"laggproto lacp laggport ice0 laggport mce1\"\nEOF\n"}, "has the port mce1"},
		{"a router at the other end of a pair of addresses", []string{rc, "ifconfig_em0=\"up\"\nifconfig_em0_alias0=\"inet 192.0.2.11 netmask 255.255.255.254\"\ndefaultrouter=\"192.0.2.10\"\n"}, ""},
		{"a letter for the number of an interface", []string{rc, "ifconfig_em0=\"up\"\nifconfig_emo_alias0=\"inet 192.0.2.11/24\"\n"}, "did you mean em0"},
		{"a cloned interface without its number", []string{rc, "cloned_interfaces=\"bridge0 lo1\"\nifconfig_bridge=\"inet 192.0.2.1/24\"\n"}, "names the interface bridge, without a number; did you mean bridge0?"},
		{"a slip in a cloned interface", []string{rc, "cloned_interfaces=\"bridge0\"\nifconfig_brdige0=\"up\"\n"}, "did you mean bridge0?"},
		{"names near those of cloned interfaces", []string{rc, "cloned_interfaces=\"vlan0 bridge0 bridge1 tap0\"\nwlans_ath0=wlan0\nifconfig_wlan0=\"WPA\"\nifconfig_bridge1=\"up\"\nifconfig_bridge0_name=\"lan\"\nifconfig_lan=\"up\"\n"}, ""},
		{"paragraphs of one file", []string{"README.md", "# FreeBSD\n\n/etc/sysctl.conf\n\nkern.ipc.somaxconn=2048\n\n# more\nkern.ipc.somaxconn=4096\n"}, "has no effect: line 8 sets 4096"},
		{"two examples", []string{"README.md", "# FreeBSD\n\n```\nkern.ipc.somaxconn=2048\n```\n\n```\nkern.ipc.somaxconn=4096\n```\n"}, ""},
		{"forwarding in a script that sets a part of rc.conf", []string{"x.sh", "#!/bin/sh\nsysrc nginx_enable=YES\necho net.inet.ip.forwarding=1 >> /etc/sysctl.conf\n"}, ""},
		{"forwarding in a script that writes rc.conf", []string{"x.sh", "#!/bin/sh\nsysrc hostname=a nginx_enable=YES\necho net.inet.ip.forwarding=1 >> /etc/sysctl.conf\n"}, "gateway_enable"},
		{"a command's name before a variable", []string{rc, "hostname=\"a\"\nsysrc_dbus_enable=\"YES\"\n"}, "did you mean dbus_enable?"},
		{"a typographic quote that goes on", []string{rc, "hostname=“a\"\nsshd_enable=“YES\"\n"}, "write hostname=\"a\""},
		{"a variable of a port", []string{rc, "hostname=\"a\"\nsysrcd_enable=\"YES\"\n"}, ""},
		{"commands below lines of rc.conf", []string{"README.md", "# FreeBSD\n\n```sh\n# in /etc/rc.conf\nhostname=\"a\"\npf_enabel=\"YES\"\n\n# then\nservice netif restart\n```\n"}, "did you mean pf_enable?"},
		{"variables of a script below a comment", []string{"README.md", "# FreeBSD\n\n```sh\n# of the script\nname=\"a\"\npf_enabel=\"YES\"\n\nservice netif restart\n```\n"}, ""},
		{"names without numbers", []string{rc, "ifconfig_em0_name=\"emo\"\nifconfig_emo=\"up\"\nifconfig_lan=\"up\"\n"}, ""},
		{"an address that is none", []string{"/etc/ipfw.rules", "lan=\"192.0..0/24\"\nfwcmd=\"ipfw -q\"\n${fwcmd} add allow ip from ${lan} to 10.1 via em0\n"}, "192.0..0/24 is not a valid IPv4 address"},
		{"an address and its port apart", []string{"/etc/ipfw.rules", "ipfw add 40 fwd 127.0.0.1, 3128 tcp from any to any 80\n"}, "write 127.0.0.1,3128"},
		{"connections that pass before they are translated", []string{"/etc/ipfw.rules", "ipfw nat 1 config if em0\nipfw add 100 allow tcp from any to any established\nipfw add 200 nat 1 ip from any to any via em0\n"}, "never reach the translation in line 3"},
		{"connections that are translated", []string{"/etc/ipfw.rules", "ipfw nat 1 config if em0\nipfw add 100 nat 1 ip from any to any via em0\nipfw add 200 allow tcp from any to any established\n"}, ""},
		{"rules of words that variables stand for", []string{"/etc/ipfw.rules", "cmd=\"ipfw -q add\"\nall=\"from any to any\"\nallow=\"allow ip\"\n$cmd 100 $allow $all\n$cmd 200 deny tcp $all 25\n"}, "rule 100 decides about all of them"},
		{"a command below the rules", []string{"/etc/pf.conf", "pass out on em0\nsudo pfctl -f /etc/pf.conf\n"}, "this is a shell command"},
		{"a guide to Linux and FreeBSD", []string{"a.md", "**Alpine Linux (`/etc/sysctl.d/9.conf`):**\n```\nnet.core.rmem_max = 4194304\nvm.max_map_count = 262144 # maps\n```\n**FreeBSD (`/etc/sysctl.conf`):**\n```\nkern.ipc.maxsockbuf=4194304\nhw.em.msix=1\n```\n"}, "hw.em.msix does not exist"},
		{"a folder that a BSD does not read", []string{"a.md", "**FreeBSD (`/etc/sysctl.d/9.conf`):**\n```\nnet.inet.tcp.blackhole=2\n```\n"}, "FreeBSD does not read /etc/sysctl.d"},
		{"settings in a list", []string{"a.md", "For FreeBSD:\n\n* `net.inet.ip.fastforwarding = 1` for routers\n- `net.isr.maxthreads`: `-1`\n"}, "fastforwarding does not exist"},
		{"a list of objects", []string{"a.md", "On FreeBSD:\n```yaml\nsysctls:\n  - {name: \"security.jail.jailed\", value: \"0\"}\n  - {name: \"net.inet.ip.forwarding\", value: \"1\"}\n```\n"}, "security.jail.jailed is reported"},
		{"commands behind a prompt", []string{"a.md", "### FreeBSD\n\nSwitch it on:\n\n\\# sysctl net.inet.ip.forwarding\n# sysctl net.inet.ip.fastforwarding=1\t\\# routers\n# sysctl kern.maxfiles=XXXX\n"}, "fastforwarding does not exist"},
		{"values that a page explains", []string{"a.txt", "These are the settings of my Free BSD server at home.\nWhat they do stands behind each of them:\nkern.polling.enable=1 — polls the cards instead of interrupts\nnet.inet.ip.portrange.first=1024 — more ports\n"}, "kern.polling.enable does not exist"},
		{"comments that a page joined", []string{"a.txt", "The recommended settings of FreeBSD for a long path are\n# at least 16MB kern.ipc.maxsockbuf=16777216 # more for hosts net.inet.tcp.recvbuf_inc=65536 # both net.inet.tcp.blackhole=2\nand you can leave out the rest of it here.\n"}, "recvbuf_inc does not exist"},
		{"a group that is no congestion control", []string{sysctl, "net.inet.tcp.cc.default.algo=htcp\nnet.inet.tcp.cc.htcp.mine=1\n"}, "cc.default.algo does not exist"},
		{"the address of a jail in a guide", []string{"a.md", "Host, /etc/rc.conf of FreeBSD:\n```\nifconfig_em0_alias0=\"inet 192.0.2.50/32\"\n```\nJail, /etc/rc.conf:\n```\nifconfig_epair0b=\"inet 192.0.2.50/24\"\n```\n"}, ""},
		{"commands behind prompts in a block", []string{"a.md", "# FreeBSD\n```\n$ sysrc hostname=\"a\"\n$ sysrc ifconfig_em1=\"DCHP\" # from the provider\nem1: no carrier\n```\n"}, "did you mean DHCP"},
		{"comments above commands in a block", []string{"a.md", "# FreeBSD\n```\n# service of the firewall\nsysrc pf_enable=YES\nsysctl net.inet.ip.fastforwarding=1\n```\n"}, "fastforwarding does not exist"},
		{"a file that a command prints", []string{"a.md", "My FreeBSD:\n```\n% cat /etc/rc.conf\nhostname=a\nfdescfs_load=\"YES\"\nsshd_enable=YES\n```\n"}, "fdescfs_load is a variable of the boot loader"},
		{"an option of Linux' sysctl", []string{"a.md", "# FreeBSD\nIn /etc/sysctl.conf:\n```\nnet.inet.tcp.blackhole=2\n```\nThen:\n```\nsudo sysctl -p\n```\n"}, "write service sysctl restart"},
		{"a command that loads the rules among them", []string{"a.md", "FreeBSD, `/etc/pf.conf`:\n```\n# the port\npass in proto tcp to port 7777\n\nsudo pfctl -f /etc/pf.conf\n```\n"}, "this is a shell command"},
		{"bold commands", []string{"a.md", "#### FreeBSD\n\n!!! example\n    **# sysctl net.inet.ip.fastforwarding=1**\t - for a router\n"}, "fastforwarding does not exist"},
		{"a jail of a script in a guide", []string{"a.md", "On FreeBSD:\n```sh\ncat <<'EOF' | doas tee /etc/jail.conf.d/web.conf\nweb {\n  vnet.interface = \"epair0b\";\n}\nEOF\n```\n"}, "write vnet;"},
		{"sysctl.conf that a script writes below a variable", []string{"x.txt", "cat >> $ETC/sysctl.conf <<EOF\nnet.inet.ip.fastforwarding=0\nnet.local.stream.recvspace=65536\nEOF\n\necho done | tee -a $LOG | cat - /dev/null\ntail -n 46 $ETC/sysctl.conf | tee -a $LOG | cat\n"}, "fastforwarding does not exist"},
		{"items with blanks around their sign", []string{"a.md", "Internally, FreeBSD uses netisr for this:\n\n* net.isr.bindthreads = 1\n* net.inet.ip.fastforwarding = 1\n* net.inet.rss.bits = X\n"}, "fastforwarding does not exist"},
		{"a router that is the host itself", []string{rc, "ifconfig_em0=\"inet 192.0.2.9/24\"\ndefaultrouter=\"192.0.2.9\"\n"}, "the host's own address on em0"},
		{"rules of an indented block", []string{"a.rst", "PF of FreeBSD is used for this:\n\n**/etc/pf.conf**\n\n::\n\n   ext_if=\"em0\"\n   # out\n   nat on $ext_if from 192.0.2.0/24 to any -> ($ext_if)\n   pass out quick all keep state\n   block out on em0 proto tcp to any port 25\n\nThe rest\n"}, "this rule has no effect: the quick rule"},
		{"a variable of rc.conf in capital letters", []string{rc, "IPv6_defaultrouter=\"fe80::1%em0\"\n"}, "did you mean ipv6_defaultrouter?"},
		{"a family in capital letters", []string{rc, "ifconfig_em0_IPv6=\"inet6 2001:db8::1/64\"\n"}, "did you mean ifconfig_em0_ipv6?"},
		{"an alias in capital letters", []string{rc, "ifconfig_em0=DHCP\nifconfig_em0_Alias0=\"inet 192.0.2.1/32\"\n"}, "did you mean ifconfig_em0_alias0?"},
		{"an interface's name ends in a capital", []string{rc, "ifconfig_em0_WAN=\"up\"\n"}, ""},
		{"a group of OpenBSD", []string{"/etc/pf.conf", "nat on egress from 192.0.2.0/24 to any -> (egress)\npass\n"}, "no interface into this group"},
		{"blanks around '=' in a guide", []string{"a.md", "Add to FreeBSD's /etc/rc.conf:\n\n\tsshd_enable=\"YES\"\n\nand\n\n\tjail_x_ip=\"192.0.2.1\" ## a\n\tjail_y_ip = \"192.0.2.2\"\n"}, "without blanks around"},
		{"comments that begin like commands", []string{"a.md", "FreeBSD:\n\n```\n# make the desktop respond\nnet.inet.tcp.syncookies=0\nnet.inet.tcp.msl=20000\n```\n"}, "syncookies = 0 weakens"},
		{"a file in an editor", []string{"a.md", "FreeBSD:\n\n```\n# vi /etc/rc.conf\nifconfig_em0=\"DHPC\"\n\n# killall sendmail\n```\n"}, "did you mean DHCP?"},
		{"a command that adds to pf.conf", []string{"a.md", "FreeBSD:\n\n```\n# Edit /etc/pf.conf and add:\nsudo tee -a /etc/pf.conf << 'EOF'\n" +
			"pass in on em0 proto tcp to any port 2210\nEOF\nsudo pfctl -f /etc/pf.conf\n```\n"}, ""},
		{"a loader's value by its old name", []string{loader, "vfs.zfs.arc_max=\"4G\"\n", sysctl, "vfs.zfs.arc.max=8589934592\n"}, "is in effect only until /etc/sysctl.conf:1 sets 8589934592"},
		{"variables of older releases", []string{"x.sh", "#!/bin/sh\ncat > /etc/rc.conf <<\"EOF\"\ncase \"$(uname -r)\" in\n8*)\n    ipv6_ifconfig_em0=\"-ifdisabled\"\n    ;;\nesac\nipv6_ifconfig_em1=\"up\"\nEOF\n"}, "ipv6_ifconfig_em1 is obsolete"},
		{"a line that a variable stands for", []string{"x.sh", "#!/bin/sh\nsysrc pf_enable=YES\ncat > /etc/sysctl.conf <<EOF\n${STACK}\nnet.inet.ip.fastforwarding=1\nEOF\n"}, "fastforwarding does not exist"},
		{"a name in a sysctl.conf of a script", []string{"x.sh", "#!/bin/sh\nsysrc pf_enable=YES\ncat > /etc/sysctl.conf <<EOF\nnet.inet.tcp.blackhole\nEOF\n"}, "prints this variable"},
		{"a tunable of OPNsense in words of the loader", []string{"config.xml", "<opnsense>\n<sysctl>\n<item>\n<tunable>net.inet.tcp.recvspace</tunable>\n<value>1g</value>\n</item>\n</sysctl>\n</opnsense>\n"}, "is not a whole number"},
		{"a file that an item above is about", []string{"a.md", "For FreeBSD:\n\n* raise net.graph.maxdata in /boot/loader.conf\n* If you use AIO, raise these limits too:\n\n```\nvfs.aio.max_buf_aio=8192\nvfs.aio.max_aio_queue=65536\n```\n"}, ""},
		{"a file that the line above names", []string{"a.md", "For FreeBSD, set vfs.aio.max_buf_aio in /boot/loader.conf:\n\n```\nvfs.aio.max_buf_aio=8192\n```\n"}, "is not a boot-time tunable"},
		{"files that tasks write", []string{"a.md", "# FreeBSD\n```yaml\n- hosts: web\n  tasks:\n    - name: boot\n      blockinfile:\n        path: /boot/loader.conf\n        block: |\n          kern.coredump=0\n          kern.ipc.nmbclusters={{ clusters }}\n    - name: on\n      community.general.sysrc:\n        name: gateway_enable\n        value: \"YES\"\n```\n"}, "kern.coredump is not a boot-time tunable"},
		{"a value without quotes", []string{rc, "hostname=gw\nifconfig_em0=inet 192.0.2.1/24\n"}, "put it in quotation marks, ifconfig_em0="},
		{"assignments on one line", []string{rc, "hostname=gw sshd_enable=YES\nifconfig_em0=\"inet 192.0.2.1/24\" # lan\n"}, ""},
		{"a comment that touches the quote", []string{rc, "sshd_enable=\"YES\"# on\n"}, "write a blank before #"},
		{"a rule that translates on a skipped interface", []string{"/etc/pf.conf", "set skip on lo\nrdr on lo1 proto tcp to port 53 -> 127.0.0.1 port 5353\npass on lo0\n"}, "set skip exempts lo1"},
		{"a variable that is set in its own text", []string{"x.sh", "#!/bin/sh\nsysrc firewall_enable=YES\ncat > /etc/ipfw.rules <<EOF\nwan=\"em0\"\nipfw -q add 10 allow ip from any to any via $wan\nEOF\n"}, "the shell expands $wan"},
		{"variables that a here-document may use", []string{"x.sh", "#!/bin/sh\nlan=em1\nsysrc firewall_enable=YES\ncat > /etc/ipfw.rules <<EOF\nlan=\"$lan\"\nwan=\"em0\"\nipfw -q add 10 allow ip from any to any via \\$wan\nipfw -q add 20 allow ip from any to any via $lan\nEOF\n"}, ""},
		{"a here-document with half of its sign", []string{"a.md", "On FreeBSD:\n```\ncat >> /etc/sysctl.conf <EOF\ndev.igb.0.fc=0\nEOF\n```\n"}, "write <<EOF"},
		{"a heading with a line of tildes", []string{"a.rst", "In */boot/loader.conf.local* of FreeBSD::\n\n  kern.ipc.maxsockets=\"2097152\"\n\nPacket loss with many packets\n~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n\nTry these two tunables at once::\n\n  net.inet.ip.fastforwarding=1\n"}, "fastforwarding does not exist"},
		{"code by its indentation", []string{"a.md", "On FreeBSD, edit `/etc/firewall` and put this into the file:\n\n    #!/bin/sh\n    ipfw -q flush\n    ipfw pipe 1 config bw 10Mbit/s queue 500\n    ipfw add 100 pipe 1 ip from any to any in via igb0\n\nThen start it.\n"}, "queue 500 is more than"},
		{"indented files below their paths", []string{"a.txt", "[ipfw]\n\n  ipfw add nat 1 ip from any to 192.0.2.1 via lo0\n\n  /etc/rc.conf:\n    firewall_enable=\"YES\"\n    firewall_type=open\n\n  /etc/sysctl.conf:\n    net.inet.ip.fastforwarding=0\n"}, "fastforwarding does not exist"},
		{"a part of rc.conf in a guide", []string{"a.md", "In /etc/sysctl.conf of FreeBSD:\n```\nnet.inet.ip.forwarding=1\n```\nThen:\n```\necho 'iocage_enable=\"YES\"' >> /etc/rc.conf\n```\n"}, ""},
		{"two filters of which a guide takes one", []string{"a.md", "With ipfw, in FreeBSD's /etc/rc.conf:\n```\nfirewall_enable=\"YES\"\nfirewall_type=client\n```\nWith pf, in /etc/rc.conf:\n```\npf_enable=\"YES\"\n```\n"}, ""},
		{"a slip in a subtree of a module", []string{sysctl, "net.inet.ip.fw.onepass=0\nnet.inet.ip.fw.one_way=1\n"}, "did you mean net.inet.ip.fw.one_pass?"},
		{"settings with variables in a variable", []string{"x.sh", "#!/bin/sh\nsysrc pf_enable=YES\nCONTENT=\"# for $(uname -r)\n\nkern.ipc.maxsockets=${MAX}\nvm.swap_idle_enabled=1\nnet.inet.ip.fastforwarding=1\n\"\n"}, "fastforwarding does not exist"},
		{"settings in a file of another name", []string{"x.sh", "#!/bin/sh\nsysrc pf_enable=YES\ncat > /usr/local/share/tuning.txt <<'EOF'\nkern.ipc.maxsockbuf=16777216\nvm.stats.vm.v_free_min=131072\nEOF\n"}, "v_free_min is reported by the kernel"},
		{"a router of the other family", []string{rc, "hostname=a\nifconfig_em0=\"up\"\ndefaultrouter=\"fe80::1%em0\"\nipv6_defaultrouter=\"fe80::1%em0\"\n"}, "write ipv6_defaultrouter"},
		{"two resolvers", []string{rc, "unbound_enable=YES\nlocal_unbound_enable=YES\n"}, "start two daemons for one task"},
		{"a permission of jail.conf without a letter", []string{jail, "web { path = /j; allow.raw_socket; allow.noset_hostname; }\n"}, "did you mean allow.raw_sockets"},
		{"a jail that does not end", []string{jail, "exec.clean;\nweb { path = /j;\n"}, "} is missing"},
		{"tunables between marks of code", []string{"a.md", "My OPNsense on FreeBSD:\n\n- `net.isr.maxthreads` = `-1`\n- `net.isr.dispatch` = `defered`\n"}, "is not one of its values"},
		{"resources of Puppet", []string{"a.pp", "class web {\n  sysctl { 'kern.ipc.soacceptqueue': value => '4096' }\n  file_line { 'a':\n    path => '/boot/loader.conf',\n    line => 'hw.igb.rxd=\"4096\"',\n  }\n}\n"}, "hw.igb.rxd does not exist"},
		{"a line that a function adds to a file", []string{"x.sh", "#!/bin/sh\nsysrc pf_enable=YES\nadd_line_if_missing \"net.inet.ip.fastforwarding=1\" /etc/sysctl.conf\nadd_line_if_missing \"a=1\" /etc/motd\n"}, "fastforwarding does not exist"},
		{"two files in a block", []string{"a.md", "FreeBSD. Kernel (/boot/loader.conf):\n```sh\nkern.ipc.shmseg=1024\nNetwork (/etc/sysctl.conf):\nnet.inet.tcp.sendbuf_max=2097152\nnet.inet.ip.fastforwarding=1\n```\n"}, "fastforwarding does not exist"},
		{"typographic quotes of jail.conf", []string{jail, "exec.start = “/bin/sh /etc/rc”;\nexec.stop = \"/bin/sh /etc/rc.shutdown “x”\";\n"}, "write exec.start = \"/bin/sh /etc/rc\""},
		{"a list without quotes as a macro", []string{"pf.conf", "# FreeBSD\nnat on em0 from any to any -> (em0)\next = em0\ntcp={ ssh, http }\nudp = \"{ 53 }\"\nset skip on lo0\npass on $ext proto tcp to port $tcp\npass proto udp to port $udp\n"}, "write tcp = \"{ ssh, http }\""},
		{"a network without quotes as a macro", []string{"pf.conf", "# FreeBSD\nlan = 192.0.2.0/24\nnet = \"198.51.100.0/24\"\nset skip on lo0\nnat on em0 from { $lan $net } to any -> (em0)\n"}, "write lan = \"192.0.2.0/24\""},
		{"switches that are neither on nor off", []string{rc, "hostname=a\npf_enable=YEA\nsendmail_enable=NONE\nntpd_enable=none\nmyport_enable=auto\nsshd_enable=yes\n"}, "\"YEA\" counts as NO"},
		{"an address without a mask or inet", []string{rc, "hostname=a\nifconfig_em0=\"10.192.0.10\"\nifconfig_em1=\"10.193.0.10/24\"\nifconfig_em2=\"10.194.0.1 netmask 255.255.255.0\"\nifconfig_em3=up\nifconfig_gif0=\"10.195.0.1 10.195.0.2\"\n"}, "ifconfig_em0 has an address without a mask"},
		{"a description of a parameter of jails", []string{sysctl, "security.jail.param.allow.mount.fdescfs=1\n"}, "write allow.mount.fdescfs into /etc/jail.conf"},
		{"two masks of entropy", []string{rc, "harvest_mask=351\n", sysctl, "kern.random.harvest.mask=33119\n"}, "sets kern.random.harvest.mask to 33119"},
		{"an interface that a script names by a variable, twice", []string{"x.sh", "#!/bin/sh\ncat > /etc/rc.conf <<EOF\nhostname=a\nifconfig_${IF}=\"inet ${IP}\"\nifconfig_${IF}=\"inet6 accept_rtadv\"\nEOF\n"}, "line 5 sets inet6 accept_rtadv"},
		{"interfaces that a script names by variables", []string{"x.sh", "#!/bin/sh\ncat > /etc/rc.conf <<EOF\nhostname=a\nifconfig_${IF}=\"inet ${IP}\"\nifconfig_${IF}_ipv6=\"inet6 accept_rtadv\"\nifconfig_$OTHER=\"up\"\ncloned_interfaces=\"$a\"\ndefaultrouter=192.0.2.1\nEOF\n"}, ""},
		{"a variable as a name in a literal text", []string{"x.sh", "#!/bin/sh\ncat > /etc/rc.conf <<'EOF'\nhostname=a\nifconfig_${IF}=\"DHCP\"\nEOF\n"}, "the here-document is not expanded"},
		{"lines below a root that are lost", []string{"x.sh", "#!/bin/sh\necho 'sshd_enable=\"YES\"' >> ${ROOT}/etc/rc.conf\ncat <<EOF > ${ROOT}/etc/rc.conf\nhostname=a\nEOF\n"}, "a later line overwrites $ROOT/etc/rc.conf"},
		{"a root that is packed before", []string{"x.sh", "#!/bin/sh\necho 'sshd_enable=\"YES\"' >> ${ROOT}/etc/rc.conf\ntar -C ${ROOT} -cf a.tar .\ncat <<EOF > ${ROOT}/etc/rc.conf\nhostname=a\nEOF\n"}, ""},
		{"a literal text that sed completes", []string{"x.sh", "#!/bin/sh\ncat > /etc/rc.conf <<'EOF'\nhostname=a\nifconfig_${IF}=\"DHCP\"\nEOF\nsed -i '' s/a/b/ /etc/rc.conf\n"}, ""},
		{"arguments of sysrc that assign nothing", []string{"x.sh", "#!/bin/sh\nsysrc -f /etc/rc.conf ifconfig_${IF%.*}=DHCP\nsysrc -f /boot/loader.conf -x zfs_load\n"}, ""},
		{"a list that keeps what it had", []string{rc, "a=\"$x\"\ncloned_interfaces=\"$a\"\nb=\"${cloned_interfaces}\"\ncloned_interfaces=\"$b tap0\"\n"}, ""},
		{"one mask of entropy, written twice", []string{rc, "harvest_mask=0x15f\n", sysctl, "kern.random.harvest.mask=351\nvm.largepages.reclaim_tries=2\n"}, ""},
		{"lines below two roots", []string{"x.sh", "#!/bin/sh\nROOT=/a\necho 'sshd_enable=\"YES\"' >> ${ROOT}/etc/rc.conf\nROOT=/b\ncat <<EOF > ${ROOT}/etc/rc.conf\nhostname=a\nEOF\n"}, ""},
		{"files below the headings of head", []string{"a.md", "# GhostBSD\n```\n==> /etc/rc.conf <==\nhostname=\"a\"\nzfs_enable=\"YES\"\n\n==> /boot/loader.conf <==\nzfs_load=\"YES\"\nhw.igb.rxd=\"4096\"\n```\n"}, "hw.igb.rxd does not exist"},
		{"a command for loader.conf", []string{"a.md", "# BSDRP\n```\nmount -uw /\necho 'sysctl hw.em.rx_process_limit=\"-1\"' >> /boot/loader.conf.local\n```\n"}, "leave out sysctl"},
		{"a name without the groups it stands in", []string{sysctl, "kern.unprivileged_proc_debug=0\nkern.my_own_unknown_name=1\n"}, "did you mean security.bsd.unprivileged_proc_debug"},
		{"a command in the content of rc.conf", []string{"c.yml", "#cloud-config\nwrite_files:\n  - path: /etc/rc.conf\n    append: true\n    content: |\n      pf_enable=\"YES\"\n      {{ rest }}\n      sysrc devfs_system_ruleset=\"localrules\"\n  - path: /boot/loader.conf\n    content: |\n      zfs_load=\"YES\"\n      {% if x %}\n"}, "leave out the word"},
		{"typographic quotes around a name", []string{"a.md", "# FreeBSD\nIn /etc/rc.conf:\n\n    hostname=”gw”\n    sshd_enable=\"YES\"\n"}, "these are typographic quotes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res := Run(c, files(tt.files...), Options{System: catalog.FreeBSD, Version: "14.3"})
			var serious []string
			for _, p := range res.Problems {
				if p.Severity != Info {
					serious = append(serious, p.Message)
				}
			}
			switch {
			case tt.want == "" && len(serious) > 0:
				t.Errorf("%q", serious)
			case tt.want != "" && (len(serious) != 1 || !strings.Contains(serious[0], tt.want)):
				t.Errorf("%q, want %q", serious, tt.want)
			}
		})
	}
}

// TestBridgedAddress holds that the sysctl of 15.0 lets a member of a bridge have an address.
func TestBridgedAddress(t *testing.T) {
	c := load(t)
	const rc = "ifconfig_bridge0=\"addm em0\"\nifconfig_em0=\"DHCP\"\n"
	for value, want := range map[string]string{"0": "/etc/rc.conf:2:15 conflict warning\n", "1": ""} {
		res := Run(c, files("/etc/rc.conf", rc, "/etc/sysctl.conf", "net.link.bridge.member_ifaddrs="+value+"\n"),
			Options{System: catalog.FreeBSD, Version: "15.0", Ignore: []string{"same-as-default"}})
		if got := list(res); got != want {
			t.Errorf("%s: got\n%swant\n%s", value, got, want)
		}
	}
}

// TestOpenBSDFlags judges flags of daemons, in a file that its words tell.
func TestOpenBSDFlags(t *testing.T) {
	c := load(t)
	for text, want := range map[string]string{
		"npppd_flags=YES\nntpd_flags=\n":        "rc.conf.local:1:13 harmful warning\n",
		"npppd_flags=\nrelayd_flags=NO\n":       "",
		"ntpd_flags=YES\nntpd_enable=\"YES\"\n": "",
	} {
		if got := list(Run(c, files("rc.conf.local", text), Options{})); got != want {
			t.Errorf("%q: got\n%swant\n%s", text, got, want)
		}
	}
}

// TestLinuxTogether judges lines of Linux that act with others, or with what
// the kernel does without them.
func TestLinuxTogether(t *testing.T) {
	c := load(t)
	const sysctl, modprobe, modules, conntrack = "/etc/sysctl.conf", "/etc/modprobe.d/x.conf", "/etc/modules-load.d/x.conf", "nf_conntrack\n"
	for _, tt := range []struct {
		name  string
		files []string
		want  string
	}{
		{"more connections than buckets", []string{sysctl, "net.netfilter.nf_conntrack_max=2097152\n", modules, conntrack}, "/etc/sysctl.conf:1:32 conflict info\n"},
		{"far more than the option's", []string{sysctl, "net.netfilter.nf_conntrack_max=2097152\n", modprobe, "options nf_conntrack hashsize=65536\n", modules, conntrack}, "/etc/sysctl.conf:1:32 conflict warning\n"},
		{"some more than buckets", []string{sysctl, "net.netfilter.nf_conntrack_max=1048576\nnet.netfilter.nf_conntrack_buckets=262144\n", modules, conntrack}, "/etc/sysctl.conf:1:32 conflict info\n"},
		{"as many", []string{sysctl, "net.netfilter.nf_conntrack_max=2097152\nnet.netfilter.nf_conntrack_buckets=2097152\n", modules, conntrack}, ""},
		{"a module that comes later", []string{sysctl, "net.netfilter.nf_conntrack_tcp_loose=1\nnet.netfilter.nf_conntrack_tcp_timeout_time_wait=30\n"}, "/etc/sysctl.conf:1:1 needs info\n"},
		{"a switch that needs its module to be off", []string{sysctl, "net.bridge.bridge-nf-call-iptables=0\n"}, "/etc/sysctl.conf:1:1 needs info\n"},
		{"connections that are not picked up", []string{sysctl, "net.netfilter.nf_conntrack_tcp_loose=0\n", modules, conntrack}, "/etc/sysctl.conf:1:38 harmful info\n"},
		{"a key without its group", []string{sysctl, "swappiness=5\nched_latency_ns=5\ncustom=1\n"},
			"/etc/sysctl.conf:1:1 unknown-key warning\n/etc/sysctl.conf:2:1 unknown-key warning\n/etc/sysctl.conf:3:1 unknown-key warning\n"},
		{"a filter that default relaxes", []string{sysctl, "net.ipv4.conf.all.rp_filter=1\nnet.ipv4.conf.default.rp_filter=2\n"}, "/etc/sysctl.conf:1:29 no-effect info\n"},
		{"options among the names of modules", []string{"/etc/modules", "bonding mode=4 miimon=100\n"}, "/etc/modules:1:9 wrong-file warning\n"},
		{"a module that is part of another", []string{"/etc/modules", "nf_conntrack_ipv4\nnf_conntrack\n"}, "/etc/modules:1:1 removed warning\n"},
		{"protections off", []string{"/etc/default/grub", "GRUB_CMDLINE_LINUX=\"quiet mitigations=off\"\n"}, "/etc/default/grub:1:39 weakens-security warning\n"},
		{"a module from elsewhere", []string{sysctl, "net.nd.wmem_default=589600\n"}, "/etc/sysctl.conf:1:1 unknown-key info\n"},
		{"more queues than the kernel takes", []string{sysctl, "kernel.msgmni=65536\n"}, "/etc/sysctl.conf:1:15 out-of-range error\n"},
		{"few queues", []string{sysctl, "kernel.msgmni=16\n"}, "/etc/sysctl.conf:1:15 below-default warning\n"},
		{"a sysctl in another section", []string{"tuned.conf", "[vm]\ntransparent_hugepages=never\nvm.nr_hugepages=16\n"}, "tuned.conf:3:1 wrong-file warning\n"},
		{"no switch", []string{sysctl, "kernel.panic_on_oops=30\n"}, "/etc/sysctl.conf:1:22 no-effect info\n"},
		{"a protection off", []string{sysctl, "kernel.dmesg_restrict=0\n"}, "/etc/sysctl.conf:1:23 weakens-security info\n"},
		{"a protection on", []string{sysctl, "kernel.dmesg_restrict=1\n"}, ""},
		{"a ratio that nothing asks", []string{sysctl, "vm.overcommit_ratio=80\n"}, "/etc/sysctl.conf:1:1 needs info\n"},
		{"a ratio that counts", []string{sysctl, "vm.overcommit_memory=2\nvm.overcommit_ratio=80\n"}, "/etc/sysctl.conf:1:22 harmful info\n"},
		{"the kernel's own bounds", []string{sysctl, "net.ipv4.udp_mem=6167139 8222854 12334278\n"}, "/etc/sysctl.conf:1:18 harmful info\n"},
		{"advertisements on a router", []string{sysctl, "net.ipv6.conf.all.forwarding=1\nnet.ipv6.conf.eth0.accept_ra=1\n"}, "/etc/sysctl.conf:2:30 no-effect warning\n"},
		{"advertisements all the same", []string{sysctl, "net.ipv6.conf.all.forwarding=1\nnet.ipv6.conf.eth0.accept_ra=2\n"}, ""},
		{"a backlog that programs must ask for", []string{sysctl, "net.core.somaxconn=65535\n"}, "/etc/sysctl.conf:1:20 needs info\n"},
		{"a bond in turns", []string{modprobe, "options bonding mode=0 miimon=100\n"}, "/etc/modprobe.d/x.conf:1:22 harmful warning\n"},
		{"a bond of systemd", []string{"/etc/systemd/network/b.netdev", "[NetDev]\nName=b\nKind=bond\n[Bond]\nMode=balance-rr\n"}, "/etc/systemd/network/b.netdev:5:6 harmful warning\n"},
		{"a bond by hash", []string{"/etc/systemd/network/b.netdev", "[NetDev]\nName=b\nKind=bond\n[Bond]\nMode=802.3ad\n"}, "/etc/systemd/network/b.netdev:5:6 needs info\n"},
		{"megabits for kilobits", []string{"/etc/config/sqm", "config queue 'wan'\n\toption interface 'eth1'\n\toption download '250'\n\toption upload '512'\n"}, "/etc/config/sqm:3:19 wrong-unit warning\n/etc/config/sqm:4:17 wrong-unit warning\n"},
		{"kilobits", []string{"/etc/config/sqm", "config queue\n\toption interface 'eth1'\n\toption download '6000'\n\toption upload '512'\n"}, ""},
		{"both directions that are off", []string{"/etc/config/sqm", "config queue 'wan'\n\toption enabled '1'\n\toption download '0'\n\toption upload '0'\n"}, "/etc/config/sqm:2:9 no-effect warning\n"},
		{"a queue that is off", []string{"/etc/config/sqm", "config queue 'wan'\n\toption enabled '0'\n\toption download '0'\n\toption upload '0'\n"}, ""},
		{"a direction that is off", []string{"/etc/config/sqm", "config queue\n\toption download '0'\n\toption upload '9000'\n"}, ""},
		{"flows past the queue", []string{"/etc/config/sqm", "config queue 'wan'\n\toption enabled '1'\n\toption download '90000'\n", "/etc/config/firewall", "config defaults\n\toption flow_offloading_hw '1'\n\toption flow_offloading '1'\n"}, "/etc/config/firewall:2:9 conflict warning\n"},
		{"an option in a file of another name", []string{"07-network", "config globals 'globals'\n\toption packet_steering '1'\n\nconfig interface 'wan'\n\toption proto 'dhcp'\n"}, ""},
		{"a container in the host's network", []string{"docker-compose.yml", "services:\n  web:\n    image: x\n    network_mode: host\n    sysctls:\n      - net.ipv4.tcp_fin_timeout=30\n"},
			"docker-compose.yml:6:9 wrong-file error\n"},
		{"a container with its own network beside one", []string{"docker-compose.yml", "services:\n  a:\n    image: x\n    network_mode: host\n  b:\n    image: y\n    sysctls:\n      - net.ipv4.tcp_retries2=8\n"}, ""},
		{"a container with its own network, of a shared image", []string{"docker-compose.yml", "services:\n  a:\n    image: x\n    network_mode: host\n\n  b:\n    <<: *a\n    sysctls:\n      - net.ipv4.tcp_retries2=8\n"}, ""},
		{"a pod in the host's network among others", []string{"pods.yaml", "kind: Pod\nspec:\n  securityContext:\n    sysctls:\n    - name: net.ipv4.tcp_retries2\n      value: \"8\"\n" +
			"  containers:\n  - image: x\n---\nkind: Pod\nspec:\n  securityContext:\n    sysctls:\n    - name: net.ipv4.tcp_retries2\n      value: \"8\"\n  hostNetwork: true\n  containers:\n  - image: y\n"},
			"pods.yaml:14:13 wrong-file error\n"},
		{"a container that a script starts there", []string{"/root/a.sh", "#!/bin/sh\ndocker run --network host --sysctl net.ipv4.tcp_retries2=8 x\ndocker run --sysctl net.ipv4.tcp_retries2=9 x\n"},
			"/root/a.sh:2:36 wrong-file error\n"},
		{"a gigabit by force", []string{"/root/a.sh", "#!/bin/sh\nethtool -s eth0 speed 1000 duplex full autoneg off\nethtool -s eth1 speed 1000 duplex full autoneg on\nethtool -s eth2 speed 10000 autoneg off\n"},
			"/root/a.sh:2:40 harmful info\n"},
		{"a path without its slash", []string{"/root/a.sh", "#!/bin/sh\necho net.ipv4.ip_forward=1 >> /etc/sysctl.conf\necho net.core.somaxconn=8192 >> etc/sysctl.conf\n"},
			"/root/a.sh:3:25 needs info\n/root/a.sh:3:33 no-effect warning\n"},
		{"the root of another system", []string{"/root/a.sh", "#!/bin/sh\ncd rootfs\necho net.ipv4.ip_forward=1 >> etc/sysctl.conf\n"}, ""},
		{"options in sections that do not have them", []string{"/root/a.sh", "#!/bin/sh\nuci set network.@device[0].packet_steering=1\nuci set network.globals.packet_steering=1\nuci set network.wan.flow_offloading=1\nuci set firewall.@defaults[0].flow_offloading=1\n"},
			"/root/a.sh:2:9 no-effect warning\n/root/a.sh:4:9 no-effect warning\n"},
		{"a queue that is off", []string{"/root/a.sh", "#!/bin/sh\nuci set sqm.eth1.enabled='0'\nuci set firewall.@defaults[0].flow_offloading_hw='1'\nuci set network.lan.mtu=$x\n"},
			"/root/a.sh:3:9 needs info\n"},
		{"hardware offload without its table", []string{"/etc/config/firewall", "config defaults\n\toption flow_offloading '0'\n\toption flow_offloading_hw '1'\n"},
			"/etc/config/firewall:3:9 needs warning\n"},
		{"hardware offload with its table, by another word", []string{"/etc/config/firewall", "config defaults\n\toption flow_offloading 'yes'\n\toption flow_offloading_hw '1'\n"}, ""},
		{"idle states of one driver", []string{"/etc/default/grub", "GRUB_CMDLINE_LINUX=\"intel_idle.max_cstate=0\"\n"}, "/etc/default/grub:1:43 no-effect info\n"},
		{"idle states of both", []string{"/etc/default/grub", "GRUB_CMDLINE_LINUX=\"intel_idle.max_cstate=0 processor.max_cstate=1\"\n"}, ""},
		{"twice in a guide", []string{"a.md", "Memory:\n\nnet.core.rmem_max = 8388608\n\n# more\nnet.core.rmem_max = 16777216\n"}, "a.md:3:1 duplicate warning\n"},
		{"two examples", []string{"a.md", "For 1 Gbit/s:\n\nnet.core.rmem_max = 8388608\n\nFor 10 Gbit/s:\n\nnet.core.rmem_max = 16777216\n"}, ""},
		{"a bond that is joined as a bridge", []string{"/etc/systemd/network/b.netdev", "[NetDev]\nKind=bond\nName=b\n", "/etc/systemd/network/e.network", "[Match]\nName=eth0\n[Network]\nBridge=b\n"}, "/etc/systemd/network/e.network:4:1 conflict warning\n"},
		{"a bridge", []string{"/etc/systemd/network/b.netdev", "[NetDev]\nKind=bridge\nName=b\n", "/etc/systemd/network/e.network", "[Match]\nName=eth0\n[Network]\nBridge=b\n"}, ""},
	} {
		res := Run(c, files(tt.files...), Options{System: catalog.Linux, Version: "6.12", Ignore: []string{"same-as-default"}})
		if got := list(res); got != tt.want {
			t.Errorf("%s: got\n%swant\n%s", tt.name, got, tt.want)
		}
	}
}

// TestCorrect corrects a file until nothing is left to correct.
func TestCorrect(t *testing.T) {
	in := files("/etc/sysctl.conf", "$ sysctl -w net.ipv4.tcp_fin_timeout=60000 # ms\nnet.ipv4.tcp_keepalive_tme=7200\nnet.ipv4.tcp_tw_recycle=1\nnet.ipv4.tcp_syncookies=0\n")
	done, err := Correct(load(t), in, Options{System: catalog.Linux, Version: "6.12"})
	if err != nil || len(done.Fixed) != 1 {
		t.Fatalf("%v, %d files", err, len(done.Fixed))
	}
	got := string(done.Fixed[0].New)
	if !strings.HasPrefix(got, "net.ipv4.tcp_fin_timeout=60 # ms\nnet.ipv4.tcp_keepalive_time=7200\n# wirerate: net.ipv4.tcp_tw_recycle does not exist") {
		t.Error(got)
	}
	if string(done.Fixed[0].Old) != in[0].Text || done.Fixed[0].Fixes != 4 {
		t.Errorf("%d corrections of %q", done.Fixed[0].Fixes, done.Fixed[0].Old)
	}
	if worst := done.Left.Worst(); worst != Warning {
		t.Errorf("left: %s", brief(done.Left))
	}
}

// TestNeedsOfFiles wants what a setting needs of /sys, and nothing where a line or a loop gives it.
func TestNeedsOfFiles(t *testing.T) {
	c := load(t)
	const write, flows = "sysctl -w net.core.rps_sock_flow_entries=32768\n", "rps_flow_cnt"
	for name, tt := range map[string]struct {
		script string
		want   int
	}{
		"alone":   {write, 1},
		"written": {write + "echo 4096 > /sys/class/net/eth0/queues/rx-0/" + flows + "\n", 0},
		"a loop":  {write + "for q in /sys/class/net/eth0/queues/rx-*; do echo 4096 > $q/" + flows + "; done\n", 0},
		"delay":   {"echo 2 > /sys/class/net/eth0/napi_defer_hard_irqs\n", 1},
	} {
		res := Run(c, files("/usr/local/bin/tune.sh", tt.script), Options{System: catalog.Linux})
		needs := 0
		for _, p := range res.Problems {
			if p.Code == "needs" {
				needs++
			}
		}
		if needs != tt.want {
			t.Errorf("%s: %d findings of needs, want %d: %v", name, needs, tt.want, res.Problems)
		}
	}
	res := Run(c, files("/etc/sysctl.conf", "net.ipv4.tcp_mem = 94500000 915000000 927000000\n"), Options{System: catalog.Linux})
	if len(res.Problems) != 1 || res.Problems[0].Severity != Error {
		t.Errorf("a wrong unit is told once: %v", res.Problems)
	}
}

// TestParentless wants a parent of a VLAN.
func TestParentless(t *testing.T) {
	c := load(t)
	for text, want := range map[string]bool{
		"inet 192.0.2.1/24 vnetid 7\n":                       true,
		"# parent em0\nup\n":                                 true,
		"vlan 7 vlandev em0\ninet 192.0.2.1 255.255.255.0\n": false,
		"inet 192.0.2.1/24\n!ifconfig vlan7 parent em0\n":    false,
		"inet 192.0.2.1/24\nparent em0 vnetid 7\n":           false,
		"inet <address> 255.255.255.0\n":                     false,
		"description \"no parent yet\"\n":                    false,
	} {
		res := Run(c, []Input{{Path: "/etc/hostname.vlan7", Text: text}}, Options{System: catalog.OpenBSD})
		if found := len(res.Problems) == 1 && res.Problems[0].Code == "needs"; found != want {
			t.Errorf("%q: %v", text, brief(res))
		}
	}
	script := "#!/bin/ksh\nrcctl enable dhcpd\necho \"inet 192.0.2.9 255.255.255.0 192.0.2.0\" > /etc/hostname.em0\n"
	if res := Run(c, files("a.sh", script), Options{}); list(res) != "a.sh:3:36 syntax warning\n" {
		t.Errorf("a file that echo writes: %v", brief(res))
	}
}

// TestCarriers wants a file of the interface that another one is on.
func TestCarriers(t *testing.T) {
	c := load(t)
	beside := []string{"hostname.vlan10", "hostname.em0", "mygate"}
	for text, want := range map[string]bool{
		"# parent em1\nvnetid 10 parent em1\ninet 192.0.2.1/24\n": true,
		"inet 192.0.2.1/24 vnetid 10 parent em0\n":                false,
		"vnetid 10 parent em1\n!ifconfig em1 up\n":                false,
		"description \"on em1\"\nvnetid 10 parent $p\n":           false,
	} {
		in := Input{Path: "/etc/hostname.vlan10", Text: text, Beside: beside}
		res := Run(c, []Input{in}, Options{System: catalog.OpenBSD})
		if found := len(res.Problems) == 1 && res.Problems[0].Code == "needs"; found != want {
			t.Errorf("%q: %v", text, brief(res))
		}
		in.Beside = beside[:1]
		if res := Run(c, []Input{in}, Options{System: catalog.OpenBSD}); len(res.Problems) > 0 {
			t.Errorf("alone, %q: %v", text, brief(res))
		}
	}
}
