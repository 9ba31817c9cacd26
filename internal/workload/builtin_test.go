package workload

import (
	"errors"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/wirerate/wirerate/internal/host"
)

// TestGeneratorFailure: the advice to install something is for a program that
// did not start, not for a path that is dead.
func TestGeneratorFailure(t *testing.T) {
	const advice = "install iperf3 there"
	for _, c := range []struct {
		answer host.Answer
		want   string
		advise bool
	}{
		{host.Answer{Failure: host.TimedOut, Stderr: "still running after 31s, stopped"}, "may be dead", false},
		{host.Answer{Failure: host.Absent, Stderr: "sh: wirerate: not found"}, "not found", true},
		{host.Answer{Failure: host.Failed, Status: 127, Stderr: "exec: no such thing"}, "no such thing", true},
		{host.Answer{Failure: host.Failed, Status: 4, Stderr: "wirerate: dial tcp 192.0.2.1:5201: i/o timeout"}, "a packet filter between the two", false},
		{host.Answer{Failure: host.Failed, Status: 4, Stderr: "wirerate: the server reports: a stream ended early: unexpected EOF"}, "the server reports: a stream ended early", false},
	} {
		err := generatorFailed(host.NewLocal(), c.answer)
		if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), advice) != c.advise {
			t.Errorf("%+v: %v", c.answer, err)
		}
	}
}

// TestCountBeforeTheFlood: no packet is sent before the connection is open by
// which the server's count is read, whose handshake a flood may drown.
func TestCountBeforeTheFlood(t *testing.T) {
	server, err := net.ListenPacket("udp", "127.0.0.1:0") // and nothing listens on TCP
	if err != nil {
		t.Skip(err)
	}
	defer server.Close()
	l := &load{ctx: t.Context(), addr: server.LocalAddr().String(), spec: Spec{Streams: 1, Duration: time.Second}}
	l.begin()
	if m, err := l.packets(); err == nil {
		t.Errorf("counted by nobody: %v", m)
	}
	server.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	if n, _, err := server.ReadFrom(make([]byte, 100)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%d bytes came: %v", n, err)
	}
}

// TestPortTaken: what somebody else serves is not measured, and the trial ends
// at once.
func TestPortTaken(t *testing.T) {
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip(err)
	}
	defer other.Close()
	c := host.NewLocal()
	port := other.Addr().(*net.TCPAddr).Port
	s := Spec{Workload: "crr", Tool: "builtin", Streams: 1, Duration: time.Second, Port: port}
	_, err = Measure(t.Context(), Pair{Client: c, Server: c, Addr: "127.0.0.1"}, s)
	if !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "is taken; choose another with --port") {
		t.Error(err)
	}
}

// TestServerKilled: a server that ended in the middle spoils the run, whatever
// its client counted until then.
func TestServerKilled(t *testing.T) {
	c := host.NewLocal()
	s := session{tool: "wrk", server: []string{"true"}, client: []string{"sh", "-c", "sleep 0.3; echo 1"}, limit: 5 * time.Second, stays: true}
	out, err := s.run(t.Context(), Pair{Client: c, Server: c})
	if err == nil || !strings.Contains(err.Error(), "ended during the run without a message") {
		t.Errorf("%q, %v", out, err)
	}
}
