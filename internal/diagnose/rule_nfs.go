package diagnose

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// nfsRetransmits finds requests to an NFS server that had to be sent again.
func nfsRetransmits() Rule {
	return Rule{
		ID: "nfs-retransmits", Title: "NFS requests are retransmitted", Needs: []string{"nfs"},
		Severity: Warning,
		Because: "The client retransmits a request when no reply came within the mount's timeout: the server is slow, or the " +
			"path loses packets, and each such request costs the timeout.",
		Confirm: "If TCP's own retransmissions grow as well (nstat TcpRetransSegs, netstat -sp tcp), it is the path; if not, " +
			"the server.",
		Check: func(in Input) []Finding {
			f := in.Facts
			again, calls := f.Counters["nfs.retrans"], f.Counters["nfs.calls"]
			if calls.Value >= 1000 && again.Value > 0 {
				found := one("nfs", []facts.Source{again.Source}, "%d of %d requests were retransmitted (%s)", again.Value,
					calls.Value, percent(float64(again.Value)/float64(calls.Value)))
				found = do("check whether the path loses packets; if not, check the server for busy disks and for "+
					"all nfsd threads in use (nfsstat -s); if nfsstat -m shows proto=udp, mount over TCP "+
					"(proto=tcp)", with(gradedRequests(again, calls.Value), found))
				if i := slices.IndexFunc(f.NFSMounts, overUDP); i >= 0 {
					found[0].Evidence = append(found[0].Evidence, f.NFSMounts[i].Source)
				}
				return found
			}
			var worst facts.NFSOperation
			for _, m := range f.NFSMounts {
				for _, op := range m.Operations {
					if op.Again > worst.Again && (op.Count >= 1000 || op.PerSecond >= 1) {
						worst = op
					}
				}
			}
			if worst.Again < requestShare {
				return nil
			}
			return with(gradedShare(worst.Again), one("nfs "+worst.Name, []facts.Source{worst.Source},
				"%s of the requests were retransmitted", percent(worst.Again)))
		},
		Fires: linuxExample("nfsstat", "Client rpc stats:\ncalls      retrans    authrefrsh\n900000     41000      900000\n"),
		Quiet: linuxExample("nfsstat",
			"Client rpc stats:\ncalls      retrans    authrefrsh\n9000000    0          9000000\n"),
	}
}

// requestShare is the share of retransmitted requests from which on they are a warning: below it, a restart of the server or one
// reconnect since boot explains them, which sends what was under way again.
const requestShare = 1e-3

// gradedRequests is graded for requests, which TCP carries and repairs.
func gradedRequests(again facts.Counter, calls uint64) Severity {
	s := graded(again, calls, Critical)
	if s == Warning && lossShare(again, calls) < requestShare && (again.Rate == nil || *again.Rate < warningRate) {
		return Info
	}
	return s
}

func overUDP(m facts.NFSMount) bool { return m.Options["proto"] == "udp" || m.Options["udp"] != "" }

// The options of a mount of NFS that slow it down: a timeout over TCP in tenths of a second, and bytes of a request.
const (
	shortTimeout = 100
	smallRequest = 32768
	tinyRequest  = 16384
)

// nfsMountOptions finds mounts whose options cost throughput.
func nfsMountOptions() Rule {
	return Rule{
		ID: "nfs-mount-options", Title: "An NFS mount has options that slow it down", Needs: []string{"nfs"},
		Severity: Warning,
		Because: "nfs(5): over TCP the default timeout is 60 s, because TCP itself repairs losses; rsize and wsize are " +
			"negotiated with the server.",
		Check: func(in Input) (out []Finding) {
			for _, m := range in.Facts.NFSMounts {
				if len(m.Options) == 0 || len(out) >= 3 {
					continue
				}
				out = append(out, slowMount(m)...)
			}
			return out
		},
		Fires: linuxExample("nfsstat",
			"nas:/a /mnt nfs rw,vers=3,rsize=1048576,wsize=1048576,hard,proto=tcp,timeo=7,retrans=3 0 0\n"),
		Quiet: linuxExample("nfsstat",
			"nas:/a /mnt nfs4 rw,vers=4.2,rsize=1048576,wsize=1048576,hard,proto=tcp,timeo=600 0 0\n"),
	}
}

func slowMount(m facts.NFSMount) []Finding {
	timeout, _ := strconv.Atoi(m.Options["timeo"])
	var found []Finding
	switch {
	case overUDP(m):
		found = do("mount it with proto=tcp", one(m.From, nil, "it is mounted over UDP"))
		found[0].Because = "Losing one fragment loses the whole request, there is no congestion control, and each loss costs " +
			"the mount's timeout."
	case m.Options["proto"] == "tcp" && timeout > 0 && timeout < shortTimeout:
		found = do("mount it with timeo=600, the default over TCP", one(m.From, nil, "it is mounted over TCP with a timeout "+
			"of %.1f s: a request that takes longer is resent over a new connection", float64(timeout)/10))
	case m.Options["sync"] != "":
		found = with(Info, do("mount it without sync, if losing the last writes in a crash is acceptable",
			one(m.From, nil, "it is mounted with sync: each write waits for the server's disk")))
	case smallerThan(m, smallRequest):
		found = with(Info, do("mount it without rsize and wsize: the client and server then negotiate the largest sizes",
			one(m.From, nil, "requests carry at most %s bytes (rsize) and %s bytes "+
				"(wsize)", m.Options["rsize"], m.Options["wsize"])))
		found[0].Because = "Each request costs a round trip to the server and CPU time at both ends, however little it carries."
		if smallerThan(m, tinyRequest) {
			found = with(Warning, found)
		}
	default:
		return nil
	}
	found[0].Evidence = []facts.Source{m.Source}
	return found
}

// smallerThan reports whether requests to read or to write carry fewer bytes.
func smallerThan(m facts.NFSMount, size int) bool {
	return slices.ContainsFunc([]string{"rsize", "wsize"}, func(option string) bool {
		v, err := strconv.Atoi(m.Options[option])
		return err == nil && v > 0 && v < size
	})
}

// serverSilent finds file and block servers that did not answer.
func serverSilent() Rule {
	return Rule{
		ID: "storage-server-silent", Title: "A storage server did not respond in time",
		Needs: []string{"messages"}, Severity: Warning,
		Because: "Everything that uses the storage stalls meanwhile. The server was busy or down, or the path lost packets " +
			"(only large ones, if the MTUs along it differ).",
		Confirm: "Loss and retransmissions towards this server (ss -ti, ping -M do -s 8972 with jumbo frames) point at the " +
			"path; without them, it is the server.",
		Check: func(in Input) []Finding {
			for _, s := range silentServers {
				lines, n := matching(in.Facts, s.message)
				if n == 0 {
					continue
				}
				what, host := s.what, ""
				if s.named {
					host = firstGroup(s.message, lines[0].Text)
				}
				if s.peers != nil {
					if names := namedIn(in.Facts, s.peers); len(names) > 0 {
						what += ": " + strings.Join(names[:min(len(names), 3)], ", ")
						host = names[0]
					}
				}
				found := one(cmp.Or(firstGroup(s.message, lines[0].Text), "storage"), lines, "%s (%s)", what, counted(n, "line"))
				if found[0].Because, found[0].Confirm = s.because, s.confirm; s.do != "" {
					found = do(withServer(s.do, host), found)
				}
				return found
			}
			return nil
		},
		Fires: linuxExample("dmesg", "[ 91.2] nfs: server 192.0.2.9 not responding, still trying\n"),
		Quiet: linuxExample("dmesg", "[ 91.2] nfs: server 192.0.2.9 OK\n"),
	}
}

// withServer is a remedy with the name of the server in its commands, where a log tells one that can stand there.
func withServer(action, host string) string {
	if port := strings.LastIndexByte(host, ':'); port > 0 && !strings.Contains(host[:port], ":") {
		host = host[:port]
	}
	if !serverName.MatchString(host) {
		return action
	}
	return strings.ReplaceAll(action, " SERVER", " "+host)
}

var serverName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.:_@-]{0,254}$`)

// silentServers are what logs say of servers that did not answer, and what is done about it.
var silentServers = []struct {
	message *regexp.Regexp
	what    string
	because string // where it is not the rule's, confirm likewise
	confirm string
	do      string
	peers   *regexp.Regexp // the peers, where the subject is something else
	named   bool           // the message names the server
}{
	{message: regexp.MustCompile(facts.SilentNFS), named: true, what: "the NFS server did not respond",
		do: "check the server at that time: disks (iostat -x 1), nfsd threads (grep th /proc/net/rpc/nfsd, nfsstat -s); then " +
			"the path: ping -M do -s 1472 SERVER, nstat -az TcpRetransSegs"},
	{message: regexp.MustCompile(facts.ClosedISCSI),
		what: "the iSCSI target closed the connection",
		because: "ISCSI_ERR_TCP_CONN_CLOSE (include/scsi/iscsi_if.h): the target, or a device in between, closed the " +
			"connection; this is not a timeout. I/O stalls until the session is re-established.",
		confirm: "The target's log has an entry at the same second: a logout, a second login with the same name, a restart.",
		do: "check the target's log for that time; if it recurs every few seconds, make sure that no other host has the same " +
			"InitiatorName (/etc/iscsi/initiatorname.iscsi): each logs the other out"},
	{message: regexp.MustCompile(facts.LostISCSI),
		what: "the connection to an iSCSI target failed",
		do: "check the target at that time: its log, its disks (iostat -x 1); then the path: ping -M do -s 1472 TARGET (8972 " +
			"with jumbo frames), nstat -az TcpRetransSegs"},
	{message: regexp.MustCompile(facts.SilentTarget),
		what: "the iSCSI target did not respond",
		do: "check the target at that time: its log, its disks; then the path: ping -D -s 1472 TARGET (8972 with jumbo frames), " +
			"netstat -s -p tcp (data packets retransmitted)"},
	{message: regexp.MustCompile(facts.SilentInitiator),
		what: "the iSCSI initiator did not respond to this target",
		do: "check the initiator's log for that time, then the path: ping -M do -s 1472 INITIATOR (8972 with jumbo frames), " +
			"nstat -az TcpRetransSegs"},
	{message: regexp.MustCompile(facts.AbortedCommands),
		what: "initiators aborted commands that this target did not complete in time",
		because: "An initiator aborts a command after its own timeout of some seconds: the disks behind the target are too " +
			"slow for the load, or one is failing. The network is probably not the cause.",
		confirm: "iostat -x 1 on the target shows waits of seconds at the times of these messages.",
		do: "on this host, check the disks behind the target: iostat -x 1 (ZFS: zpool iostat -l 1), then smartctl -a on " +
			"the slowest"},
	{message: regexp.MustCompile(facts.SilentSMB), named: true,
		what: "the SMB server did not respond",
		do: "check the server at that time: its log, its disks (iostat -x 1); then the path: ping -M do -s 1472 SERVER, nstat -az " +
			"TcpRetransSegs"},
	{message: regexp.MustCompile(facts.UnreachedSMB),
		what: "the SMB server could not be reached when it was mounted",
		because: "cifs_mount returned a connection error, not a login error: 101 and 113 mean no route to the " +
			"host, 110 and 115 no answer in time, 111 connection refused.",
		confirm: "nc -zv SERVER 445 fails at the same time.",
		do: "test the port with nc -zv SERVER 445: a refusal means that no SMB service listens there, no answer " +
			"means a firewall or a wrong address; if the mount fails only at boot, mount later (options " +
			"_netdev,x-systemd.automount in /etc/fstab)"},
	{message: regexp.MustCompile(facts.LostCephDaemon),
		what: "the connection to a Ceph daemon was lost", do: heartbeatCheck},
	{message: regexp.MustCompile(facts.SlowHeartbeat),
		what: "heartbeats between Ceph daemons were slow", do: heartbeatCheck},
	{message: regexp.MustCompile(facts.NoHeartbeat),
		what: "a Ceph daemon did not respond to the heartbeats of another", do: heartbeatCheck},
	{message: regexp.MustCompile(facts.FewHeartbeats), what: "the daemon reaches too few of its heartbeat peers",
		because: "An OSD does not start while it hears from fewer than a third of its peers: its link or network " +
			"is down or lossy, the MTUs differ, or most of its peers are down.", do: heartbeatCheck},
	{message: regexp.MustCompile(facts.SilentDRBD),
		what:  "the DRBD peer did not respond",
		peers: regexp.MustCompile(`(?:block |drbd )\S+ (?:tcp:)?([\w.-]+): (?:PingAck did not arrive|conn\( \w+ -> NetworkFailure)`),
		do: "check the peer's log for that time (a restart, a full disk queue), then the path: ip -s link on both hosts, ping -M " +
			"do -s 1472 SERVER (8972 with jumbo frames), nstat -az TcpRetransSegs; if the peer was only late, set ping-timeout " +
			"30 (tenths of a second; the default is 5) in the net section of the resource and run drbdadm adjust"},
	{message: regexp.MustCompile(facts.FailedPath), what: "a path to the storage failed",
		because: "multipath continues on the remaining paths, with less throughput and redundancy. Until it detects the failure, I/O stalls.",
		confirm: "multipath -ll shows the path as failed faulty.",
		do: "check the components of this path: the link of its card (ip -s link; dmesg for an HBA), the switch port and the " +
			"target's port; multipath -ll shows whether it is back"},
	{message: regexp.MustCompile(facts.SilentLustre), named: true, what: "a Lustre server did not respond",
		do: "check the server at that time (dmesg there, iostat -x 1 for its disks); then the path: lctl ping SERVER from this " +
			"client, the counters of both ends (ip -s link, perfquery for InfiniBand), and nstat -az TcpRetransSegs for @tcp"},
	{message: regexp.MustCompile(facts.LostNVMeTarget),
		what: "the connection to an NVMe target failed",
		do: "check the target at that time: its log, its disks; then the path: ping -M do -s 1472 TARGET (8972 with jumbo " +
			"frames), nstat -az TcpRetransSegs"},
	{message: regexp.MustCompile(facts.LostGlusterFS), what: "the connection to a GlusterFS brick was lost",
		because: "A replicated volume continues without the brick and heals it later, but rejects writes without " +
			"a quorum; a distributed volume lacks the brick's files meanwhile.",
		confirm: "gluster volume status shows the brick without a port or a process.",
		do: "check the brick with gluster volume status and its log (/var/log/glusterfs/bricks) for a restart or " +
			"a full disk at that time; then the path: ping -M do -s 1472 HOST, nstat -az TcpRetransSegs; once it " +
			"is back, check the healing: gluster volume heal VOLUME info"},
	{message: regexp.MustCompile(facts.SilentGlusterFS), named: true, what: "a GlusterFS brick did not respond",
		do: "check the brick's host at that time: its log, its disks (iostat -x 1); then the path: ping -M do -s 1472 SERVER (8972 " +
			"with jumbo frames), nstat -az TcpRetransSegs"},
}

// heartbeatCheck tells a host of Ceph from its network.
const heartbeatCheck = "check which pairs are affected (ceph health detail): all daemons of one host point at its " +
	"link or MTU (ip -s link, ping -M do -s 8972 HOST between the addresses of the cluster network, and of the " +
	"public one); a single daemon points at its disk (ceph osd perf) or at a restart in its log"
