package weblog

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/units"
	"github.com/wirerate/wirerate/internal/weblog/latency"
	"github.com/wirerate/wirerate/internal/weblog/logline"
)

// Report is everything there is to show of a log: finished numbers, in seconds
// and bytes. Its JSON is a contract. Texts that come from logs are escaped.
type Report struct {
	Schema     int               `json:"schema"`
	Inputs     []InputReport     `json:"inputs"`
	Requests   uint64            `json:"requests"`
	Skipped    uint64            `json:"skipped"`
	SkippedFor map[string]uint64 `json:"skipped_for,omitempty"`
	Examples   []Skip            `json:"skipped_first,omitempty"` // the first three
	Filtered   uint64            `json:"filtered"`
	Blank      uint64            `json:"blank"`
	Bytes      uint64            `json:"bytes"`
	Resolution float64           `json:"resolution_s"`
	Mean       float64           `json:"mean_s"`
	Min        float64           `json:"min_s"`
	Max        float64           `json:"max_s"`

	Bins        []Bin                       `json:"bins"`     // by 100 ms up to 6 s, and beyond
	LogBins     []Bin                       `json:"log_bins"` // ten a decade
	Percentiles map[string]float64          `json:"percentiles_s"`
	Intervals   map[string]latency.Estimate `json:"percentile_intervals_s"`
	Confidence  float64                     `json:"confidence"`
	Under       map[string]float64          `json:"under_s"`
	UnderCI     map[string]latency.Estimate `json:"under_intervals"`
	// by status (499, 000) or how the server says they ended (HAProxy: CD, SC)
	Aborted  map[string]uint64 `json:"aborted,omitempty"`
	Statuses map[string]uint64 `json:"statuses,omitempty"`

	Groups     []Group     `json:"groups"`
	Timeline   *Timeline   `json:"timeline,omitempty"`
	Clock      *Clock      `json:"clock,omitempty"`
	Rate       *Rate       `json:"rate,omitempty"`
	Upstream   *Upstream   `json:"upstream,omitempty"`
	Comparison *Comparison `json:"comparison,omitempty"`
	Notes      []string    `json:"notes,omitempty"` // for people
}

// InputReport says what was read of one input.
type InputReport struct {
	Name   string `json:"name"`
	Format string `json:"format,omitempty"`
	Lines  uint64 `json:"lines"`
	Error  string `json:"error,omitempty"`
	Note   string `json:"note,omitempty"`
}

// Bin is a count of times from From (inclusive) to To (exclusive; nil is
// without end), in s.
type Bin struct {
	From  float64  `json:"from_s"`
	To    *float64 `json:"to_s"`
	Count uint64   `json:"count"`
}

// Group is the requests that have something in common.
type Group struct {
	By          string             `json:"by"`
	Name        string             `json:"name"`
	Requests    uint64             `json:"requests"`
	Share       float64            `json:"share"`
	Bytes       uint64             `json:"bytes"`
	Mean        float64            `json:"mean_s"`
	Max         float64            `json:"max_s"`
	Percentiles map[string]float64 `json:"percentiles_s,omitempty"` // not kept for clients
	Under       map[string]float64 `json:"under_s"`
}

// Timeline is the log by time; points without requests are left out.
type Timeline struct {
	Step   int64   `json:"step_s"`
	Points []Point `json:"points"`
}

// Point is one step of a timeline.
type Point struct {
	At       int64   `json:"at"` // Unix time of its beginning
	Requests uint64  `json:"requests"`
	Bytes    uint64  `json:"bytes"`
	Mean     float64 `json:"mean_s"`
	Max      float64 `json:"max_s"`
	Under    float64 `json:"under_100ms"` // share
}

// Clock is what the time stamps say.
type Clock struct {
	From      int64    `json:"from"` // Unix times, to the timeline's step
	To        int64    `json:"to"`
	Zones     []string `json:"zones"` // offsets from UTC
	Unzoned   uint64   `json:"unzoned"`
	Unstamped uint64   `json:"unstamped"`
	Backward  uint64   `json:"out_of_order"`
}

// Rate is how fast the bytes of single requests went.
type Rate struct {
	Percentiles map[string]float64 `json:"percentiles_bytes_per_s"`
	Requests    uint64             `json:"requests"`
	Instant     uint64             `json:"below_resolution"` // too fast to tell
}

// Upstream divides the request time into the server behind and the rest.
type Upstream struct {
	Requests uint64             `json:"requests"`
	Behind   map[string]float64 `json:"upstream_percentiles_s"`
	Outside  map[string]float64 `json:"outside_percentiles_s"`
}

// View says what a report shows.
type View struct {
	Confidence float64   // of intervals; 0 is 0.95
	Under      []float64 // thresholds in s; nil is 0.1
	By         []string  // groupings, in this order: see Groupings
	Top        int       // number of groups shown per grouping; 0 is 20
}

// Groupings are the names View.By takes.
func Groupings() []string {
	return []string{"status", "method", "path", "size", "protocol", "client", "cache", "upstream"}
}

var percentiles = []float64{50, 75, 90, 95, 99, 99.9, 99.99}

func percentName(p float64) string { return trimFloat(p) }

// trimFloat prints v with as many digits as it has.
func trimFloat(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// inSeconds turns us into s without the digits that a multiplication by 1e-6
// makes up.
func inSeconds(us float64) float64 { return us / 1e6 }

// Summarize makes the report of a sketch.
func Summarize(s *Sketch, v View) *Report {
	if v.Confidence == 0 {
		v.Confidence = 0.95
	}
	if v.Under == nil {
		v.Under = []float64{0.1}
	}
	d := distOf(s)
	r := &Report{
		Schema: 1, Requests: s.Requests, Skipped: s.Skipped(), Filtered: s.Filtered,
		Blank: s.skipped[logline.FaultBlank], Bytes: s.Bytes,
		Examples: s.examples, Resolution: inSeconds(float64(s.Step)), Bins: tenthBins(d.All),
		LogBins:     logBins(d.All, d.Step),
		Percentiles: map[string]float64{}, Intervals: map[string]latency.Estimate{}, Confidence: v.Confidence,
		Under: map[string]float64{}, UnderCI: map[string]latency.Estimate{}, Groups: []Group{},
	}
	r.addInputs(s)
	if d.All.N > 0 {
		r.Mean = inSeconds(float64(d.All.Sum)) / float64(d.All.N)
		r.Min, r.Max = inSeconds(float64(d.All.Min)), inSeconds(float64(d.All.Max))
	}
	for _, p := range percentiles {
		if e, ok := d.Quantile(p/100, v.Confidence); ok {
			e = e.Scaled(inSeconds)
			r.Percentiles[percentName(p)], r.Intervals[percentName(p)] = e.Value, e
		}
	}
	r.addUnder(d, v)
	r.addStatuses(s)
	if s.detail != nil {
		r.addDetail(s, v)
	}
	return r
}

func (r *Report) addInputs(s *Sketch) {
	names := [logline.NumFaults]string{logline.FaultShape: "shape", logline.FaultNoTime: "no_time",
		logline.FaultNegative: "negative", logline.FaultAbsurd: "absurd", logline.FaultLong: "too_long",
		logline.FaultUnit: "no_unit", logline.FaultAborted: "aborted"}
	r.SkippedFor = map[string]uint64{}
	for f, n := range s.skipped {
		if n > 0 && names[f] != "" {
			r.SkippedFor[names[f]] = n
		}
	}
	for _, in := range s.Inputs {
		ir := InputReport{Name: logline.Escape(in.Name, 512), Format: in.Format, Lines: in.Lines, Note: in.Note,
			Error: in.Problem()}
		r.Inputs = append(r.Inputs, ir)
	}
	r.addTwice(s)
	for i := range r.Examples {
		r.Examples[i].Input = logline.Escape(r.Examples[i].Input, 512)
	}
}

// addTwice names inputs of which the same counts came with several saved sketches.
func (r *Report) addTwice(s *Sketch) {
	first := map[string]string{}
	twice, example := 0, ""
	for _, in := range s.Inputs {
		if in.mark == "" {
			continue
		}
		if name, seen := first[in.mark]; !seen {
			first[in.mark] = in.Name
		} else if twice++; example == "" {
			example = fmt.Sprintf("%s and %s", logline.Escape(name, 512), logline.Escape(in.Name, 512))
		}
	}
	if twice > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%s counted twice, which came with two of the files: %s are the same",
			were(uint64(twice), "log"), example))
	}
}

func (r *Report) addUnder(d latency.Dist, v View) {
	for _, t := range v.Under {
		if d.All.N == 0 {
			return
		}
		us := uint64(math.Round(t * 1e6))
		end := latency.BinOf(us)
		name := trimFloat(t)
		e := d.ShareEstimate(end, v.Confidence)
		r.Under[name], r.UnderCI[name] = e.Value, e
		if latency.BinEdge(end) != us {
			r.Notes = append(r.Notes, fmt.Sprintf("the share under %s s counts times below %s s: exact counts need "+
				"a threshold of at most three digits", name, trimFloat(inSeconds(float64(latency.BinEdge(end))))))
		}
	}
}

// addStatuses counts the answers by status, and those nobody waited for: 499 is
// nginx's mark for a client that left, 000 Squid's and others' for no answer.
func (r *Report) addStatuses(s *Sketch) {
	r.Statuses, r.Aborted = map[string]uint64{}, map[string]uint64{}
	for code, n := range s.Status {
		if n == 0 {
			continue
		}
		name := fmt.Sprintf("%03d", code)
		r.Statuses[name] = n
		if code == 0 || code == 499 {
			r.Aborted[name] = n
		}
	}
	if len(r.Statuses) == 1 && s.Status[0] == s.Requests {
		r.Statuses = nil // the format has no status
		delete(r.Aborted, "000")
	} else if n := s.Status[499] + s.Status[0]; n > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%s aborted (499, 000): the times are how long the client waited, not "+
			"how long the answer took; --status '!499,!000' leaves them out", were(n, "request")))
	}
	if n := s.skipped[logline.FaultAborted]; n > 0 {
		r.Aborted["-1"] = n
	}
	if len(s.ends) > 0 {
		var names []string
		var sum uint64
		for _, name := range slices.Sorted(maps.Keys(s.ends)) {
			names = append(names, fmt.Sprintf("%s %d", logline.Escape(name, 64), s.ends[name]))
			sum += s.ends[name]
			r.Aborted[logline.Escape(name, 64)] = s.ends[name]
		}
		r.Notes = append(r.Notes, fmt.Sprintf("%s ended early by the client, the server or a timeout (%s): the "+
			"times are not those of whole answers", were(sum, "request"), strings.Join(names, ", ")))
	}
	if n := s.Status[304]; n > 0 && s.Requests > 0 && float64(n) > 0.05*float64(s.Requests) {
		r.Notes = append(r.Notes, fmt.Sprintf("%.0f%% of the answers are 304: the client's cache had the object, so "+
			"tuning does not affect them", 100*float64(n)/float64(s.Requests)))
	}
}

// tenthBins counts by 100 ms up to 6 s.
func tenthBins(h *latency.Hist) []Bin {
	const n = 60
	bins := make([]Bin, n+1)
	for i := range bins {
		bins[i].From = float64(i) / 10
		if i < n {
			to := float64(i+1) / 10
			bins[i].To = &to
			bins[i].Count = h.Under(uint64(i+1)*100_000) - h.Under(uint64(i)*100_000)
		}
	}
	bins[n].Count = h.N - h.Under(n*100_000)
	return bins
}

// logEdges are two-digit steps that divide a decade about evenly.
var logEdges = [...]uint64{100, 125, 160, 200, 250, 315, 400, 500, 630, 800}

// logBins counts by tenths of a decade (the R10 series), from the first that
// the resolution can tell to the last that has a count. Steps in which the
// resolution has no time (1.25 to 1.6 ms, of whole ms) are part of the one before.
func logBins(h *latency.Hist, step uint64) []Bin {
	if h.N == 0 {
		return nil
	}
	step = max(step, 1)
	var bins []Bin
	from := uint64(0)
	add := func(to uint64) {
		n := h.Under(to) - h.Under(from)
		end := inSeconds(float64(to))
		if possible := (from + step - 1) / step * step; n == 0 && possible >= to && len(bins) > 0 {
			bins[len(bins)-1].To = &end
		} else {
			bins = append(bins, Bin{From: inSeconds(float64(from)), To: &end, Count: n})
		}
		from = to
	}
	least := uint64(0)
	for scale := uint64(1); scale*100 < latency.MaxMicros; scale *= 10 {
		for _, e := range logEdges {
			edge := e * scale
			if from > h.Max {
				return bins
			}
			if edge <= h.Min && edge >= step {
				least = edge
				continue
			}
			if edge < step {
				continue
			}
			if least > 0 {
				add(least) // a bin without requests, in which no drawing spreads any
				least = 0
			}
			add(edge)
		}
	}
	return bins
}

func (r *Report) addDetail(s *Sketch, v View) {
	d := s.detail
	grouped := uint64(0)
	for _, g := range d.cells.groups {
		grouped += g.N
	}
	if grouped < s.Requests {
		r.Notes = append(r.Notes, fmt.Sprintf("the groupings are of %s: the other counts were saved without --full",
			units.Plural(grouped, "request")))
	}
	if hits, known := d.fromCache(); hits > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%.0f%% of the answers came from a cache, as far as the log says "+
			"(%s): they are fast whatever the server behind does", 100*float64(hits)/float64(known),
			units.Plural(known, "request")))
	}
	if reused, known := d.reused(); known > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%.0f%% of the requests came on a connection that had one before: "+
			"they waited for no handshake", 100*float64(reused)/float64(known)))
	}
	shares := uint64(0)
	for i := range d.behind {
		shares += d.behind[i].N
	}
	if shares < d.upstream.N {
		r.Notes = append(r.Notes, fmt.Sprintf("the grouping by upstream time is of %s of %s: older counts do not "+
			"have it", units.Count(shares), units.Plural(d.upstream.N, "request")))
	}
	for _, by := range v.By {
		r.Groups = append(r.Groups, groupsBy(s, by, v)...)
	}
	r.addClock(d)
	if d.rates.N > 0 || d.instant > 0 {
		r.Rate = &Rate{Percentiles: percentilesOf(&d.rates, d.rates.N, 1, 1), Requests: d.rates.N, Instant: d.instant}
	}
	if d.upstream.N > 0 {
		r.Upstream = &Upstream{Requests: d.upstream.N, Behind: percentilesOf(&d.upstream, d.upstream.N, s.Step, 1e6),
			Outside: percentilesOf(&d.outside, d.outside.N, s.Step, 1e6)}
	}
}

// ranked is a Hist or a group.
type ranked interface {
	Rank(k uint64) (bin int, ok bool)
	Value(bin int, step uint64) float64
}

// percentilesOf returns the percentiles of n values in the given unit.
func percentilesOf(h ranked, n, step uint64, unit float64) map[string]float64 {
	out := map[string]float64{}
	for _, p := range percentiles {
		if bin, ok := h.Rank(latency.RankOf(p/100, n)); ok {
			out[percentName(p)] = h.Value(bin, step) / unit
		}
	}
	return out
}

func (r *Report) addClock(d *detail) {
	t := d.timeline
	if len(t.groups) == 0 {
		return
	}
	keys := slices.Sorted(maps.Keys(t.groups))
	tl := &Timeline{Step: 1 << t.level}
	for _, k := range keys {
		b := t.groups[k]
		tl.Points = append(tl.Points, Point{At: k, Requests: b.n, Bytes: b.bytes,
			Mean: inSeconds(float64(b.sum)) / float64(b.n),
			Max:  inSeconds(float64(b.max)), Under: float64(b.under) / float64(b.n)})
	}
	r.Timeline = tl
	c := &Clock{From: keys[0], To: keys[len(keys)-1] + tl.Step, Unzoned: d.local,
		Unstamped: d.noStamp, Backward: d.backward}
	for _, z := range d.zones {
		o := z.offset
		sign, abs := '+', o
		if o < 0 {
			sign, abs = '-', -o
		}
		c.Zones = append(c.Zones, fmt.Sprintf("%c%02d:%02d", sign, abs/60, abs%60))
	}
	sort.Strings(c.Zones)
	r.Clock = c
	if len(c.Zones) > 1 {
		r.Notes = append(r.Notes, fmt.Sprintf("the log has time stamps of %d zones; all are compared in UTC",
			len(c.Zones)))
	}
	if d.local > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%s taken as UTC, for want of a zone", were(d.local, "time stamp")))
	}
	if d.backward > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%s stamped earlier than the one before: servers log at the end of a "+
			"request and stamp some formats at its start", were(d.backward, "line")))
	}
}

// Span returns the moments of the first and last request.
func (c *Clock) Span() (from, to time.Time) {
	return time.Unix(c.From, 0).UTC(), time.Unix(c.To, 0).UTC()
}

// were says how many things there were.
func were(n uint64, thing string) string {
	if n == 1 {
		return units.Plural(n, thing) + " was"
	}
	return units.Plural(n, thing) + " were"
}
