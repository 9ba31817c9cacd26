package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/flow"
	"github.com/wirerate/wirerate/internal/packets"
	"github.com/wirerate/wirerate/internal/units"
)

//go:embed packets.js
var packetsScript string

type packetsView struct {
	packets.Analysis
	Hash   string // of the one script that may run (Content Security Policy Level 3)
	Script template.JS
	// Headline is the verdict's first clause; the rest stands below it.
	Headline string
	Size     string
	Notes    []string
	Ends     []endLine // what both captures tell together
	Views    []packetsFlowView
}

type packetsFlowView struct {
	packets.Life
	Title    string
	Said     string // the verdict, empty where the page's head says it
	Facts    []string
	Remedies []string
	Course   *packetsCourse
}

// packetsCourse is a flow's life in columns, as packets.js draws it: a few
// hundred moments, however many packets there were.
type packetsCourse struct {
	At     []float64    `json:"at"` // seconds since the capture's first packet
	Next   []int64      `json:"next"`
	Una    []int64      `json:"una"`
	Edge   []int64      `json:"edge"`
	Flight []int64      `json:"flight"`
	Window []int64      `json:"window"`
	Rate   []float64    `json:"rate"` // bit/s
	RTT    []float64    `json:"rtt"`  // seconds, 0 not measured
	Base   float64      `json:"base"` // the least round trip in seconds, 0 not known
	Path   float64      `json:"path"` // the path's rate in bit/s, 0 not known
	Again  []int32      `json:"again"`
	Timers []int32      `json:"timers"`
	Zero   []int32      `json:"zero"`
	Sacked []int64      `json:"sacked"`
	Spans  [][3]float64 `json:"spans"` // start, end, index into Names
	Names  []flow.Limit `json:"names"`
	End    float64      `json:"end"`
}

// PacketsHTML writes what a capture says as one page with its pictures.
func PacketsHTML(w io.Writer, a packets.Analysis) error {
	const shown = 5
	sum := sha256.Sum256([]byte(packetsScript))
	v := packetsView{Analysis: a, Headline: packetsHeadline(a), Hash: "sha256-" +
		base64.StdEncoding.EncodeToString(sum[:]),
		Script: template.JS(packetsScript), Notes: captureNotes(a),
		Size: fmt.Sprintf("%s in %s, %s", plural(int(a.Packets), "packet", "packets"),
			units.Duration(inSeconds(a.Duration)), units.Bytes(a.Bytes).String())}
	if a.Both != nil {
		v.Ends = bothEnds(a.Both)
	}
	for i, l := range a.Flows[:min(shown, len(a.Flows))] {
		f := packetsFlowView{Life: l, Title: fmt.Sprintf("%s > %s: %s in %s, %s", l.From, l.To, units.Bytes(l.Bytes).String(),
			units.Duration(inSeconds(l.Duration)), units.Rate(l.Goodput).String()), Course: flowCourse(l)}
		if i > 0 {
			f.Said = l.Verdict
		}
		if l.Protocol == "tcp" {
			f.Facts = append(pathFacts(l), l.Notes...)
		}
		for _, r := range l.Fix {
			f.Remedies = append(f.Remedies, remedy(r))
		}
		v.Views = append(v.Views, f)
	}
	return writePage(w, "packets", v)
}

// packetsHeadline says what limited the flow with the most data, without the numbers that prove it.
func packetsHeadline(a packets.Analysis) string {
	said := a.Verdict
	if len(a.Flows) > 0 && a.Flows[0].Protocol == "tcp" {
		said = a.Flows[0].Verdict
	}
	said, _, _ = strings.Cut(said, ": ")
	said, _, _ = strings.Cut(said, "; ")
	return capital(said)
}

func flowCourse(l packets.Life) *packetsCourse {
	if len(l.Points) < 2 || len(l.Spans) == 0 {
		return nil
	}
	c := &packetsCourse{End: l.Start + l.Duration, Path: l.Capacity}
	if l.RTT != nil {
		c.Base = l.RTT.Min / 1e3
	}
	zero := l.Start - l.Points[0].Start.Seconds()
	step := (l.Points[1].Start - l.Points[0].Start).Seconds()
	for _, p := range l.Points {
		c.At, c.Next, c.Una = append(c.At, zero+p.Start.Seconds()), append(c.Next, p.Next), append(c.Una, p.Una)
		c.Edge, c.Flight = append(c.Edge, p.Edge), append(c.Flight, p.Flight)
		c.Window = append(c.Window, max(0, p.Edge-p.Una))
		c.Rate, c.RTT = append(c.Rate, float64(p.Delivered)*8/max(step, 1e-9)), append(c.RTT, p.RTT.Seconds())
		c.Again, c.Timers = append(c.Again, p.Again), append(c.Timers, p.Timers)
		c.Zero, c.Sacked = append(c.Zero, p.Zero), append(c.Sacked, p.Sacked)
	}
	for _, s := range l.Spans {
		i := slices.Index(c.Names, s.Limit)
		if i < 0 {
			i, c.Names = len(c.Names), append(c.Names, s.Limit)
		}
		c.Spans = append(c.Spans, [3]float64{s.Start, s.End, float64(i)})
	}
	return c
}
