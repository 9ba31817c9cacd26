package canary

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wirerate/wirerate/internal/weblog"
)

// counted writes the counts of an hour of a host, whose requests take so long.
func counted(t *testing.T, dir, host string, at time.Time, seconds func() float64) {
	t.Helper()
	var log strings.Builder
	for range 60 {
		fmt.Fprintf(&log, "{\"time\":\"2026-03-02T10:00:00Z\",\"status\":200,\"request_time\":%.6f,\"request_uri\":\"/\",\"request_method\":\"GET\"}\n", seconds())
	}
	s, err := weblog.Read(t.Context(), []string{"-"}, strings.NewReader(log.String()), weblog.Options{Workers: 1})
	if err != nil || s.Requests != 60 {
		t.Fatal(s, err)
	}
	if err := os.MkdirAll(filepath.Join(dir, host), 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(dir, host, at.Format(sketchTime)+sketchSuffix))
	if err == nil {
		err = errors.Join(s.Save(f), f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestSketches judges a change by saved counts. It makes the slow tail of changed hosts
// slower and leaves their median, which a mean of hourly medians would not show.
func TestSketches(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	dir := t.TempDir()
	src := &Sketches{Dir: dir, now: simulated}
	d := smallDesign("p95")
	d.Metric.HigherIsBetter = false
	d.Before, d.Window, d.Guards = 8*3600, 8*3600, []Metric{{Query: "p50"}}
	hosts := inventory(t, 16)
	slower := map[string]bool{}
	pass := func(from, to time.Time) {
		for at := from; at.Before(to); at = at.Add(time.Hour) {
			for i, h := range hosts {
				counted(t, dir, h.Name, at, func() float64 {
					v := (0.01 + 0.001*float64(i)) * (1 + 0.1*rng.Float64())
					if rng.Float64() < 0.2 {
						v *= 5
						if slower[h.Name] {
							v *= 1.5
						}
					}
					return v
				})
			}
		}
	}
	pass(simulated.Add(-50*time.Hour), simulated)
	s, err := New(t.Context(), src, d, SketchLabel, inventory(t, 16), "50%")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Begin(src.now); err != nil {
		t.Fatal(err)
	}
	var early *Early
	if _, err := s.Judge(t.Context(), src); !errors.As(err, &early) {
		t.Fatal(err)
	}
	for _, name := range s.ChangedBy(0) {
		slower[name] = true
	}
	pass(simulated, early.Until.Add(time.Hour))
	src.now = early.Until.Add(time.Hour)
	look, err := s.Judge(t.Context(), src)
	if err != nil || look.Action != Stop || look.Metric.Effect.Ratio < 1.3 || look.Guards[0].Effect.Ratio > 1.05 {
		t.Errorf("%+v, %v", look, err)
	}
	for query, want := range map[string]string{"latency": "a percentile of request times is expected, like p95", "p100": "like p95"} {
		d.Metric.Query = query
		if _, err := New(t.Context(), src, d, SketchLabel, inventory(t, 16), "50%"); !errors.Is(err, ErrQuery) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", query, err)
		}
	}
	for name, text := range map[string]string{simulated.Add(-time.Hour).Format(sketchTime) + sketchSuffix: "damaged", "today.wrl": ""} {
		file := filepath.Join(dir, "h0", name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := src.Range(t.Context(), "p95", simulated.Add(-9*time.Hour), simulated, time.Hour)
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		if err := os.Remove(file); err != nil { // so that the next is the only one
			t.Fatal(err)
		}
	}
}
