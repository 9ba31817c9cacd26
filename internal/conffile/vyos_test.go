package conffile

import (
	"fmt"
	"strings"
	"testing"
)

// TestVyOS reads a configuration of VyOS or EdgeOS as commands, as a file, and as commands in a guide.
func TestVyOS(t *testing.T) {
	commands := "set interfaces ethernet eth1 mtu 1506\nset interfaces ethernet eth1 vif 7 mtu 1504\n" +
		"set interfaces ethernet eth1 offload gro\nset interfaces ethernet eth1 ring-buffer rx '2048'\n" +
		"set interfaces pppoe pppoe3 source-interface 'eth1.7'\nset interfaces pppoe pppoe3 mtu 1498\n" +
		"set interfaces pppoe pppoe3 ip adjust-mss 1460\nset interfaces bonding bond2 hash-policy layer2+3\n" +
		"set system sysctl parameter net.core.somaxconn value '8192'\nset system conntrack table-size 131072\n" +
		"set firewall ipv4 name OUT rule 5 action accept\nset firewall ipv4 name OUT rule 5 log\n" +
		"set firewall ipv4 name OUT rule 5 state established\n"
	file := `interfaces {
    ethernet eth1 {
        mtu 1506
        offload {
            gro
        }
        ring-buffer {
            rx "2048"
        }
        vif 7 {
            mtu 1504
            pppoe 3 {
                mtu 1498
            }
        }
    }
    bonding bond2 {
        hash-policy layer2+3
    }
}
firewall {
    conntrack-table-size 131072
    name OUT {
        rule 5 {
            action accept
            log enable
            state {
                established enable
            }
        }
    }
    options {
        mss-clamp {
            mss 1460
        }
    }
}
system {
    sysctl {
        parameter net.core.somaxconn {
            value 8192
        }
    }
}
`
	const want = "link:mtu=1506[eth1] link:mtu=1504[eth1.7] ethtool:features/gro=on[eth1] ethtool:ring/rx=2048[eth1] " +
		"link:bond-xmit_hash_policy=layer2+3[bond2] net.core.somaxconn=8192[] net.netfilter.nf_conntrack_max=131072[] "
	for _, tt := range []struct{ path, text string }{
		{"a.sh", "#!/bin/vbash\n" + commands}, {"config.boot", file}, {"a.md", "Type:\n```\nconfigure\n" + commands + "commit\n```\n"},
	} {
		kind := Detect(tt.path, []byte(tt.text)).Kind
		if kind == "" && Holds(tt.path, tt.text) {
			kind = Other
		}
		f, err := Parse(kind, Linux, tt.path, []byte(tt.text))
		if err != nil {
			t.Fatalf("%s: %v", tt.path, err)
		}
		got := ""
		for _, e := range f.Entries {
			got += fmt.Sprintf("%s=%s[%s] ", e.Name, e.Value, e.Iface)
		}
		for _, part := range strings.SplitAfter(want, " ") {
			if !strings.Contains(got, part) || len(got) != len(want) {
				t.Errorf("%s: %s, want %s", tt.path, got, want)
				break
			}
		}
		var codes []string
		for _, r := range f.Rejects {
			codes = append(codes, fmt.Sprint(r.Code, " ", f.src[r.Span.Start:r.Span.End]))
		}
		if got := strings.Join(codes, ", "); strings.ReplaceAll(got, "'", "") != "conflict 1498, no-effect 1460, harmful log" {
			t.Errorf("%s: %q", tt.path, got)
		}
	}
	wide := strings.Replace(commands, "mtu 1506", "mtu 1500", 1)
	if f, err := Parse(Script, Linux, "a.sh", []byte(wide)); err != nil || len(f.Rejects) != 4 || !strings.Contains(fmt.Sprint(f.Rejects), "eth1.7 is more") {
		t.Errorf("%v: %+v", err, f.Rejects)
	}
	inherits := "interfaces {\n ethernet eth4 {\n  mtu 1508\n  vif 35 {\n   description a\n   pppoe 0 {\n    mtu 1500\n   }\n  }\n }\n}\n" +
		"firewall {\n name A {\n  rule 1 {\n   action accept\n   disable\n   log enable\n   state {\n    established enable\n   }\n  }\n }\n}\n"
	if f, err := Parse(VyOS, Linux, "config.boot", []byte(inherits)); err != nil || len(f.Rejects) > 0 {
		t.Errorf("%v: %+v", err, f.Rejects)
	}
	if f, err := Parse(Script, Linux, "a.sh", []byte("set interfaces ethernet eth4 mtu 1500\nset interfaces ethernet eth4 ipv6 adjust-mss 1452\n")); err != nil ||
		!strings.Contains(fmt.Sprint(f.Rejects), "write 1440") {
		t.Errorf("%v: %+v", err, f.Rejects)
	}
	quiet := strings.NewReplacer("1498", "1496", "1460", "1452", "state established", "state new").Replace(commands)
	if f, err := Parse(Script, Linux, "a.sh", []byte(quiet)); err != nil || len(f.Rejects) > 0 {
		t.Errorf("%v: %+v", err, f.Rejects)
	}
}
