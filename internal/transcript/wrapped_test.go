package transcript

import (
	"strings"
	"testing"
)

// TestInContainer takes off what only says where a command runs.
func TestInContainer(t *testing.T) {
	for typed, want := range map[string]string{
		"kubectl exec -it web-0 -n prod -- netstat -s":     "netstat -s",
		"kubectl exec -ti web-0 nslookup a.example":        "nslookup a.example",
		"docker exec -it -u root web ss -ti":               "ss -ti",
		"sudo ip netns exec qrouter-1 ping -c 3 192.0.2.5": "ping -c 3 192.0.2.5",
		"nsenter -t 4711 -n ss -ltn":                       "ss -ltn",
		"lxc exec c1 -- /usr/sbin/ethtool -S eth0":         "ethtool -S eth0",
		"kubectl exec web-0 -- /entrypoint":                "kubectl exec web-0 -- /entrypoint",
		"kubectl get pods -o wide":                         "kubectl get pods -o wide",
		"docker exec -it job1 time nslookup a.example":     "nslookup a.example",
		"docker exec web":                                  "docker exec web",
	} {
		if got := strings.Join(commandWords(typed), " "); got != want {
			t.Errorf("%s: %s, not %s", typed, got, want)
		}
	}
}

// TestSingleSpaced joins the rows of a table that was spread, and leaves sentences and few rows alone.
func TestSingleSpaced(t *testing.T) {
	row, prose := "rx packets 17\n\n", "This is the 3rd time. It is slow, as it was.\n\n"
	if got := singleSpaced(strings.Repeat(row, 9)); strings.Contains(got, "17\n\nrx") {
		t.Errorf("%q", got)
	}
	for _, s := range []string{strings.Repeat(row, 3), strings.Repeat(prose, 12), "a 1\nb 2\n\nc 3\n"} {
		if got := singleSpaced(s); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
	if got := singleSpaced(strings.Repeat("{{ drops 4}}\n\n", 9)); !strings.HasPrefix(got, "  drops 4\n  drops 4") {
		t.Errorf("%q", got)
	}
}
