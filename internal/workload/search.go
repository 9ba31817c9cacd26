package workload

import (
	"fmt"
	"math"
	"time"
)

// attempt is one step of a search: a rate that was offered for a while.
type attempt struct {
	offered, achieved float64 // 1/s
	held              bool    // within the bound
	limit             Limit   // what bounded it, where it did not hold or was not achieved
	metrics           map[string]float64
}

// reached tells whether the offered rate was made: within 3%, beyond which the
// sender is the limit.
func (a attempt) reached() bool { return a.achieved >= 0.97*a.offered }

// search looks for the highest rate that holds.
type search struct {
	try        func(rate float64, d time.Duration) (attempt, error)
	low        float64       // a rate that holds
	resolution float64       // relative, at which it ends
	step       time.Duration // of a step
	until      time.Time     // when the confirmation begins
	confirm    time.Duration // how long the rate found must hold
}

const (
	mostSteps = 60
	mostTries = 3 // of one rate
	// confirmations are how many there is time for, before they go down faster,
	// and lower by how much.
	confirmations = 4
	lower         = 0.85
)

// run raises the rate until it does not hold, halves the distance between the
// rates that held and did not, as RFC 2544 section 26.1 suggests, and confirms
// what it found for longer.
func (s *search) run() (found attempt, err error) {
	holds, fails, limit := s.low, math.Inf(1), Limit{}
	for rate, n := 4*s.low, 0; n < mostSteps && time.Now().Before(s.until); n++ {
		a, err := s.repeated(rate)
		if err != nil {
			return found, err
		}
		if a.held {
			holds = max(holds, a.achieved)
		}
		if !a.held || !a.reached() {
			fails, limit = rate, a.limit
		}
		switch {
		case a.held && !a.reached(), fails <= holds*(1+s.resolution):
			n = mostSteps
		case !math.IsInf(fails, 1):
			rate = math.Sqrt(holds * fails)
		case rate < 16*s.low:
			rate *= 4
		default:
			rate *= 2
		}
	}
	return s.confirmed(holds, limit)
}

// repeated tries a rate again that did not hold, or that the sender did not
// reach: a stall of a machine does that too, and makes no rate hold that does
// not.
func (s *search) repeated(rate float64) (best attempt, err error) {
	for i := range mostTries {
		a, err := s.try(rate, s.step)
		if err != nil {
			return a, err
		}
		if i == 0 || a.held && (!best.held || a.achieved > best.achieved) {
			best = a
		}
		if best.held && best.reached() || !time.Now().Before(s.until) {
			break
		}
	}
	return best, nil
}

// confirmed offers a rate for longer, a second time where it does not hold, and
// then lower ones: a little lower while there is time, half of it after that, and
// at last the one with which the search began.
func (s *search) confirmed(rate float64, limit Limit) (a attempt, err error) {
	late := s.until.Add(confirmations * s.confirm)
	for n := 0; ; n++ {
		if a, err = s.try(rate, s.confirm); err != nil {
			return a, err
		}
		if a.held || rate <= s.low {
			break
		}
		limit = a.limit
		switch {
		case !time.Now().Before(late):
			rate /= 2
		case n > 0:
			rate *= lower
		}
		rate = max(rate, s.low)
	}
	if a.held {
		a.limit = limit
	}
	if a.limit.Code == "" {
		a.limit = Limit{LimitClients, fmt.Sprintf("nothing up to the highest rate that the time allowed to try, %.0f/s",
			rate)}
	}
	return a, nil
}
