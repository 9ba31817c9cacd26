package report

import (
	"encoding/xml"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/wirerate/wirerate/internal/watch"
)

// A day of probes, with a stall and losses at its end, and what was recorded in
// hours before: all of it is drawn, and nothing hostile.
func TestSmoke(t *testing.T) {
	begin := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	k := NewSmoke(begin, begin.Add(24*time.Hour))
	random := rand.New(rand.NewPCG(1, 2))
	const evil = "icmp:</svg><script>\x1b[2J"
	state := func(at time.Time, n int, lost uint64, us int) watch.State {
		p := watch.Probe{Target: evil, Lost: lost, Error: "<b>"}
		for range n {
			p.Answer(uint64(us + random.IntN(us)))
		}
		return watch.State{Time: at, Probes: []watch.Probe{p}}
	}
	hour := state(begin, 3600, 0, 20_000)
	hour.Resolution = 3600
	k.Add(hour)
	for i := 120; i < 1440; i++ {
		s := state(begin.Add(time.Duration(i)*time.Minute), 60, uint64(i/1380)*20, 20_000)
		s.Resolution = 60
		k.Add(s)
	}
	k.Add(state(begin.Add(-time.Second), 1, 1, 1)) // outside
	k.Add(state(begin.Add(24*time.Hour), 1, 1, 1))
	charts := k.Charts()
	if len(charts) != 1 || charts[0].Target != evil || charts[0].Sum.Answered != 3600+1320*60 || charts[0].Sum.Lost != 60*20 {
		t.Fatalf("%d charts", len(charts))
	}
	svg := charts[0].SVG
	if strings.Contains(svg, "<script>") || strings.Contains(svg, "\x1b") || strings.Contains(svg, "<b>") {
		t.Error("a target's text is part of the page")
	}
	decoder, medians, wide := xml.NewDecoder(strings.NewReader(svg)), 0, false
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "rect" {
			for _, a := range e.Attr {
				if a.Name.Local == "height" && a.Value == "2.5" {
					medians++
				}
				wide = wide || a.Name.Local == "width" && a.Value == "3.75%" // an hour of a day
			}
		}
	}
	if medians != 221 || !wide { // the hour, and 22 of 24 hours in columns of 6 minutes
		t.Errorf("%d medians, an hour %v", medians, wide)
	}
	if !strings.Contains(svg, "25% lost") {
		t.Error("the losses of the last hour are not there")
	}
}

// Nothing answered, one instant, no time at all.
func TestSmokeOfLittle(t *testing.T) {
	at := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	lost := watch.State{Time: at, Probes: []watch.Probe{{Target: "icmp:192.0.2.1", Lost: 1}}}
	k := NewSmoke(at, at)
	k.Add(lost)
	if len(k.Charts()) != 0 {
		t.Error("a time of no length has a chart")
	}
	k = NewSmoke(at, at.Add(time.Nanosecond))
	k.Add(lost)
	if c := k.Charts(); len(c) != 1 || strings.Contains(c[0].SVG, "NaN") || strings.Contains(c[0].SVG, "Inf") {
		t.Error(c)
	}
}
