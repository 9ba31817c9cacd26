package facts

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
)

func TestNamesOfOutputs(t *testing.T) {
	for name, want := range map[string]string{
		"sos/sos_commands/networking/ethtool_-S_eth0":            "ethtool -S eth0",
		"sos/sos_commands/networking/ethtool_eth0":               "ethtool eth0",
		"sos/sos_commands/networking/ethtool_--show-eee_ens1f0":  "ethtool --show-eee ens1f0",
		"sos/sos_commands/networking/ethtool_-m_eth0":            "",
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
		"vmstat 1 5":                          "",
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
	texts, err := LoadFolder(fstest.MapFS{"a-session.txt": {Data: []byte(session)}, "ethtool_-g_eth0": {Data: fmt.Appendf(nil, ring, 512)}})
	if err != nil || !strings.Contains(texts["ethtool -g eth0"], "512") {
		t.Errorf("%v %q", err, texts["ethtool -g eth0"])
	}
	texts, err = LoadFolder(fstest.MapFS{"x/sos_commands/networking/ethtool_-i_eth0": {Data: []byte("driver: ixgbe\n")}, "x/var/log/messages": {Data: []byte(session)}})
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
		texts, err := LoadFolder(fstest.MapFS{"ethtool_-S_eth0": {Data: data}})
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		f, err := FromTexts("a", texts, 0)
		if err != nil || f.NIC("eth0").Counters["rx_missed_errors"].Value != 7 {
			t.Errorf("%s: %v %+v", what, err, f.NIC("eth0").Counters)
		}
	}
}

func TestEnormousInputIsBounded(t *testing.T) {
	var links, settings strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&links, "%d: veth%d: <BROADCAST,UP,LOWER_UP> mtu 1500\n", i+1, i)
	}
	for i := range 100_000 {
		fmt.Fprintf(&settings, "net.ipv4.conf.veth%d.rp_filter = 1\n", i)
	}
	stretch := strings.Repeat("x", textLimit)
	f := of(t, "Linux a 6.1", map[string]string{"ip -s -d link show": links.String(), "sysctl -a": settings.String(), "dmesg": "nf_conntrack: table full\n" + stretch + "\n" + "nf_conntrack: table full\n"})
	if len(f.NICs) != linkLimit || len(f.Settings) != settingLimit || len(f.Messages) != 1 {
		t.Errorf("%d links, %d settings, %d messages", len(f.NICs), len(f.Settings), len(f.Messages))
	}
	if p := f.Parts["messages"]; p.State != Read || p.Because != "only its first 16 MiB are read" {
		t.Errorf("%+v", p)
	}
	texts, err := LoadSession("$ dmesg\n" + strings.Repeat(strings.Repeat("a", 127)+"\n", textLimit/100))
	if err != nil || len(texts.Texts["dmesg"]) > textLimit {
		t.Errorf("%v %d", err, len(texts.Texts["dmesg"]))
	}
}

func TestIdentityIsGuessedOfOutputs(t *testing.T) {
	for output, want := range map[string][2]string{
		"netstat -m of FreeBSD":   {"netstat_-m", "1/2/3/4 mbuf clusters in use (current/cache/total/max)\n"},
		"netstat -m of OpenBSD":   {"netstat_-m", "19/208 mbuf 2048 byte clusters in use (current/peak)\n"},
		"netstat -i of FreeBSD":   {"netstat_-i", "Name    Mtu Network       Address              Ipkts Ierrs Idrop    Opkts Oerrs  Coll\nix0    1500 <Link#1>      00:00:5e:00:53:01 1 2 3 4 5 6\n"},
		"netstat -i of OpenBSD":   {"netstat_-i", "Name    Mtu   Network     Address              Ipkts Ifail    Opkts Ofail Colls\nix0     1500  <Link>      00:00:5e:00:53:01 1 2 3 4 5\n"},
		"netstat -rn of OpenBSD":  {"netstat_-rn", "Destination        Gateway            Flags   Refs      Use   Mtu  Prio Iface\ndefault 192.0.2.1 UGS 1 2 - 8 em0\n"},
		"vmstat -i of FreeBSD":    {"vmstat_-i", "interrupt                          total       rate\ncpu0:timer 1 2\nirq256: ix0:rxq0 5 6\n"},
		"vmstat -i of OpenBSD":    {"vmstat_-i", "interrupt                       total     rate\nirq0/clock 1 2\nirq114/ix0 3 4\n"},
		"vmstat -z of FreeBSD":    {"vmstat_-z", "ITEM SIZE LIMIT\nmbuf: 256, 1, 2, 3, 4, 5, 6\n"},
		"pcidump of OpenBSD":      {"pcidump_-v", " 1:0:0: Intel 82599\n"},
		"netstat -s of Linux":     {"netstat_-s", "Ip:\n    5 total packets received\nTcpExt:\n    1 SYN cookies sent\n"},
		"nstat of Linux":          {"nstat_-az", "TcpExtListenDrops 5 0.0\n"},
		"sysctl of Linux":         {"sysctl_-a", "net.core.somaxconn = 128\n"},
		"ifconfig of Linux":       {"ifconfig_-a", "eth0      Link encap:Ethernet  HWaddr 00:00:5e:00:53:01\n          RX packets:1 errors:0 dropped:0 overruns:0 frame:0\n"},
		"ifconfig of OpenBSD":     {"ifconfig_-a", "em0: flags=8843<UP,BROADCAST,RUNNING> mtu 1500\n\tlladdr 00:00:5e:00:53:01\n"},
		"the softnet of Linux":    {"proc/net/softnet_stat", "00000001 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000\n"},
		"the interrupts of Linux": {"proc/interrupts", "           CPU0\n 24: 5 PCI-MSI 0-edge eth0\n"},
	} {
		texts, err := LoadFolder(fstest.MapFS{want[0]: {Data: []byte(want[1])}})
		if err != nil {
			t.Errorf("%s: %v", output, err)
			continue
		}
		f, err := FromTexts("a", texts, 0)
		if system := output[strings.LastIndex(output, " ")+1:]; err != nil || string(f.System) != strings.ToLower(system) {
			t.Errorf("%s: %v", output, err)
		}
	}
}

// A session in which settings are asked one by one.
func TestSettingsAskedOneByOne(t *testing.T) {
	texts, err := LoadSession("# sysctl net.core.rmem_max\nnet.core.rmem_max = 212992\n# sysctl net.ipv4.tcp_rmem\nnet.ipv4.tcp_rmem = 4096 131072 6291456\n# exit\n")
	if err != nil {
		t.Fatal(err)
	}
	f, err := texts.Facts("a")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"212992", "4096 131072 6291456"}, []string{f.Settings["net.core.rmem_max"].Value, f.Settings["net.ipv4.tcp_rmem"].Value}); d != "" {
		t.Error(d)
	}
}

// What happens between two samples: an interface vanishes, another comes, a
// counter is reset, one wraps, an answer is missing.
func TestSecondSampleWithSurprises(t *testing.T) {
	link := func(i int, name string, packets uint64) string {
		return fmt.Sprintf("%d: %s: <BROADCAST,UP,LOWER_UP> mtu 1500\n    link/ether 00:00:5e:00:53:0%d\n    RX: bytes  packets  errors  dropped overrun mcast\n    1 %d 0 0 0 0\n", i, name, i, packets)
	}
	f, err := FromTexts("a", map[string]string{"uname -a": "Linux a 6.1\n",
		"ip -s -d link show":     link(1, "eth0", 100) + link(2, "eth1", 4294967290) + link(3, "eth2", 5000),
		"/proc/net/softnet_stat": "ffffffff 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000\n",
		"/proc/net/snmp":         "Tcp: InSegs OutSegs\nTcp: 100 200\n",
		"second sample": "==> ip -s -d link show <==\n" + link(2, "eth1", 4) + link(3, "eth2", 10) + link(4, "eth9", 7) +
			"==> /proc/net/softnet_stat <==\n00000009 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000\n==> /proc/net/snmp <==\nTcp: InSegs OutSegs\nTcp: 300\n"}, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	rate := func(c Counter) float64 {
		if c.Rate == nil {
			return -1
		}
		return *c.Rate
	}
	got := map[string]float64{"vanished": rate(f.NIC("eth0").Counters["link.rx_packets"]), "wrapped": rate(f.NIC("eth1").Counters["link.rx_packets"]),
		"reset": rate(f.NIC("eth2").Counters["link.rx_packets"]), "softnet": rate(f.Processors[0].Softnet.Processed), "damaged": rate(f.Counters["Tcp.InSegs"])}
	want := map[string]float64{"vanished": -1, "wrapped": 10, "reset": -1, "softnet": 10, "damaged": -1}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if f.NIC("eth9") != nil {
		t.Error("an interface that came later has no first sample")
	}
}

var quoted = regexp.MustCompile("`([^`]+)`")

// The page of outputs names what is read, and nothing else.
func TestPageOfOutputs(t *testing.T) {
	page, err := os.ReadFile("../../docs/outputs.md")
	if err != nil {
		t.Fatal(err)
	}
	_, tables, _ := strings.Cut(string(page), "## Linux")
	named := map[string]bool{}
	for _, m := range quoted.FindAllStringSubmatch(tables, -1) {
		name := typedOutput(strings.ReplaceAll(m[1], "NAME", "eth0"))
		if strings.HasPrefix(m[1], "/") {
			name = outputName(m[1][1:])
		}
		if name == "" && !strings.HasPrefix(m[1], "-") && m[1] != "kern.cp_times" {
			t.Errorf("%s is not read", m[1])
		}
		named[name] = true
	}
	for _, c := range commands() {
		if !named[c.name] {
			t.Errorf("%s is read and not on the page", c.name)
		}
	}
	for _, name := range fileNames {
		if !named[name] {
			t.Errorf("%s is read and not on the page", name)
		}
	}
}
