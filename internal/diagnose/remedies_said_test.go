package diagnose

import (
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/facts"
)

// TestRemediesSay what an engineer types next, with the name of the interface where a line shows it.
func TestRemediesSay(t *testing.T) {
	for what, c := range map[string]struct {
		from, text, rule string
		want             []string
	}{
		"a fixed speed": {"ethtool eno2", "Settings for eno2:\n\tSupported ports: [ TP ]\n\tSupported link modes:   100baseT/Full\n" +
			"\t                        1000baseT/Full\n\tSpeed: 100Mb/s\n\tDuplex: Full\n\tPort: Twisted Pair\n" +
			"\tAuto-negotiation: off\n\tLink detected: yes\n", "slow-link", []string{"the speed is fixed", "ethtool -s eno2 autoneg on"}},
		"both ends faster": {"ethtool eno2", "Settings for eno2:\n\tSupported ports: [ TP ]\n\tSupported link modes:   1000baseT/Full\n" +
			"\tAdvertised link modes:  1000baseT/Full\n\tLink partner advertised link modes:  1000baseT/Full\n\tSpeed: 100Mb/s\n" +
			"\tAuto-negotiation: on\n\tPort: Twisted Pair\n\tLink detected: yes\n", "slow-link",
			[]string{"both ends advertise 1 Gbit/s", "replace the cable, check plugs"}},
		"a short ring": {"ethtool -S ens4", "NIC statistics:\n     rx_packets: 100000\n     rx_missed_errors: 900\n", "ring-drops",
			[]string{"0.89% of the packets", "ethtool -G ens4 rx N", "ethtool -L ens4 combined N"}},
		"a hung card that only its message names": {"dmesg", "[  81.2] e1000e 0000:00:19.0 eno1: Reset adapter unexpectedly\n",
			"transmit-timeout", []string{"ethtool -K eno1 tso off gso off", "pcie_aspm=off"}},
		"datagrams": {"netstat -s", "Udp:\n    900000 packets received\n    3 packets to unknown port received\n" +
			"    100000 packet receive errors\n    12 packets sent\n", "udp-buffer", []string{"10% of what arrived", "ss -uanmp"}},
		"a flood of pauses": {"ethtool -S eth0", "NIC statistics:\n     rx_packets: 22871\n     tx_packets: 14\n     rx_pause: 104412\n",
			"pause-frames", []string{"it could send 14 packets in total", "ethtool -A eth0 autoneg off rx off"}},
		"local ports": {"dmesg", "2026/01/02 10:00:01 dial tcp 198.51.100.4:443: connect: cannot assign requested address\n",
			"ephemeral-ports", []string{"net.ipv4.tcp_tw_reuse=1", "keep connections open"}},
	} {
		f, err := facts.FromTexts("a", map[string]string{"uname -a": "Linux a 6.1\n", c.from: c.text}, 0)
		if err != nil {
			t.Fatal(err)
		}
		said := ""
		found, _ := Evaluate(Input{Facts: f})
		for _, x := range found {
			if x.Rule != c.rule {
				continue
			}
			said += x.Summary
			for _, fix := range x.Fix {
				said += "\n" + fix.Action + "\n" + fix.Command
			}
		}
		for _, want := range c.want {
			if !strings.Contains(said, want) {
				t.Errorf("%s: %q does not say %q", what, said, want)
			}
		}
	}
}
