// Package live reads metrics of production over stretches of time, for trials
// without a load of their own.
package live

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/canary"
	"github.com/wirerate/wirerate/internal/workload"
)

// Metric is a metric of production.
type Metric struct {
	Lower  bool // whether a smaller value is better
	source source
}

// source is where a metric comes from. begin is called when its time begins.
type source interface {
	begin(ctx context.Context) error
	end(ctx context.Context) (float64, error)
}

// Forms says what Parse takes.
const Forms = "lower: or higher: (which direction is better) and prometheus:ADDRESS?query=PROMQL, exec:COMMAND, or " +
	"weblog:FILE[?percentile=95]"

// Parse reads what Forms says. Of a log lower is better unless told.
func Parse(text string) (*Metric, error) {
	better, rest, _ := strings.Cut(text, ":")
	if strings.HasPrefix(text, "weblog:") {
		better, rest = "lower", text
	}
	kind, what, found := strings.Cut(rest, ":")
	if better != "lower" && better != "higher" || !found || what == "" {
		return nil, fmt.Errorf("%q: %s is expected", text, Forms)
	}
	m := &Metric{Lower: better == "lower"}
	var err error
	switch kind {
	case "prometheus":
		m.source, err = newPrometheus(what)
	case "exec":
		m.source = &command{line: what}
	case "weblog":
		m.source, err = newLog(what)
	default:
		err = fmt.Errorf("%q: %s is expected", text, Forms)
	}
	return m, err
}

// Name is that of the workload's metric.
func (m *Metric) Name() string {
	if m.Lower {
		return workload.LiveCost
	}
	return workload.LiveGain
}

// Measure lets the wash-out of a spec pass and reads the metric over its time.
// What is lost for a reason outside is made again (workload.ErrDisturbed).
func (m *Metric) Measure(ctx context.Context, spec workload.Spec) (workload.Run, error) {
	if err := wait(ctx, spec.Omit); err != nil {
		return workload.Run{}, err
	}
	start := time.Now()
	err := m.source.begin(ctx)
	if err == nil {
		err = wait(ctx, spec.Duration)
	}
	counted, v := time.Since(start).Seconds(), 0.0
	if err == nil {
		v, err = m.source.end(ctx)
	}
	switch {
	case ctx.Err() != nil:
		return workload.Run{}, ctx.Err()
	case errors.Is(err, canary.ErrSource):
		return workload.Run{}, &workload.DisturbedError{Why: err.Error()}
	case err != nil:
		return workload.Run{}, err
	case !(v > 0):
		return workload.Run{}, fmt.Errorf("%w: the metric was %g; arms are compared by ratios, so it must be above 0",
			workload.ErrTool, v)
	}
	return workload.Run{Tool: workload.Live, Start: start, Retransmits: -1, Counted: counted,
		Metrics: map[string]float64{m.Name(): v}}, nil
}

func wait(ctx context.Context, span time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(span):
		return nil
	}
}
