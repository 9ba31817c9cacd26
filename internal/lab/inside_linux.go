package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wirerate/wirerate/internal/host"
)

// Start starts cmd on a host of the lab with the files, terminal and working
// directory that cmd has here. Unlike host.Conn it passes a terminal through.
func (l *Lab) Start(name string, cmd *exec.Cmd) error {
	agent := l.hosts[name]
	if agent == nil {
		return fmt.Errorf("the lab has no host %q; it has %s", name, strings.Join(l.topology.Hosts, ", "))
	}
	return startInside(agent.PID(), cmd)
}

// Environment returns the variables that tell a program on a host of the lab
// where it is: the peer's addresses and the link. The server's peer is the
// client, every other host's the server.
func (l *Lab) Environment(name string) []string {
	peer := l.topology.Hosts[1]
	if name == peer {
		peer = l.topology.Hosts[0]
	}
	return []string{
		"WIRERATE_PEER=" + l.Addr(peer, false),
		"WIRERATE_PEER6=" + l.Addr(peer, true),
		"WIRERATE_LINK=" + l.links[len(l.links)-1].link.String(),
	}
}

// AwaitListener waits until something on the host listens, the time is up, or
// ctx ends. A fresh host has no sockets, so that any counts.
func (l *Lab) AwaitListener(ctx context.Context, name string, limit time.Duration) bool {
	deadline := time.Now().Add(limit)
	for time.Now().Before(deadline) && ctx.Err() == nil {
		answers, err := l.hosts[name].Do(ctx, host.Read("/proc/net/tcp"), host.Read("/proc/net/tcp6"), host.Read("/proc/net/udp"), host.Read("/proc/net/udp6"))
		if err != nil {
			return false
		}
		for i, a := range answers {
			for _, line := range strings.Split(string(a.Out), "\n") {
				// Columns: slot, local address, remote address, state; 0A is LISTEN.
				f := strings.Fields(line)
				if len(f) > 3 && (f[3] == "0A" || i >= 2 && f[0] != "sl") {
					return true
				}
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	return false
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
	err := <-result
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("%s is not installed: %w", cmd.Args[0], exec.ErrNotFound)
	}
	return err
}
