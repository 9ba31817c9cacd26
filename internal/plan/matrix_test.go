package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/netpath"
	"github.com/wirerate/wirerate/internal/units"
)

// matrix calls each with a plan for every release and role, each time with
// another memory, card, path, number of processors and load.
func matrix(t *testing.T, each func(what string, r Request, p Plan)) {
	t.Helper()
	releases := map[catalog.System][]catalog.Version{
		catalog.Linux:   {"4.18", "5.4", "5.10", "5.14", "5.15", "6.1", "6.6", "6.8", "6.12", "6.18"},
		catalog.FreeBSD: {"12.4", "13.2", "13.5", "14.0", "14.1", "14.3", "15.0"},
		catalog.OpenBSD: {"6.8", "7.0", "7.4", "7.6", "7.8"},
	}
	cards := map[catalog.System][]string{
		catalog.Linux:   {"eth0:virtio_net", "eth0:ixgbe,eth1:ixgbe", "eth0:mlx5_core", "eth0:i40e", "eth0:ice", "eth0:igb", "eth0:igc", "eth0:r8169", "eth0:bnxt_en", "eth0:ena", "eth0:vmxnet3", "eth0:e1000e"},
		catalog.FreeBSD: {"ix0,ix1", "ixl0", "ice0", "em0", "igb0,igb1", "igc0", "re0", "cc0", "mce0", "bge0", "vmx0", "vtnet0", "ena0"},
		catalog.OpenBSD: {"ix0,ix1", "ixl0", "em0", "igc0", "re0", "bge0", "vmx0", "vio0", "mcx0"},
	}
	memories := []units.Bytes{256 * units.MiB, units.GiB, 8 * units.GiB, 64 * units.GiB, 2048 * units.GiB}
	cores := []int{1, 2, 4, 16, 128}
	rates := []units.Rate{10 * units.Mbit, units.Gbit, 10 * units.Gbit, 100 * units.Gbit, 400 * units.Gbit}
	rtts := []time.Duration{100 * time.Microsecond, time.Millisecond, 20 * time.Millisecond, 80 * time.Millisecond, 600 * time.Millisecond}
	c := loaded(t)
	turn := 0
	for _, system := range catalog.Systems() {
		for _, release := range releases[system] {
			for _, role := range catalog.Roles() {
				for range 2 {
					turn++
					nics, _, err := DescribedInterfaces(system, cards[system][turn%len(cards[system])])
					if err != nil {
						t.Fatal(err)
					}
					m := Machine{System: system, Release: release, Memory: memories[turn%5], Page: 4096, Cores: cores[turn/5%5], Driver: nics[0].Driver, Interfaces: nics,
						DiskRate: 2e9 * float64(turn%3), DiskDepth: float64(turn%4) * 20, Disks: 2}
					r := Request{Path: netpath.Path{Rate: rates[turn/2%5], RTT: rtts[turn/3%5], MTU: []int{1500, 9000}[turn/7%2], Loss: []float64{0, 0, 1e-5, 1e-2}[turn%4]}, Role: role, Machine: m}
					if turn%3 == 0 {
						r.Load = Load{Connections: 2e5, ConnRate: 3e4, PacketRate: 5e6, States: 2e6, Hosts: 2e4}
					}
					p, err := Make(c, r)
					if err != nil {
						t.Fatal(err)
					}
					each(fmt.Sprintf("%s %s %s, %s, %d processors, %s, %s", system, release, role, m.Memory, m.Cores, nics[0].Driver, r.Path), r, p)
				}
			}
		}
	}
}

// TestMatrix holds every plan of the matrix against what must be true of any.
func TestMatrix(t *testing.T) {
	c := loaded(t)
	changes := 0
	matrix(t, func(what string, r Request, p Plan) {
		changes += len(p.Changes)
		wellFormed(t, p)
		everyLineIsReal(t, c, what, p)
		buffersFillThePath(t, what, r, p)
		everyNumberIsShown(t, what, p)
		sameBytes(t, c, what, r, p)
	})
	if changes < 1000 {
		t.Errorf("%d changes in the whole matrix test little", changes)
	}
}

// everyLineIsReal: each change is a setting that the release has, of the kind
// that its file needs, with a value of its type within what it takes.
func everyLineIsReal(t *testing.T, c *catalog.Catalog, what string, p Plan) {
	t.Helper()
	for _, ch := range p.Changes {
		base, _, _ := strings.Cut(ch.Setting, "@")
		rec, ok := c.Lookup(p.System, base)
		switch {
		case !ok:
			t.Errorf("%s: the catalog has no %s", what, ch.Setting)
			continue
		case rec.StateIn(p.Release) != catalog.Present:
			t.Errorf("%s: %s is %s", what, ch.Setting, rec.StateIn(p.Release))
		case !slices.Contains(rec.Belongs, ch.Belongs) || ch.Kind != rec.Kind || rec.Kind == catalog.ReadOnly:
			t.Errorf("%s: %s is %s in %s, the catalog has %s in %v", what, ch.Setting, ch.Kind, ch.Belongs, rec.Kind, rec.Belongs)
		case ch.Belongs == "sysctl" && rec.Kind == catalog.Boot || ch.Belongs == "loader" && rec.Kind == catalog.Runtime:
			t.Errorf("%s: %s of kind %s is written as %s", what, ch.Setting, rec.Kind, ch.Belongs)
		}
		if why := badValue(rec, ch.To); why != "" {
			t.Errorf("%s: %s = %q: %s", what, ch.Setting, ch.To, why)
		}
	}
}

// badValue says why a record does not take a value.
func badValue(rec *catalog.Record, value string) string {
	words := []string{value}
	switch rec.Type {
	case catalog.TypeTriple:
		if words = strings.Fields(value); len(words) != 3 {
			return "no triple"
		}
	case catalog.TypeInt, catalog.TypeUint, catalog.TypeBitmask:
	case catalog.TypeBool:
		if !SameSwitch(value, "1") && !SameSwitch(value, "0") {
			return "no switch"
		}
		return ""
	case catalog.TypeEnum:
		if !slices.ContainsFunc(rec.Values, func(v catalog.Value) bool { return v.Value == value }) {
			return "none of its values"
		}
		return ""
	default:
		return ""
	}
	last := int64(0)
	for i, w := range words {
		v, err := strconv.ParseInt(w, 10, 64)
		if err != nil {
			return err.Error()
		}
		most := int64(1<<31 - 1)
		if rec.Range != nil && rec.Range.Max != nil {
			most = *rec.Range.Max
		} else if slices.Contains([]string{"bytes", "pages"}, rec.Unit) {
			most = 1 << 62
		}
		if v > most || rec.Range != nil && rec.Range.Min != nil && v < *rec.Range.Min {
			return fmt.Sprintf("%d is outside of its range", v)
		}
		if i > 0 && v < last {
			return "the numbers of a triple do not rise"
		}
		last = v
	}
	return ""
}

// buffersFillThePath: where the memory allows it, one connection of a role
// that moves data can keep the path full; where not, the plan says so.
func buffersFillThePath(t *testing.T, what string, r Request, p Plan) {
	t.Helper()
	bdp := float64(r.Path.BDP())
	said := strings.Contains(strings.Join(p.Warnings, "\n"), "carries at most")
	if !slices.Contains([]string{"bulk", "file"}, r.Role) {
		return
	}
	if p.System == catalog.OpenBSD && bdp > openbsdBuffer && !said {
		t.Errorf("%s: nothing says that buffers end at 2 MiB", what)
	}
	for _, name := range socketLimits[p.System] {
		limit, ok := number(standard(p.value(name, r), ""))
		if !ok || limit >= bdp {
			continue // or a default that is known within bounds only
		}
		if !said {
			t.Errorf("%s: %s ends at %.0f of %.0f bytes, and nothing says so", what, name, limit, bdp)
		}
		if fair := float64(r.Machine.Memory) / 32; p.System == catalog.Linux && limit < min(fair, 1<<31-1) {
			t.Errorf("%s: %s ends at %.0f of %.0f bytes although there are %s", what, name, limit, bdp, r.Machine.Memory)
		}
	}
}

// sameBytes: the same request gives the same plan and the same files.
func sameBytes(t *testing.T, c *catalog.Catalog, what string, r Request, p Plan) {
	t.Helper()
	again, err := Make(c, r)
	if err != nil {
		t.Fatal(err)
	}
	bytes := func(p Plan) string {
		data, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range append(NativeFiles(p, All), Shown(p)...) {
			data = append(data, f.Name+f.Content...)
		}
		return string(data)
	}
	if bytes(p) != bytes(again) {
		t.Errorf("%s: another plan for the same request", what)
	}
}

// everyNumberIsShown: of each change the working is complete, and what is kept
// and what is to be done have their reasons.
func everyNumberIsShown(t *testing.T, what string, p Plan) {
	t.Helper()
	for _, ch := range p.Changes {
		if ch.Formula != "" && ch.Working == "" || ch.Because == "" || len(ch.Sources) == 0 {
			t.Errorf("%s: %s has no working, reason or source: %+v", what, ch.Setting, ch)
		}
	}
	for _, k := range p.Kept {
		if k.Because == "" || strings.HasSuffix(k.Because, ": ") {
			t.Errorf("%s: %s is kept without a reason", what, k.Setting)
		}
	}
	for _, s := range p.Steps {
		if s.Why == "" || len(s.Commands) == 0 || len(s.Sources) == 0 {
			t.Errorf("%s: step %q lacks its reason, commands or source", what, s.Title)
		}
	}
}

// TestPFOnlyWhereItIs: a FreeBSD router with another firewall is not given pf.
func TestPFOnlyWhereItIs(t *testing.T) {
	m := server(catalog.FreeBSD, "14.2")
	r := Request{Path: longFat(), Role: "router", Machine: m, Load: Load{States: 1e6}}
	r.Machine.Running = map[string]string{"net.inet.ip.forwarding": "0"}
	r.Machine.Modules = []string{"ipfw"}
	if p := planned(t, r); valueOf(p, "pf_load") != "" || valueOf(p, "net.pf.states_hashsize") != "" {
		t.Errorf("pf beside ipfw: %+v", p.Changes)
	}
	r.Machine.Modules = []string{"pf"}
	if p := planned(t, r); valueOf(p, "net.pf.states_hashsize") == "" {
		t.Error("pf is there and its table is left alone")
	}
}

// TestModulesThatAreThere: a setting that a host has needs no module loaded.
func TestModulesThatAreThere(t *testing.T) {
	m := server(catalog.Linux, "6.12")
	r := Request{Path: longFat(), Role: "router", Machine: m, Load: Load{States: 1e6}}
	if p := planned(t, r); valueOf(p, "nf_conntrack") != "loaded" {
		t.Error("a described router is not given nf_conntrack")
	}
	r.Machine.Running = map[string]string{"net.netfilter.nf_conntrack_max": "262144", "net.netfilter.nf_conntrack_buckets": "65536"}
	if p := planned(t, r); valueOf(p, "nf_conntrack") != "" || valueOf(p, "net.netfilter.nf_conntrack_max") == "" {
		t.Errorf("a kernel with connection tracking: %+v", p.Changes)
	}
}
