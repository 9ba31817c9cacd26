package catalog

import (
	"io/fs"
	"os"
	"testing"
)

// onlyLinux hides the other systems' files.
type onlyLinux struct{ fs.FS }

func (f onlyLinux) Glob(string) ([]string, error) { return fs.Glob(f.FS, "linux/*.yaml") }

// TestLinuxRecords runs the catalog's own checks over the Linux files alone.
func TestLinuxRecords(t *testing.T) {
	records, err := ReadYAML(onlyLinux{os.DirFS("../../catalog")})
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range Check(records) {
		t.Error(problem)
	}
	t.Logf("linux records: %d", len(records))
}
