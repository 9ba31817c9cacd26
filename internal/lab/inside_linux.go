package lab

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/wirerate/wirerate/internal/input"
)

// Site returns where programs of a host run.
func (l *Lab) Site(name string) (Site, error) {
	agent := l.hosts[name]
	if agent == nil {
		return Site{}, fmt.Errorf("the lab has no host %q; it has %s", name, strings.Join(l.topology.Hosts, ", "))
	}
	return Site{agent.PID(), l.environment(name)}, nil
}

// environment returns the variables that tell a program on a host of the lab
// where it is: the peer's addresses, the link, and every host's IPv4 address. The
// server's peer is the client, every other host's the server.
func (l *Lab) environment(name string) []string {
	peer := l.topology.Hosts[1]
	if name == peer {
		peer = l.topology.Hosts[0]
	}
	variables := []string{
		"WIRERATE_PEER=" + l.Addr(peer, false),
		"WIRERATE_PEER6=" + l.Addr(peer, true),
		"WIRERATE_LINK=" + l.links[len(l.links)-1].link.String(),
	}
	for _, h := range l.topology.Hosts {
		variables = append(variables, "WIRERATE_"+strings.ToUpper(h)+"="+l.Addr(h, false))
	}
	return variables
}

// listeners returns the sockets in the network namespace of a process that wait
// for what others send, by their line's end in /proc/net: TCP sockets that listen
// and UDP sockets without a peer, unless they are bound to the loopback address,
// and sockets that get every packet.
func listeners(pid int) (map[string]bool, error) {
	found := map[string]bool{}
	for _, kind := range []struct{ file, state string }{
		{"tcp", "0A"}, {"tcp6", "0A"}, {"udp", "07"}, {"udp6", "07"}, {"packet", ""},
	} {
		text, err := input.File(fmt.Sprintf("/proc/%d/net/%s", pid, kind.file), recordLimit)
		if errors.Is(err, fs.ErrNotExist) && kind.file != "tcp" {
			continue // a kernel without IPv6 or packet sockets
		}
		if err != nil {
			return nil, fmt.Errorf("sockets of process %d: %w", pid, err)
		}
		lines := strings.Split(string(text), "\n")
		for _, line := range lines[1:] {
			f := strings.Fields(line)
			switch {
			case kind.state == "" && len(f) > 8: // the last column is the inode
				found["packet "+f[8]] = true
			case kind.state != "" && len(f) > 9 && f[3] == kind.state && !loopback(f[1]):
				found[kind.file+" "+f[9]] = true
			}
		}
	}
	return found, nil
}

// loopback says whether an address of /proc/net/tcp and the like, in hexadecimal
// words of this machine's byte order, is one that only its own host reaches.
func loopback(address string) bool {
	words, _, _ := strings.Cut(address, ":")
	data, err := hex.DecodeString(words)
	if err != nil || len(data)%4 != 0 {
		return false
	}
	for i := 0; i < len(data); i += 4 {
		binary.BigEndian.PutUint32(data[i:], binary.NativeEndian.Uint32(data[i:]))
	}
	a, ok := netip.AddrFromSlice(data)
	return ok && a.Unmap().IsLoopback()
}

// daemons returns the processes of a host that have lost their parent: its first
// process, of that number, has taken them.
func daemons(first int) map[int]bool {
	found := map[int]bool{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if f := processFields(pid); f != nil && f[1] == strconv.Itoa(first) {
			found[pid] = true
		}
	}
	return found
}

// startInside starts cmd in all namespaces of the process pid. The thread that
// entered them ends afterwards.
func startInside(pid int, cmd *exec.Cmd) error {
	if cmd.Dir == "" {
		wd, err := os.Getwd()
		if err != nil {
			return err
		}
		cmd.Dir = wd
	}
	result := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread cannot go back
		result <- func() error {
			// A thread that shares its root and working directory with others
			// may not change its mount namespace.
			if err := unix.Unshare(unix.CLONE_FS); err != nil {
				return fmt.Errorf("unshare: %w", err)
			}
			fds := map[string]int{}
			kinds := []string{"net", "uts", "ipc", "pid", "mnt"} // mnt last: it hides /proc
			for _, kind := range kinds {
				fd, err := unix.Open(fmt.Sprintf("/proc/%d/ns/%s", pid, kind), unix.O_RDONLY|unix.O_CLOEXEC, 0)
				if err != nil {
					return fmt.Errorf("namespaces of process %d: %w", pid, err)
				}
				defer unix.Close(fd)
				fds[kind] = fd
			}
			for _, kind := range kinds {
				if err := unix.Setns(fds[kind], 0); err != nil {
					return fmt.Errorf("enter %s namespace of process %d: %w", kind, pid, err)
				}
			}
			return cmd.Start()
		}()
	}()
	return notStarted(cmd, <-result)
}

// notStarted says why a program does not start.
func notStarted(cmd *exec.Cmd, err error) error {
	var path *fs.PathError
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return &ProgramError{cmd.Args[0], exec.ErrNotFound}
	case errors.As(err, &path) && path.Op == "fork/exec":
		return &ProgramError{cmd.Args[0], path.Err}
	}
	return err
}
