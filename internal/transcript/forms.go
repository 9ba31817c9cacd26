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
		`downgraded by SmartSpeed|hostapd: \S+: STA |link up, \d+Mbps, half-duplex|` +
		`write UDPv?[46]?: Message too long|'(?:link|tun)-mtu' is used inconsistently|` +
		`error: bad packet ID|PCIe Bus Error: severity=|AER: (?:Multiple )?Correct\w+ error|` +
		`slow (?:ops|requests),? oldest one blocked|slow requests (?:are blocked > |, \d+ included)|slow operation observed for \w+, latency = |slow request \d+\.\d+ seconds old|` +
		`get_health_metrics reporting \d+ slow|BLUESTORE_SLOW_OP_ALERT|observed slow operation indications|slow metadata IOs are blocked|` +
		`(?:requests|ops) are blocked > [\d.]+ sec|` +
		`[Hh]eartbeat (?:ping )?on (?:back|front)(?: interface)? from osd|OSD heartbeats on (?:back|` +
		`front) from osd|heartbeat_check: no reply`), "dmesg",
		[]string{"packet ID", "PCIe Bus", "AER: ", "slow ", "SLOW_OP", "are blocked", "eartbeat", "[ ",
			"status", "swiotlb", "allocation", "refill", "failed with error", "_cond", "clocksource", "UDP",
			"-mtu'", "Downshift", "BEACON", "beacons", "hostapd", "Lost carrier", "netifd: ", "crashed!", "Microcode", "firmware error", "Error Log", "SmartSpeed", "half-duplex"}},
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
		`discard oversize frame`), "dmesg", []string{"watchdog: head", "Found a Tx", "lost tx", "OVER TEMP",
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
	{regexp.MustCompile(`^\[ *(?:\d+|SUM)\](?:\[[TR]X-[CS]\])? +\d+\.\d+-\d+\.\d+ +sec +[0-9.]+ [KMGT]?Bytes `), "iperf3",
		[]string{"sec "}},
	{regexp.MustCompile(`^\s*\d+ (?:ESTAB(?:LISHED)?|CLOSE[_-]WAIT|TIME[_-]WAIT|FIN[_-]WAIT[_-]?[12]|LAST[_-]ACK|` +
		`SYN[_-]SENT|SYN[_-]RECV)\s*$`), "netstat -an",
		[]string{"ESTAB", "WAIT", "ACK", "SYN"}},
	{regexp.MustCompile(`(?i:netlink\S*:? .*(?:no buffer space|overrun)|netlink.*ENOBUFS|` +
		`kernel dropped some netlink messages|we have hit ENOBUFS|unable to dump conntrack: no buffer space)`),
		"dmesg", []string{"etlink", "ENOBUFS", "dump conntrack"}},
	{regexp.MustCompile(`AH0(?:0957|1102|1075|1114|0898)\b|upstream timed out \(\d+: [^)]*\) while [a-zA-Z ]*upstream|` +
		`connect\(\) failed \((?:111|61): |no live upstreams while connecting|is DOWN, reason: Layer4|has no server available!|` +
		`: [Dd]etected [Tt]x (?:Unit )?H[au]ng|` +
		`Handshake for peer \d+ \S+ did not complete after`), "dmesg", []string{"AH0", "upstream", "connect() failed", "is DOWN", "no server", "x Hang",
		"x Unit Hang", "x Hung", "Handshake for"}},
	{regexp.MustCompile(`martian source \S+ from |dst cache overflow|Route cache is full: |is full, maxelem \d+ reached|` +
		`MD5 Hash (?:not found|NOT expected|failed|mismatch)|(?:Une|E)xpected MD5 Hash`), "dmesg",
		[]string{"martian", "overflow", "cache is full", "maxelem", "MD5"}},
	{facts.PacketForm, "tcpdump", []string{"Seq="}},
	{facts.VPPErrorForm, "vppctl show errors", []string{"tx ", "Tx ", "congestion"}},
	{regexp.MustCompile(`\bTLS handshake time(?:out|d out)|SSL connection timeout|CQ creation failure: `), "dmesg",
		[]string{"handshake tim", "SSL connection", "CQ creation"}},
	{regexp.MustCompile(`^\s*Xfrm(?:In|Out|Fwd)[A-Z]\w+\s+\d+$`), "/proc/net/xfrm_stat", []string{"Xfrm"}},
	{regexp.MustCompile(`^ath: phy\d+: |config_aqm Unable to configure flowset|discontinuity received 0x\w+ instead of|` +
		`^debug[123]: \S|Timeout waiting for PADO|LCP terminated by peer|mwan3track\[\d+\]: |` +
		`EMSGSIZE Path-MTU=\d+\]|huge packet, ?data len=\d+ \(>=\d+\)`),
		"dmesg", []string{"ath: phy", "flowset", "discontinuity", "debug", "PADO", "LCP terminated", "mwan3track", "EMSGSIZE", "huge packet"}},
	{facts.ModemForm, facts.ModemStatus, []string{"Margin", "SNR", "Severely", "SES:", "Locked", "RSRP", "S/N"}},
	{facts.CableEvent, "dmesg", []string{"T3 ", "T4 ", "Loss of Sync", "Ranging", "MDD"}},
	{facts.SilentForm, "dmesg", facts.SilentWords},
	{regexp.MustCompile(`CTRL-EVENT-DISCONNECTED bssid=|: (?:deauthenticated|disassociated) from [0-9a-f:]{17} \(Reason: `), "dmesg",
		[]string{"EVENT-DISCONNECTED", "(Reason: "}},
	{facts.ClusterForm, "dmesg", facts.SilentWords},
	{facts.LostPeerForm, "dmesg", []string{"timeout sending", "Maximum retries", "retransmits", "retransmit ", "retransmission;", "peer not responding", "Inactivity timeout", "key negotiation", "echo-requests", "edge with quic", "did not complete", "Invalid ", "unallowed src", "NO_PROPOSAL"}},
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
	{regexp.MustCompile(`^\s*\* MappingVariesByDestIP:|^\s*\* UDP: (?:true|false)$|^pong from \S+ \([^)]*\) via |` +
		`\bactive; (?:relay "|direct \S)`),
		"tailscale status", []string{"UDP: ", "MappingVaries", "pong from", "active; "}},
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

// looseBlocks begin an output that came without its command: it lasts to the
// next empty line, a kernel's log to the end.
var looseBlocks = []struct {
	begin *regexp.Regexp
	name  string
	words []string // one of them stands in the line
}{
	{regexp.MustCompile(`^last pid: +\d+;|^top - \d+:\d+|^ *PID +(USER(NAME)?|TID) +(THR +)?PRI? |^ *PID +PPID +USER +STAT +`), "top",
		[]string{"last pid", "top - ", "PID"}},
	{regexp.MustCompile(`^Mem: \d+K used, \d+K free`), "top", []string{"K used"}},
	{regexp.MustCompile(`^\d+(/\d+)+ mbufs in use|^\d+ mbufs in use:`), "netstat -m", []string{"mbufs in use"}},
	{regexp.MustCompile(`^\s*NIC statistics:`), "ethtool -S " + facts.UnnamedLink, []string{"NIC statistics"}},
	{regexp.MustCompile(`^\s*Ring parameters for (\S+):`), "ethtool -g $1", []string{"Ring parameters"}},
	{regexp.MustCompile(`^\s*Channel parameters for (\S+):`), "ethtool -l $1", []string{"Channel parameters"}},
	{regexp.MustCompile(`^\s*Pause parameters for (\S+):`), "ethtool -a $1", []string{"Pause parameters"}},
	{regexp.MustCompile(`^\s*Features for (\S+):`), "ethtool -k $1", []string{"Features for"}},
	{regexp.MustCompile(`^\s*Settings for (\S+):`), "ethtool $1", []string{"Settings for"}},
	{regexp.MustCompile(`^\s*Coalesce parameters for (\S+):`), "ethtool -c $1", []string{"Coalesce parameters"}},
	{regexp.MustCompile(`^\s*FEC parameters for (\S+):`), "ethtool -I --show-fec $1", []string{"FEC parameters"}},
	{regexp.MustCompile(`^\s*Identifier\s+: 0x[0-9a-f]{2} \(`), "ethtool -m " + facts.UnnamedLink, []string{"Identifier"}},
	{regexp.MustCompile(`^\s*EEE [Ss]ettings for (\S+):`), "ethtool --show-eee $1", []string{"EEE "}},
	{regexp.MustCompile(`^\s*[RT]X packets(?: \d+ |:\d+ errors:)`), "ifconfig -a", []string{"X packets"}},
	{regexp.MustCompile(`^ *procs +-*memory|^ *r +b +\w+ .* us +sy +id`), "vmstat", []string{"procs", " us "}},
	{regexp.MustCompile(`^\w[\w.-]*: (negotiated \d+base|negotiated, link ok|\d+ Mbit, (full|` +
		`half) duplex)`), "mii-tool",
		[]string{"negotiated", " Mbit, "}},
	{regexp.MustCompile(`^\s*Supported ports: \[`), "ethtool " + facts.UnnamedLink, []string{"Supported ports"}},
	{regexp.MustCompile(`^\s*\*-network(:\d+)?( DISABLED| UNCLAIMED)?\s*$`), "lshw -C network", []string{"*-network"}},
	{regexp.MustCompile(`^PING6? ?[(\w]|^--- \S+ ping6? statistics ---`), "ping", []string{"PING", "--- "}},
	{regexp.MustCompile(`^\s*\d+ packets transmitted, \d+ (?:packets )?received, `), "ping", []string{"packets transmitted"}},
	{regexp.MustCompile(`^\s*(?:` + facts.StampOfPing + `)?\d+ [Bb]\S+ \S+ \S+.*[rs]eq=\d+ (?:ttl|hlim)=\d+ `), "ping", []string{" ttl=", " hlim="}},
	{regexp.MustCompile(`^\s*(?:Pinging|Ping wird ausgeführt für) \S+ .*\d+ [Bb]ytes |^\s*Ping(?: statistics|` +
		`-Statistik) \S+ \S+:$|` +
		`^\s*\S+ \S+ [0-9.]+ ?: ?\S+=\d+ \S+[=<]\d+ ?ms TTL=\d+`), "ping", []string{"Ping", "TTL="}},
	{regexp.MustCompile(`^Request timeout for icmp_seq \d+$`), "ping", []string{"Request timeout"}},
	{regexp.MustCompile(`^ARPING \S+|^Unicast reply from \S+ \[`), "ping", []string{"ARPING", "Unicast"}},
	{regexp.MustCompile(`^From \S+:? icmp_seq=\d+ [A-Z]`), "ping", []string{"icmp_seq="}},
	{regexp.MustCompile(`^ *1\?: \[LOCALHOST\]`), "mtr", []string{"LOCALHOST"}},
	{regexp.MustCompile(`^(?:MIGRATED )?(?:TCP|UDP) (?:UNIDIRECTIONAL SEND|STREAM|MAERTS) TEST|^\s*[0-9.]+ MB / +[0-9.]+ sec = `),
		"iperf3", []string{" TEST", " sec = "}},
	{regexp.MustCompile(`^(?:tcp +)?ESTAB +\d+ +\d+ +\S+:\S+ +\S+:\S+`), "ss -tinm", []string{"ESTAB"}},
	{regexp.MustCompile(`^traceroute6? to \S+ \(|^Tracing route to `), "mtr", []string{"traceroute", "Tracing"}},
	{facts.ProbeRow, "mtr", []string{" ms", "*"}},
	{regexp.MustCompile(`^\|\s*Host\s+-\s+%\s*\|`), "mtr", []string{"Host"}},
	{regexp.MustCompile(`^[Dd]evice:?\s+.*r/s.*%(?:util|b)\b`), "iostat -x", []string{"evice"}},
	{regexp.MustCompile(`^device +r/i +w/i `), "iostat -Ix", []string{"device"}},
	{regexp.MustCompile(`^ +tty( +[a-z]+\d+)+ +cpu *$`), "iostat", []string{" tty "}},
	{regexp.MustCompile(`^ *L\(q\) +ops/s `), "gstat -b", []string{"L(q)"}},
	{regexp.MustCompile(`^<[^<>]+> +at scbus\d+ target \d+ lun `), "camcontrol devlist", []string{" at scbus"}},
	{regexp.MustCompile(`^NAME +SIZE +ALLOC +FREE `), "zpool list -p", []string{"ALLOC"}},
	{regexp.MustCompile(`^\s*pool: [a-zA-Z][\w.:-]*$`), "zpool status", []string{"pool: "}},
	{regexp.MustCompile(`^NAME +PROPERTY +VALUE\b`), "zfs get all", []string{"PROPERTY"}},
	{regexp.MustCompile(`^ ?Id Refs Address `), "kldstat", []string{"Refs"}},
	{regexp.MustCompile(`^Domain /dev/pci\d+:$|^ \d+:\d+:\d: [A-Z]`), "pcidump -v", []string{"/dev/pci", ":0:", ":1:"}},
	{regexp.MustCompile(`^CPU +User +Nice +System +Spin +Interrupt +Idle`), "systat -b cpu", []string{"Spin"}},
	{facts.PoolWaitHead, "zpool iostat -l", []string{"total_wait"}},
	{facts.LoadTestForm, "wrk", []string{"test @", " connection", "Concurrency"}},
	{regexp.MustCompile(`^Percentage of the requests served within`), "curl", []string{"Percentage of"}},
	{regexp.MustCompile(`^# pxname,svname,`), facts.ProgramStats, []string{"pxname"}},
	{regexp.MustCompile(`^\s*namelookup\s*[:=]\s*\d`), "curl", []string{"namelookup"}},
	{regexp.MustCompile(`^/: +Bus \d+\.Port \d+: Dev 1, Class=root_hub|` +
		`^Bus \d{3} Device \d{3}: ID [0-9a-f]{4}:`), "lsusb -t",
		[]string{"root_hub", " Device "}},
	{regexp.MustCompile(`^\s*ugen\d+\.\d+: <[^>]*> at usbus\d+, .*\bspd=`), "usbconfig", []string{"ugen"}},
	{regexp.MustCompile(facts.MacRadio), "airport -I", []string{"RSSI", "Noise"}},
	{regexp.MustCompile(`^HOST: .*Loss%|^\s*(?:Host\s+)?Loss%\s+Snt\s+Last`), "mtr", []string{"Loss%"}},
	{regexp.MustCompile(`^\s*(?:Station|Connected to) [0-9a-zA-Z:*]{17} \(on |` +
		`^\s*[0-9a-zA-Z:*]{17}  -\d+ dBm / (?:-\d+|unknown)|^[a-z][\w.-]*\s+ESSID: |^Survey data from |^[a-z][\w.-]*\s+IEEE 802\.11`), "iw",
		[]string{" (on ", " dBm / ", "ESSID: ", "Survey data", "IEEE 802.11"}},
	{regexp.MustCompile(`^Client rpc stats:|^(?:Client|Rpc) Info:$|^ *TimedOut +Invalid +X Replies |^\S+:/\S* mounted on /\S*:$|^device \S+:/\S* mounted on|^(?:read|` +
		`write):\s+ops/s`),
		"nfsstat", []string{"Client rpc", "Info:", "X Replies", " mounted on ", "ops/s"}},
	{regexp.MustCompile(`^Samples: \d+\S* +of event|^#? *(?:Children +Self|Overhead) +(?:Command|` +
		`Shared O)`), "perf top",
		[]string{"Samples: ", "Self", "Overhead"}},
	{regexp.MustCompile(`^pmd thread numa_id -?\d+ core_id \d+:|^Thread \d+ vpp_\w+`),
		"ovs-appctl dpif-netdev/pmd-stats-show", []string{"pmd thread", "Thread"}},
	{regexp.MustCompile(`^REASON\s+DIRECTION\s+PACKETS`), "cilium metrics list", []string{"REASON"}},
	{regexp.MustCompile(`^\s*Count\s+Node\s+Reason`), "vppctl show errors", []string{"Reason"}},
	{regexp.MustCompile(`^src \S+ dst [0-9a-f.:]+\s*$`), "ip -s xfrm state", []string{" dst "}},
	{regexp.MustCompile(`^interface: [\w.-]{1,15}$|` +
		`^peer: [A-Za-z0-9+/]{43}=$`), "wg show", []string{"interface: ", "peer: "}},
	{regexp.MustCompile(`^link [a-z][\w.-]*/\d+(?: \w+ \d+| *$)`), facts.RDMA, []string{"link "}},
	{regexp.MustCompile(`^driver: \S+$`), "ethtool -i " + facts.UnnamedLink, []string{"driver: "}},
	{regexp.MustCompile(`^Current listen queue sizes`), "netstat -Lan", []string{"Current listen"}},
	{regexp.MustCompile(`^Name\s+Mtu\s+Network`), "netstat -idnW", []string{"Name"}},
	{regexp.MustCompile(`^Iface\s+MTU\s+(Met\s+)?RX-OK`), "netstat -idnW", []string{"Iface"}},
	{regexp.MustCompile(`^Interface\s+Rx Packets\s+Rx Bytes\s`), "netstat -idnW", []string{"Rx Packets"}}, // of VyOS
	{regexp.MustCompile(`^\[ *\d+\] local \S+ port \d+ connected (to|with) `), "iperf3", []string{" connected "}},
	{regexp.MustCompile(`^interrupt\s+total\s+rate`), "vmstat -ia", []string{"interrupt"}},
	{regexp.MustCompile(`^ITEM\s+SIZE\s+LIMIT`), "vmstat -z", []string{"ITEM"}},
	{regexp.MustCompile(`^\s*sl +local_address .*\bdrops\s*$`), "/proc/net/udp", []string{"local_address"}},
	{regexp.MustCompile(`^Inter- *\|`), "/proc/net/dev", []string{"Inter-"}},
	{regexp.MustCompile(`^Workstreams:`), "netstat -Q", []string{"Workstreams:"}},
	{regexp.MustCompile(`^\s+CPU0\s+CPU1`), "/proc/interrupts", []string{"CPU0"}},
	{regexp.MustCompile(`^Ethernet Channel Bonding Driver|^Slave Interface: |^Bonding Mode: |^802\.3ad info$`),
		facts.BondingFolder + "bond", []string{"Bonding ", "Slave Interface", "802.3ad"}},
	{regexp.MustCompile(`^\s{12,}(?:Tin 0|Bulk +Best Effort)`), "tc -s qdisc show", []string{"Tin 0", "Bulk"}},
	{regexp.MustCompile(`^Routing tables$|^Destination +Gateway +Flags`), "netstat -rnW",
		[]string{"Routing tables", "Destination"}},
	{regexp.MustCompile(`^qdisc \S+ \S+: `), "tc -s qdisc show", []string{"qdisc "}},
	{regexp.MustCompile(`^\d+: \S+: <[A-Z_,-]+> mtu `), "ip -s -d link show", []string{": <"}},
	{regexp.MustCompile(`^\S+: flags=\S+<|^\S+\s+(?:Link encap|Lien encap|Encapsulamento do Link):`), "ifconfig -a",
		[]string{": flags=", "Link encap:", "Lien encap:", "do Link:"}},
	{pieceOfLink, "ifconfig -a", []string{"media: ", "plugged: ", "RX"}},
	{regexp.MustCompile(`^(?:tcp|udp|ip6?|icmp6?|ipsec6?|esp|ah|arp|carp|pfsync):$|` +
		`^TCP connection count by state:$|^(Ip|Tcp|TcpExt|Udp):$`), "netstat -s",
		[]string{"p:", "pExt:", "6:", "ipsec:", "ah:", "pfsync:", "state:"}},
	{regexp.MustCompile(`^\s+\d+ (?:packets sent|datagrams received|total packets received)$`), "netstat -s",
		[]string{"packets ", "datagrams "}}, // of the BSDs, whose title was cut
	{regexp.MustCompile(`^(TcpExt|IpExt): [A-Z]`), "/proc/net/netstat", []string{"Ext: "}},
	{regexp.MustCompile(`^(Ip|Icmp|Tcp|Udp): [A-Z]\w+ [A-Z]`), "/proc/net/snmp", []string{"p: "}},
	{regexp.MustCompile(`^\[ *ID\] Interval +Transfer `), "iperf3", []string{"] Interval"}},
	{regexp.MustCompile(`^\s*"start":\s*\{$`), "iperf3", []string{`"start"`}},
	{regexp.MustCompile(`^Client connecting to \S+, (?:TCP|UDP) port \d+|^Server listening on (?:TCP |` +
		`UDP )?(?:port )?\d+`), "iperf3",
		[]string{"Client connecting", "Server listening"}},
	{regexp.MustCompile(`^\s*Speedtest by Ookla$|^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d Testing against \S+ `), "speedtest",
		[]string{"Ookla", "Testing against"}},
	{regexp.MustCompile(`^Connecting to host \S+, port \d+|^Accepted connection from \S+, port \d+`), "iperf3",
		[]string{"Connecting to", "Accepted connection"}},
	{regexp.MustCompile(`^Proto +Recv-Q +Send-Q +Local.* R-MBUF`), "netstat -xn -p tcp", []string{"R-MBUF"}},
	{regexp.MustCompile(`^Proto +Recv-Q +Send-Q +Local`), "netstat -an", []string{"Proto"}},
	{regexp.MustCompile(`^\s*tcp[46]{0,2} +\d+ +\d+ +\S+[:.]\S+ +\S+[:.]\S+ +(?:ESTABLISHED|(?:CLOSE|TIME)_WAIT|SYN_(?:SENT|RECV|RCVD)|` +
		`FIN_WAIT_?[12]|LAST_ACK|LISTEN)\b`), "netstat -an", []string{"tcp"}},
	{regexp.MustCompile(`^(Netid +)?State +Recv-Q +Send-Q `), "ss -tinm", []string{"Recv-Q"}},
	{regexp.MustCompile(`^Copyright \(c\) 1992-.*FreeBSD Project|^OpenBSD \d+\.\d+.* #\d+: `), "dmesg",
		[]string{"Copyright (c)", "OpenBSD "}},
	{regexp.MustCompile(`^Linux \d+\.\S+ \(.*CPU\)`), "mpstat -P ALL 1 1", []string{"Linux "}},
	{regexp.MustCompile(`^(?:\d{2}:\d{2}:\d{2}(?: [AP]M)?|Average:) +CPU +%`), "mpstat -P ALL 1 1", []string{"CPU "}},
	{regexp.MustCompile(`^\S+@pci\d+:\d+:\d+:\d+:`), "pciconf -lvc", []string{"@pci"}},
	{regexp.MustCompile(`^\s*input\s+\(?[\w.]+\)?\s+output|` +
		`^\s*\S+ in\s+\S+ out\s+total in\s+total out`), "netstat -w 1",
		[]string{"input", "total in"}},
	{regexp.MustCompile(`^class \S+ \S*:\S* `), "tc -s class show", []string{"class "}},
	{regexp.MustCompile(`^filter (?:parent \S+ |dev \S+ \S+ )*protocol \S+ pref `), "tc -s filter show", []string{"filter "}},
	{regexp.MustCompile(`^queue\s+\S+( parent \S+)? on \S+ `), "pfctl -vsq", []string{"queue"}},
	{regexp.MustCompile(`^USER +COMMAND +PID +FD +PROTO`), "sockstat", []string{"COMMAND"}},
	{regexp.MustCompile(`^(\d{2}:\d{2}:\d{2}( [AP]M)?|Average:|Time) +(DEV +tps|IFACE|active/s|atmptf/s|totsck|idgm/s|` +
		`irec/s) `), "sar",
		[]string{"DEV", "IFACE", "active/s", "atmptf/s", "totsck", "idgm/s", "irec/s"}},
	{regexp.MustCompile(`^(?:\d{2}:\d{2}:\d{2}(?: [AP]M)?|Average:)? +(?:pgpgin/s|pswpin/s) `), "sar",
		[]string{"pgpgin/s", "pswpin/s"}},
	{regexp.MustCompile(`^0*\d+: +(?:[0-9.]+ [KMG]?bit/s|unlimited) +\d+ ms |^q\d+ +\d+ (?:sl\.|KB)`), "ipfw pipe show",
		[]string{"bit/s", "unlimited", " sl.", " KB"}},
	{regexp.MustCompile(`^IFACE +(?:RXDELAY +TXDELAY +)?LIVELOCKS `), "systat -b mbufs", []string{"LIVELOCKS"}},
	{regexp.MustCompile(`^QUEUE +BW\S* +SCH `), "systat -b queues", []string{"QUEUE"}},
	{regexp.MustCompile(`^Name +Size +Requests +Fail `), "vmstat -m", []string{"Requests"}},
	{regexp.MustCompile(`^[a-z][a-z0-9]*\d+:\d+:[\w-]+:\d+$`), "kstat", []string{":"}},
	{regexp.MustCompile(`^\s*Interface +Traffic +Peak +Total`), "systat -ifstat", []string{"Traffic"}},
	{regexp.MustCompile(`^\s*IP Input +IP Output`), "systat -ip", []string{"IP Input"}},
	{regexp.MustCompile(`^Proto +Rexmit +OOORCV`), "netstat -an", []string{"Rexmit"}},
	{regexp.MustCompile(`^State Table  +Total`), "pfctl -si", []string{"State Table"}},
	{regexp.MustCompile(`^IP address +MTU +SST`), "sysctl net.inet.tcp.hostcache.list", []string{"IP address"}},
}

// pieceOfLink is a line of ifconfig of the BSDs that shows the state of a link, below the line that names it.
var pieceOfLink = regexp.MustCompile(`^\s+media: (?:Ethernet|autoselect|IEEE)|^\s+plugged: |^\s+lane \d+: RX`)

// goesOn are what stands behind an empty line that does not end an output.
var goesOn = map[string]*regexp.Regexp{
	"ping":         regexp.MustCompile(`^--- `),
	"iperf3":       regexp.MustCompile(`^ *\d+ +\d+ +\d+ +\d+\.\d+ +\d+\.\d+ *$`), // of netperf
	"top":          processRow,
	"zpool status": regexp.MustCompile(`^(?:\tNAME +STATE|\s+NAME +STATE +READ|errors: |config:|\s*pool: )`),
}

// processRow is a row of top's processes: number, owner, priority, nice value.
var processRow = regexp.MustCompile(`^ *\d+ +[a-z_][\w.+-]* +(?:\d+|rt) +-?\d+ +\d`)
