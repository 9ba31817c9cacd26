package facts

import (
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/units"
)

// SpeedTest is what a test against a server of speedtest.net printed.
type SpeedTest struct {
	Down units.Rate `json:"down_bps,omitempty"`
	Up   units.Rate `json:"up_bps,omitempty"`
	// Idle is the round trip before the test, Loaded the longest mean of one during it, Longest the longest of all, in
	// seconds; 0 where the program does not say it.
	Idle    float64 `json:"idle_s,omitempty"`
	Loaded  float64 `json:"loaded_s,omitempty"`
	Longest float64 `json:"longest_s,omitempty"`
	// Loss is the share of the packets that were lost, -1 where it is not said.
	Loss       float64 `json:"loss"`
	Source     Source  `json:"source"` // that of the rates
	LossLine   Source  `json:"-"`
	LoadedLine Source  `json:"-"`
}

// Lines of speedtest-cli ("Download: 31.23 Mbit/s", "Hosted by X (Y) [0.36 km]: 3.872 ms") and of Ookla's program
// ("Download:  2346.39 Mbps (data used: 1.2 GB)", with the round trips meanwhile below it).
var (
	speedRate   = regexp.MustCompile(`^(Download|Upload)(?: speed)?: +([0-9.]+) ?([KMG])(?:bit/s|bps)\b`)
	speedIdle   = regexp.MustCompile(`^(?:(?:Idle )?Latency|Ping): +([0-9.]+) ms|^Hosted by .*: ([0-9.]+) ms$`)
	speedLoaded = regexp.MustCompile(`^([0-9.]+) ms +\(jitter: .*\bhigh: ([0-9.]+) ?ms\)`)
	// speedSoFar is what Ookla's program shows while it runs.
	speedSoFar = regexp.MustCompile(`(Download|Upload): +([0-9.]+) ([KMG])bps +\[[^\]]{0,40}\] +\d{1,3}% +- latency: ([0-9.]+) ms`)
	speedLoss  = regexp.MustCompile(`^Packet Loss: +([0-9.]+)%`)
)

// readSpeedTests reads speedtest, speedtest-cli and other tests under load.
func (f *Facts) readSpeedTests(t text) error {
	var s *SpeedTest
	at := func() *SpeedTest {
		if s == nil && len(f.SpeedTests) < rowLimit {
			f.SpeedTests = append(f.SpeedTests, SpeedTest{Loss: -1})
			s = &f.SpeedTests[len(f.SpeedTests)-1]
		}
		return s
	}
	for i, line := range t.lines() {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "{") && f.speedJSON(line, f.Line(t.from, i+1)) {
			s = nil
			continue
		}
		if m := speedIdle.FindStringSubmatch(line); m != nil {
			if s != nil && s.Down > 0 { // the next one begins
				s = nil
			}
			if s := at(); s != nil {
				s.Idle = milliseconds(m[1] + m[2])
				f.use(t.from, i+1)
			}
		} else if all := speedSoFar.FindAllStringSubmatch(line, -1); all != nil && at() != nil {
			for _, m := range all {
				s.soFar(m, func() Source { return f.Line(t.from, i+1) })
			}
		} else if m := speedRate.FindStringSubmatch(line); m != nil && at() != nil {
			if m[1] == "Download" {
				s.Down, s.Source = tcRate(m[2]+m[3]+"bit"), f.Line(t.from, i+1)
			} else {
				s.Up = tcRate(m[2] + m[3] + "bit")
				f.use(t.from, i+1)
			}
		} else if m := speedLoaded.FindStringSubmatch(line); m != nil && s != nil && s.Down > 0 {
			if mean := milliseconds(m[1]); mean > s.Loaded {
				s.Loaded, s.LoadedLine = mean, f.Line(t.from, i+1)
			}
			s.Longest = max(s.Longest, milliseconds(m[2]))
			f.use(t.from, i+1)
		} else if m := speedLoss.FindStringSubmatch(line); m != nil && s != nil {
			if v, err := strconv.ParseFloat(m[1], 64); err == nil && v <= 100 {
				s.Loss, s.LossLine = v/100, f.Line(t.from, i+1)
			}
		} else if (LoadedTestForm.MatchString(line) || s != nil && netperfTrip.MatchString(line)) && at() != nil && s.loaded(line, func() Source { return f.Line(t.from, i+1) }) {
			f.use(t.from, i+1)
		} else if strings.HasPrefix(line, "Testing ") || strings.HasPrefix(line, "Retrieving ") ||
			strings.HasPrefix(line, "Selecting best server") {
			f.use(t.from, i+1)
		}
	}
	return nothingUnless(len(f.SpeedTests) > 0)
}

// soFar keeps the rate and the round trip that a line of progress shows.
func (s *SpeedTest) soFar(m []string, at func() Source) {
	if m[1] == "Download" {
		s.Down, s.Source = tcRate(m[2]+m[3]+"bit"), at()
	} else {
		s.Up = tcRate(m[2] + m[3] + "bit")
	}
	if trip := milliseconds(m[4]); trip > s.Loaded {
		s.Loaded, s.LoadedLine = trip, at()
	}
}
