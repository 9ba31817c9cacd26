package conffile

import (
	"strings"
	"testing"
)

// TestTcRefuses compares with what tc of iproute2 6.1 refuses, and with what a mark of the firewall can be found at.
func TestTcRefuses(t *testing.T) {
	const ingress = "tc qdisc add dev eth0 ingress\ntc filter add dev eth0 parent ffff: protocol ip u32 match u32 0 0 ACTION action mirred egress redirect dev ifb0\n"
	bare, restored := strings.Replace(ingress, "ACTION ", "", 1), strings.Replace(ingress, "ACTION", "action connmark", 1)
	for _, tt := range []struct{ script, want string }{
		{"tc qdisc add dev eth0 root handle 1: htb rate 100kbit", "the discipline htb takes no rate, its classes do"},
		{"tc qdisc add dev eth0 root handle 1: htb default 10 r2q 5", ""},
		{"tc class add dev eth0 parent 1: classid 1:1 htb rate 100kbit ceil 1mbit", ""},
		{"tc qdisc add dev eth0 root fq_codel rate 100kbit", "fq_codel has no parameter rate"},
		{"tc qdisc add dev eth0 root fq_codel limit 1000 target 5ms noecn", ""},
		{"tc qdisc add dev eth0 root tbf rate 1mbit latency 50ms", "tbf needs burst"},
		{"tc qdisc add dev eth0 root tbf rate 1mbit burst 32kbit", "tbf needs latency or limit"},
		{"tc qdisc add dev eth0 root tbf rate 1mbit burst 32kbit latency 50ms", ""},
		{"tc qdisc add dev eth0 root tbf $OPTIONS rate 1mbit", ""},
		{"tc qdisc add dev eth0 parent 1:10 sfq perturb 10", ""},
		{"tc qdisc add dev eth0 root netem delay 100ms 10ms rate 1mbit loss 1%", ""},
		{bare + "tc filter add dev ifb0 parent 1: protocol ip handle 3 fw flowid 1:3", "packets on ifb0 have no firewall mark"},
		{restored + "tc filter add dev ifb0 parent 1: protocol ip handle 3 fw flowid 1:3", ""},
		{bare + "tc filter add dev eth0 parent 1: protocol ip handle 3 fw flowid 1:3", ""},
	} {
		got := ""
		if err := Scan(Script, Linux, "tc.sh", tt.script+"\n", func(Entry) bool { return true }, func(r Reject) { got += r.Reason }); err != nil {
			t.Fatal(err)
		}
		if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.script, got, tt.want)
		}
	}
}
