package transcript

import (
	"strings"
	"testing"
)

// What people write around an output and into it does not hide it.
func TestRetoldOutputs(t *testing.T) {
	long := strings.Repeat("The firewall stands still about once a day. ", 4)
	for said, want := range map[string]string{
		long + "There are many `netmap_transmit vtnet1 full` lines then.":     "netmap_transmit vtnet1 full",
		long + `Console: "lagg0 drop mbuf that needs checksum offload" only.`: "lagg0 drop mbuf that needs checksum offload",
		"re2 Watchdog timeout": "re2 Watchdog timeout",
		"I saw that re2 Watchdog timeout is a known problem of it": "",
		"64 bytes from 192.0.2.1: icmp_seq=3 ttl=64 time=0.9 ms":   "64 bytes from 192.0.2.1: icmp_seq=3 ttl=64 time=0.9 ms",
	} {
		p, err := LoadSession("FreeBSD 14\n\n" + said + "\n")
		got := ""
		if err == nil {
			got = p.Texts["dmesg"] + p.Texts["ping"]
		}
		if strings.TrimSpace(got) != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}

func TestUnmarkedLines(t *testing.T) {
	for line, want := range map[string]string{
		"> free CPU. I'll keep on testing this, so look": "free CPU. I'll keep on testing this, so look",
		"> netstat -m":                           "> netstat -m",
		"> ping 192.0.2.1, then 192.0.2.2":       "> ping 192.0.2.1, then 192.0.2.2",
		"lagg0  1500  0   0   **34**   0":        "lagg0  1500  0   0   34   0",
		"**Describe the bug** in a few ** words": "**Describe the bug** in a few ** words",
	} {
		if got, _ := unmarked(line); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

func TestCaptionsAreNoOutput(t *testing.T) {
	for line, want := range map[string]bool{"18.7 without VLANs:": false, "dev.ix.0.queue0.rx_packets: 12": true} {
		if got := looksPrinted([]string{line}, true); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}
