package catalog

import (
	"os"
	"testing"
)

// TestCatalog runs the catalog's own checks over every YAML file.
func TestCatalog(t *testing.T) {
	records, err := ReadYAML(os.DirFS("../../catalog"))
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range Check(records) {
		t.Error(problem)
	}
	count := map[System]int{}
	for _, r := range records {
		count[r.System]++
	}
	t.Logf("records: %v", count)
}
