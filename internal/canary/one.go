package canary

import (
	"context"
	"fmt"
	"time"
)

// Mean is the mean of a query that gives one series, between two times of the
// source's clock.
func Mean(ctx context.Context, src Source, query string, from, to time.Time, step time.Duration) (float64, error) {
	all, err := src.Range(ctx, query, from, to, step)
	if err != nil {
		return 0, err
	}
	if len(all) != 1 {
		return 0, fmt.Errorf("%w: %s gives %d series; one is expected, such as avg(...)", ErrQuery, query, len(all))
	}
	o := observed{points: [][]Point{numbers(all[0].Points, from, to)}, expected: int(to.Sub(from) / step)}
	if err := o.isCounter(query); err != nil {
		return 0, err
	}
	mean, ok := o.mean(0, o.expected, nil)
	if !ok {
		return 0, fmt.Errorf("%w: %s has %d of %d samples", ErrSource, query, len(o.points[0]), o.expected)
	}
	return mean, nil
}
