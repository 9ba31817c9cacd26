package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/wirerate/wirerate/internal/input"
	"github.com/wirerate/wirerate/internal/lab/emulator"
)

// EnterUserNamespace makes the program able to bring up a lab without being
// root, or as a root that a container has taken privileges from: it then runs
// itself again, with args, which are to be its own, as root of a user namespace in
// which only the user's own identity exists, passes signals on, and returns *Ended.
// It returns nil in the process that is to go on, or says why there is none: the
// end of ctx, for one. Call it before any work.
func EnterUserNamespace(ctx context.Context, args []string) error {
	if self, err := os.Readlink("/proc/self"); err != nil || self != strconv.Itoa(os.Getpid()) {
		return fmt.Errorf("%w: /proc is not that of this PID namespace; mount it: mount -t proc proc /proc",
			ErrUnavailable)
	}
	if f, err := os.OpenFile(emulator.Device, os.O_RDWR, 0); err != nil {
		return fmt.Errorf("%w: %v; %s", ErrUnavailable, err, emulator.DeviceAdvice(err))
	} else {
		f.Close()
	}
	if privileged() {
		return nil
	}
	// The child's death signal follows the thread that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Args[0] = programName
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		Pdeathsig:   syscall.SIGKILL,
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP)
	if err := ctx.Err(); err != nil { // a signal that came before they were ours
		signal.Stop(signals)
		return err
	}
	if err := cmd.Start(); err != nil {
		signal.Stop(signals)
		return fmt.Errorf("%w: no user namespace (%v); %s", ErrUnavailable, err, namespaceAdvice(err))
	}
	for range len(signals) { // came before there was a child
		cmd.Process.Signal(<-signals)
	}
	go func() {
		for s := range signals {
			// What its keys send the terminal has sent to the child already.
			if key := s == syscall.SIGINT || s == syscall.SIGQUIT; !key || !inForeground() {
				cmd.Process.Signal(s)
			}
		}
	}()
	status, err := exitStatus(cmd.Wait())
	signal.Stop(signals)
	close(signals)
	if err != nil {
		return err
	}
	return &Ended{status}
}

// privileged says whether this process may make namespaces and the interfaces in
// them.
func privileged() bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if os.Geteuid() != 0 || unix.Capget(&header, &data[0]) != nil {
		return false
	}
	const wanted = 1<<unix.CAP_SYS_ADMIN | 1<<unix.CAP_NET_ADMIN
	return data[0].Effective&wanted == wanted
}

// namespaceAdvice says what to do about namespaces that cannot be made.
func namespaceAdvice(err error) string {
	switch {
	case errors.Is(err, unix.EMFILE):
		return "allow more open files: ulimit -n 1024"
	case errors.Is(err, unix.EAGAIN):
		return "allow more processes: ulimit -u"
	case !errors.Is(err, unix.ENOSPC):
		return "run as root; or allow user namespaces: on Debian and Ubuntu sysctl -w " +
			"kernel.unprivileged_userns_clone=1 kernel.apparmor_restrict_unprivileged_userns=0 (those that exist), " +
			"in a container with --security-opt seccomp=unconfined or --privileged"
	}
	var low []string
	for _, kind := range []string{"user", "net", "mnt", "pid", "uts", "ipc"} {
		data, err := input.File("/proc/sys/user/max_"+kind+"_namespaces", recordLimit)
		if limit, bad := strconv.Atoi(strings.TrimSpace(string(data))); err == nil && bad == nil && limit < lowLimit {
			low = append(low, fmt.Sprintf("user.max_%s_namespaces=%d", kind, lowLimit))
		}
	}
	if low == nil {
		return "as many namespaces as the machine allows are in use; see: lsns, sysctl user"
	}
	return "the machine allows too few; allow more: sysctl -w " + strings.Join(low, " ")
}

// lowLimit is a number of namespaces that is more than some labs need.
const lowLimit = 1000
