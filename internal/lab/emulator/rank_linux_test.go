package emulator

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// A thread that needs little is a real-time one, one that needs much is not, and
// what it starts is neither. Where that is not allowed it stays what it was.
func TestRankFollowsWhatIsUsed(t *testing.T) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // for good: the thread ends with its rank
		var r rank
		r.begin()
		allowed := !r.refused
		for i, used := range []int64{100, 900, 600, 400, 600, 800} { // thousandths of each second
			at := int64(i+1) * 1e9
			r.follow(at, r.used+used*1e6)
			want := allowed && []bool{true, false, false, true, true, false}[i]
			attr, err := unix.SchedGetAttr(0, 0)
			if err != nil {
				t.Error(err)
				return
			}
			if got := attr.Policy == unix.SCHED_FIFO; got != want || r.realTime != want || r.refused == allowed {
				t.Errorf("after %d thousandths of a processor: real-time %t (%+v), want %t", used, got, r, want)
			}
			if attr.Flags&unix.SCHED_FLAG_RESET_ON_FORK == 0 {
				t.Errorf("what it starts inherits %+v", attr)
			}
			r.follow(at+rankEvery-1, r.used+rankEvery) // too soon to tell
		}
	}()
	<-done
}
