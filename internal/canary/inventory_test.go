package canary

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestInventoryForms(t *testing.T) {
	lines := "b rack=1 role=web\n# a comment\na rack=2\nc rack=1\nd rack=2 role=db\n"
	ansible := `{"_meta": {"hostvars": {"a": {"rack": 2}, "b": {"rack": "1", "x": []}, "c": {"rack": 1}, "d": {"rack": 2}}},
		"all": {"children": ["role_web", "ungrouped"]}, "role_web": {"children": ["shop"]}, "shop": {"hosts": ["b"], "children": ["role_web"]}, "role_db": {"hosts": ["d"]}, "ungrouped": {"hosts": ["a", "c"]}}`
	for name, text := range map[string]string{"lines": lines, "ansible": ansible} {
		hosts, err := Inventory([]byte(text), []string{"rack", "role"})
		if err != nil {
			t.Fatal(name, err)
		}
		var got []string
		for _, h := range hosts {
			got = append(got, h.Name+":"+strings.Join(h.Facts, ","))
		}
		if want := []string{"a:2,", "b:1,web", "c:1,", "d:2,db"}; !slices.Equal(got, want) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestInventoryFaults(t *testing.T) {
	for text, want := range map[string]string{
		"a\nb\nc\nd\na rack=2\n": "host a stands twice",
		"a rack\n":               "HOST KEY=VALUE... is expected",
		"a\nb\n":                 "has 2 hosts",
		"a\nb\nc\nd\n":           `no host has a value of "rack"`,
		`{"rack_1": {"hosts": ["a"]}, "rack_2": {"hosts": ["a"]}}`: "host a is in two groups, rack_1 and rack_2",
		`{"rack_1": 3}`: "group rack_1",
		`{"rack_1": {"children": ["x"]}, "rack_2": {"hosts": ["a"]}, "x": {"hosts": ["a"]}}`: "host a is in two groups, rack_1 and rack_2",
		`{"a": {"hosts": ["a", "b", "c", "d"]}}`:                                             "a is a host and a group",
		"a rack=1\nb\nc\n!d\n":                                                               "reads as a pattern",
		"a rack=1\nb\nc\nd*\n":                                                               "reads as a pattern",
		"a rack=\xff\nb\nc\nd\n":                                                             "not UTF-8",
		"{":                                                                                  "the inventory",
		"a\x1b[2J rack=1\nb\nc\nd\n":                                                         "a host with the name",
		`{"_meta": {"hostvars": ["a", "b"]}}`:                                                "hostvars",
	} {
		if _, err := Inventory([]byte(text), []string{"rack"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %q", text, err, want)
		}
	}
}

func FuzzInventory(f *testing.F) {
	f.Add([]byte("a rack=1\nb rack=2\nc\nd\n"))
	f.Add([]byte(`{"_meta": {"hostvars": {"a": {"rack": 2}}}, "rack_2": {"hosts": ["a"]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		hosts, err := Inventory(data, []string{"rack"})
		for _, h := range hosts {
			if h.Name == "" || len(h.Facts) != 1 || err != nil {
				t.Errorf("%+v, %v", h, err)
			}
		}
	})
}

// TestAssignIsEven wants each step to hold its share of each block, to a host, and
// each host to be as likely as any other to be first.
func TestAssignIsEven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(8, 300).Draw(t, "hosts")
		kinds := rapid.IntRange(1, 5).Draw(t, "kinds")
		var hosts []Host
		for i := range n {
			hosts = append(hosts, Host{Name: fmt.Sprint(i), Facts: []string{fmt.Sprint(i * i % kinds)}, Before: []*float64{new(1.0)}})
		}
		steps, err := ParseSteps("1,10%,50%", n)
		if err != nil {
			t.Fatal(err)
		}
		assign(hosts, steps, rapid.Uint64().Draw(t, "seed"))
		for step, want := range steps {
			blocks, changed := map[int]float64{}, map[int]float64{}
			all := 0
			for _, h := range hosts {
				blocks[h.Block]++
				if h.Step <= step {
					changed[h.Block]++
					all++
				}
			}
			if all != want {
				t.Fatalf("step %d changes %d hosts, not %d", step, all, want)
			}
			for block, size := range blocks {
				if share := size * float64(want) / float64(n); changed[block] < share-2 || changed[block] > share+2 {
					t.Fatalf("step %d changes %v of the %v hosts of a block; its share is %.1f", step, changed[block], size, share)
				}
			}
		}
	})
}

func TestStepFaults(t *testing.T) {
	for _, text := range []string{"", "x", "0", "101%", "13", "1.5", "50%,10%", "12", "100%", "-1", "NaN%"} {
		if steps, err := ParseSteps(text, 12); err == nil {
			t.Errorf("%q: %v", text, steps)
		}
	}
	if steps, err := ParseSteps("1,1%,10%,50%,100%", 12); err != nil || !slices.Equal(steps, []int{1, 6, 12}) {
		t.Error(steps, err)
	}
}
