package experiment

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/host"
)

// TestCheckArms: what cannot become an arm is refused before a lab is brought up
// or a host is reached.
func TestCheckArms(t *testing.T) {
	rules := filepath.Join(t.TempDir(), "rules.nft")
	if err := os.WriteFile(rules, []byte("table inet a { }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	read := func(path, text string) host.CaptureEntry {
		return host.CaptureEntry{Action: host.ActRead, Path: path, Out: []byte(text)}
	}
	available := read("/proc/sys/net/ipv4/tcp_available_congestion_control", "reno cubic\n")
	release, modules := read("/proc/sys/kernel/osrelease", "6.1.0\n"), read("/proc/modules", "ext4 1 1 - Live 0x0\n")
	tree := read("/lib/modules/6.1.0/modules.dep", "kernel/net/ipv4/tcp_bbr.ko.xz:\nkernel/net/ipv4/tcp_htcp.ko:\n")
	whole := []host.CaptureEntry{available, release}
	loading := []host.CaptureEntry{available, release, modules, tree}
	for _, c := range []struct {
		arm, lab string
		here     []host.CaptureEntry
		want     string
	}{
		{"file:/no/such.conf", "", nil, "arm file:/no/such.conf: stat /no/such.conf: no such file"},
		{"file:" + filepath.Dir(rules), "", nil, "is a folder"},
		{"plan+firewall:/no/such.nft", "", nil, "on, off or a file of rules is expected"},
		{"firewall:" + rules + "+firewall:off", "rtt=1ms", whole, ""},
		{"cc:nosuch", "rtt=1ms", whole, `this machine's kernel has no congestion control "nosuch"; it has reno, cubic`},
		{"set:net/ipv4/tcp_congestion_control=nosuch", "rtt=1ms", whole, `no congestion control "nosuch"`},
		{"cc:cubic", "rtt=1ms", whole, ""},
		{"cc:nosuch", "rtt=1ms", loading, `no congestion control "nosuch"`},
		{"cc:bbr+cc:htcp", "rtt=1ms", loading, ""},
		{"cc:nosuch", "rtt=1ms", loading[:3], ""}, // its modules are not known
		{"cc:nosuch", "rtt=1ms", nil, ""},
		{"cc:nosuch", "", whole, ""}, // of another machine
		{"tuned:no-such-profile", "rtt=1ms", whole, `TuneD profile "no-such-profile" is not on this machine`},
		{"tuned:no-such-profile", "", whole, ""},
	} {
		arm, err := ParseArm(c.arm)
		if err != nil {
			t.Fatal(err)
		}
		config := Config{Lab: c.lab, Arms: []Arm{arm}}
		err = config.checkArms(t.Context(), host.NewReplay(&host.Capture{Entries: c.here}))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s in lab %q: %v, want %q", c.arm, c.lab, err, c.want)
		}
		var known *Error
		if err != nil && !errors.As(err, &known) {
			t.Errorf("%s: no reason: %v", c.arm, err)
		}
	}
}
