package transcript

import (
	"strings"
	"testing"
)

// TestFilesOfTheKernel reads what a file of the kernel holds, and no sentence that follows the name of one.
func TestFilesOfTheKernel(t *testing.T) {
	for post, want := range map[string]string{
		"cat /proc/sys/net/ipv4/tcp_available_congestion_control\nreno cubic bbr\n": "net.ipv4.tcp_available_congestion_control = reno cubic bbr",
		"cat /proc/sys/net/nf_conntrack_max\n\n16384\n":                             "net.nf_conntrack_max = 16384",
		"cat /proc/sys/net/nf_conntrack_max\n\nand raise it, as you need.\n":        "",
	} {
		p, _ := LoadSession(post)
		if got := strings.TrimSpace(p.Texts["sysctl -a"]); got != want {
			t.Errorf("%q: %q, want %q", post, got, want)
		}
	}
}
