package diagnose

import "testing"

func TestRemedyOfTheTableThatIsFull(t *testing.T) {
	for line, want := range map[string]string{
		"[ 12.5] neighbour: arp_cache: neighbor table overflow!\n":   "net.ipv4.neigh.default.gc_thresh3",
		"[ 12.5] neighbour: ndisc_cache: neighbor table overflow!\n": "net.ipv6.neigh.default.gc_thresh3",
		"[ 12.5] IPv6: Neighbour table overflow\n":                   "net.ipv6.neigh.default.gc_thresh3",
	} {
		_, found, _ := judge(t, linuxExample("dmesg", line))
		if len(found) != 1 || len(found[0].Fix) != 1 || found[0].Fix[0].Setting != want {
			t.Errorf("%q: %+v, want one remedy for %s", line, found, want)
		}
	}
}
