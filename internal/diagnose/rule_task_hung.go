package diagnose

import (
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// tasksHung finds programs that waited inside the kernel for minutes (kernel/hung_task.c): what they serve stands still,
// and the network looks slow.
func tasksHung() Rule {
	return Rule{
		ID: "task-hung", Title: "A program is blocked in the kernel for minutes " +
			"(hung task)", Systems: onLinux(), Needs: []string{"messages"},
		Severity: Warning,
		Because: "It waits for a disk, a file system (perhaps on a server) or a lock: everything it serves " +
			"stalls, and its clients see an unresponsive server.",
		Confirm: "The stalls coincide with these messages; iostat -x 1 then shows busy or unresponsive disks.",
		Check: func(in Input) []Finding {
			found, name := hungTasks(in.Facts)
			if found == nil {
				return nil
			}
			_, silent := matching(in.Facts, silentServer)
			within := frames(in.Facts, "nfs_", "nfs4_", "rpc_wait", "cifs_", "smb2_", "ceph_")
			switch {
			case within != "" && !strings.HasPrefix(name, "nfsd"):
				found[0].Because = "It waits for a network file system (" + within + " in its trace): the server does not respond, " +
					"or the path to it loses packets."
				found[0].Confirm = "The log names the server (not responding); loss towards it (ss -ti) points at the path."
				if silent > 0 {
					found = with(Info, found) // storage-server-silent says it
				}
				return do(askServer, found)
			case silent > 0 && !strings.HasPrefix(name, "nfsd"):
				found = with(Info, found)
				found[0].Because = "The same log shows a storage server that did not respond: the task probably " +
					"waits for it."
				found[0].Confirm = "The call trace after the message names the network file system (nfs_, cifs_, ceph_)."
				return do(askServer, found)
			case strings.HasPrefix(name, "nfsd"):
				found[0].Summary = "the NFS server: " + found[0].Summary
			}
			if fs := frames(in.Facts, "[zfs]", "[spl]", "[xfs]", "[btrfs]", "[ext4]", "[dm_mod]", "[md_mod]", "[ceph]", "[jbd2]", "[iscsi_target_mod]", "[target_core_mod]"); fs != "" {
				found[0].Summary += "; its trace is in " + strings.Trim(fs, "[]")
			}
			return do("check the call trace after the message, which names the file system or driver; then its disks (iostat -x "+
				"1, smartctl) and memory", found)
		},
		Fires: linuxExample("dmesg", "[ 9.1] INFO: task nfsd:6108 blocked for more than 120 seconds.\n"),
		Quiet: linuxExample("dmesg", "[ 9.1] nfsd: last server has exited, flushing export cache\n"),
	}
}

// askServer is what is done about a program that waits for a file server.
const askServer = "find the server (nfsstat -m, mount -t cifs), and check at that time whether it responds (rpcinfo -T tcp SERVER " +
	"nfs, ping -M do -s 1472 SERVER), and its disks (iostat -x 1 on the server)"

// hungTasks are the messages and the first program that they name; where the first line was cut, the row with the state
// of the program and the hint before it are left.
func hungTasks(f *facts.Facts) (found []Finding, name string) {
	if lines, n := matching(f, hungTask); n > 0 {
		m := hungTask.FindStringSubmatch(lines[0].Text)
		return one(m[1], lines, "it was blocked for more than %s s (%s)", m[2], counted(n, "line")), m[1]
	}
	if _, n := matching(f, hungHint); n == 0 {
		return nil, ""
	}
	lines, n := matching(f, hungRow)
	if n == 0 {
		return nil, ""
	}
	name = firstGroup(hungRow, lines[0].Text)
	return one(name, lines, "it was blocked in the kernel for minutes (%s)", counted(n, "line")), name
}

// frames is the first of the words that a line of a call trace holds.
func frames(f *facts.Facts, words ...string) string {
	for _, line := range f.Lines("dmesg") {
		if !callFrame.MatchString(line) {
			continue
		}
		for _, w := range words {
			if strings.Contains(line, w) {
				return w
			}
		}
	}
	return ""
}

var (
	hungTask     = regexp.MustCompile(`\btask (\S{1,40}?):\d+ blocked for more than (\d+) seconds`)
	hungHint     = regexp.MustCompile(`hung_task_timeout_secs" disables this message`)
	hungRow      = regexp.MustCompile(`\b([\w./:-]{1,16}) +D(?: [0-9a-f]{8,16})? +\d+ +\d+ +\d+ 0x[0-9a-f]+`)
	silentServer = regexp.MustCompile(`not responding`)
	callFrame    = regexp.MustCompile(`\+0x[0-9a-f]+/0x[0-9a-f]+|\] \(\w+\) from \[`) // Arm's 32 bit ones print the names of both functions
)
