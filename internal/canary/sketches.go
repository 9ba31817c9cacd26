package canary

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/input"
	"github.com/wirerate/wirerate/internal/weblog"
	"github.com/wirerate/wirerate/internal/weblog/latency"
)

const (
	// sketchTime is the layout of a file's name, the time at which its requests begin.
	sketchTime   = "20060102T150405Z"
	sketchSuffix = ".wrl"
	sketchLimit  = 64 * input.MiB
	mostSketches = 500_000
)

// Sketches is a Source of saved counts of access logs: a folder with a folder of each
// host, in which each file is named by the time at which its requests begin. A query is
// a percentile, such as p95. A host's value over a time is that percentile of all its
// requests: the counts are merged.
type Sketches struct {
	Dir string
	now time.Time // in tests
}

// Now is this machine's time.
func (s *Sketches) Now(context.Context) (time.Time, error) {
	if !s.now.IsZero() {
		return s.now, nil
	}
	return time.Now().UTC(), nil
}

// Range reads the counts of all hosts that begin between two times.
func (s *Sketches) Range(ctx context.Context, query string, from, to time.Time, _ time.Duration) ([]Series, error) {
	digits, found := strings.CutPrefix(query, "p")
	p, err := strconv.ParseFloat(digits, 64)
	if err != nil || !found || !(p > 0 && p < 100) {
		return nil, fmt.Errorf("%w: %q: a percentile of request times is expected, like p95", ErrQuery, query)
	}
	var all []Series
	err = input.Walk(os.DirFS(s.Dir), mostSketches, func(name string, d fs.DirEntry, err error) error {
		switch deep := strings.Count(name, "/"); {
		case err != nil:
			return err
		case d.IsDir() && name != "." && deep == 0:
			all = append(all, Series{Labels: map[string]string{SketchLabel: name}, quantile: p / 100})
		case d.IsDir() && deep > 0:
			return fs.SkipDir
		case deep == 1 && strings.HasSuffix(name, sketchSuffix):
			return all[len(all)-1].read(filepath.Join(s.Dir, name), from, to)
		}
		return ctx.Err()
	})
	if err != nil && !errors.Is(err, ErrQuery) {
		err = fmt.Errorf("%w: %w", ErrSource, err)
	}
	return all, err
}

// read takes a file whose name says that its requests began between two times.
func (s *Series) read(file string, from, to time.Time) error {
	at, err := time.Parse(sketchTime, strings.TrimSuffix(filepath.Base(file), sketchSuffix))
	if err != nil {
		return fmt.Errorf("%w: %s: a name like %s%s is expected, the time at which its requests begin",
			ErrQuery, file, sketchTime, sketchSuffix)
	}
	if at.Before(from) || !at.Before(to) {
		return nil
	}
	if err := s.add(at, file); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// SketchLabel is what names the hosts of Sketches.
const SketchLabel = "host"

// add reads one file. One without requests is no sample.
func (s *Series) add(at time.Time, file string) error {
	data, err := input.File(file, sketchLimit)
	if err != nil {
		return err
	}
	counts, err := weblog.Load(filepath.Base(file), bytes.NewReader(data))
	if err != nil {
		return err
	}
	times := counts.Times()
	if times.N == 0 {
		return nil
	}
	if s.step == 0 || counts.Step < s.step {
		s.step = counts.Step
	}
	p := Point{At: at, times: times}
	if p.Value, err = s.percentile(times); err != nil {
		return err
	}
	s.Points = append(s.Points, p)
	return nil
}

// percentile is that of the series, in s.
func (s *Series) percentile(times *latency.Hist) (float64, error) {
	q, ok := latency.Dist{All: times, Step: s.step}.Quantile(s.quantile, 0.95)
	if !ok {
		return 0, errors.New("no request with a time")
	}
	return q.Value / 1e6, nil
}
