package trial

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/change"
	"github.com/wirerate/wirerate/internal/host"
)

// scripted answers every operation with what its text is mapped to.
type scripted map[string]string

func (s scripted) Name() string { return "ssh://root@b" }

func (s scripted) Do(_ context.Context, ops ...host.Op) ([]host.Answer, error) {
	var answers []host.Answer
	for _, op := range ops {
		out, ok := s[op.String()]
		a := host.Answer{Op: op, Out: []byte(out)}
		if !ok {
			a.Failure = host.Absent
		}
		answers = append(answers, a)
	}
	return answers, nil
}

func (s scripted) Start(context.Context, ...string) (host.Process, error) {
	return nil, errors.New("nothing starts here")
}
func (s scripted) Close() error { return nil }

func TestRestartIsSeen(t *testing.T) {
	for system, texts := range map[catalog.System][2]string{
		catalog.Linux:   {"51d6d5f0-6f4f-4a5c-9d3c-0f6b8f3b9b5e\n", "f1a9a2c2-8a52-4d0b-93a5-1d3f4e0a7a11\n"},
		catalog.FreeBSD: {"{ sec = 1763700000, usec = 5 } Fri Nov 21 04:40:00 2025\n", "{ sec = 1763709999, usec = 5 } Fri Nov 21 07:26:39 2025\n"},
		catalog.OpenBSD: {"Fri Nov 21 04:40:00 2025\n", "Fri Nov 21 07:26:39 2025\n"},
	} {
		asked := "sysctl -n kern.boottime"
		if system == catalog.Linux {
			asked = "/proc/sys/kernel/random/boot_id"
		}
		conn := scripted{asked: texts[0]}
		side := Side{Conn: conn, System: system}
		for range 2 {
			if err := side.forget(t.Context()); err != nil {
				t.Fatalf("%s: %v", system, err)
			}
		}
		conn[asked] = texts[1]
		err := side.forget(t.Context())
		if !errors.Is(err, errRestarted) || !strings.Contains(err.Error(), "ssh://root@b was restarted during the experiment") {
			t.Errorf("%s: %v", system, err)
		}
	}
	side := Side{Conn: scripted{}, System: catalog.Linux}
	if err := errors.Join(side.forget(t.Context()), side.forget(t.Context())); err != nil {
		t.Errorf("a host that does not tell: %v", err)
	}
}

func TestCongestionControlIsAllowedBy(t *testing.T) {
	side := Side{System: catalog.Linux}
	for refused, want := range map[string]string{
		"Operation not permitted":   `; as root of the machine this allows it: sysctl -w net.ipv4.tcp_allowed_congestion_control="$(sysctl -n net.ipv4.tcp_allowed_congestion_control) cubic"`,
		"No such file or directory": "; as root of the machine this may bring it: modprobe tcp_cubic",
		"Invalid argument":          "",
	} {
		got := side.allows(change.Outcome{Setting: "net.ipv4.tcp_congestion_control", Wanted: "cubic", Refused: refused})
		if got != want {
			t.Errorf("%s: %q, want %q", refused, got, want)
		}
	}
	if got := side.allows(change.Outcome{Setting: "net.core.rmem_max", Wanted: "1", Refused: "Operation not permitted"}); got != "" {
		t.Error(got)
	}
}
