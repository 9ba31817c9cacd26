package report

import (
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/catalog"
)

// A switch is described as it is written, and what a device has is not the machine's.
func TestFormAndScope(t *testing.T) {
	one := int64(1)
	word := func(d string) catalog.Defaults { return catalog.Defaults{{Value: d}} }
	for _, c := range []struct {
		record      catalog.Record
		form, scope string
	}{
		{catalog.Record{Name: "if_re_load", Type: catalog.TypeBool, Default: word("NO")}, "YES or NO", ", for the whole machine"},
		{catalog.Record{Name: "ifconfig:lro", Type: catalog.TypeBool, Default: word("on")}, "on or off", ", for the whole machine"},
		{catalog.Record{Name: "portmap_enable", Type: catalog.TypeBool, Belongs: []string{"rc"}, Default: word("unknown")},
			"YES or NO", ", for the whole machine"},
		{catalog.Record{Name: "pf:scrub/no-df", Type: catalog.TypeBool, Belongs: []string{"pf"}, Default: word("0")},
			"given or not", ", for the whole machine"},
		{catalog.Record{Name: "kernel.example", Type: catalog.TypeInt, Range: &catalog.Range{Min: &one, Since: "7.2",
			Before: &catalog.Range{Max: &one}}}, "a number, at least 1 (known to be enforced from 7.2 on); before that at most 1",
			", for the whole machine"},
		{catalog.Record{Name: "hw.smt", Type: catalog.TypeBool, Default: word("0"), Range: &catalog.Range{Max: &one}}, "0 or 1",
			", for the whole machine"},
		{catalog.Record{Name: "/sys/block/*/queue/nr_requests", Type: catalog.TypeInt, Unit: "requests",
			Range: &catalog.Range{Min: &one}}, "a number, in requests, at least 1", ", for one device"},
		{catalog.Record{Name: "net.inet.tcp.keepidle", Type: catalog.TypeInt, Unit: "ms", Range: &catalog.Range{Min: &one}},
			"a number, in milliseconds, at least 1", ", for the whole machine"},
		{catalog.Record{Name: "net.inet.ip.portfirst", Type: catalog.TypeUint, Unit: "port"}, "a port number",
			", for the whole machine"},
		{catalog.Record{Name: "net.example.window", Type: catalog.TypeUint, Unit: "packets", Range: &catalog.Range{Min: &one}},
			"a number, in packets, at least 1", ", for the whole machine"},
		{catalog.Record{Name: "net.example.counter", Type: catalog.TypeUint}, "a number, not negative", ", for the whole machine"},
		{catalog.Record{Name: "hw.ixl.rx_itr", Type: catalog.TypeInt, Unit: "2 us"}, "a number, in units of 2 us",
			", for the whole machine"},
	} {
		c.record.Scope = catalog.ScopeHost
		if got := form(&c.record); got != c.form {
			t.Errorf("%s: form is %q, want %q", c.record.Name, got, c.form)
		}
		if got := scopeWords(&c.record); got != c.scope {
			t.Errorf("%s: scope is %q, want %q", c.record.Name, got, c.scope)
		}
	}
}

// Without a release a setting whose kind changed is set as in the newest one.
func TestSettingOfSeveralKinds(t *testing.T) {
	r := catalog.Record{Name: "net.fibs", System: catalog.FreeBSD, Kind: catalog.Both, Scope: catalog.ScopeHost,
		Type: catalog.TypeUint, Belongs: []string{"sysctl", "loader"}, Does: "Number of tables.",
		Lifetimes: []catalog.Lifetime{{Removed: "13.0", Kind: catalog.Boot}, {Since: "13.0", Kind: catalog.Both}}}
	for version, want := range map[catalog.Version]string{
		"":     "  active    at boot, and can be written later",
		"14.2": "  active    at boot, and can be written later",
		"12.4": "  active    at boot, or when its module loads",
	} {
		var w strings.Builder
		Setting(&w, &r, version)
		if !strings.Contains(w.String(), want) {
			t.Errorf("release %q: want %q in\n%s", version, want, w.String())
		}
	}
}

// What every described release lacks can neither be set nor undone; what some of them have can.
func TestSettingThatIsGone(t *testing.T) {
	for removed, gone := range map[string]bool{"4.9": true, "0": true, "6.17": false} {
		r := catalog.Record{Name: "net.example.old", System: catalog.Linux, Kind: catalog.Runtime, Scope: catalog.ScopeHost,
			Type: catalog.TypeInt, Belongs: []string{"sysctl"}, Does: "Was a limit.", Removed: catalog.Version(removed),
			Default: catalog.Defaults{{Value: "unknown"}}}
		var w strings.Builder
		Setting(&w, &r, "")
		for _, field := range []string{"  active ", "  undo ", "  default "} {
			if strings.Contains(w.String(), field) == gone {
				t.Errorf("removed in %s, gone %t: %q in\n%s", removed, gone, field, w.String())
			}
		}
	}
}
