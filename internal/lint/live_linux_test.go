package lint

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/catalog"
)

// TestLiveKernel writes the running kernel's own network values down as a
// sysctl.conf: the kernel has every one of them, so none may be an error or
// called removed. Names that the catalog lacks are shown.
func TestLiveKernel(t *testing.T) {
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		t.Skip("no /proc/sys: ", err)
	}
	version, err := catalog.ParseVersion(string(release))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	lines := 0
	err = filepath.WalkDir("/proc/sys/net", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		info, err := d.Info()
		if err != nil || info.Mode().Perm()&0o222 == 0 || info.Mode().Perm()&0o444 == 0 {
			return nil
		}
		value, err := os.ReadFile(path)
		if err != nil || strings.Contains(strings.TrimSpace(string(value)), "\n") || len(strings.TrimSpace(string(value))) == 0 {
			return nil
		}
		text.WriteString(strings.TrimPrefix(path, "/proc/sys/") + " = " + string(value))
		lines++
		return nil
	})
	if err != nil || lines < 50 {
		t.Skipf("only %d readable settings below /proc/sys/net (%v)", lines, err)
	}
	res := Run(load(t), []Input{{Path: "/etc/sysctl.conf", Text: text.String()}}, Options{System: catalog.Linux, Version: version})
	for _, p := range res.Problems {
		switch {
		case p.Severity == Error || p.Code == "removed" || p.Code == "not-yet" || p.Code == "syntax":
			t.Errorf("%s = %s: %s [%s]", p.Key, p.Value, p.Message, p.Code)
		case p.Code == "unknown-key":
			t.Logf("the catalog lacks %s", p.Key)
		}
	}
	t.Logf("%d settings of Linux %s", lines, version)
}
