package conffile

import (
	"slices"
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
