package lab

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// EnterUserNamespace makes the program able to bring up a lab without being
// root: unless it is, it runs itself again, with the same arguments, as root of
// a user namespace in which only the user's own identity exists, passes
// signals on, and ends with the same exit status. It returns nil in the process
// that is to go on, or says why there is none. Call it before any work.
func EnterUserNamespace() error {
	if f, err := os.OpenFile(tunDevice, os.O_RDWR, 0); err != nil {
		return fmt.Errorf("%w: %v; load the module (modprobe tun), or let the user open it (chmod 666 %s), or in a container give it the device", ErrUnavailable, err, tunDevice)
	} else {
		f.Close()
	}
	if os.Geteuid() == 0 {
		return nil
	}
	// The child's death signal follows the thread that started it.
	runtime.LockOSThread()
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Args[0] = os.Args[0]
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		Pdeathsig:   syscall.SIGKILL,
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	if err := cmd.Start(); err != nil {
		signal.Stop(signals)
		return fmt.Errorf("%w: no user namespace (%v); run as root, or allow them: sysctl user.max_user_namespaces=10000, on Debian and Ubuntu also kernel.unprivileged_userns_clone=1 and kernel.apparmor_restrict_unprivileged_userns=0", ErrUnavailable, err)
	}
	go func() {
		for s := range signals {
			// The terminal has sent an interrupt to the child already.
			if s != syscall.SIGINT {
				cmd.Process.Signal(s)
			}
		}
	}()
	err := cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) && !exit.Exited() {
		os.Exit(128 + int(exit.Sys().(syscall.WaitStatus).Signal()))
	}
	if err != nil && exit == nil {
		fmt.Fprintf(os.Stderr, "wirerate: %v\n", err)
		os.Exit(4)
	}
	os.Exit(cmd.ProcessState.ExitCode())
	return nil
}
