package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// reported finds failures that a log tells in words for which no rule has a form. Its findings are possible causes, and
// are told only where no other rule found one.
func reported() Rule {
	return Rule{
		ID: "log-reports-failure", Title: "A log message reports a failure",
		Needs: []string{"messages|program log"}, Severity: Info, LastResort: true,
		Because: "The program itself reports the failure; the message alone does not show the cause.",
		Confirm: "The message appears when the problem occurs, and not at other times.",
		Check:   func(in Input) []Finding { return reportsIn(in.Facts) },
		Fires: linuxExample("dmesg", "Mar  4 11:02:59 edge1 relayd[881]: send queue to peer 192.0.2.7 is full, "+
			"dropping\nMar  4 11:03:04 edge1 relayd[881]: send queue to peer 192.0.2.7 is full, dropping\n"),
		Quiet: linuxExample("dmesg", "Mar  4 11:02:59 edge1 relayd[881]: send queue length set to 512\n"),
	}
}

// A line in a log of more than shortLog lines counts where it comes again, one that the program does not call a warning
// already in a log of more than fewLines.
const (
	shortLog = 40
	fewLines = 6
)

// mostReports bounds the findings from one log, the others what is told apart in it.
const (
	mostReports  = 2
	mostPeers    = 64
	mostPrograms = 256
)

// reportGroup is what a program reports of one kind.
type reportGroup struct {
	program string
	failure facts.Failure
	text    *reportText
	lines   []facts.Source
	n, loud int
	lost    uint64
	peers   map[string]int
}

// reportsIn are the failures that are told most, those first that explain others.
func reportsIn(f *facts.Facts) (out []Finding) {
	var groups []*reportGroup
	for _, log := range []string{"dmesg", facts.Reports} {
		report := facts.ReportOf
		if log == facts.Reports {
			report = facts.UnstampedReport
		}
		for i, line := range f.Lines(log) {
			if r, ok := report(line); ok {
				groups = joined(groups, r, line, f.Line(log, i+1))
			}
		}
	}
	all := len(f.Lines("dmesg")) + len(f.Lines(facts.Reports))
	groups = slices.DeleteFunc(groups, func(g *reportGroup) bool {
		return g.n < 2 && (all > shortLog || g.loud == 0 && all > fewLines) || g.failure == facts.Filtered && g.n < 2
	})
	groups = withUnansweredDHCP(groups, f)
	slices.SortStableFunc(groups, func(a, b *reportGroup) int {
		return cmp.Or(cmp.Compare(a.order(), b.order()), cmp.Compare(b.n, a.n))
	})
	for _, g := range groups[:min(len(groups), mostReports)] {
		out = append(out, g.finding())
	}
	return out
}

// What a DHCP client logs again and again while nobody answers, and where somebody does. A server's line of a request names the
// client or its own interface.
var (
	dhcpAsk    = regexp.MustCompile(`(?i)\bdhcp_?discover\b(?: on\b|[^( ]|$| [^f])|\b(?:sending|broadcasting) (?:a )?(?:dhcp )?discover\b`)
	dhcpAnswer = regexp.MustCompile(`(?i)\bdhcp(?:offer|ack)\b|\blease of\b|\bbound to\b|\b(?:offered|leased?) \d|lease obtained|` +
		`state changed .*\bbound`)
)

// withUnansweredDHCP adds requests of a log that came often and were never answered, to what the client says of it.
func withUnansweredDHCP(groups []*reportGroup, f *facts.Facts) []*reportGroup {
	lines, n := matching(f, dhcpAsk)
	_, answers := matching(f, dhcpAnswer)
	if n < often || answers > 0 {
		return groups
	}
	if i := slices.IndexFunc(groups, func(g *reportGroup) bool { return g.program == "DHCP" }); i >= 0 {
		groups[i].n, groups[i].loud = groups[i].n+n, groups[i].loud+n
		return groups
	}
	return append(groups, &reportGroup{program: "DHCP", failure: facts.Silent, text: silentDHCP, lines: lines, n: n, loud: n})
}

// order is the place of a group: a message of which more is known than its kind comes first.
func (g *reportGroup) order() facts.Failure {
	if g.text != reportTexts[g.failure] {
		return facts.NoFailure
	}
	return g.failure
}

// joined adds a report to the group of its program and failure, or of its message where that is known.
func joined(groups []*reportGroup, r facts.Report, line string, at facts.Source) []*reportGroup {
	text := reportTexts[r.Failure]
	if i := slices.IndexFunc(knownReports, func(k knownReport) bool { return k.form.MatchString(line) }); i >= 0 {
		text = &knownReports[i].reportText
		r.Program = cmp.Or(knownReports[i].subject, r.Program)
	}
	i := slices.IndexFunc(groups, func(g *reportGroup) bool { return g.program == r.Program && g.text == text })
	if i < 0 {
		if len(groups) >= mostPrograms {
			return groups
		}
		i, groups = len(groups), append(groups, &reportGroup{program: r.Program, failure: r.Failure, text: text, peers: map[string]int{}})
	}
	g := groups[i]
	if g.n++; !r.Quiet {
		g.loud++
	}
	g.lost += r.Count
	if r.Peer != "" && (g.peers[r.Peer] > 0 || len(g.peers) < mostPeers) {
		g.peers[r.Peer]++
	}
	g.lines = append(g.lines[:min(len(g.lines), 1)], at) // the first and the last
	return groups
}

// peer is the address that most of the lines name, and whether it is the only one.
func (g *reportGroup) peer() (most string, only bool) {
	for p, n := range g.peers {
		if n > g.peers[most] || n == g.peers[most] && p < most {
			most = p
		}
	}
	return most, len(g.peers) == 1
}

func (g *reportGroup) finding() Finding {
	summary, action := g.text.summary, g.text.do
	if g.lost > 0 {
		summary += fmt.Sprintf(", %d lost", g.lost)
	}
	if peer, only := g.peer(); peer != "" && g.text.peer {
		if only {
			summary += ": " + peer
		}
		if strings.HasPrefix(peer, "127.") || peer == "::1" {
			action = "the other end is on this host: check that it runs and listens (ss -ltnp), its log at that " +
				"time, and whether it waits for CPU, memory or disk (vmstat 1, cat /proc/pressure/*)"
		} else {
			action = "ping -c 100 " + peer + " and mtr -rwbzc 100 " + peer + "; " + action
		}
	}
	found := one(cmp.Or(g.program, "log"), g.lines, "%s (%s%s)", summary, counted(g.n, "message"), within(g.lines))
	found[0].Because = g.text.because
	if g.failure == facts.Lost && g.lost >= warningCount || g.text != reportTexts[g.failure] && g.n >= often && g.loud > 0 && !g.text.ordinary {
		found = with(Warning, found)
	}
	return decisive(do(action, found))[0]
}

// often is how many times a known message has to come to be more than a hint.
const often = 3

// clockIn is the time of day, or the seconds since the start, of a line.
var clockIn = regexp.MustCompile(`^(.*?)(?:\b(\d\d):(\d\d):(\d\d)\b|\[ *(\d{1,9})\.\d{3,9}\])`)

// within says in what time the first and the last of several lines came, where both are of one day.
func within(lines []facts.Source) string {
	if passed := elapsed(lines); passed > 0 {
		return " in " + passed.String()
	}
	return ""
}

// elapsed is the time between the first two lines, 0 where they do not tell.
func elapsed(lines []facts.Source) time.Duration {
	if len(lines) < 2 {
		return 0
	}
	first, last := clockIn.FindStringSubmatch(lines[0].Text), clockIn.FindStringSubmatch(lines[1].Text)
	if first == nil || last == nil || first[1] != last[1] {
		return 0
	}
	seconds := func(m []string) (sum int) {
		for i, unit := range []int{3600, 60, 1, 1} {
			v, _ := strconv.Atoi(m[i+2])
			sum += v * unit
		}
		return sum
	}
	return max(time.Duration(seconds(last)-seconds(first))*time.Second, 0)
}

// reportText is what a failure means, and what to do about it; peer tells that the address in the line is where to look,
// ordinary that servers without a problem log it too.
type reportText struct {
	summary, because, do string
	peer, ordinary       bool
}

// knownReport is a message of which more is known than its kind.
type knownReport struct {
	form    *regexp.Regexp
	subject string
	reportText
}

// silentDHCP is what a client means that gets no lease.
var silentDHCP = &reportText{summary: "no DHCP server answered",
	because: "Without a lease, the interface has no address and no route. The request or its answer is lost, or there is no " +
		"server on this network.",
	do: "run tcpdump -nei IF port 67 or port 68: if no offer arrives, check the link, the VLAN ID and the server (an ISP may " +
		"accept only the MAC address of its own router until the modem is restarted); if offers arrive, a local filter drops them"}

var knownReports = []knownReport{
	{regexp.MustCompile(`(?i)\bno dhcpoffers\b|\bno working leases\b|\bno lease, failing\b|\bdhcp\w*\b.*\btimed out\b`), "DHCP", *silentDHCP},
	{regexp.MustCompile(`^xx drop \((?:CT: Map insertion failed|No mapping for NAT masquerade)`), "cilium", reportText{
		summary: "packets were dropped because a connection table is full",
		because: "Cilium keeps connections and translations in eBPF maps of fixed size; new connections are " +
			"dropped when a map is full.",
		do: "compare the number of entries (cilium bpf ct list global | wc -l) with bpf-ct-global-tcp-max and " +
			"bpf-ct-global-any-max in the ConfigMap cilium-config, and raise these or bpf-map-dynamic-size-ratio"}},
	{regexp.MustCompile(`(?:drop|DROPPED).*(?:FIB lookup failed|FIB_LOOKUP_FAILED)`), "cilium", reportText{
		summary: "packets were dropped because the route or neighbour lookup failed",
		because: "The node has no route to the destination, or no neighbour entry for the next hop.",
		do: "on the node, run ip route get ADDRESS and ip neigh show for the destinations in the messages; the " +
			"number after the reason means: 4 no unicast route, 5 forwarding is disabled (sysctl -w " +
			"net.ipv4.conf.all.forwarding=1), 7 no neighbour entry"}},
	{regexp.MustCompile(`(?:drop|DROPPED).*(?:Policy denied|POLICY_DENIED)`), "cilium", reportText{summary: "a network policy denied packets",
		because: "No policy of the endpoint allows this traffic: connections time out instead of being refused.",
		do: "hubble observe --verdict DROPPED (or cilium policy trace) shows which identities are denied; if they " +
			"need to communicate, allow them in a network policy"}},
	{facts.SaturatedForm, "openvpn", reportText{summary: "the queue of a client was full, and packets were dropped",
		because: "Over TCP, OpenVPN queues only a few packets for a client that is slower than the traffic to it, " +
			"and drops the rest. TCP inside the tunnel retransmits on top of the retransmissions outside.",
		do: "use UDP for the tunnel (proto udp); if it must be TCP, enlarge the queue (tcp-queue-limit 256, " +
			"bcast-buffers 1024), and with dev tap keep broadcasts out of the tunnel"}},
	{regexp.MustCompile(`(?:\bcode: 55\b|\berrno[ =]+55\b|os error 55\b).*No buffer space available|` +
		`No buffer space available \((?:os error 55|\S*tcp\.cpp:\d+)\)`), "sockets", reportText{
		summary: "a socket operation failed with \"no buffer space\" (ENOBUFS)",
		because: "When a program starts, the usual cause is a socket buffer larger than kern.ipc.maxsockbuf " +
			"allows, which FreeBSD and macOS refuse; later, it is a full send queue or exhausted network memory.",
		do: "compare the buffer sizes in the program's configuration with sysctl kern.ipc.maxsockbuf (on FreeBSD " +
			"it must be at least 9/8 of the size); if they fit, check netstat -m for denied requests and netstat " +
			"-id for drops on the send queue"}},
	{regexp.MustCompile(`Unreasonably long \d+ms poll interval|blocked \d+ ms waiting for \S+ to quiesce`), "", reportText{
		summary: "a thread was busy or blocked for a second or more",
		because: "Meanwhile, new flows wait for ovs-vswitchd or the OVN daemon, and probes time out. If the " +
			"message shows much user and system time, the thread had too much work (a large flow or routing " +
			"table); if little, the host was short of CPU or memory.",
		do: "find the thread with top -H -p $(pidof ovs-vswitchd), the number of flows with ovs-appctl " +
			"upcall/show, and the kind of work with ovs-appctl coverage/show; keep a full Internet routing table " +
			"out of Open vSwitch's network namespace"}},
	{regexp.MustCompile(`(?i)received an invalid passwd`), "VRRP", reportText{
		summary: "advertisements of another router were dropped because its password differs",
		because: "A backup that accepts no advertisements becomes master too, and two routers then answer for the " +
			"same address.",
		do: "set the same auth_pass (8 characters at most) in the vrrp_instance block of keepalived.conf on all " +
			"routers with this virtual_router_id; if the other router belongs to another group, give one of the " +
			"groups another virtual_router_id"}},
	{regexp.MustCompile(`(?i)received lower prio\w* advert|advert from \S+ with lower priority|receive advertisement timeout`), "VRRP", reportText{
		summary: "a backup took over because the master's advertisements did not arrive in time",
		because: "A backup takes over after about 3 missed advertisements: the master was down or too busy to " +
			"send them, or multicast (IP protocol 112) is lost between the two. While both are master, both " +
			"answer for the address.",
		do: "capture on both (tcpdump -ni IF proto 112): if the master sends late, check its CPU and disk load " +
			"(vrrp_rt_priority 50 in global_defs helps); if advertisements are lost, use " +
			"unicast_peer or fix IGMP snooping; advert_int 2 " +
			"tolerates longer gaps"}},
	{regexp.MustCompile(`(?i)via TCP but not UDP`), "memberlist", reportText{
		summary: "another node is reachable over TCP but not over UDP",
		because: "The nodes of Docker Swarm, Consul and Nomad probe each other over UDP; a node that does not " +
			"answer is marked as failed, and the names and addresses of its containers disappear.",
		do: "allow UDP in both directions between all nodes: port 7946 for Docker Swarm (and 4789 for VXLAN), " +
			"8301 for Consul, 4648 for Nomad; check firewalls and security groups, and test for UDP loss (iperf3 " +
			"-u)"}},
	{regexp.MustCompile(`(?i)hold ?timer expired`), "BGP", reportText{
		summary: "a session went down because nothing arrived from the peer within the hold time", peer: true,
		because: "Keepalives and updates share one TCP connection: a lost segment delays everything after it. The " +
			"path loses packets (full-sized updates, if its MTU is smaller), or the peer was too busy to send.",
		do: "check the path between the session's addresses for loss and MTU (ping -M do -s 1472 PEER, mtr PEER), " +
			"the TCP connection (ss -tinp sport = :179 or dport = :179 shows retrans and unsent data), and the " +
			"CPU load of both ends at that time"}},
	{regexp.MustCompile(`\bBGP not established with\b|\b(?:Active|Connect|Idle|OpenSent)\s+Socket: `), "BGP", reportText{
		summary: "sessions are not established", peer: true,
		because: "Without the session, its routes are missing, and traffic to the networks behind that peer is " +
			"dropped or takes another path.",
		do: "check that the BGP daemon of the peer is running and has this address as a neighbour with the " +
			"correct AS number, and that port 179 is reachable (nc -zv PEER 179)"}},
	{regexp.MustCompile(`upstream connect error or disconnect/reset before headers`), "envoy", reportText{
		summary: "the proxy could not connect to the upstream, or lost the connection",
		because: "\"connection failure\": nothing accepted the connection; \"connection termination\": the " +
			"upstream closed it, often because its keep-alive timeout is shorter than the proxy's; \"connection " +
			"timeout\": no answer to the SYN.",
		do: "check that the upstream runs and listens on the port of its Service (kubectl get endpoints), and " +
			"check the response flags in the proxy's access log (UF, UC, URX); if the upstream closes " +
			"connections, make its keep-alive timeout longer than the proxy's idle timeout"}},
	{regexp.MustCompile(`Aborted connection .*\(Got timeout (?:reading|writing)`), "MySQL", reportText{
		summary: "the server closed connections that were idle for longer than its timeout", ordinary: true,
		because: "A client that keeps a connection in its pool for longer than wait_timeout gets an error the next time it " +
			"uses it. With a timeout of seconds (net_read_timeout), the client or the path stalled in the middle of a request.",
		do: "compare SHOW VARIABLES LIKE '%timeout' with the interval of the messages; let the pool discard connections before " +
			"wait_timeout (HikariCP maxLifetime, SQLAlchemy pool_recycle), or raise it"}},
	{regexp.MustCompile(`Aborted connection .*\(Got an error (?:reading|writing)`), "MySQL", reportText{
		summary: "clients disconnected without closing their connections",
		because: "A client program ended or crashed, its own or a proxy's timeout expired, a packet was larger than " +
			"max_allowed_packet, or the connection broke on the path.",
		do: "check the log of the client that the message names at that time; compare max_allowed_packet with what it sends; if " +
			"it did not end the connection, check for a firewall or load balancer with a shorter idle timeout, and for loss " +
			"(ss -ti dst CLIENT)"}},
	{regexp.MustCompile(`\[gc\]\[|\bGCInspector\b|Detected pause in JVM|\bJvmPauseMonitor\b`), "JVM", reportText{
		summary: "a garbage collection stopped the program for seconds",
		because: "While the JVM collects garbage, the program does not respond: to its peers and clients this looks like a dead " +
			"network, and clusters remove the node.",
		do: "find what fills the heap (jcmd PID GC.heap_info, jmap -histo PID); raise -Xmx if memory allows, use G1 or ZGC, " +
			"and make sure that the heap is not swapped out (vmstat 1: si, so)"}},
	{regexp.MustCompile(`PLEG is not healthy|(?:PodSandboxStatus|ListPodSandbox|ListContainers|ContainerStatus|` +
		`RunPodSandbox)\b.*DeadlineExceeded`), "kubelet", reportText{
		summary: "the container runtime did not answer for minutes",
		because: "Kubelet marks the node NotReady after 3 minutes. The runtime or a container hangs (often on a " +
			"dead NFS mount), or the host is short of disk throughput, memory or CPU. The network is not the " +
			"direct cause.",
		do: "on the node, find what hangs: time crictl ps, ps -eo state,pid,wchan,cmd | grep '^D', iostat -x 1, " +
			"cat /proc/pressure/*"}},
	{regexp.MustCompile(`Connection reset, restarting \[|SIGUSR1\[soft,connection-reset\]`), "OpenVPN", reportText{
		summary: "the tunnel's TCP connection was closed by the other end",
		because: "The other end, or a firewall or proxy on the path, closed it. No traffic passes until the " +
			"tunnel is up again.",
		do: "check the other end's log at that time for a TLS error or a second client with the same certificate " +
			"(without duplicate-cn, only one may be connected); if it happens after minutes of silence, set " +
			"keepalive 10 60 on the server; with proto udp, there is no TCP connection that a device on the path " +
			"could close"}},
	{facts.StreamGap, "video stream", reportText{summary: "packets of the stream were lost",
		because: "UDP does not retransmit: packets lost at a full buffer, a full queue or on Wi-Fi show up as gaps " +
			"in the video.",
		do: "use a cable instead of Wi-Fi; enable IGMP snooping on the bridge (OpenWrt: option igmp_snooping '1'), " +
			"so that the stream goes only to subscribed ports; check nstat -az UdpRcvbufErrors on the player for a " +
			"full buffer"}},
}

var reportTexts = map[facts.Failure]*reportText{
	facts.DeviceFails: {summary: "a device or its firmware stopped responding or was reset",
		because: "Until the device recovers, it passes no traffic, and the packets in its queues are lost.",
		do: "update its driver and firmware (dmesg and ethtool -i NAME show the versions), check the slot or USB " +
			"port, cable, power supply and temperature, and test with its power saving disabled"},
	facts.NoMemory: {summary: "out of memory",
		because: "A program or driver that cannot allocate memory drops packets, refuses connections or is killed.",
		do: "find what uses the memory (free -m, ps aux --sort=-rss | head, slabtop -o); if the program's or " +
			"container's own limit was reached, raise it; usage that only grows is a leak"},
	facts.Exhausted: {summary: "a queue, buffer or table is full, or a limit was reached",
		because: "What arrives while it is full is dropped, refused or kept waiting.",
		do: "find the setting for this limit in the program's manual and raise it as far as memory allows; usage " +
			"that only grows is a leak, peaks are load, and a full queue towards a peer means that the peer or the " +
			"path cannot keep up"},
	facts.TooLarge: {summary: "packets are too large for the path or the interface",
		because: "Packets larger than the MTU are dropped or fragmented: small requests work, large transfers hang.",
		do: "find the largest packet that passes (ping -M do -s 1472 PEER, then smaller), set the MTU of the " +
			"tunnel or interface to that size plus 28, and clamp the MSS on the router to match", peer: true},
	facts.Late: {summary: "packets arrived too late or out of order",
		because: "The path's jitter exceeds what the receiver's buffer absorbs: Wi-Fi, a full queue (bufferbloat) " +
			"or several paths with different RTTs.",
		do: "test over a cable instead of Wi-Fi, and compare the RTT idle and under load (ping -c 100): if it " +
			"rises under load, shape to slightly below the link rate; enlarge the program's receive or jitter " +
			"buffer", peer: true},
	facts.Lost: {summary: "packets or messages were discarded or lost",
		because: "They were discarded before or inside the program, or never arrived; UDP does not retransmit them.",
		do: "check for a queue that overflows before the program (ss -uamn, nstat -az UdpRcvbufErrors, ip -s " +
			"link), then for loss on the path (mtr -rwbzc 100 PEER)"},
	facts.Damaged: {summary: "received data was corrupted or could not be decrypted",
		because: "It is dropped and must be retransmitted.",
		do: "check for errors on the path (ethtool -S NAME, ip -s link), test with checksum offload disabled " +
			"(ethtool -K NAME rx off tx off), and compare keys and versions of both ends"},
	facts.Filtered: {summary: "a firewall drops packets of established connections",
		because: "The firewall has no state for these connections: it expired or was flushed, routing is " +
			"asymmetric, or the packet is outside the tracked TCP window.",
		do: "check whether both directions pass through this host and whether conntrack -S counts invalid packets; " +
			"raise the idle timeout (net.netfilter.nf_conntrack_tcp_timeout_established) or enable keepalives in " +
			"the programs, and test with net.netfilter.nf_conntrack_tcp_be_liberal=1; single packets after a " +
			"connection has closed are harmless"},
	facts.LinkLost: {summary: "a link went down",
		because: "While it is down no traffic passes, and everything in flight is lost.",
		do:      "check cable, optic, port and signal, and the log of the device at the other end of the link"},
	facts.Throttled: {summary: "a rate limit was reached",
		because: "Requests above the limit are delayed or refused; the network is not the bottleneck.",
		do:      "find the limit that the message names: the program's own, the account's or the provider's"},
	facts.NotResolved: {summary: "names could not be resolved",
		because: "Nothing is sent until the name resolves, and each name server that does not answer costs seconds.",
		do: "query each server in /etc/resolv.conf by itself (dig @SERVER NAME), remove any that does not answer, " +
			"and check for lost queries (a full conntrack table, a filter on port 53)"},
	facts.Refused: {summary: "connections were refused or reset",
		because: "The other end, or a device in between, refused or reset them: the path itself works.",
		do: "check at the other end that the program listens on that address and port (ss -ltnp), and its log at " +
			"that time; check whether a firewall or load balancer closes idle connections", peer: true},
	facts.Silent: {summary: "the other end did not answer in time",
		because: "It is down or overloaded, a firewall drops the packets, or the path loses them.",
		do: "check whether the packets arrive at the other end (tcpdump there), whether it is overloaded, and " +
			"whether a firewall drops them",
		peer: true},
	facts.Broken: {summary: "a connection was lost and re-established",
		because: "Data in flight is lost, and each new connection restarts in slow start.",
		do: "compare the times with the other end's log; check for an idle timeout of a firewall, NAT or load " +
			"balancer in between (regular intervals), a restart of the other end, and loss on the path (mtr -rwbzc " +
			"100 PEER)", peer: true},
	facts.Slow: {summary: "an operation took longer than the program expects",
		because: "The host is short of CPU, memory or disk throughput, or the peer reads its data too slowly.",
		do: "check CPU, memory and disks while it happens (vmstat 1, iostat -x 1, cat /proc/pressure/*), then the " +
			"path to the peer in the message (ss -tinm dst PEER)"},
}
