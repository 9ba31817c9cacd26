package conffile

import (
	"slices"
	"strings"
	"testing"
)

// TestYAMLSystem holds that the names of the sysctls tell the system of a text in YAML.
func TestYAMLSystem(t *testing.T) {
	for text, want := range map[string]System{
		"net.core.somaxconn: 4096\nnet.inet.tcp.blackhole: 2\n":                                                                                    Linux,
		"- name: net.inet.tcp.blackhole\n  value: 2\n- { name: kern.ipc.soacceptqueue, value: 99 }\n":                                              FreeBSD,
		"sysctls:\n  kern.bufcachepercent: 30\n  net.inet.ip.ifq.maxlen: 4096\n":                                                                   OpenBSD,
		"- hosts: darwin\n  tasks:\n  - sysctl: name=kern.ipc.maxsockbuf value=99\n":                                                               "",
		"#cloud-config\nwrite_files:\n- path: /boot/loader.conf\n  content: |\n    kern.ipc.nmbclusters=9\nruncmd:\n- sysctl net.inet.tcp.tso=0\n": FreeBSD,
		"security.enabled: true\ndev.tools: 1\nvfs.cache: 3\nnet.inet: 4\n":                                                                        "",
	} {
		if got := yamlSystem(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestNMState reads the states of nmstate, in which the name of an interface may come last.
func TestNMState(t *testing.T) {
	const in = "interfaces:\n- name: bond7\n  type: bond\n  mtu: 9000\n  link-aggregation:\n    mode: balance-rr\n    options:\n      miimon: '0'\n    port: [eth1, eth2]\n" +
		"- type: ethernet\n  ethtool:\n    feature:\n      rx-gro: false # why\n    ring:\n      rx: 4096\n  name: eth1\n  ipv4:\n    enabled: false\n"
	const want = "4:3 link:mtu=9000 [bond7]\n6:5 link:bond-mode=balance-rr [bond7]\n8:7 link:bond-miimon=0 [bond7]\n" +
		"13:7 ethtool:features/gro=off [eth1]\n15:7 ethtool:ring/rx=4096 [eth1]\n"
	if got := show(t, YAML, Linux, "bond.yml", in); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	policy := "kind: NodeNetworkConfigurationPolicy\nspec:\n  desiredState:\n    " + strings.ReplaceAll(in, "\n", "\n    ")
	if got := show(t, YAML, Linux, "bond.yml", policy); strings.Count(got, "\n") != 5 {
		t.Errorf("a policy: got\n%s", got)
	}
	if g := Detect("bond.yml", []byte(in)); g.Kind != YAML || g.System != Linux {
		t.Errorf("taken for %v", g)
	}
	const roles = "- hosts: all\n  vars:\n    network_connections:\n      - name: trunk\n        interface_name: eth7\n        mtu: 9000\n        ethtool:\n          features:\n            tx_tcp_segmentation: no\n" +
		"      - name: bond7\n        type: bond\n        bond:\n          mode: balance-rr\n"
	const read = "6:9 link:mtu=9000 [eth7]\n9:13 ethtool:features/tso=off [eth7]\n13:11 link:bond-mode=balance-rr [bond7]\n"
	if got := show(t, YAML, Linux, "site.yml", roles); got != read || Detect("site.yml", []byte(roles)).Kind != YAML {
		t.Errorf("linux-system-roles: got\n%swant\n%s", got, read)
	}
	if g := Detect("list.yml", []byte("interfaces:\n- name: port1\n  description: uplink of the switch\n")); g.Kind != "" {
		t.Errorf("a list of interfaces is taken for %v", g)
	}
}

func TestModulesOfTasks(t *testing.T) {
	const in = "- name: Load it\n  command: /sbin/modprobe nf_conntrack_ipv4\n- lineinfile:\n    dest: /etc/modules\n    line: tcp_bbr\n- lineinfile:\n    path: /etc/motd\n    line: tcp_htcp\n"
	if got, want := show(t, YAML, Linux, "tasks/main.yml", in), "2:27 module:nf_conntrack_ipv4=load\n5:11 module:tcp_bbr=load\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestYAMLFiles holds that lines go into the files that items of Ansible, Salt and cloud-init name.
func TestYAMLFiles(t *testing.T) {
	in := `- name: loader
  blockinfile:
    path: /boot/loader.conf
    block: |
      kern.geom.label=1
      cc_htcp_load="YES"
- name: a line
  lineinfile:
    dest: /etc/sysctl.conf
    line: vm.overcommit=1
- name: another file
  copy:
    dest: /etc/motd
    content: |
      vm.overcommit=2
- community.general.sysrc:
    name: gateway_enable
    value: "YES"
- sysrc:
    name: if_lagg_load
    value: "YES"
    path: /boot/loader.conf
- sysrc:
    name: "{{ item.name }}"
    value: x
pf_on:
  sysrc.managed:
    - name: pf_enable
    - value: "YES"
`
	f, err := Parse(YAML, FreeBSD, "tasks/main.yml", []byte(in))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range f.Entries {
		got = append(got, string(e.In)+" "+e.Name+"="+e.Value)
	}
	want := []string{"loader.conf kern.geom.label=1", "loader.conf cc_htcp_load=YES", "sysctl.conf vm.overcommit=1",
		"rc.conf gateway_enable=YES", "loader.conf if_lagg_load=YES", "rc.conf pf_enable=YES"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
