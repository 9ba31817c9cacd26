package diagnose

import (
	"slices"
	"strconv"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// nfsRetransmits finds requests to an NFS server that had to be sent again.
func nfsRetransmits() Rule {
	return Rule{
		ID: "nfs-retransmits", Title: "Requests to an NFS server are sent again", Needs: []string{"nfs"},
		Severity: Warning,
		Because: "The client sends a request again when no answer came within the timeout of the mount: the server is slow, " +
			"or the path loses packets, and each such request takes the timeout.",
		Confirm: "TCP's own count grows as well (nstat TcpRetransSegs, netstat -sp tcp): then it is the " +
			"path; if not, the server.",
		Check: func(in Input) []Finding {
			f := in.Facts
			again, calls := f.Counters["nfs.retrans"], f.Counters["nfs.calls"]
			if calls.Value >= 1000 && again.Value > 0 {
				found := one("nfs", []facts.Source{again.Source}, "%d of %d requests were sent again (%s)", again.Value,
					calls.Value, percent(float64(again.Value)/float64(calls.Value)))
				found = with(graded(again, calls.Value, Critical), found)
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
			if worst.Again < warningShare {
				return nil
			}
			return with(gradedShare(worst.Again), one("nfs "+worst.Name, []facts.Source{worst.Source},
				"%s of the requests were sent again", percent(worst.Again)))
		},
		Fires: linuxExample("nfsstat", "Client rpc stats:\ncalls      retrans    authrefrsh\n900000     41000      900000\n"),
		Quiet: linuxExample("nfsstat",
			"Client rpc stats:\ncalls      retrans    authrefrsh\n9000000    0          9000000\n"),
	}
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
		Because: "nfs(5): over TCP the timeout is 60 s, since TCP itself repairs losses; the sizes " +
			"are agreed with the server.",
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
		found[0].Because = "A request of several fragments is lost with one of them, nothing slows the sender down, and " +
			"each loss takes the timeout of the mount."
	case m.Options["proto"] == "tcp" && timeout > 0 && timeout < shortTimeout:
		found = do("mount it with timeo=600, the default over TCP", one(m.From, nil, "it is mounted over TCP with a "+
			"timeout of %.1f s: a request that takes longer is sent again over a new connection", float64(timeout)/10))
	case m.Options["sync"] != "":
		found = with(Info, do("mount it without sync where a crash may cost the last writes",
			one(m.From, nil, "it is mounted with sync: each write waits for the server's disk")))
	case smallerThan(m, smallRequest):
		found = with(Info, do("mount it without rsize and wsize: the largest sizes of both ends are used then",
			one(m.From, nil, "requests carry at most %s bytes read, %s written", m.Options["rsize"], m.Options["wsize"])))
		found[0].Because = "Each request costs a round trip to the server, and processor time at both ends, however little it carries."
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
		ID: "storage-server-silent", Title: "A file or block server did not answer in time",
		Needs: []string{"messages"}, Severity: Warning,
		Because: "Everything that uses the storage stands still meanwhile. The server was busy or gone, or the path to it " +
			"lost packets, such as large ones where the MTUs along it differ.",
		Confirm: "Losses and retransmissions towards this server (ss -ti, ping -M do -s 8972 with jumbo frames) point at " +
			"the path; none of them at the server.",
		Check: func(in Input) []Finding {
			for _, s := range silentServers {
				lines, n := matching(in.Facts, s.message)
				if n == 0 {
					continue
				}
				subject := "storage"
				if m := s.message.FindStringSubmatch(lines[0].Text); len(m) > 1 && m[1] != "" {
					subject = m[1]
				}
				found := one(subject, lines, "%s: the log says so in %s", s.what, counted(n, "line"))
				if found[0].Because, found[0].Confirm = s.because, s.confirm; s.do != "" {
					found = do(s.do, found)
				}
				return found
			}
			return nil
		},
		Fires: linuxExample("dmesg", "[ 91.2] nfs: server 192.0.2.9 not responding, still trying\n"),
		Quiet: linuxExample("dmesg", "[ 91.2] nfs: server 192.0.2.9 OK\n"),
	}
}

// silentServers are the messages of Linux's clients (fs/nfs, net/sunrpc, fs/smb/client, drivers/scsi/libiscsi.c,
// net/ceph/osd_client.c, drivers/nvme/host/tcp.c), and of the BSDs' of NFS (sys/nfs/nfs_socket.c, sys/fs/nfs).
var silentServers = []struct {
	message *regexp.Regexp
	what    string
	because string // where it is not the rule's, confirm likewise
	confirm string
	do      string
}{
	{message: regexp.MustCompile(`nfs:? server (\S+?):? not responding`), what: "the NFS server did not answer",
		do: "at the server at that time: iostat -x 1 for its disks, grep th /proc/net/rpc/nfsd or nfsstat -s for its threads; " +
			"then the path: ping -M do -s 1472 SERVER, nstat -az TcpRetransSegs"},
	{message: regexp.MustCompile(`(connection\d+:\d+): detected conn error \(1020\)|` +
		`Kernel reported iSCSI connection (?:\S+) error \(1020 `),
		what: "the iSCSI target closed the connection",
		because: "ISCSI_ERR_TCP_CONN_CLOSE (include/scsi/iscsi_if.h): the target, or something between, ended the connection; " +
			"no packet was waited for. The disks behind it stand still until the session is made again.",
		confirm: "The target's log has a line of the same second: a logout, a second login of the same name, a restart.",
		do: "look at the target's log for that time; where it comes every few seconds, see that no other host has the same " +
			"InitiatorName (/etc/iscsi/initiatorname.iscsi): each throws the other out"},
	{message: regexp.MustCompile(`(connection\d+:\d+): (?:detected conn error|ping timeout of)|` +
		`Kernel reported iSCSI connection (?:\S+) error`),
		what: "the connection to an iSCSI target failed",
		do: "at the target at that time: its log, iostat -x 1 for its disks; then the path: ping -M do -s 1472 TARGET (8972 with " +
			"jumbo frames), nstat -az TcpRetransSegs"},
	{message: regexp.MustCompile(`Did not receive response to NOPIN on CID: \d+, failing connection for I_T Nexus ([^,\s]+)`),
		what: "the iSCSI initiator did not answer this target",
		do: "look at the initiator's log for that time, then at the path: ping -M do -s 1472 INITIATOR (8972 with jumbo frames), " +
			"nstat -az TcpRetransSegs"},
	{message: regexp.MustCompile(`ABORT_TASK: Found referenced \S+ task_tag`),
		what: "initiators gave up commands that this target did not end in time",
		because: "An initiator aborts a command after its own timeout, of seconds: the disks behind the target are too slow for " +
			"what is asked of them, or one of them fails. The network only carries the wait.",
		confirm: "iostat -x 1 shows waits of seconds there at the times of these messages.",
		do:      "at this host: iostat -x 1 for the disks behind the target (zpool iostat -l 1 of ZFS), smartctl -a of the slowest"},
	{message: regexp.MustCompile(`CIFS: (?:VFS: )?\\*(\S*) has not responded|CIFS.*Server \S+ has not responded`),
		what: "the SMB server did not answer"},
	{message: regexp.MustCompile(`libceph: (osd\d+|mon\d+) .*(?:socket (?:closed|error)|session lost|connect error)`),
		what: "the connection to a daemon of Ceph was lost"},
	{message: regexp.MustCompile(`[Ss]low (?:OSD )?[Hh]eartbeats? (?:ping )?on (?:back|front)(?: interface)? from (osd\.\d+) `),
		what: "daemons of Ceph heard each other late over the network"},
	{message: regexp.MustCompile(`heartbeat_check: no reply from (\S+)`),
		what: "a daemon of Ceph did not answer the heartbeats of another"},
	{message: regexp.MustCompile(`(?:block )?drbd (\S+?):? .*(?:PingAck did not arrive in time|-> NetworkFailure)`),
		what: "the peer of DRBD did not answer"},
	{message: regexp.MustCompile(`nvme (nvme\d+): .*(?:keep-alive|timeout, (?:starting error recovery|aborting))`),
		what: "the connection to an NVMe target failed"},
}
