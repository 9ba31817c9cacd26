package report

import (
	"html"
	"io"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/wirerate/wirerate/internal/diagnose"
	"github.com/wirerate/wirerate/internal/terminal"
)

// pictureStyle colours the stand-alone picture. It has its own background, so
// that it reads on any page, and follows the reader's light or dark scheme.
const pictureStyle = `
svg{--bg:#fff;--fg:#1a1a1a;--soft:#5a5a5a;--edge:#d5d5d5;--a0:#b34700;--a1:#0072b2;--a2:#00795a;--a3:#a3487f;--a4:#7a6a00}
@media(prefers-color-scheme:dark){svg{--bg:#14161a;--fg:#e8e8e6;--soft:#a8a8a4;--edge:#3a3d43;--a0:#e69f00;--a1:#56b4e9;--a2:#2fc79c;--a3:#e091c0;--a4:#f0e442}}
text{fill:var(--fg);font:15px system-ui,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
text.title{font-size:23px;font-weight:650}text.long{font-size:18px}text.s{fill:var(--soft);font-size:13.5px}text.b{font-weight:650}
.card{fill:var(--bg);stroke:var(--edge)}
.grid,.track{stroke:var(--edge)}.room{fill:var(--soft);opacity:.18}
.wall{fill:var(--bg);stroke:var(--fg);stroke-width:1.5}.wall.full{fill:var(--fg)}
.guide{stroke-width:1.5;stroke-dasharray:2 4}.guide.a1{stroke-dasharray:7 4}
.column.a0{fill:var(--a0)}.column.a1{fill:var(--a1)}.column.a2{fill:var(--a2)}.column.a3{fill:var(--a3)}.column.a4{fill:var(--a4)}.column{opacity:.75}.whisker{stroke:var(--fg);stroke-width:2}
.dot{stroke-width:1.5;opacity:.6}.mark{stroke-width:2}
.a0{stroke:var(--a0)}.a1{stroke:var(--a1)}.a2{stroke:var(--a2)}.a3{stroke:var(--a3)}.a4{stroke:var(--a4)}
.mark.a0{fill:var(--bg)}.mark.a1{fill:var(--a1)}.mark.a2{fill:var(--a2)}.mark.a3{fill:var(--a3)}.mark.a4{fill:var(--a4)}
`

// SVG writes a result as one picture, 800 pixels wide: the verdict with its
// interval and a bar for each arm; without an effect, the measured runs under
// the path's ceilings.
func SVG(w io.Writer, r Result) error {
	r = labelled(r)
	p := picture{title: headline(r), lines: []string{pictureEvidence(r), joined(pathWords(r), r.Workload)}}
	if len(r.Arms) > 1 && r.Effect != nil {
		if p.height = bars(&p.chart, r); p.height > 0 {
			return p.write(w)
		}
	}
	p.height = roofline(&p.chart, r)
	p.legend = func(c *canvas, width float64) { drawLegend(c, r, width) }
	return p.write(w)
}

// InspectSVG writes the ceilings of an inspection as such a picture, with the
// traffic of its window below them, where there was one.
func InspectSVG(w io.Writer, in Inspection, measured *diagnose.Traffic) error {
	r := Result{Ceilings: in.Ceilings}
	if measured != nil {
		for name, bps := range map[string]float64{"sent": measured.Sent, "received": measured.Received} {
			m := Metrics{GoodputBPS: bps}
			r.Arms = append(r.Arms, Arm{Name: name + ", " + measured.Interface, Median: m, Runs: []Run{{Metrics: m}}})
		}
		slices.SortFunc(r.Arms, func(a, b Arm) int { return strings.Compare(b.Name, a.Name) })
	}
	p := picture{title: inspectHeadline(in), lines: []string{"ceilings of the goodput", in.Path}}
	p.height = roofline(&p.chart, r)
	if p.height == 0 {
		p.lines[0] = "no ceiling is known"
	}
	return p.write(w)
}

// picture is a chart with a title above it, in a frame of its own.
type picture struct {
	title  string
	lines  []string // two
	chart  canvas
	height float64                        // of the chart
	legend func(c *canvas, width float64) // nil without one
}

func (p *picture) write(w io.Writer) error {
	const width, margin, top = 800.0, 28.0, 106.0
	var c canvas
	total := top + p.height + 44
	c.add(`<svg xmlns="http://www.w3.org/2000/svg" width="%g" height="%g" viewBox="0 0 %g %g" role="img" aria-label="%s">`,
		width, total, width, total, html.EscapeString(terminal.Clean(p.title)))
	c.add(`<style>%s</style>`, pictureStyle)
	c.add(`<rect class="card" x="0.5" y="0.5" width="%g" height="%g" rx="6"/>`, width-1, total-1)
	x := margin / width
	class := "title"
	if ansi.StringWidth(p.title) > 52 {
		class = "title long"
	}
	c.text(class, "start", x, 42, terminal.Clip(p.title, 76))
	c.text("s", "start", x, 66, terminal.Clip(p.lines[0], 110))
	c.text("s", "start", x, 86, terminal.Clip(p.lines[1], 110))
	c.add(`<svg x="%g" y="%g" width="%g" height="%g" overflow="visible">%s</svg>`, margin, top, width-2*margin,
		p.height, p.chart.String())
	if p.height > 0 && p.legend != nil {
		c.add(`<svg x="%g" y="%g" width="%g" height="24" overflow="visible">`, margin, total-32, width-2*margin)
		p.legend(&c, width-2*margin)
		c.add(`</svg>`)
	}
	c.add("</svg>\n")
	_, err := io.WriteString(w, c.String())
	return err
}

func pictureEvidence(r Result) string {
	if r.Effect == nil {
		return follow(r)
	}
	return evidence(r.Effect) + " in random order"
}

// joined puts a semicolon between what is not empty.
func joined(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "; ")
}

// drawLegend explains the picture's shapes in one line of the given width.
func drawLegend(c *canvas, r Result, width float64) {
	x := 0.0
	entry := func(class string, shape int, words string) {
		c.marker(class, shape, (x+6)/width, 10, "")
		c.text("s", "start", (x+18)/width, 15, words)
		x += 18 + 7.2*float64(ansi.StringWidth(words)) + 18
	}
	entry("wall", wall, terminal.Clip("ceiling "+beforeWords(r), 26))
	if len(r.After) > 0 {
		entry("wall full", wall, terminal.Clip(afterWords(r), 20))
	}
	for i, a := range r.Arms {
		if len(r.Arms) > 2 {
			break // their rows name them
		}
		entry("mark "+armClass(i), armShape(i), "median of "+terminal.Clip(a.Name, 14))
	}
	c.text("s", "start", (x+6)/width, 15, "strokes: single runs")
}
