package workload

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestSearchFinds: whatever a path carries, and although one step in five stalls,
// the search ends within its resolution below that and never above.
func TestSearchFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		carries := math.Exp(rapid.Float64Range(math.Log(3000), math.Log(5e6)).Draw(t, "log of the rate"))
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		tried, inARow, unlucky := 0, 0, 0
		s := search{low: 2000, resolution: 0.03, step: time.Second, confirm: 2 * time.Second, until: time.Now().Add(time.Hour),
			try: func(rate float64, d time.Duration) (attempt, error) {
				tried++
				stalled := d == time.Second && random.IntN(5) == 0
				if inARow++; !stalled {
					inARow = 0
				}
				if inARow == mostTries { // a rate was taken for one that does not hold
					unlucky++
				}
				return attempt{offered: rate, achieved: rate, held: rate <= carries && !stalled, limit: Limit{Code: LimitPath}}, nil
			}}
		found, err := s.run()
		if err != nil || found.achieved > carries || found.achieved < 0.9*carries && unlucky == 0 {
			t.Fatalf("%.0f where the path carries %.0f, after %d steps: %v", found.achieved, carries, tried, err)
		}
		if found.limit.Code != LimitPath {
			t.Fatalf("limit %+v", found.limit)
		}
	})
}

// TestSearchNamesTheSender: a sender that cannot reach a rate is the limit, and
// what it reached is the number.
func TestSearchNamesTheSender(t *testing.T) {
	s := search{low: 1000, resolution: 0.03, step: time.Second, confirm: time.Second, until: time.Now().Add(time.Hour),
		try: func(rate float64, _ time.Duration) (attempt, error) {
			a := attempt{offered: rate, achieved: min(rate, 70_000), held: true}
			if !a.reached() {
				a.limit = Limit{Code: LimitSender}
			}
			return a, nil
		}}
	if found, err := s.run(); err != nil || found.limit.Code != LimitSender || found.achieved < 69_000 {
		t.Errorf("%+v, %v", found, err)
	}
}

// TestSearchGoesDownSlowly: a rate that holds for a step and not for longer is
// followed by lower ones, not by the lowest, also when time is up.
func TestSearchGoesDownSlowly(t *testing.T) {
	for until, least := range map[time.Duration]float64{time.Hour: 0.8 * 50_000, -time.Hour: 0.5 * 50_000 / 1.01} {
		s := search{low: 2000, resolution: 0.03, step: time.Second, confirm: 2 * time.Second, until: time.Now().Add(until),
			try: func(rate float64, d time.Duration) (attempt, error) {
				return attempt{offered: rate, achieved: rate, held: d == time.Second || rate <= 50_000, limit: Limit{Code: LimitReceiver}}, nil
			}}
		a, err := s.confirmed(100_000, Limit{})
		if err != nil || !a.held || a.achieved > 50_000 || a.achieved < least || a.limit.Code != LimitReceiver {
			t.Errorf("%+v, %v", a, err)
		}
	}
	s := search{low: 2000, confirm: time.Second, until: time.Now(), try: func(rate float64, _ time.Duration) (attempt, error) {
		return attempt{offered: rate, achieved: rate}, nil
	}}
	if a, err := s.confirmed(1e6, Limit{}); err != nil || a.held || a.offered != 2000 {
		t.Errorf("what never holds: %+v, %v", a, err)
	}
}
