package transcript

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/wirerate/wirerate/internal/facts"
)

func TestNamesOfOutputs(t *testing.T) {
	for name, want := range map[string]string{
		"sos/sos_commands/networking/ethtool_-S_eth0":            "ethtool -S eth0",
		"sos/sos_commands/networking/ethtool_eth0":               "ethtool eth0",
		"sos/sos_commands/networking/ethtool_--show-eee_ens1f0":  "ethtool --show-eee ens1f0",
		"sos/sos_commands/networking/ethtool_-m_eth0":            "ethtool -m eth0",
		"sos/sos_commands/networking/ip_-s_-d_link":              "ip -s -d link show",
		"sos/sos_commands/networking/ip_-o_addr":                 "ip -o address show",
		"sos/sos_commands/networking/ip_route_show_table_all":    "ip route show table main",
		"sos/sos_commands/networking/ip_-s_neigh_show":           "ip neigh show",
		"sos/sos_commands/networking/ip_neigh_show_nud_noarp":    "ip neigh show",
		"sos/sos_commands/networking/ip_-6_route_show_table_all": "",
		"sos/sos_commands/networking/ss_-peaonmi":                "ss -tinm",
		"sos/sos_commands/networking/ss_-ltnp":                   "ss -ltn",
		"sos/sos_commands/networking/netstat_-s":                 "netstat -s",
		"sos/sos_commands/networking/netstat_-agn":               "",
		"sos/sos_commands/networking/netstat_-W_-neopa":          "netstat -an",
		"sos/sos_commands/networking/nstat_-zas":                 "nstat -az",
		"sos/sos_commands/networking/tc_-s_qdisc_show":           "tc -s qdisc show",
		"sos/sos_commands/networking/ip_netns_exec_x_netstat_-s": "",
		"sos/sos_commands/pci/lspci_-nnvv":                       "lspci -vv",
		"sos/sos_commands/pci/lspci_-tv":                         "",
		"sos/sos_commands/kernel/sysctl_-a":                      "sysctl -a",
		"sos/sos_commands/processor/mpstat_-P_ALL_1_5":           "mpstat -P ALL 1 1",
		"sos/sos_commands/block/lsblk":                           "lsblk -o NAME,SIZE,ROTA,TYPE,SCHED,MOUNTPOINT",
		"sos/sos_commands/zfs/zpool_status_-vx":                  "zpool status",
		"sos/proc/net/softnet_stat":                              "/proc/net/softnet_stat",
		"sos/proc/1/net/snmp":                                    "",
		"sos/proc/diskstats":                                     "/proc/diskstats",
		"sos/uname":                                              "uname -a",
		"netstat_-idnW.txt":                                      "netstat -idnW",
		"netstat_-ibW.out":                                       "netstat -idnW",
		"netstat_-I_ix0":                                         "netstat -idnW",
		"netstat_-xn_-p_tcp":                                     "netstat -xn -p tcp",
		"pciconf_-lbvc":                                          "pciconf -lvc",
		"pfctl_-s_info":                                          "pfctl -si",
		"ifconfig_hwfeatures":                                    "ifconfig hwfeatures",
		"iostat_-xz_1":                                           "iostat -x",
		"iostat_-xI":                                             "iostat -Ix",
		"zfs_get_all_tank":                                       "zfs get all",
		"notes.txt":                                              "",
		"netstat.txt":                                            "",
	} {
		if got := outputName(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestTypedCommands(t *testing.T) {
	for command, want := range map[string]string{
		"sudo ethtool -S eth0 | grep -i drop": "ethtool -S eth0",
		"ethtool --show-ring eth0":            "ethtool -g eth0",
		"ethtool --statistics eth0":           "ethtool -S eth0",
		"ip a":                                "ip -o address show",
		"ip -s link show dev eth0":            "ip -s -d link show",
		"ip -s -s link":                       "ip -s -d link show",
		"ip r":                                "ip route show table main",
		"netstat -s -p tcp":                   "netstat -s",
		"netstat -sn | egrep 'listen|SYN'":    "netstat -s",
		"ss -lnt":                             "ss -ltn",
		"ss -tni state established":           "ss -tinm",
		"cat /proc/net/netstat":               "/proc/net/netstat",
		"sysctl net.ipv4.tcp_rmem":            "sysctl -a",
		"sysctl -w net.ipv4.tcp_rmem=4096":    "",
		"vmstat 1 5":                          "vmstat",
		"gstat -p -I 1s":                      "gstat -b",
		"LC_ALL=C lspci -vvv -s 3b:00.0":      "lspci -vv",
		"conntrack -S":                        "conntrack -S",
		"sysctl net.inet.tcp.hostcache.list":  "sysctl net.inet.tcp.hostcache.list",
		"/usr/bin/netstat -m":                 "netstat -m",
		"rm -rf /":                            "",
		"systat -b mbufs":                     "systat -ab mbufs",
	} {
		if got := typedOutput(command); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}

// What stands in a file of its own counts before what somebody typed in
// between; a report's logs are no sessions.
func TestFilesBeforeSessions(t *testing.T) {
	ring := "Ring parameters for eth0:\nPre-set maximums:\nRX:\t4096\nCurrent hardware settings:\nRX:\t%d\n"
	session := "root@a:~# ethtool -g eth0\n" + fmt.Sprintf(ring, 7)
	texts, _, err := loadFolder(fstest.MapFS{"a-session.txt": {Data: []byte(session)},
		"ethtool_-g_eth0": {Data: fmt.Appendf(nil, ring, 512)}})
	if err != nil || !strings.Contains(texts["ethtool -g eth0"], "512") {
		t.Errorf("%v %q", err, texts["ethtool -g eth0"])
	}
	texts, _, err = loadFolder(fstest.MapFS{"x/sos_commands/networking/ethtool_-i_eth0": {Data: []byte("driver: ixgbe\n")},
		"x/var/log/messages": {Data: []byte(session)}})
	if err != nil || texts["ethtool -g eth0"] != "" || texts["ethtool -i eth0"] == "" {
		t.Errorf("%v %v", err, texts)
	}
}

// Editors, terminals and copying leave traces.
func TestTextsWithTraces(t *testing.T) {
	plain := "NIC statistics:\n     rx_missed_errors: 7\n     rx_packets: 9\n"
	wide := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(plain)) {
		wide = append(wide, byte(u), byte(u>>8))
	}
	for what, data := range map[string][]byte{
		"crlf":    []byte(strings.ReplaceAll(plain, "\n", "\r\n")),
		"bom":     []byte("\xef\xbb\xbf" + plain),
		"utf-16":  wide,
		"colours": []byte(strings.ReplaceAll(plain, "rx_missed", "\x1b[01;31m\x1b[Krx_missed\x1b[m\x1b[K")),
		"spaces":  []byte(strings.ReplaceAll(plain, "     ", "\u00a0 \u00a0 ")),
		"cut":     []byte(plain[:len(plain)-5]),
		"prompt":  []byte("# ethtool -S eth0\n" + plain),
	} {
		texts, _, err := loadFolder(fstest.MapFS{"ethtool_-S_eth0": {Data: data}})
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		f, err := facts.FromTexts("a", texts, 0)
		if err != nil || f.NIC("eth0").Counters["rx_missed_errors"].Value != 7 {
			t.Errorf("%s: %v %+v", what, err, f.NIC("eth0").Counters)
		}
	}
}

func TestIdentityIsGuessedOfOutputs(t *testing.T) {
	for output, want := range map[string][2]string{
		"netstat -m of FreeBSD": {"netstat_-m", "1/2/3/4 mbuf clusters in use (current/cache/total/max)\n"},
		"netstat -m of OpenBSD": {"netstat_-m", "19/208 mbuf 2048 byte clusters in use (current/peak)\n"},
		"netstat -i of FreeBSD": {"netstat_-i",
			"Name    Mtu Network       Address              Ipkts Ierrs Idrop    Opkts Oerrs  Coll\nix0    1500 <Link#1>     " +
				" 00:00:5e:00:53:01 1 2 3 4 5 6\n"},
		"netstat -i of OpenBSD": {"netstat_-i",
			"Name    Mtu   Network     Address              Ipkts Ifail    Opkts Ofail Colls\nix0     1500  <Link>      " +
				"00:00:5e:00:53:01 1 2 3 4 5\n"},
		"netstat -rn of OpenBSD": {"netstat_-rn",
			"Destination        Gateway            Flags   Refs      Use   Mtu  Prio Iface\ndefault 192.0.2.1 UGS 1 2 - 8 em0\n"},
		"vmstat -i of FreeBSD": {"vmstat_-i",
			"interrupt                          total       rate\ncpu0:timer 1 2\nirq256: ix0:rxq0 5 6\n"},
		"vmstat -i of OpenBSD": {"vmstat_-i",
			"interrupt                       total     rate\nirq0/clock 1 2\nirq114/ix0 3 4\n"},
		"vmstat -z of FreeBSD": {"vmstat_-z", "ITEM SIZE LIMIT\nmbuf: 256, 1, 2, 3, 4, 5, 6\n"},
		"pcidump of OpenBSD":   {"pcidump_-v", " 1:0:0: Intel 82599\n"},
		"netstat -s of Linux":  {"netstat_-s", "Ip:\n    5 total packets received\nTcpExt:\n    1 SYN cookies sent\n"},
		"nstat of Linux":       {"nstat_-az", "TcpExtListenDrops 5 0.0\n"},
		"sysctl of Linux":      {"sysctl_-a", "net.core.somaxconn = 128\n"},
		"ifconfig of Linux": {"ifconfig_-a",
			"eth0      Link encap:Ethernet  HWaddr 00:00:5e:00:53:01\n          RX packets:1 errors:0 dropped:0 overruns:0 " +
				"frame:0\n"},
		"ifconfig of OpenBSD": {"ifconfig_-a",
			"em0: flags=8843<UP,BROADCAST,RUNNING> mtu 1500\n\tlladdr 00:00:5e:00:53:01\n"},
		"the softnet of Linux": {"proc/net/softnet_stat",
			"00000001 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000\n"},
		"the interrupts of Linux": {"proc/interrupts", "           CPU0\n 24: 5 PCI-MSI 0-edge eth0\n"},
	} {
		texts, _, err := loadFolder(fstest.MapFS{want[0]: {Data: []byte(want[1])}})
		if err != nil {
			t.Errorf("%s: %v", output, err)
			continue
		}
		f, err := facts.FromTexts("a", texts, 0)
		if system := output[strings.LastIndex(output, " ")+1:]; err != nil || string(f.System) != strings.ToLower(system) {
			t.Errorf("%s: %v", output, err)
		}
	}
}

// A session in which settings are asked one by one.
func TestSettingsAskedOneByOne(t *testing.T) {
	texts, err := LoadSession("# sysctl net.core.rmem_max\nnet.core.rmem_max = 212992\n# sysctl " +
		"net.ipv4.tcp_rmem\nnet.ipv4.tcp_rmem = 4096 131072 6291456\n# exit\n")
	if err != nil {
		t.Fatal(err)
	}
	f, err := texts.Facts("a")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"212992", "4096 131072 6291456"},
		[]string{f.Settings["net.core.rmem_max"].Value, f.Settings["net.ipv4.tcp_rmem"].Value}); d != "" {
		t.Error(d)
	}
}

func TestFolderOfOutputs(t *testing.T) {
	root := fstest.MapFS{
		"sos/sos_commands/networking/ethtool_-S_eth0": {Data: []byte("NIC statistics:\n     rx_crc_errors: 7\n")},
		"sos/proc/net/softnet_stat": {Data: []byte("00000001 00000000 00000000 00000000 00000000 " +
			"00000000 00000000 00000000 00000000\n")},
		"sos/uname":       {Data: []byte("Linux a 4.18.0 #1 SMP x86_64\n")},
		"sos/version.txt": {Data: []byte("nothing known\n")},
	}
	texts, _, err := loadFolder(root)
	if err != nil {
		t.Fatal(err)
	}
	f, err := facts.FromTexts("sos", texts, 0)
	if err != nil {
		t.Fatal(err)
	}
	if f.Release != "4.18.0" || f.NIC("eth0").Counters["rx_crc_errors"].Value != 7 || f.Processors[0].Softnet == nil {
		t.Errorf("%+v", f)
	}
	posted := fstest.MapFS{"netstat_-m.txt": {Data: []byte("$ netstat -m\n1/2/3/4 mbuf clusters in use " +
		"(current/cache/total/max)\n")}}
	texts, _, err = loadFolder(posted)
	if err != nil {
		t.Fatal(err)
	}
	if f, err = facts.FromTexts("posted", texts, 0); err != nil || f.System != "freebsd" ||
		f.Memories[0].Source.Line != 2 {
		t.Errorf("%v %+v", err, f)
	}
	if _, _, err := loadFolder(fstest.MapFS{"a": {Data: []byte("b")}}); err == nil {
		t.Error("a folder of nothing is taken")
	}
}

// A session as people paste it.
func TestTranscript(t *testing.T) {
	texts, err := LoadSession(`It is slow. This is what I see:
[root@db1 ~]# sudo /usr/sbin/ethtool -S eth0 | grep crc
     rx_crc_errors: 77
[root@db1 ~]# date
Sat Nov 21
root@db1:~# cat /proc/net/softnet_stat
00000001 00000009 00000000 00000000 00000000 00000000 00000000 00000000 00000000
$ netstat -s | grep listen
    22438 times the listen queue of a socket overflowed
`)
	if err != nil {
		t.Fatal(err)
	}
	f, err := texts.Facts("post")
	if err != nil {
		t.Fatal(err)
	}
	got := []uint64{f.NIC("eth0").Counters["rx_crc_errors"].Value, f.Processors[0].Softnet.Dropped.Value,
		f.Counters["TcpExt.ListenOverflows"].Value}
	if d := cmp.Diff([]uint64{77, 9, 22438}, got); d != "" || f.System != "linux" {
		t.Error(f.System, d)
	}
	if _, err := LoadSession("nothing\n"); !errors.Is(err, ErrNoOutputs) {
		t.Errorf("%v", err)
	}
	_, err = LoadSession("How to solve it?\n  Lookups: hit:681 missed:651 lost:4\n")
	if want := "line 2 (Lookups: hit:681 missed:651 lost:4)"; !errors.Is(err, ErrNoOutputs) || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s in it", err, want)
	}
}

func FuzzTranscript(f *testing.F) {
	f.Add("$ netstat -m\n1/2/3/4 mbuf clusters in use (current/cache/total/max)\n# ethtool -S eth0\n a: 1\n")
	f.Fuzz(func(t *testing.T, s string) {
		texts, err := LoadSession(s)
		if err != nil {
			return
		}
		total := 0
		for name, text := range texts.Texts {
			if name != "uname -a" && name != "ss -ltn" {
				total += len(text)
			}
		}
		if total > 64*len(s)+1<<20 {
			t.Errorf("%d bytes of %d", total, len(s))
		}
	})
}

// What is in a folder and not known, and what comes after the rounds that are read, is named.
func TestLeftOutIsNamed(t *testing.T) {
	_, unread, err := loadFolder(fstest.MapFS{"sysctl_-a.txt": {Data: []byte("net.ipv4.tcp_sack = 0\n")},
		"notes.log": {Data: []byte("some\nstrange text\n")}, "empty": {Data: []byte("\n")}})
	if err != nil || len(unread) != 1 || unread[0].Command != "notes.log" || unread[0].Lines != 2 || unread[0].Words != "some" {
		t.Errorf("%+v, %v", unread, err)
	}
	one := "web1:~$ cat /proc/loadavg\n" + "web1:~$ cat /proc/net/sockstat\nsockets: used 100\nTCP: inuse 5 orphan 0 tw 0 alloc 5 mem 1\n"
	for rounds, want := range map[int]int{roundLimit: 0, roundLimit + 2: 1} {
		p := sortSession(splitSession(readable(strings.Repeat(one, rounds))))
		if len(p.Unread) != want || want > 0 && (p.Unread[0].Line != 4*roundLimit+0+3 || p.Unread[0].Lines != 4) {
			t.Errorf("%d rounds: %+v", rounds, p.Unread)
		}
	}
}
