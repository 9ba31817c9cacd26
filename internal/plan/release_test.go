package plan

import (
	"strings"
	"testing"
	"time"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/netpath"
	"github.com/wirerate/wirerate/internal/units"
)

func TestReleaseOf(t *testing.T) {
	for _, c := range []struct {
		system     catalog.System
		text, want string
		said       bool
	}{
		{catalog.Linux, "6.12", "6.12", false},
		{catalog.Linux, "linux 6.12", "6.12", false},
		{catalog.Linux, "6.8.0-31-generic", "6.8.0-31-generic", false},
		{catalog.Linux, "4.18.0-553.el8_10.x86_64", "4.18.0-553.el8_10.x86_64", true},
		{catalog.Linux, "rhel9", "5.14", true},
		{catalog.Linux, "Rocky 9.4", "5.14", true},
		{catalog.Linux, "el8", "4.18", true},
		{catalog.Linux, "Ubuntu 22.04", "5.15", true},
		{catalog.Linux, "ubuntu-19.10", "ubuntu-19.10", false},
		{catalog.Linux, "debian13", "6.12", true},
		{catalog.Linux, "freebsd 14.1", "freebsd 14.1", false},
		{catalog.FreeBSD, "FreeBSD 14.3-RELEASE-p1", "14.3-release-p1", false},
		{catalog.OpenBSD, "OpenBSD 7.8", "7.8", false},
		{catalog.FreeBSD, "debian13", "debian13", false},
		{catalog.Linux, "", "", false},
	} {
		got, said := ReleaseOf(c.system, c.text)
		if got != c.want || (said != "") != c.said {
			t.Errorf("%s %q: %q, said %q", c.system, c.text, got, said)
		}
	}
}

// TestContradictions: what does not go together is planned for and said.
func TestContradictions(t *testing.T) {
	for _, c := range []struct {
		role string
		path netpath.Path
		nic  units.Rate
		want string
	}{
		{"latency", netpath.Path{Rate: units.Gbit, RTT: 100 * time.Millisecond, MTU: 1500}, 0, "role latency saves tens of microseconds"},
		{"latency", netpath.Path{Rate: units.Gbit, RTT: 100 * time.Microsecond, MTU: 1500}, 0, ""},
		{"file", netpath.Path{Rate: units.Gbit, RTT: 200 * time.Millisecond, MTU: 1500}, 0, "wait for an answer"},
		{"bulk", netpath.Path{Rate: units.Mbit, RTT: 10 * time.Millisecond, MTU: 1500}, 0, "the path holds 1.22 KiB"},
		{"web", netpath.Path{Rate: 40 * units.Gbit, RTT: time.Millisecond, MTU: 1500}, units.Gbit, "more than the interface's 1 Gbit/s"},
		{"web", netpath.Path{Rate: units.Gbit, RTT: time.Millisecond, MTU: 1500}, 10 * units.Gbit, ""},
	} {
		m := server(catalog.Linux, "6.12")
		m.NICRate = c.nic
		got := strings.Join(planned(t, Request{Path: c.path, Role: c.role, Machine: m}).Warnings, "\n")
		if c.want == "" && (strings.Contains(got, "role ") || strings.Contains(got, "interface's")) || !strings.Contains(got, c.want) {
			t.Errorf("%s %s: %q, want %q", c.role, c.path, got, c.want)
		}
	}
}

// TestAssumedTogether: interfaces of which the same is assumed share a line,
// and a driver that is not described is named.
func TestAssumedTogether(t *testing.T) {
	nics, _, err := DescribedInterfaces(catalog.Linux, "eth0:ixgbe,eth1:ixgbe,eth2:foonic,eth3:r8169")
	if err != nil {
		t.Fatal(err)
	}
	m := Machine{System: catalog.Linux, Release: "6.12", Cores: 4, Interfaces: nics}.complete()
	got := strings.Join(m.Assumed, "\n")
	for _, want := range []string{"eth0 and eth1, cards of ixgbe, are taken to have 4 receive queues", "eth2, a card of foonic, is of a driver that is not described", "eth3, a card of r8169, is taken to have 1 receive queue (--queues)"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
	if len(m.Assumed) != 3 {
		t.Errorf("%d lines, want 3: %q", len(m.Assumed), got)
	}
}
