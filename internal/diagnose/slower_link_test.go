package diagnose

import (
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/facts"
)

// TestOtherDirectionIsSlower says nothing of the network where only one direction of a test filled a link.
func TestOtherDirectionIsSlower(t *testing.T) {
	text := "Connecting to host 192.0.2.7, port 5201\n" +
		"[ ID][Role] Interval           Transfer     Bitrate         Retr\n" +
		strings.Repeat("[  5][TX-C]   1.00-2.00   sec   111 MBytes   934 Mbits/sec    0   1.10 MBytes\n"+
			"[  7][RX-C]   1.00-2.00   sec  28.8 MBytes   241 Mbits/sec\n", 6) +
		"[  5][TX-C]   0.00-10.00  sec  1.09 GBytes   934 Mbits/sec    0             sender\n" +
		"[  5][TX-C]   0.00-10.00  sec  1.08 GBytes   931 Mbits/sec                  receiver\n" +
		"[  7][RX-C]   0.00-10.00  sec   290 MBytes   243 Mbits/sec   12             sender\n" +
		"[  7][RX-C]   0.00-10.00  sec   288 MBytes   241 Mbits/sec                  receiver\n"
	f, err := facts.FromTexts("example", linuxExample("iperf3", text).Texts, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := slowerLink().Check(Input{Facts: f})
	if len(found) == 0 {
		t.Fatal("the full direction is not told")
	}
	for _, fix := range found[0].Fix {
		if strings.Contains(fix.Action, "not the bottleneck") {
			t.Errorf("one slow direction: %s", fix.Action)
		}
	}
}
