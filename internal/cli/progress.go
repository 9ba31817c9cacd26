package cli

import (
	"fmt"
	"os"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"github.com/wirerate/wirerate/internal/trial"
	"github.com/wirerate/wirerate/internal/units"
)

// progress shows how far the runs are: a bar on a terminal, else a line now
// and then.
type progress struct {
	env   *Env
	group *mpb.Progress
	bar   *mpb.Bar
	text  string
	last  time.Time
}

const linesApart = 15 * time.Second

func newProgress(env *Env) *progress { return &progress{env: env} }

func (p *progress) show(t trial.Progress) {
	p.text = describe(t)
	if f, ok := p.env.Stderr.(*os.File); !ok || !term.IsTerminal(int(f.Fd())) {
		if now := time.Now(); now.Sub(p.last) >= linesApart {
			p.env.note("%s %d/%d %s", t.Stage, t.Done, t.Planned, p.text)
			p.last = now
		}
		return
	}
	if p.bar == nil {
		p.group = mpb.New(mpb.WithOutput(p.env.Stderr), mpb.WithWidth(16))
		p.bar = p.group.AddBar(int64(t.Planned), mpb.BarRemoveOnComplete(),
			mpb.PrependDecorators(decor.Name(t.Stage+" "), decor.CountersNoUnit("%d/%d")),
			mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return p.text })))
	}
	p.bar.SetCurrent(int64(t.Done))
}

// describe is the time left, the last run and the estimate so far.
func describe(t trial.Progress) string {
	last := units.Rate(t.LastGood).String()
	if t.LastGood == 0 { // a workload whose metric is not goodput
		last = fmt.Sprintf("%.4g", t.LastValue)
	}
	s := fmt.Sprintf("%s left, %s", t.Left.Round(time.Second), last)
	if t.Estimate != nil {
		s += fmt.Sprintf(", x%.2f (%.2f to %.2f)", t.Estimate.Ratio, t.Estimate.Low, t.Estimate.High)
	}
	return s
}

func (p *progress) done() {
	if p.bar != nil {
		p.bar.Abort(true)
		p.group.Wait()
	}
}
