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
	low        float64       // the rate to begin with
	resolution float64       // relative, at which it ends
	step       time.Duration // of a step at most
	until      time.Time     // when the confirmation begins
	confirm    time.Duration // how long the rate found must hold
}

const (
	mostSteps    = 60
	leastRate    = 1.0 // 1/s
	searchFactor = 2   // from one step to the next on the way up
)

// run raises the rate until it does not hold, halves the distance between the
// rates that held and did not, as RFC 2544 section 26.1 suggests, and confirms
// what it found for longer. A rate that did not hold is tried once more, since
// one stall of a machine is not the path's throughput.
func (s *search) run() (found attempt, err error) {
	holds, fails, limit := 0.0, math.Inf(1), Limit{}
	for rate, n := s.low, 0; n < mostSteps && time.Now().Before(s.until); n++ {
		a, err := s.twice(rate)
		if err != nil {
			return found, err
		}
		if a.held {
			holds = a.achieved
		} else {
			fails, limit = rate, a.limit
		}
		if a.held && !a.reached() {
			fails, limit = rate, a.limit
			break
		}
		switch {
		case holds == 0 && rate <= leastRate:
			return a, nil
		case holds == 0:
			rate = max(rate/searchFactor, leastRate)
		case math.IsInf(fails, 1):
			if rate < 16*s.low {
				rate *= searchFactor
			}
			rate *= searchFactor
		case fails <= holds*(1+s.resolution):
			n = mostSteps
		default:
			rate = math.Sqrt(holds * fails)
		}
	}
	if holds == 0 {
		holds = leastRate
	}
	return s.confirmed(holds, limit)
}

func (s *search) twice(rate float64) (attempt, error) {
	a, err := s.try(rate, s.step)
	if err == nil && !(a.held && a.reached()) && time.Now().Before(s.until) {
		again, err := s.try(rate, s.step)
		if again.held && again.achieved > a.achieved || !a.held {
			return again, err
		}
	}
	return a, err
}

// confirmed offers a rate for longer, a lower one where it does not hold.
func (s *search) confirmed(rate float64, limit Limit) (attempt, error) {
	const tries, down = 4, 0.9
	var a attempt
	for i := range tries {
		var err error
		if a, err = s.try(rate, s.confirm); err != nil {
			return a, err
		}
		if a.held {
			break
		}
		limit = a.limit
		if i < tries-1 {
			rate *= down * (1 - s.resolution*float64(i))
		}
	}
	if a.limit.Code == "" || a.held {
		a.limit = limit
	}
	if a.limit.Code == "" {
		a.limit = Limit{LimitClients, fmt.Sprintf("nothing up to the highest rate that the time allowed to try, %.0f/s", rate)}
	}
	return a, nil
}
