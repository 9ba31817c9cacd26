package workload

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/host"
)

// answering answers every operation with what its text is mapped to.
type answering map[string]string

func (s answering) Name() string { return "router" }

func (s answering) Do(_ context.Context, ops ...host.Op) ([]host.Answer, error) {
	var answers []host.Answer
	for _, op := range ops {
		a := host.Answer{Op: op, Out: []byte(s[op.String()])}
		if _, ok := s[op.String()]; !ok {
			a.Failure = host.Absent
		}
		answers = append(answers, a)
	}
	return answers, nil
}

func (s answering) Start(context.Context, ...string) (host.Process, error) {
	return nil, errors.New("nothing starts here")
}
func (s answering) Close() error { return nil }

// softnet is a line of /proc/net/softnet_stat with as many drops.
func softnet(drops string) string {
	return "00000010 " + drops + strings.Repeat(" 00000000", 7) + "\n"
}

func TestRouterIsObserved(t *testing.T) {
	for name, c := range map[string]struct {
		before, after answering
		busy, softirq float64
		drops         float64
	}{
		"Linux": {
			answering{"/proc/stat": "cpu 0 0 0 1000 0 0 0 0\ncpu0 0 0 0 1000 0 0 0 0\n", "/proc/net/dev": "eth0: 1 1 0 5 0 0 0 0 1 1 0 0 0 0 0 0\n", "/proc/net/softnet_stat": softnet("00000000")},
			answering{"/proc/stat": "cpu 10 0 10 1050 0 0 30 0\ncpu0 10 0 10 1050 0 0 30 0\n", "/proc/net/dev": "eth0: 1 1 0 9 0 0 0 0 1 1 0 2 0 0 0 0\n", "/proc/net/softnet_stat": softnet("0000000a")},
			0.5, 0.3, 16,
		},
		"FreeBSD": {
			answering{"sysctl -n kern.cp_time": "0 0 0 0 1000\n", "sysctl -n kern.cp_times": "0 0 0 0 500 0 0 0 0 500\n", "sysctl -n net.inet.ip.intr_queue_drops": "7\n"},
			answering{"sysctl -n kern.cp_time": "10 0 10 40 1140\n", "sysctl -n kern.cp_times": "10 0 10 40 540 0 0 0 0 600\n", "sysctl -n net.inet.ip.intr_queue_drops": "9\n"},
			0.3, 0.2, 2,
		},
		"OpenBSD": {
			answering{"sysctl -n kern.cp_time": "0,0,0,0,0,1000\n", "sysctl -n net.inet.ip.ifq.drops": "0\n"},
			answering{"sysctl -n kern.cp_time": "0,0,10,20,30,1140\n", "sysctl -n net.inet.ip.ifq.drops": "0\n"},
			0.3, 0.15, 0,
		},
	} {
		w := WatchRouter(t.Context(), c.before)
		w.conn = c.after
		var r Run
		w.Finish(t.Context(), &r)
		if r.Router == nil || math.Abs(r.Metrics[RouterCPU]-c.busy) > 1e-9 || math.Abs(r.Metrics[RouterSoftIRQ]-c.softirq) > 1e-9 {
			t.Errorf("%s: %+v, metrics %v", name, r.Router, r.Metrics)
		}
		if drops, known := r.Metrics[RouterDrops]; !known || drops != c.drops {
			t.Errorf("%s: %v drops (known %t), want %v", name, drops, known, c.drops)
		}
	}
	var r Run
	WatchRouter(t.Context(), answering{}).Finish(t.Context(), &r)
	if r.Router != nil || r.RouterKernel != nil || len(r.Metrics) != 0 {
		t.Errorf("a router that tells nothing: %+v", r)
	}
	for _, text := range []string{"", "1 2 3", "a b c d e", "1,2,3,4,5,6,7"} {
		if c := parseStat(ticksOfBSD(text, "")); len(c) > 0 {
			t.Errorf("%q: %v", text, c)
		}
	}
}
