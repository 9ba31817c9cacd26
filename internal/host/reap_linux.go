package host

import (
	"os"
	"os/signal"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// reapGrace is how long an ended process waits for the one that started it here
// before it is taken for an orphan.
const reapGrace = time.Second

// reapOrphans takes leave of processes that have lost their parent and ended: as
// the first process of a PID namespace this one inherits them. Those that it
// started itself are waited for elsewhere, at once.
func reapOrphans() {
	children := make(chan os.Signal, 1)
	signal.Notify(children, syscall.SIGCHLD)
	for range children {
		for pid := ended(); pid != 0; pid = ended() {
			time.Sleep(reapGrace)
			if ended() == pid {
				unix.Wait4(pid, nil, unix.WNOHANG, nil)
			}
		}
	}
}

// ended returns a child that has ended and nobody has waited for, 0 if there is
// none.
func ended() int {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	if err != nil || info.Signo == 0 {
		return 0
	}
	// The kernel's union of details begins at a pointer's alignment behind three
	// numbers (siginfo_t of asm-generic/siginfo.h), for a child with its number.
	const word = unsafe.Sizeof(uintptr(0))
	offset := (unsafe.Sizeof(info.Signo)*3 + word - 1) / word * word
	return int(*(*int32)(unsafe.Add(unsafe.Pointer(&info), offset)))
}
