package workload

import (
	"strings"
	"testing"

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
