package cli

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
)

// A session is what people paste when they ask for help: prompts and commands
// in many forms, outputs cut by grep, lines of a log without any command. It
// is sorted into the outputs that facts reads.

// section is one command as typed with what it printed; without a command, the
// lines before the first prompt.
type section struct {
	command string
	lines   []string
}

// readSession returns the outputs in a session by the names that facts gives
// them, with an identity guessed where none was pasted. It is empty when
// nothing is recognised.
func readSession(s string) map[string]string {
	o := outputs{texts: map[string]string{}, typed: map[string][]string{}}
	for _, part := range splitSession(s) {
		o.take(part)
	}
	if whole, err := facts.LoadTranscript(s); err == nil {
		for name, text := range whole {
			if o.texts[name] == "" && name != "uname -a" {
				o.texts[name] = text
			}
		}
	}
	if o.texts["uname -a"] == "" {
		if line := guessIdentity(o.texts); line != "" && len(o.texts) > 0 {
			o.texts["uname -a"] = line
		}
	}
	if strings.HasPrefix(o.texts["uname -a"], "Linux") && o.texts["ip -s -d link show"] == "" && o.texts["ifconfig -a"] == "" {
		o.add("ip -s -d link show", "", namedLinks(o.texts))
	}
	return o.texts
}

var queueInterrupt = regexp.MustCompile(`(?m)^ *\d+:.* (?:i40e-|ice-|bnxt_en-)?([a-z][a-z0-9_.]*?)(?:-Tx-?Rx|-TxRx|-rx|-tx|-fp|-q)[-0-9]`)

// namedLinks lists the interfaces that the outputs name, in the form of ip link
// and with nothing known about them.
func namedLinks(texts map[string]string) string {
	found := map[string]bool{}
	for name, text := range texts {
		if words := strings.Fields(name); words[0] == "ethtool" {
			found[words[len(words)-1]] = true
		}
		switch name {
		case "/sys/class/net":
			for _, line := range strings.Split(text, "\n") {
				if nic, _, ok := strings.Cut(line, "/"); ok {
					found[nic] = true
				}
			}
		case "/proc/interrupts":
			for _, m := range queueInterrupt.FindAllStringSubmatch(text, -1) {
				found[m[1]] = true
			}
		case "tc -s qdisc show":
			for _, m := range regexp.MustCompile(`(?m)^qdisc .* dev (\S+)`).FindAllStringSubmatch(text, -1) {
				found[m[1]] = true
			}
			if !strings.Contains(text, " dev ") {
				found["interface"] = true
			}
		}
	}
	var b strings.Builder
	for i, nic := range slices.Sorted(maps.Keys(found)) {
		fmt.Fprintf(&b, "%d: %s: <UP,LOWER_UP>\n", i+1, nic)
	}
	return b.String()
}

// tools are the programs after which a line that looks like a prompt is one:
// outputs and comments begin with # or > as well.
const tools = "netstat ss ip ifconfig ethtool sysctl cat dmesg grep egrep fgrep zgrep tail head less more journalctl tc nstat lspci mpstat top vmstat pfctl pciconf pcidump kldstat " +
	"uname numactl nproc lscpu ping iperf iperf3 nuttcp mount zpool zfs free uptime date ls cd echo systat sar conntrack ps tcpdump traceroute mtr wget curl scp rsync dd watch " +
	"hostname route arp getconf lsmod iptables nft ndp find awk sed ndppd kenv sysrc service systemctl cpupower turbostat tuned-adm brctl bridge ifstat nload zcat hostnamectl"

var promptLine = regexp.MustCompile(`^\s*((?:[\w@.:~/\[\]()+ -]*)?[#$%>]+)\s*(\S.*)$`)

// splitSession cuts a session at its prompts.
func splitSession(s string) []section {
	parts := []section{{}}
	known := strings.Fields(tools)
	for _, line := range strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n") {
		m := promptLine.FindStringSubmatch(line)
		if m == nil {
			parts[len(parts)-1].lines = append(parts[len(parts)-1].lines, line)
			continue
		}
		words := commandWords(m[2])
		isTool := len(words) > 0 && slices.Contains(known, words[0])
		if isTool || strings.HasPrefix(line, "$ ") || strings.Contains(m[1], "@") {
			parts = append(parts, section{command: strings.Join(words, " ")})
			continue
		}
		parts[len(parts)-1].lines = append(parts[len(parts)-1].lines, line)
	}
	return parts
}

// commandWords are the words of the first command of a pipeline, without what
// only says as whom or how often it runs.
func commandWords(command string) []string {
	command, _, _ = strings.Cut(command, "|")
	command, _, _ = strings.Cut(command, ";")
	command, _, _ = strings.Cut(command, "2>")
	words := strings.Fields(command)
	for len(words) > 0 && (slices.Contains([]string{"sudo", "doas", "watch", "time"}, words[0]) || strings.Contains(words[0], "=") || words[0] == "-n" || words[0] == "1") {
		words = words[1:]
	}
	if len(words) > 0 {
		words[0] = path.Base(words[0])
	}
	return words
}

// outputs collects texts by their names.
type outputs struct {
	texts map[string]string
	// typed are the commands that made each text: the same command again is a
	// later sample, and the first counts.
	typed map[string][]string
}

func (o outputs) add(name, command, body string) {
	if name == "" || strings.TrimSpace(body) == "" {
		return
	}
	if command != "" && slices.Contains(o.typed[name], command) {
		return
	}
	o.typed[name] = append(o.typed[name], command)
	o.texts[name] += strings.TrimRight(body, "\n") + "\n"
}

func (o outputs) take(part section) {
	body := strings.Join(part.lines, "\n")
	if strings.TrimSpace(body) == "" {
		return
	}
	words := strings.Fields(part.command)
	switch {
	case len(words) == 0:
		o.takeLoose(part.lines)
		return
	case slices.Contains([]string{"cat", "grep", "egrep", "fgrep", "zgrep", "tail", "head", "less", "more", "zcat"}, words[0]):
		if name := words[len(words)-1]; strings.HasPrefix(name, "/") {
			o.takeFile(name, part.command, part.lines)
			return
		}
	}
	if name := commandOutput(part.command); name != "" {
		o.add(name, part.command, withHead(name, part.command, body))
		return
	}
	if !o.takeTool(words, part) {
		o.takeLoose(part.lines)
	}
}

// commandOutput is what facts calls the output of a command as typed.
func commandOutput(command string) string {
	for _, form := range otherForms {
		if m := form.typed.FindStringSubmatchIndex(command); m != nil {
			command = string(form.typed.ExpandString(nil, form.name, command, m))
			break
		}
	}
	texts, err := facts.LoadTranscript("$ " + command + "\nx\n")
	if err != nil {
		return ""
	}
	for name, text := range texts {
		if text == "x\n" {
			return name
		}
	}
	return ""
}

// otherForms are commands that print a part of what facts asks for, or the
// same with other flags.
var otherForms = []struct {
	typed *regexp.Regexp
	name  string
}{
	{regexp.MustCompile(`^netstat( -[a-zA-Z]*s[a-zA-Z]*)( .*)?$`), "netstat -s"},
	{regexp.MustCompile(`^netstat( -f inet)? -p (udp|tcp|ip) -s.*$`), "netstat -s"},
	{regexp.MustCompile(`^netstat -[mn]+$`), "netstat -m"},
	{regexp.MustCompile(`^netstat -[naLf]*L[naL]*( .*)?$`), "netstat -Lan"},
	{regexp.MustCompile(`^netstat -[a-zA-Z]*Q.*$`), "netstat -Q"},
	{regexp.MustCompile(`^netstat -[nidbhW]*i[nidbhW]*( -I \S+| -f link)?( .*)?$`), "netstat -idn"},
	{regexp.MustCompile(`^netstat -I ?\S+.*$`), "netstat -idn"},
	{regexp.MustCompile(`^netstat -[naTx]*x[naT]*.*$`), "netstat -xn"},
	{regexp.MustCompile(`^ip .*(link|-s l)( .*)?$`), "ip -s -d link show"},
	{regexp.MustCompile(`^ss -?[a-z]*l[a-z]*( .*)?$`), "ss -ltn"},
	{regexp.MustCompile(`^ss( .*)?$`), "ss -tinm"},
	{regexp.MustCompile(`^tc .*qdisc.*$`), "tc -s qdisc show"},
	{regexp.MustCompile(`^lspci .*-[a-z]*v.*$|^lspci -[a-z]*v.*$`), "lspci -vv"},
	{regexp.MustCompile(`^pciconf .*$`), "pciconf -lvc"},
	{regexp.MustCompile(`^pcidump .*$`), "pcidump -v"},
	{regexp.MustCompile(`^mpstat.*$`), "mpstat -P ALL 1 1"},
	{regexp.MustCompile(`^top -\S*P.*$`), "top"},
	{regexp.MustCompile(`^nstat.*$`), "nstat -az"},
	{regexp.MustCompile(`^dmesg.*$`), "dmesg"},
	{regexp.MustCompile(`^journalctl.*$`), "dmesg"},
	{regexp.MustCompile(`^vmstat -[aiw]*i[aiw]*.*$`), "vmstat -ia"},
	{regexp.MustCompile(`^vmstat -z.*$`), "vmstat -z"},
	{regexp.MustCompile(`^pfctl -v*s ?i(nfo)?.*$`), "pfctl -si"},
	{regexp.MustCompile(`^pfctl -v*s ?m(emory)?.*$`), "pfctl -sm"},
	{regexp.MustCompile(`^ifconfig hwfeatures.*$|^ifconfig \S+ hwfeatures$`), "ifconfig hwfeatures"},
	{regexp.MustCompile(`^ifconfig.*$`), "ifconfig -a"},
	{regexp.MustCompile(`^ethtool (-[iklgcaS]|--show-eee) (\S+).*$`), "ethtool $1 $2"},
	{regexp.MustCompile(`^ethtool --(statistics) (\S+).*$`), "ethtool -S $2"},
	{regexp.MustCompile(`^ethtool --(show-features|show-offload) (\S+).*$`), "ethtool -k $2"},
	{regexp.MustCompile(`^ethtool --(show-ring) (\S+).*$`), "ethtool -g $2"},
	{regexp.MustCompile(`^ethtool --(show-channels) (\S+).*$`), "ethtool -l $2"},
	{regexp.MustCompile(`^ethtool --(show-pause) (\S+).*$`), "ethtool -a $2"},
	{regexp.MustCompile(`^ethtool ([a-z]\S+).*$`), "ethtool $1"},
	{regexp.MustCompile(`^sysctl -a.*$`), "sysctl -a"},
}

// withHead puts back the line that names what follows, where a grep took it.
func withHead(name, command, body string) string {
	last := command[strings.LastIndex(command, " ")+1:]
	switch {
	case name == "/proc/interrupts" && !strings.Contains(body, "CPU0"):
		return cpuHead(body) + body
	case name == "ifconfig -a" && last != command && !strings.HasPrefix(last, "-") && !strings.Contains(body, "flags=") && !strings.Contains(body, "Link encap"):
		return last + "  Link encap:Ethernet\n" + body
	case name == "ip -s -d link show":
		return withoutAddresses(body)
	}
	return body
}

// withoutAddresses leaves of ip address what ip link prints.
func withoutAddresses(body string) string {
	lines := strings.Split(body, "\n")
	lines = slices.DeleteFunc(lines, func(s string) bool {
		w := strings.Fields(s)
		return len(w) > 0 && (w[0] == "inet" || w[0] == "inet6" || w[0] == "valid_lft")
	})
	return strings.Join(lines, "\n")
}

// cpuHead makes the heading of /proc/interrupts for lines that came without.
func cpuHead(body string) string {
	cpus := 0
	for _, line := range strings.Split(body, "\n") {
		_, rest, _ := strings.Cut(line, ":")
		n := 0
		for _, w := range strings.Fields(rest) {
			if strings.Trim(w, "0123456789") != "" {
				break
			}
			n++
		}
		cpus = max(cpus, n)
	}
	var b strings.Builder
	for id := range min(cpus, 8192) {
		fmt.Fprintf(&b, " CPU%d", id)
	}
	return b.String() + "\n"
}

// takeFile keeps what was read of a file.
func (o outputs) takeFile(name, command string, lines []string) {
	body := strings.Join(lines, "\n")
	switch {
	case strings.HasPrefix(name, "/proc/sys/"):
		key := strings.ReplaceAll(strings.TrimPrefix(name, "/proc/sys/"), "/", ".")
		o.add("sysctl -a", command, key+" = "+strings.TrimSpace(lines[0]))
	case strings.HasPrefix(name, "/sys/class/net/"):
		o.add("/sys/class/net", command, strings.TrimPrefix(name, "/sys/class/net/")+":"+strings.TrimSpace(lines[0]))
	case strings.HasPrefix(name, "/sys/"):
		o.add("/sys", command, name+":"+strings.TrimSpace(lines[0]))
	case strings.HasPrefix(name, "/var/log/") || strings.HasPrefix(name, "/var/run/dmesg"):
		o.add("dmesg", command, body)
	default:
		if known := commandOutput("cat " + name); known != "" {
			o.add(known, command, withHead(known, command, body))
			return
		}
		o.takeLoose(lines)
	}
}

// takeTool keeps the outputs of tools that say it in words of their own.
func (o outputs) takeTool(words []string, part section) bool {
	first := strings.TrimSpace(part.lines[0])
	switch words[0] {
	case "sysctl":
		if strings.Contains(first, "hostcache.list") || strings.HasSuffix(part.command, "hostcache.list") {
			o.add("sysctl net.inet.tcp.hostcache.list", part.command, strings.Join(part.lines, "\n"))
		} else if len(words) == 3 && words[1] == "-n" {
			o.add("sysctl -a", part.command, words[2]+" = "+first)
		} else {
			o.add("sysctl -a", part.command, strings.Join(part.lines, "\n"))
		}
	case "uname":
		o.add("uname -a", part.command, unameLine(first))
	case "nproc":
		o.add("/proc/cpuinfo", part.command, cpuinfo(first, "1"))
	case "lscpu":
		fields := map[string]string{}
		for _, line := range part.lines {
			name, value, _ := strings.Cut(line, ":")
			fields[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
		o.add("/proc/cpuinfo", part.command, cpuinfo(fields["CPU(s)"], fields["Thread(s) per core"]))
	case "numactl":
		for _, line := range part.lines {
			if w := strings.Fields(line); len(w) > 3 && w[0] == "node" && w[2] == "cpus:" {
				o.add("/sys", line, "/sys/devices/system/node/node"+w[1]+"/cpulist:"+strings.Join(w[3:], ","))
			}
		}
	default:
		return false
	}
	return true
}

// unameLine completes what uname printed with fewer flags.
func unameLine(s string) string {
	words := strings.Fields(s)
	systems := []string{"Linux", "FreeBSD", "OpenBSD"}
	switch {
	case len(words) == 1 && strings.Contains(s, "-RELEASE") || strings.Contains(s, "-STABLE") && len(words) == 1:
		return "FreeBSD unknown " + s
	case len(words) == 1 && regexp.MustCompile(`^\d+\.\d+\.`).MatchString(s):
		return "Linux unknown " + s
	case len(words) == 2 && slices.Contains(systems, words[0]):
		return words[0] + " unknown " + words[1]
	case len(words) > 2 && slices.Contains(systems, words[0]) && regexp.MustCompile(`^\d+\.\d`).MatchString(words[1]):
		return words[0] + " unknown " + strings.Join(words[1:], " ") // uname -srm
	}
	return s
}

// cpuinfo lists as many processors, as /proc/cpuinfo does.
func cpuinfo(count, threads string) string {
	n, t := 0, 1
	fmt.Sscan(count, &n)
	fmt.Sscan(threads, &t)
	var b strings.Builder
	for id := range min(max(n, 0), 8192) {
		fmt.Fprintf(&b, "processor\t: %d\nphysical id\t: 0\ncore id\t: %d\n\n", id, id/max(t, 1))
	}
	return b.String()
}

// looseLines tell lines that came without a command by their form.
var looseLines = []struct {
	form *regexp.Regexp
	name string
}{
	{regexp.MustCompile(`^[A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d .*kernel:|^\d{4}-\d\d-\d\dT\S+ \S+ kernel:|^\[ *\d+\.\d+\] |^\[[A-Z][a-z]{2} [A-Z][a-z]{2} +\d+ `), "dmesg"},
	{regexp.MustCompile(`sonewconn: pcb|interrupt storm detected|nf_conntrack: table full|is using my IP address|mbuf clusters exhausted|^\[zone: |neighbor table overflow|: watchdog timeout|Detected Tx Unit Hang|possible SYN flooding|Possible SYN flooding|link state changed to `), "dmesg"},
	{regexp.MustCompile(`^(net|kern|hw|dev|vm|vfs)\.[a-z0-9_.]+( ?= ?|: ?)\S`), "sysctl -a"},
	{regexp.MustCompile(`^([0-9a-f]{8} ){8,}`), "/proc/net/softnet_stat"},
	{regexp.MustCompile(`requests for .*(denied|delayed)|mbuf clusters in use|mbufs in use`), "netstat -m"},
	{regexp.MustCompile(`^(TCP|UDP): inuse \d+`), "/proc/net/sockstat"},
	{regexp.MustCompile(`^\s*\d+ (times the listen queue of a socket overflowed|SYNs to LISTEN sockets|SYN cookies sent|packets pruned from|packets collapsed in|packet receive errors|receive buffer errors|segments retransmi)`), "netstat -s"},
	{regexp.MustCompile(`^\s*(TcpExt|Tcp|Udp|Ip|IpExt)[A-Z][A-Za-z0-9]+\s+\d+`), "nstat -az"},
	{regexp.MustCompile(`^CPU \d+: .*% interrupt`), "top"},
	{regexp.MustCompile(`^\s*(\w*allowance_exceeded|rx_missed_errors|rx_no_buffer_count|rx_crc_errors|rx_flow_control_xoff|tx_flow_control_xoff|rx_out_of_buffer|rx_discards_phy): *\d+`), "ethtool -S interface"},
	{regexp.MustCompile(`LnkSta:|LnkCap:|^[0-9a-f:]+\.[0-9] Ethernet controller`), "lspci -vv"},
}

// looseBlocks begin an output that lasts to the next empty line; that of a
// kernel's log to the end.
var looseBlocks = []struct {
	begin *regexp.Regexp
	name  string
}{
	{regexp.MustCompile(`^Coalesce parameters for (\S+):`), "ethtool -c $1"},
	{regexp.MustCompile(`^driver: \S+$`), "ethtool -i interface"},
	{regexp.MustCompile(`^(Ip|Icmp|Tcp|Udp): [A-Z]\w+ [A-Z]`), "/proc/net/snmp"},
	{regexp.MustCompile(`^Copyright \(c\) 1992-.*FreeBSD Project|^OpenBSD \d+\.\d+.* #\d+: `), "dmesg"},
	{regexp.MustCompile(`^Linux \d+\.\S+ \(.*CPU\)`), "mpstat -P ALL 1 1"},
	{regexp.MustCompile(`^Netid +State +Recv-Q`), "ss -tinm"},
	{regexp.MustCompile(`^\S+@pci\d+:\d+:\d+:\d+:`), "pciconf -lvc"},
	{regexp.MustCompile(`^State Table  +Total`), "pfctl -si"},
	{regexp.MustCompile(`^IP address +MTU +SST`), "sysctl net.inet.tcp.hostcache.list"},
}

// takeLoose sorts lines that no known command printed: blocks that begin as
// outputs do, then lines by their form.
func (o outputs) takeLoose(lines []string) {
	if texts, err := facts.LoadTranscript(strings.Join(lines, "\n") + "\n"); err == nil {
		for _, name := range slices.Sorted(maps.Keys(texts)) {
			if name != "uname -a" {
				o.add(name, "", texts[name])
			}
		}
	}
	found := map[string][]string{}
	block := ""
	for _, line := range lines {
		if strings.TrimSpace(line) == "" && block != "dmesg" {
			block = ""
		}
		for _, b := range looseBlocks {
			if m := b.begin.FindStringSubmatchIndex(line); m != nil && block != "dmesg" {
				block = string(b.begin.ExpandString(nil, b.name, line, m))
			}
		}
		if block != "" {
			found[block] = append(found[block], line)
			continue
		}
		if w := strings.Fields(line); len(w) > 3 && slices.Contains([]string{"Linux", "FreeBSD", "OpenBSD"}, w[0]) && regexp.MustCompile(`^\d+\.\d`).MatchString(w[2]) {
			found["uname -a"] = append(found["uname -a"], strings.TrimSpace(line))
		}
		for _, l := range looseLines {
			if l.form.MatchString(line) {
				found[l.name] = append(found[l.name], line)
				break
			}
		}
	}
	for name, all := range found {
		if o.texts[name] == "" || name == "dmesg" || name == "sysctl -a" {
			o.add(name, "", strings.Join(all, "\n"))
		}
	}
}

// identityMarks tell systems by what only one of them prints.
var identityMarks = []struct {
	form *regexp.Regexp
	name string
}{
	{regexp.MustCompile(`(?m)^net\.(ipv4|core|netfilter|ipv6\.neigh)\.|nf_conntrack|neighbour: |arp_cache|NETDEV WATCHDOG|NIC Link is |SYNs to LISTEN|Link encap:|Possible SYN flooding|possible SYN flooding|^TCP: inuse|allowance_exceeded|packets pruned from|packet receive errors|TCPTimeWaitOverflow|TcpExt|SYN cookies sent|Hardware Unit Hang|GT/s|LnkSta`), "Linux"},
	{regexp.MustCompile(`(?m)^net\.inet6?\.[a-z0-9_.]+=|mbuf 2048 byte clusters|OpenBSD|Ifail|Iface$|net\.inet\.ip\.ifq\.|hwfeatures=`), "OpenBSD"},
	{regexp.MustCompile(`(?m)sonewconn|interrupt storm|^\[zone: |is using my IP|mbuf clusters|\(current/cache|FreeBSD|dropped due to full socket buffers|watchdog timeout|link state changed|^(net\.inet|kern\.ipc|hw\.intr|dev\.|vfs\.)|% interrupt|qlen/incqlen|metric 0 mtu|output packets dropped due to no bufs|cpu0:timer|SSTRESH|State Table|hard limit|<Link#|Idrop|Netif|syncache|Juno`), "FreeBSD"},
}

// guessIdentity makes a line of uname for outputs that came without one.
func guessIdentity(texts map[string]string) string {
	names := slices.Sorted(maps.Keys(texts))
	var b strings.Builder
	for _, name := range names {
		b.WriteString(texts[name] + "\n")
	}
	release := "unknown"
	if m := regexp.MustCompile(`(?m)^kern(?:el)?\.osrelease ?[:=] ?(\S+)`).FindStringSubmatch(b.String()); m != nil {
		release = m[1]
	}
	if m := regexp.MustCompile(`(?m)^Linux (\d+\.\S+) `).FindStringSubmatch(b.String()); m != nil { // mpstat's heading
		release = m[1]
	}
	for _, name := range names {
		for _, prefix := range []string{"/proc/", "/sys", "ethtool ", "ip ", "ss ", "tc ", "nstat", "mpstat"} {
			if strings.HasPrefix(name, prefix) {
				return "Linux unknown " + release
			}
		}
	}
	for _, name := range names {
		if slices.Contains([]string{"netstat -Q", "netstat -Lan", "netstat -xn -p tcp", "vmstat -z", "pciconf -lvc", "kldstat"}, name) {
			return "FreeBSD unknown " + release
		}
	}
	for _, mark := range identityMarks {
		if mark.form.MatchString(b.String()) {
			return mark.name + " unknown " + release
		}
	}
	return ""
}
