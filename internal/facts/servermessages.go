package facts

import (
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// What logs say of file and block servers that did not answer: Linux's clients (fs/nfs, net/sunrpc, fs/smb/client,
// drivers/scsi/libiscsi.c, net/ceph/osd_client.c, drivers/block/drbd, drivers/nvme/host/tcp.c, which unlike pci.c reconnects),
// its target, and the BSDs' NFS; then the programs of open-iscsi, Ceph and GlusterFS (rpc-clnt-ping.c), ESXi (vmkernel.log), and Lustre (ptlrpc/import.c, client.c, lnet's o2iblnd_cb.c). The first group is
// the server, the session or the disk.
const (
	SilentNFS = `(?:\b[lL]ockd:|[nN][fF][sS]4?:?) server (\S+?):? not responding|\b[nN][fF][sS]4?:? server not responding, (?:still trying|` +
		`timed out)|\bNFS(?:41)?: \d+: Lost connection to (?:the )?server (\S+)`
	ClosedISCSI = `(connection\d+:\d+): detected conn error \(1020\)|Kernel reported iSCSI connection (?:\S+) error \(1020 `
	LostISCSI   = `(connection\d+:\d+): (?:detected conn error|ping timeout of)|Kernel reported iSCSI connection (?:\S+) error|` +
		`(session\d+): session recovery timed out after`
	SilentTarget    = `kernel\[0\]: iscsi: (?:Connection|Task) timeout\b|iscsid\[\d+\]: TCP timeout for \S+ over portal (\S+?)\.?$` // macOS
	SilentInitiator = `Did not receive response to NOPIN on CID: \d+, failing connection for I_T Nexus ([^,\s]+)`
	AbortedCommands = `ABORT_TASK: Found referenced \S+ task_tag`
	UnreachedSMB    = `CIFS:? VFS: (?:.* )?cifs_mount failed w/return code = -1(?:01|10|11|12|13|15)\b`
	SilentSMB       = `CIFS: (?:VFS: )?\\*(\S*) has not responded|CIFS.*Server (\S+) has not responded|` +
		`CIFS:? VFS: (?:\\\\(\S+) )?sends on sock \S+ stuck for \d+ seconds`
	LostCephDaemon = `libceph(?: \(\S+ e\d+\))?: (osd\d+|mon\d+|mds\d+) (?:down$|.*(?:socket (?:closed|error)|session lost|` +
		`connect error|connection reset))|\bceph: (?:\[[0-9a-f -]+\]: )?(mds\d+) (?:hung|caps stale)$`
	SlowHeartbeat   = `[Ss]low (?:OSD )?[Hh]eartbeats? (?:ping )?on (?:back|front)(?: interface)? from (osd\.\d+) `
	NoHeartbeat     = `heartbeat_check: no reply from (\S+)`
	FewHeartbeats   = `(osd\.\d+) \d+ is_healthy false -- only \d+/\d+ up peers`
	SilentDRBD      = `(?:block |drbd )(\S+?):? .*(?:PingAck did not arrive in time|-> NetworkFailure)`
	LostNVMeTarget  = `nvme (nvme\d+): (?:.*keep-alive|failed nvme_keep_alive|(?:.*, )?starting error recovery|Reconnecting in \d+ seconds)`
	SilentGlusterFS = `server (\S+) has not responded in the last \d+ seconds, disconnecting`
	LostGlusterFS   = `\b0-(\S+): remote operation failed.*Transport endpoint is not connected|Brick (\S+) has disconnected from glusterd`
	SilentLustre    = `Lustre(?:Error)?: .*: Connection to \S+ \(at (\S+?)\) was lost; in progress operations|` +
		`LNet(?:Error)?: .*Timed out (?:RDMA with|tx for) (\S+@\w+)|Lustre(?:Error)?: .*@@@ Request sent has (?:timed out for|` +
		`failed due to network error)`
	FailedPath = `device-mapper: multipath: (?:\d+:\d+: )?Failing path (\d+:\d+)|(rport-\S+): blocked FC remote port time out|checker failed path \S+ in map (\S+)|multipathd.*: (\w+): mark as failed|\b(\w+)(?: -|` +
		`:) \w+ checker reports path is down|\b\d+:\d+:\d+:\d+ (\w+) +\d+:\d+ +failed (?:faulty|ready|ghost|shaky)\b`
	silentClusterHost = `\[KNET *\] link: host: \d+ link: \d+ is down|\[TOTEM *\] (?:Token has not been received in|A processor failed, ` +
		`forming new configuration|The token was lost in the OPERATIONAL state|(?:\w+ )?Retransmit List: )`
)

// SilentForm is any of them.
var SilentForm = regexp.MustCompile(strings.Join([]string{SilentNFS, LostISCSI, SilentTarget, SilentInitiator, AbortedCommands, SilentSMB,
	LostCephDaemon, SlowHeartbeat, NoHeartbeat, FewHeartbeats, SilentDRBD, LostNVMeTarget, SilentGlusterFS, LostGlusterFS, UnreachedSMB,
	SilentLustre, FailedPath}, "|"))

// ClusterForm is what corosync logs of hosts that it does not hear (libknet/threads_heartbeat.c of kronosnet, exec/totemsrp.c).
var ClusterForm = regexp.MustCompile(silentClusterHost)

// RefusedSizes are what OpenVPN, udp2raw and others say of packets that are too large for the path or for them.
const RefusedSizes = `EMSGSIZE Path-MTU=\d{3,5}\]|huge packet, ?data[ _]len(?:[= ]\d+)? (?:\(>=|> )\d+|` +
	`\bwsasend\w*: A message sent on a datagram socket was larger|write UDPv?[46]?: Message too long|` +
	`write udp[46]? \S+: (?:\S+ )?send\w+: message too long`

// What Linux warns of packets, tunnels and services (see kernelWarnings of diagnose); the first group is what it is about.
const (
	BadOffload   = `\bskb_warn_bad_offload\+0x|(?:^|[ \]>])([\w.-]+): caps=\(0x[0-9a-f]+, 0x[0-9a-f]+\)`
	SuspectGRO   = `(?:TCP: )?([\w.-]+): Driver has suspect GRO implementation, TCP performance may be compromised`
	DeadLoop     = `\bDead loop on virtual device ([\w.-]+), fix it urgently`
	NoRealServer = `\bIPVS: \w+: (\S+ \S+) - no destination available`
	TooManySlots = `\b(xennet): skb rides the rocket: \d+ slots`
	FullNFSD     = `\b(nfsd): too many open (?:connections|TCP sockets), consider increasing `
	RejectedWork = `\bmlx5\S* \S+ ([a-z][\w.-]*): Error cqe on cqn 0x`
	WeakSlot     = `\b(mlx5\S* \S+): .*Detected insufficient power on the PCIe slot`
	wrongSum     = `: hw csum failure\b`
)

// KernelWarning is any of them.
var KernelWarning = regexp.MustCompile(strings.Join([]string{BadOffload, SuspectGRO, DeadLoop, NoRealServer, TooManySlots, FullNFSD, RejectedWork,
	WeakSlot, wrongSum}, "|"))
