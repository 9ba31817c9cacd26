package host

import (
	"io"
	"net"
	"net/rpc"
	"strings"
	"syscall"
	"testing"
)

// However the end of an agent shows, it is said to have ended.
func TestEndOfAnAgentIsSaid(t *testing.T) {
	for _, err := range []error{rpc.ErrShutdown, io.ErrUnexpectedEOF, &net.OpError{Op: "read", Net: "unix", Err: syscall.ECONNRESET}} {
		if got := gone(err); got == nil || !strings.Contains(got.Error(), "agent has ended") {
			t.Errorf("%v: %v", err, got)
		}
	}
	if gone(io.EOF) != io.EOF || gone(nil) != nil {
		t.Error("another error was changed")
	}
}
