package facts

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/units"
)

// Station is the other end of a wireless link, as iw or iwconfig shows it.
type Station struct {
	Interface string `json:"interface"`
	// Client is set where this end is the station and the other one its access point.
	Client bool `json:"client,omitempty"`
	// Signal is what arrives from it in dBm; 0 is unknown.
	Signal float64 `json:"signal_dbm,omitempty"`
	// Receive and Send are the rates of the last frames of both directions; 0 is unknown.
	Receive units.Rate `json:"receive_bps,omitempty"`
	Send    units.Rate `json:"send_bps,omitempty"`
	// Coded is set where the receive rate is one of data (MCS): frames of control are sent at the first rates alone.
	Coded    bool   `json:"receive_coded,omitempty"`
	Received uint64 `json:"received_packets,omitempty"`
	Sent     uint64 `json:"sent_packets,omitempty"`
	Retries  uint64 `json:"retries,omitempty"`
	Failed   uint64 `json:"failed,omitempty"`
	Source   Source `json:"source"`
	// Shown are the lines of the fields by their JSON names.
	Shown map[string]Source `json:"-"`
}

var (
	stationBegin  = regexp.MustCompile(`^\s*(?:Station|Connected to) [0-9a-zA-Z:*]{17} \(on ([\w.-]+)\)`)
	iwconfigBegin = regexp.MustCompile(`^([a-z][\w.-]*)\s+(?:IEEE 802\.11|ESSID: )`)
	iwconfigField = regexp.MustCompile(`(Bit Rate|Signal level)[=:](-?[0-9.]+) ([MG]b/s|dBm)`)
	bitRate       = regexp.MustCompile(`^\s*Bit Rate[=:][0-9.]+ [MG]b/s`)
	powerSave     = regexp.MustCompile(`Power (?:save: |Management:)(on|off)\b`)
	airPackets    = regexp.MustCompile(`\((\d+) packets\)`)
)

// What iwinfo of OpenWrt prints of the stations of an access point (iwinfo_cli.c): "AA:BB:..  -70 dBm / -95 dBm (SNR 25)
// 20 ms ago" and, for each direction, "TX: 6.5 MBit/s, MCS 0, 20MHz   1234 Pkts.".
var (
	associated = regexp.MustCompile(`^\s*[0-9a-zA-Z:*_]{3,24}  (-\d+) dBm / (?:-\d+|unknown)`)
	iwinfoRate = regexp.MustCompile(`^([RT]X): ([0-9.]+ [MG]Bit/s)(, (?:\w+-)?MCS \d+)?.*?(?:\s(\d+) Pkts\.)?\s*$`)
	iwinfoName = regexp.MustCompile(`iwinfo ([\w.-]+)`)
)

// nmcliRow is the access point in use in nmcli's list: its highest rate, the width of its channel, its signal in percent, and with
// all fields the device behind it.
var (
	nmcliRow    = regexp.MustCompile(`^(\*)? .*?\s\d+(?:\.\d)? Mbit/s\s+(?:\d+ MHz\s+)?(\d{1,3})\s+[▂▄▆█_* ]{4}\s(.*)$`)
	nmcliActive = regexp.MustCompile(`\s([a-z][\w.-]*)\s+yes\s+\*(?:\s|$)`)
)

// ofNmcli is the station of such a row. NetworkManager makes the percentage of -100 to -40 dBm (nm_wifi_utils_level_to_quality).
func ofNmcli(line string) (s Station, ok bool) {
	const best, perPoint = -40, 0.6
	m := nmcliRow.FindStringSubmatch(" " + line)
	if strings.HasPrefix(line, "*") {
		m = nmcliRow.FindStringSubmatch(line)
	}
	if m == nil {
		return s, false
	}
	name := firstOf(nmcliActive, m[3])
	percent := smallNumber(m[2])
	if m[1] == "" && name == "" || percent == 0 || percent > 100 {
		return s, false
	}
	return Station{Interface: cmp.Or(name, UnnamedLink), Client: true, Signal: math.Round(best - perPoint*float64(100-percent))}, true
}

func firstOf(form *regexp.Regexp, s string) string {
	if m := form.FindStringSubmatch(s); m != nil {
		return m[1]
	}
	return ""
}

// associatedField takes a line of iwinfo, and tells whether it is one.
func (s *Station) associatedField(line string, at func() Source) bool {
	if m := associated.FindStringSubmatch(line); m != nil {
		s.Signal, s.Shown["signal_dbm"] = -float64(smallNumber(m[1][1:])), at()
		return true
	}
	m := iwinfoRate.FindStringSubmatch(strings.TrimSpace(line))
	if m == nil {
		return false
	}
	n, known := count(m[4])
	if m[1] == "RX" {
		s.Receive, s.Coded, s.Shown["receive_bps"] = airRate(m[2]), m[3] != "", at()
		s.counter("rx packets", n, known, at)
	} else {
		s.Send, s.Shown["send_bps"] = airRate(m[2]), at()
		s.counter("tx packets", n, known, at)
	}
	return true
}

// stationField is a line of a station that says something of its own.
var stationField = regexp.MustCompile(`^\s*(?:[rt]x (?:bytes|packets|retries|failed|bitrate)|signal(?: avg)?):\s+-?\d|` + MacRadio)

// MacRadio is the signal as airport -I, wdutil info and system_profiler SPAirPortDataType of macOS show it.
const MacRadio = `^\s*(?:agrCtlRSSI: |RSSI +: |Signal / Noise: )-\d{2,3}\b`

// readWireless reads iw dev NAME link, station dump and get power_save (iw link.c, station.c), and iwconfig (Linux
// wireless-tools iwconfig.c).
func (f *Facts) readWireless(t text) error {
	var s *Station
	found := false
	for i, line := range t.lines() {
		if ap, ok := ofNmcli(line); ok && len(f.Stations) < rowLimit {
			ap.Source = f.Line(t.from, i+1)
			ap.Shown = map[string]Source{"signal_dbm": ap.Source}
			f.Stations, s, found = append(f.Stations, ap), nil, true
			continue
		}
		m := stationBegin.FindStringSubmatch(line)
		if m == nil {
			m = iwconfigBegin.FindStringSubmatch(line)
		}
		if a := associated.FindStringSubmatch(line); a != nil {
			m = []string{"", cmp.Or(firstOf(iwinfoName, t.typed), UnnamedLink)}
		}
		if m != nil && plainName(m[1]) && len(f.Stations) < rowLimit {
			f.Stations = append(f.Stations, Station{Interface: m[1], Source: f.Line(t.from, i+1), Shown: map[string]Source{}})
			s, found = &f.Stations[len(f.Stations)-1], true
			s.Client = stationBegin.MatchString(line) && !strings.HasPrefix(strings.TrimSpace(line), "Station ") ||
				iwconfigBegin.MatchString(line)
		}
		if name := cmp.Or(t.device(), UnnamedLink); s == nil && plainName(name) && (stationField.MatchString(line) ||
			bitRate.MatchString(line)) { // a grep cut its first line
			f.Stations = append(f.Stations, Station{Interface: name, Source: f.Line(t.from, i+1), Shown: map[string]Source{}})
			s, found = &f.Stations[len(f.Stations)-1], true
		}
		if p := powerSave.FindStringSubmatch(line); p != nil {
			f.WirelessPowerSave, found = Setting{Value: p[1], Source: f.Line(t.from, i+1), State: Read}, true
		}
		if s != nil && s.field(line, func() Source { return f.Line(t.from, i+1) }) {
			f.use(t.from, i+1)
		}
		if m := surveyOf.FindStringSubmatch(line); m != nil && plainName(m[1]) && len(f.Channels) < rowLimit {
			f.Channels = append(f.Channels, Channel{Interface: m[1]})
			found = true
			f.use(t.from, i+1)
		} else if len(f.Channels) > 0 && f.Channels[len(f.Channels)-1].take(line, func() Source { return f.Line(t.from, i+1) }) {
			f.use(t.from, i+1)
		}
	}
	return nothingUnless(found)
}

// field takes one line of a station, and tells whether it says something.
func (s *Station) field(line string, at func() Source) bool {
	if s.associatedField(line, at) {
		return true
	}
	for _, m := range iwconfigField.FindAllStringSubmatch(line, -1) {
		v, err := strconv.ParseFloat(m[2], 64)
		switch {
		case err != nil:
		case m[3] == "dBm" && v < 0:
			s.Signal, s.Shown["signal_dbm"] = v, at()
		case m[3] != "dBm":
			s.Send, s.Shown["send_bps"] = airRate(m[2]+" "+map[string]string{"Mb/s": "MBit/s", "Gb/s": "GBit/s"}[m[3]]), at()
		}
	}
	name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	first, _, _ := strings.Cut(value, " ")
	n, isCount := count(first)
	switch name {
	case "signal", "Signal":
		if v, err := strconv.ParseFloat(first, 64); err == nil && v < 0 && v > -200 {
			s.Signal, s.Shown["signal_dbm"] = v, at()
		}
	case "agrCtlRSSI", "RSSI", "Signal / Noise":
		if v, err := strconv.ParseFloat(first, 64); err == nil && v < 0 && v > -200 && s.Signal == 0 { // later ones are of neighbours
			s.Signal, s.Client, s.Shown["signal_dbm"] = v, true, at()
		}
	case "lastTxRate", "Tx Rate", "Transmit Rate":
		if s.Send == 0 {
			s.Send, s.Shown["send_bps"] = airRate(first+" MBit/s"), at()
		}
	case "rx bitrate":
		s.Receive, s.Shown["receive_bps"] = airRate(value), at()
		s.Coded = strings.Contains(value, "MCS")
	case "tx bitrate", "Bit Rate":
		s.Send, s.Shown["send_bps"] = airRate(value), at()
	case "RX", "TX":
		if m := airPackets.FindStringSubmatch(value); m != nil {
			n, isCount = count(m[1])
			s.counter(map[string]string{"RX": "rx packets", "TX": "tx packets"}[name], n, isCount, at)
		}
	default:
		return s.counter(name, n, isCount, at)
	}
	return true
}

func (s *Station) counter(name string, v uint64, known bool, at func() Source) bool {
	into := map[string]*uint64{"rx packets": &s.Received, "tx packets": &s.Sent, "tx retries": &s.Retries,
		"tx failed": &s.Failed}[name]
	if into == nil || !known {
		return false
	}
	*into, s.Shown[name] = v, at()
	return true
}

// airRate reads "6.5 MBit/s VHT-MCS 0".
func airRate(s string) units.Rate {
	words := strings.Fields(s)
	if len(words) < 2 {
		return 0
	}
	v, err := strconv.ParseFloat(words[0], 64)
	factor := map[string]units.Rate{"MBit/s": units.Mbit, "GBit/s": units.Gbit}[words[1]]
	if err != nil || v < 0 || v > 1e6 {
		return 0
	}
	return units.Rate(v * float64(factor))
}
