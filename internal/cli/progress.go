package cli

import (
	"fmt"
	"os"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"github.com/wirerate/wirerate/internal/report"
	"github.com/wirerate/wirerate/internal/trial"
)

// sink shows the messages of an experiment and how far its runs are: a bar on a
// terminal, else a line now and then.
type sink struct {
	env   *Env
	group *mpb.Progress
	bar   *mpb.Bar
	stage string // under way
	text  string
	last  time.Time
}

const linesApart = 15 * time.Second

func (s *sink) Note(text string) {
	s.clear()
	s.env.note("%s", text)
}

func (s *sink) Progress(t trial.Progress) {
	s.text = describe(t)
	if f, ok := s.env.Stderr.(*os.File); !ok || !term.IsTerminal(int(f.Fd())) {
		if now := time.Now(); now.Sub(s.last) >= linesApart {
			s.env.note("run %d of at most %d (%s), %s", t.AllDone, t.AllPlanned, t.Stage, s.text)
			s.last = now
		}
		return
	}
	if s.bar == nil {
		s.group = mpb.New(mpb.WithOutput(s.env.Stderr), mpb.WithWidth(16))
		s.bar = s.group.AddBar(int64(t.AllPlanned), mpb.BarRemoveOnComplete(),
			mpb.PrependDecorators(decor.Any(func(decor.Statistics) string { return s.stage + " " }),
				decor.CountersNoUnit("run %d of %d")),
			mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return s.text })))
	}
	s.stage = t.Stage
	s.bar.SetTotal(int64(t.AllPlanned), false)
	s.bar.SetCurrent(int64(t.AllDone))
}

// clear takes the bar away.
func (s *sink) clear() {
	if s.bar != nil {
		s.bar.Abort(true)
		s.group.Wait()
		s.bar = nil
	}
}

// wideEstimate is the ratio from which an estimate says nothing yet.
const wideEstimate = 100

// describe is the time left, the last run and the estimate so far.
func describe(t trial.Progress) string {
	left := "ending"
	if t.AllLeft > 0 {
		left = t.AllLeft.Round(time.Second).String() + " left at most"
	}
	s := fmt.Sprintf("%s, last %s", left, report.Value(t.Metric, t.LastValue))
	if t.Estimate != nil && t.Estimate.High < wideEstimate {
		s += fmt.Sprintf(", ×%.2f (%.2f to %.2f)", t.Estimate.Ratio, t.Estimate.Low, t.Estimate.High)
	}
	return s
}
