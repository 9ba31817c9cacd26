package conffile

import "testing"

// TestYAMLSystem holds that the names of the sysctls tell the system of a text in YAML.
func TestYAMLSystem(t *testing.T) {
	for text, want := range map[string]System{
		"net.core.somaxconn: 4096\nnet.inet.tcp.blackhole: 2\n":                                       Linux,
		"- name: net.inet.tcp.blackhole\n  value: 2\n- { name: kern.ipc.soacceptqueue, value: 99 }\n": FreeBSD,
		"sysctls:\n  kern.bufcachepercent: 30\n  net.inet.ip.ifq.maxlen: 4096\n":                      OpenBSD,
		"- hosts: darwin\n  tasks:\n  - sysctl: name=kern.ipc.maxsockbuf value=99\n":                  "",
		"security.enabled: true\ndev.tools: 1\nvfs.cache: 3\nnet.inet: 4\n":                           "",
	} {
		if got := yamlSystem(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
