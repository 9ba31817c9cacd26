package conffile

import (
	"strings"
	"testing"
)

// checkParsed holds what must be true of any file that parses: it prints as
// it was read, spans lie inside the text, lines are right, and an edit of one
// entry changes nothing outside of the span that it names.
func checkParsed(t *testing.T, kind Kind, system System, path, text string) {
	f, err := Parse(kind, system, path, []byte(text))
	if err != nil {
		return
	}
	if got := string(f.Bytes()); got != text {
		t.Fatalf("printed as %q, read as %q", got, text)
	}
	inside := func(s Span) bool { return 0 <= s.Start && s.Start <= s.End && s.End <= len(text) }
	for i, e := range f.Entries {
		if !inside(e.KeySpan) || !inside(e.ValueSpan) || !inside(e.Raw) || e.Name == "" {
			t.Fatalf("entry %+v of %q", e, text)
		}
		if e.style != styleFixed && (e.ValueSpan.Start < e.Raw.Start || e.ValueSpan.End > e.Raw.End) {
			t.Fatalf("value outside of its lines: %+v of %q", e, text)
		}
		if line := 1 + strings.Count(text[:e.KeySpan.Start], "\n"); e.Line != line && !strings.Contains(text, "\\\n") && !strings.ContainsAny(text, "\"'`$") {
			t.Fatalf("entry on line %d, not %d: %+v of %q", line, e.Line, e, text)
		}
		if i < 50 {
			checkSet(t, kind, system, path, text, i, e)
		}
	}
	for _, r := range f.Rejects {
		if !inside(r.Span) || r.Reason == "" || r.Line < 1 {
			t.Fatalf("reject %+v of %q", r, text)
		}
	}
}

func checkSet(t *testing.T, kind Kind, system System, path, text string, i int, e Entry) {
	f, err := Parse(kind, system, path, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if f.Set(i, "on") != nil {
		return
	}
	got := string(f.Bytes())
	if !strings.HasPrefix(got, text[:e.ValueSpan.Start]) || !strings.HasSuffix(got, text[e.ValueSpan.End:]) {
		t.Fatalf("Set changed %q to %q, beyond the span %v", text, got, e.ValueSpan)
	}
}

func fuzzKind(f *testing.F, kind Kind, system System, path string, seeds ...string) {
	if len(seeds) == 0 {
		f.Fatal("no seeds")
	}
	for _, s := range append(seeds, "", "\n", "\r\n", bom+"a=b\n", "\\\n", "#", "=", "\x00") {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) { checkParsed(t, kind, system, path, text) })
}

func FuzzSysctlLinux(f *testing.F) {
	fuzzKind(f, Sysctl, Linux, "/etc/sysctl.conf", "net.core.rmem_max = 1 # c\r\n-a/b.c=2\n;x\n-k\nnet.ipv4.conf.*.x=1")
}

func FuzzSysctlFreeBSD(f *testing.F) {
	fuzzKind(f, Sysctl, FreeBSD, "/etc/sysctl.conf", "a.b=\"c # d\" e\nx:'1'\n\\#=1\ndev.igb.0.fc=0")
}

func FuzzSysctlOpenBSD(f *testing.F) {
	fuzzKind(f, Sysctl, OpenBSD, "/etc/sysctl.conf", "a.b=1 c=\"2\" # d\r\nx = 1")
}

func FuzzLoader(f *testing.F) {
	fuzzKind(f, Loader, FreeBSD, "/boot/loader.conf", "a_load=\"YES\"\nb.c=1 # d\ne=\"f\\\"g$h\"\nexec=\"x\"\ni=\"")
}

func FuzzRC(f *testing.F) {
	fuzzKind(f, RC, FreeBSD, "/etc/rc.conf", "ifconfig_em0=\"up -tso \\\n mtu 9000\"\nkld_list='a b'\nx = y\nif a; then b=$(c); fi\nd=`e`")
}

func FuzzHostnameIf(f *testing.F) {
	fuzzKind(f, HostnameIf, OpenBSD, "/etc/hostname.em0", "inet 1.2.3.4 255.0.0.0\nmtu 9000 -tcplro # c\n!ifconfig $if mtu 1\ndescription \"a b\"")
}

func FuzzRelayd(f *testing.F) {
	fuzzKind(f, Relayd, OpenBSD, "/etc/relayd.conf", "a = \"1\"\ntable <t> { $a }\nhttp protocol \"p\" {\n\ttcp { backlog 9 }\n\tmatch request forward to <t>\n}\n"+
		"relay r {\n\tlisten on $a port 443 tls\n\tforward to <\n}\ninclude")
}

func FuzzLoginConf(f *testing.F) {
	fuzzKind(f, LoginConf, OpenBSD, "/etc/login.conf", "a|b:\\\n\t:openfiles=9:\\ \n\t:tc=c:\n:x:\nd:openfiles-cur=1:tc=", "mygate")
}

func FuzzPFOpenBSD(f *testing.F) {
	fuzzKind(f, PF, OpenBSD, "/etc/pf.conf", "set skip on { lo em0 }\nblock\npass in on em1 proto carp from\npass out nat-to (em0) set (prio 1, queue a)\nqueue a on em0 bandwidth 1M max 2M",
		"antispoof quick for { em0\n# a \\\npass on")
}

func FuzzPF(f *testing.F) {
	fuzzKind(f, PF, FreeBSD, "/etc/pf.conf", "set limit { states 1, frags 2 }\nscrub in on $x max-mss 1440\nmatch scrub (no-df \\\n)\nanchor a {\n}\nqueue q on e bandwidth 1M",
		"pass in proto { tcp, $p } from 10.0.0.0/8 no \\\n state\nmatch inet6 flags any set queue (a, b)\npass proto {\nqueue")
}

func FuzzUnit(f *testing.F) {
	fuzzKind(f, LinkFile, Linux, "10.link", "[Match]\nName=a\n[Link]\nX = 1 \\\n 2\n; c\n[bad\n")
}

func FuzzInterfaces(f *testing.F) {
	fuzzKind(f, Interfaces, Linux, "/etc/network/interfaces", "iface e inet dhcp\n mtu 9000\n up ethtool -K e gro off \\\n lro on\nsource a/*\n")
}

func FuzzScript(f *testing.F) {
	fuzzKind(f, Script, Linux, "/etc/rc.local", "#!/bin/sh\nsysctl -w a.b='1 2' \"c=3\"\nip route add x dev e initcwnd 20\ncat <<E >y\nE\necho 1 >/proc/sys/a/b\ntc qdisc add dev e root fq\ncase x in a) ethtool -G e rx 5;; esac",
		"cat <<-E >/etc/sysctl.conf\n\ta.b=1\n\tE\necho \"c.d=2\" | tee x >>/boot/loader.conf\ncat << 'E' | tee -a /etc/rc.conf\nx=\"y\"\nE\n",
		"sed -i 's|\\(GRUB_CMDLINE_LINUX=\"[^\"]*\\)\"|\\1 idle=poll\"|' /etc/default/grub\n",
		"iptables -F\niptables -N L\nf() {\niptables -A INPUT -j L\niptables -A L -j DROP\niptables -A INPUT -s 10.0.0.0 -j MARK --set-mark 2\n}\n"+
			"tc qdisc add dev e root handle 1: htb default 2\ntc class add dev e parent 1: classid 1:1 htb rate 1mbit ceil 2mbit\n"+
			"tc filter add dev e parent 1: protocol ip handle 1 fw u32 match ip dport 5 0xff flowid 1:3\n",
		"echo a=1 > /etc/sysctl.d/x\ncat > /etc/modprobe.conf <<E\noptions a b=1\nE\n")
}

func FuzzIPTables(f *testing.F) {
	fuzzKind(f, IPTables, Linux, "/etc/iptables/rules.v4", "*filter\n:INPUT DROP [0:0]\n-A INPUT ! -i lo -s 10.0.0.0/8 -p tcp -m tcp --dport 1:9 -j DROP\n"+
		"-A INPUT -p tcp --syn -m state --state NEW -j LOG --log-prefix \"a \nCOMMIT\n*nat\n-A POSTROUTING -j SNAT --to")
}

func FuzzModprobe(f *testing.F) {
	fuzzKind(f, Modprobe, Linux, "/etc/modprobe.d/a.conf", "options a-b c=1 \\\n d=\"2\"\nblacklist e\ninstall f /bin/true\nx\n")
}

func FuzzKernelConf(f *testing.F) {
	fuzzKind(f, KernelConf, FreeBSD, "/usr/src/sys/amd64/conf/GATE", "ident GATE\noptions A,B=2,C # d\noption \tE=\noptions ,\n")
}

func FuzzJail(f *testing.F) {
	fuzzKind(f, Jail, FreeBSD, "/etc/jail.conf", "exec.start = \"/bin/sh /etc/rc\";\n# c\nweb {\n\tvnet;\n\tvnet.interface = epair0b;\n"+
		"\tip4.addr = 192.0.2.5/24;\n\texec.prestart += 'ifconfig epair0 create';\n}\n", "a { b = \"c\n")
}

func FuzzModulesLoad(f *testing.F) {
	fuzzKind(f, ModulesLoad, Linux, "/etc/modules", "tcp_bbr\n# c\nnf-conntrack hashsize=1\n")
}

func FuzzCmdline(f *testing.F) {
	fuzzKind(f, Cmdline, Linux, "/proc/cmdline", "a=b quiet sysctl.net.core.x=1 m.o=2", "GRUB_CMDLINE_LINUX=\"quiet a=b\"\n")
}

// FuzzDetect checks that any bytes get an answer, and one that Parse takes.
func FuzzDetect(f *testing.F) {
	f.Add("/etc/sysctl.conf", "net.inet.ip.forwarding=1\n")
	f.Add("x", "#!/bin/sh\nsysctl a=b\n")
	f.Add("hostname.em0", "")
	f.Fuzz(func(t *testing.T, path, text string) {
		if g := Detect(path, []byte(text)); g.Kind != "" {
			checkParsed(t, g.Kind, g.System, path, text)
		}
	})
}

func FuzzVyOS(f *testing.F) {
	fuzzKind(f, VyOS, Linux, "config.boot", "interfaces {\n ethernet eth4 {\n  mtu 1508\n  vif 35 {\n   pppoe 0 {\n    mtu 1500\n   }\n  }\n }\n}\n",
		"firewall {\n name A {\n  rule 1 {\n   action accept\n   log enable\n   state {\n    established enable\n   }\n  }\n }\n}\n")
}

func FuzzWGQuick(f *testing.F) {
	fuzzKind(f, WGQuick, Linux, "/etc/wireguard/wg0.conf", "[Interface]\nPrivateKey = a\nMTU = 1480\nPostUp = sysctl -w net.core.somaxconn=5; ip route add 10.0.0.0/8 dev %i\n[Peer]\n")
}
