package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/lint"
	"github.com/wirerate/wirerate/internal/name"
	"github.com/wirerate/wirerate/internal/netpath"
	"github.com/wirerate/wirerate/internal/plan"
	"github.com/wirerate/wirerate/internal/units"
)

// described is a machine with everything that plans can use.
func described(s catalog.System, v catalog.Version, nic, driver string) plan.Machine {
	i := plan.Interface{Name: name.Interface(nic), Driver: driver, Rate: 10 * units.Gbit, Queues: 1, RingMax: 4096, Cores: []int{0, 1, 2, 3}, Running: map[string]string{
		"ethtool:ring/rx": "256", "ethtool:ring/tx": "256", "ethtool:channels/combined": "1", "ethtool:features/tso": "off", "ethtool:features/gro": "off",
		"ethtool:eee": "on", "ifconfig:tso": "on", "ifconfig:lro": "on", "ifconfig:vlanhwtso": "on"}}
	return plan.Machine{System: s, Release: v, Memory: 64 * units.GiB, Page: 4096, Cores: 16, DiskRate: 2e9, Driver: driver, Interfaces: []plan.Interface{i}}
}

// everyPlan calls each with the plan of every role on several releases.
func everyPlan(t *testing.T, each func(p plan.Plan)) {
	t.Helper()
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	path, err := netpath.Parse("rate=10gbit,rtt=80ms,loss=0.1%,mtu=9000")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []plan.Machine{described(catalog.Linux, "4.18", "eth0", "ixgbe"), described(catalog.Linux, "6.1", "eth0", "igb"), described(catalog.Linux, "6.18", "eth0", "mlx5_core"),
		described(catalog.FreeBSD, "12.2", "igb0", "igb"), described(catalog.FreeBSD, "13.2", "ix0", "ix"), described(catalog.FreeBSD, "14.2", "cxl0", "cxl"), described(catalog.FreeBSD, "15.0", "mce0", "mce"),
		described(catalog.OpenBSD, "6.8", "em0", "em"), described(catalog.OpenBSD, "7.8", "ix0", "ix")} {
		for _, role := range catalog.Roles() {
			p, err := plan.Make(c, plan.Request{Path: path, Role: role, Machine: m, Harden: true, Load: plan.Load{Connections: 20000, ConnRate: 5000, PacketRate: 5e6, States: 1e6, Hosts: 5000}})
			if err != nil {
				t.Fatal(err)
			}
			if len(p.Changes) == 0 && role == "router" {
				t.Errorf("%s %s %s: an empty plan tests nothing", m.System, m.Release, role)
			}
			each(p)
		}
	}
}

// TestPlansPassLint judges every generated file as lint judges anyone's.
func TestPlansPassLint(t *testing.T) {
	t.Parallel()
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	everyPlan(t, func(p plan.Plan) {
		var inputs []lint.Input
		for _, f := range plan.NativeFiles(p, plan.All) {
			if f.Format != "" || strings.Contains(f.Path, "modules-load") {
				inputs = append(inputs, lint.Input{Path: f.Path, Text: f.Content})
			}
		}
		res := lint.Run(c, inputs, lint.Options{System: p.System, Version: p.Release, Role: p.Role, Driver: driverOf(p)})
		for _, err := range res.Errors {
			t.Errorf("%s %s %s: %v", p.System, p.Release, p.Role, err)
		}
		for _, pr := range res.Problems {
			t.Errorf("%s %s %s: %s:%d: %s [%s]: %s", p.System, p.Release, p.Role, pr.File, pr.Line, pr.Message, pr.Code, pr.Key)
		}
	})
}

// TestPlansPassLintEverywhere judges the files of many systems, releases,
// roles, memories and cards: whatever the machine, no line of a plan is dead
// or harmful there.
func TestPlansPassLintEverywhere(t *testing.T) {
	t.Parallel()
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	releases := map[catalog.System][]catalog.Version{
		catalog.Linux:   {"4.18", "5.4", "5.10", "5.15", "6.1", "6.6", "6.12", "7.0"},
		catalog.FreeBSD: {"12.0", "12.4", "13.0", "13.2", "14.0", "14.1", "14.3", "15.0"},
		catalog.OpenBSD: {"6.8", "6.9", "7.0", "7.2", "7.4", "7.6", "7.8"},
	}
	cards := map[catalog.System][]string{
		catalog.Linux:   {"eth0:virtio_net", "eth0:ixgbe,eth1:ixgbe", "ens1f0:mlx5_core", "eth0:e1000e"},
		catalog.FreeBSD: {"vtnet0", "ix0,ix1", "mce0", "em0", "igb0,igb1", "cxl0", "re0", "bge0", "ixl0", "ice0"},
		catalog.OpenBSD: {"vio0", "ix0,ix1", "em0", "mcx0"},
	}
	paths := []string{"rate=1kbit,rtt=5s,mtu=576", "rate=1gbit,rtt=20ms", "rate=40gbit,rtt=100ms,loss=1%,mtu=9000"}
	turn := 0
	for system, versions := range releases {
		for _, release := range versions {
			for _, role := range catalog.Roles() {
				for _, memory := range []units.Bytes{256 * units.MiB, 8 * units.GiB, 512 * units.GiB} {
					turn++
					nics, _, err := plan.DescribedInterfaces(system, cards[system][turn%len(cards[system])])
					if err != nil {
						t.Fatal(err)
					}
					for i := range nics {
						nics[i].Queues, nics[i].RingMax = 1+turn%8, 4096
					}
					path, err := netpath.Parse(paths[turn%len(paths)])
					if err != nil {
						t.Fatal(err)
					}
					m := plan.Machine{System: system, Release: release, Memory: memory, Page: 4096, Cores: 1 + turn%16, Driver: nics[0].Driver, Interfaces: nics, DiskRate: 1e9, DiskDepth: 64, Disks: 4}
					load := plan.Load{}
					if turn%2 == 0 {
						load = plan.Load{Connections: 1e5, ConnRate: 2e4, PacketRate: 5e6, States: 1e6, Hosts: 5e4}
					}
					p, err := plan.Make(c, plan.Request{Path: path, Role: role, Machine: m, Load: load, Harden: turn%3 == 0})
					if err != nil {
						t.Fatal(err)
					}
					judgeFiles(t, c, p)
				}
			}
		}
	}
}

// judgeFiles lints what apply installs and what is shown beside it.
func judgeFiles(t *testing.T, c *catalog.Catalog, p plan.Plan) {
	t.Helper()
	var inputs []lint.Input
	for _, f := range plan.NativeFiles(p, plan.All) {
		if f.Format != "" || strings.Contains(f.Path, "modules-load") {
			inputs = append(inputs, lint.Input{Path: f.Path, Text: f.Content})
		}
	}
	for _, f := range plan.Shown(p) {
		if strings.HasSuffix(f.Name, ".sh") {
			if out, err := shellCheck(f.Content); err != nil {
				t.Errorf("%s: %s", f.Name, out)
			}
		}
		name := f.Install
		if strings.HasSuffix(f.Name, ".netdev") || strings.HasPrefix(f.Name, "wirerate-irq-") {
			continue // no settings of the catalog
		}
		if !strings.HasPrefix(name, "/") {
			name = "/etc/systemd/network/" + f.Name
		}
		if strings.HasPrefix(f.Name, "interfaces-") {
			name = "/etc/network/interfaces"
		}
		inputs = append(inputs, lint.Input{Path: name, Text: f.Content})
	}
	known := &lint.Machine{Inputs: catalog.Inputs{"memory": p.Inputs["memory"], "page": p.Inputs["page"], "cores": p.Inputs["cores"]}}
	for _, machine := range []*lint.Machine{nil, known} {
		res := lint.Run(c, inputs, lint.Options{System: p.System, Version: p.Release, Role: p.Role, Driver: driverOf(p), Machine: machine})
		for _, err := range res.Errors {
			t.Errorf("%s %s %s: %v", p.System, p.Release, p.Role, err)
		}
		for _, pr := range res.Problems {
			if machine == nil && (pr.Severity == lint.Info || pr.Code == "below-default" && p.Inputs["memory"].(float64) < 2<<30) {
				continue // it holds for other sizes of memory than the plan's
			}
			t.Errorf("%s %s %s, machine known %v: %s:%d: %s [%s]: %s", p.System, p.Release, p.Role, machine != nil, pr.File, pr.Line, pr.Message, pr.Code, pr.Key)
		}
	}
}

// TestFilesLoad gives the Linux files to the programs that read them.
func TestFilesLoad(t *testing.T) {
	t.Parallel()
	verify, _ := exec.LookPath("systemd-analyze")
	if verify == "" {
		t.Log("systemd-analyze is not installed: units are not verified")
	}
	everyPlan(t, func(p plan.Plan) {
		dir := t.TempDir()
		for _, f := range plan.NativeFiles(p, plan.All) {
			os.WriteFile(filepath.Join(dir, filepath.Base(f.Path)), []byte(f.Content), 0o644)
			if verify != "" && strings.HasSuffix(f.Path, ".service") {
				if out, err := exec.Command(verify, "verify", "--man=no", filepath.Join(dir, filepath.Base(f.Path))).CombinedOutput(); err != nil || strings.Contains(string(out), filepath.Base(f.Path)) {
					t.Errorf("%s %s: systemd-analyze: %v: %s", p.Release, p.Role, err, out)
				}
			}
		}
		for _, f := range scripts(t, p) {
			if out, err := shellCheck(f.Content); err != nil {
				t.Errorf("%s %s: %s: %s", p.System, p.Role, f.Name, out)
			}
		}
	})
}

func scripts(t *testing.T, p plan.Plan) []plan.File {
	files, err := plan.Export(p, "script")
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func shellCheck(script string) ([]byte, error) {
	cmd := exec.Command("sh", "-n")
	cmd.Stdin = strings.NewReader(script)
	return cmd.CombinedOutput()
}

// onlyThisDropIn hides every other sysctl file in a mount namespace of its own
// and has procps load what is left, as at boot.
const onlyThisDropIn = `
set -e
for d in /run/sysctl.d /etc/sysctl.d /usr/local/lib/sysctl.d /usr/lib/sysctl.d; do
	[ -d $d ] && mount -t tmpfs none $d
done
[ -d /etc/sysctl.d ]
[ ! -e /etc/sysctl.conf ] || mount --bind /dev/null /etc/sysctl.conf
cp "$1" /etc/sysctl.d/
exec sysctl --system
`

// TestSysctlSystemLoads has procps load a drop-in as at boot: in a network
// namespace, whose plan has nothing that governs the machine, and with every
// other file hidden.
func TestSysctlSystemLoads(t *testing.T) {
	t.Parallel()
	a, _ := namespaces(t)
	dir := t.TempDir()
	run := func(args ...string) string {
		t.Helper()
		out, err := exec.Command(args[0], args[1:]...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v: %s", args, err, out)
		}
		return string(out)
	}
	if out, err := exec.Command("unshare", "--mount", "true").CombinedOutput(); err != nil {
		t.Skipf("no mount namespace to hide this machine's files in: %s", out)
	}
	for _, role := range catalog.Roles() {
		run("wirerate", "plan", "ns:"+a, "--path", "rate=10gbit,rtt=100ms", "--role", role, "-o", dir)
		drop := filepath.Join(dir, "90-wirerate.conf")
		out := run("ip", "netns", "exec", a, "unshare", "--mount", "sh", "-c", onlyThisDropIn, "sh", drop)
		text, err := os.ReadFile(drop)
		if err != nil {
			t.Fatal(err)
		}
		if lines := strings.Count(out, "Applying "); lines < 1 || strings.Contains(out, "cannot stat") || strings.Contains(out, "rejected") {
			t.Errorf("%s: %s", role, out)
		}
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' && !strings.Contains(out, line) {
				t.Errorf("%s: sysctl did not apply %q:\n%s", role, line, out)
			}
		}
		run("wirerate", "verify", dir, "ns:"+a)
	}
}

// TestAnsibleChecks runs the exported play in check mode where Ansible and its
// collections are installed.
func TestAnsibleChecks(t *testing.T) {
	t.Parallel()
	playbook, err := exec.LookPath("ansible-playbook")
	if err != nil {
		t.Skip("ansible-playbook is not installed: ", err)
	}
	if out, err := exec.Command("ansible-galaxy", "collection", "list", "ansible.posix").CombinedOutput(); err != nil || !strings.Contains(string(out), "ansible.posix") {
		t.Skip("the collection ansible.posix is not installed")
	}
	everyPlan(t, func(p plan.Plan) {
		_, newest := catalog.Supported(p.System)
		if p.Release != newest || p.Role != "router" && p.Role != "bulk" {
			return // each run of Ansible takes seconds
		}
		if _, err := exec.LookPath("modprobe"); err != nil {
			p.Changes = slices.DeleteFunc(p.Changes, func(ch plan.Change) bool { return ch.Setting == "tcp_bbr" })
		}
		files, err := plan.Export(p, "ansible")
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		for _, f := range files {
			name := filepath.Join(dir, f.Name)
			os.MkdirAll(filepath.Dir(name), 0o755)
			os.WriteFile(name, []byte(f.Content), 0o644)
		}
		args := []string{"--syntax-check"}
		if p.System == catalog.Linux && p.Role == "bulk" {
			args = []string{"--check", "--connection", "local", "--extra-vars", "ansible_python_interpreter=/usr/bin/python3"}
		}
		cmd := exec.Command(playbook, append(args, "-i", "localhost,", "site.yml")...)
		cmd.Dir = filepath.Join(dir, "ansible")
		cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s %s %s: %v: %s", p.System, p.Release, p.Role, err, out)
		}
	})
}

func driverOf(p plan.Plan) string {
	driver, _ := p.Inputs["driver"].(string)
	return driver
}

// loadProfile has TuneD's own loader read a profile and print its units.
const loadProfile = `
import sys
from tuned.profiles.locator import Locator
from tuned.profiles.loader import Loader
from tuned.profiles.factory import Factory
from tuned.profiles.merger import Merger
from tuned.profiles.variables import Variables
from tuned.utils.global_config import GlobalConfig
profile = Loader(Locator([sys.argv[1]]), Factory(), Merger(), GlobalConfig(), Variables()).load("wirerate")
for name, unit in profile.units.items():
    for key, value in unit.options.items():
        print(unit.type, key, value)
`

// TestTuneDLoads reads the exported profile as TuneD does, where it is
// installed.
func TestTuneDLoads(t *testing.T) {
	t.Parallel()
	if out, err := exec.Command("/usr/bin/python3", "-c", "import tuned.profiles.loader; from tuned.utils.global_config import GlobalConfig; GlobalConfig()").CombinedOutput(); err != nil {
		t.Skipf("TuneD is not installed: %s", lastLine(string(out)))
	}
	everyPlan(t, func(p plan.Plan) {
		if p.System != catalog.Linux || p.Release != "6.18" {
			return
		}
		files, err := plan.Export(p, "tuned")
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		for _, f := range files {
			name := filepath.Join(dir, f.Name)
			os.MkdirAll(filepath.Dir(name), 0o755)
			os.WriteFile(name, []byte(f.Content), 0o755)
		}
		out, err := exec.Command("/usr/bin/python3", "-c", loadProfile, filepath.Join(dir, "tuned")).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %s", p.Role, out)
		}
		for _, ch := range p.Changes {
			if ch.Belongs == "sysctl" && !strings.Contains(string(out), "sysctl "+ch.Setting+" "+ch.To+"\n") {
				t.Errorf("%s: TuneD does not see %s = %s:\n%s", p.Role, ch.Setting, ch.To, out)
			}
		}
	})
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}
