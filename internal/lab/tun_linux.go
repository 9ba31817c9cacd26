package lab

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Offloads of a TUN device (linux/if_tun.h) that x/sys does not define.
const (
	tunCsum   = 0x01
	tunTSO4   = 0x02
	tunTSO6   = 0x04
	tunTSOECN = 0x08
	tunUSO4   = 0x20
	tunUSO6   = 0x40
)

// tunDevice is the path of the device that makes TUN interfaces.
const tunDevice = "/dev/net/tun"

// openTUN makes a TUN interface in the network namespace netns (an open file
// of it) and returns its descriptor, non-blocking. The interface goes with the
// descriptor. Kernels before 6.2 do not offer UDP segmentation (USO); there
// the kernel cuts UDP itself, which costs speed and nothing else.
func openTUN(netns int, name string) (fd int, err error) {
	err = inNamespace(netns, func() error {
		fd, err = unix.Open(tunDevice, unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("%w: open %s: %w; %s", ErrUnavailable, tunDevice, err, tunAdvice(err))
		}
		req, err := unix.NewIfreq(name)
		if err != nil {
			return fmt.Errorf("interface name %q: %w", name, err)
		}
		req.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI | unix.IFF_VNET_HDR)
		if err := unix.IoctlIfreq(fd, unix.TUNSETIFF, req); err != nil {
			unix.Close(fd)
			if errors.Is(err, unix.ENOTTY) {
				return fmt.Errorf("%w: %s is not the TUN device; make it: mknod %s c 10 200", ErrUnavailable, tunDevice, tunDevice)
			}
			return fmt.Errorf("make TUN interface %s: %w; it needs CAP_NET_ADMIN in the network namespace", name, err)
		}
		base := tunCsum | tunTSO4 | tunTSO6 | tunTSOECN
		if unix.IoctlSetInt(fd, unix.TUNSETOFFLOAD, base|tunUSO4|tunUSO6) == nil {
			return nil
		}
		if err := unix.IoctlSetInt(fd, unix.TUNSETOFFLOAD, base); err != nil {
			unix.Close(fd)
			return fmt.Errorf("offloads of TUN interface %s: %w", name, err)
		}
		return nil
	})
	return fd, err
}

// inNamespace runs f on a thread in the network namespace netns. The thread
// ends with f where it cannot be brought back.
func inNamespace(netns int, f func() error) error {
	result := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		own, err := os.Open("/proc/thread-self/ns/net")
		if err != nil {
			result <- err
			return
		}
		defer own.Close()
		if err := unix.Setns(netns, unix.CLONE_NEWNET); err != nil {
			result <- fmt.Errorf("enter network namespace: %w", err)
			return
		}
		err = f()
		if unix.Setns(int(own.Fd()), unix.CLONE_NEWNET) == nil {
			runtime.UnlockOSThread()
		}
		result <- err
	}()
	return <-result
}

// readUnit reads one unit; 0 means that there is none. Neither it nor
// writeUnit tells the Go scheduler: they do not block and take a few
// microseconds, about as long as telling it would.
func readUnit(fd int, b []byte) (int, unix.Errno) {
	n, _, e := unix.RawSyscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
	if e != 0 {
		return 0, e
	}
	return int(n), 0
}

// writeUnit writes the concatenation of head and body as one unit.
func writeUnit(fd int, head, body []byte) unix.Errno {
	if len(body) == 0 {
		_, _, e := unix.RawSyscall(unix.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(head))), uintptr(len(head)))
		return e
	}
	var iov [2]unix.Iovec
	iov[0].Base = unsafe.SliceData(head)
	iov[0].SetLen(len(head))
	iov[1].Base = unsafe.SliceData(body)
	iov[1].SetLen(len(body))
	_, _, e := unix.RawSyscall(unix.SYS_WRITEV, uintptr(fd), uintptr(unsafe.Pointer(&iov)), 2)
	return e
}
