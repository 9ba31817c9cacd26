package plan

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/name"
	"github.com/wirerate/wirerate/internal/netpath"
	"github.com/wirerate/wirerate/internal/units"
)

func shownFile(p Plan, name string) string {
	for _, f := range Shown(p) {
		if f.Name == name {
			return f.Content
		}
	}
	return ""
}

// TestAggregateFiles: several links become an aggregate in each system's own
// form, with the hash where there is one.
func TestAggregateFiles(t *testing.T) {
	path := netpath.Path{Rate: 10 * units.Gbit, RTT: 1e6, MTU: 1500}
	for _, c := range []struct {
		system     catalog.System
		release    catalog.Version
		nics, file string
		want       []string
	}{
		{catalog.FreeBSD, "14.3", "ix0,ix1", "rc.conf-lagg0", []string{"cloned_interfaces=\"lagg0\"", "ifconfig_ix1=\"up\"", "ifconfig_lagg0=\"laggproto lacp lagghash l2,l3,l4 laggport ix0 laggport ix1\""}},
		{catalog.OpenBSD, "7.6", "em0,em1", "hostname.aggr0", []string{"\ntrunkport em0 trunkport em1\nup\n"}},
		{catalog.Linux, "6.12", "eth0:ice,eth1:ice", "10-wirerate-bond0.netdev", []string{"Mode=802.3ad", "TransmitHashPolicy=layer3+4"}},
		{catalog.Linux, "6.12", "eth0:ice,eth1:ice", "10-wirerate-bond0-ports.network", []string{"Name=eth0 eth1", "Bond=bond0"}},
		{catalog.Linux, "6.12", "eth0:ice,eth1:ice", "interfaces-bond0", []string{"bond-slaves eth0 eth1", "bond-xmit-hash-policy layer3+4"}},
	} {
		nics, _, err := DescribedInterfaces(c.system, c.nics)
		if err != nil {
			t.Fatal(err)
		}
		m := Machine{System: c.system, Release: c.release, Memory: 64 * units.GiB, Page: 4096, Cores: 8, Driver: nics[0].Driver, Interfaces: nics}
		p := planned(t, Request{Path: path, Role: "file", Machine: m})
		got := shownFile(p, c.file)
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q is not in\n%s", c.file, want, got)
			}
		}
		if router := planned(t, Request{Path: path, Role: "router", Machine: m}); shownFile(router, c.file) != "" {
			t.Errorf("%s: a router's two sides are no aggregate", c.system)
		}
	}
}

// TestRehash: a host whose aggregate hashes no ports is told how to; one that
// does, and one in a mode without a hash, are left alone.
func TestRehash(t *testing.T) {
	for _, c := range []struct {
		system catalog.System
		hash   string
		want   string
	}{
		{catalog.Linux, "layer2", "echo layer3+4 > /sys/class/net/agg/bonding/xmit_hash_policy"},
		{catalog.Linux, "layer2+3", "layer3+4"},
		{catalog.Linux, "layer3+4", ""},
		{catalog.Linux, "encap3+4", ""},
		{catalog.Linux, "", ""},
		{catalog.FreeBSD, "l2", "ifconfig agg lagghash l2,l3,l4"},
		{catalog.FreeBSD, "l2,l3,l4", ""},
		{catalog.OpenBSD, "l2", ""},
	} {
		m := server(c.system, map[catalog.System]catalog.Version{catalog.Linux: "6.1", catalog.FreeBSD: "14.2", catalog.OpenBSD: "7.8"}[c.system])
		m.Running = map[string]string{}
		m.Aggregates = []Aggregate{{Name: "agg", Links: []name.Interface{"a", "b"}, Hash: c.hash, Exists: true}}
		p := planned(t, Request{Path: longFat(), Role: "web", Machine: m})
		if text := steps(p); c.want != "" && !strings.Contains(text, c.want) || c.want == "" && len(p.Aggregates) > 0 {
			t.Errorf("%s %q: %+v %s", c.system, c.hash, p.Aggregates, text)
		}
	}
}

// TestDescribedInterrupts: each queue gets a processor, of the card's node
// where that is known, and two cards do not share while there are others.
func TestDescribedInterrupts(t *testing.T) {
	nics, _, err := DescribedInterfaces(catalog.Linux, "eth0:ice,eth1:ice")
	if err != nil {
		t.Fatal(err)
	}
	for i := range nics {
		nics[i].Queues, nics[i].Cores = 3, []int{8, 9, 10, 11, 12, 13, 14, 15}
	}
	m := Machine{System: catalog.Linux, Release: "6.12", Memory: 64 * units.GiB, Page: 4096, Cores: 16, Driver: "ice", Interfaces: nics}
	p := planned(t, Request{Path: longFat(), Role: "web", Machine: m})
	if len(p.Bindings) != 2 || !slices.Equal(p.Bindings[0].Cores, []int{9, 10, 11}) || !slices.Equal(p.Bindings[1].Cores, []int{12, 13, 14}) {
		t.Errorf("bindings %+v", p.Bindings)
	}
	if !strings.Contains(shownFile(p, "wirerate-irq-eth1.service"), "ExecStart=/bin/sh /usr/local/sbin/wirerate-irq-eth1.sh\n") {
		t.Error(shownFile(p, "wirerate-irq-eth1.service"))
	}
	m.Interfaces = nics[:1]
	m.Interfaces[0].Cores, m.Cores, m.Interfaces[0].Queues = nil, 2, 4
	p = planned(t, Request{Path: longFat(), Role: "web", Machine: m})
	if !slices.Equal(p.Bindings[0].Cores, []int{0, 1, 0, 1}) {
		t.Errorf("four queues on two processors: %+v", p.Bindings)
	}
	m.Cores = 1
	if p = planned(t, Request{Path: longFat(), Role: "web", Machine: m}); len(p.Bindings) != 0 {
		t.Errorf("one processor: %+v", p.Bindings)
	}
	m.System, m.Release, m.Cores, m.Interfaces[0].Name, m.Interfaces[0].Driver = catalog.FreeBSD, "14.3", 8, "ix0", "ix"
	if p = planned(t, Request{Path: longFat(), Role: "web", Machine: m}); strings.Contains(steps(p), "Bind the interrupts") {
		t.Errorf("iflib binds by itself: %s", steps(p))
	}
	m.Interfaces[0].Name, m.Interfaces[0].Driver = "mce0", "mce"
	if p = planned(t, Request{Path: longFat(), Role: "web", Machine: m}); !strings.Contains(steps(p), "cpuset -l PROCESSOR") {
		t.Errorf("mce0: %s", steps(p))
	}
}

// TestInterruptScript runs the script on folders made up like /sys and /proc.
func TestInterruptScript(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no shell: ", err)
	}
	root := t.TempDir()
	write := func(name, text string) {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, irq := range []string{"9", "40", "41", "101", "102"} {
		write("sys/class/net/eth0/device/msi_irqs/"+irq, "msix\n")
		write("proc/irq/"+irq+"/smp_affinity_list", "0-7\n")
	}
	write("proc/interrupts", "  9: 1 IR-PCI-MSIX eth0\n 40: 7 IR-PCI-MSIX ice-eth0-TxRx-0\n 41: 7 IR-PCI-MSIX ice-eth0-TxRx-1\n101: 3 mlx5_comp2@pci:0000:3b:00.0\n102: 3 IR-PCI-MSIX ice-0000:3b:00.0:misc\n140: 1 eth1-TxRx-0\n")
	p := Plan{System: catalog.Linux, Bindings: []Binding{{NIC: "eth0", Cores: []int{2, 5}}}}
	script := shownFile(p, "wirerate-irq-eth0.sh")
	script = strings.NewReplacer("\"/sys/", "\""+root+"/sys/", "/proc/", root+"/proc/").Replace(script)
	cmd := exec.Command("sh")
	cmd.Stdin = strings.NewReader(script)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("%v: %s", err, out)
	}
	for irq, want := range map[string]string{"9": "0-7", "40": "2", "41": "5", "101": "2", "102": "0-7"} {
		got, err := os.ReadFile(filepath.Join(root, "proc/irq", irq, "smp_affinity_list"))
		if err != nil || strings.TrimSpace(string(got)) != want {
			t.Errorf("interrupt %s is on %q, want %s: %v", irq, got, want, err)
		}
	}
}
