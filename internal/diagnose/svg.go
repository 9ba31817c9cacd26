package diagnose

import (
	"fmt"
	"html"
	"io"
	"math"
	"strings"

	"github.com/wirerate/wirerate/internal/terminal"
)

// Roofline is the picture of goodput ceilings with what was measured below
// them.
type Roofline struct {
	Title    string
	Ceilings []Ceiling
	// Measured are goodputs by their names, in bit/s.
	Measured []Point
}

// Point is a measured goodput.
type Point struct {
	Name  string
	Value float64 // bit/s
}

// Roofline returns the diagnosis as a picture.
func (d Diagnosis) Roofline() Roofline {
	r := Roofline{Title: "Ceilings of " + d.Host, Ceilings: d.Ceilings}
	if m := d.Measured; m != nil {
		r.Measured = []Point{{"sent, " + m.Interface, m.Sent}, {"received, " + m.Interface, m.Received}}
	}
	return r
}

const svgStyle = `svg{--bg:#fff;--fg:#1a1a1a;--soft:#5a5a5a;--edge:#d5d5d5;--hot:#b34700;--cool:#0072b2}
@media(prefers-color-scheme:dark){svg{--bg:#14161a;--fg:#e8e8e6;--soft:#a8a8a4;--edge:#3a3d43;--hot:#e69f00;--cool:#56b4e9}}
text{fill:var(--fg);font:14px system-ui,sans-serif}.s{fill:var(--soft);font-size:12px}.bg{fill:var(--bg);stroke:var(--edge)}
.c{fill:var(--soft);opacity:.35}.b{fill:var(--hot)}.m{fill:var(--cool)}.g{stroke:var(--edge)}`

// SVG writes the picture: a bar for each known ceiling on a logarithmic axis,
// the binding one marked, and the measured points below. It stands alone.
func (r Roofline) SVG(w io.Writer) error {
	const width, left, right, step, top = 800.0, 210.0, 130.0, 34.0, 64.0
	type bar struct {
		name, class string
		value       float64
	}
	var bars []bar
	binding, _ := Binding(r.Ceilings)
	low, high := math.Inf(1), 0.0
	add := func(name, class string, v float64) {
		if v > 0 {
			bars = append(bars, bar{name, class, v})
			low, high = min(low, v), max(high, v)
		}
	}
	for _, c := range r.Ceilings {
		if c.Known && c.Metric == Goodput {
			class, name := "c", c.Resource
			if c.Resource == binding.Resource && c.Host == binding.Host {
				class, name = "b", c.Resource+" binds"
			}
			add(name, class, c.Value)
		}
	}
	for _, p := range r.Measured {
		add(p.Name, "m", p.Value)
	}
	height := top + step*float64(len(bars)) + 40
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%g" height="%g" viewBox="0 0 %g %g" role="img" aria-label="%s"><style>%s</style>`,
		width, height, width, height, html.EscapeString(r.Title), svgStyle)
	fmt.Fprintf(&b, `<rect class="bg" x="0.5" y="0.5" width="%g" height="%g" rx="6"/><text x="24" y="36">%s</text>`, width-1, height-1, html.EscapeString(r.Title))
	if len(bars) == 0 {
		b.WriteString(`<text class="s" x="24" y="60">no ceiling is known</text>`)
	}
	first, last := math.Floor(math.Log10(low)), math.Ceil(math.Log10(high*1.01))
	at := func(v float64) float64 { return (math.Log10(v) - first) / max(1, last-first) * (width - left - right) }
	for i, v := range bars {
		y := top + step*float64(i)
		fmt.Fprintf(&b, `<text x="24" y="%g">%s</text><rect class="%s" x="%g" y="%g" width="%.1f" height="16"/><text x="%g" y="%g" text-anchor="end">%s</text>`,
			y+13, html.EscapeString(terminal.Clip(v.name, 24)), v.class, left, y, max(2, at(v.value)), width-24, y+13, rate(v.value))
	}
	if len(bars) > 0 {
		for e := first; e <= last; e++ {
			x := left + at(math.Pow(10, e))
			fmt.Fprintf(&b, `<line class="g" x1="%.1f" x2="%.1f" y1="%g" y2="%g"/><text class="s" x="%.1f" y="%g" text-anchor="middle">%s</text>`,
				x, x, top-8, height-34, x, height-16, rate(math.Pow(10, e)))
		}
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}
