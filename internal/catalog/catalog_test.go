package catalog

import (
	"os"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func allRecords(t *testing.T) []Record {
	t.Helper()
	records, err := readYAML(os.DirFS("../../catalog"))
	if err != nil {
		t.Fatal(err)
	}
	return records
}

// TestCatalog runs the catalog's own checks over every YAML file.
func TestCatalog(t *testing.T) {
	records := allRecords(t)
	for _, problem := range check(records) {
		t.Error(problem)
	}
	count := map[System]int{}
	for _, r := range records {
		count[r.System]++
	}
	t.Logf("records: %v", count)
}

// The quick reader and the library read every record alike.
func TestQuickReader(t *testing.T) {
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	want := allRecords(t)
	got := c.All("")
	if len(got) != len(want) || len(got) < 2000 {
		t.Fatalf("%d records, the library reads %d", len(got), len(want))
	}
	examples := cmp.FilterPath(func(p cmp.Path) bool {
		name := p.Last().String()
		return name == ".Fires" || name == ".Quiet" || name == ".Gives" || name == ".Checked" // not of the YAML
	}, cmp.Ignore())
	for i := range want {
		if reflect.DeepEqual(*got[i], want[i]) {
			continue
		}
		if d := cmp.Diff(want[i], *got[i], cmpopts.IgnoreUnexported(Record{}), cmpopts.EquateEmpty(), examples); d != "" {
			t.Errorf("%s %s: the quick reader of the catalog (+) reads it otherwise than YAML says (-); write it as "+
				"others are written:\n%s",
				want[i].System, want[i].Name, d)
		}
		if found, ok := c.Lookup(want[i].System, want[i].Name); !ok || found != got[i] {
			t.Errorf("%s %s is not found by its name", want[i].System, want[i].Name)
		}
		for _, alias := range want[i].Aliases {
			if found, ok := c.Lookup(want[i].System, alias); !ok || found != got[i] {
				t.Errorf("%s %s is not found by its alias %s", want[i].System, want[i].Name, alias)
			}
		}
	}
}
