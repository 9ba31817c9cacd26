package diagnose

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/netpath"
)

// TestRealOutputs judges real outputs of other machines, where there are some:
// nothing panics, every finding quotes its lines. With -v it prints the
// findings, to be read for false ones.
func TestRealOutputs(t *testing.T) {
	root := os.Getenv("WIRERATE_CAPTURES")
	if root == "" {
		t.Skip("WIRERATE_CAPTURES is not set: no folder of real outputs")
	}
	hosts := realHosts(t, filepath.Join(root, "out"))
	if len(hosts) == 0 {
		t.Fatal("no outputs found")
	}
	for name, texts := range hosts {
		for _, role := range []string{"", "router", "web", "latency"} {
			f, err := facts.FromTexts(name, texts, 0)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			path := netpath.Path{Rate: 1e9, RTT: 20 * time.Millisecond, MTU: 1500}
			findings, _ := Evaluate(Input{Facts: f, Path: path, Role: role})
			for _, found := range findings {
				if len(found.Evidence) == 0 {
					t.Errorf("%s: %s quotes nothing", name, found.Rule)
				}
				t.Logf("%s (%s): %s %s: %s: %s\n\t%v", name, role, found.Severity, found.Rule, found.Subject,
					found.Summary, found.Evidence)
			}
			if role != "" {
				continue
			}
			for part, p := range f.Parts {
				if p.State == facts.Unparsed {
					t.Logf("%s: %s: %s: %s", name, part, p.From, p.Because)
				}
			}
			for _, c := range Ceilings(path, f, f) {
				t.Logf("%s: %s %s %v %.4g: %s", name, c.Resource, c.Metric, c.Known, c.Value, c.Because)
			}
		}
	}
}

// realHosts makes hosts of loose outputs: each file by what its name says it
// is, those with the same prefix together.
func realHosts(t *testing.T, root string) map[string]map[string]string {
	kinds := []struct{ mark, name string }{
		{"ethtool_-S_ens3", "ethtool -S ens3"}, {"ethtool_-c_ens3", "ethtool -c ens3"},
		{"ethtool_-i_ens3", "ethtool -i ens3"}, {"ethtool_-l_ens3", "ethtool -l ens3"},
		{"ip_-s_-d_link", "ip -s -d link show"}, {"softnet_stat", "/proc/net/softnet_stat"},
		{"proc-net-netstat", "/proc/net/netstat"},
		{"kubernetes-netstat", "/proc/net/netstat"}, {"kubernetes-snmp", "/proc/net/snmp"},
		{"sockstat", "/proc/net/sockstat"}, {"proc-interrupts", "/proc/interrupts"},
		{"tc_-s_qdisc", "tc -s qdisc show"}, {"-tc.log", "tc -s qdisc show"}, {"ss-wide", "ss -tinm"},
		{"lspci", "lspci -vv"}, {"ethtool-eth0", "ethtool eth0"}, {"ethtool-default2", "ethtool enp1s0"},
		{"sysctl_net.inet.tcp.hostcache.list", "sysctl net.inet.tcp.hostcache.list"}, {"sysctl_-at", ""},
		{"sysctl_set", ""}, {"sysctl_-a", "sysctl -a"}, {"sysctl-a", "sysctl -a"},
		{"ifconfig", "ifconfig -a"}, {"netstat_-s", "netstat -s"}, {"netstat_-m", "netstat -m"},
		{"netstat_-Lan", "netstat -Lan"}, {"netstat_-idn", "netstat -idnW"},
		{"during-netstat", "netstat -idnW"}, {"before-netstat", "netstat -idnW"}, {"netstat-ib", "netstat -idnW"},
		{"netstat_-xn", "netstat -xn -p tcp"}, {"netstat_-rn", "netstat -rnW"},
		{"netstat-rn", "netstat -rn"}, {"dmesg", "dmesg"},
	}
	unames := map[string]string{"linux": unameLinux, "freebsd": unameFreeBSD, "openbsd": unameOpenBSD,
		"junos": unameFreeBSD}
	hosts := map[string]map[string]string{}
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		system, file, _ := strings.Cut(rel, string(filepath.Separator))
		data, err := os.ReadFile(path)
		for _, k := range kinds {
			if !strings.Contains(file, k.mark) || k.name == "" {
				continue
			}
			host := system + "/" + file
			if strings.Contains(file, "kubernetes") {
				host = "kubernetes"
			} else if strings.Contains(file, "openstack") {
				host = "openstack"
			} else if strings.Contains(file, "stack13") && !strings.Contains(file, "lossy") {
				host = "stack13"
			}
			if hosts[host] == nil {
				hosts[host] = map[string]string{"uname -a": unames[system]}
			}
			hosts[host][k.name] = string(data)
			break
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return hosts
}
