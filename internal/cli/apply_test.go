package cli

import (
	"maps"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/change"
	"github.com/wirerate/wirerate/internal/name"
	"github.com/wirerate/wirerate/internal/netpath"
	"github.com/wirerate/wirerate/internal/plan"
	"github.com/wirerate/wirerate/internal/units"
)

// form is what tells one kind of setting from another.
var form = regexp.MustCompile(`^(/?[^/@]*)`)

// TestEveryChangeHasAWay plans everything for hosts of every system: what cannot
// be written on the running system is in a file that confirm writes.
func TestEveryChangeHasAWay(t *testing.T) {
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for system, releases := range map[catalog.System][]catalog.Version{catalog.Linux: {"6.1"}, catalog.FreeBSD: {"13.0", "15.0"}, catalog.OpenBSD: {"6.8", "7.8"}} {
		drivers := map[catalog.System]string{catalog.Linux: "ixgbe", catalog.FreeBSD: "ix", catalog.OpenBSD: "ix"}
		for _, release := range releases {
			for _, role := range catalog.Roles() {
				nic := func(own string) plan.Interface {
					irqs := []plan.IRQ{{Number: "30", Affinity: "0-7", Queue: 0}, {Number: "31", Affinity: "0-7", Queue: 1}}
					return plan.Interface{Name: name.Interface(own), Driver: drivers[system], Rate: 10 * units.Gbit, Queues: 2, RingMax: 4096, Cores: []int{0, 1, 2, 3}, IRQs: irqs, Running: map[string]string{}}
				}
				m := plan.Machine{System: system, Release: release, Memory: 16 * units.GiB, Page: 4096, Cores: 8, NICRate: 10 * units.Gbit, Driver: drivers[system],
					Interfaces: []plan.Interface{nic(drivers[system] + "0"), nic(drivers[system] + "1")}}
				p, err := plan.Make(c, plan.Request{Role: role, Machine: m, Harden: true,
					Path: netpath.Path{Rate: 10 * units.Gbit, RTT: 100 * time.Millisecond, MTU: 9000, Loss: 1e-4, Measured: map[string]string{"mtu": "9000"}}})
				if err != nil {
					t.Fatal(err)
				}
				now, boot, _ := change.Divide(p)
				if len(now)+len(boot) != len(p.Changes) {
					t.Errorf("%s %s: %d and %d of %d changes", system, role, len(now), len(boot), len(p.Changes))
				}
				for _, name := range boot {
					one := p
					one.Changes = slices.DeleteFunc(slices.Clone(p.Changes), func(ch plan.Change) bool { return ch.Setting != name })
					if len(plan.NativeFiles(one, plan.All)) == 0 {
						t.Errorf("%s %s %s: %s is written nowhere", system, release, role, name)
					}
				}
				for _, name := range append(now, boot...) {
					seen[string(system)+" "+form.FindString(name)] = true
				}
			}
		}
	}
	for _, want := range []string{"linux ethtool:coalesce", "linux route:initcwnd", "linux tcp_bbr", "linux /sys", "freebsd ifconfig:lro", "freebsd pf:set", "freebsd kern.ipc.maxsockbuf", "openbsd pf:set"} {
		if !seen[want] {
			t.Errorf("no plan has %s; they have %v", want, slices.Sorted(maps.Keys(seen)))
		}
	}
}
