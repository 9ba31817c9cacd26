package emulator

import (
	"errors"
	"fmt"
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

// Device is the path of the device that makes TUN interfaces.
const Device = "/dev/net/tun"

// ErrNoDevice is wrapped where TUN interfaces cannot be made here.
var ErrNoDevice = errors.New("no TUN device")

// OpenTUN makes a TUN interface in the calling thread's network namespace and
// returns its descriptor, non-blocking. The interface goes with the descriptor.
// Kernels before 6.2 do not offer UDP segmentation (USO); there the kernel cuts
// UDP itself, which costs speed and nothing else.
func OpenTUN(name string) (fd int, err error) {
	fd, err = unix.Open(Device, unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, fmt.Errorf("%w: open %s: %w; %s", ErrNoDevice, Device, err, DeviceAdvice(err))
	}
	defer func() {
		if err != nil {
			unix.Close(fd)
		}
	}()
	req, err := unix.NewIfreq(name)
	if err != nil {
		return 0, fmt.Errorf("interface name %q: %w", name, err)
	}
	req.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI | unix.IFF_VNET_HDR)
	if err := unix.IoctlIfreq(fd, unix.TUNSETIFF, req); errors.Is(err, unix.ENOTTY) {
		return 0, fmt.Errorf("%w: %s is not the TUN device; make it: mknod %[2]s c 10 200", ErrNoDevice, Device)
	} else if err != nil {
		return 0, fmt.Errorf("make TUN interface %s: %w; it needs CAP_NET_ADMIN in the network namespace", name, err)
	}
	base := tunCsum | tunTSO4 | tunTSO6 | tunTSOECN
	if unix.IoctlSetInt(fd, unix.TUNSETOFFLOAD, base|tunUSO4|tunUSO6) == nil {
		return fd, nil
	}
	if err := unix.IoctlSetInt(fd, unix.TUNSETOFFLOAD, base); err != nil {
		return 0, fmt.Errorf("offloads of TUN interface %s: %w", name, err)
	}
	return fd, nil
}

// DeviceAdvice says what to do about a TUN device that does not open.
func DeviceAdvice(err error) string {
	const container = "in a container, give it the device (--device " + Device + ")"
	switch {
	case errors.Is(err, unix.EACCES):
		return "run as root, or let the user open it: chmod 666 " + Device
	case errors.Is(err, unix.EPERM):
		return container
	}
	return "load the module (modprobe tun); " + container
}

// readUnit reads one unit; 0 means that there is none. Neither it nor
// writeUnit tells the Go scheduler: they do not block and take a few
// microseconds, about as long as telling it would.
func readUnit(fd int, b []byte) (int, unix.Errno) {
	n, _, e := unix.RawSyscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))),
		uintptr(len(b)))
	if e != 0 {
		return 0, e
	}
	return int(n), 0
}

// writeUnit writes the concatenation of head and body as one unit.
func writeUnit(fd int, head, body []byte) unix.Errno {
	if len(body) == 0 {
		_, _, e := unix.RawSyscall(unix.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(head))),
			uintptr(len(head)))
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
