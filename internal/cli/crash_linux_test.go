package cli

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// crashes are ways in which a Go program ends without being asked.
var crashes = map[string]func(){
	"panic":     func() { panic("on purpose") },
	"goroutine": func() { go panic("on purpose"); time.Sleep(time.Minute) },
	"nil":       func() { var p *int; *p = 1 },
	"stack":     func() { r := &ring{}; r.next = r; println(r.length()) },
	"memory":    exhaust,
	"maps":      writeTogether,
}

// ring is a list without an end.
type ring struct{ next *ring }

func (r *ring) length() int {
	if r == nil {
		return 0
	}
	return r.next.length() + 1
}

var kept [][]byte

func exhaust() {
	limit := syscall.Rlimit{Cur: 2 << 30, Max: 2 << 30}
	if err := syscall.Setrlimit(syscall.RLIMIT_AS, &limit); err != nil {
		panic(err)
	}
	for {
		kept = append(kept, make([]byte, 64<<20))
	}
}

func writeTogether() {
	m := map[int]int{}
	for range 8 {
		go func() {
			for i := 0; ; i++ {
				m[i%16] = i
			}
		}()
	}
	time.Sleep(time.Minute)
}

// TestCrash is run by itself: this test starts itself again for each way to
// crash, which is named behind the test's own arguments.
func TestCrash(t *testing.T) {
	if how := crashes[flag.Arg(0)]; how != nil {
		crashApart()
		how()
	}
	for name := range crashes {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestCrash$", name)
		cmd.Dir = t.TempDir()
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		status := exit.Sys().(syscall.WaitStatus)
		if !status.Signaled() || status.Signal() != syscall.SIGABRT || status.CoreDump() {
			t.Errorf("%s: %v, want SIGABRT without a core\n%.300s", name, err, out)
		}
		if !strings.Contains(string(out), "goroutine ") {
			t.Errorf("%s: it does not say where:\n%.300s", name, out)
		}
	}
}
