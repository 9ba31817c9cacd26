package change

import (
	"slices"
	"testing"

	"github.com/wirerate/wirerate/internal/plan"
)

func TestPairs(t *testing.T) {
	c := &Change{index: map[string]int{}}
	for i, it := range []Item{{Setting: "vm.dirty_bytes", Old: "0"}, {Setting: "vm.dirty_ratio", Old: "20", Watched: true}, {Setting: "vm.swappiness", Old: "60"}} {
		c.Items, c.index[it.Setting] = append(c.Items, it), i
	}
	for _, x := range []struct {
		item   int
		value  string
		values map[string]string
		want   assignment
		write  bool
	}{
		{0, "8192", map[string]string{"vm.dirty_bytes": "8192"}, assignment{0, "8192"}, true},
		{0, "0", map[string]string{"vm.dirty_bytes": "0"}, assignment{1, "20"}, true}, // the kernel refuses the 0
		{0, "0", map[string]string{"vm.dirty_bytes": "0", "vm.dirty_ratio": "5"}, assignment{1, "5"}, true},
		{1, "20", map[string]string{"vm.dirty_bytes": "8192", "vm.dirty_ratio": "20"}, assignment{1, "20"}, false}, // would take the bytes back
		{1, "5", map[string]string{"vm.dirty_bytes": "0", "vm.dirty_ratio": "5"}, assignment{1, "5"}, true},
		{0, "0", map[string]string{"vm.dirty_bytes": "0", "vm.dirty_ratio": "0"}, assignment{0, "0"}, true}, // refused, and said so
		{2, "0", map[string]string{"vm.swappiness": "0"}, assignment{2, "0"}, true},
	} {
		got, write := c.settled(assignment{x.item, x.value}, x.values)
		if got != x.want || write != x.write {
			t.Errorf("%s=%s of %v: %v, %v; want %v, %v", c.Items[x.item].Setting, x.value, x.values, got, write, x.want, x.write)
		}
	}
	for _, name := range []string{"vm.dirty_bytes", "vm.dirty_ratio", "vm.dirty_background_bytes", "vm.dirty_background_ratio"} {
		if pairOf(pairOf(name)) != name || !slices.Contains(plan.Rewrites("linux", name), pairOf(name)) {
			t.Errorf("%s and %s are no pair that the kernel rewrites", name, pairOf(name))
		}
	}
}
