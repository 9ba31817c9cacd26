package workload

import (
	"context"
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/host"
)

// TestRoom: more connections than the client has ports, or than a process may have
// files, are not tried, and the limit is said.
func TestRoom(t *testing.T) {
	const ports = "/proc/sys/net/ipv4/ip_local_port_range"
	for _, c := range []struct {
		ports, clientFiles, serverFiles string
		asked, want                     int
		code                            string
	}{
		{"32768 60999\n", "1048576\n", "1048576\n", 100_000, 28_232, LimitPorts},
		{"32768 60999\n", "20000\n", "1048576\n", 100_000, 19_900, LimitFiles},
		{"1024 65535\n", "unlimited\n", "1024\n", 5000, 924, LimitFiles},
		{"32768 60999\n", "1024\n", "1024\n", 32, 32, ""},
		{"32768 60999\n", "1024\n", "1024\n", 900, 900, ""},
		{"", "", "", 5000, 5000, ""},
		{"40000 40009\n", "1024\n", "1024\n", 32, 10, LimitPorts},
	} {
		p := Pair{Client: files{answering{ports: c.ports}, c.clientFiles}, Server: files{answering{}, c.serverFiles}}
		n, limit := p.room(t.Context(), c.asked)
		if n != c.want || limit.Code != c.code || (limit.Text == "") != (c.code == "") {
			t.Errorf("%+v: %d, %+v", c, n, limit)
		}
	}
}

// files answers each script with a number.
type files struct {
	answering
	limit string
}

func (f files) Do(ctx context.Context, ops ...host.Op) ([]host.Answer, error) {
	answers, err := f.answering.Do(ctx, ops...)
	for i := range answers {
		if strings.Contains(string(ops[i].Data), "ulimit") {
			answers[i] = host.Answer{Op: ops[i], Out: []byte(f.limit)}
		}
	}
	return answers, err
}

// TestRaise: a shell's own program has as many files as it needs, where it may.
func TestRaise(t *testing.T) {
	run := func(words ...string) string {
		t.Helper()
		out, err := host.Run(t.Context(), host.NewLocal(), words...)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(out)
	}
	if got := run(roomy(300, "sh", "-c", "echo $1 $(ulimit -n)", "sh", "a b")...); !strings.HasPrefix(got, "a b ") {
		t.Errorf("%q", got)
	}
	const few = "ulimit -S -n 250; "
	if got := run("sh", "-c", few+raise(300)+"ulimit -n"); got != "400" {
		t.Errorf("from 250: %s files for 300 connections", got)
	}
	if got := run("sh", "-c", few+raise(100)+"ulimit -n"); got != "250" {
		t.Errorf("from 250: %s files for 100 connections", got)
	}
}
