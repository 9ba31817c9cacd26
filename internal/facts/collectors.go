package facts

import (
	"slices"

	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/system"
)

// collector is one source of facts: what to ask of a host, what to make of the answer, and under which names the answer
// is found in folders and in what people paste. It is all that there is to write for a new one.
type collector struct {
	// part is the name under which Parts says how the reading ended.
	part string
	on   []system.System
	op   host.Op
	// name is that of the output where evidence does not name it by the words of op.
	name  string
	parse func(f *Facts, t text) error
	when  when
	// sampled ones are read a second time at the end of a window.
	sampled bool
	// area is what it is about; that of a script alone, which nobody types, is empty.
	area Area
	// shown is what docs/outputs.md says in place of the name, in Markdown.
	shown string
	// files is a pattern of commands, as they are typed or as files are named after them, that print the same; where
	// several fit, the longest name counts. Of collectors of one name one has it. Empty: the name alone.
	files string
	// typed is a pattern of other forms in which people type it, or type what prints a part of it; where several fit, the
	// first collector's counts.
	typed string
}

// when says of which hosts a collector asks.
type when int

const (
	always   when = iota
	atFirst       // before the system is known
	thorough      // for a capture: it takes long on a large machine
	recorded      // not of a live host: others say it better, or asking would change something
	withZFS       // where ZFS runs: its tools load the module
	again         // at the end of a window alone
)

// Area is what a source is about.
type Area string

// The areas, in the order of the documentation.
const (
	Machine     Area = "machine"
	Running     Area = "settings"
	Interfaces  Area = "interfaces"
	Bus         Area = "bus"
	Queueing    Area = "queueing"
	Totals      Area = "counters"
	CPUs        Area = "processors"
	Connections Area = "connections"
	Tables      Area = "tables"
	Filter      Area = "packet filter"
	Storage     Area = "disks"
	Log         Area = "messages"
)

// Areas lists them.
func Areas() []Area {
	return []Area{Machine, Running, Interfaces, Bus, Queueing, Totals, CPUs, Connections, Tables, Filter, Storage, Log}
}

func onLinux() []system.System   { return []system.System{system.Linux} }
func onFreeBSD() []system.System { return []system.System{system.FreeBSD} }
func onOpenBSD() []system.System { return []system.System{system.OpenBSD} }
func onBSDs() []system.System    { return []system.System{system.FreeBSD, system.OpenBSD} }

// collectors is the one list of what is read, in the order of reading. ethtoolReaders are those of each interface.
func collectors() []collector {
	return slices.Concat(firstCollectors(), linuxCollectors(), linuxSlowCollectors(), linuxPathCollectors(),
		pathCollectors(),
		bsdCollectors(), freebsdCollectors(),
		openbsdCollectors(), lateCollectors(), zfsCollectors())
}

func firstCollectors() []collector {
	return []collector{
		{part: "identity", on: system.All(), op: host.Command("uname", "-a"), parse: (*Facts).readIdentity, when: atFirst,
			area: Machine, files: `^uname( -a)?$`},
		{part: "settings", on: system.All(), op: host.Command("sysctl", "-a"), parse: (*Facts).readSettings, when: atFirst,
			area: Running, shown: "`sysctl -a`, or single ones: `sysctl NAME`",
			files: `^sysctl( -a)?( -e)?( [a-z][\w./-]*)*$`, typed: `^sysctl -a.*$`},
		{part: "links", on: onLinux(), op: host.Command("ip", "-s", "-d", "link", "show"), parse: (*Facts).readLinks,
			when: atFirst, sampled: true, area: Interfaces, typed: `^ip .*(link|-s l)( .*)?$`,
			files: `^ip( -(s|d|details?|stat\w*|j))* l(i|ink)?( show| list| ls)?( (dev )?\S+)?$`},
		{part: "ifconfig", on: onBSDs(), op: host.Command("ifconfig", "-a"), parse: (*Facts).readIfconfig, when: atFirst,
			area: Interfaces, files: `^ifconfig( -[avmA]+)*( [\w.]+)?$`, typed: `^ifconfig.*$`},
		{part: "round trips", on: system.All(), op: host.Command("ping"), parse: (*Facts).readPing, when: recorded,
			area: Connections, files: `^ping6?( .*)?$`, typed: `^arping( .*)?$`},
		{part: "virtual memory", on: system.All(), op: host.Command("vmstat"), parse: (*Facts).readVmstat, when: recorded,
			area: CPUs, shown: "`vmstat 1`", files: `^vmstat( -[PwSmMtc]+| \d+)*$`},
		{part: "pool waits", on: []system.System{system.Linux, system.FreeBSD}, op: host.Command("zpool", "iostat", "-l"),
			parse: (*Facts).readPoolWaits, when: recorded, area: Storage, shown: "`zpool iostat -vl`",
			files: `^zpool iostat( \S+)+$`},
		{part: "arc", on: onLinux(), op: host.Read("/proc/spl/kstat/zfs/arcstats"), parse: (*Facts).readArcstats,
			when: atFirst, area: Storage},
	}
}

func linuxCollectors() []collector {
	list := []collector{
		{part: "listeners", op: host.Command("ss", "-ltn"), parse: (*Facts).readListeners, area: Connections,
			files: `^ss -\w*l\w*$`, typed: `^ss -?[a-z]*l[a-z]*( .*)?$`},
		{part: "uptime", op: host.Read("/proc/uptime"), parse: (*Facts).readUptime, sampled: true, area: Machine},
		{part: "flows", op: host.Command("sh", "-c", someFlows), name: "ss -tinm", parse: (*Facts).readFlows,
			sampled: true, area: Connections, files: `^ss( -[\w]*[ai][\w]*)( state \S+)?$`, typed: `^ss( .*)?$`},
		{part: "processors", op: host.Read("/proc/stat"), parse: (*Facts).readStat, sampled: true, area: CPUs},
		{part: "counters", op: host.Read("/proc/net/netstat"), parse: (*Facts).readProcTable, sampled: true, area: Totals},
		{part: "protocols", op: host.Read("/proc/net/snmp"), parse: (*Facts).readProcTable, sampled: true, area: Totals},
		{part: "protocols 6", op: host.Read("/proc/net/snmp6"), parse: (*Facts).readSNMP6, sampled: true, area: Totals},
		{part: "softnet", op: host.Read("/proc/net/softnet_stat"), parse: (*Facts).readSoftnet, sampled: true, area: CPUs},
		{part: "interrupts", op: host.Read("/proc/interrupts"), parse: (*Facts).readInterrupts, sampled: true, area: CPUs},
		{part: "disks", op: host.Read("/proc/diskstats"), parse: (*Facts).readDiskstats, sampled: true, area: Storage},
		{part: "softirqs", op: host.Read("/proc/softirqs"), parse: (*Facts).readSoftirqs, sampled: true, area: CPUs},
		{part: "qdiscs", op: host.Command("tc", "-s", "qdisc", "show"), parse: (*Facts).readQdiscs, sampled: true,
			area: Queueing, files: `^tc( -(s|d))* q(disc)?( show| ls)?( dev \S+)?$`, typed: `^tc .*qdisc.*$`},
		{part: "classes", op: host.Command("tc", "-s", "class", "show"), parse: (*Facts).readClasses, when: recorded,
			area: Queueing, files: `^tc( -(s|d|g))* class( show| ls)?( dev \S+)?$`, typed: `^tc .*class.*$`},
		{part: "policers", op: host.Command("tc", "-s", "filter", "show"), parse: (*Facts).readPolicers, when: recorded,
			area: Queueing, files: `^tc( -(s|d))* (filter|actions?)( .*)?$`, typed: `^tc .*(filter|actions?) .*$`},
		{part: "firewall", op: host.Command("iptables", "-nvL"), parse: (*Facts).readFirewall, when: recorded, area: Filter,
			shown: "`iptables -nvL`, `nft list ruleset`", files: `^ip6?tables( .*)?$`, typed: `^(ip6?tables .*-\w*(L|S).*|nft .*list .*)$`},
		{part: "memory", op: host.Read("/proc/meminfo"), parse: (*Facts).readMeminfo, area: Machine},
		{part: "processor", op: host.Read("/proc/cpuinfo"), parse: (*Facts).readCPUInfo, area: Machine},
		{part: "page size", op: host.Command("getconf", "PAGESIZE"), parse: (*Facts).readPageSize, area: Machine,
			files: `^getconf PAGE_?SIZE$`},
		{part: "distribution", op: host.Read("/etc/os-release"), parse: (*Facts).readOSRelease, area: Machine},
		{part: "interfaces", op: host.Command("sh", "-c", grepInterfaces), name: "/sys/class/net",
			parse: (*Facts).readSysNet},
		{part: "transmit steering", op: host.Command("sh", "-c", grepTransmit), name: "/sys/class/net/*/queues",
			parse: (*Facts).readSysNet},
		{part: "system files", op: host.Command("sh", "-c", grepSystem), name: "/sys", parse: (*Facts).readSystemFiles},
		{part: "addresses", op: host.Command("ip", "-o", "address", "show"), parse: (*Facts).readAddresses, area: Interfaces,
			files: `^ip( -(o|4|6|s|d))* a(d|dd|ddr|ddress)?( show| list| ls)?( (dev )?\S+)?$`},
		{part: "routes", op: host.Command("ip", "route", "show", "table", "main"), parse: (*Facts).readIPRoute, area: Tables,
			files: `^ip( -(4|d|details))* r(o|oute)?( show| list| ls)?( table (main|all))?$`,
			typed: `^ip( -\w+)* r(o|oute)? g(et)? \S+( .*)?$`},
		{part: "neighbours", op: host.Command("ip", "neigh", "show"), parse: (*Facts).readNeighbours, area: Tables,
			files: `^ip( -(s|4|6))* n(ei|eigh|eighbour|eighbor)?( show)?( nud \w+)?$`,
			typed: `^ip( -\w+)* n(ei|eigh|eighbour|eighbor)?( show| list| ls)?( (?:to |dev )?[\w.:-]+)*$`},
		{part: "modules", op: host.Read("/proc/modules"), parse: (*Facts).readModules, area: Machine},
		{part: "sockets", op: host.Read("/proc/net/sockstat"), parse: (*Facts).readSockstat, area: Totals},
		{part: "messages", op: host.Command("dmesg"), parse: (*Facts).readMessages, area: Log,
			files: `^dmesg( -\w+)*(\.boot|\.today)?$`, typed: `^(dmesg|journalctl).*$`},
		{part: "neighbour statistics", op: host.Read("/proc/net/stat/arp_cache"), parse: statColumns("arp_cache"),
			area: Tables},
		{part: "disk descriptions", op: host.Command("sh", "-c", grepDisks), name: "/sys/block",
			parse: (*Facts).readSysBlock},
		{part: "mounts", op: host.Read("/proc/self/mountinfo"), parse: (*Facts).readMountinfo, area: Storage},
		{part: "conntrack statistics", op: host.Read("/proc/net/stat/nf_conntrack"), parse: statColumns("nf_conntrack"),
			area: Tables},
	}
	return each(list, onLinux())
}

// linuxSlowCollectors are read after what ethtool says.
func linuxSlowCollectors() []collector {
	list := []collector{
		{part: "affinity", op: host.Command("sh", "-c", grepAffinity), name: "/proc/irq", parse: (*Facts).readAffinity},
		{part: "lspci", op: host.Command("lspci", "-vv"), parse: (*Facts).readLspci, when: thorough, area: Bus,
			shown: "`lspci -vv`, as root: others are not shown the link",
			files: `^lspci( -\S+| [0-9a-fA-F:.]+)*( -\S*vv\S*)( -\S+| [0-9a-fA-F:.]+)*$`,
			typed: `^lspci .*-[a-z]*v.*$|^lspci -[a-z]*v.*$`},
		{part: "conntrack", op: host.Command("conntrack", "-S"), parse: (*Facts).readConntrack, when: thorough, area: Tables,
			files: `^conntrack (-S|--stats)$`},
		{part: "nstat", op: host.Command("nstat", "-az"), parse: (*Facts).readNstat, when: thorough, area: Totals,
			files: `^nstat( -\S+)*$`, typed: `^nstat.*$`},
		{part: "netstat", op: host.Command("netstat", "-s"), parse: (*Facts).readNetToolsNetstat, when: thorough,
			area:  Totals,
			files: `^netstat( -n| -W)* -s\w*( -?\w+)*$`,
			typed: `^netstat( -[a-zA-Z]*s[a-zA-Z]*)( .*)?$|^netstat( -f inet)? -p (udp|tcp|ip) -s.*$`},
		{part: "block devices", op: host.Command("lsblk", "-o", "NAME,SIZE,ROTA,TYPE,SCHED,MOUNTPOINT"),
			parse: (*Facts).readLsblk, when: thorough, area: Storage, shown: "`lsblk`", files: `^lsblk( -[abto]| [A-Z,:-]+)*$`},
		{part: "disk load", op: host.Command("iostat", "-x"), parse: (*Facts).readIostatExtended, when: thorough,
			area:  Storage,
			files: `^iostat( -\S+)* -\w*x\w*( \S+)*$`},
		{part: "ifconfig", op: host.Command("ifconfig", "-a"), parse: (*Facts).readLinuxIfconfig, when: thorough,
			area: Interfaces},
		{part: "mpstat", op: host.Command("mpstat", "-P", "ALL", "1", "1"), parse: (*Facts).readMpstat, when: thorough,
			area: CPUs, files: `^mpstat -P ALL( -\S+)*( \d+)*$`, typed: `^mpstat.*$`},
		{part: "activity", op: host.Command("sar"), parse: (*Facts).readSar, when: recorded, area: Totals,
			shown: "`sar -n DEV,EDEV,TCP,ETCP,UDP,IP,SOCK`, `sar -u -P ALL`", files: `^sar( .*)?$`},
		{part: "drops", op: host.Command("dropwatch"), parse: (*Facts).readDrops, when: recorded, area: Totals,
			shown: "`dropwatch`, events and reasons of `kfree_skb` by perf, bpftrace, trace-cmd",
			files: `^dropwatch( .*)?$`, typed: `^(perf|bpftrace|trace-cmd|retis|kfree_skb|pwru)( .*)?$`},
		{part: "top", op: host.Command("top"), parse: (*Facts).readTop, when: recorded, area: CPUs,
			shown: "`top`, with 1 pressed for its CPUs", files: `^top( .*)?$`, typed: `^top -\S*P.*$`},
		{part: "device table", op: host.Read("/proc/net/dev"), parse: (*Facts).readNetDev, when: recorded, area: Interfaces},
		{part: "interface table", op: host.Command("netstat", "-idnW"), parse: (*Facts).readLinuxInterfaces, when: recorded,
			area: Interfaces, shown: "`netstat -i`",
			files: `^netstat( -[bdnW]+)* -[bdnW]*(i[bdnW]*|I ?\S+)( -[bdnW]+)*$`,
			typed: `^netstat -[nidbhW]*i[nidbhW]*( -I \S+| -f link)?( .*)?$|^netstat -I ?\S+.*$`},
		{part: "socket table", op: host.Command("netstat", "-an"), parse: (*Facts).readSocketTable, when: recorded,
			area: Connections, files: `^netstat( -[antulpoeWc46vTN]+)+( -?f inet6?)?( -?p (tcp|udp))?$`},
		{part: "datagram table", op: host.Read("/proc/net/udp"), parse: (*Facts).readUDPTable, when: recorded, area: Connections,
			files: `^cat /proc/net/udp6?$`},
		{part: "metrics", op: host.Command("node_exporter"), parse: (*Facts).readMetrics, when: recorded, area: Totals,
			shown: "metrics of `node_exporter`", files: `^(node_exporter|curl .*/metrics)$`},
		{part: "memory in use", op: host.Command("free"), parse: (*Facts).readFree, when: recorded, area: Machine,
			files: `^free( -\S+)*$`},
		{part: "brief links", op: host.Command("ip", "-br", "address", "show"), parse: (*Facts).readBriefLinks, when: recorded,
			area: Interfaces, files: `^ip( -\S+)* -br(ief)?( -\S+)* [al]\w*( [^;&]*)?$`},
		{part: "mii", op: host.Command("mii-tool"), parse: (*Facts).readMiiTool, when: recorded, area: Interfaces,
			files: `^mii-tool( .*)?$`},
		{part: "hardware", op: host.Command("lshw", "-C", "network"), parse: (*Facts).readLshw, when: recorded,
			area: Interfaces, files: `^lshw( .*)?$`},
		{part: "wireless", op: host.Command("iw"), parse: (*Facts).readWireless, when: recorded, area: Interfaces,
			shown: "`iw dev NAME link`, `station dump`, `survey dump`, `get power_save`, `iwconfig`, `iwinfo NAME assoclist`, `nmcli dev wifi`",
			files: `^iw( .*)?$|^iwconfig( .*)?$|^iwinfo( .*)?$`, typed: `^nmcli .*\bw(ifi?)?\b.*$`},
		{part: "usb", op: host.Command("lsusb", "-t"), parse: (*Facts).readUSB, when: recorded, area: Interfaces,
			files: `^lsusb( -\S+)*$`},
		{part: "nfs", op: host.Command("nfsstat"), parse: (*Facts).readNFS, when: recorded, area: Storage,
			shown: "`nfsstat -c`, `nfsstat -m`, `nfsiostat`, lines of `mount` and /proc/mounts of NFS",
			files: `^(nfsstat|nfsiostat|mountstats)( .*)?$`, typed: `^mount( -[lv]+)?( -t nfs4?)?$|^findmnt( .*)?$`},
		{part: "profile", op: host.Command("perf", "top"), parse: (*Facts).readProfile, when: recorded, area: CPUs,
			shown: "`perf top`, `perf report`", files: `^perf (top|report)( .*)?$`},
		{part: "arrays", op: host.Read("/proc/mdstat"), parse: (*Facts).readMdstat, when: recorded, area: Storage},
		{part: "replicated disks", op: host.Read("/proc/drbd"), parse: (*Facts).readDRBD, when: recorded, area: Storage},
		{part: "governor", op: host.Command("cpupower", "frequency-info"), parse: (*Facts).readGovernor, when: recorded,
			area: CPUs, files: `^cpupower( -c \S+)? frequency-info( .*)?$|^cpufreq-info( .*)?$`},
		{part: "processor layout", op: host.Command("lscpu"), parse: (*Facts).readLscpu, when: recorded, area: Machine,
			files: `^lscpu$`},
	}
	return each(list, onLinux())
}

// linuxPathCollectors are those of switches and tunnels that nobody is asked for.
func linuxPathCollectors() []collector {
	list := []collector{
		{part: "rdma", op: host.Command("rdma", "statistic", "show"), parse: (*Facts).readRDMA, when: recorded, area: Totals,
			shown: "`rdma statistic show`, `/sys/class/infiniband/*/ports/*/hw_counters`, `perfquery`, `ibqueryerrors`",
			files: `^rdma statistic show$`, typed: `^rdma( -\w+)* stat\w*( .*)?$|^(perfquery|ibqueryerrors)( .*)?$`},
		{part: "teams", op: host.Command("teamdctl", "state"), parse: (*Facts).readTeam, when: recorded, area: Interfaces,
			shown: "`teamdctl NAME state`", files: `^teamdctl( \S+)* state( view)?( -v)?$`},
		{part: "fabric links", op: host.Command("ibstat"), parse: (*Facts).readFabricLinks, when: recorded, area: Interfaces,
			shown: "`ibstat`, `ibstatus`, `iblinkinfo`", files: `^ibstat( .*)?$`, typed: `^(ibstatus|iblinkinfo)( .*)?$`},
		{part: "retransmitted segments", op: host.Command(Retransmits), parse: (*Facts).readRetransmits, when: recorded,
			area: Connections, shown: "`tcpretrans` of bcc and bpftrace, maps of bpftrace of retransmits by peer",
			files: `^tcpretrans(-bpfcc|\.bt|\.py)?( .*)?$`},
		{part: "memory pressure", op: host.Read(PressureOfMemory), parse: (*Facts).readPressure, when: recorded,
			area: Machine},
		{part: "switch threads", op: host.Command("ovs-appctl", "dpif-netdev/pmd-stats-show"), parse: (*Facts).readSwitches,
			when: recorded, area: CPUs,
			shown: "`ovs-appctl dpif-netdev/pmd-stats-show` and `pmd-rxq-show`, VPP's `show runtime`",
			files: `^ovs-appctl .*pmd-(stats|rxq)-show.*$|^vppctl show? run\w*( .*)?$`},
		{part: "switch errors", op: host.Command("vppctl", "show", "errors"), parse: (*Facts).readVPPErrors, when: recorded,
			area: Totals, files: `^vppctl sh(ow)? err\w*$`},
		{part: "cilium metrics", op: host.Command("cilium", "metrics", "list"), parse: (*Facts).readCilium, when: recorded,
			area: Totals, shown: "metrics of Cilium's agent", files: `^cilium(-dbg)? (bpf )?metrics( .*)?$`},
		{part: "ipsec", op: host.Read("/proc/net/xfrm_stat"), parse: (*Facts).readXfrmStat, when: recorded, area: Totals},
		{part: "ipsec associations", op: host.Command("ip", "-s", "xfrm", "state"), parse: (*Facts).readXfrmState,
			when: recorded, area: Connections, files: `^ip( -[sd]+)* x(frm)? s(tate)?( .*)?$`},
	}
	return each(list, onLinux())
}

// pathCollectors are those of tools and programs that every system has.
func pathCollectors() []collector {
	list := []collector{
		{part: "speed tests", op: host.Command("speedtest"), parse: (*Facts).readSpeedTests, when: recorded, area: Connections,
			shown: "what `speedtest`, `speedtest-cli`, `flent`, `irtt`, `networkQuality` and betterspeedtest.sh printed",
			files: `^speedtest(-cli)?( .*)?$`,
			typed: `^python[23]? .*speedtest\S*.*$|^flent .*$|^irtt client .*$|^networkQuality( .*)?$|` +
				`^(sh |\./)?\S*(betterspeedtest|netperfrunner)\S*( .*)?$`},
		{part: "modem", op: host.Command(ModemStatus), parse: (*Facts).readModem, when: recorded, area: Connections,
			shown: "the status of DSL, cable and mobile modems: `dsl_control status`, `xdslctl info --stats`, tables of " +
				"channels, `mmcli --signal-get`",
			files: `^modem status$`, typed: `^\S*dsl_control .*$|^(xdslctl|adsl) info.*$|^mmcli .*$|^qmicli .*signal.*$`},
		{part: "guest cards", op: host.Command("virsh", "domiflist"), parse: (*Facts).readGuestCards, when: recorded,
			area: Interfaces, shown: "`virsh domiflist` and `dumpxml`, `qm config`: the cards of virtual machines",
			files: `^virsh domiflist( \S+)?$`, typed: `^virsh (.* )?(domiflist|dumpxml|edit)( .*)?$|^qm (config|showcmd) .*$|^(qemu|kvm)\S* .*$`},
		{part: "osd latencies", op: host.Command("ceph", "osd", "perf"), parse: (*Facts).readOSDs, when: recorded,
			area: Storage, files: `^ceph osd perf$`, typed: `^(\S+ )*ceph osd perf( .*)?$`},
		{part: "alarms", op: host.Command(Alarms), parse: (*Facts).readAlarms, when: recorded, area: Totals,
			shown: "alarms of netdata", files: `^netdata alarms$`},
		{part: "server statistics", op: host.Command(ProgramStats), parse: (*Facts).readProgramStats, when: recorded,
			area: Totals, shown: "statistics of HAProxy, Envoy, Varnish, memcached, Redis, MySQL, `cpu.stat` of control groups",
			files: `^server statistics$`},
		{part: "tunnels", op: host.Command("tailscale", "status"), parse: (*Facts).readTailscale, when: recorded,
			area: Connections, shown: "`tailscale status`, `netcheck`, `ping`", files: `^tailscale( .*)?$`},
		{part: "path", op: host.Command("mtr"), parse: (*Facts).readTrace, when: recorded, area: Connections,
			shown: "reports of `mtr` and WinMTR, `traceroute`, `tracepath`, `tracert`",
			files: `^(mtr|traceroute6?|tracepath6?|tracert)( .*)?$`},
		{part: "requests", op: host.Command("curl"), parse: (*Facts).readRequests, when: recorded, area: Connections,
			shown: "times shown by `curl -w`, `dig`, `time` (of `nslookup`, `curl`, `nc`) and HAProxy's log",
			files: `^curl$`, typed: `^curl .*(-w|--write-out|-\w*w) .*$|^(dig|nslookup|host|getent hosts) .*$`},
		{part: "load tests", op: host.Command("wrk"), parse: (*Facts).readLoadTests, when: recorded, area: Connections,
			shown: "summaries of `wrk` and `ab`", files: `^wrk$`, typed: `^(taskset (-\w )?\S+ )?(wrk2?|ab) .*$`},
		{part: "copies", op: host.Command("scp"), parse: (*Facts).readCopies, when: recorded, area: Connections,
			shown: "the progress of `scp`, `sftp` and `rsync`", files: `^(scp|sftp|rsync)( .*)?$`},
		{part: "program buffers", op: host.Command("testparm"), parse: (*Facts).readProgramBuffers, when: recorded,
			area: Connections, shown: "lines of smb.conf, rsyncd.conf, nginx, HAProxy, Apache, Squid and OpenVPN that set socket buffers",
			files: `^testparm( .*)?$|^cat \S+/(smb|rsyncd|nginx|haproxy|squid|server|client)\.(conf|cfg|ovpn)$`},
		{part: "wireguard", op: host.Command("wg", "show"), parse: (*Facts).readWireGuard, when: recorded,
			area: Connections, files: `^wg( show)?( \S+)?$`},
		{part: "ipsec peers", op: host.Command("swanctl", "--list-sas"), parse: (*Facts).readIPsecSAs, when: recorded,
			area: Connections, shown: "`swanctl --list-sas`, `ipsec statusall`", files: `^(swanctl( .*)?|ipsec status(all)?|show vpn ipsec sa)$`},
	}
	return each(list, system.All())
}

// bsdCollectors are those of both that come before their own.
func bsdCollectors() []collector {
	return []collector{
		{part: "wireless", on: onFreeBSD(), op: host.Command("airport", "-I"), parse: (*Facts).readWireless, when: recorded, area: Interfaces,
			shown: "`airport -I`, `wdutil info` and `system_profiler SPAirPortDataType` of macOS",
			typed: `^(\S*/)?airport -I$|^wdutil info$|^system_profiler SPAirPortDataType$`},
		{part: "top", on: onFreeBSD(), op: host.Command("top", "-Pb", "-d", "2", "-s", "1", "0"), name: "top",
			parse: (*Facts).readTop, when: thorough, area: CPUs, shown: "`top -P`, `top -SH` for the threads of the kernel"},
		{part: "disk load", on: onFreeBSD(), op: host.Command("gstat", "-b"), parse: (*Facts).readGstat, when: thorough,
			area: Storage, files: `^gstat( -\S+)*( \S+)*$`},
		{part: "disk means", on: onFreeBSD(), op: host.Command("iostat", "-x"), parse: (*Facts).readIostatExtended,
			when: thorough, area: Storage},
		{part: "disk load", on: onOpenBSD(), op: host.Command("iostat", "-D"), parse: (*Facts).readIostat, when: thorough,
			area: Storage, files: `^iostat -D( \S+)*$`},
		{part: "disk transfers", on: onBSDs(), op: host.Command("iostat"), parse: (*Facts).readIostat, when: thorough,
			area: Storage, files: `^iostat( [\w.-]+)*$`},
		{part: "devices", on: onFreeBSD(), op: host.Command("camcontrol", "devlist"), parse: (*Facts).readCamcontrol,
			when: thorough, area: Storage, files: `^camcontrol devlist( -v)?$`},
		{part: "counters", on: onBSDs(), op: host.Command("netstat", "-s"), parse: (*Facts).readBSDNetstat, sampled: true,
			area: Totals},
		{part: "mbufs", on: onBSDs(), op: host.Command("netstat", "-m"), parse: (*Facts).readMbufs, area: Totals,
			files: `^netstat -m(n)?$`, typed: `^netstat -[mn]+$`},
		{part: "packet filter", on: onBSDs(), op: host.Command("pfctl", "-si"), parse: (*Facts).readPfctl, area: Filter,
			files: `^pfctl (-v+ )?-v?s ?i(nfo)?( -v+)?$`, typed: `^pfctl -v*s ?i(nfo)?.*$`},
		{part: "packet filter queues", on: onBSDs(), op: host.Command("pfctl", "-vsq"), parse: (*Facts).readPfQueues,
			when: recorded, area: Queueing, files: `^pfctl (-v+ )?-v*s ?q(ueue)?( -v+)?$`, typed: `^pfctl .*-v*s ?q(ueue)?.*$`},
		{part: "shapers", on: onFreeBSD(), op: host.Command("ipfw", "pipe", "show"), parse: (*Facts).readDummynet,
			when: recorded, area: Queueing, shown: "`ipfw pipe show`, `ipfw queue show`, `dnctl pipe show`",
			files: `^ipfw( -\w+)*( \d+)? (pipe|queue|sched)s?( \d+)* (show|list)( \d+)*$`,
			typed: `^(ipfw|dnctl)( .*)? (pipe|queue|sched)s?( .*)? (show|list)( .*)?$`},
		{part: "packet filter limits", on: onBSDs(), op: host.Command("pfctl", "-sm"), parse: (*Facts).readPfLimits,
			area: Filter, files: `^pfctl -s ?m(emory)?$`, typed: `^pfctl -v*s ?m(emory)?.*$`},
	}
}

func freebsdCollectors() []collector {
	list := []collector{
		{part: "zones", op: host.Command("vmstat", "-z"), parse: (*Facts).readZones, area: Totals, files: `^vmstat -z$`,
			typed: `^vmstat -z.*$`},
		{part: "interface counters", op: host.Command("netstat", "-idnW"), parse: (*Facts).readNetstatInterfaces,
			sampled: true, area: Interfaces},
		{part: "interrupts", op: host.Command("vmstat", "-ia"), parse: (*Facts).readVmstatInterrupts, sampled: true,
			area: CPUs, files: `^vmstat -(ia|i|ai)$`, typed: `^vmstat -[aiw]*i[aiw]*.*$`},
		{part: "ticks", op: host.Command("sysctl", "kern.cp_times"), parse: (*Facts).readCPTimes, when: again},
		{part: "netisr", op: host.Command("netstat", "-Q"), parse: (*Facts).readNetISR, area: Totals, files: `^netstat -Q$`,
			typed: `^netstat -[a-zA-Z]*Q.*$`},
		{part: "listeners", op: host.Command("netstat", "-Lan"), parse: (*Facts).readBSDListeners, area: Connections,
			files: `^netstat -(L|La|Lan|aLn|anL|Ln)$`, typed: `^netstat -[naLf]*L[naL]*( .*)?$`},
		{part: "flows", op: host.Command("netstat", "-xn", "-p", "tcp"), parse: (*Facts).readBSDFlows, sampled: true,
			area:  Connections,
			files: `^netstat -(x|xn|xan|nx|anx)( -p tcp| -ptcp)?( head)?$`, typed: `^netstat -[naTx]*x[naT]*.*$`},
		{part: "routes", op: host.Command("netstat", "-rnW"), parse: (*Facts).readBSDRoutes, area: Tables,
			files: `^netstat -(rn|nr)W?( -f \w+)?$`},
		{part: "pcie", op: host.Command("pciconf", "-lvc"), parse: (*Facts).readPciconf, area: Bus,
			files: `^pciconf -l[vcbe]*( -\w+)*$`, typed: `^pciconf .*$`},
		{part: "modules", op: host.Command("kldstat"), parse: (*Facts).readKldstat, area: Machine, files: `^kldstat( -v)?$`},
		{part: "host cache", op: host.Command("sysctl", "net.inet.tcp.hostcache.list"), parse: (*Facts).readHostcache,
			area: Connections, files: `^sysctl (-n )?net\.inet\.tcp\.hostcache\.list$`},
		{part: "usb", op: host.Command("usbconfig"), parse: (*Facts).readUSBConfig, when: recorded, area: Interfaces,
			files: `^usbconfig( list| show_ifdrv)?$`},
		{part: "disks", op: host.Command("iostat", "-Ix"), parse: (*Facts).readIostatExtended, sampled: true, area: Storage,
			files: `^iostat -(\w*I\w*x|\w*x\w*I)\w*( \S+)*$`},
		{part: "disk descriptions", op: host.Command("geom", "disk", "list"), parse: (*Facts).readGeomDisks, area: Storage,
			files: `^geom disk list( \S+)?$`},
		{part: "boot", op: host.Command("kenv"), parse: (*Facts).readKenv, area: Running, files: `^kenv$`},
	}
	return each(list, onFreeBSD())
}

func openbsdCollectors() []collector {
	list := []collector{
		{part: "interface counters", op: host.Command("netstat", "-idn"), parse: (*Facts).readNetstatInterfaces,
			sampled: true, area: Interfaces},
		{part: "interrupts", op: host.Command("vmstat", "-i"), parse: (*Facts).readVmstatInterrupts, sampled: true,
			area: CPUs},
		{part: "routes", op: host.Command("netstat", "-rn"), parse: (*Facts).readBSDRoutes, area: Tables},
		{part: "features", op: host.Command("ifconfig", "hwfeatures"), parse: (*Facts).readHWFeatures, area: Interfaces,
			files: `^ifconfig hwfeatures.*$|^ifconfig \S+ hwfeatures$`},
		{part: "pcie", op: host.Command("pcidump", "-v"), parse: (*Facts).readPcidump, area: Bus, files: `^pcidump -v+$`,
			typed: `^pcidump .*$`},
		{part: "disks", op: host.Command("iostat", "-DI"), parse: (*Facts).readIostat, sampled: true, area: Storage,
			files: `^iostat -(DI|ID)( \S+)*$`},
		{part: "processors", op: host.Command("systat", "-ab", "-d", "2", "cpu", "1"), parse: (*Facts).readSystatCPU,
			when: thorough, sampled: true, area: CPUs, shown: "`systat -b cpu`", files: `^systat( -\S+)*( \d+)? cpu( \d+)?$`},
		{part: "top", op: host.Command("top", "-1b", "-d", "2", "-s", "1"), name: "top", parse: (*Facts).readTop,
			when: thorough, area: CPUs, shown: "`top -1`"},
		{part: "queue table", op: host.Command("systat", "-b", "queues"), parse: (*Facts).readSystatQueues, when: recorded,
			area: Queueing, shown: "`systat queues`", files: `^systat( -\S+)*( \d+)? queues( \d+)?$`},
		{part: "pools", op: host.Command("vmstat", "-m"), parse: (*Facts).readPools, when: recorded, area: Totals,
			files: `^vmstat -v*m$`},
		{part: "driver counters", op: host.Command("kstat"), parse: (*Facts).readKstat, when: recorded, area: Interfaces,
			files: `^kstat( .*)?$`},
		{part: "receive rings", op: host.Command("systat", "-ab", "mbufs"), parse: (*Facts).readSystatMbufs, when: thorough,
			area: Interfaces, shown: "`systat -b mbufs`", files: `^systat( -\S+)*( \d+)? mbufs( \d+)?$`},
	}
	return each(list, onOpenBSD())
}

// lateCollectors add to what the others found.
func lateCollectors() []collector {
	return []collector{
		{part: "interface rates", on: onBSDs(), op: host.Command("netstat", "-w", "1"), parse: (*Facts).readNetstatRates,
			when: recorded, area: Interfaces, files: `^netstat( -\S+| [a-z]+\d+)* -[a-zA-Z]*w( ?\d+)?( .*)?$`},
		{part: "interface traffic", on: onFreeBSD(), op: host.Command("systat", "-ifstat"), parse: (*Facts).readIfstat,
			when: recorded, area: Interfaces, files: `^systat -?ifstat( .*)?$`},
		{part: "system activity", on: onBSDs(), op: host.Command("systat", "-vm"), parse: (*Facts).readSystatVM,
			when: recorded, area: CPUs, files: `^systat( -b)? -?(vm|vmstat)( \d+)?$`},
		{part: "protocol rates", on: onFreeBSD(), op: host.Command("systat", "-ip"), parse: (*Facts).readSystatIP,
			when: recorded, area: Totals, files: `^systat -?ip( \d+)?$`},
		{part: "programs' sockets", on: onFreeBSD(), op: host.Command("sockstat"), parse: (*Facts).readSockstatTable,
			when: recorded, area: Connections, files: `^sockstat( .*)?$`},
		{part: "handshakes", on: system.All(), op: host.Command("tcpdump"), parse: (*Facts).readPackets, when: recorded,
			area: Connections, shown: "the text of `tcpdump` and `tshark`: handshakes, retransmitted and " +
				"unanswered segments",
			files: `^(tcpdump|tshark)( .*)?$`},
		{part: "messages", on: onBSDs(), op: host.Command("dmesg"), parse: (*Facts).readMessages, area: Log},
		{part: "socket table", on: onBSDs(), op: host.Command("netstat", "-an"), parse: (*Facts).readSocketTable,
			when: recorded, area: Connections},
		{part: "nfs", on: onBSDs(), op: host.Command("nfsstat"), parse: (*Facts).readNFS, when: recorded, area: Storage,
			shown: "`nfsstat -c`", files: `^nfsstat( .*)?$`},
		{part: "counters of other tools", on: system.All(), op: host.Command(OtherCounters), parse: (*Facts).readLossCounts,
			when: recorded, area: Totals, shown: "loss and packet counters of any other tool", files: `^other-counters$`},
		{part: "program log", on: system.All(), op: host.Command(Reports), parse: (*Facts).readReports, when: recorded, area: Log,
			shown: "messages of any program that report a failure", files: `^program-log$`},
		{part: "transfers", on: system.All(), op: host.Command("iperf3"), parse: (*Facts).readTransfers, when: recorded,
			area: Connections, shown: "the output of `iperf3` at the sender", files: `^iperf3?( .*)?$`,
			typed: `^(netperf|nuttcp)( .*)?$`},
	}
}

// zfsCollectors are asked where ZFS runs alone.
func zfsCollectors() []collector {
	list := []collector{
		{part: "pools", op: host.Command("zpool", "list", "-p"), parse: (*Facts).readZpoolList,
			shown: "`zpool list`", files: `^zpool list( -\S+)*( \S+)?$`},
		{part: "pool status", op: host.Command("zpool", "status"), parse: (*Facts).readZpoolStatus,
			files: `^zpool status( -\S+)*( \S+)?$`},
		{part: "datasets", op: host.Command("sh", "-c", someDatasets), name: "zfs get all", parse: (*Facts).readZfsGet,
			files: `^zfs get( \S+)+$`},
	}
	for i := range list {
		list[i].when, list[i].area = withZFS, Storage
	}
	return each(list, []system.System{system.Linux, system.FreeBSD})
}

func each(list []collector, on []system.System) []collector {
	for i := range list {
		list[i].on = on
	}
	return list
}
