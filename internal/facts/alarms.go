package facts

import (
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// Alarms is the name under which the alarms of netdata are kept.
const Alarms = "netdata alarms"

// AlarmForm is an alarm of netdata with its value, as its notifications, dashboards and people write it: "1m ipv4 udp
// receive buffer errors | 23650 errors", "1m_tcp_syn_queue_cookies = 2 cookies".
var AlarmForm = regexp.MustCompile(`(?i)\b1m(?:in)?[ _](?:ipv[46][ _])?((?:udp|tcp)[ _](?:receive|send|accept|syn|` +
	`listen)` +
	`[ _][a-z]+(?:[ _][a-z]+)?)[^\w.]{1,6}(\d{1,15})(?:\.\d+)?\b`)

// AlarmShareForm is one with a share of what an interface carries: "1m received traffic overflow = 91%", "inbound packets
// dropped ratio = 2.4%"; AlarmChart is the line that names the interface: "net.eth0 (eth0)".
var (
	AlarmShareForm = regexp.MustCompile(`(?i)\b(received[ _]traffic[ _]overflow|sent[ _]traffic[ _]overflow|` +
		`inbound[ _]packets[ _]dropped[ _]ratio)[^\w.]{1,6}(\d{1,3}(?:\.\d+)?) ?%`)
	AlarmChart = regexp.MustCompile(`^\W*net(?:_[a-z]+)?\.([a-z][\w.-]{0,30}) \([\w.-]+\)`)
)

// Alarm is a share of which a monitor warns.
type Alarm struct {
	Name      string  `json:"name"`
	Interface string  `json:"interface,omitempty"`
	Share     float64 `json:"share"`
	Source    Source  `json:"source"`
}

// alarmed are the counters that alarms of netdata watch (health.d/udp_errors.conf, health.d/tcp_listen.conf).
var alarmed = map[string]string{"udp receive buffer errors": "UdpRcvbufErrors", "udp send buffer errors": "UdpSndbufErrors",
	"tcp accept queue overflows": "TcpExtListenOverflows", "tcp accept queue drops": "TcpExtListenDrops",
	"tcp listen overflows": "TcpExtListenOverflows", "tcp listen drops": "TcpExtListenDrops",
	"tcp syn queue drops": "TcpExtTCPReqQFullDrop", "tcp syn queue cookies": "TcpExtTCPReqQFullDoCookies"}

// readAlarms reads the alarms of netdata that count losses over a minute. Newer versions say their average per second:
// taken for the sum, it is an understatement.
func (f *Facts) readAlarms(t text) error {
	const minute = 60
	found, chart := false, ""
	for i, line := range t.lines() {
		if m := AlarmChart.FindStringSubmatch(line); m != nil {
			chart = m[1]
		}
		if m := AlarmShareForm.FindStringSubmatch(line); m != nil && len(f.Alarms) < rowLimit {
			share, _ := strconv.ParseFloat(m[2], 64) // its form is a number's
			f.Alarms = append(f.Alarms, Alarm{strings.ToLower(strings.ReplaceAll(m[1], "_", " ")), chart, share / 100,
				f.Line(t.from, i+1)})
			f.use(t.from, i+1)
			found = true
		}
		m := AlarmForm.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		name := alarmed[strings.ToLower(strings.ReplaceAll(m[1], "_", " "))]
		v, err := strconv.ParseUint(m[2], 10, 64)
		if name == "" || err != nil {
			continue
		}
		rate := float64(v) / minute
		f.readHere(t.from, "counters", "protocols")
		f.nstatCounter(name, Counter{Value: v, Partial: true, Over: minute, Rate: &rate, Source: f.Line(t.from, i+1)})
		f.use(t.from, i+1)
		found = true
	}
	return nothingUnless(found)
}
