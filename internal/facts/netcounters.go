package facts

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// sentences are what netstat -s of Linux's net-tools says for a counter of
// /proc (net-tools statistics.c), by the words without the number.
var sentences = map[string]string{
	"times the listen queue of a socket overflowed":                            "TcpExt.ListenOverflows",
	"SYNs to LISTEN sockets dropped":                                           "TcpExt.ListenDrops",
	"SYNs to LISTEN sockets ignored":                                           "TcpExt.ListenDrops",
	"SYN cookies sent":                                                         "TcpExt.SyncookiesSent",
	"SYN cookies received":                                                     "TcpExt.SyncookiesRecv",
	"invalid SYN cookies received":                                             "TcpExt.SyncookiesFailed",
	"packets pruned from receive queue because of socket buffer overrun":       "TcpExt.PruneCalled",
	"packets pruned from receive queue":                                        "TcpExt.RcvPruned",
	"packets dropped from out-of-order queue because of socket buffer overrun": "TcpExt.OfoPruned",
	"packets collapsed in receive queue due to low socket buffer":              "TcpExt.TCPRcvCollapsed",
	"packets collapsed in receive queue due to low socket buffers":             "TcpExt.TCPRcvCollapsed",
	"TCP sockets finished time wait in fast timer":                             "TcpExt.TW",
	"TCP sockets finished time wait in slow timer":                             "TcpExt.TWKilled",
	"packets header predicted":                                                 "TcpExt.TCPHPHits",
	"packet headers predicted":                                                 "TcpExt.TCPHPHits",
	"delayed acks sent":                                                        "TcpExt.DelayedACKs",
	"times recovered from packet loss due to fast retransmit":                  "TcpExt.TCPRenoRecovery",
	"times recovered from packet loss due to SACK data":                        "TcpExt.TCPSackRecovery",
	"times recovered from packet loss by selective acknowledgements":           "TcpExt.TCPSackRecovery",
	"times using SACK":                                                         "TcpExt.TCPSACKReorder",
	"times using FACK":                                                         "TcpExt.TCPFACKReorder",
	"passive connections rejected because of time stamp":                       "TcpExt.PAWSPassive",
	"times using time stamp":                                                   "TcpExt.TCPTSReorder",
	"times using reno fast retransmit":                                         "TcpExt.TCPRenoReorder",
	"fast retransmits":                                                         "TcpExt.TCPFastRetrans",
	"forward retransmits":                                                      "TcpExt.TCPForwardRetrans",
	"retransmits in slow start":                                                "TcpExt.TCPSlowStartRetrans",
	"retransmits lost":                                                         "TcpExt.TCPLostRetransmit",
	"other TCP timeouts":                                                       "TcpExt.TCPTimeouts",
	"DSACKs sent for old packets":                                              "TcpExt.TCPDSACKOldSent",
	"DSACKs sent for out of order packets":                                     "TcpExt.TCPDSACKOfoSent",
	"DSACKs received":                                                          "TcpExt.TCPDSACKRecv",
	"DSACKs for out of order packets received":                                 "TcpExt.TCPDSACKOfoRecv",
	"connections aborted due to memory pressure":                               "TcpExt.TCPAbortOnMemory",
	"connections aborted due to timeout":                                       "TcpExt.TCPAbortOnTimeout",
	"times TCP ran low on memory":                                              "TcpExt.TCPMemoryPressures",
	"TCP ran low on memory times":                                              "TcpExt.TCPMemoryPressures",
	"segments retransmited":                                                    "Tcp.RetransSegs",
	"segments retransmitted":                                                   "Tcp.RetransSegs",
	"segments send out":                                                        "Tcp.OutSegs",
	"segments sent out":                                                        "Tcp.OutSegs",
	"segments received":                                                        "Tcp.InSegs",
	"bad segments received":                                                    "Tcp.InErrs",
	"resets sent":                                                              "Tcp.OutRsts",
	"failed connection attempts":                                               "Tcp.AttemptFails",
	"connection resets received":                                               "Tcp.EstabResets",
	"connections established":                                                  "Tcp.CurrEstab",
	"passive opens":                                                            "Tcp.PassiveOpens",
	"passive connection openings":                                              "Tcp.PassiveOpens",
	"passive connections openings":                                             "Tcp.PassiveOpens",
	"active opens":                                                             "Tcp.ActiveOpens",
	"active connection openings":                                               "Tcp.ActiveOpens",
	"active connections openings":                                              "Tcp.ActiveOpens",
	"receive buffer errors":                                                    "Udp.RcvbufErrors",
	"send buffer errors":                                                       "Udp.SndbufErrors",
	"packet receive errors":                                                    "Udp.InErrors",
	"packets received":                                                         "Udp.InDatagrams",
	"packets sent":                                                             "Udp.OutDatagrams",
	"packets send":                                                             "Udp.OutDatagrams",
	"packets to unknown port received":                                         "Udp.NoPorts",
	"total packets received":                                                   "Ip.InReceives",
	"forwarded":                                                                "Ip.ForwDatagrams",
	"incoming packets discarded":                                               "Ip.InDiscards",
	"incoming packets delivered":                                               "Ip.InDelivers",
	"requests sent out":                                                        "Ip.OutRequests",
	"outgoing packets dropped":                                                 "Ip.OutDiscards",
	"dropped because of missing route":                                         "Ip.OutNoRoutes",
	"fragments dropped after timeout":                                          "Ip.ReasmTimeout",
	"reassemblies required":                                                    "Ip.ReasmReqds",
	"packets reassembled ok":                                                   "Ip.ReasmOKs",
	"packet reassembles failed":                                                "Ip.ReasmFails",
	"packet reassemblies failed":                                               "Ip.ReasmFails",
	"fragments failed":                                                         "Ip.FragFails",
}

// germanSentences are those of net-tools in German (net-tools po/de.po); it leaves others in English, and says
// of a receive buffer that is full the same as of other errors.
var germanSentences = map[string]string{
	"Verbindungen aktiv geöffnet":           "Tcp.ActiveOpens",
	"Verbindungen passiv geöffnet":          "Tcp.PassiveOpens",
	"fehlerhafte Verbindungsversuche":       "Tcp.AttemptFails",
	"Verbindungen aufgebaut":                "Tcp.CurrEstab",
	"Verbindungsrücksetzungen empfangen":    "Tcp.EstabResets",
	"fehlerhafte Segmente empfangen":        "Tcp.InErrs",
	"Segmente empfangen":                    "Tcp.InSegs",
	"Rücksetzungen geschickt":               "Tcp.OutRsts",
	"Segmente abgeschickt":                  "Tcp.OutSegs",
	"Segmente ausgesendet":                  "Tcp.OutSegs",
	"Segmente erneut geschickt":             "Tcp.RetransSegs",
	"Segmente erneut gesendet":              "Tcp.RetransSegs",
	"Pakete empfangen":                      "Udp.InDatagrams",
	"Pakete geschickt":                      "Udp.OutDatagrams",
	"Pakete gesendet":                       "Udp.OutDatagrams",
	"Paketempfangsfehler":                   "Udp.InErrors",
	"Pakete für unbekannte Ports empfangen": "Udp.NoPorts",
	"Pakete insgesamt empfangen":            "Ip.InReceives",
	"weitergeleitet":                        "Ip.ForwDatagrams",
	"eingehende Pakete weggeworfen":         "Ip.InDiscards",
	"eingehende Pakete ausgeliefert":        "Ip.InDelivers",
	"Anfragen ausgesendet":                  "Ip.OutRequests",
	"ausgehende Pakete weggeworfen":         "Ip.OutDiscards",
	"SYN-Cookies verschickt":                "TcpExt.SyncookiesSent",
	"SYN-Cookies empfangen":                 "TcpExt.SyncookiesRecv",
	"ungültige SYN-Cookies empfangen":       "TcpExt.SyncookiesFailed",
	"Pakete wegen Socketpufferüberlauf aus der Empfangswarteschlange weggeworfen": "TcpExt.PruneCalled",
	"Pakete aus der ungeordneten Warteschlange wegen Pufferüberlauf weggeworfen":  "TcpExt.OfoPruned",
}

var leadingNumber = regexp.MustCompile(`^(?:Detected reordering |)(\d+)\s+(.+)$`)

// tableHeading is the name of a table; a remark of the person who posted is none.
var tableHeading = regexp.MustCompile(`^[A-Za-z]\w*:$`)

// lowMemory is the sentence that has its number at the end.
var lowMemory = regexp.MustCompile(`^TCP ran low on memory (\d+) times`)

// readNetToolsNetstat reads netstat -s of Linux: sections named after a table
// of /proc with indented lines, "NUMBER words" or "NAME: NUMBER" for counters
// that net-tools does not know.
func (f *Facts) readNetToolsNetstat(t text) error {
	section := ""
	found := false
	sentencesRead, sentencesKnown, foreign := 0, 0, 0
	keep := func(name string, v uint64, line int) {
		if name == "" {
			return
		}
		found = true
		if _, have := f.Counters[name]; !have {
			f.Counters[name] = Counter{Value: v, Source: f.Line(t.from, line)}
		}
	}
	// Beside "packets to unknown port received" without a heading all packets are UDP's: netstat -su.
	ofUDP := slices.ContainsFunc(t.lines(), func(line string) bool {
		_, words, _ := strings.Cut(strings.TrimSpace(line), " ")
		return sentences[strings.TrimRight(words, ".")] == "Udp.NoPorts"
	})
	for i, line := range t.lines() {
		trimmed := strings.TrimSpace(line)
		if trimmed == "" {
			continue
		}
		if tableHeading.MatchString(trimmed) {
			ofUDP = false
			section = strings.TrimSuffix(trimmed, ":")
			continue
		}
		if name, value, ok := strings.Cut(trimmed, ": "); ok && !strings.Contains(name, " ") {
			if v, number := count(value); number {
				keep(cmp.Or(section, tableOf(name))+"."+name, v, i+1)
			}
			continue
		}
		if m := lowMemory.FindStringSubmatch(trimmed); m != nil {
			trimmed = m[1] + " times TCP ran low on memory"
		}
		m := leadingNumber.FindStringSubmatch(trimmed)
		if m == nil {
			continue
		}
		words := strings.TrimRight(strings.TrimSpace(m[2]), ".")
		name := cmp.Or(sentences[words], germanSentences[words], romanceSentence(words), cutSentence(words))
		if sentencesRead++; name != "" {
			sentencesKnown++
		} else if foreign == 0 {
			foreign = i + 1
		}
		// "packets received" is said of UDP and of others alike; without a
		// heading (grep took it) only what is said of one counts.
		if v, ok := count(m[1]); ok && (strings.HasPrefix(name, section+".") ||
			section == "" && (ofUDP || name != "Udp.InDatagrams" && name != "Udp.OutDatagrams")) {
			keep(name, v, i+1)
		}
	}
	switch {
	case sentencesKnown == 0 && sentencesRead > 4:
		return &refusal{Unparsed, foreign, fmt.Sprintf("line %d: none of its %d sentences is known; is it in another "+
			"language?", foreign, sentencesRead)}
	case !found:
		return errNothing
	}
	return nil
}

// romanceSentence finds the counters of segments in Spanish, Portuguese and French, whose words differ by their endings.
func romanceSentence(words string) string {
	for _, s := range romanceSentences {
		if s.form.MatchString(words) {
			return s.name
		}
	}
	return ""
}

var romanceSentences = []struct {
	form *regexp.Regexp
	name string
}{
	{regexp.MustCompile(`^segment(?:o?s) (?:re?)?retransmi(?:tidos|s)$`), "Tcp.RetransSegs"},
	{regexp.MustCompile(`^segment(?:o?s) (?:enviados|envoyés|émis)$`), "Tcp.OutSegs"},
	{regexp.MustCompile(`^segment(?:o?s) (?:recibidos|recebidos|reçus)$`), "Tcp.InSegs"},
}

// cutSentence finds the counter of a sentence whose end is missing: the only one that begins so.
func cutSentence(words string) string {
	const least = 25 // shorter ones are whole more often than cut
	found := ""
	for sentence, name := range sentences {
		if len(words) >= least && len(words) < len(sentence) && strings.HasPrefix(sentence, words) {
			if found != "" && found != name {
				return ""
			}
			found = name
		}
	}
	return found
}

// tableOf is the table of a counter that net-tools prints by its name, where a grep took the heading: those of IpExt
// begin with their direction.
func tableOf(name string) string {
	if name == "RcvbufErrors" || name == "SndbufErrors" {
		return "Udp"
	}
	if strings.HasPrefix(name, "In") || strings.HasPrefix(name, "Out") {
		return "IpExt"
	}
	return "TcpExt"
}

// nstatTables are the tables whose names nstat puts in front of a counter.
var nstatTables = []string{"IcmpMsg", "TcpExt", "MPTcpExt", "IpExt", "UdpLite", "Icmp", "Tcp", "Udp", "Ip"}

// readNstat reads nstat -az (iproute2 misc/nstat.c): "TcpExtListenOverflows  12
// 0.0".
func (f *Facts) readNstat(t text) error {
	found := false
	partial := strings.HasPrefix(t.typed, "nstat") && !nstatTotals.MatchString(t.typed)
	for i, line := range t.lines() {
		words := strings.Fields(counterSign.ReplaceAllString(line, " "))
		if len(words) < 2 {
			continue
		}
		v, ok := count(words[1])
		if ok && f.nstatCounter(strings.Replace(words[0], ".", "", 1),
			Counter{Value: v, Partial: partial, Source: f.Line(t.from, i+1)}) {
			found = true
		}
	}
	var tables map[string]map[string]uint64 // of nstat -j
	if json.NewDecoder(bytes.NewReader(t.data)).Decode(&tables) == nil {
		for _, counters := range tables {
			for name, v := range counters {
				src := Source{From: t.from, Line: 1, Text: shorten(fmt.Sprintf("%s %d", name, v))}
				found = f.nstatCounter(name, Counter{Value: v, Partial: partial, Source: src}) || found
			}
		}
	}
	return nothingUnless(found)
}

// counterSign stands between name and value where an agent prints them.
var counterSign = regexp.MustCompile(`\s*[=:]\s*`)

// nstatTotals tells the commands that print totals; without -a nstat prints what was counted since it was last asked.
var nstatTotals = regexp.MustCompile(`^nstat(?: .*)? (?:-[a-z]*a[a-z]*|--ignore)\b`)

// nstatCounter keeps a counter under its table's name; that of /proc counts before it.
func (f *Facts) nstatCounter(name string, c Counter) bool {
	key := ""
	if strings.Contains(name, "6") && !strings.HasPrefix(name, "IcmpMsg") && !strings.HasPrefix(name, "Tcp") {
		key = "Snmp6." + name
	} else if i := slices.IndexFunc(nstatTables, func(t string) bool {
		return len(name) > len(t) &&
			strings.HasPrefix(name, t)
	}); i >= 0 {
		key = nstatTables[i] + "." + name[len(nstatTables[i]):]
	}
	if key != "" && f.Counters[key].Source.Text == "" {
		f.Counters[key] = c
	}
	return key != ""
}
