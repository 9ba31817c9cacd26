package experiment

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/change"
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/trial"
)

func TestParseArm(t *testing.T) {
	for text, want := range map[string]string{
		"default":                  "default::[]",
		"plan+cc:bbr":              "plan::[] cc:bbr:[]",
		"set:a.b=1,c.d=4 5 6":      "set:a.b=1,c.d=4 5 6:[{a.b 1} {c.d 4 5 6}]",
		"set:a.b=1,2,3,c.d=x,y":    "set:a.b=1,2,3,c.d=x,y:[{a.b 1,2,3} {c.d x,y}]",
		"set:a.b=1+2":              "set:a.b=1+2:[{a.b 1+2}]",
		"file:/a+b.conf+set:x.y=1": "file:/a+b.conf:[] set:x.y=1:[{x.y 1}]",
		"set:a.b=1+firewall:off":   "set:a.b=1:[{a.b 1}] firewall:off:[]",
		"tuned:network-throughput": "tuned:network-throughput:[]",
	} {
		spec, err := ParseArm(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var parts []string
		for _, p := range spec.parts {
			parts = append(parts, fmt.Sprintf("%s:%s:%v", p.kind, p.arg, p.values))
		}
		if got := strings.Join(parts, " "); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	for _, bad := range []string{"", "plna", "set:", "set:a", "set:a=", "set:=1", "cc:", "file:", "firewall:", "default:x", "plan+", "+plan"} {
		if spec, err := ParseArm(bad); err == nil {
			t.Errorf("%q: %+v", bad, spec)
		}
	}
}

func TestCongestionArm(t *testing.T) {
	for system, want := range map[catalog.System]string{
		catalog.Linux:   "[{net.ipv4.tcp_congestion_control htcp}] <nil>",
		catalog.FreeBSD: "[{cc_htcp_load YES} {net.inet.tcp.cc.algorithm htcp}] <nil>",
		catalog.OpenBSD: "[] cc: openbsd has no choice of congestion controls",
	} {
		values, err := congestion(system, "htcp")
		if got := fmt.Sprint(values, " ", err); got != want {
			t.Errorf("%s: %s, want %s", system, got, want)
		}
	}
}

// FreeBSD's modules are loaded before what needs them, as apply does; ipfw, which
// would cut the host off, and what is switched off are not.
func TestModulesOfAnArm(t *testing.T) {
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	s := &session{catalog: c}
	e := &end{facts: &facts.Facts{System: catalog.FreeBSD}, conn: host.NewLocal(), side: "client"}
	a := &armValues{values: trial.Values{Client: map[string]string{}, Server: map[string]string{}, Router: map[string]string{}}}
	for _, v := range []assigned{{"net.inet.tcp.cc.algorithm", "cubic"}, {"cc_cubic_load", "YES"}, {"ipfw_load", "YES"}, {"zfs_load", "NO"}} {
		s.assign(a, e, v, "file")
	}
	if got := strings.Join(a.order, " "); got != "cc_cubic_load net.inet.tcp.cc.algorithm" {
		t.Errorf("written in the order %q", got)
	}
	other := &armValues{values: trial.Values{Client: map[string]string{"kern.ipc.maxsockbuf": "1"}}}
	e.tuned = trial.Side{System: catalog.FreeBSD, Order: a.order}
	keepModules([]*armValues{a, other, {name: "none"}}, e)
	if other.values.Client["cc_cubic_load"] != "YES" || len(other.values.Client) != 2 {
		t.Errorf("under the other arm: %v", other.values.Client)
	}
}

func FuzzParseArm(f *testing.F) {
	f.Add("plan+cc:bbr")
	f.Add("set:a.b=1,2,c.d=4 5+file:x")
	f.Fuzz(func(t *testing.T, text string) {
		spec, err := ParseArm(text)
		if err == nil && len(spec.parts) == 0 {
			t.Fatal("an arm of nothing")
		}
	})
}

func TestFirewallArm(t *testing.T) {
	rules := filepath.Join(t.TempDir(), "rules")
	if err := os.WriteFile(rules, []byte("pass all\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		system     catalog.System
		what, want string
	}{
		{catalog.FreeBSD, "off", "[{firewall:pf off}]"},
		{catalog.OpenBSD, "on", "[{firewall:pf on}]"},
		{catalog.OpenBSD, rules, "[{firewall:pf on} {firewall:pf-rules cGFzcyBhbGwK}]"},
		{catalog.Linux, "off", "[{firewall:nft none}]"},
		{catalog.Linux, rules, "[{firewall:nft cGFzcyBhbGwK}]"},
		{catalog.Linux, "on", "[] firewall:on is for pf"},
		{catalog.FreeBSD, "/no/such", "[] firewall: on, off or a file of rules is expected"},
	} {
		got, err := firewall(c.system, c.what)
		text := fmt.Sprint(got)
		if err != nil {
			text += " " + err.Error()
		}
		if !strings.HasPrefix(text, c.want) {
			t.Errorf("%s %s: %s, want %s", c.system, c.what, text, c.want)
		}
		for _, v := range got {
			if err := change.Supports(c.system, v.name); err != nil {
				t.Errorf("%s cannot be changed: %v", v.name, err)
			}
		}
	}
}
