package transcript

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/facts"
)

// Evidence from a session says where in the posted file a line stands.
func TestPostedPlaces(t *testing.T) {
	session := "Hello,\n\nit is slow:\n```\n# netstat -s | grep listen\n    22438 times the listen queue of a socket " +
		"overflowed\n```\n" +
		"and\n~~~\n$ ip a\n2: eth0: <UP,LOWER_UP> mtu 1500 qdisc mq state UP\n    inet 192.0.2.1/24 scope global eth0\n   " +
		" link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff\n~~~\n" +
		"# cat /proc/sys/net/core/rmem_max\n212992\n> quoted\n[ 77.123456] nf_conntrack: table full, dropping packet\n# " +
		"grep eth0 /proc/interrupts\n 27: 5 6 PCI-MSI eth0-rx-0\n"
	p, err := LoadSession(session)
	if err != nil {
		t.Fatal(err)
	}
	f, err := p.Facts("post.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(session, "\n")
	for name, src := range map[string]facts.Source{
		"22438 times": f.Counters["TcpExt.ListenOverflows"].Source,
		"2: eth0":     f.NIC("eth0").Source,
		"212992":      f.Settings["net.core.rmem_max"].Source,
		"[ 77.1234":   f.Line("dmesg", 1),
		" 27: 5 6":    f.Interrupts[0].Total.Source,
	} {
		got := f.Posted(src)
		if got.From != "post.txt" || got.Line < 1 || got.Line > len(lines) ||
			!strings.Contains(lines[got.Line-1], strings.TrimSpace(name)) || got.Output != src.From {
			t.Errorf("%s: %+v of %+v", name, got, src)
		}
	}
	if s := (facts.Source{From: "elsewhere", Line: 3}); f.Posted(s) != s {
		t.Errorf("%+v", f.Posted(s))
	}
}

// Prompts of many shells show their commands.
func TestPrompts(t *testing.T) {
	for _, prompt := range []string{"$ ", "# ", "% ", "root@fw:~ # ", "[root@db1 ~]# ", "user@host:/tmp$ ", "<RPi4 #1> # ",
		"❯ ", "➜  ~ ", "➜  repo git:(main) ✗ ", "bash-4.2$ ", "[2.7.2-RELEASE][admin@pf.home.arpa]/root: ",
		"root@OpenWrt:/# ", "admin@nas[~]$ ", "PVE1:~# ", "(venv) me@box ~> ", ":~# ", "me@box:~/src (main *) $ "} {
		p, err := LoadSession("text\n" + prompt + "ethtool -S enp3s0\nNIC statistics:\n     rx_crc_errors: 77\n")
		if err != nil || p.Texts["ethtool -S enp3s0"] == "" {
			t.Errorf("%q: %v %v", prompt, err, p.Texts)
		}
	}
	// What facts reads is a command wherever it stands.
	for _, tool := range facts.Tools() {
		if got := commandOf("# " + tool + " -x"); got != tool+" -x" {
			t.Errorf("# %s -x is the command %q", tool, got)
		}
	}
}

// What iproute2 prints with -j is read as what it prints without.
func TestJSONOfIproute(t *testing.T) {
	session := `$ ip -j -s link
[{"ifindex":1,"ifname":"lo","flags":["LOOPBACK","UP","LOWER_UP"],"mtu":65536,"qdisc":"noqueue","operstate":"UNKNOWN","link_type":"loopback","address":"00:00:00:00:00:00"},
{"ifindex":2,"ifname":"eth0","flags":["BROADCAST","MULTICAST","UP","LOWER_UP"],"mtu":9000,"qdisc":"mq","operstate":"UP","group":"default","txqlen":1000,"link_type":"ether","address":"02:00:00:00:00:01",
 "stats64":{"rx":{"bytes":900,"packets":123456,"errors":3,"dropped":4,"over_errors":57,"multicast":6},"tx":{"bytes":7,"packets":8,"errors":0,"dropped":9,"carrier_errors":10,"collisions":11}}}]
$ tc -s -j qdisc show dev eth0
[{"kind":"pfifo_fast","handle":"0:","dev":"eth0","root":true,"options":{},"bytes":5000,"packets":777,"drops":66,"overlimits":5,"requeues":4,"backlog":3,"qlen":2}]
$ nstat -j
{"kernel":{"TcpRetransSegs":42,"TcpExtListenOverflows":17}}
`
	p, err := LoadSession(session)
	if err != nil {
		t.Fatal(err)
	}
	f, err := p.Facts("post.txt")
	if err != nil {
		t.Fatal(err)
	}
	n := f.NIC("eth0")
	if n == nil || n.MTU != 9000 || !n.Up || n.Counters["link.rx_overrun"].Value != 57 ||
		n.Counters["link.rx_packets"].Value != 123456 || n.Counters["link.tx_dropped"].Value != 9 ||
		f.NIC("lo").Kind != "loopback" {
		t.Fatalf("%+v", n)
	}
	if len(n.Qdiscs) != 1 || n.Qdiscs[0].Dropped.Value != 66 || n.Qdiscs[0].Sent.Value != 777 || n.Qdiscs[0].Backlog != 3 {
		t.Errorf("%+v", n.Qdiscs)
	}
	if f.Counters["Tcp.RetransSegs"].Value != 42 || f.Counters["TcpExt.ListenOverflows"].Value != 17 {
		t.Errorf("%+v", f.Counters)
	}
	if got := f.Posted(n.Qdiscs[0].Dropped.Source); got.Line != 6 {
		t.Errorf("%+v", got)
	}
	for _, bad := range []string{"[", "[{}]", `[{"ifname":5}]`, `[{"ifname":"a\n2: b: <UP>"}]`, "{}",
		`{"kernel":{"x":-1}}`, "[]"} {
		for _, name := range []string{"ip -s -d link show", "tc -s qdisc show", "nstat -az"} {
			f, err := facts.FromTexts("a", map[string]string{"uname -a": "Linux a 6.1\n", name: bad}, 0)
			if err != nil || len(f.NICs) > 0 && f.NICs[0].Name != facts.UnnamedLink || len(f.Counters) > 0 {
				t.Errorf("%s: %s: %v %+v", name, bad, err, f)
			}
		}
	}
}

// What editors, loggers, tables, mail and pages put around the lines does not
// hide them, and the lines keep their places.
func TestMargins(t *testing.T) {
	lines := []string{"root@fw:~ # netstat -m", "2457/511/2968 mbufs in use (current/cache/total)",
		"2450/102/2552/2560 mbuf clusters in use (current/cache/total/max)",
		"6/8103/0 requests for mbufs denied (mbufs/clusters/mbuf+clusters)", "root@fw:~ # uname -a",
		"FreeBSD fw 13.2-RELEASE FreeBSD 13.2-RELEASE GENERIC amd64"}
	each := func(form func(i int, line string) string) string {
		var b strings.Builder
		for i, line := range lines {
			b.WriteString(form(i+1, line) + "\n")
		}
		return b.String()
	}
	for what, session := range map[string]string{
		"quoted twice": each(func(_ int, s string) string { return "> > " + s }),
		"a table":      each(func(_ int, s string) string { return "| " + s + " |" }),
		"numbered":     each(func(i int, s string) string { return fmt.Sprintf("%4d\t%s", i, s) }),
		"time":         each(func(i int, s string) string { return fmt.Sprintf("[2026-11-21 10:00:%02d] %s", i, s) }),
		"clock":        each(func(i int, s string) string { return fmt.Sprintf("10:00:%02d %s", i, s) }),
		"a log":        each(func(i int, s string) string { return fmt.Sprintf("Nov 21 10:00:%02d fw script: %s", i, s) }),
		"colours":      each(func(_ int, s string) string { return "\x1b[01;32m" + s + "\x1b[0m" }),
		"a page": "<pre>" + each(func(_ int, s string) string { return strings.ReplaceAll(s, "#", "&#35;") }) +
			"</pre>",
		"indented": each(func(_ int, s string) string { return "\t" + s }),
	} {
		p, err := LoadSession(session)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		f, err := p.Facts("post.txt")
		if err != nil || f.Release != "13.2-RELEASE" {
			t.Errorf("%s: %v", what, err)
			continue
		}
		for _, m := range f.Memories {
			if m.Name != "mbuf clusters" {
				continue
			}
			if m.Denied != 8103 || m.Used != 2450 || f.Posted(m.Source).Line != 4 {
				t.Errorf("%s: %+v", what, m)
			}
		}
		if len(f.Memories) == 0 {
			t.Errorf("%s: no pools", what)
		}
	}
	interrupts := " 24: 5 6 PCI-MSI eth0-rx-0\n 25: 7 8 PCI-MSI eth0-rx-1\n 26: 7 8 PCI-MSI eth0-rx-2\n"
	if got := withoutMargin(interrupts); got != interrupts {
		t.Errorf("%q", got)
	}
	kernel := "Mar  3 11:20:41 gate kernel: nf_conntrack: table full, dropping packet\n"
	if got := withoutMargin(kernel); got != kernel {
		t.Errorf("%q", got)
	}
}

func TestLongSessionIsBounded(t *testing.T) {
	p, err := LoadSession("$ dmesg\n" + strings.Repeat(strings.Repeat("a", 127)+"\n", facts.TextLimit/100))
	if err != nil || len(p.Texts["dmesg"]) > facts.TextLimit {
		t.Errorf("%v %d", err, len(p.Texts["dmesg"]))
	}
}

// A page loses its elements and keeps what only looks like one, and every line its place.
func TestPages(t *testing.T) {
	for page, want := range map[string]string{
		"<div\nclass=\"x\"><pre>a &lt;b&gt; &amp; c</pre></div>": "\na <b> & c",
		"em0: flags=8843<UP,RUNNING> &gt; <Link> <Link#1>":       "em0: flags=8843<UP,RUNNING> > <Link> <Link#1>",
		"<script>if (a < b)\n{}</script>x&nbsp;y<br/>":           "\nx\u00a0y",
		"<!-- a\nb -->text": "\ntext",
		"cut <pr":           "cut ",
	} {
		if got := withoutTags(page); got != want {
			t.Errorf("%q: %q, want %q", page, got, want)
		}
	}
}

// What several greps left of one command's output are parts of one answer; of a counter that stands there several times the
// last counts, with what the first said, and each line keeps its place and its section.
func TestSeveralPastesOfOneCommand(t *testing.T) {
	p, err := LoadSession("$ netstat -s | grep listen\n    22438 times the listen queue of a socket overflowed\n" +
		"$ netstat -s | grep prun\n    51 packets pruned from receive queue because of socket buffer overrun\n" +
		"$ netstat -s | grep listen\n    22500 times the listen queue of a socket overflowed\n" +
		"$ ethtool -S eth0 | grep rx_packets\n     rx_packets: 1000000\n$ ethtool -S eth0 | grep miss\n     " +
		"rx_missed_errors: 50000\n" +
		"$ netstat -s\nIp:\n    7 total packets received\nTcpExt:\n    22700 times the listen queue of a socket " +
		"overflowed\nUdp:\n    9 packets received\n")
	if err != nil {
		t.Fatal(err)
	}
	f, err := p.Facts("post.txt")
	if err != nil {
		t.Fatal(err)
	}
	n := f.NIC("eth0").Counters
	got := []uint64{f.Counters["TcpExt.ListenOverflows"].Value, f.Counters["TcpExt.PruneCalled"].Value,
		f.Counters["Ip.InReceives"].Value, f.Counters["Udp.InDatagrams"].Value, n["rx_packets"].Value,
		n["rx_missed_errors"].Value}
	if want := []uint64{22700, 51, 7, 9, 1000000, 50000}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for line, src := range map[int]facts.Source{15: f.Counters["TcpExt.ListenOverflows"].Source, 2: f.Counters["TcpExt.ListenOverflows"].Earlier.Source,
		10: n["rx_missed_errors"].Source,
		17: f.Counters["Udp.InDatagrams"].Source} {
		if at := f.Posted(src).Line; at != line {
			t.Errorf("%s stands in line %d, said to be in %d", src.Text, line, at)
		}
	}
	if p, err = LoadSession("$ netstat -m\n1/2/3/4 mbuf clusters in use (current/cache/total/max)\n$ netstat -m | grep " +
		"denied\n" +
		"0/8103/0 requests for mbufs denied (mbufs/clusters/mbuf+clusters)\n"); err != nil ||
		strings.Count(p.Texts["netstat -m"], "\n") != 2 {
		t.Errorf("%v %q", err, p.Texts["netstat -m"])
	}
}

// An empty line behind the titles of top does not end it.
func TestTopWithAnEmptyLine(t *testing.T) {
	p, err := LoadSession("top - 10:00:00 up 5 min,  2 users,  load average: 0.7, 0.4, 0.2\n" +
		"%Cpu(s):  0.3 us,  0.6 sy,  0.0 ni, 74.3 id,  0.0 wa, 24.8 hi,  0.0 si,  0.0 st\n\n" +
		"PID         USER      PR  NI    VIRT    RES    SHR S  %CPU %MEM     TIME+ COMMAND\n\n" +
		"3           root      20   0       0      0      0 R  99.0  0.0   2:54.29 ksoftirqd/0\n\nand then a sentence\n")
	if err != nil {
		t.Fatal(err)
	}
	if text := p.Texts["top"]; !strings.Contains(text, "ksoftirqd/0") || strings.Contains(text, "sentence") {
		t.Errorf("%q", text)
	}
}

// What a post shows as an indented block of code is read as if it stood at the margin, with and without a prompt.
func TestIndentedOutputs(t *testing.T) {
	const card = "igb1: flags=8843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> metric 0 mtu 1500\n\tether 02:00:00:00:00:02\n" +
		"\tstatus: no carrier\n"
	indented := "    " + strings.ReplaceAll(strings.TrimSpace(card), "\n", "\n    ") + "\n"
	for _, s := range []string{card, "It is slow:\n\n" + indented + "\nThanks\n", "See\n\n    # ifconfig igb1\n" + indented + "\nThanks\n"} {
		p, err := LoadSession(s)
		if err != nil {
			t.Errorf("%q: %v", s, err)
			continue
		}
		f, err := p.Facts("post.txt")
		if err != nil || len(f.NICs) != 1 || f.NICs[0].Name != "igb1" || len(f.Unread) > 0 {
			t.Errorf("%q: %+v, %+v, %v", s, f.NICs, f.Unread, err)
		}
	}
}

// A mail's body that lost its head is still known to be quoted-printable; other text with signs of equality is left.
func TestEncodedWithoutHead(t *testing.T) {
	row := "net.inet.tcp.sendspace: 32768=20=0A and some more words that make the line long=\n"
	if got := readable(strings.Repeat(row, 9)); strings.Contains(got, "=20") {
		t.Errorf("%q", got)
	}
	for _, s := range []string{strings.Repeat(row, 3), strings.Repeat("a=b\nkern.ipc.maxsockbuf=2097152\n", 20)} {
		if got := readable(s); got != s {
			t.Errorf("%q", got)
		}
	}
}
