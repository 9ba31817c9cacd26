package experiment

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/netpath"
	"github.com/wirerate/wirerate/internal/workload"
)

func reasonOf(err error) Reason {
	var e *Error
	if errors.As(err, &e) {
		return e.Reason
	}
	return 0
}

// TestOpen: what is known of a path before the first run, and what is refused.
func TestOpen(t *testing.T) {
	ping := host.CaptureEntry{Action: host.ActRun, Args: []string{"ping", "-n", "-c", "3", "-i", "0.2", "192.0.2.2"},
		Out: []byte("64 bytes from 192.0.2.2: icmp_seq=1 ttl=64 time=40.9 ms\n64 bytes from 192.0.2.2: icmp_seq=2 ttl=64 time=40.2 ms\n")}
	far := linuxHost("b", "198.51.100.7/24", running)
	for name, c := range map[string]struct {
		change  func(*Config)
		client  host.Conn // nil: the usual one
		server  host.Conn
		address string
		rtt     time.Duration
		known   bool
		reason  Reason
	}{
		"declared":     {address: "192.0.2.2", rtt: 50 * time.Millisecond, known: true},
		"pinged":       {change: func(c *Config) { c.Path = netpath.Path{} }, client: linuxHost("a", "192.0.2.1/24", running, ping), address: "192.0.2.2", rtt: 40200 * time.Microsecond},
		"silent":       {change: func(c *Config) { c.Path = netpath.Path{} }, address: "192.0.2.2"},
		"said address": {change: func(c *Config) { c.Address = "203.0.113.9" }, address: "203.0.113.9", rtt: 50 * time.Millisecond, known: true},
		"far":          {server: far, address: "198.51.100.7", rtt: 50 * time.Millisecond, known: true},
		"no address":   {server: linuxHost("b", "127.0.0.1/8", running), reason: Input},
		"not measured": {change: func(c *Config) { c.MeasurePath = true }, reason: Missing},
		"capture":      {server: host.NewReplay(&host.Capture{Host: "b"}), reason: Input},
		"no system":    {server: scripted{host.NewReplay(&host.Capture{Host: "b"})}, reason: Failed},
	} {
		config, _ := pair(t)
		if c.change != nil {
			c.change(&config)
		}
		usual := config.Open
		config.Open = func(ctx context.Context, name string) (host.Conn, error) {
			switch {
			case name == "a" && c.client != nil:
				return c.client, nil
			case name == "b" && c.server != nil:
				return c.server, nil
			}
			return usual(ctx, name)
		}
		s, err := open(t.Context(), config)
		if err != nil || c.reason != 0 {
			if reasonOf(err) != c.reason {
				t.Errorf("%s: %v, reason %d", name, err, reasonOf(err))
			}
			continue
		}
		if s.address != c.address || s.rtt != c.rtt || s.known != c.known {
			t.Errorf("%s: %s %s %t", name, s.address, s.rtt, s.known)
		}
		s.close()
	}
}

// TestArms: what arms set on hosts, what of them is left out, and why.
func TestArms(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	c, _ := pair(t)
	profile := host.CaptureEntry{Action: host.ActRead, Path: "/usr/lib/tuned/fast/tuned.conf",
		Out: []byte("[main]\ninclude=base\n[sysctl]\nnet.core.rmem_max=1048576\n[cpu]\ngovernor=performance\n")}
	base := host.CaptureEntry{Action: host.ActRead, Path: "/usr/lib/tuned/base/tuned.conf", Out: []byte("[sysctl]\nnet.core.wmem_max=1048576\n")}
	usual := c.Open
	c.Open = func(ctx context.Context, name string) (host.Conn, error) {
		if name == "b" {
			return linuxHost("b", "192.0.2.2/24", running, profile, base), nil
		}
		return usual(ctx, name)
	}
	s := opened(t, c, nil)
	arms := armsOf(t, s, "set:net.core.rmem_max=1,net/core/wmem_max=2", "cc:bbr", "file:"+file("99-x.conf", "net.ipv4.tcp_fin_timeout = 21\nkernel.osrelease = x\n"))
	for i, want := range []map[string]string{{"net.core.rmem_max": "1", "net.core.wmem_max": "2"}, {"net.ipv4.tcp_congestion_control": "bbr"},
		{"net.ipv4.tcp_fin_timeout": "21"}} {
		for name, v := range want {
			if arms[i].values.Client[name] != v || arms[i].values.Server[name] != v {
				t.Errorf("%s: %+v", arms[i].name, arms[i].values)
			}
		}
	}
	if n := arms[2].notes; len(n) != 2 || !strings.Contains(n[0].Text, "kernel.osrelease") {
		t.Errorf("left out: %q", n)
	}
	if _, err := ParseArm("tuned:fast"); err != nil {
		t.Fatal(err)
	}
	values, err := s.fromTuned(t.Context(), arms[0], &s.server, "fast")
	if err != nil || !slices.Equal(values, []assigned{{"net.core.wmem_max", "1048576"}, {"net.core.rmem_max", "1048576"},
		{"/sys/devices/system/cpu/*/cpufreq/scaling_governor", "performance"}}) {
		t.Errorf("%v %v", values, err)
	}
	if _, err := s.fromTuned(t.Context(), arms[0], &s.client, "no-such-profile"); err == nil {
		t.Error("a profile that is nowhere")
	}
}

// TestDefaults: default is what the release ships, for what another arm changes.
func TestDefaults(t *testing.T) {
	c, _ := pair(t)
	usual := c.Open
	c.Open = func(ctx context.Context, name string) (host.Conn, error) {
		if name == "a" {
			return linuxHost("a", "192.0.2.1/24", strings.Replace(running, "fin_timeout = 30", "fin_timeout = 12", 1)), nil
		}
		return usual(ctx, name)
	}
	s := opened(t, c, nil)
	arms := armsOf(t, s, "default", "set:net.ipv4.tcp_fin_timeout=21")
	if got := arms[0].values.Client["net.ipv4.tcp_fin_timeout"]; got != "60" || len(arms[0].notes) == 0 {
		t.Errorf("%q %q", got, arms[0].notes)
	}
}

// TestRouted: with a router the arms set that alone, but for parts with ends:.
func TestRouted(t *testing.T) {
	c, _ := pair(t)
	usual := c.Open
	c.Via = "r"
	c.Open = func(ctx context.Context, name string) (host.Conn, error) {
		if name == "r" {
			return linuxHost("r", "192.0.2.3/24", running), nil
		}
		return usual(ctx, name)
	}
	s := opened(t, c, nil)
	arms := armsOf(t, s, "set:net.core.rmem_max=1+ends:set:net.core.wmem_max=2")
	v := arms[0].values
	if len(v.Router) != 1 || v.Router["net.core.rmem_max"] != "1" || len(v.Client) != 1 || v.Server["net.core.wmem_max"] != "2" {
		t.Errorf("%+v", v)
	}
	s.Arms = []Arm{{parts: []part{{kind: "plan"}}}}
	if to := s.toPlan(); len(to) != 1 || s.roleOf(to[0]) != "router" {
		t.Errorf("%+v", to)
	}
}

// TestPlanned: what of a plan is tried are runtime sysctls, in the plan's order.
func TestPlanned(t *testing.T) {
	c, _ := pair(t)
	s := opened(t, c, nil)
	if err := s.makePlans(t.Context(), s.hosts()); err != nil {
		t.Fatal(err)
	}
	if len(s.client.tried) == 0 || !slices.ContainsFunc(s.client.tried, func(a assigned) bool { return a.name == "net.ipv4.tcp_rmem" }) {
		t.Errorf("%v of %d changes; kept %+v", s.client.tried, len(s.client.plan.Changes), s.client.plan.Kept)
	}
	at := 0
	for _, ch := range s.client.plan.Changes {
		if at < len(s.client.tried) && s.client.tried[at].name == ch.Setting {
			at++
		}
	}
	if at != len(s.client.tried) {
		t.Errorf("not in the plan's order: %v", s.client.tried)
	}
	if len(s.client.tuned.Order) != 0 {
		t.Errorf("the journal's order before there is a journal: %v", s.client.tuned.Order)
	}
}

// TestHostTexts: what holds for two hosts is said once, with both names.
func TestHostTexts(t *testing.T) {
	said := hostTexts{hosts: map[string][]string{}}
	said.add("a", "slow")
	said.add("a", "small")
	said.add("b", "slow")
	if got := said.lines(); !slices.Equal(got, []string{"a and b: slow", "a: small"}) {
		t.Errorf("%q", got)
	}
}

// TestProbeSpec: a path is probed by bulk transfers, whatever the workload is,
// for as long as any run on it.
func TestProbeSpec(t *testing.T) {
	s := &session{Config: Config{Spec: workload.Spec{Workload: "rr", Tool: "sockperf", Port: 5300}}}
	spec, err := s.probeSpec(100 * time.Millisecond)
	if err != nil || spec.Workload != "bulk" || spec.Tool != "" || spec.Port != 5300 || spec.Omit != 2*time.Second || spec.Duration != 4*time.Second {
		t.Errorf("%+v %v", spec, err)
	}
}
