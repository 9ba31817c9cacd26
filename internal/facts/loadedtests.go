package facts

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/units"
)

// Lines of other tests under load: the table of irtt (client.go), the rows of flent's summary, of betterspeedtest.sh and
// netperfrunner.sh, networkQuality of macOS, and the row that Waveform's test of bufferbloat shows.
var (
	irttTrip     = regexp.MustCompile(`^RTT +([0-9.]+)(µs|us|ms|s) +([0-9.]+)(µs|us|ms|s) +[0-9.]+\S+ +([0-9.]+)(µs|us|ms|s) `)
	irttLoss     = regexp.MustCompile(`^packets sent/received: \d+/\d+ \(([0-9.]+)% loss\)`)
	flentTrip    = regexp.MustCompile(`^Ping \(ms\) (?:ICMP|avg)\S* *: +([0-9.]+) +[0-9.]+ .*\bms\b`)
	flentRate    = regexp.MustCompile(`^TCP (download|upload)(?: avg| sum)? *: +([0-9.]+) +[0-9.]+ .*\bMbits/s`)
	netperfTrip  = regexp.MustCompile(`^(Min|Avg|Max): +([0-9.]+)$`)
	netperfTitle = regexp.MustCompile(`^Latency: \(in msec, \d+ pings, ([0-9.]+)% packet loss\)`)
	qualityRate  = regexp.MustCompile(`^(Downlink|Uplink) capacity: ([0-9.]+) ([KMG])bps`)
	qualityTrips = regexp.MustCompile(`^(?:Responsiveness: .*?(\d+) RPM|(?:Download|Upload) RPM: +(\d+) )`)
	// baselineTrips and the other form of qualityTrips are of goresponsiveness.
	baselineTrips = regexp.MustCompile(`^Baseline RPM: +(\d+) `)
	qualityIdle   = regexp.MustCompile(`^Idle Latency: +([0-9.]+) milliseconds`)
	waveformTrips = regexp.MustCompile(`^(\d+) ms +\+(\d+) ms +\+(\d+) ms$`)
)

// LoadedTestForm is a line of one of these tests.
var LoadedTestForm = regexp.MustCompile(`^\s*(?:` + strings.Join([]string{
	`RTT +[0-9.]+[mµu]?s +[0-9.]+[mµu]?s +[0-9.]+[mµu]?s `, `packets sent/received: \d+/\d+ \(`, `Ping \(ms\) (?:ICMP|avg)\S* *: +\d`,
	`TCP (?:download|upload)[ a-z]*: +[0-9.]+ +[0-9.]+ .*Mbits/s`, `Latency: \(in msec, \d+ pings`,
	`(?:Downlink|Uplink) capacity: [0-9.]+ [KMG]bps`, `Responsiveness: .*\d RPM`, `(?:Baseline|Download|Upload) RPM: +\d+ `, `Idle Latency: +[0-9.]+ milliseconds`,
	`\d+ ms +\+\d+ ms +\+\d+ ms$`}, "|") + `)`)

// loaded takes a line of a test that measured round trips while it loaded the line, and tells whether it is one.
func (s *SpeedTest) loaded(line string, at func() Source) bool {
	idle := func(v float64) {
		if v > 0 && (s.Idle == 0 || v < s.Idle) {
			s.Idle = v
		}
	}
	busy := func(mean, longest float64) {
		if mean > s.Loaded {
			s.Loaded, s.LoadedLine = mean, at()
		}
		s.Longest = max(s.Longest, longest)
	}
	if m := irttTrip.FindStringSubmatch(line); m != nil {
		idle(duration(m[1], m[2]))
		busy(duration(m[3], m[4]), duration(m[5], m[6]))
		return true
	}
	if m := flentTrip.FindStringSubmatch(line); m != nil {
		busy(milliseconds(m[1]), 0)
		return true
	}
	if m := netperfTrip.FindStringSubmatch(line); m != nil {
		switch v := milliseconds(m[2]); m[1] {
		case "Min":
			idle(v)
		case "Avg":
			busy(v, 0)
		default:
			s.Longest = max(s.Longest, v)
		}
		return true
	}
	if m := qualityTrips.FindStringSubmatch(line); m != nil {
		if n := smallNumber(m[1] + m[2]); n > 0 {
			busy(60/float64(n), 0)
		}
		return true
	}
	if m := baselineTrips.FindStringSubmatch(line); m != nil {
		if n := smallNumber(m[1]); n > 0 {
			idle(60 / float64(n))
		}
		return true
	}
	if m := qualityIdle.FindStringSubmatch(line); m != nil {
		idle(milliseconds(m[1]))
		return true
	}
	if m := waveformTrips.FindStringSubmatch(line); m != nil {
		first := milliseconds(m[1])
		idle(first)
		busy(first+milliseconds(m[2]), 0)
		busy(first+milliseconds(m[3]), 0)
		return true
	}
	return s.otherRates(line, at)
}

// otherRates takes the rates and the losses of these tests.
func (s *SpeedTest) otherRates(line string, at func() Source) bool {
	if m := flentRate.FindStringSubmatch(line); m != nil {
		v, _ := strconv.ParseFloat(m[2], 64) // its form is a number's
		s.rate(m[1] == "download", tcRate(strconv.FormatFloat(min(v, 1e6), 'f', -1, 64)+"Mbit"), at)
		return true
	}
	if m := qualityRate.FindStringSubmatch(line); m != nil {
		s.rate(m[1] == "Downlink", tcRate(m[2]+m[3]+"bit"), at)
		return true
	}
	m := irttLoss.FindStringSubmatch(line)
	if m == nil {
		m = netperfTitle.FindStringSubmatch(line)
	}
	if m == nil {
		return false
	}
	if v, err := strconv.ParseFloat(m[1], 64); err == nil && v <= 100 && v/100 > s.Loss {
		s.Loss, s.LossLine = v/100, at()
	}
	return true
}

func (s *SpeedTest) rate(down bool, v units.Rate, at func() Source) {
	if !down {
		s.Up = max(s.Up, v)
	} else if v > s.Down {
		s.Down, s.Source = v, at()
	}
}

// duration reads a number and its unit in seconds.
func duration(number, unit string) float64 {
	v := milliseconds(number)
	switch unit {
	case "s":
		return v * 1000
	case "us", "µs":
		return v / 1000
	}
	return v
}

// speedJSON reads what speedtest -f json printed, in bytes per second and milliseconds.
func (f *Facts) speedJSON(line string, src Source) bool {
	type direction struct {
		Bandwidth float64
		Latency   struct{ Iqm, High float64 }
	}
	var r struct {
		Type             string
		Ping             struct{ Latency float64 }
		Download, Upload direction
		PacketLoss       *float64
	}
	if json.Unmarshal([]byte(line), &r) != nil || r.Type != "result" || len(f.SpeedTests) >= rowLimit {
		return false
	}
	bits := func(v float64) units.Rate { return units.Rate(8 * max(0, min(v, 1e14))) }
	part := func(v float64) float64 { return max(0, min(v, 1e7)) / 1000 }
	s := SpeedTest{Down: bits(r.Download.Bandwidth), Up: bits(r.Upload.Bandwidth), Idle: part(r.Ping.Latency),
		Loaded:  max(part(r.Download.Latency.Iqm), part(r.Upload.Latency.Iqm)),
		Longest: max(part(r.Download.Latency.High), part(r.Upload.Latency.High)), Loss: -1, Source: src, LoadedLine: src}
	if r.PacketLoss != nil && *r.PacketLoss >= 0 && *r.PacketLoss <= 100 {
		s.Loss, s.LossLine = *r.PacketLoss/100, src
	}
	f.SpeedTests = append(f.SpeedTests, s)
	return true
}
