package cli

import (
	"runtime/debug"
	"syscall"
)

// crashApart makes a crash of the program itself, in whichever goroutine, end
// with SIGABRT, 134 for a shell: Go's own status of it would be that of wrong
// input. What is in memory stays there: no core is written, unless a program
// that is started asks for it.
func crashApart() {
	debug.SetTraceback("crash")
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_CORE, &limit); err == nil {
		limit.Cur = 0
		_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &limit) // lowering it is always allowed
	}
}
