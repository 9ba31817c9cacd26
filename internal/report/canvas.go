package report

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/terminal"
)

// canvas collects SVG elements. Horizontal positions are parts of the width, 0
// to 1, written as percentages, so that one drawing fits a phone and a page
// while its text keeps its size; vertical ones are pixels.
type canvas struct{ strings.Builder }

func (c *canvas) add(format string, args ...any) { fmt.Fprintf(c, format, args...) }

// at prints a horizontal position.
func at(x float64) string { return strconv.FormatFloat(math.Round(x*1e4)/100, 'f', -1, 64) + "%" }

func (c *canvas) line(class string, x1, y1, x2, y2 float64) {
	c.add(`<line class="%s" x1="%s" y1="%g" x2="%s" y2="%g"/>`, class, at(x1), y1, at(x2), y2)
}

// bar fills the rectangle between two horizontal positions.
func (c *canvas) bar(class string, x1, x2, y, height float64) {
	c.add(`<rect class="%s" x="%s" y="%g" width="%s" height="%g"/>`, class, at(min(x1, x2)), y,
		at(math.Abs(x2-x1)), height)
}

// titled is bar, with a text for those who point at it.
func (c *canvas) titled(class string, x1, x2, y, height float64, title string) {
	c.add(`<rect class="%s" x="%s" y="%g" width="%s" height="%g"><title>%s</title></rect>`, class, at(min(x1, x2)), y,
		at(math.Abs(x2-x1)), height, html.EscapeString(terminal.Clean(title)))
}

// text writes s, which may come from anywhere, with its anchor start, middle
// or end at x.
func (c *canvas) text(class, anchor string, x, y float64, s string) {
	c.add(`<text class="%s" text-anchor="%s" x="%s" y="%g">%s</text>`, class, anchor, at(x), y,
		html.EscapeString(terminal.Clean(s)))
}

// shapes are the outlines of markers around the origin; arms differ by shape,
// not by colour alone.
var shapes = [...]string{
	"M-5,0a5,5 0 1,0 10,0a5,5 0 1,0 -10,0z", // circle
	"M0,-6.5L6.5,0L0,6.5L-6.5,0z",           // diamond
	"M-5,-5h10v10h-10z",                     // square
	"M0,-6L6,5H-6z",                         // triangle
	"M0,6L6,-5H-6z",                         // triangle, upside down
	"M-2,-7h4v14h-4z",                       // wall: a ceiling
}

const (
	armShapes = 5
	wall      = 5
)

// marker draws a shape at a position, with a text for those who point at it.
func (c *canvas) marker(class string, shape int, x, y float64, title string) {
	c.add(`<svg x="%s" y="%g" overflow="visible"><path class="%s" d="%s">`, at(x), y, class, shapes[shape])
	if title != "" {
		c.add(`<title>%s</title>`, html.EscapeString(terminal.Clean(title)))
	}
	c.add(`</path></svg>`)
}

// axis maps values to horizontal positions.
type axis struct {
	log      bool
	min, max float64
}

// tick is a labelled value of an axis.
type tick struct {
	value float64
	label string
}

// inset keeps markers at the ends of an axis inside the picture.
const inset = 0.03

// newAxis spans the positive values; it is logarithmic when they differ much.
func newAxis(log bool, values ...float64) axis {
	a := axis{log: log, min: math.Inf(1), max: math.Inf(-1)}
	for _, v := range values {
		if v > 0 && !math.IsInf(v, 0) {
			a.min, a.max = min(a.min, v), max(a.max, v)
		}
	}
	if a.min > a.max {
		a.min, a.max = 1, 10
	}
	if a.max/a.min < 1.001 {
		a.min, a.max = a.min*0.99, a.max*1.01
	}
	return a
}

// spread tells whether values differ so much that only a logarithmic axis
// shows them all.
func spread(values []float64) bool {
	a := newAxis(true, values...)
	return a.max/a.min > 3
}

func (a axis) at(v float64) float64 {
	part := (v - a.min) / (a.max - a.min)
	if a.log {
		part = math.Log(v/a.min) / math.Log(a.max/a.min)
	}
	return inset + (1-2*inset)*max(0, min(1, part))
}

// widen moves the ends of an axis outwards by a part of its length.
func (a axis) widen(part float64) axis {
	if a.log {
		f := math.Pow(a.max/a.min, part)
		return axis{true, a.min / f, a.max * f}
	}
	d := (a.max - a.min) * part
	return axis{false, max(0, a.min-d), a.max + d}
}

// ticks chooses round values, few enough for a narrow picture.
func (a axis) ticks(label func(float64) string) []tick {
	var out []tick
	if !a.log || a.max/a.min < 4 {
		step := niceStep((a.max - a.min) / 4)
		for v := math.Ceil(a.min/step) * step; v <= a.max*(1+1e-9); v += step {
			out = append(out, tick{v, label(v)})
		}
		return out
	}
	factors := []float64{1, 2, 5}
	if a.max/a.min > 200 {
		factors = []float64{1}
	}
	decades := math.Ceil(math.Log10(a.max / a.min))
	every := max(1, int(math.Ceil(decades/6)))
	for e := int(math.Floor(math.Log10(a.min))); e <= int(math.Ceil(math.Log10(a.max))); e += every {
		for _, f := range factors {
			if v := f * math.Pow(10, float64(e)); v >= a.min*(1-1e-9) && v <= a.max*(1+1e-9) {
				out = append(out, tick{v, label(v)})
			}
		}
	}
	return out
}

// niceStep is the round number of 1, 2, 2.5 or 5 times a power of ten at or
// above v.
func niceStep(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, f := range []float64{1, 2, 2.5, 5} {
		if f*power >= v*(1-1e-9) {
			return f * power
		}
	}
	return 10 * power
}

// band is a stretch of a drawing's height.
type band struct{ top, bottom float64 }

// Every row of a chart has a line of text and below it a track, where its
// marks and the grid are; nothing is drawn across text.
const (
	rowStep  = 44.0
	rowText  = 14.0 // base line of the text
	rowTrack = 28.0 // middle of the track
)

// tracks are the bands of n rows.
func tracks(n int) []band {
	var out []band
	for i := range n {
		y := rowStep * float64(i)
		out = append(out, band{y + rowTrack - 9, y + rowTrack + 9})
	}
	return out
}

// drawAxis draws grid lines in the bands, and their labels below the bottom.
func (c *canvas) drawAxis(a axis, bands []band, bottom float64, label func(float64) string) {
	for _, t := range a.ticks(label) {
		x := a.at(t.value)
		for _, b := range bands {
			c.line("grid", x, b.top, x, b.bottom)
		}
		anchor := "middle"
		switch {
		case x < 0.06:
			anchor = "start"
		case x > 0.94:
			anchor = "end"
		}
		c.text("s", anchor, x, bottom+16, t.label)
	}
}

// through draws a vertical line in the bands.
func (c *canvas) through(class string, x float64, bands []band) {
	for _, b := range bands {
		c.line(class, x, b.top, x, b.bottom)
	}
}

// shortBits labels a rate on an axis: 100M, 1G.
func shortBits(bps float64) string {
	for _, p := range []struct {
		factor float64
		suffix string
	}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if bps >= p.factor*(1-1e-9) {
			return strconv.FormatFloat(bps/p.factor, 'g', 4, 64) + p.suffix
		}
	}
	return strconv.FormatFloat(bps, 'g', 4, 64)
}

// chart wraps a drawing of the given height as an element of the page.
func (c *canvas) chart(height float64, label string) string {
	return fmt.Sprintf(`<svg class="chart" role="img" width="100%%" height="%g" aria-label="%s">%s</svg>`, height,
		html.EscapeString(terminal.Clean(label)), c.String())
}
