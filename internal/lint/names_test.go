package lint

import (
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/catalog"
)

// TestOldNames checks what is said of a setting that was renamed, never
// existed, or has a default that no float64 holds.
func TestOldNames(t *testing.T) {
	c := load(t)
	for _, tt := range []struct {
		system  catalog.System
		version catalog.Version
		line    string
		want    string // part of the only message, empty for none
	}{
		{catalog.FreeBSD, "12.4", "net.inet.ip.check_interface=1", ""},
		{catalog.FreeBSD, "12.4", "vfs.zfs.arc_max=1073741824", ""},
		{catalog.FreeBSD, "14.2", "net.inet.ip.check_interface=1", "it is called net.inet.ip.rfc1122_strong_es now"},
		{catalog.FreeBSD, "14.2", "vfs.zfs.arc_max=1073741824", "vfs.zfs.arc.max; both still work"},
		{catalog.Linux, "6.12", "net.ipv4.tcp_collapse_max_bytes=6291456", "is no setting of Linux's own kernel"},
		{catalog.Linux, "6.12", "kernel.shmall=1073741824", "6.12, 18446744073692774399"},
		{catalog.Linux, "6.12", "fs.quota.warnings=0", ""},
	} {
		in := Input{Path: "/etc/sysctl.conf", Text: tt.line + "\n"}
		res := Run(c, []Input{in}, Options{System: tt.system, Version: tt.version})
		if tt.want == "" {
			if len(res.Problems) != 0 {
				t.Errorf("%s in %s: %v", tt.line, tt.version, brief(res))
			}
			continue
		}
		if len(res.Problems) != 1 || !strings.Contains(res.Problems[0].Message, tt.want) {
			t.Errorf("%s in %s: %v, want %q", tt.line, tt.version, brief(res), tt.want)
		}
	}
}
