package experiment

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/wirerate/wirerate/internal/change"
	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/netpath"
	"github.com/wirerate/wirerate/internal/trial"
	"github.com/wirerate/wirerate/internal/units"
	"github.com/wirerate/wirerate/internal/workload"
)

// scripted is a host that answers as a capture does and counts as a live one.
type scripted struct{ *host.Replay }

// linuxHost answers what facts asks of a Linux host, with an address, running
// settings, and further files and outputs by their paths or commands.
func linuxHost(name, address, settings string, more ...host.CaptureEntry) scripted {
	run := func(out string, words ...string) host.CaptureEntry {
		return host.CaptureEntry{Action: host.ActRun, Args: words, Out: []byte(out)}
	}
	entries := append(more,
		run("Linux "+name+" 6.1.0-18-amd64 #1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1 (2024-02-01) x86_64 GNU/Linux\n", "uname", "-a"),
		run(settings, "sysctl", "-a"),
		host.CaptureEntry{Action: host.ActRead, Path: "/proc/meminfo", Out: []byte("MemTotal:       16384000 kB\nMemAvailable:   15000000 kB\n")},
		run("4096\n", "getconf", "PAGESIZE"),
		run("2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc fq_codel state UP mode DEFAULT group default qlen 1000\n"+
			"    link/ether 52:54:00:12:34:56 brd ff:ff:ff:ff:ff:ff\n", "ip", "-s", "-d", "link", "show"),
		run("2: eth0    inet "+address+" brd 192.0.2.255 scope global eth0\n", "ip", "-o", "address", "show"))
	return scripted{host.NewReplay(&host.Capture{Host: name, Entries: entries})}
}

// running are the settings of the scripted hosts.
const running = "net.core.rmem_max = 212992\nnet.core.wmem_max = 212992\nnet.ipv4.tcp_rmem = 4096\t131072\t6291456\n" +
	"net.ipv4.tcp_wmem = 4096\t16384\t4194304\nnet.ipv4.tcp_congestion_control = cubic\nnet.ipv4.tcp_fin_timeout = 30\n"

// pair are two scripted hosts and what their experiment said.
func pair(t *testing.T) (Config, *bytes.Buffer) {
	t.Helper()
	said := &bytes.Buffer{}
	hosts := map[string]host.Conn{"a": linuxHost("a", "192.0.2.1/24", running), "b": linuxHost("b", "192.0.2.2/24", running)}
	return Config{Host: "a", Peer: "b", Sink: sink{said}, NoHistory: true, Role: "bulk", Spec: workload.Spec{Workload: "bulk", Duration: time.Second, Omit: time.Second},
		Path: netpath.Path{Rate: units.Gbit, RTT: 50 * time.Millisecond, MTU: 1500}, Pairs: 4, Budget: time.Hour, Margin: 0.02, Seed: 7,
		Open: func(_ context.Context, name string) (host.Conn, error) {
			if c, ok := hosts[name]; ok {
				return c, nil
			}
			return nil, fmt.Errorf("%s: %w", name, host.ErrUnreachable)
		}}, said
}

// opened is a session on scripted hosts on whose bench runs are as value says.
func opened(t *testing.T, c Config, value func(n int, v trial.Values) (float64, error)) *session {
	t.Helper()
	s, err := open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	n := 0
	s.bench = &trial.Bench{}
	s.makeRun = func(_ context.Context, v trial.Values) (workload.Run, error) {
		n++
		goodput, err := value(n, v)
		return workload.Run{Tool: "scripted", Start: time.Now(), GoodputBPS: goodput, Retransmits: -1, Metrics: map[string]float64{"goodput_bps": goodput}}, err
	}
	for _, e := range s.hosts() {
		e.tuned.Change = journalOf(e)
	}
	t.Cleanup(func() { // there is nothing to restore
		for _, e := range s.hosts() {
			e.tuned.Change = nil
		}
	})
	return s
}

// journalOf is what a journal of a host's settings would know.
func journalOf(e *end) *change.Change {
	c := &change.Change{}
	for name, v := range e.facts.Settings {
		c.Items = append(c.Items, change.Item{Setting: name, Old: v.Value})
	}
	return c
}

// armsOf resolves arms on the hosts of a session.
func armsOf(t *testing.T, s *session, texts ...string) []*armValues {
	t.Helper()
	s.Arms = nil
	for _, text := range texts {
		a, err := ParseArm(text)
		if err != nil {
			t.Fatal(err)
		}
		s.Arms = append(s.Arms, a)
	}
	arms, err := s.resolveArms(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return arms
}

// sink keeps the messages of an experiment.
type sink struct{ *bytes.Buffer }

func (s sink) Note(text string) { s.WriteString(text + "\n") }

func (sink) Progress(trial.Progress) {}
