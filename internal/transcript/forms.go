package transcript

import (
	"slices"
	"strings"
	"sync"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// The forms in which people type and paste what facts asks for.

// tools are the programs after which a line that looks like a prompt is one: outputs and comments begin with # or > as
// well. They are those that facts reads, and others that people type in between.
var tools = sync.OnceValue(func() map[string]bool {
	known := map[string]bool{}
	for _, name := range append(facts.Tools(), strings.Fields(otherTools)...) {
		known[name] = true
	}
	return known
})

const otherTools = "cat grep egrep fgrep zgrep zcat tail head less more find awk sed ls cd echo date sleep watch ps " +
	"dd mount hostname hostnamectl uptime nproc numactl lsmod service systemctl sysrc journalctl cpupower turbostat " +
	"tuned-adm zfs perf bpftrace trace-cmd retis kstat route arp ndp ndppd bridge brctl iptables nft ifstat nload " +
	"tailscale wg iwconfig iwinfo nfsiostat mountstats findmnt dig nslookup getent tcpdump tshark traceroute tracepath arping conntrack iperf nuttcp netperf ntttcp wget curl scp rsync fio " +
	"teamdctl ibstat ibstatus iblinkinfo ibqueryerrors perfquery esxtop virsh ceph " +
	"dnctl nfsstat iscsictl ctladm ctlstat procstat fstat dtrace"

// isCommand reports whether words begin with a program that is known.
func isCommand(words []string) bool { return len(words) > 0 && tools()[words[0]] }

// ofOptions are programs whose arguments are options, numbers and names: never several words.
var ofOptions = strings.Fields("iperf iperf3 ethtool ping netstat nstat mtr traceroute dmesg mpstat vmstat sar top nload nuttcp fio")

// isSpoken reports whether words only begin with the name of a program: "iperf3 reports too many retransmits".
func isSpoken(words []string) bool {
	return len(words) > 2 && slices.Contains(ofOptions, words[0]) &&
		!slices.ContainsFunc(words[1:], func(w string) bool { return !plainWord.MatchString(w) })
}

var plainWord = regexp.MustCompile(`^[A-Za-z]['’a-z]*[,.:?!]?$`)

// percentage tells a share in a table of top from the prompt of csh.
var percentage = regexp.MustCompile(`[0-9]%$`)

// looseLines tell lines that came without a command by their form.
var looseLines = []looseLine{
	{regexp.MustCompile(`(^|\s)kernel: \S|^kern: +\w+: \[|^[A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d(\.\d+)? .*kernel:|` +
		`^\d{4}-\d\d-\d\dT\S+ \S+ kernel:|^\s*(?:<\d{1,3}>)?\[ *\d+\.\d+\] |^\[[A-Z][a-z]{2} [A-Z][a-z]{2} +\d+ `), "dmesg",
		[]string{"kernel: ", "kernel:", "kern: ", "["}},
	{regexp.MustCompile(`sonewconn: pcb|NETDEV WATCHDOG|Detected Hardware Unit Hang|Reset adapter unexpectedly|` +
		`NIC Link is |transmit queue \d+ timed out|TX timeout (?:detected|on queue)|reset due to tx timeout|with own address as source address|available PCIe bandwidth|PCI-Express bandwidth available|` +
		`out of memory -- consider tuning tcp_mem|time wait bucket table overflow|interrupt storm detected|` +
		`nf_conntrack: ?table full|is using my IP address|mbuf clusters exhausted|\[zone: [a-z_0-9]+\] kern\.|` +
		`[Nn]eighbou?r table overflow|: watchdog timeout|Detected Tx Unit Hang|possible SYN flooding|` +
		`Possible SYN flooding|link state changed to |lost tx completions is above|` +
		`tx_timeout recovery level|soft lockup - CPU#|self-detected stall|detected stalls on CPU|hard LOCKUP|` +
		`task \S+:\d+ blocked for more than`), "dmesg",
		[]string{"soft lockup", "blocked for", "stall", "LOCKUP", "sonewconn", "WATCHDOG", "Unit Hang", "adapter", "Link is", "timed out", "TX timeout", "tx timeout", "own address", "andwidth", "out of memory",
			"bucket table", "storm", "nf_conntrack", "my IP", "exhausted", "[zone: ", "eighbo", "watchdog", "SYN flooding",
			"link state changed", "lost tx completions", "tx_timeout"}},
	{regexp.MustCompile(`^\[ *\d+\](?: +-?\d+){5,9} +\S+$|` +
		`[TR]x status -\d+$|` +
		`swiotlb buffer is full|page allocation failure|Linux processing - Can't refill|` +
		`probe (?:of \S+|with driver \S+) failed with error -\d|rtl_\w+_cond == \d|Switched to clocksource |` +
		`link status definitely down|` +
		`Downshift occurred from|CTRL-EVENT-BEACON-LOSS|missed beacons exceeds|` +
		`systemd-networkd\[\d+\]: \S+: Lost carrier|netifd: Network device '\S+' link is |` +
		`firmware crashed!|^(?:.*\b)?iw[mnx]\d+: (?:fatal firmware error|Start Error Log Dump)|Microcode SW error detected\. ? ?Restarting|` +
		`downgraded by SmartSpeed|hostapd: \S+: STA |^[a-z][\w.-]*: (?:STA [0-9a-f:]{17} |AP-STA-(?:DIS)?CONNECTED )|link up, \d+Mbps, half-duplex|` +
		`write UDPv?[46]?: Message too long|'(?:link|tun)-mtu' is used inconsistently|` +
		`error: bad packet ID|PCIe Bus Error: severity=|AER: (?:Multiple )?Correct\w+ error|` +
		`slow (?:ops|requests),? oldest one blocked|slow requests (?:are blocked > |, \d+ included)|slow operation observed for \w+, latency = |slow request \d+\.\d+ seconds old|` +
		`get_health_metrics reporting \d+ slow|BLUESTORE_SLOW_OP_ALERT|observed slow operation indications|slow metadata IOs are blocked|` +
		`(?:requests|ops) are blocked > [\d.]+ sec|` +
		`[Hh]eartbeat (?:ping )?on (?:back|front)(?: interface)? from osd|OSD heartbeats on (?:back|` +
		`front) from osd|heartbeat_check: no reply`), "dmesg",
		[]string{"packet ID", "PCIe Bus", "AER: ", "slow ", "SLOW_OP", "are blocked", "eartbeat", "[ ",
			"status", "swiotlb", "allocation", "refill", "failed with error", "_cond", "clocksource", "UDP",
			"-mtu'", "Downshift", "BEACON", "beacons", "hostapd", "STA ", "-STA-", "Lost carrier", "netifd: ", "crashed!", "Microcode", "firmware error", "Error Log", "SmartSpeed", "half-duplex"}},
	{regexp.MustCompile(`^(net|kern|hw|dev|vm|vfs|kstat)\.[a-z0-9_.]+( ?= ?|: ?)\S|^dev\.[a-z]\w*\.\d+\.[\w.]+: \S|^[ \t]+(?:net|kern|hw|dev|vm|` +
		`vfs)\.[a-z0-9_.%]+(?:: |=| = )\S`),
		"sysctl -a", nil},
	{regexp.MustCompile(`kfree_skb.*reason[:=]|kfree_skb_total\{|^\d+ drops? at \S+ \(|^drop at: \S|` +
		`^drop reason: [A-Z_]+$|` +
		`^@\w*\[(?:SKB_DROP_REASON_)?[A-Z_]{4,}\]: \d+$`), "dropwatch", []string{"kfree_skb", "drop", "@"}},
	{regexp.MustCompile(`^(?:/sys/class/net/)?\w[\w.-]*/statistics/\w+:\d+$`), "/sys/class/net", []string{"/statistics/"}},
	{regexp.MustCompile(`^[\w .()-]+: +\d+, +\d+, +\d+, +\d+, *\d+(, *\d+)*$`), "vmstat -z", []string{","}},
	{regexp.MustCompile(`^\s*\d+:(\s+\d+){2,}\s+\S.*\s\S+$|^\s*\d+:\s+\d+\s+(?:IR-)?(?:PCI-MSI|IO-APIC|GIC|` +
		`xen)\S*\s.*\S$`),
		"/proc/interrupts", nil},
	{regexp.MustCompile(`^\s*([0-9a-f]{8} ){8,}`), "/proc/net/softnet_stat", nil},
	{regexp.MustCompile(`requests for .*(denied|delayed)|mbuf clusters in use|mbufs in use`), "netstat -m",
		[]string{"mbuf", "requests for"}},
	{regexp.MustCompile(`^[a-z]+\d+: [A-Z][A-Za-z ]+ = \d+\s*$`), "dmesg", nil},
	{regexp.MustCompile(`^\s*(current entries|searches|state-mismatch|memory|congestion|state-limit|` +
		`src-limit)\s+\d+\s+\d+\.\d+/s`), "pfctl -si", nil},
	{regexp.MustCompile(`\bcurrent entries \d+ .*\bsearches \d+ `), "pfctl -si", []string{"current entries"}},
	{regexp.MustCompile(`^\s*(?i:state table size)\W.*\(\d+/\d+\)`), "pfctl -si",
		[]string{"able size", "ABLE SIZE", "able Size"}},
	{regexp.MustCompile(`^\s*(?i:mbuf usage)\W.*\(\d+/\d+\)`), "netstat -m", []string{"MBUF", "Mbuf"}},
	{regexp.MustCompile(`\d% +\d+[KMGT]?B +\d+\.\d[KMGT]?B/s +[\d-]`), "scp", []string{"B/s"}},
	{facts.CopyLine, "scp", []string{":--", "B/s"}},
	{regexp.MustCompile(`^[ \t]*socket options *=.*\bSO_(?:RCV|SND)BUF|^(?:push ")?(?:snd|rcv)buf \d+"?$`), "testparm",
		[]string{"socket options", "buf "}},
	{regexp.MustCompile(`^\s*[0-9.]+%Sys +[0-9.]+%Intr |^\s*[0-9.]+%Int +.*%Sys `), "systat -vm", []string{"%Int"}},
	{facts.UpstreamLine, "curl", []string{"uct=", "upstream_connect_time"}},
	{regexp.MustCompile(`dpinger.* (?:Alarm|Clear) latency \d+us|(?i:alarm|alert|monitor): .*\(Addr: ?\S+ Alarm:|` +
		`apinger: (?:ALARM|alarm canceled): |LCP: (?:peer not responding|no reply to \d+ echo)|` +
		`No response to \d+ echo-requests|` +
		`LCP keepalive time|arpresolve: can't allocate llinfo|does not support NS_MOREFRAG`), "dmesg",
		[]string{" latency ", "(Addr:", "apinger: ", "LCP", "echo-requests", "arpresolve", "NS_MOREFRAG"}},
	{facts.InterfaceRow, "netstat -idnW", []string{"<Link"}},
	{regexp.MustCompile(`^states +hard limit +\d+`), "pfctl -sm", nil},
	{regexp.MustCompile(`^(?:tcp|unix)\d*\s+\d+/\d+/\d+\s+\S+\s*$`), "netstat -Lan", []string{"/"}},
	{regexp.MustCompile(`^(TCP|UDP): inuse \d+`), "/proc/net/sockstat", nil},
	{regexp.MustCompile(`^\s*\d+ (times the listen queue of a socket overflowed|SYNs to LISTEN sockets|` +
		`SYN cookies sent|listen queue overflows|dropped due to full socket buffers|packets pruned from|` +
		`packets collapsed in|packet receive errors|possible replay packets? detected|receive buffer errors|` +
		`segments retransmi)|^\s*TCP[A-Z]\w+: \d+$`), "netstat -s", nil},
	{regexp.MustCompile(`^\s*(TcpExt|Tcp|Udp|Ip|IpExt)\.?[A-Z][A-Za-z0-9]+(?:\s+|\s*[=:]\s*)\d+`), "nstat -az", nil},
	{regexp.MustCompile(`^CPU(?: \d+|\d* states)?: .*% int(?:errupt|r)|^CPU\d+: .*% idle .*% sirq`), "top",
		[]string{"% int", "% sirq"}},
	{regexp.MustCompile(`^%?Cpu(?:\(s\)|\d+) *: *[0-9]+[.,][0-9]+ ?%? ?us, `), "top", []string{"Cpu"}},
	{regexp.MustCompile(`^ *\d+\.\d+% +(?:\S+ +)?\[[\w.]+\] +\[k\] \w+`), "perf top", []string{"[k]"}},
	{regexp.MustCompile(`^ *\d+ root .* \d+\.\d+% \[?(?:kernel|intr|idle)\{`), "top",
		[]string{"kernel{", "intr{", "idle{"}},
	{regexp.MustCompile(`(?:\bIP6? |^\s+)\S+ > \S+: Flags \[S\.?[EW]*\],.* options \[`), "tcpdump", []string{": Flags [S"}},
	{regexp.MustCompile(`^\s+\S+ > \S+: ICMP \S+ unreachable - need to frag`), "tcpdump", []string{"need to frag"}},
	{regexp.MustCompile(`^tcpdump: (?:verbose output|listening on)|^listening on \S+, link-type |` +
		`^\d\d:\d\d:\d\d\.\d+ IP6? |^IP6? \S+ > \S+: Flags \[|^\d\d:\d\d:\d\d\.\d+ \S+ > \S+: [SFPR.]+ `),
		"tcpdump", []string{"tcpdump: ", "link-type", "IP", " > "}},
	{regexp.MustCompile(`^[a-z]+\d+: <.*> (?:mem|port|irq|at) |^[a-z]+\d+ at [a-z]+\d+ dev \d+ function \d+ "|^Hypervisor: Origin = |limit exceeded by uid|` +
		`out of swap space|` +
		`failed to reclaim memory|` +
		`^(?:.*kernel: )?arp: \S+ moved from |^arp info overwritten for |^[a-z]+\d+: .*(?i:rx .*(?:lost|overrun|` +
		`overflow))`),
		"dmesg",
		[]string{": <", " function ", "Hypervisor: ", "exceeded by uid", "swap space", "reclaim memory", "arp", "rx ", "RX ", "Rx "}},
	{regexp.MustCompile(`^[a-z]+\d+: watchdog: head \d+|Found a Tx that wasn't completed on time|` +
		`lost tx completion is above|OVER TEMP|over heated|` +
		`discard oversize frame|\b[Uu]nder-?voltage detected|^\W*(?:.*get_throttled\W+)?throttled=0x[0-9a-f]+\W*$`), "dmesg",
		[]string{"oltage detected", "throttled=", "watchdog: head", "Found a Tx", "lost tx", "OVER TEMP",
			"over heated", "oversize"}},
	{regexp.MustCompile(`^[a-z]+\d+: .*(?i:un(?:supported|qualified) (?:SFP\S* )?module)`), "dmesg", []string{"module", "Module"}},
	{regexp.MustCompile(`^(?:<\d+>)?(?:carp: (?:VHID )?\d+@[a-z][\w.]*|carp\d+): (?:state transition: )?(?:INIT|BACKUP|MASTER) -> [A-Z]|` +
		`kmem_map too small: \d|\bDAD (?:detected duplicate IPv6 address|complete for .* duplicate found)|` +
		`kern\.ipc\.\w+ limit reached|\b(?:says?|said|shows?) (?:that )?(?:the )?kern\.ipc\.\w+ limit is reached`),
		"dmesg", []string{"carp", "kmem_map", "DAD ", "kern.ipc."}},
	{regexp.MustCompile(`\bCAM status: [A-Z]|SCSI sense: (?:MEDIUM|HARDWARE) ERROR|: Timeout on slot \d+ port|: exception Emask 0x|(?:I/O|critical medium) error, dev |` +
		`: Resetting controller due to a timeout`), "dmesg", []string{"CAM status", "SCSI sense", "on slot", "Emask", "error, dev", "Resetting"}},
	{regexp.MustCompile(`no ping reply \(NOP-(?:In|Out)\) after|(?i:interface stopped distributing)|` +
		`mclpools? limit reached|` +
		`(?i:: watchdog timeout)|^[a-z]+\d+: PCI Express Bus: Speed |appears to be hung!|desc avail = \d+, pidx = \d|` +
		`^Limiting (?:open port|closed port|icmp) \S+ (?:RST )?response from \d`), "dmesg",
		[]string{"Limiting ", "desc avail", "NOP-", "istributing", "DISTRIBUTING", "limit reached", "atchdog",
			"PCI Express", "hung"}},
	{regexp.MustCompile(`^\s*(\w*allowance_exceeded|InDroppedDma|rbuf_ovflow_cnt|rx_no_dma_resources|rx_fifo_errors|` +
		`rx_nodesc_drop_cnt|port_rx_nodesc_drops|rx_(?:long|short)_length_errors|rx_missed_errors|tx_send_full|` +
		`rx_no_buffer_count|rx_crc_errors|rx_flow_control_xoff|` +
		`tx_flow_control_xoff|rx_out_of_buffer|rx_discards_phy|port\.rx_\w+|rx_dropped\.nic|rx_\w+\.nic): *\d+`), "ethtool -S interface",
		[]string{"allowance", "rx_", "tx_", "InDroppedDma", "rbuf_"}},
	{regexp.MustCompile(`drop mbuf that needs (?:checksum|generic segmentation) offload|netmap_(?:grab_packets|` +
		`ring_reinit).* full hwcur|` +
		`netmap_transmit\s+[a-z][\w.]* full\b|Netmap \S+ transmit ring is full|` +
		`netmap:\S+ failed: Cannot allocate memory|(?i:error reading netmap data via polling)`),
		"dmesg", []string{"drop mbuf", "netmap", "Netmap "}},
	{regexp.MustCompile(`: invalid MTU: \d+\(\w+\) != \d|ifconfig: BRDGADD \w+: Inv|: Trigger reset is on|` +
		`ENA admin queue is not in running state|` +
		`: Rx ring \d+ is stalled|: [Tt]rigger refill for ring \d|PF states limit reached|\tkernel\t(?:<\d+>)?\S|` +
		`Socket create failed due to limits|cannot (?:define|create) table \S+: Cannot allocate memory|` +
		`^\W*[a-z]{2,}\d+ [Ww]atchdog timeout\W*$`), "dmesg",
		[]string{"invalid MTU", "BRDGADD", "Trigger reset", "admin queue", "stalled", "refill", "PF states", "\tkernel\t",
			"Socket create", "atchdog", "table "}},
	{regexp.MustCompile(`: bandwidth too large$|Could not setup (receive|transmit) structures|AMD-Vi: Event logged|` +
		`DMAR: \[DMA |PCIe link lost|too many orphaned sockets|[Ff]ailed to sufficiently increase (receive|` +
		`send) buffer|` +
		`so-(?:rcv|snd)buf \d+ was not granted|so_rcvbuf_set=|limit reached$|` +
		`(?:connect|dial|^\[error\] socket|ConnectException|BindException|NoRouteToHostException|a new connection)\b.*(?:[Cc]an(?:not|\\?'t) assign requested address|EADDRNOTAVAIL)|` +
		`Connect\(\) failed for (?:backend|server) \S+ no free ports|bind\(.*port=htons\(0\).* = -1 EADDRINUSE|TCP backlog setting of \d+ cannot be enforced|` +
		`UDP GRO forwarding is suboptimally configured|connect\(\) to unix:\S+ failed \(11:|` +
		`uWSGI listen queue of socket .* full !!!|(?i:(?:setsockopt|SO_(?:SND|RCV)BUF|(?:send|` +
		`receive) buffer size)\b.*no buffer space available)`),
		"dmesg",
		[]string{"free ports", "uffer size", "BUF", "setsockopt", "to unix:", "uWSGI", "cannot be enforced",
			"suboptimally", "assign requested",
			"EADDR", "too large", "structures", "AMD-Vi", "DMAR", "link lost", "orphaned", "sufficiently", "rcvbuf", "sndbuf",
			"limit reached"}},
	{regexp.MustCompile(`infiniband/\S+/ports/\d+/(?:hw_)?counters/\w+:\d+$`), facts.RDMA, []string{"infiniband/"}},
	{facts.GuestCardForm, "virsh domiflist", []string{"<model type=", "bridge=", "virtualDev", "-device ", "-net nic", ":"}},
	{facts.AtopRow, "sar", []string{"bps"}},
	{facts.RetransmitForm, facts.Retransmits, []string{"> ", "-- ", "etr"}},
	{facts.FabricForm, facts.RDMA, []string{"ounters: Lid", ":....", "GUID 0x"}},
	{facts.AlarmForm, facts.Alarms, []string{"udp", "tcp", "UDP", "TCP"}},
	{facts.AlarmShareForm, facts.Alarms, []string{"overflow", "dropped", "fifo", "netdev", "conntrack", "tracker"}},
	{facts.AlertForm, facts.Alarms, []string{"has encountered"}},
	{facts.AlarmChart, facts.Alarms, []string{"net.", "net_"}},
	{facts.ProgramStatForm, facts.ProgramStats, []string{"STAT ", "lients:", "_connections", "onn", "Idle_pct", "threads_",
		"sess_", "cluster.", "nr_", "container_cpu", "throttling"}},
	{regexp.MustCompile(`/proc/pressure/memory:(?:some|full) avg10=`), facts.PressureOfMemory, []string{"pressure/memory:"}},
	{facts.ConnectFailed, "dmesg", []string{"dial tcp", "onnect", "Errno 110"}},
	{regexp.MustCompile(`^\s*\[<[0-9a-f]{8,16}>\] `), "dmesg", []string{"[<"}},
	{facts.ProgramLimitForm, "dmesg", []string{"oo many", "EMFILE", "CON_COUNT", "FD limit", "file-max", "filedescriptors", "worker_connections",
		"server reached", "scoreboard", "remaining connection", "max_client_conn", "1040", "ax number of clients",
		"output buffer", "MaxStartups", "ports busy", "is not available", "Maximum number of threads"}},
	{regexp.MustCompile(`^(?:# ?)?(?:node_(?:netstat|network|sockstat|nf_conntrack|ethtool)_|\w*allowance_exceeded\{)`),
		"node_exporter",
		[]string{"node_", "allowance_exceeded{"}},
	{regexp.MustCompile(`^\W*Rx/Tx is disabled on this device because an? un\w+ \w+ module`), "dmesg", []string{"Rx/Tx is disabled"}},
	{regexp.MustCompile(`\b(?:igb|igc|ixgbe|e1000e|i40e|ice|bnxt_en|mlx[45]_core|r8169|tg3|atlantic) [0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]` +
		` [\w.-]+: Reset adapter$`), "dmesg", []string{"Reset adapter"}},
	{regexp.MustCompile(`^\W*(?:kernel: )?[a-z]\w+ (?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f](?: [\w.-]+)?: \S|` +
		`^\W*(?:kernel: )?[a-z]\w+ \d+-[\d.]+:\d+\.\d+ [a-z][\w.-]*: \S|TX timeout detected|` +
		`(?i:\bsend(?:to|msg|ing)?\b.*no buffer space available)|(?i:write UDP\S*: no buffer space|\bwrite udp\d? \S+: .*message too long|` +
		`sendto \S+ failed: resource temporarily unavailable)|dpinger.*: sendto error: \d+\s*$|` +
		`\bwrite UDP\S*: .*\(code=\d+\)|error sending response: not enough free resources`), "dmesg",
		[]string{": ", "timeout", "send", "buffer space", "sendto error", "write UDP", "write udp"}},
	{regexp.MustCompile(`^CPU Utilization: (?:local|remote)/`), "iperf3", []string{"CPU Utilization"}},
	{regexp.MustCompile(`^\[ *(?:\d+|SUM)\](?:\[[TR]X-[CS]\])? +\d+\.\d+- *\d+\.\d+ +sec +[0-9.]+ [KMGT]?Bytes `), "iperf3",
		[]string{"sec "}},
	{regexp.MustCompile(`^\s*\d+ (?:ESTAB(?:LISHED)?|CLOSE[_-]WAIT|TIME[_-]WAIT|FIN[_-]WAIT[_-]?[12]|LAST[_-]ACK|` +
		`SYN[_-]SENT|SYN[_-]RECV)\s*$`), "netstat -an",
		[]string{"ESTAB", "WAIT", "ACK", "SYN"}},
	{regexp.MustCompile(`(?i:netlink\S*:? .*(?:no buffer space|overrun)|netlink.*ENOBUFS|` +
		`kernel dropped some netlink messages|kernel dropped events\b|we have hit ENOBUFS|unable to dump conntrack: no buffer space)`),
		"dmesg", []string{"etlink", "ENOBUFS", "dump conntrack", "dropped events"}},
	{regexp.MustCompile(`AH0(?:0957|1102|1075|1114|0898)\b|upstream timed out \(\d+: [^)]*\) while [a-zA-Z ]*upstream|` +
		`connect\(\) failed \((?:111|61): |no live upstreams while connecting|is DOWN, reason: Layer4|has no server available!|` +
		`: [Dd]etected [Tt]x (?:Unit )?H[au]ng|` +
		`Handshake for peer \d+ \S+ did not complete after`), "dmesg", []string{"AH0", "upstream", "connect() failed", "is DOWN", "no server", "x Hang",
		"x Unit Hang", "x Hung", "Handshake for"}},
	{regexp.MustCompile(`martian source \S+ from |dst cache overflow|Route cache is full: |is full, maxelem \d+ reached|` +
		`MD5 Hash (?:not found|NOT expected|failed|mismatch)|(?:Une|E)xpected MD5 Hash`), "dmesg",
		[]string{"martian", "overflow", "cache is full", "maxelem", "MD5"}},
	{facts.PacketForm, "tcpdump", []string{"Seq="}},
	{regexp.MustCompile(`^\s*lookups: hit:\d+ missed:\d+ lost:\d+`), facts.OtherCounters, []string{"lookups: "}}, // ovs-dpctl show
	{facts.IPsecForm, "swanctl --list-sas", []string{" bytes", "INSTALLED", "bytes_i", " up ", "ESPin="}},
	{facts.FirewallForm, facts.Firewall, []string{"state "}},
	{facts.VPPErrorForm, "vppctl show errors", []string{"tx ", "Tx ", "congestion"}},
	{regexp.MustCompile(`\bTLS handshake time(?:out|d out)|SSL connection timeout|CQ creation failure: `), "dmesg",
		[]string{"handshake tim", "SSL connection", "CQ creation"}},
	{regexp.MustCompile(`^\s*Xfrm(?:In|Out|Fwd)[A-Z]\w+\s+\d+$`), "/proc/net/xfrm_stat", []string{"Xfrm"}},
	{regexp.MustCompile(`^ath: phy\d+: |config_aqm Unable to configure flowset|discontinuity received 0x\w+ instead of|` +
		`^debug[123]: \S|Timeout waiting for PADO|LCP terminated by peer|mwan3track\[\d+\]: |` +
		`EMSGSIZE Path-MTU=\d+\]|huge packet, ?data len=\d+ \(>=\d+\)`),
		"dmesg", []string{"ath: phy", "flowset", "discontinuity", "debug", "PADO", "LCP terminated", "mwan3track", "EMSGSIZE", "huge packet"}},
	{facts.ModemForm, facts.ModemStatus, []string{"Margin", "SNR", "Severely", "SES:", "Locked", "RSRP", "rsrp", "S/N", "SINR"}},
	{facts.CableEvent, "dmesg", []string{"T3 ", "T4 ", "Loss of Sync", "Ranging", "MDD"}},
	{facts.SilentForm, "dmesg", facts.SilentWords},
	{regexp.MustCompile(`CTRL-EVENT-DISCONNECTED bssid=|: (?:deauthenticated|disassociated) from [0-9a-f:]{17} \(Reason: `), "dmesg",
		[]string{"EVENT-DISCONNECTED", "(Reason: "}},
	{facts.ClusterForm, "dmesg", facts.SilentWords},
	{facts.LostPeerForm, "dmesg", []string{"timeout sending", "Maximum retries", "retransmits", "EVENT_RETRANSMIT", "retransmit ", "retransmission;", "peer not responding", "Inactivity timeout", "key negotiation", "echo-requests", "edge with quic", "did not complete", "Invalid ", "unallowed src", "NO_PROPOSAL"}},
	{facts.CiliumDrop, facts.Reports, []string{"xx drop (", ": drop: ", `"type":"drop"`, `"DROPPED"`}},
	{regexp.MustCompile(`\brtw_\w+ \S+: failed to get tx report from firmware`), "dmesg", []string{"get tx report"}},
	{facts.SaturatedForm, "dmesg", []string{"output saturation"}},
	{facts.LookupFailed, "dmesg", []string{"degraded feature set", "/dns-query", ":53", "#53", "no servers",
		"name resolution", "EAI_AGAIN", "Resolving", "resolved", "upstreams failed",
		"DNS "}},
	{regexp.MustCompile(`^\W*time_(?:namelookup|connect|appconnect|pretransfer|starttransfer|redirect|` +
		`total)"?\s*[:=]\s*\d|` +
		`^\s*(?:Lookup|Connect|AppCon\w*|PreXfer|StartXfer|Total) time:\s+\d|^;; Query time: \d+ msec|average recursion processing time \d|^\s*(?:total|thread\d+)\.recursion\.time\.avg=\d|Information acquired via protocol \S+ in \d|haproxy\[\d+\]: (?:[^\s\[]\S* )?\[[^\]]+\] \S+ \S+/\S+ -?\d+/-?\d+/[-+]?\d+`), "curl",
		[]string{"time_", " time:", "Query time", "processing time", ".time.avg=", "acquired via", "haproxy["}},
	{facts.BalancerLine, "curl", []string{"Z "}},
	{facts.MeshLine, "curl", []string{" UF", " UO", " UT", ",UF", ",UO", ",UT"}},
	{facts.LoadLine, "curl", []string{"Connect:", "DNS+dialup", "%"}},
	{facts.ProxyLine, "curl", []string{"/", "ermination_state", "tsc"}},
	{facts.HelloSent, "curl", []string{"lient hello (1)", "CONNECTED("}},
	{regexp.MustCompile(`^cilium_(?:drop|forward)_(?:count|` +
		`bytes)_total[{ ]`), "cilium metrics list", []string{"cilium_"}},
	{regexp.MustCompile(`\bnetcheck: report: udp=|^\s*\* MappingVariesByDestIP:|^\s*\* UDP: (?:true|false)$|^pong from \S+ \([^)]*\) via |` +
		`\bactive; (?:relay "|direct \S)`),
		"tailscale status", []string{"netcheck: ", "UDP: ", "MappingVaries", "pong from", "active; "}},
	{regexp.MustCompile(`^\s*Speed: \d+Mb/s$|^\s*Duplex: (?:Full|Half)$`), "ethtool " + facts.UnnamedLink,
		[]string{"Speed: ", "Duplex: "}},
	{regexp.MustCompile(`\S+:/\S* (?:on )?/\S* (?:type )?nfs4? \S*=|/\S* \S+ - nfs4? \S+:/\S* `), "nfsstat",
		[]string{" nfs"}},
	{regexp.MustCompile(`^\s*(?:Download|Upload): +[0-9.]+ [KMG](?:bit/s|bps)\b|^\s*Idle Latency: +[0-9.]+ ms|` +
		`^\s*Packet Loss: +[0-9.]+%$|` +
		`^\s*[0-9.]+ ms +\(jitter: |^\s*Hosted by .*\[[0-9.]+ km\]: [0-9.]+ ms$|` +
		`^\s*Retrieving speedtest\.net configuration`), "speedtest",
		[]string{"load: ", "Latency: ", "Packet Loss", "jitter", "Hosted by", "speedtest.net"}},
	{regexp.MustCompile(`^\s*(?:Laser|Module|Rece?i?ve?r) (?:signal|bias|output|rx|temperature|voltage)[\w ]*?(?:\(Channel \d+\))?\s+: ` +
		`(?:On$|Off$|-?[0-9.]+ )`), "ethtool -m " + facts.UnnamedLink, []string{"Laser ", "Module ", "Rec", "Rcv"}},
	{regexp.MustCompile(`^\{"type":"result",.*"ping":\{`), "speedtest", []string{`"result"`}},
	{facts.LoadedTestForm, "speedtest", []string{"RTT ", "sent/received", "Ping (ms)", "Mbits/s", "in msec", " capacity: ", " RPM", "Idle Latency", " +"}},
	{regexp.MustCompile(`^\s*Bit Rate[=:][0-9.]+ [MG]b/s\s+Tx-Power`), "iw", []string{"Bit Rate"}},
	{regexp.MustCompile(`^Power save: (?:on|off)$`), "iw", []string{"Power save"}},
	{regexp.MustCompile(`LnkSta:|LnkCap:|^[0-9a-f:]+\.[0-9] Ethernet controller|^\s+(?:Subsystem|Kernel driver in use): \S`),
		"lspci -vv", []string{"Lnk", "Ethernet controller", "Subsystem: ", "driver in use"}},
}

type looseLine struct {
	form *regexp.Regexp
	name string
	// words are such that one of them stands in every line of the form: they are
	// found faster than it.
	words []string
}

// heading is the title of a post, which names what its author suspects.
var heading = regexp.MustCompile(`^#{1,6} +(?:[A-Za-z]|\[[A-Za-z-]+\])`)

// wholeMessage is a title that is nothing but a message of the kernel, copied.
var wholeMessage = regexp.MustCompile(`^#{1,6} +(?:nf_|ip_)conntrack: table full, dropping packet\.?$|` +
	`^#{1,6} +(?:\S+ )?(?:kernel: )?(?:[a-z]\w* [0-9a-f:.]+ )?(?:[a-z][\w.-]*: )?NETDEV WATCHDOG: .*transmit queue \d+ timed out(?: \d+ ms)?$|` +
	`^#{1,6} +(?:neighbour: )?(?:arp|ndisc)_cache: neighbor table overflow!?$|` +
	`^#{1,6} +(?:TCP: )?(?:request_sock_TCP: )?[Pp]ossible SYN flooding on port \S+ (?:Sending cookies|Dropping request)\.`)

// looseForm is the form of a line, nil when it has none that is known.
func looseForm(line string) *looseLine {
	if len(line) > 4096 {
		return nil
	}
	for i := range looseLines {
		l := &looseLines[i]
		if (l.words == nil || slices.ContainsFunc(l.words, func(w string) bool { return strings.Contains(line, w) })) &&
			l.form.MatchString(line) {
			if l.name == "dmesg" && heading.MatchString(line) && !wholeMessage.MatchString(line) {
				return nil
			}
			return l
		}
	}
	if _, ok := facts.ReportOf(line); ok {
		return &reportLine
	}
	return nil
}

// reportLine is a line of a log that reports a failure.
var reportLine = looseLine{name: "dmesg"}
