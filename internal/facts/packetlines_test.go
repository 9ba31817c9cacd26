package facts

import (
	"fmt"
	"strings"
	"testing"
)

// talksOf are the directions that a text of packets shows trouble in.
func talksOf(t *testing.T, lines ...string) []Talk {
	t.Helper()
	f, err := FromTexts("test", map[string]string{"uname -a": "Linux h 6.1.0 #1 SMP x86_64 GNU/Linux\n",
		"tcpdump": strings.Join(lines, "\n") + "\n"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	return f.Talks
}

func none(t *testing.T, talks []Talk) {
	t.Helper()
	if len(talks) > 0 {
		t.Errorf("%+v", talks)
	}
}

func TestPacketsOfTcpdumpWithoutTheHandshakeAreRenumbered(t *testing.T) {
	const a, b = "192.0.2.1.40000 > 192.0.2.9.80", "192.0.2.9.80 > 192.0.2.1.40000"
	// tcpdump shows the first numbers of a connection whole, and counts from them later.
	none(t, talksOf(t,
		"10:00:00.1 IP "+a+": Flags [.], seq 3000000000:3000001448, ack 900000000, win 501, length 1448",
		"10:00:00.2 IP "+b+": Flags [.], ack 1448, win 501, length 0",
		"10:00:00.3 IP "+a+": Flags [.], seq 1448:2896, ack 1, win 501, length 1448",
		"10:00:00.4 IP "+a+": Flags [.], seq 2896:4344, ack 1, win 501, length 1448",
		"10:00:00.5 IP "+b+": Flags [.], ack 4344, win 501, length 0"))
}

func TestPacketsSentAgainAreCounted(t *testing.T) {
	const a, b = "192.0.2.1.40000 > 192.0.2.9.80", "192.0.2.9.80 > 192.0.2.1.40000"
	lines := []string{"10:00:00.1 IP " + b + ": Flags [.], ack 1, win 501, length 0"}
	for i := range 4 {
		lines = append(lines, fmt.Sprintf("10:00:0%d.2 IP %s: Flags [.], seq 1:1449, ack 1, win 501, length 1448", i, a))
	}
	talks := talksOf(t, lines...)
	if len(talks) != 1 || talks[0].Again != 3 || talks[0].Stuck != 4 {
		t.Errorf("%+v", talks)
	}
	// An answer in the end: it was a loss, not a black hole.
	talks = talksOf(t, append(lines, "10:00:09.1 IP "+b+": Flags [.], ack 1449, win 501, length 0")...)
	if len(talks) != 1 || talks[0].Again != 3 || talks[0].Stuck != 0 {
		t.Errorf("%+v", talks)
	}
}

func TestPacketsOfTsharkAreRead(t *testing.T) {
	talks := talksOf(t,
		"  1   0.000100 192.0.2.9 → 192.0.2.1 TCP 66 [TCP ZeroWindow] 80 → 40000 [ACK] Seq=1 Ack=9 Win=0 Len=0",
		"  2   0.210100    192.0.2.9             192.0.2.1             TCP      66     80 > 40000 [ACK] Seq=1 Ack=9 Win=0 Len=0")
	if len(talks) != 1 || talks[0].Closed != 2 || talks[0].From != "192.0.2.9:80" {
		t.Errorf("%+v", talks)
	}
}

func TestPacketsOfAnAnsweredOrRefusedHandshakeAreNoTrouble(t *testing.T) {
	syn := "IP 192.0.2.1.40000 > 192.0.2.9.80: Flags [S], seq 7, win 64240, options [mss 1460], length 0"
	if talks := talksOf(t, "10:00:00.1 "+syn, "10:00:01.1 "+syn, "10:00:03.1 "+syn); len(talks) != 1 || talks[0].Asked != 3 {
		t.Errorf("%+v", talks)
	}
	none(t, talksOf(t, "10:00:00.1 "+syn, "10:00:01.1 "+syn, "10:00:03.1 "+syn,
		"10:00:03.2 IP 192.0.2.9.80 > 192.0.2.1.40000: Flags [R.], seq 0, ack 8, win 0, length 0"))
}

func TestPacketsOfAllInterfacesAreShownTwice(t *testing.T) {
	var lines []string
	for i := range 6 {
		for j, port := range []string{"eth0  In ", "br0   In ", "veth1 Out "} {
			lines = append(lines, fmt.Sprintf("10:00:0%d.20000%d %s IP 192.0.2.1.40000 > 192.0.2.9.80: Flags [.], seq %d:%d, ack 1, "+
				"win 501, length 1448", i, j, port, 1+1448*i, 1449+1448*i))
		}
	}
	none(t, talksOf(t, lines...))
}
