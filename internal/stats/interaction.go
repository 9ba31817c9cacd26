package stats

// interactions names the pairs of survivors that act on each other. They are
// estimated from the sums of mirror images, in which main effects cancel, with
// a level of its own for every round of runs.
func (a *Attribution) interactions(plan AttributionPlan, survivors []int, seen []halves) {
	g := len(survivors)
	if g < 2 {
		return
	}
	odd, even, ok := fitBoth(g, seen)
	if !ok {
		a.Warnings = append(a.Warnings, Warning{
			Code: CodeTooFew, Run: -1, Value: float64(len(seen)), Need: len(seen) + 1<<g/2,
			Text: "too few runs in the second stage to tell how the settings act on each other",
		})
		return
	}
	var found []Interaction
	var p []float64
	column := 0
	for i := range g {
		for j := i + 1; j < g; j++ {
			extra := even.single(column, 4)
			half := even.single(column, 2)
			one, two := odd.single(i, 2), odd.single(j, 2)
			both := make([]float64, len(odd.coef))
			both[i], both[j] = 2, 2
			interval := func(t Test) Interval { return t.ratio(1-plan.Alpha, len(seen)) }
			found = append(found, Interaction{
				A: survivors[i], B: survivors[j],
				Extra:    interval(extra),
				AloneA:   interval(one.minus(half)),
				AloneB:   interval(two.minus(half)),
				Together: interval(odd.contrast(both)),
			})
			p = append(p, extra.P)
			column++
		}
	}
	for i, adjusted := range HolmAdjusted(p) {
		if adjusted > plan.Alpha {
			continue
		}
		found[i].AdjustedP = adjusted
		found[i].Kind = kindOf(found[i], plan)
		a.Interactions = append(a.Interactions, found[i])
	}
}

func kindOf(i Interaction, plan AttributionPlan) Kind {
	helps := func(effect Interval) bool {
		return Judge(effect, plan.Margin, plan.HigherIsBetter) == Helps
	}
	better := (i.Extra.Ratio > 1) == plan.HigherIsBetter
	switch {
	case better && helps(i.Together) && !helps(i.AloneA) && !helps(i.AloneB):
		return OnlyTogether
	case better:
		return Reinforce
	}
	return Overlap
}

// fitBoth fits the main effects of the first g columns to the differences and
// their products, followed by a level for each round, to the sums.
func fitBoth(g int, seen []halves) (odd, even regression, ok bool) {
	var oddRows, evenRows [][]float64
	var odds, evens []float64
	rounds := map[int]int{}
	for _, s := range seen {
		if s.signs[0] == 0 {
			continue // everything against nothing: not of the factorial
		}
		if _, known := rounds[s.round]; !known {
			rounds[s.round] = len(rounds)
		}
	}
	for _, s := range seen {
		if s.signs[0] == 0 {
			continue
		}
		oddRows, odds = append(oddRows, s.signs[:g]), append(odds, s.odd)
		row := make([]float64, 0, g*(g-1)/2+len(rounds))
		for i := range g {
			for j := i + 1; j < g; j++ {
				row = append(row, s.signs[i]*s.signs[j])
			}
		}
		levels := make([]float64, len(rounds))
		levels[rounds[s.round]] = 1
		evenRows, evens = append(evenRows, append(row, levels...)), append(evens, s.even)
	}
	odd, oddOK := regress(oddRows, odds)
	even, evenOK := regress(evenRows, evens)
	return odd, even, oddOK && evenOK
}
