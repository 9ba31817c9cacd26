package transcript

import (
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// looseBlocks begin an output that came without its command: it lasts to the
// next empty line, a kernel's log to the end.
var looseBlocks = []struct {
	begin *regexp.Regexp
	name  string
	words []string // one of them stands in the line
}{
	{regexp.MustCompile(`^last pid: +\d+;|^top - \d+:\d+|^ *PID +(USER(NAME)?|TID) +(THR +)?PRI? |^ *PID +PPID +USER +STAT +`), "top",
		[]string{"last pid", "top - ", "PID"}},
	{regexp.MustCompile(`^Mem: \d+K used, \d+K free|^CPU: +\d+% usr +\d+% sys `), "top", []string{"K used", "% usr"}},
	{regexp.MustCompile(`^\d+(/\d+)+ mbufs in use|^\d+ mbufs in use:`), "netstat -m", []string{"mbufs in use"}},
	{regexp.MustCompile(`^\s*NIC statistics:`), "ethtool -S " + facts.UnnamedLink, []string{"NIC statistics"}},
	{regexp.MustCompile(`^\s*Ring parameters for (\S+):`), "ethtool -g $1", []string{"Ring parameters"}},
	{regexp.MustCompile(`^\s*Channel parameters for (\S+):`), "ethtool -l $1", []string{"Channel parameters"}},
	{regexp.MustCompile(`^\s*RX flow hash indirection table for (\S+) with `), "ethtool -x $1", []string{"indirection table"}},
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
	{regexp.MustCompile(`^\|\s*Host\s+-\s+\|?\s*%\s*\|`), "mtr", []string{"Host"}},
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
	{regexp.MustCompile(`^osd\s+commit_latency\(ms\)\s+apply_latency\(ms\)|^osd fs_commit_latency\(ms\)`), "ceph osd perf", []string{"_latency(ms)"}},
	{facts.FabricLinkForm, "ibstat", []string{"CA '", "Infiniband device", "==("}},
	{regexp.MustCompile(`^\s+total +used +free +shared +buff`), "free", []string{" used "}},
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
	{regexp.MustCompile(`^Chain \S+ \((?:policy [A-Z]+|\d+ references)`), facts.Firewall, []string{"Chain "}},
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
	{regexp.MustCompile(`^(?:\d{2}:\d{2}:\d{2}(?: [AP]M)?|[A-Z]\p{L}+ ?[.:]+) +CPU +%`), "mpstat -P ALL 1 1", []string{"CPU "}},
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
	{regexp.MustCompile(`^ *Time +Int +rKB/s `), "sar", []string{" Int "}},
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
