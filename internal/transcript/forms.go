package transcript

import (
	"iter"
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
	"tailscale wg iwconfig iwinfo swconfig nfsiostat mountstats findmnt dig nslookup getent tcpdump tshark traceroute tracepath arping conntrack iperf nuttcp netperf ntttcp wget curl nc ncat scp rsync fio " +
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
var looseLines = formsOf([]namedForm{
	{regexp.MustCompile(`(^|\s)kernel: \S|^kern: +\w+: \[|^[A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d(\.\d+)? .*kernel:|` +
		`^\d{4}-\d\d-\d\dT\S+ \S+ kernel:|^\s*(?:<\d{1,3}>)?\[ *\d+\.\d+\] |^\[[A-Z][a-z]{2} [A-Z][a-z]{2} +\d+ `), "dmesg"},
	{regexp.MustCompile(`sonewconn: pcb|NETDEV WATCHDOG|Detected Hardware Unit Hang|Reset adapter unexpectedly|` +
		`NIC Link is |\blink: ?port: ?\d+ link: ?(?:up|down)|transmit queue \d+ timed out|TX timeout (?:detected|on queue)|reset due to tx timeout|` +
		`with own address as source address|available PCIe bandwidth|PCI-Express bandwidth available|` +
		`out of memory -- consider tuning tcp_mem|time wait bucket table overflow|interrupt storm detected|` +
		`_conntrack: ?table full|\[(?:bnx2x|qede?)_\w+:\d+\(|is using my IP address|mbuf clusters exhausted|\[zone: [a-z_0-9]+\] kern\.|` +
		`[Nn]eighbou?r table overflow|: watchdog timeout|Detected Tx Unit Hang|possible SYN flooding|` +
		`Possible SYN flooding|link state changed to |lost tx completions is above|` +
		`tx_timeout recovery level|soft lockup - CPU#|self-detected stall|detected stalls on CPU|hard LOCKUP|` +
		`task \S+:\d+ blocked for more than`), "dmesg"},
	{regexp.MustCompile(`^\[ *\d+\](?: +-?\d+){5,9} +\S+$|` +
		`[TR]x status -\d+$|` +
		`swiotlb buffer is full|page allocation failure|Linux processing - Can't refill|` +
		`probe (?:of \S+|with driver \S+) failed with error -\d|rtl_\w+_cond == \d|Switched to clocksource |` +
		`link status definitely down|` +
		`Downshift occurred from|CTRL-EVENT-BEACON-LOSS|missed beacons exceeds|` +
		`systemd-networkd\[\d+\]: \S+: Lost carrier|netifd: Network device '\S+' link is |` +
		`firmware crashed!|^(?:.*\b)?iw[mnx]\d+: (?:fatal firmware error|Start Error Log Dump)|Microcode SW error detected\. ? ?Restarting|` +
		`downgraded by SmartSpeed|\bhostapd(?:\[\d+\])?: \S+: (?:STA |AP-STA-(?:DIS)?CONNECTED )|` +
		`^[a-z][\w.-]*: (?:STA [0-9a-f:]{17} |AP-STA-(?:DIS)?CONNECTED )|link up, \d+Mbps, half-duplex|` +
		`write UDPv?[46]?: Message too long|'(?:link|tun)-mtu' is used inconsistently|` +
		`error: bad packet ID|PCIe Bus Error: severity=|AER: (?:Multiple )?Correct\w+ error|` +
		`slow (?:ops|requests),? oldest one blocked|slow requests (?:are blocked > |, \d+ included)|` +
		`slow operation observed for \w+, latency = |slow request \d+\.\d+ seconds old|` +
		`get_health_metrics reporting \d+ slow|BLUESTORE_SLOW_OP_ALERT|observed slow operation indications|slow metadata IOs are blocked|` +
		`(?:requests|ops) are blocked > [\d.]+ sec|` +
		`[Hh]eartbeat (?:ping )?on (?:back|front)(?: interface)? from osd|OSD heartbeats on (?:back|` +
		`front) from osd|heartbeat_check: no reply`), "dmesg"},
	{regexp.MustCompile(`^(net|kern|hw|dev|vm|vfs|kstat)\.[a-z0-9_.]+( ?= ?|: ?)\S|^dev\.[a-z]\w*\.\d+\.[\w.]+: \S|^[ \t]+(?:net|kern|hw|dev|vm|` +
		`vfs)\.[a-z0-9_.%]+(?:: |=| = )\S`),
		"sysctl -a"},
	{regexp.MustCompile(`kfree_skb.*reason[:=]|kfree_skb_total\{|^\d+ drops? at \S+ \(|^drop at: \S|` +
		`^drop reason: [A-Z_]+$|` +
		`^@\w*\[(?:SKB_DROP_REASON_)?[A-Z_]{4,}\]: \d+$`), "dropwatch"},
	{regexp.MustCompile(`^(?:/sys/class/net/)?\w[\w.-]*/statistics/\w+:\d+$`), "/sys/class/net"},
	{regexp.MustCompile(`^[\w .()-]+: +\d+, +\d+, +\d+, +\d+, *\d+(, *\d+)*$`), "vmstat -z"},
	{regexp.MustCompile(`^\s*\d+:(\s+\d+){2,}\s+\S.*\s\S+$|^\s*\d+:\s+\d+\s+(?:IR-)?(?:PCI-MSI|IO-APIC|GIC|` +
		`xen)\S*\s.*\S$`),
		"/proc/interrupts"},
	{regexp.MustCompile(`^\s*([0-9a-f]{8} ){8,}`), "/proc/net/softnet_stat"},
	{regexp.MustCompile(`requests for .*(denied|delayed)|mbuf clusters in use|mbufs in use`), "netstat -m"},
	{regexp.MustCompile(`^[a-z]+\d+: [A-Z][A-Za-z ]+ = \d+\s*$`), "dmesg"},
	{regexp.MustCompile(`^\s*(current entries|searches|state-mismatch|memory|congestion|state-limit|` +
		`src-limit)\s+\d+\s+\d+\.\d+/s`), "pfctl -si"},
	{regexp.MustCompile(`\bcurrent entries \d+ .*\bsearches \d+ `), "pfctl -si"},
	{facts.DashboardStates, "pfctl -si"},
	{facts.DashboardMbufs, "netstat -m"},
	{regexp.MustCompile(`\d% +\d+[KMGT]?B +\d+\.\d[KMGT]?B/s +[\d-]`), "scp"},
	{facts.CopyLine, "scp"},
	{regexp.MustCompile(`^[ \t]*socket options *=.*\bSO_(?:RCV|SND)BUF|^(?:push ")?(?:snd|rcv)buf \d+"?$`), "testparm"},
	{regexp.MustCompile(`^\s*[0-9.]+%Sys +[0-9.]+%Intr |^\s*[0-9.]+%Int +.*%Sys `), "systat -vm"},
	{facts.UpstreamLine, "curl"},
	{regexp.MustCompile(`dpinger.* (?:Alarm|Clear) latency \d+us|(?i:alarm|alert|monitor): .*\(Addr: ?\S+ Alarm:|` +
		`apinger: (?:ALARM|alarm canceled): |LCP: (?:peer not responding|no reply to \d+ echo)|` +
		`No response to \d+ echo-requests|` +
		`LCP keepalive time|arpresolve: can't allocate llinfo|does not support NS_MOREFRAG`), "dmesg"},
	{facts.InterfaceRow, "netstat -idnW"},
	{regexp.MustCompile(`^states +hard limit +\d+`), "pfctl -sm"},
	{regexp.MustCompile(`^(?:tcp|unix)\d*\s+\d+/\d+/\d+\s+\S+\s*$`), "netstat -Lan"},
	{regexp.MustCompile(`^(TCP|UDP): inuse \d+`), "/proc/net/sockstat"},
	{regexp.MustCompile(`^\s*\d+ (times the listen queue of a socket overflowed|SYNs to LISTEN sockets|` +
		`SYN cookies sent|listen queue overflows|dropped due to full socket buffers|packets pruned from|` +
		`packets collapsed in|packet receive errors|possible replay packets? detected|receive buffer errors|` +
		`segments retransmi)|^\s*TCP[A-Z]\w+: \d+$|` +
		`^\s*(?:listen queue overflows|dropped due to full socket buffers|output packets dropped due to no bufs, etc\.): \d+$`), "netstat -s"},
	{regexp.MustCompile(`^\s*(TcpExt|Tcp|Udp|Ip|IpExt)\.?[A-Z][A-Za-z0-9]+(?:\s+|\s*[=:]\s*)\d+`), "nstat -az"},
	{regexp.MustCompile(`^CPU(?: \d+|\d* states)?: .*% int(?:errupt|r)|^CPU\d+: .*% idle .*% sirq`), "top"},
	{regexp.MustCompile(`^%?Cpu(?:\(s\)|\d+) *: *[0-9]+[.,][0-9]+ ?%? ?us, `), "top"},
	{regexp.MustCompile(`^ *\d+\.\d+% +(?:\S+ +)?\[[\w.]+\] +\[k\] \w+`), "perf top"},
	{regexp.MustCompile(`^ *\d+ +(?:root|0) .* \d+\.\d+% \[?(?:kernel|intr|idle)\{`), "top"},
	{regexp.MustCompile(`(?:\bIP6? |^\s+)\S+ > \S+: Flags \[S\.?[EW]*\],.* options \[`), "tcpdump"},
	{regexp.MustCompile(`(?:^\s+|\bIP6? )\S+ > \S+: ICMP \S+ unreachable - need to frag`), "tcpdump"},
	{regexp.MustCompile(`^tcpdump: (?:verbose output|listening on)|^listening on \S+, link-type |` +
		`^\d\d:\d\d:\d\d\.\d+ IP6? |^IP6? \S+ > \S+: Flags \[|^\d\d:\d\d:\d\d\.\d+ \S+ > \S+: [SFPR.]+ `),
		"tcpdump"},
	{regexp.MustCompile(`^[a-z]+\d+: <.*> (?:mem|port|irq|at) |^[a-z]+\d+ at [a-z]+\d+ dev \d+ function \d+ "|` +
		`^Hypervisor: Origin = |limit exceeded by uid|` +
		`out of swap space|` +
		`failed to reclaim memory|` +
		`^(?:.*kernel: )?arp: \S+ moved from |^arp info overwritten for |^[a-z]+\d+: .*(?i:rx .*(?:lost|overrun|` +
		`overflow))`),
		"dmesg"},
	{regexp.MustCompile(`^[a-z]+\d+: watchdog: head \d+|Found a Tx that wasn't completed on time|` +
		`lost tx completion is above|OVER TEMP|over heated|` +
		`discard oversize frame|\b[Uu]nder-?voltage detected|^\W*(?:.*get_throttled\W+)?throttled=0x[0-9a-f]+\W*$`), "dmesg"},
	{regexp.MustCompile(`^[a-z]+\d+: .*(?i:un(?:supported|qualified) (?:SFP\S* )?module)`), "dmesg"},
	{regexp.MustCompile(`^(?:<\d+>)?(?:carp: (?:VHID )?\d+@[a-z][\w.]*|carp\d+): (?:state transition: )?(?:INIT|BACKUP|MASTER) -> [A-Z]|` +
		`kmem_map too small: \d|\bDAD (?:detected duplicate IPv6 address|complete for .* duplicate found)|` +
		`kern\.ipc\.\w+ limit reached|\b(?:says?|said|shows?) (?:that )?(?:the )?kern\.ipc\.\w+ limit is reached`),
		"dmesg"},
	{regexp.MustCompile(`\bCAM status: [A-Z]|SCSI sense: (?:MEDIUM|HARDWARE) ERROR|: Timeout on slot \d+ port|` +
		`: exception Emask 0x|(?:I/O|critical medium) error, dev |` +
		`: Resetting controller due to a timeout`), "dmesg"},
	{regexp.MustCompile(`no ping reply \(NOP-(?:In|Out)\) after|Tx stalled\? Resetting chipset|^\W*Ethernet \[[A-Z]\w+\]: |` +
		`(?i:interface stopped distributing)|` +
		`mclpools? limit reached|` +
		`(?i:: watchdog timeout)|^[a-z]+\d+: PCI Express Bus: Speed |appears to be hung!|desc avail = \d+, pidx = \d|` +
		`^Limiting (?:open port|closed port|icmp) \S+ (?:RST )?response from \d`), "dmesg"},
	{regexp.MustCompile(`^\s*(\w*allowance_exceeded|InDroppedDma|rbuf_ovflow_cnt|rx_no_dma_resources|rx_fifo_errors|` +
		`rx_nodesc_drop_cnt|port_rx_nodesc_drops|rx_(?:long|short)_length_errors|rx_missed_errors|tx_send_full|` +
		`rx_no_buffer_count|rx_crc_errors|rx_flow_control_xoff|` +
		`tx_flow_control_xoff|rx_out_of_buffer|rx_discards_phy|port\.rx_\w+|rx_dropped\.nic|rx_\w+\.nic): *\d+`), "ethtool -S interface"},
	{regexp.MustCompile(`drop mbuf that needs (?:checksum|generic segmentation) offload|` +
		`netmap_ring_reinit\s|nm_[rt]xsync_prologue\s|` +
		`netmap:\S+ failed: Cannot allocate memory|(?i:error reading netmap data via polling)`),
		"dmesg"},
	{regexp.MustCompile(`\w: bad gso: type: \d+, size: \d|nvsp_rndis_pkt_complete error status|: invalid MTU: \d+\(\w+\) != \d|` +
		`ifconfig: BRDGADD \w+: Inv|: Trigger reset is on|` +
		`ENA admin queue is not in running state|` +
		`: Rx ring \d+ is stalled|: [Tt]rigger refill for ring \d|PF states limit reached|\tkernel\t(?:<\d+>)?\S|` +
		`Socket create failed due to limits|cannot (?:define|create) table \S+: Cannot allocate memory|` +
		`^\W*[a-z]{2,}\d+ [Ww]atchdog timeout\W*$`), "dmesg"},
	{regexp.MustCompile(`: bandwidth too large$|Could not setup (receive|transmit) structures|AMD-Vi: Event logged|` +
		`DMAR: \[DMA |PCIe link lost|too many orphaned sockets|[Ff]ailed to sufficiently increase (receive|` +
		`send) buffer|` +
		`so-(?:rcv|snd)buf \d+ was not granted|so_rcvbuf_set=|limit reached$|` +
		`(?:connect|dial|^\[error\] socket|ConnectException|BindException|NoRouteToHostException|` +
		`a new connection)\b.*(?:[Cc]an(?:not|\\?'t) assign requested address|EADDRNOTAVAIL)|` +
		`Connect\(\) failed for (?:backend|server) \S+ no free ports|` +
		`\bconnect(?:ion to \S+)? (?:failed (?:due to|with) )?(?i:eaddrinuse)|bind\(.*port=htons\(0\).* = -1 EADDRINUSE|` +
		`TCP backlog setting of \d+ cannot be enforced|` +
		`UDP GRO forwarding is suboptimally configured|connect\(\) to unix:\S+ failed \(11:|` +
		`uWSGI listen queue of socket .* full !!!|(?i:(?:setsockopt|SO_(?:SND|RCV)BUF|(?:send|` +
		`receive) buffer size)\b.*no buffer space available)`),
		"dmesg"},
	{regexp.MustCompile(`infiniband/\S+/ports/\d+/(?:hw_)?counters/\w+:\d+$`), facts.RDMA},
	{facts.GuestCardForm, "virsh domiflist"},
	{facts.AtopRow, "sar"},
	{facts.RetransmitForm, facts.Retransmits},
	{facts.FabricForm, facts.RDMA},
	{facts.AlarmForm, facts.Alarms},
	{facts.AlarmShareForm, facts.Alarms},
	{facts.AlertForm, facts.Alarms},
	{facts.AlarmChart, facts.Alarms},
	{facts.ProgramStatForm, facts.ProgramStats},
	{regexp.MustCompile(`/proc/pressure/memory:(?:some|full) avg10=`), facts.PressureOfMemory},
	{facts.ConnectFailed, "dmesg"},
	{regexp.MustCompile(`^\s*\[<[0-9a-f]{8,16}>\] `), "dmesg"},
	{facts.ProgramLimitForm, "dmesg"},
	{regexp.MustCompile(`^(?:# ?)?(?:node_(?:netstat|network|sockstat|nf_conntrack|ethtool)_|\w*allowance_exceeded\{)`),
		"node_exporter"},
	{regexp.MustCompile(`^\W*Rx/Tx is disabled on this device because an? un\w+ \w+ module`), "dmesg"},
	{regexp.MustCompile(`\b(?:igb|igc|ixgbe|e1000e|i40e|ice|bnxt_en|mlx[45]_core|r8169|tg3|atlantic) [0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]` +
		` [\w.-]+: Reset adapter$`), "dmesg"},
	{regexp.MustCompile(`^\W*(?:kernel: )?[A-Za-z][\w-]+ (?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f](?: [\w.-]+)?: \S|` +
		`^\W*(?:kernel: )?[a-z]\w+ (?:\d+-[\d.]+:\d+\.\d+|[0-9a-f]{6,10}\.[\w-]+) [a-z][\w.-]*: \S|TX timeout detected|` +
		`(?i:\bsend(?:to|msg|ing)?\b.*no buffer space available)|(?i:write UDP\S*: no buffer space|\bwrite udp\d? \S+: .*message too long|` +
		`sendto \S+ failed: resource temporarily unavailable)|dpinger.*: sendto error: \d+\s*$|` +
		`\bwrite UDP\S*: .*\(code=\d+\)|error sending response: not enough free resources`), "dmesg"},
	{regexp.MustCompile(`^CPU Utilization: (?:local|remote)/`), "iperf3"},
	{regexp.MustCompile(`^\[ *(?:\d+|SUM)\](?:(?:\[[TR]X-[CS]\])? +\d+\.\d+- *\d+\.\d+ +sec +[0-9.]+ [KMGT]?Bytes |` +
		` +TCP +\d{3,}-\d{3,} sec )`), "iperf3"},
	{regexp.MustCompile(`^\s*\d+ (?:ESTAB(?:LISHED)?|CLOSE[_-]WAIT|TIME[_-]WAIT|FIN[_-]WAIT[_-]?[12]|LAST[_-]ACK|` +
		`SYN[_-]SENT|SYN[_-]RECV)\s*$`), "netstat -an"},
	{regexp.MustCompile(`(?i:netlink\S*:? .*(?:no buffer space|overrun)|netlink.*ENOBUFS|` +
		`kernel dropped some netlink messages|kernel dropped events\b|we have hit ENOBUFS|unable to dump conntrack: no buffer space)`),
		"dmesg"},
	{regexp.MustCompile(`AH0(?:0957|1102|1075|1114|0898)\b|upstream timed out \(\d+: [^)]*\) while [a-zA-Z ]*upstream|` +
		`connect\(\) failed \((?:111|61): |no live upstreams while connecting|is DOWN, reason: Layer4|has no server available!|` +
		`: [Dd]etected [Tt]x (?:Unit )?H[au]ng|` +
		`Handshake for peer \d+ \S+ did not complete after`), "dmesg"},
	{regexp.MustCompile(`martian source \S+ from |dst cache overflow|Route cache is full: |is full, maxelem \d+ reached|` +
		`MD5 Hash (?:not found|NOT expected|failed|mismatch)|(?:Une|E)xpected MD5 Hash`), "dmesg"},
	{facts.PacketForm, "tcpdump"},
	{regexp.MustCompile(`^\s*lookups: hit:\d+ missed:\d+ lost:\d+`), facts.OtherCounters}, // ovs-dpctl show
	{facts.IPsecForm, "swanctl --list-sas"},
	{facts.FirewallForm, facts.Firewall},
	{facts.VPPErrorForm, "vppctl show errors"},
	{regexp.MustCompile(`\bTLS handshake time(?:out|d out)|SSL connection timeout|CQ creation failure: `), "dmesg"},
	{regexp.MustCompile(`^\s*Xfrm(?:In|Out|Fwd)[A-Z]\w+\s+\d+$`), "/proc/net/xfrm_stat"},
	{regexp.MustCompile(`^ath: phy\d+: |config_aqm Unable to configure flowset|discontinuity received 0x\w+ instead of|` +
		`^debug[123]: \S|Timeout waiting for PADO|LCP terminated by peer|mwan3track\[\d+\]: |` +
		facts.RefusedSizes),
		"dmesg"},
	{facts.ModemForm, facts.ModemStatus},
	{facts.CableEvent, "dmesg"},
	{facts.SilentForm, "dmesg"},
	{facts.KernelWarning, "dmesg"},
	{regexp.MustCompile(`CTRL-EVENT-DISCONNECTED bssid=|: (?:deauthenticated|disassociated) from [0-9a-f:]{17} \(Reason: `), "dmesg"},
	{facts.ClusterForm, "dmesg"},
	{facts.LostPeerForm, "dmesg"},
	{facts.SwitchLeftOut, "dmesg"},
	{facts.NetmapFull, "dmesg"},
	{facts.RealtekStats, "dmesg"},
	{facts.CiliumDrop, facts.Reports},
	{regexp.MustCompile(`\brtw_\w+ \S+: failed to get tx report from firmware`), "dmesg"},
	{facts.SaturatedForm, "dmesg"},
	{facts.LookupFailed, "dmesg"},
	{regexp.MustCompile(`^\W*time_(?:namelookup|connect|appconnect|pretransfer|starttransfer|redirect|` +
		`total)"?\s*[:=]\s*\d|` +
		`^\s*(?:Lookup|Connect|AppCon\w*|PreXfer|StartXfer|Total) time:\s+\d|^;; Query time: \d+ msec|` +
		`average recursion processing time \d|^\s*(?:total|thread\d+)\.recursion\.time\.avg=\d|` +
		`Information acquired via protocol \S+ in \d|haproxy\[\d+\]: (?:[^\s\[]\S* )?\[[^\]]+\] \S+ \S+/\S+ -?\d+/-?\d+/[-+]?\d+`), "curl"},
	{facts.BalancerLine, "curl"},
	{facts.MeshLine, "curl"},
	{facts.LoadLine, "curl"},
	{facts.ProxyLine, "curl"},
	{facts.HelloSent, "curl"},
	{regexp.MustCompile(`^cilium_(?:drop|forward)_(?:count|` +
		`bytes)_total[{ ]`), "cilium metrics list"},
	{regexp.MustCompile(`\bnetcheck: report: udp=|^\s*\* MappingVariesByDestIP:|^\s*\* UDP: (?:true|false)$|^pong from \S+ \([^)]*\) via |` +
		`\bactive; (?:relay "|direct \S)`),
		"tailscale status"},
	{regexp.MustCompile(`^\s*Speed: \d+Mb/s$|^\s*Duplex: (?:Full|Half)$`), "ethtool " + facts.UnnamedLink},
	{regexp.MustCompile(`\S+:/\S* (?:on )?/\S* (?:type )?nfs4? \S*=|/\S* \S+ - nfs4? \S+:/\S* `), "nfsstat"},
	{regexp.MustCompile(`^\s*(?:Download|Upload): +[0-9.]+ [KMG](?:bit/s|bps)\b|^\s*Idle Latency: +[0-9.]+ ms|` +
		`^\s*Packet Loss: +[0-9.]+%$|` +
		`^\s*[0-9.]+ ms +\(jitter: |^\s*Hosted by .*\[[0-9.]+ km\]: [0-9.]+ ms$|` +
		`^\s*Retrieving speedtest\.net configuration`), "speedtest"},
	{regexp.MustCompile(`^\s*(?:Laser|Module|Rece?i?ve?r) (?:signal|bias|output|rx|temperature|voltage)[\w ]*?(?:\(Channel \d+\))?\s+: ` +
		`(?:On$|Off$|-?[0-9.]+ )`), "ethtool -m " + facts.UnnamedLink},
	{regexp.MustCompile(`^\{"type":"result",.*"ping":\{`), "speedtest"},
	{facts.LoadedTestForm, "speedtest"},
	{regexp.MustCompile(`^\s*Bit Rate[=:][0-9.]+ [MG]b/s\s+Tx-Power`), "iw"},
	{regexp.MustCompile(`^Power save: (?:on|off)$`), "iw"},
	{regexp.MustCompile(`LnkSta:|LnkCap:|^[0-9a-f:]+\.[0-9] Ethernet controller|^\s+(?:Subsystem|Kernel driver in use): \S`),
		"lspci -vv"},
})

// namedForm is the form of lines of an output.
type namedForm struct {
	form *regexp.Regexp
	name string
}

// forms are found together.
type forms struct {
	list []namedForm
	set  *regexp.Set
}

func formsOf(list []namedForm) forms {
	var all []*regexp.Regexp
	for _, f := range list {
		all = append(all, f.form)
	}
	return forms{list, regexp.SetOf(all...)}
}

// longestLine bounds the lines whose form is looked for.
const longestLine = 4096

// of yields the forms that a line has; one that is very long has none.
func (f forms) of(line string) iter.Seq[*namedForm] {
	return func(yield func(*namedForm) bool) {
		if len(line) > longestLine {
			return
		}
		for i := range f.set.Matching(line) {
			if !yield(&f.list[i]) {
				return
			}
		}
	}
}

// heading is the title of a post, which names what its author suspects.
var heading = regexp.MustCompile(`^#{1,6} +(?:[A-Za-z]|\[[A-Za-z-]+\])`)

// wholeMessage is a title that is nothing but a message of the kernel, copied.
var wholeMessage = regexp.MustCompile(`^#{1,6} +(?:(?:nf_|ip_)conntrack: ){1,2}table full, dropping packet\.?$|` +
	`^#{1,6} +(?:\S+ )?(?:kernel: )?(?:[a-z]\w* [0-9a-f:.]+ )?(?:[a-z][\w.-]*: )?NETDEV WATCHDOG: .*transmit queue \d+ timed out(?: \d+ ms)?$|` +
	`^#{1,6} +(?:neighbour: )?(?:arp|ndisc)_cache: neighbor table overflow!?$|` +
	`^#{1,6} +(?:TCP: )?(?:request_sock_TCP: )?[Pp]ossible SYN flooding on port \S+ (?:Sending cookies|Dropping request)\.`)

// looseForm is the form of a line, nil when it has none that is known.
func looseForm(line string) *namedForm {
	for l := range looseLines.of(line) {
		if l.name == "dmesg" && heading.MatchString(line) && !wholeMessage.MatchString(line) {
			return nil
		}
		return l
	}
	if _, ok := facts.ReportOf(line); ok && len(line) <= longestLine {
		return &reportLine
	}
	return nil
}

// reportLine is a line of a log that reports a failure.
var reportLine = namedForm{name: "dmesg"}
