package experiment

import (
	"time"

	"github.com/wirerate/wirerate/internal/stats"
	"github.com/wirerate/wirerate/internal/trial"
	"github.com/wirerate/wirerate/internal/units"
)

// progress tells how far the whole experiment is: a tune has its trial and then
// the runs for the shares, a suite the rows that follow.
func (u *under) progress(p trial.Progress) {
	p.AllDone, p.AllPlanned, p.AllLeft = p.Done, p.Planned, p.Left
	shares := u.kind == kindTune && !u.NoShares && len(u.arms) == 2
	switch {
	case shares && p.Stage == "trial":
		if settings := len(u.arms[1].union()); settings <= stats.MaxFactors {
			p.AllPlanned += 2 * stats.MinRuns(settings)
		}
		p.AllLeft = max(p.Left, time.Until(u.started.Add(u.Budget)))
	case shares:
		p.AllDone, p.AllPlanned = p.Done+len(u.trial.Runs), p.Planned+len(u.trial.Runs)
	}
	p.AllLeft += u.rowsLeft
	u.Sink.Progress(p)
}

// noteEnd says how a trial ended that made fewer pairs than were planned.
func (u *under) noteEnd() {
	t := u.trial
	if t.Pairs == 0 || t.Pairs >= t.Design.MaxPairs {
		return
	}
	open := false
	for _, c := range t.Comparisons {
		open = open || c.Verdict == stats.NotEnough
	}
	if open || len(t.Comparisons) == 0 {
		u.note("ended after %d of %d pairs, as the time of --for (%s) is up", t.Pairs, t.Design.MaxPairs,
			units.Duration(u.Budget))
		return
	}
	u.note("decided early after %d of %d pairs", t.Pairs, t.Design.MaxPairs)
}
