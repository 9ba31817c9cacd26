package catalog

import "testing"

// What a release accepts is that of the newest range that it is not older than.
func TestRangeIn(t *testing.T) {
	zero, one, most := int64(0), int64(1), int64(255)
	r := Record{Range: &Range{Min: &one, Since: "7.2", Before: &Range{Min: &zero, Max: &most, Since: "5.13"}}}
	for _, c := range []struct {
		version  Version
		min, max *int64
		judged   bool
	}{
		{"5.10", nil, nil, false}, {"5.13", &zero, &most, true}, {"6.18", &zero, &most, true}, {"7.2", &one, nil, true},
	} {
		got := r.RangeIn(c.version)
		if (got != nil) != c.judged || got != nil && (got.Min != c.min || got.Max != c.max) {
			t.Errorf("range in %s is %+v", c.version, got)
		}
	}
	if r := (&Record{}).RangeIn("6.18"); r != nil {
		t.Errorf("a record without a range has %+v", r)
	}
}
