package facts

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestHeadsOf holds what the numbers of a row of netstat -i mean whose table was cut off.
func TestHeadsOf(t *testing.T) {
	for row, want := range map[string]string{
		"em0 1500 <Link#1> 00:00:5e:00:53:01 900 1 800 0 0":       "Ipkts Ierrs Opkts Oerrs Coll",
		"em0 1500 <Link#1> 00:00:5e:00:53:01 900 1 2 800 0 0":     "Ipkts Ierrs Idrop Opkts Oerrs Coll",
		"em0 1500 <Link#1> 00:00:5e:00:53:01 900 1 800 0 0 7":     "Ipkts Ierrs Opkts Oerrs Coll Drop",
		"em0 1500 <Link#1> 00:00:5e:00:53:01 900 1 2 800 0 0 7":   "Ipkts Ierrs Idrop Opkts Oerrs Coll Drop",
		"em0 1500 <Link> 00:00:5e:00:53:01 900 1 800 0 0":         "Ipkts Ifail Opkts Ofail Colls",
		"em0 1500 <Link#1> 00:00:5e:00:53:01 900 1 2 800 0 0 7 8": "",
	} {
		if got := strings.Join(headsOf(strings.Fields(row)), " "); got != want {
			t.Errorf("%s: %q, want %q", row, got, want)
		}
	}
}

// TestOlderPackets holds that the lines of an older tcpdump are read like those of today's.
func TestOlderPackets(t *testing.T) {
	for line, want := range map[string]string{
		"10:01:11.1 192.0.2.7.40 > 192.0.2.9.443: S 100:100(0) win 640 <mss 1460,nop,wscale 7> (DF)": "10:01:11.1 IP 192.0.2.7.40 > " +
			"192.0.2.9.443: Flags [S], seq 100:100, win 640, options [mss 1460,nop,wscale 7], length 0",
		"10:01:11.1 192.0.2.7.40 > 192.0.2.9.443: P 1:201(200) ack 5 win 501": "10:01:11.1 IP 192.0.2.7.40 > 192.0.2.9.443: " +
			"Flags [P.], seq 1:201, ack 5, win 501, length 200",
		"10:01:11.1 192.0.2.7.40 > 192.0.2.9.443: . ack 5 win 501": "10:01:11.1 IP 192.0.2.7.40 > 192.0.2.9.443: Flags [.], ack 5, " +
			"win 501, length 0",
		"10:01:11.1 192.0.2.7 > 192.0.2.9: icmp: echo request": "",
	} {
		if got := todaysPacket(line); strings.Join(strings.Fields(got), " ") != want && (want != "" || got != line) {
			t.Errorf("%s:\n%s, want\n%s", line, got, want)
		}
	}
}

// TestLanes judges the light of an optic by what its medium needs.
func TestLanes(t *testing.T) {
	for line, want := range map[string][]string{
		"lane 1: RX power: 0.45 mW (-3.47 dBm) TX bias: 7.10 mA": {},
		"lane 1: RX: 0.01 mW (-19.20 dBm) TX: 0.60 mW (-2 dBm)":  {"rx power low: -19.20 dBm, 10Gbase-SR needs -9.9"},
		"lane 1: RX power: 0.00 mW (-inf dBm) TX bias: 7.10 mA":  {"rx power low"},
	} {
		n := NIC{Media: "Ethernet autoselect (10Gbase-SR <full-duplex>)", Shown: map[string]Source{}}
		n.lane(line, Source{})
		got := []string{}
		for name := range n.Optic.Flags {
			got = append(got, name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// A link that finds no room must not be written to.
func TestTooManyFabricLinks(t *testing.T) {
	f := &Facts{FabricLinks: make([]FabricLink, rowLimit)}
	line := `  1  1[  ] ==( 4X  10.0 Gbps Active/  LinkUp)==>  2  1[  ] "switch" ( Could be 14.0 Gbps)`
	if err := f.readFabricLinks(text{data: []byte("CA 'mlx4_1'\n" + line + "\n")}); err != nil || len(f.FabricLinks) != rowLimit {
		t.Error(err, len(f.FabricLinks))
	}
}

// TestProtocolTables holds the names of counters where the indentation or the heading is gone, and where the number comes last.
func TestProtocolTables(t *testing.T) {
	const flat = "tcp:\n901 packets sent\n880 data packets (7 bytes)\n12 data packets (5 bytes) retransmitted\nudp:\n" +
		"71 datagrams received\n6 dropped due to full socket buffers\nthat is all\n33 bottles\n"
	for body, want := range map[string]string{
		flat: "tcp.packet_sent 901 tcp.packet_sent.data_packet 880 tcp.packet_sent.data_packet_retransmitted 12 " +
			"udp.datagram_received 71 udp.dropped_due_to_full_socket_buffer 6",
		"tcp:\n\t901 packets sent\n\t\t12 data packets (5 bytes) retransmitted\n33 bottles\n": "tcp.packet_sent 901 " +
			"tcp.packet_sent.data_packet_retransmitted 12",
		"tcp:\n  packets sent: 901\n  listen queue overflows: 4\n": "tcp.listen_queue_overflow 4 tcp.packet_sent 901",
		"33 bottles\nlisten queue overflows: 4\n":                  "tcp.listen_queue_overflow 4",
	} {
		f := &Facts{Counters: map[string]Counter{}}
		if err := f.readBSDNetstat(text{from: "post", data: []byte(body)}); err != nil {
			t.Errorf("%s: %v", body, err)
		}
		var got []string
		for name, c := range f.Counters {
			got = append(got, name+" "+strconv.FormatUint(c.Value, 10))
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%s:\n%q, want\n%q", body, strings.Join(got, " "), want)
		}
	}
}
