package facts

import (
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// Handshake is the beginning of a connection as tcpdump printed it.
type Handshake struct {
	Client string `json:"client"`
	Server string `json:"server"`
	// Offered is set where the client offered to scale windows, Taken where the server did too.
	Offered bool `json:"scaling_offered"`
	Taken   bool `json:"scaling_taken"`
	// RTT is from the first packet to the answer, in seconds; 0 is unknown.
	RTT    float64 `json:"rtt_s,omitempty"`
	Source Source  `json:"source"` // the client's packet
	Answer Source  `json:"answer"` // the server's; its text is empty where none was shown
}

// handshakeLine is a SYN or its answer: "12:00:01.08 IP 192.0.2.1.51000 > 192.0.2.9.22: Flags [S.], ..., options
// [...]".
var handshakeLine = regexp.MustCompile(`^\s*(?:(\d\d):(\d\d):(\d\d\.\d+) )?(?:.*\bIP6? |` +
	`\s+)(\S+) > (\S+): Flags \[(S\.?)(?:[EW]*)\],.* options \[([^\]]*)\]`)

// packetTime is the line in front of that of TCP, where tcpdump -v breaks it.
var packetTime = regexp.MustCompile(`^\s*(\d\d):(\d\d):(\d\d\.\d+) IP6? \(`)

// fragmentNeeded is tcpdump's line of a router that takes only smaller packets (print-icmp.c).
var fragmentNeeded = regexp.MustCompile(`ICMP \S+ unreachable - need to frag \(mtu \d+\)`)

// readHandshakes reads the text of tcpdump (print-tcp.c), of which the handshakes alone say what ends agreed on.
func (f *Facts) readHandshakes(t text) error {
	sent := map[string]float64{}
	found := false
	var before []string
	for i, line := range t.lines() {
		if fragmentNeeded.MatchString(line) && len(f.Messages) < messageLimit {
			f.Messages = append(f.Messages, Message{shorten(line), f.Line(t.from, i+1)})
			found = true
			continue
		}
		m := handshakeLine.FindStringSubmatch(todaysPacket(line))
		if m == nil {
			before = packetTime.FindStringSubmatch(line)
			continue
		}
		if m[1] == "" && before != nil { // -v breaks the line behind the header of IP
			copy(m[1:4], before[1:4])
		}
		found = true
		scaled := strings.Contains(m[7], "wscale")
		if m[6] == "S" {
			sent[m[4]+" "+m[5]] = clockSeconds(m[1:4])
			if len(f.Handshakes) < flowLimit {
				f.Handshakes = append(f.Handshakes, Handshake{Client: m[4], Server: m[5], Offered: scaled,
					Source: f.Line(t.from, i+1)})
			}
			continue
		}
		for j := range f.Handshakes {
			if h := &f.Handshakes[j]; h.Client == m[5] && h.Server == m[4] && h.Answer.Text == "" {
				h.Taken, h.Answer = scaled, f.Line(t.from, i+1)
				if began, now := sent[m[5]+" "+m[4]], clockSeconds(m[1:4]); began > 0 && now > began {
					h.RTT = now - began
				}
			}
		}
	}
	return nothingUnless(found)
}

// clockSeconds are those since midnight; 0 where no time stands in the line.
func clockSeconds(clock []string) float64 {
	sum := 0.0
	for _, part := range clock {
		v, err := strconv.ParseFloat(part, 64)
		if err != nil {
			return 0
		}
		sum = 60*sum + v
	}
	return sum
}
