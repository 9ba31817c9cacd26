//go:build linux

package lab

import (
	"io"
	"net"
	"os/exec"
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/lab/link"
)

// TestForget: what a run leaves in its hosts' kernels, tracked connections and
// ports in TIME-WAIT, is gone for the next one; what is open stays.
func TestForget(t *testing.T) {
	l := bring(t, Routed(link.Link{}))
	if _, err := exec.LookPath("nft"); err == nil {
		command(t, l.Host(RouterHost), "nft", "add table inet f; add chain inet f c { type filter hook forward priority 0; }; "+
			"add rule inet f c ct state established accept")
	}
	var listener net.Listener
	if err := l.Inside(ServerHost, func() (err error) {
		listener, err = net.Listen("tcp4", net.JoinHostPort(l.PeerAddr(), "7000"))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() { defer c.Close(); _, _ = io.Copy(c, c) }()
		}
	}()
	dial := func() (c net.Conn) {
		t.Helper()
		if err := l.Inside(ClientHost, func() (err error) {
			c, err = net.Dial("tcp4", listener.Addr().String())
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return c
	}
	echo := func(c net.Conn) error {
		if _, err := io.WriteString(c, "x"); err != nil {
			return err
		}
		_, err := io.ReadFull(c, make([]byte, 1))
		return err
	}
	stays := dial()
	defer stays.Close()
	for range 3 {
		c := dial()
		if err := echo(c); err != nil {
			t.Fatal(err)
		}
		_ = c.(*net.TCPConn).CloseWrite() // the client's end is the one that waits
		_, _ = io.ReadAll(c)
		c.Close()
	}
	ports := func() int { return strings.Count(command(t, l.Client(), "cat", "/proc/net/tcp"), " 06 ") }
	if n := ports(); n != 3 {
		t.Skipf("%d ports in TIME-WAIT", n)
	}
	tracked := tracks(l.Host(RouterHost).PID())
	err := l.Forget()
	if err != nil {
		t.Error(err)
	}
	if n := ports(); n != 0 {
		t.Errorf("%d ports are still in TIME-WAIT", n)
	}
	if tracked && tracks(l.Host(RouterHost).PID()) {
		t.Error("the router's table is not empty")
	}
	if !tracked {
		t.Log("connections are not tracked here")
	}
	if err := echo(stays); err != nil {
		t.Errorf("the connection that was open: %v", err)
	}
}
