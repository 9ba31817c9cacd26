package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/canary"
	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/terminal"
	"github.com/wirerate/wirerate/internal/weblog"
	"github.com/wirerate/wirerate/internal/weblog/latency"
	"github.com/wirerate/wirerate/internal/workload"
)

// samples is how many a query is asked for over one run, a second apart at least.
const samples = 60

// prometheus is the mean of a query, by the server's clock.
type prometheus struct {
	src   *canary.Prometheus
	query string
	from  time.Time
}

func newPrometheus(text string) (*prometheus, error) {
	address, query, found := strings.Cut(text, "?query=")
	if !found || query == "" {
		return nil, fmt.Errorf("prometheus:%s: prometheus:ADDRESS?query=PROMQL is expected, like "+
			"prometheus:http://prometheus:9090?query=avg(up)", text)
	}
	src, err := canary.NewPrometheus(address)
	return &prometheus{src: src, query: query}, err
}

func (p *prometheus) begin(ctx context.Context) (err error) {
	p.from, err = p.src.Now(ctx)
	return err
}

func (p *prometheus) end(ctx context.Context) (float64, error) {
	to, err := p.src.Now(ctx)
	if err != nil {
		return 0, err
	}
	step := max(time.Second, (to.Sub(p.from) / samples).Truncate(time.Second))
	return canary.Mean(ctx, p.src, p.query, p.from, to, step)
}

const (
	// commandTime is how long a command may take, beside the run.
	commandTime = time.Minute
	// mostSaid is how much of what it says is shown.
	mostSaid = 200
)

// command is the number that a command of this machine's shell prints when a run
// ends. It is told the time that counts.
type command struct {
	line string
	from time.Time
}

func (c *command) begin(context.Context) error {
	c.from = time.Now()
	return nil
}

func (c *command) end(ctx context.Context) (float64, error) {
	told := fmt.Sprintf("WIRERATE_FROM=%d WIRERATE_TO=%d; export WIRERATE_FROM WIRERATE_TO\n",
		c.from.Unix(), time.Now().Unix())
	answers, err := host.NewLocal().Do(ctx, host.Script(told+c.line).Within(commandTime))
	if err != nil {
		return 0, fmt.Errorf("%w: exec: %w", workload.ErrTool, err)
	}
	a := answers[0]
	if a.Failure != host.None {
		return 0, fmt.Errorf("%w: exec: %w: %s", workload.ErrTool, a.Err(), shown(a.Stderr))
	}
	v, err := strconv.ParseFloat(a.Text(), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%w: exec: a number is expected, and it printed %q", workload.ErrTool, shown(string(a.Out)))
	}
	return v, nil
}

func shown(text string) string {
	return terminal.Clip(terminal.Escape(strings.TrimSpace(text)), mostSaid)
}

// accessLog is a percentile of the request times that were added to a log.
type accessLog struct {
	file     string
	quantile float64
	open     *os.File
	from     int64
}

func newLog(text string) (*accessLog, error) {
	file, more, _ := strings.Cut(text, "?")
	l := &accessLog{file: file, quantile: 0.95}
	options, err := url.ParseQuery(more)
	if err != nil {
		return nil, fmt.Errorf("weblog:%s: %w", text, err)
	}
	for name, values := range options {
		p, err := strconv.ParseFloat(values[0], 64)
		if name != "percentile" || err != nil || !(p > 0 && p < 100) {
			return nil, fmt.Errorf("weblog:%s: %s=%s: percentile= above 0 and below 100 is expected", text, name, values[0])
		}
		l.quantile = p / 100
	}
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("weblog:%s: no log is there that grows", file)
	}
	return l, nil
}

func (l *accessLog) begin(context.Context) (err error) {
	if l.open != nil {
		l.open.Close()
	}
	if l.open, err = os.Open(l.file); err != nil {
		return fmt.Errorf("%w: %w", canary.ErrSource, err)
	}
	l.from, err = l.open.Seek(0, io.SeekEnd)
	return err
}

func (l *accessLog) end(ctx context.Context) (float64, error) {
	defer l.open.Close()
	was, err := l.open.Stat()
	if err != nil {
		return 0, err
	}
	is, err := os.Stat(l.file)
	if err != nil || !os.SameFile(was, is) || is.Size() < l.from {
		return 0, fmt.Errorf("%w: %s was rotated during the run", canary.ErrSource, l.file)
	}
	s, err := weblog.Read(ctx, []string{"-"}, io.NewSectionReader(l.open, l.from, is.Size()-l.from), weblog.Options{})
	if err != nil {
		return 0, err
	}
	dist := latency.Dist{All: s.Times(), Step: s.Step}
	q, ok := dist.Quantile(l.quantile, 0.95)
	if !ok {
		why := errors.New("no request with a time was added during the run")
		if len(s.Inputs) > 0 && s.Inputs[0].Err != nil {
			why = s.Inputs[0].Err
		}
		return 0, fmt.Errorf("%w: %s: %w", workload.ErrTool, l.file, why)
	}
	return q.Value / 1e6, nil
}
