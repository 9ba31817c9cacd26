package transcript

import (
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// looseBlocks begin an output that came without its command: it lasts to the
// next empty line, a kernel's log to the end.
var looseBlocks = formsOf([]namedForm{
	{regexp.MustCompile(`^last pid: +\d+;|^top - \d+:\d+|^ *PID +(USER(NAME)?|TID) +(THR +)?PRI? |^ *PID +PPID +USER +STAT +`), "top"},
	{regexp.MustCompile(`^Mem: \d+K used, \d+K free|^CPU: +\d+% usr +\d+% sys `), "top"},
	{regexp.MustCompile(`^\d+(/\d+)+ mbufs in use|^\d+ mbufs in use:`), "netstat -m"},
	{regexp.MustCompile(`^\s*NIC statistics:`), "ethtool -S " + facts.UnnamedLink},
	{regexp.MustCompile(`^\s*Ring parameters for (\S+):`), "ethtool -g $1"},
	{regexp.MustCompile(`^\s*Channel parameters for (\S+):`), "ethtool -l $1"},
	{regexp.MustCompile(`^\s*RX flow hash indirection table for (\S+) with `), "ethtool -x $1"},
	{regexp.MustCompile(`^\s*Pause parameters for (\S+):`), "ethtool -a $1"},
	{regexp.MustCompile(`^\s*Features for (\S+):`), "ethtool -k $1"},
	{regexp.MustCompile(`^\s*Settings for (\S+):`), "ethtool $1"},
	{regexp.MustCompile(`^\s*Coalesce parameters for (\S+):`), "ethtool -c $1"},
	{regexp.MustCompile(`^\s*FEC parameters for (\S+):`), "ethtool -I --show-fec $1"},
	{regexp.MustCompile(`^\s*Identifier\s+: 0x[0-9a-f]{2} \(`), "ethtool -m " + facts.UnnamedLink},
	{regexp.MustCompile(`^\s*EEE [Ss]ettings for (\S+):`), "ethtool --show-eee $1"},
	{regexp.MustCompile(`^\s*[RT]X packets(?: \d+ |:\d+ errors:)`), "ifconfig -a"},
	{regexp.MustCompile(`^ *procs +-*memory|^ *r +b +\w+ .* us +sy +id`), "vmstat"},
	{regexp.MustCompile(`^\w[\w.-]*: (negotiated \d+base|negotiated, link ok|\d+ Mbit, (full|` +
		`half) duplex)`), "mii-tool"},
	{regexp.MustCompile(`^\s*Supported ports: \[`), "ethtool " + facts.UnnamedLink},
	{regexp.MustCompile(`^lo +UNKNOWN +(?:127\.0\.0\.1/8|00:00:00:00:00:00)\b`), "ip -br address show"},
	{regexp.MustCompile(`^\s*\*-network(:\d+)?( DISABLED| UNCLAIMED)?\s*$`), "lshw -C network"},
	{regexp.MustCompile(`^PING6? ?[(\w]|^--- \S+ ping6? statistics ---`), "ping"},
	{regexp.MustCompile(`^\s*\d+ packets transmitted, \d+ (?:packets )?received, `), "ping"},
	{regexp.MustCompile(`^\s*(?:` + facts.StampOfPing + `)?\d+ [Bb]\S+ \S+ \S+.*[rs]eq=\d+ (?:ttl|hlim)=\d+ `), "ping"},
	{regexp.MustCompile(`^\s*(?:Pinging|Ping wird ausgeführt für) \S+ .*\d+ [Bb]ytes |^\s*Ping(?: statistics|` +
		`-Statistik) \S+ \S+:$|` +
		`^\s*\S+ \S+ [0-9.]+ ?: ?\S+=\d+ \S+[=<]\d+ ?ms TTL=\d+`), "ping"},
	{regexp.MustCompile(`^Request timeout for icmp_seq \d+$`), "ping"},
	{regexp.MustCompile(`^ARPING \S+|^Unicast reply from \S+ \[`), "ping"},
	{regexp.MustCompile(`^From \S+:? icmp_seq=\d+ [A-Z]`), "ping"},
	{regexp.MustCompile(`^ *1\?: \[LOCALHOST\]`), "mtr"},
	{regexp.MustCompile(`^(?:MIGRATED )?(?:TCP|UDP) (?:UNIDIRECTIONAL SEND|STREAM|MAERTS) TEST|^\s*[0-9.]+ MB / +[0-9.]+ sec = `),
		"iperf3"},
	{regexp.MustCompile(`^(?:tcp +)?ESTAB +\d+ +\d+ +\S+:\S+ +\S+:\S+`), "ss -tinm"},
	{regexp.MustCompile(`^traceroute6? to \S+ \(|^Tracing route to `), "mtr"},
	{facts.ProbeRow, "mtr"},
	{regexp.MustCompile(`^\|\s*Host\s+-\s+\|?\s*%\s*\|`), "mtr"},
	{regexp.MustCompile(`^[Dd]evice:?\s+.*r/s.*%(?:util|b)\b`), "iostat -x"},
	{regexp.MustCompile(`^device +r/i +w/i `), "iostat -Ix"},
	{regexp.MustCompile(`^ +tty( +[a-z]+\d+)+ +cpu *$`), "iostat"},
	{regexp.MustCompile(`^ *L\(q\) +ops/s `), "gstat -b"},
	{regexp.MustCompile(`^<[^<>]+> +at scbus\d+ target \d+ lun `), "camcontrol devlist"},
	{regexp.MustCompile(`^NAME +SIZE +ALLOC +FREE `), "zpool list -p"},
	{regexp.MustCompile(`^\s*pool: [a-zA-Z][\w.:-]*$`), "zpool status"},
	{regexp.MustCompile(`^NAME +PROPERTY +VALUE\b`), "zfs get all"},
	{regexp.MustCompile(`^ ?Id Refs Address `), "kldstat"},
	{regexp.MustCompile(`^Domain /dev/pci\d+:$|^ \d+:\d+:\d: [A-Z]`), "pcidump -v"},
	{regexp.MustCompile(`^CPU +User +Nice +System +Spin +Interrupt +Idle`), "systat -b cpu"},
	{regexp.MustCompile(`^osd\s+commit_latency\(ms\)\s+apply_latency\(ms\)|^osd fs_commit_latency\(ms\)`), "ceph osd perf"},
	{facts.FabricLinkForm, "ibstat"},
	{regexp.MustCompile(`^\s+total +used +free +shared +buff`), "free"},
	{facts.PoolWaitHead, "zpool iostat -l"},
	{facts.LoadTestForm, "wrk"},
	{regexp.MustCompile(`^Percentage of the requests served within`), "curl"},
	{regexp.MustCompile(`^# pxname,svname,`), facts.ProgramStats},
	{regexp.MustCompile(`^\s*namelookup\s*[:=]\s*\d`), "curl"},
	{regexp.MustCompile(`^/: +Bus \d+\.Port \d+: Dev 1, Class=root_hub|` +
		`^Bus \d{3} Device \d{3}: ID [0-9a-f]{4}:|^\|__usb\d+ +[0-9a-f]{4}:[0-9a-f]{4}:`), "lsusb -t"},
	{regexp.MustCompile(`^\s*ugen\d+\.\d+: <[^>]*> at usbus\d+, .*\bspd=`), "usbconfig"},
	{regexp.MustCompile(facts.MacRadio), "airport -I"},
	{regexp.MustCompile(`^HOST: .*Loss%|^\s*(?:Host\s+)?Loss%\s+Snt\s+Last`), "mtr"},
	{regexp.MustCompile(`^\s*(?:Station|Connected to) [0-9a-zA-Z:*]{17} \(on |` +
		`^\s*[0-9a-zA-Z:*]{17}  -\d+ dBm / (?:-\d+|unknown)|^[a-z][\w.-]*\s+ESSID: |^Survey data from |^[a-z][\w.-]*\s+IEEE 802\.11`), "iw"},
	{regexp.MustCompile(`^Client rpc stats:|^(?:Client|Rpc) Info:$|^ *TimedOut +Invalid +X Replies |^\S+:/\S* mounted on /\S*:$|` +
		`^device \S+:/\S* mounted on|^(?:read|` +
		`write):\s+ops/s`),
		"nfsstat"},
	{regexp.MustCompile(`^Samples: \d+\S* +of event|^#? *(?:Children +Self|Overhead) +(?:Command|` +
		`Shared O)`), "perf top"},
	{regexp.MustCompile(`^pmd thread numa_id -?\d+ core_id \d+:|^Thread \d+ vpp_\w+`),
		"ovs-appctl dpif-netdev/pmd-stats-show"},
	{regexp.MustCompile(`^Chain \S+ \((?:policy [A-Z]+|\d+ references)`), facts.Firewall},
	{regexp.MustCompile(`^REASON\s+DIRECTION\s+PACKETS`), "cilium metrics list"},
	{regexp.MustCompile(`^\s*Count\s+Node\s+Reason`), "vppctl show errors"},
	{regexp.MustCompile(`^src \S+ dst [0-9a-f.:]+\s*$`), "ip -s xfrm state"},
	{regexp.MustCompile(`^interface: [\w.-]{1,15}$|` +
		`^peer: [A-Za-z0-9+/]{43}=$`), "wg show"},
	{regexp.MustCompile(`^link [a-z][\w.-]*/\d+(?: \w+ \d+| *$)`), facts.RDMA},
	{regexp.MustCompile(`^driver: \S+$`), "ethtool -i " + facts.UnnamedLink},
	{regexp.MustCompile(`^Current listen queue sizes`), "netstat -Lan"},
	{regexp.MustCompile(`^Name\s+Mtu\s+Network`), "netstat -idnW"},
	{regexp.MustCompile(`^Iface\s+MTU\s+(Met\s+)?RX-OK`), "netstat -idnW"},
	{regexp.MustCompile(`^Interface\s+Rx Packets\s+Rx Bytes\s`), "netstat -idnW"}, // of VyOS
	{regexp.MustCompile(`^\[ *\d+\] local \S+ port \d+ connected (to|with) `), "iperf3"},
	{regexp.MustCompile(`^interrupt\s+total\s+rate`), "vmstat -ia"},
	{regexp.MustCompile(`^ITEM\s+SIZE\s+LIMIT`), "vmstat -z"},
	{regexp.MustCompile(`^\s*sl +local_address .*\bdrops\s*$`), "/proc/net/udp"},
	{regexp.MustCompile(`^Inter- *\|`), "/proc/net/dev"},
	{regexp.MustCompile(`^Workstreams:`), "netstat -Q"},
	{regexp.MustCompile(`^\s+CPU0\s+CPU1`), "/proc/interrupts"},
	{regexp.MustCompile(`^Ethernet Channel Bonding Driver|^Slave Interface: |^Bonding Mode: |^802\.3ad info$`),
		facts.BondingFolder + "bond"},
	{regexp.MustCompile(`^\s{12,}(?:Tin 0|Bulk +Best Effort)`), "tc -s qdisc show"},
	{regexp.MustCompile(`^Routing tables$|^Destination +Gateway +Flags`), "netstat -rnW"},
	{regexp.MustCompile(`^qdisc \S+ \S+: `), "tc -s qdisc show"},
	{regexp.MustCompile(`^\d+: \S+: <[A-Z_,-]+> mtu `), "ip -s -d link show"},
	{regexp.MustCompile(`^\S+: flags=\S+(?:<| [A-Z]{2,}[A-Z0-9,_]+\s)|^\S+\s+(?:Link encap|Lien encap|Encapsulamento do Link):`), "ifconfig -a"},
	{pieceOfLink, "ifconfig -a"},
	{regexp.MustCompile(`^(?:tcp|udp|ip6?|icmp6?|ipsec6?|esp|ah|arp|carp|pfsync):$|` +
		`^TCP connection count by state:$|^(Ip|Tcp|TcpExt|Udp):$`), "netstat -s"},
	{regexp.MustCompile(`^\s+\d+ (?:packets sent|datagrams received|total packets received)$`), "netstat -s"}, // of the BSDs, whose title was cut
	{regexp.MustCompile(`^(TcpExt|IpExt): [A-Z]`), "/proc/net/netstat"},
	{regexp.MustCompile(`^(Ip|Icmp|Tcp|Udp): [A-Z]\w+ [A-Z]`), "/proc/net/snmp"},
	{regexp.MustCompile(`^\[ *ID\] Interval +Transfer `), "iperf3"},
	{regexp.MustCompile(`^\s*"start":\s*\{$`), "iperf3"},
	{regexp.MustCompile(`^Client connecting to \S+, (?:TCP|UDP) port \d+|^Server listening on (?:TCP |` +
		`UDP )?(?:port )?\d+`), "iperf3"},
	{regexp.MustCompile(`^\s*Speedtest by Ookla$|^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d Testing against \S+ `), "speedtest"},
	{regexp.MustCompile(`^Connecting to host \S+, port \d+|^Accepted connection from \S+, port \d+`), "iperf3"},
	{regexp.MustCompile(`^Proto +Recv-Q +Send-Q +Local.* R-MBUF`), "netstat -xn -p tcp"},
	{regexp.MustCompile(`^Proto +Recv-Q +Send-Q +Local`), "netstat -an"},
	{regexp.MustCompile(`^\s*tcp[46]{0,2} +\d+ +\d+ +\S+[:.]\S+ +\S+[:.]\S+ +(?:ESTABLISHED|(?:CLOSE|TIME)_WAIT|SYN_(?:SENT|RECV|RCVD)|` +
		`FIN_WAIT_?[12]|LAST_ACK|LISTEN)\b`), "netstat -an"},
	{regexp.MustCompile(`^(Netid +)?State +Recv-Q +Send-Q `), "ss -tinm"},
	{regexp.MustCompile(`^Copyright \(c\) 1992-.*FreeBSD Project|^OpenBSD \d+\.\d+.* #\d+: `), "dmesg"},
	{regexp.MustCompile(`^Linux \d+\.\S+ \(.*CPU\)`), "mpstat -P ALL 1 1"},
	{regexp.MustCompile(`^(?:\d{2}:\d{2}:\d{2}(?: [AP]M)?|[A-Z]\p{L}+ ?[.:]+) +CPU +%`), "mpstat -P ALL 1 1"},
	{regexp.MustCompile(`^\S+@pci\d+:\d+:\d+:\d+:`), "pciconf -lvc"},
	{regexp.MustCompile(`^\s*input\s+\(?[\w.]+\)?\s+output|` +
		`^\s*\S+ in\s+\S+ out\s+total in\s+total out`), "netstat -w 1"},
	{regexp.MustCompile(`^class \S+ \S*:\S* `), "tc -s class show"},
	{regexp.MustCompile(`^filter (?:parent \S+ |dev \S+ \S+ )*protocol \S+ pref `), "tc -s filter show"},
	{regexp.MustCompile(`^queue\s+\S+( parent \S+)? on \S+ `), "pfctl -vsq"},
	{regexp.MustCompile(`^USER +COMMAND +PID +FD +PROTO`), "sockstat"},
	{regexp.MustCompile(`^(\d{2}:\d{2}:\d{2}( [AP]M)?|Average:|Time) +(DEV +tps|IFACE|active/s|atmptf/s|totsck|idgm/s|` +
		`irec/s) `), "sar"},
	{regexp.MustCompile(`^ *Time +Int +rKB/s `), "sar"},
	{regexp.MustCompile(`^(?:\d{2}:\d{2}:\d{2}(?: [AP]M)?|Average:)? +(?:pgpgin/s|pswpin/s) `), "sar"},
	{regexp.MustCompile(`^0*\d+: +(?:[0-9.]+ [KMG]?bit/s|unlimited) +\d+ ms |^q\d+ +\d+ (?:sl\.|KB)`), "ipfw pipe show"},
	{regexp.MustCompile(`^IFACE +(?:RXDELAY +TXDELAY +)?LIVELOCKS `), "systat -b mbufs"},
	{regexp.MustCompile(`^QUEUE +BW\S* +SCH `), "systat -b queues"},
	{regexp.MustCompile(`^Name +Size +Requests +Fail `), "vmstat -m"},
	{regexp.MustCompile(`^[a-z][a-z0-9]*\d+:\d+:[\w-]+:\d+$`), "kstat"},
	{regexp.MustCompile(`^\s*Interface +Traffic +Peak +Total`), "systat -ifstat"},
	{regexp.MustCompile(`^\s*IP Input +IP Output`), "systat -ip"},
	{regexp.MustCompile(`^Proto +Rexmit +OOORCV`), "netstat -an"},
	{regexp.MustCompile(`^State Table  +Total`), "pfctl -si"},
	{regexp.MustCompile(`^IP address +MTU +SST`), "sysctl net.inet.tcp.hostcache.list"},
})

// pieceOfLink is a line of ifconfig of the BSDs that shows the state of a link, below the line that names it.
var pieceOfLink = regexp.MustCompile(`^\s+media: (?:Ethernet|autoselect|IEEE)|^\s+plugged: |^\s+lane \d+: RX|^\s*laggp(?:roto|ort:) [a-z]`)

// goesOn are what stands behind an empty line that does not end an output.
var goesOn = map[string]*regexp.Regexp{
	"ping":           regexp.MustCompile(`^--- `),
	"iperf3":         regexp.MustCompile(`^ *\d+ +\d+ +\d+ +\d+\.\d+ +\d+\.\d+ *$`), // of netperf
	"top":            processRow,
	"systat -ifstat": regexp.MustCompile(`^\s*[a-z]\w*\s+in\s+[0-9.]+ [KMG]?[bB]`),
	"zpool status":   regexp.MustCompile(`^(?:\tNAME +STATE|\s+NAME +STATE +READ|errors: |config:|\s*pool: )`),
}

// processRow is a row of top's processes: number, owner, priority, nice value.
var processRow = regexp.MustCompile(`^ *\d+ +[a-z_][\w.+-]* +(?:\d+|rt) +-?\d+ +\d`)
