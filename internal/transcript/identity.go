package transcript

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/system"
)

// identityMarks tell systems by what only one of them prints.
var identityMarks = []struct {
	form *regexp.Regexp
	name string
}{
	{regexp.MustCompile(`(?m)^net\.(ipv4|core|netfilter|ipv6\.neigh)\.|^%Cpu|ksoftirqd/|[Nn]eighbou?r table overflow|` +
		`nf_conntrack|kernel: \[ *\d+\.\d+\]|^\[ *\d+\.\d{6}\] |neighbour: |arp_cache|NETDEV WATCHDOG|NIC Link is |` +
		`SYNs to LISTEN|Link encap:|Possible SYN flooding|possible SYN flooding|^TCP: inuse|allowance_exceeded|` +
		`packets pruned from|packet receive errors|TCPTimeWaitOverflow|TcpExt|SYN cookies sent|Hardware Unit Hang|GT/s|` +
		`LnkSta|^top - \d|^Kernel (Interface|IP routing) table|^Iface +MTU|^Active Internet connections \((w/o|` +
		`servers and|only)|PID/Program|^\s*Cpu\(s\):`), "Linux"},
	{regexp.MustCompile(`(?m)^net\.inet6?\.[a-z0-9_.]+=|mbuf 2048 byte clusters|OpenBSD|Ifail|Iface$|` +
		`net\.inet\.ip\.ifq\.|hwfeatures=`), "OpenBSD"},
	{regexp.MustCompile(`(?m)sonewconn|interrupt storm|\[zone: [a-z_0-9]+\] kern\.|is using my IP|mbuf clusters|` +
		`\(current/cache|FreeBSD|dropped due to full socket buffers|watchdog timeout|link state changed|^(net\.inet|` +
		`kern\.ipc|hw\.intr|dev\.|vfs\.)|% interrupt|qlen/incqlen|metric 0 mtu|output packets dropped due to no bufs|` +
		`cpu0:timer|SSTRESH|(kernel|intr)\{|State Table|hard limit|<Link#|Idrop|Netif|syncache|Juno|^last pid: |` +
		`^[a-z]+\d+: (Missed Packets|Receive No Buffers|Good Packets) `), "FreeBSD"},
}

// guessIdentity makes a line of uname for outputs that came without one, from
// what only one system prints.
func guessIdentity(texts map[string]string) string {
	setting := func(name string) string {
		if m := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) +
			` ?[:=] *(\S+)`).FindStringSubmatch(texts["sysctl -a"]); m != nil {
			return m[1]
		}
		return ""
	}
	release := func(name string) string { return cmp.Or(setting(name), "unknown") }
	all := strings.Join([]string{texts["netstat -s"], texts["netstat -m"], texts["ifconfig -a"], texts["dmesg"],
		texts["vmstat -ia"], texts["netstat -idnW"], texts["netstat -rnW"]}, "\n")
	holds := func(marks ...string) bool {
		return slices.ContainsFunc(marks, func(mark string) bool { return strings.Contains(all, mark) })
	}
	only := func(s system.System) bool {
		return slices.ContainsFunc(facts.OutputsOnlyOf(s), func(name string) bool { return texts[name] != "" })
	}
	switch {
	case setting("kernel.osrelease") != "":
		return "Linux unknown " + release("kernel.osrelease")
	case setting("kern.ostype") != "":
		return setting("kern.ostype") + " unknown " + release("kern.osrelease")
	case setting("kern.ipc.maxsockbuf") != "" || only(system.FreeBSD) || holds("FreeBSD", " metric 0 mtu ", "cpu0:timer",
		"mbuf clusters in use (current/cache/total/max)", "syncache entries added", " Ierrs Idrop ", " Netif Expire"):
		return "FreeBSD unknown " + release("kern.osrelease")
	case only(system.OpenBSD) || holds("OpenBSD", "mbuf 2048 byte clusters in use", "irq0/clock",
		"SYN cache entries added",
		"\tlladdr ", "<Link>  ", " Prio Iface"):
		return "OpenBSD unknown " + release("kern.osrelease")
	}
	for name := range texts {
		if strings.HasPrefix(name, "/proc/") || strings.HasPrefix(name, "ethtool ") || strings.HasPrefix(name, "ip ") ||
			strings.HasPrefix(name, "ss ") || strings.HasPrefix(name, "tc ") || strings.HasPrefix(name, "nstat ") ||
			strings.HasPrefix(name, "mpstat ") || strings.HasPrefix(name, "conntrack ") || strings.HasPrefix(name, "/sys") {
			return "Linux unknown " + release("kernel.osrelease")
		}
	}
	if linuxSetting.MatchString(texts["sysctl -a"]) || netTools.MatchString(texts["netstat -s"]) ||
		strings.Contains(texts["ifconfig -a"], "Link encap:") || strings.Contains(texts["ifconfig -a"], "txqueuelen") {
		return "Linux unknown unknown"
	}
	return markedIdentity(texts)
}

var linuxSetting = regexp.MustCompile(`(?m)^net\.(ipv4|core|ipv6\.conf)\.`)

// netTools are titles that Linux's netstat -s has and no other.
var netTools = regexp.MustCompile(`(?m)^(Ip|Tcp|Udp|TcpExt|IpExt):$|segments sen[dt] out|segments retransmit|` +
	`connections? openings`)

// markedLimit bounds what of each text is searched for marks, in bytes.
const markedLimit = 32 << 10

// markedIdentity tells the system by what stands in the texts.
func markedIdentity(texts map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		b.WriteString(texts[name][:min(len(texts[name]), markedLimit)] + "\n")
	}
	release := "unknown"
	if m := mpstatHead.FindStringSubmatch(b.String()); m != nil {
		release = m[1]
	}
	for _, mark := range identityMarks {
		if mark.form.MatchString(b.String()) {
			return mark.name + " unknown " + release
		}
	}
	return ""
}

var mpstatHead = regexp.MustCompile(`(?m)^Linux (\d+\.\S+) `)
