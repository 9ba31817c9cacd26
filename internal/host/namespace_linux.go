package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/rpc"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

const netnsFolder = "/run/netns"

// Spawn starts a host in fresh network, mount, PID, UTS and IPC namespaces.
// They and everything that runs in them are gone when the connection is closed
// or this program ends, however it ends.
func Spawn(ctx context.Context, name string) (*Agent, error) {
	flags := uintptr(unix.CLONE_NEWNET | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC)
	return spawn(ctx, name, flags, "")
}

// openNamespace connects to the named network namespace (ip netns).
func openNamespace(ctx context.Context, name string) (*Agent, error) {
	if name == "" || strings.ContainsAny(name, "/ ") {
		return nil, fmt.Errorf("ns:%s: a name as ip netns lists it is expected", name)
	}
	path := filepath.Join(netnsFolder, name)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("ns:%s: no such network namespace; see ip netns list", name)
	}
	return spawn(ctx, "ns:"+name, unix.CLONE_NEWNS, path)
}

func spawn(_ context.Context, name string, flags uintptr, netns string) (*Agent, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: socketpair: %w", name, err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "agent"), os.NewFile(uintptr(pair[1]), "agent")
	defer ours.Close()
	defer theirs.Close()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), agentVariable+"="+name)
	cmd.Stderr = os.Stderr
	cmd.ExtraFiles = []*os.File{theirs}
	// A session of its own: no key of a terminal is for an agent. Nor may the agent,
	// the parent of what outlives its own in a PID namespace, be one of this session:
	// the kernel would take the end of such a program for the end of a shell, and
	// send a group in which one process is stopped a hang-up.
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: flags, Setsid: true}
	if err := startIn(netns, cmd); err != nil {
		if errors.Is(err, fs.ErrPermission) {
			err = fmt.Errorf("%w; run it as root", err)
		}
		return nil, fmt.Errorf("%s: cannot enter its namespaces: %w", name, err)
	}
	conn, err := net.FileConn(ours)
	if err != nil {
		cmd.Process.Kill()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &Agent{name: name, cmd: cmd, client: rpc.NewClient(conn), apart: flags&unix.CLONE_NEWPID != 0}, nil
}

// unmount takes away what is mounted at a path, if anything is.
func unmount(path string) { _ = unix.Unmount(path, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW) }

// startIn starts cmd with the network namespace at path (empty: this one). The
// thread that entered the namespace is given up afterwards.
func startIn(path string, cmd *exec.Cmd) error {
	if path == "" {
		return cmd.Start()
	}
	result := make(chan error)
	go func() {
		runtime.LockOSThread()
		result <- func() error {
			fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			if err := unix.Setns(fd, unix.CLONE_NEWNET); err != nil {
				return err
			}
			return cmd.Start()
		}()
	}()
	return <-result
}

// prepareNamespace gives an agent's mount namespace the /sys and, in a PID
// namespace of its own, the /proc that belong to it.
func prepareNamespace(name string) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return fmt.Errorf("mount namespace: %w", err)
	}
	const flags = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	err := unix.Mount("sysfs", "/sys", "sysfs", flags, "")
	if errors.Is(err, unix.EPERM) {
		// A container that hides parts of /sys must not see them in a new one. No
		// interfaces are better than those of another network namespace.
		err = unix.Mount("tmpfs", "/sys/class/net", "tmpfs", flags|unix.MS_RDONLY, "")
	}
	if err != nil {
		return fmt.Errorf("/sys of the namespace: %w", err)
	}
	if os.Getpid() != 1 {
		return nil
	}
	go reapOrphans()
	// Without it ps and /proc/PID show the outer processes, nothing worse.
	_ = unix.Mount("proc", "/proc", "proc", flags, "")
	return unix.Sethostname([]byte(name))
}
