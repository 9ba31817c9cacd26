package report

import (
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
