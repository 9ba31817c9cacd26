package conffile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// show prints the entries of a text, one a line: line:column name=value and,
// in brackets, interface and flags.
func show(t *testing.T, kind Kind, system System, path, text string) string {
	t.Helper()
	f, err := Parse(kind, system, path, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, e := range f.Entries {
		if e.Name == "pf:rule/carp" || e.Name == "pf:rule/pfsync" {
			continue // of each file that blocks what it does not pass
		}
		fmt.Fprintf(&b, "%d:%d %s=%s", e.Line, column(f.src, e.KeySpan.Start), e.Name, e.Value)
		var notes []string
		if e.Iface != "" {
			notes = append(notes, e.Iface)
		}
		for _, n := range []struct {
			f Flags
			s string
		}{{IgnoreErrors, "ignore"}, {Append, "append"}, {Glob, "glob"}, {Exclude, "exclude"},
			{Expands, "expands"}, {Conditional, "maybe"}} {
			if e.Has(n.f) {
				notes = append(notes, n.s)
			}
		}
		if len(notes) > 0 {
			fmt.Fprintf(&b, " [%s]", strings.Join(notes, " "))
		}
		b.WriteString("\n")
	}
	for _, r := range f.Rejects {
		fmt.Fprintf(&b, "refused %d:%d %q\n", r.Line, column(f.src, r.Span.Start), f.src[r.Span.Start:r.Span.End])
	}
	return b.String()
}

func TestParse(t *testing.T) {
	tests := []struct {
		name   string
		kind   Kind
		system System
		path   string
		in     string
		want   string
	}{
		{"linux sysctl as procps 4.0.2 and systemd 252 read it", Sysctl, Linux, "/etc/sysctl.conf",
			"net.core.somaxconn = 100 # c\n-net.core.nosuch=1\nnet/ipv4/tcp_rmem = 1 2 3\n; comment\n " +
				"net.ipv4.tcp_fin_timeout=33\r\n" +
				"bad line\nnet.ipv4.conf.eth0/100.forwarding=1\nnet/ipv4/conf/eth0.100/rp_filter=1\nnet.ipv4.conf.*.rp_filter=2\n-net.ipv4.conf.lo.rp_filter\nnet.ipv4.tcp_sack=\"1\"\n" +
				"net.ipv4.tcp_ecn = 1 \\\n 2\nnet.ipv4.tcp_dsack: 1\n=3\nnet.ipv4.tcp_dsack=",
			`1:1 net.core.somaxconn=100 # c
2:2 net.core.nosuch=1 [ignore]
3:1 net.ipv4.tcp_rmem=1 2 3
5:2 net.ipv4.tcp_fin_timeout=33
7:1 net.ipv4.conf.eth0/100.forwarding=1 [eth0.100]
8:1 net.ipv4.conf.eth0/100.rp_filter=1 [eth0.100]
9:1 net.ipv4.conf.*.rp_filter=2 [* glob]
10:2 net.ipv4.conf.lo.rp_filter= [lo ignore exclude]
11:1 net.ipv4.tcp_sack="1"
12:1 net.ipv4.tcp_ecn=1 \
16:1 net.ipv4.tcp_dsack=
refused 6:1 "bad line"
refused 13:2 "2"
refused 14:1 "net.ipv4.tcp_dsack: 1"
refused 15:1 "=3"
`},
		{"a byte-order mark spoils the first line only", Sysctl, Linux, "x",
			"\xef\xbb\xbfnet.core.somaxconn=5\nnet.core.rmem_max=6\n",
			"2:1 net.core.rmem_max=6\nrefused 1:1 \"\\ufeffnet.core.somaxconn=5\"\n"},
		{"freebsd sysctl", Sysctl, FreeBSD, "/etc/sysctl.conf",
			"net.inet.tcp.cc.algorithm=\"cubic\" # comment\nkern.ipc.somaxconn: 1024\nkern.a='x # y' " +
				"z\nkern.b=a\\#b # c\ndev.igb.0.fc=0 ;x\nkern.ostype\nnet.inet.tcp.msl =  5000  \r\n# sysctl kern.maxvnodes\nkern.maxvnodes: 9000\n",
			`1:1 net.inet.tcp.cc.algorithm=cubic
2:1 kern.ipc.somaxconn=1024
3:1 kern.a=x # y
4:1 kern.b=a\#b
5:1 dev.igb.0.fc=0 ;x [igb0]
7:1 net.inet.tcp.msl=5000
refused 6:1 "kern.ostype"
`},
		{"openbsd sysctl is split into words", Sysctl, OpenBSD, "/etc/sysctl.conf",
			"net.inet.ip.forwarding=1 net.inet6.ip6.forwarding=1 # both\nkern.maxproc = 4096\n#x=1\nddb.panic=0\t# no\n",
			`1:1 net.inet.ip.forwarding=1
1:26 net.inet6.ip6.forwarding=1
4:1 ddb.panic=0
refused 2:1 "kern.maxproc = 4096"
`},
		{"loader.conf", Loader, FreeBSD, "/boot/loader.conf",
			"# c\nhw.igb.rxd=\"4096\"  # (default " +
				"1024)\ncc_cubic_load=\"YES\"\nkern.hz=1000\nvfs.x=-1\nmodule_path=\"/boot/${kernel}\"\nk=\"a\\\"b\"\r\n" +
				"bad=/boot/x\nnope\nx=\"1\" y=\"2\"\nhint.ix.0.at=\"pci0\"\nopen=\"1\nexec=\"echo hi\"\n a = 1 # " +
				"\"q\"\nkern.hz=1000;\n",
			`2:1 hw.igb.rxd=4096
3:1 cc_cubic_load=YES
4:1 kern.hz=1000
5:1 vfs.x=-1
6:1 module_path=/boot/${kernel} [expands]
7:1 k=a"b
11:1 hint.ix.0.at=pci0 [ix0]
13:1 exec=echo hi
14:2 a=1
refused 8:1 "bad=/boot/x"
refused 9:1 "nope"
refused 10:1 "x=\"1\" y=\"2\""
refused 12:6 "\"1"
refused 15:1 "kern.hz=1000;"
`},
		{"rc.conf", RC, FreeBSD, "/etc/rc.conf",
			"hostname=\"a b\"\nifconfig_igb0='inet 10.0.0.1/24 -tso -lro mtu 9000 # not a " +
				"comment'\nifconfig_igb0_alias0=\"inet 10.0.0.2 polling\"\nkld_list=\"cc_htcp /boot/kernel/tcp_rack.ko\"\n" +
				"gateway_enable = \"YES\"\nkld_list+=\" x\"\nkld_list=\"${kld_list} y\"\nif [ -x /y ]; then\n  " +
				"pf_enable=YES; fi\nifconfig_em0=\"up \\\n mtu 1400\"\nifconfig_em0_name=lan\n",
			`1:1 hostname=a b
2:1 ifconfig_igb0=inet 10.0.0.1/24 -tso -lro mtu 9000 # not a comment [igb0]
2:33 ifconfig:tso=off [igb0]
2:38 ifconfig:lro=off [igb0]
2:43 ifconfig:mtu=9000 [igb0]
3:1 ifconfig_igb0_alias0=inet 10.0.0.2 polling [igb0]
3:37 ifconfig:polling=on [igb0]
4:1 kld_list=cc_htcp /boot/kernel/tcp_rack.ko
4:11 cc_htcp_load=YES
4:19 tcp_rack_load=YES
7:1 kld_list=${kld_list} y [expands]
9:3 pf_enable=YES [maybe]
10:1 ifconfig_em0=up  mtu 1400 [em0]
12:1 ifconfig_em0_name=lan
refused 5:1 "gateway_enable = \"YES\""
refused 6:1 "kld_list+=\" x\""
`},
		{"rc.conf without a closing quote", RC, FreeBSD, "/etc/rc.conf",
			"a=\"x\"\nsshd_enable=\"YES\nntpd_enable=\"NO\"\nlist=\"p\n q r\"\nenv=\"A=1\nB=2\"\npf_enable=YES\"\n",
			`1:1 a=x
2:1 sshd_enable=YES
3:1 ntpd_enable=NO
4:1 list=p
 q r
6:1 env=A=1
B=2
8:1 pf_enable=YES
refused 2:13 "\"YES"
refused 8:14 "\""
`},
		{"hostname.if", HostnameIf, OpenBSD, "/etc/hostname.em1",
			"inet 192.168.1.1 255.255.255.0\ndescription \"LAN mtu 900\"\nmtu 9000 # jumbo\n#mtu 1\n!ifconfig $if " +
				"-tcplro\nup media autoselect\n!sysctl net.inet.ip.forwarding=1\n",
			`3:1 ifconfig:mtu=9000 [em1]
5:15 ifconfig:tcplro=off [em1]
6:4 ifconfig:media=autoselect [em1]
7:9 net.inet.ip.forwarding=1
`},
		{"pf.conf", PF, FreeBSD, "/etc/pf.conf",
			"set limit states 48000 # c\nset limit { src-nodes 1000, frags 25000 }\nset timeout { tcp.established " +
				"600, \\\n  adaptive.start 0 }\nset optimization aggressive\nset skip on lo\nscrub in on $ext all " +
				"max-mss 1440 no-df\n" +
				"match in on em0 scrub (no-df random-id \\\n max-mss 1400)\npass in # set limit states 1\nanchor " +
				"\"a\" {\n  pass\n}\nqueue main on em0 bandwidth 100M qlimit 500\nset ruleset-optimization \"basic\"\n",
			`1:11 pf:set/limit/states=48000
2:13 pf:set/limit/src-nodes=1000
2:29 pf:set/limit/frags=25000
3:15 pf:set/timeout/tcp.established=600
4:3 pf:set/timeout/adaptive.start=0
5:5 pf:set/optimization=aggressive
6:5 pf:set/skip=lo [lo]
7:22 pf:scrub/max-mss=1440 [*]
7:35 pf:scrub/no-df=yes [*]
8:24 pf:scrub/no-df=yes [em0]
8:30 pf:scrub/random-id=yes [em0]
9:2 pf:scrub/max-mss=1400 [em0]
14:7 pf:queue=main [em0]
14:19 pf:queue/bandwidth=100M [em0]
14:34 pf:queue/qlimit=500 [em0]
15:5 pf:set/ruleset-optimization=basic
9:10 pf:rule/segment=em0
refused 14:1 "queue"
`},
		{".link", LinkFile, Linux, "/etc/systemd/network/10-x.link",
			"[Match]\nOriginalName=eth0\n; c\n[Link]\nRxBufferSize = 4096\nMTUBytes=9000 \\\n  x\nnope\n",
			`2:1 link-file:Match/OriginalName=eth0 [eth0]
5:1 link-file:RxBufferSize=4096 [eth0]
6:1 link-file:MTUBytes=9000 x [eth0]
refused 8:1 "nope"
`},
		{".network", NetworkFile, Linux, "10-x.network",
			"a=b\n[Match]\nName=en*\n[Network]\nDHCP=yes\n[Route]\nInitialCongestionWindow=20\n[Link]\nMTUBytes=1400",
			`3:1 network-file:Match/Name=en* [en*]
5:1 network-file:Network/DHCP=yes [en*]
7:1 network-file:Route/InitialCongestionWindow=20 [en*]
9:1 network-file:MTUBytes=1400 [en*]
refused 1:1 "a=b"
`},
		{"ifupdown", Interfaces, Linux, "/etc/network/interfaces",
			"source interfaces.d/*\nauto eth0\niface eth0 inet static\n\taddress 10.0.0.1/24\n\tmtu " +
				"9000\n\toffload-tso off\n\tgro-offload on\n\thardware-dma-ring-rx 4096\n\thardware-irq-coalesce-rx-usecs 50\n" +
				"\tpost-up ethtool -K $IFACE gro off lro on || true\n\tup sysctl -w net.ipv4.conf.eth0.rp_filter=2 " +
				"\\\n  net.core.rmem_max=1\n\tpre-down sysctl -w net.core.rmem_max=2\nauto eth1\n\tmtu 1\n",
			`1:1 interfaces:source=interfaces.d/*
3:1 interfaces:inet=static [eth0]
4:2 interfaces:address=10.0.0.1/24 [eth0]
5:2 link:mtu=9000 [eth0]
6:2 ethtool:features/tso=off [eth0]
7:2 ethtool:features/gro=on [eth0]
8:2 ethtool:ring/rx=4096 [eth0]
9:2 ethtool:coalesce/rx-usecs=50 [eth0]
10:28 ethtool:features/gro=off [eth0]
10:36 ethtool:features/lro=on [eth0]
11:15 net.ipv4.conf.eth0.rp_filter=2 [eth0]
12:3 net.core.rmem_max=1
`},
		{"linux script", Script, Linux, "/etc/rc.local",
			"#!/bin/sh\nsysctl -q -w net.ipv4.tcp_rmem='4096 87380 6291456' net.core.rmem_max=\"16777216\" " +
				"\"net.core.wmem_max=1\" # c\nsudo /sbin/ethtool -K eth0 tcp-segmentation-offload off gro " +
				"on\nethtool -G \"$dev\" rx 4096 tx 4096\n" +
				"ethtool -X eth0 equal 4; ethtool -i eth0\nip link set dev eth0 mtu 9000 txqueuelen 10000\nip route " +
				"change default via 10.0.0.1 dev eth0 initcwnd 20 initrwnd 30 mtu lock 1400\ntc qdisc replace " +
				"dev eth0 root handle 1: fq maxrate 1gbit\n" +
				"echo 5000 > /proc/sys/net/core/netdev_max_backlog\necho ff " +
				">/sys/class/net/eth0/queues/rx-0/rps_cpus\necho 4 > /proc/irq/24/smp_affinity\nmodprobe " +
				"tcp-bbr foo=1\nif true; then sysctl net.core.somaxconn=$N; fi\n" +
				"[ -e /x ] && ethtool -A eth0 rx off tx off\ncat <<EOF > /etc/x\nsysctl " +
				"net.ipv4.tcp_sack=0\nEOF\nsysctl -p /etc/sysctl.conf\nip addr add 10.0.0.2/24 dev " +
				"eth0\nifconfig eth0 txqueuelen 1000\nethtool --set-eee eth0 eee off\nsysctl net.core.rmem_default = 5\n",
			`2:14 net.ipv4.tcp_rmem=4096 87380 6291456
2:53 net.core.rmem_max=16777216
2:83 net.core.wmem_max=1
3:28 ethtool:features/tso=off [eth0]
3:57 ethtool:features/gro=on [eth0]
4:19 ethtool:ring/rx=4096 [*]
4:27 ethtool:ring/tx=4096 [*]
5:17 ethtool:rxfh/equal=4 [eth0]
6:22 link:mtu=9000 [eth0]
6:31 link:txqueuelen=10000 [eth0]
7:47 route:initcwnd=20 [eth0]
7:59 route:initrwnd=30 [eth0]
7:71 route:mtu=1400 [eth0]
8:27 tc:qdisc=fq [eth0]
8:45 tc:fq/maxrate=1gbit [eth0]
9:13 net.core.netdev_max_backlog=5000
10:10 /sys/class/net/*/queues/rx-*/rps_cpus=ff [eth0]
11:10 /proc/irq/*/smp_affinity=4
12:10 module:tcp_bbr=load
12:18 module:tcp_bbr/foo=1
13:22 net.core.somaxconn=$N [expands maybe]
14:30 ethtool:pause/rx=off [eth0 maybe]
14:37 ethtool:pause/tx=off [eth0 maybe]
20:15 link:txqueuelen=1000 [eth0]
21:24 ethtool:eee=off [eth0]
refused 22:8 "net.core.rmem_default = 5"
`},
		{"freebsd script", Script, FreeBSD, "/etc/rc.local",
			"kldload -n cc_cubic if_mxge.ko\nsysctl net.inet.tcp.cc.algorithm=cubic dev.igb.0.fc=0\nifconfig igb0 " +
				"-tso lro mtu 9000\nsysrc ifconfig_igb1=\"up -tso\" gateway_enable=YES\nsysrc -f /boot/loader.conf kern.hz=100\n",
			`1:12 cc_cubic_load=YES
1:21 if_mxge_load=YES
2:8 net.inet.tcp.cc.algorithm=cubic
2:40 dev.igb.0.fc=0 [igb0]
3:15 ifconfig:tso=off [igb0]
3:20 ifconfig:lro=on [igb0]
3:24 ifconfig:mtu=9000 [igb0]
4:7 ifconfig_igb1=up -tso [igb1]
4:25 ifconfig:tso=off [igb1]
4:31 gateway_enable=YES
5:28 kern.hz=100
refused 5:28 "kern.hz=100"
`},
		{"files written by a script", Script, FreeBSD, "setup.sh",
			"cat >> /etc/sysctl.conf << 'EOF'\nnet.inet.tcp.msl=5000\nx=$y # c\nEOF\ncat <<E | sudo tee -a " +
				"/boot/loader.conf\nkern.hz=\"100\"\na=\"$b\"\nE\n" +
				"echo 'cc_cubic_load=\"YES\"' >> /boot/loader.conf\necho net.inet.ip.forwarding=1 " +
				">/etc/sysctl.conf.local\necho \"a.b=$c\" >> /etc/sysctl.conf\n[ x ] && echo 'a.b=c' >> " +
				"/etc/sysctl.conf\ncat <<E >> notes.txt\nq.r=1\nE\n" +
				"cat <<-E >>/etc/rc.conf\n\tgateway_enable=YES\n\tE\n",
			`2:1 net.inet.tcp.msl=5000
3:1 x=$y
6:1 kern.hz=100
7:1 a=$b [expands]
9:7 cc_cubic_load=YES
10:6 net.inet.ip.forwarding=1
12:16 a.b=c [maybe]
17:2 gateway_enable=YES
`},
		{"modprobe.d", Modprobe, Linux, "/etc/modprobe.d/x.conf",
			"# c\noptions tcp-cubic hystart=0 \\\n  beta=717\nblacklist e1000e\ninstall pcspkr /bin/true\nblacklist\n",
			`2:19 module:tcp_cubic/hystart=0
3:3 module:tcp_cubic/beta=717
4:11 module:e1000e=blacklist
5:9 module:pcspkr=install /bin/true
refused 6:1 "blacklist"
`},
		{"modules-load.d", ModulesLoad, Linux, "/etc/modules", "# c\ntcp_bbr\nnf-conntrack hashsize=1024\n",
			"2:1 module:tcp_bbr=load\n3:1 module:nf_conntrack=load\n3:14 module:nf_conntrack/hashsize=1024\n"},
		{"kernel command line", Cmdline, Linux, "/proc/cmdline",
			"root=/dev/sda quiet isolcpus=1-3 sysctl.net/core/rmem_max=5 tcp_cubic.hystart=0 net.ifnames=0\n",
			`1:1 cmdline:root=/dev/sda
1:15 cmdline:quiet=
1:21 cmdline:isolcpus=1-3
1:34 net.core.rmem_max=5
1:61 module:tcp_cubic/hystart=0
1:81 cmdline:net.ifnames=0
`},
		{"grub", Cmdline, Linux, "/etc/default/grub", "GRUB_TIMEOUT=5\nGRUB_CMDLINE_LINUX=\"quiet nohz=off\"\n",
			"2:21 cmdline:quiet=\n2:27 cmdline:nohz=off\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, show(t, tt.kind, tt.system, tt.path, tt.in)); diff != "" {
				t.Errorf("entries differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNotText(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"\x7fELF\x02\x01", "ELF"},
		{"\x1f\x8b\x08", "gzip"},
		{"\xff\xfea\x00", "UTF-16"},
		{"net.core.rmem_max=1\x00", "NUL byte at offset 19"},
	} {
		if _, err := Parse(Sysctl, Linux, "f", []byte(tt.in)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: got %v, want an error about %s", tt.in, err, tt.want)
		}
	}
	if _, err := Parse("nonsense", Linux, "f", nil); err == nil {
		t.Error("an unknown kind is accepted")
	}
}

func TestDetect(t *testing.T) {
	tests := []struct {
		path, text string
		want       Guess
	}{
		{"/etc/sysctl.conf", "net.ipv4.ip_forward=1\n", Guess{Sysctl, Linux, false, Certain}},
		{"/etc/sysctl.conf", "net.inet.tcp.cc.algorithm=cubic\nnet.inet.ip.forwarding=1\n",
			Guess{Sysctl, FreeBSD, false, Certain}},
		{"/etc/sysctl.conf", "net.inet.ip.forwarding=1\nddb.panic=0\n", Guess{Sysctl, OpenBSD, false, Certain}},
		{"/etc/sysctl.conf", "net.inet.ip.forwarding=1\n", Guess{Sysctl, "", true, Certain}},
		{"openbsd/x-sysctl.conf", "net.inet.ip.forwarding=1\n", Guess{Sysctl, OpenBSD, false, Likely}},
		{"freebsd/mail-sysctl.conf", "kernel.sysrq = 0\n", Guess{Sysctl, Linux, false, Likely}},
		{"/etc/sysctl.d/50-x.conf", "# empty\n", Guess{Sysctl, Linux, false, Certain}},
		{"notes.txt", "net/core/rmem_max=1\n", Guess{Sysctl, Linux, false, Guessed}},
		{"x/boot/loader.conf.local", "", Guess{Loader, FreeBSD, false, Likely}},
		{"/boot/loader.conf.d/a.conf", "", Guess{Loader, FreeBSD, false, Certain}},
		{"my", "cc_cubic_load=\"YES\"\nhw.igb.rxd=\"4096\"\n", Guess{Loader, FreeBSD, false, Guessed}},
		{"/etc/rc.conf", "gateway_enable=\"YES\"\n", Guess{RC, FreeBSD, false, Likely}},
		{"/etc/sysctl.conf", "# $FreeBSD: releng/11.1 $\n#a\nkern.x=1\n", Guess{Sysctl, FreeBSD, false, Certain}},
		{"/etc/sysctl.conf", "# OpenBSD router\nnet.inet.tcp.msl=1\nkern.ipc.a=1\nkern.somaxconn=1\n", Guess{Sysctl, OpenBSD, false, Certain}},
		{"/etc/sysctl.conf", "# as OpenBSD does\nkern.ipc.a=1\n", Guess{Sysctl, FreeBSD, false, Certain}},
		{"/etc/rc.conf.local", "rtadvd_flags=em1 # a\nx_user=b\n", Guess{RC, OpenBSD, false, Likely}},
		{"/etc/rc.conf.local", "sshd_flags=\nportmap=YES\n", Guess{RC, "", true, Likely}},
		{"/etc/mygate", "192.0.2.1\n", Guess{MyGate, OpenBSD, false, Likely}},
		{"etc/relayd.conf", "relay a {\n", Guess{Relayd, OpenBSD, false, Likely}},
		{"etc/login.conf", "a:\n", Guess{LoginConf, "", false, Likely}},
		{"/etc/rc.conf.local", "pkg_scripts=unbound\n", Guess{RC, OpenBSD, false, Likely}},

		{"/etc/sysctl.d/README", "text\n", Guess{}},
		{"modprobe@.service", "[Unit]\n", Guess{}},
		{"setup.py", "import x\nnet.core.y=1\ndef f():\n", Guess{}},
		{"a.gz", "\x1f\x8bnet.core.x=1\n", Guess{}},
		{"/etc/hostname.em0", "up", Guess{HostnameIf, OpenBSD, false, Likely}},
		{"/etc/network/interfaces.d/eth0", "", Guess{Interfaces, Linux, false, Certain}},
		{"10-net.link", "[Match]\nName=a\n[Link]\nMTUBytes=1\n", Guess{LinkFile, Linux, false, Likely}},
		{"rc.local", "#!/bin/sh\nethtool -K eth0 gro off\n", Guess{Script, Linux, false, Likely}},
		{"net.sh", "# for a database\nnet.core.somaxconn = 4096\nsunrpc.x=1\n", Guess{Sysctl, Linux, false, Likely}},
		{"net.sh", "cat > /etc/sysctl.conf <<E\nnet.core.somaxconn = 4096\nE\n", Guess{Script, Linux, false, Likely}},
		{"user-data", "#cloud-config\nwrite_files:\n  - path: /etc/sysctl.conf\n    content: |\n      net.core.somaxconn = 9\n",
			Guess{YAML, Linux, false, Likely}},
		{"tune", "#!/bin/sh\nsysctl net.inet.tcp.sendspace=1\n", Guess{Script, FreeBSD, false, Guessed}},
		{"/etc/security/limits.d/20-n.conf", "", Guess{Limits, Linux, false, Certain}},
		{"files/limits.d/nofile.conf", "# web\nwww - nofile 65536\n", Guess{Limits, Linux, false, Certain}},
		{"nginx/limits.d/a.conf", "limit_conn perip 10;\n", Guess{}},
		{"host-limits.conf", "* soft core 0\n", Guess{Limits, Linux, false, Likely}},
		{"/etc/systemd/system.conf.d/limits.conf", "[Manager]\nDefaultLimitNOFILE=1\n",
			Guess{Service, Linux, false, Certain}},
		{"x.service", "[Service]\nLimitNOFILE=1\n", Guess{Service, Linux, false, Likely}},
		{"grub", "GRUB_DEFAULT=0\nGRUB_CMDLINE_LINUX=\"quiet\"\n", Guess{Cmdline, Linux, false, Guessed}},
		{"ROUTER.txt", "include GENERIC\nident ROUTER\noptions IPFIREWALL\noptions HZ=1000\ndevice pf\n", Guess{KernelConf, FreeBSD, false, Guessed}},
		{"tasks/main.yml", "- sysctl:\n    name: net.core.x\n    value: 1\n", Guess{YAML, Linux, false, Likely}},
		{"docker-compose.yml", "services:\n  a:\n    image: b\n", Guess{}},
		{"guide.txt", "Append these lines to the file:\nnet.core.x = 1\nnet.core.y = 2\nThen run it again.\n",
			Guess{Other, Linux, false, Guessed}},
		{"post.txt", "on both of them we set\nnet.core.x = 1\nnet.core.y = 2\nand then on the first\nnet.core.x = 3\n" +
			"which made it no faster than before\n", Guess{Other, Linux, false, Guessed}},
		{"issue.txt", "```\nnet.core.x = 1\nnet.core.y = 2\n```\n", Guess{}},
		{"issue.txt", "v1.network\n```\n[Match]\nName=v1\n\n[Network]\nDHCP=yes\n```\n", Guess{}},
		{"fw.sh", "#!/bin/sh\niptables -P INPUT DROP\n", Guess{Script, Linux, false, Likely}},
		{"README", "Nothing here\nat all\n", Guess{}},
		{"empty", "", Guess{}},
	}
	for _, tt := range tests {
		if got := Detect(tt.path, []byte(tt.text)); got != tt.want {
			t.Errorf("Detect(%q, %q) = %+v, want %+v", tt.path, tt.text, got, tt.want)
		}
	}
}

func TestOrder(t *testing.T) {
	tests := []struct {
		name         string
		system       System
		in           string
		want, masked string
	}{
		{"linux", Linux, "/etc/sysctl.conf /etc/sysctl.d/50-a.conf /usr/lib/sysctl.d/50-a.conf " +
			"/run/sysctl.d/40-b.conf x/y.conf /lib/sysctl.d/60-c.conf",
			"/run/sysctl.d/40-b.conf /etc/sysctl.d/50-a.conf /lib/sysctl.d/60-c.conf /etc/sysctl.conf x/y.conf",
			"/usr/lib/sysctl.d/50-a.conf"},
		{"a copied tree", Linux, "root/usr/lib/sysctl.d/9-a.conf root/etc/sysctl.d/10-b.conf",
			"root/etc/sysctl.d/10-b.conf root/usr/lib/sysctl.d/9-a.conf", ""},
		{"freebsd", FreeBSD, "/etc/sysctl.conf.local /etc/sysctl.conf /boot/loader.conf.local " +
			"/boot/loader.conf.d/b.conf /boot/loader.conf.d/a.conf /boot/loader.conf /etc/rc.conf.d/netif " +
			"/etc/rc.conf.local /etc/rc.conf",
			"/boot/loader.conf /boot/loader.conf.d/a.conf /boot/loader.conf.d/b.conf /boot/loader.conf.local " +
				"/etc/rc.conf /etc/rc.conf.local /etc/rc.conf.d/netif /etc/sysctl.conf /etc/sysctl.conf.local", ""},
		{"openbsd", OpenBSD, "/etc/rc.local /etc/hostname.em0 /etc/sysctl.conf",
			"/etc/sysctl.conf /etc/hostname.em0 /etc/rc.local", ""},
	}
	for _, tt := range tests {
		read, masked := Order(tt.system, strings.Fields(tt.in))
		if got := strings.Join(read, " "); got != tt.want {
			t.Errorf("%s: read\n%s, want\n%s", tt.name, got, tt.want)
		}
		if got := strings.Join(masked, " "); got != tt.masked {
			t.Errorf("%s: masked %q, want %q", tt.name, got, tt.masked)
		}
	}
}

func TestRoot(t *testing.T) {
	for _, tt := range []struct {
		system     System
		file, root string
		ok         bool
	}{
		{Linux, "/etc/sysctl.d/10-a.conf", "", true},
		{Linux, "/usr/lib/sysctl.d/10-a.conf", "", true},
		{Linux, "copy/etc/sysctl.conf", "/copy", true},
		{Linux, "copy/usr/lib/systemd/network/a.link", "/copy", true},
		{Linux, "sysctl.conf", "", false},
		{FreeBSD, "/boot/loader.conf", "", true},
		{FreeBSD, "x/etc/rc.conf.d/netif", "/x", true},
		{FreeBSD, "x/loader.conf", "x/", true},
		{FreeBSD, "x/my-loader.conf", "", false},
		{OpenBSD, "/etc/hostname.em0", "", true},
	} {
		if root, ok := Root(tt.system, tt.file); root != tt.root || ok != tt.ok {
			t.Errorf("Root(%s, %s) = %q, %v", tt.system, tt.file, root, ok)
		}
	}
}

// TestCaptures reads every real configuration file at hand.
func TestCaptures(t *testing.T) {
	root := os.Getenv("WIRERATE_CAPTURES")
	if root == "" {
		t.Skip("WIRERATE_CAPTURES is not set: no real configuration files at hand")
	}
	files, err := filepath.Glob(filepath.Join(root, "conf", "*", "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files below %s/conf: %v", root, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		g := Detect(file, data)
		if g.Kind == "" || g.System == "" {
			t.Errorf("%s: detected as %+v", file, g)
			continue
		}
		f, err := Parse(g.Kind, g.System, file, data)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if string(f.Bytes()) != string(data) {
			t.Errorf("%s: not printed as it was read", file)
		}
		for _, r := range f.Rejects {
			t.Errorf("%s:%d: refused: %s", file, r.Line, r.Reason)
		}
	}
}

func BenchmarkSysctl(b *testing.B) {
	const lines = 100_000
	text := strings.Repeat("# a comment\nnet.ipv4.tcp_rmem = 4096 131072 6291456\nnet.core.somaxconn=4096\n\n", lines/4)
	for _, system := range []System{Linux, FreeBSD, OpenBSD} {
		b.Run(string(system), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				n := 0
				if err := Scan(Sysctl, system, "x", text, func(Entry) bool { n++; return true }, nil); err != nil || n == 0 {
					b.Fatal(n, err)
				}
			}
			b.ReportMetric(float64(lines)*float64(b.N)/b.Elapsed().Seconds(), "lines/s")
		})
	}
}

// column returns the column of an offset in src, in bytes from 1.
func column(src string, offset int) int {
	return offset - strings.LastIndexByte(src[:offset], '\n')
}

func TestBroadcastWord(t *testing.T) {
	for text, want := range map[string]string{
		"inet 192.0.2.1 255.255.255.0 10 vlandev em0\n":   "refused 1:30 \"10\"\n",
		"inet alias 192.0.2.1 255.255.255.0 10\n":         "refused 1:36 \"10\"\n",
		"inet 192.0.2.1 255.255.255.0 NONE mtu 1400\n":    "1:35 ifconfig:mtu=1400 [vlan10]\n",
		"inet 192.0.2.1 255.255.255.0 192.0.2.255 vhid 1": "",
		"inet 192.0.2.1/24 vnetid 10\ninet 192.0.2.1 0xf": "",
	} {
		if got := show(t, HostnameIf, OpenBSD, "/etc/hostname.vlan10", text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestForMac(t *testing.T) {
	for text, want := range map[string]bool{
		"#!/bin/bash\nsudo sysctl -w net.inet.tcp.delayed_ack=0\n":                      true,
		"#!/bin/sh\nsysctl -w net.inet.tcp.win_scale_factor=8 kern.ipc.somaxconn=512\n": true,
		"#!/bin/sh\nsysctl net.inet.tcp.delayed_ack=0\n":                                false,
		"#!/bin/bash\nsysrc pf_enable=YES\nsysctl net.inet.tcp.delayed_ack=0\n":         false,
		"#!/bin/bash\nsysctl -w net.ipv4.tcp_sack=1\n":                                  false,
		"#!/bin/bash\n# FreeBSD\nsysctl net.inet.tcp.delayed_ack=0\n":                   false,
	} {
		if got := ForMac(Detect("x.sh", []byte(text)), text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
