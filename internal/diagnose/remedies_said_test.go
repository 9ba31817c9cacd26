package diagnose

import (
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/facts"
)

// TestRemediesOfPosts holds that what a post says was tried, and what its outputs show to be harmless, changes what is said.
func TestRemediesOfPosts(t *testing.T) {
	for _, c := range []struct{ from, text, post, rule, want, never string }{
		{"dmesg", "[  81.2] e1000e 0000:00:19.0 eno1: Detected Hardware Unit Hang:\n",
			"I disabled TSO, GSO and other offloads (ethtool). This did not resolve it.\n", "transmit-timeout", "disabling offloads did not help", "tso off"},
		{"dmesg", "[  81.2] e1000e 0000:00:19.0 eno1: Detected Hardware Unit Hang:\n",
			"I disabled the firewall. This did not resolve it.\n", "transmit-timeout", "tso off", "did not help"},
		{"dmesg", "Mar  2 21:51:49 gw netifd: Network device 'pppoe-wan' link is down\n", "", "link-flaps", "check the log of pppd", "set-eee"},
		{"tc -s qdisc show", "qdisc cake 8021: dev eth0 root refcnt 2 bandwidth 8Mbit besteffort ack-filter\n Sent 3816835440 bytes 8077772 pkt " +
			"(dropped 4081969, overlimits 0 requeues 0)\n backlog 0b 0p requeues 0\n\n                  Tin 0\n  thresh          8Mbit\n  pkts         12159752\n" +
			"  drops          965953\n  marks            3276\n  ack_drop      3116016\n", "", "qdisc-drops", "965953 since boot", "4081969"},
	} {
		f, err := facts.FromTexts("a", map[string]string{"uname -a": "Linux a 6.1\n", c.from: c.text}, 0)
		if err != nil {
			t.Fatal(err)
		}
		f.Rest = c.post
		said := ""
		found, _ := Evaluate(Input{Facts: f})
		for _, x := range found {
			if x.Rule == c.rule {
				said += x.Summary
				for _, fix := range x.Fix {
					said += "\n" + fix.Action
				}
			}
		}
		if !strings.Contains(said, c.want) || strings.Contains(said, c.never) {
			t.Errorf("%s: %q", c.text, said)
		}
	}
}

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
