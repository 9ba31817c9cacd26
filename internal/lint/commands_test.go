package lint

import (
	"slices"
	"testing"
)

// TestSysctlsOfOtherFiles holds that settings are judged as in a sysctl.conf where a program's file holds the command.
func TestSysctlsOfOtherFiles(t *testing.T) {
	c := load(t)
	for path, text := range map[string]string{
		"wg0.conf": "[Interface]\nPrivateKey = a\nPostUp = sysctl -w net.ipv4.ip_foward=1; sysctl -w net.core.rmem_max=10\n[Peer]\nPublicKey = b\n",
		"config.boot": "interfaces {\n    ethernet eth0 {\n        mtu 1500\n    }\n}\nsystem {\n    sysctl {\n        parameter net.ipv4.ip_foward {\n" +
			"            value 1\n        }\n        parameter net.core.rmem_max {\n            value 10\n        }\n    }\n}\n",
		"/etc/udev/rules.d/90-net.rules": "ACTION==\"add\", SUBSYSTEM==\"net\", RUN+=\"/sbin/sysctl -w net.ipv4.ip_foward=1\", RUN+=\"/sbin/sysctl -w net.core.rmem_max=10\"\n",
	} {
		r := Run(c, []Input{{Path: path, Text: text}}, Options{System: "linux", Version: "6.1"})
		for _, code := range []string{"unknown-key", "out-of-range"} {
			if !slices.ContainsFunc(r.Problems, func(p Problem) bool { return p.Code == code }) {
				t.Errorf("%s: no %s: %+v", path, code, r.Problems)
			}
		}
	}
}

// TestRoutersOfVyOS holds that what harms forwarding is told of a system that forwards.
func TestRoutersOfVyOS(t *testing.T) {
	text := "interfaces {\n    ethernet eth0 {\n        offload {\n            lro\n        }\n    }\n}\n"
	r := Run(load(t), []Input{{Path: "config.boot", Text: text}}, Options{System: "linux", Version: "6.1"})
	if len(r.Problems) != 1 || r.Problems[0].Code != "harmful" {
		t.Errorf("%+v", r.Problems)
	}
}
