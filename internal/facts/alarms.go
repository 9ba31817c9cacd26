package facts

import (
	"cmp"
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

// AlarmShareForm is one with another number, of an interface or of the host (health.d/net.conf, softnet.conf,
// netfilter.conf): "1m received traffic overflow = 91%", "inbound packets dropped ratio = 2.4%", "10min fifo errors = 12
// errors"; AlarmChart is what names the interface: "net.eth0 (eth0)".
var (
	AlarmShareForm = regexp.MustCompile(`(?i)\b(?:1m(?:in)?[ _]|10m(?:in)?[ _]|wifi[ _]|netfilter[ _])?` +
		`((?:received|sent)[ _]traffic[ _]overflow|(?:in|out)bound[ _]packets[ _]dropped[ _]ratio|(?-i:fifo[ _]errors)|` +
		`netdev[ _]backlog[ _]exceeded|netdev[ _]budget[ _]ran[ _]outs|conntrack[ _]full|connection tracker utilization)` +
		`[^\w.]{1,6}(\d{1,9}(?:\.\d+)?) ?(%|[a-z]+|$)`)
	AlarmChart = regexp.MustCompile(`(?:^|[\s,])net(?:_[a-z]+)?\.([a-z][\w-]{0,15}(?:\.\d{1,4})?)(?: \([\w.-]+\)|,|$)`)
)

// AlertForm is what the alerts NodeNetworkReceiveErrs and NodeNetworkTransmitErrs of node_exporter's mixin say.
var AlertForm = regexp.MustCompile(`interface ([a-z][\w.-]{0,30}) has encountered (\d{1,15}) (receive|` +
	`transmit) errors in the last two minutes`)

// Alarm is a number of which a monitor warns: a share, or how many.
type Alarm struct {
	Name      string  `json:"name"`
	Interface string  `json:"interface,omitempty"`
	Share     float64 `json:"share,omitempty"`
	Count     float64 `json:"count,omitempty"`
	Source    Source  `json:"source"`
}

// alarmOf is what a line warns of.
func alarmOf(line string) (a Alarm, ok bool) {
	if m := AlertForm.FindStringSubmatch(line); m != nil {
		return Alarm{Name: m[3] + " errors", Interface: m[1], Count: amount(m[2])}, true
	}
	m := AlarmShareForm.FindStringSubmatch(line)
	if m == nil {
		return a, false
	}
	a = Alarm{Name: strings.ToLower(strings.ReplaceAll(m[1], "_", " ")), Count: amount(m[2])}
	if a.Name == "connection tracker utilization" {
		a.Name = "conntrack full"
	}
	isShare := strings.HasSuffix(a.Name, "ratio") || strings.HasSuffix(a.Name, "overflow") || a.Name == "conntrack full"
	if isShare {
		a.Share, a.Count = a.Count/100, 0
	}
	return a, m[3] != "" && isShare == (m[3] == "%")
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
		if a, ok := alarmOf(line); ok && len(f.Alarms) < rowLimit {
			a.Interface, a.Source = cmp.Or(a.Interface, chart), f.Line(t.from, i+1)
			f.Alarms = append(f.Alarms, a)
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
