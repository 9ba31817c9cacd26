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
		{catalog.Record{Name: "hw.smt", Type: catalog.TypeBool, Default: word("0"), Range: &catalog.Range{Max: &one}}, "0 or 1",
			", for the whole machine"},
		{catalog.Record{Name: "/sys/block/*/queue/nr_requests", Type: catalog.TypeInt, Unit: "requests",
			Range: &catalog.Range{Min: &one}}, "a number, in requests, at least 1", ", for one device"},
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

// The default of a setting that the release lost is left out where nobody knows it, and
// told where somebody does or the release has the setting.
func TestLostDefault(t *testing.T) {
	gone := catalog.Record{Name: "hw.igb.rxd", System: catalog.FreeBSD, Removed: "12.0", Default: catalog.Defaults{{Value: "unknown"}}}
	known := gone
	known.Default = catalog.Defaults{{Value: "1024"}}
	for _, c := range []struct {
		record  catalog.Record
		version catalog.Version
		want    bool
	}{{gone, "14.3", false}, {gone, "11.4", true}, {known, "14.3", true}} {
		var text strings.Builder
		Setting(&text, &c.record, c.version)
		if got := strings.Contains(text.String(), "default "); got != c.want {
			t.Errorf("%s in %s: default is told %t, want %t", c.record.Default[0].Value, c.version, got, c.want)
		}
		if got := strings.Contains(SettingMarkdown(&c.record, c.version), "- default"); got != c.want {
			t.Errorf("%s in %s, Markdown: default is told %t, want %t", c.record.Default[0].Value, c.version, got, c.want)
		}
	}
}

// A record that was removed before the first release is there for the name alone: no release ever had it.
func TestNeverAName(t *testing.T) {
	never := catalog.Record{Name: "dev.igb.*.rx_ring_size", System: catalog.FreeBSD, Removed: "0", Kind: catalog.ReadOnly}
	for _, version := range []catalog.Version{"", "14.3"} {
		var text strings.Builder
		Setting(&text, &never, version)
		for _, wrong := range []string{"no longer", "removed in"} {
			if strings.Contains(text.String(), wrong) || strings.Contains(SettingMarkdown(&never, version), wrong) {
				t.Errorf("in %q it is told to be %s a release: %s", version, wrong, text.String())
			}
		}
		if !strings.Contains(SettingMarkdown(&never, version), "not a name of FreeBSD's own") {
			t.Errorf("in %q, Markdown: %s", version, SettingMarkdown(&never, version))
		}
	}
}
