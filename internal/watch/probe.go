package watch

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/diagnose"
	"github.com/wirerate/wirerate/internal/units"
	"github.com/wirerate/wirerate/internal/weblog/latency"
)

// Probe is what became of the probes of a target since the state before; in a
// minute or an hour, in that time.
type Probe struct {
	Target string  `json:"target"` // icmp:ADDR, tcp:HOST:PORT or an URL
	Every  float64 `json:"every_s"`
	// Answered and Lost are of probes that ended in this time; Lost are those without an answer in five seconds, refused
	// ones, and errors of a web server. Missed were never sent, since this program did not get to run.
	Answered uint64       `json:"answered"`
	Lost     uint64       `json:"lost"`
	Missed   uint64       `json:"missed"`
	Waiting  int          `json:"waiting"`         // for an answer
	RTT      *Percentiles `json:"rtt_ms"`          // null where nothing was answered
	Bins     []Bin        `json:"rtt_bins"`        // in order
	Error    string       `json:"error,omitempty"` // of the last that was lost
}

// Bin counts answers. Bins are 1 us wide up to 1 ms, above at most 1% of their
// values.
type Bin struct {
	From  uint64 `json:"from_us"`
	Count uint64 `json:"count"`
}

// Answer counts an answer that came after so many microseconds.
func (p *Probe) Answer(us uint64) {
	p.Answered++
	p.Bins = addBin(p.Bins, Bin{latency.BinEdge(latency.BinOf(us)), 1})
}

func addBin(bins []Bin, b Bin) []Bin {
	i, found := slices.BinarySearchFunc(bins, b.From, func(o Bin, from uint64) int { return cmp.Compare(o.From, from) })
	if found {
		bins[i].Count += b.Count
		return bins
	}
	return slices.Insert(bins, i, b)
}

// Merge adds what became of later probes of the same target.
func (p *Probe) Merge(later Probe) {
	p.Answered, p.Lost, p.Missed = p.Answered+later.Answered, p.Lost+later.Lost, p.Missed+later.Missed
	p.Every, p.Waiting, p.Error = later.Every, later.Waiting, cmp.Or(later.Error, p.Error)
	for _, b := range later.Bins {
		p.Bins = addBin(p.Bins, b)
	}
	p.Sum()
}

// Sum sets the percentiles from the bins.
func (p *Probe) Sum() {
	if p.RTT = nil; len(p.Bins) > 0 {
		p.RTT = &Percentiles{P50: p.Quantile(0.5), P90: p.Quantile(0.9), P99: p.Quantile(0.99), Max: p.Quantile(1)}
	}
}

// Quantile is the time in ms that a share q of the answers took at most, 0 where
// there are none.
func (p *Probe) Quantile(q float64) float64 {
	rank := latency.RankOf(q, p.Answered)
	for _, b := range p.Bins {
		if rank <= b.Count {
			return float64(b.From) / 1000
		}
		rank -= b.Count
	}
	return 0
}

// Loss is the share of the probes that were lost.
func (p *Probe) Loss() float64 { return float64(p.Lost) / float64(max(p.Answered+p.Lost, 1)) }

// Text is what became of the probes in one line, for people.
func (p Probe) Text() string {
	text := p.Target
	if p.RTT != nil {
		text += fmt.Sprintf(" %s ms", units.Digits(p.RTT.P50, 4))
		if p.Answered > 1 {
			text += fmt.Sprintf(" (p99 %s)", units.Digits(p.RTT.P99, 4))
		}
	} else if p.Lost == 0 {
		text += " waits for an answer"
	}
	if p.Lost > 0 {
		text += fmt.Sprintf(" lost %d of %d (%s)", p.Lost, p.Lost+p.Answered, p.Error)
	}
	return text
}

// SwitchPort is what the port of a switch counted between two answers of its agent.
type SwitchPort struct {
	Switch string `json:"switch"`
	Port   string `json:"port"` // ifName; empty before it is found
	// Seconds is the time that Counts are of; 0 with the first answer, after a restart, and where Error says why nothing
	// is known. In and out are the switch's: in_bytes came from the host.
	Seconds float64           `json:"interval_s"`
	Counts  map[string]uint64 `json:"counts"`
	Speed   float64           `json:"speed_bps,omitempty"` // 0 is not known
	Status  string            `json:"status"`              // up, down, ...: IF-MIB's ifOperStatus
	Duplex  string            `json:"duplex"`              // half, full, unknown
	Error   string            `json:"error,omitempty"`
}

// Merge adds what the same port counted later.
func (p *SwitchPort) Merge(later SwitchPort) {
	sum := maps.Clone(later.Counts)
	for name, n := range p.Counts {
		if sum == nil {
			sum = map[string]uint64{}
		}
		sum[name] += n
	}
	later.Seconds += p.Seconds
	later.Counts, later.Error = sum, cmp.Or(later.Error, p.Error)
	*p = later
}

// Text is what the port counted in one line, for people: its rates, and whatever
// was lost or held.
func (p SwitchPort) Text() string {
	text := strings.TrimSpace(p.Switch+" "+p.Port) + ": "
	if p.Error != "" {
		return text + p.Error
	}
	if p.Seconds <= 0 {
		return text + p.Status
	}
	rate := func(name string) string { return diagnose.RateWords(8 * float64(p.Counts[name]) / p.Seconds) }
	text += "in " + rate("in_bytes") + ", out " + rate("out_bytes")
	if p.Speed > 0 {
		text += " of " + diagnose.RateWords(p.Speed)
	}
	if p.Duplex == "half" || p.Status != "up" {
		text += ", " + p.Status + ", duplex " + p.Duplex
	}
	for _, name := range slices.Sorted(maps.Keys(p.Counts)) {
		if n := p.Counts[name]; n > 0 && !strings.HasSuffix(name, "_bytes") && !strings.HasSuffix(name, "_packets") {
			text += fmt.Sprintf(", %s %s/s", name, units.Digits(float64(n)/p.Seconds, 3))
		}
	}
	return text
}

// MergeProbes adds later probes to those of the same targets.
func MergeProbes(all, later []Probe) []Probe {
	for _, p := range later {
		i := slices.IndexFunc(all, func(o Probe) bool { return o.Target == p.Target })
		if i < 0 {
			p.Bins = slices.Clone(p.Bins)
			all = append(all, p)
			continue
		}
		all[i].Merge(p)
	}
	return all
}

// MergeSwitch adds what the same ports counted later.
func MergeSwitch(all, later []SwitchPort) []SwitchPort {
	for _, p := range later {
		i := slices.IndexFunc(all, func(o SwitchPort) bool { return o.Switch == p.Switch && o.Port == p.Port })
		if i < 0 {
			all = append(all, p)
			continue
		}
		all[i].Merge(p)
	}
	return all
}
