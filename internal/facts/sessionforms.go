package facts

import "regexp"

// The forms in which people type and paste what facts asks for.

// tools are the programs after which a line that looks like a prompt is one:
// outputs and comments begin with # or > as well.
const tools = "netstat ss ip ifconfig ethtool sysctl cat dmesg grep egrep fgrep zgrep tail head less more journalctl tc nstat lspci mpstat top vmstat pfctl pciconf pcidump kldstat " +
	"uname numactl nproc lscpu ping iperf iperf3 nuttcp mount zpool zfs free uptime date ls cd echo systat sar conntrack ps tcpdump traceroute mtr wget curl scp rsync dd watch " +
	"ntttcp fio hostname route arp getconf lsmod iptables nft ndp find awk sed ndppd kenv sysrc service systemctl cpupower turbostat tuned-adm brctl bridge ifstat nload zcat hostnamectl"

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

// looseLines tell lines that came without a command by their form.
var looseLines = []struct {
	form *regexp.Regexp
	name string
}{
	{regexp.MustCompile(`(^|\s)kernel: \S|^kern: +\w+: \[|^[A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d(\.\d+)? .*kernel:|^\d{4}-\d\d-\d\dT\S+ \S+ kernel:|^\[ *\d+\.\d+\] |^\[[A-Z][a-z]{2} [A-Z][a-z]{2} +\d+ `), "dmesg"},
	{regexp.MustCompile(`sonewconn: pcb|NETDEV WATCHDOG|Detected Hardware Unit Hang|Reset adapter unexpectedly|NIC Link is |transmit queue \d+ timed out|available PCIe bandwidth|PCI-Express bandwidth available|out of memory -- consider tuning tcp_mem|time wait bucket table overflow|interrupt storm detected|nf_conntrack: table full|is using my IP address|mbuf clusters exhausted|\[zone: [a-z_0-9]+\] kern\.|[Nn]eighbou?r table overflow|: watchdog timeout|Detected Tx Unit Hang|possible SYN flooding|Possible SYN flooding|link state changed to `), "dmesg"},
	{regexp.MustCompile(`^(net|kern|hw|dev|vm|vfs)\.[a-z0-9_.]+( ?= ?|: ?)\S`), "sysctl -a"},
	{regexp.MustCompile(`^([0-9a-f]{8} ){8,}`), "/proc/net/softnet_stat"},
	{regexp.MustCompile(`requests for .*(denied|delayed)|mbuf clusters in use|mbufs in use`), "netstat -m"},
	{regexp.MustCompile(`^[a-z]+\d+: [A-Z][A-Za-z ]+ = \d+\s*$`), "dmesg"},
	{regexp.MustCompile(`^(current entries|searches|state-mismatch|memory|congestion|state-limit|src-limit)\s+\d+\s+\d+\.\d+/s`), "pfctl -si"},
	{regexp.MustCompile(`^states +hard limit +\d+`), "pfctl -sm"},
	{regexp.MustCompile(`^(TCP|UDP): inuse \d+`), "/proc/net/sockstat"},
	{regexp.MustCompile(`^\s*\d+ (times the listen queue of a socket overflowed|SYNs to LISTEN sockets|SYN cookies sent|packets pruned from|packets collapsed in|packet receive errors|receive buffer errors|segments retransmi)`), "netstat -s"},
	{regexp.MustCompile(`^\s*(TcpExt|Tcp|Udp|Ip|IpExt)[A-Z][A-Za-z0-9]+\s+\d+`), "nstat -az"},
	{regexp.MustCompile(`^CPU \d+: .*% interrupt`), "top"},
	{regexp.MustCompile(`^\s*(\w*allowance_exceeded|rx_missed_errors|rx_no_buffer_count|rx_crc_errors|rx_flow_control_xoff|tx_flow_control_xoff|rx_out_of_buffer|rx_discards_phy): *\d+`), "ethtool -S interface"},
	{regexp.MustCompile(`LnkSta:|LnkCap:|^[0-9a-f:]+\.[0-9] Ethernet controller`), "lspci -vv"},
}

// looseBlocks begin an output that came without its command: it lasts to the
// next empty line, a kernel's log to the end.
var looseBlocks = []struct {
	begin *regexp.Regexp
	name  string
}{
	{regexp.MustCompile(`^last pid: +\d+;|^top - \d+:\d+|^ *PID USER(NAME)? +(THR +)?PRI? `), "top"},
	{regexp.MustCompile(`^\d+(/\d+)+ mbufs in use|^\d+ mbufs in use:`), "netstat -m"},
	{regexp.MustCompile(`^\s*NIC statistics:`), "ethtool -S " + unnamedLink},
	{regexp.MustCompile(`^\s*Ring parameters for (\S+):`), "ethtool -g $1"},
	{regexp.MustCompile(`^\s*Channel parameters for (\S+):`), "ethtool -l $1"},
	{regexp.MustCompile(`^\s*Pause parameters for (\S+):`), "ethtool -a $1"},
	{regexp.MustCompile(`^\s*Features for (\S+):`), "ethtool -k $1"},
	{regexp.MustCompile(`^\s*Settings for (\S+):`), "ethtool $1"},
	{regexp.MustCompile(`^\s*Coalesce parameters for (\S+):`), "ethtool -c $1"},
	{regexp.MustCompile(`^\s*EEE [Ss]ettings for (\S+):`), "ethtool --show-eee $1"},
	{regexp.MustCompile(`^driver: \S+$`), "ethtool -i " + unnamedLink},
	{regexp.MustCompile(`^Current listen queue sizes`), "netstat -Lan"},
	{regexp.MustCompile(`^Name\s+Mtu\s+Network`), "netstat -idnW"},
	{regexp.MustCompile(`^interrupt\s+total\s+rate`), "vmstat -ia"},
	{regexp.MustCompile(`^ITEM\s+SIZE\s+LIMIT`), "vmstat -z"},
	{regexp.MustCompile(`^Workstreams:`), "netstat -Q"},
	{regexp.MustCompile(`^\s+CPU0\s+CPU1`), "/proc/interrupts"},
	{regexp.MustCompile(`^Ethernet Channel Bonding Driver|^Slave Interface: `), bondingFolder + "bond"},
	{regexp.MustCompile(`^Routing tables$|^Destination +Gateway +Flags`), "netstat -rnW"},
	{regexp.MustCompile(`^qdisc \S+ \S+: `), "tc -s qdisc show"},
	{regexp.MustCompile(`^\d+: \S+: <[A-Z_,-]+> mtu `), "ip -s -d link show"},
	{regexp.MustCompile(`^\S+: flags=\S+<|^\S+\s+Link encap:`), "ifconfig -a"},
	{regexp.MustCompile(`^(tcp|udp|ip):$|^(Ip|Tcp|TcpExt|Udp):$`), "netstat -s"},
	{regexp.MustCompile(`^(TcpExt|IpExt): [A-Z]`), "/proc/net/netstat"},
	{regexp.MustCompile(`^(Ip|Icmp|Tcp|Udp): [A-Z]\w+ [A-Z]`), "/proc/net/snmp"},
	{regexp.MustCompile(`^Connecting to host \S+, port \d+|^Accepted connection from \S+, port \d+`), "iperf3"},
	{regexp.MustCompile(`^Proto +Recv-Q +Send-Q +Local`), "netstat -an"},
	{regexp.MustCompile(`^(Netid +)?State +Recv-Q +Send-Q `), "ss -tinm"},
	{regexp.MustCompile(`^Copyright \(c\) 1992-.*FreeBSD Project|^OpenBSD \d+\.\d+.* #\d+: `), "dmesg"},
	{regexp.MustCompile(`^Linux \d+\.\S+ \(.*CPU\)`), "mpstat -P ALL 1 1"},
	{regexp.MustCompile(`^\S+@pci\d+:\d+:\d+:\d+:`), "pciconf -lvc"},
	{regexp.MustCompile(`^State Table  +Total`), "pfctl -si"},
	{regexp.MustCompile(`^IP address +MTU +SST`), "sysctl net.inet.tcp.hostcache.list"},
}
