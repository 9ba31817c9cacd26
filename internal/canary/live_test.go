package canary

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// clocked is a Source at a time that the test sets.
type clocked struct {
	Source
	now time.Time
}

func (c *clocked) Now(context.Context) (time.Time, error) { return c.now, nil }

// TestRealPrometheus runs canaries on a Prometheus whose data hold a change that
// helps, one that harms and one that does nothing, and asks it what it refuses.
func TestRealPrometheus(t *testing.T) {
	for _, name := range []string{"prometheus", "promtool"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed", name)
		}
	}
	made := time.Now().Add(-8 * time.Hour).Truncate(5 * time.Minute)
	d := smallDesign("")
	d.Before, d.Window, d.Resolution, d.Seed = 6*3600, 2*3600, 300, 11
	second := made.Add(d.window() + 2*d.resolution()) // the second step begins

	hosts := inventory(t, 40)
	for i := range hosts {
		hosts[i].Before = []*float64{new(1.0)}
	}
	sizes, err := ParseSteps("1,50%", len(hosts))
	if err != nil {
		t.Fatal(err)
	}
	assign(hosts, sizes, d.Seed) // as New will do it
	src := backfilled(t, func(h int, at time.Time) bool {
		return hosts[h].Step == 0 && !at.Before(made) || hosts[h].Step == 1 && !at.Before(second)
	}, hosts, made.Add(-16*time.Hour), made.Add(6*time.Hour))

	for metric, want := range map[string]Action{"better": Promote, "worse": Stop, "same": Undecided} {
		clock := &clocked{src, made}
		d.Metric.Query = "sum by (instance) (rate(" + metric + "_total[10m]))"
		s, err := New(t.Context(), clock, d, "instance", inventory(t, 40), "1,50%")
		if err != nil {
			t.Fatal(err)
		}
		var look *Look
		for s.Ended() == nil && s.Current() < len(s.Steps) {
			if _, err := s.Begin(clock.now); err != nil {
				t.Fatal(err)
			}
			var early *Early
			if _, err := s.Judge(t.Context(), clock); !errors.As(err, &early) {
				t.Fatal(err)
			}
			clock.now = clock.now.Add(d.window() + 2*d.resolution())
			if look, err = s.Judge(t.Context(), clock); err != nil {
				t.Fatal(err)
			}
		}
		if look.Action != want {
			t.Errorf("%s: %s, because %q; want %s", metric, look.Action, look.Because, want)
		}
	}
	for query, want := range map[string]string{
		"same_total":                        "which differ in device; aggregate them",
		"sum by (instance) (same_total)":    "only rises",
		"sum(rate(same_total[10m]))":        `no label "instance"`,
		"rate(same_total[10m]":              "Prometheus says",
		"nothing_total":                     "gives nothing",
		"sum by (instance) (same_total)*0":  "is 0 or below on average",
		"ln(-sum by(instance)(same_total))": "for only 0 of 40 hosts",
	} {
		d.Metric.Query = query
		_, err := New(t.Context(), &clocked{src, made}, d, "instance", inventory(t, 40), "1,50%")
		if !errors.Is(err, ErrQuery) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", query, err, want)
		}
	}
}

// backfilled is a Prometheus with counters of the hosts: on changed ones better_total
// grows by 5% more, worse_total by 5% less.
func backfilled(t *testing.T, changed func(int, time.Time) bool, hosts []Host, from, to time.Time) *Prometheus {
	t.Helper()
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(5, 5))
	var text strings.Builder
	for metric, factor := range map[string]float64{"better": 1.05, "worse": 0.95, "same": 1} {
		fmt.Fprintf(&text, "# TYPE %s counter\n", metric)
		for i, h := range hosts {
			for _, device := range []string{"eth0", "eth1"} {
				total := 0.0
				for at := from; at.Before(to); at = at.Add(5 * time.Minute) {
					grows := float64(1000+20*i) * (1 + 0.05*rng.NormFloat64())
					if changed(i, at) {
						grows *= factor
					}
					total += grows
					fmt.Fprintf(&text, "%s_total{instance=\"%s:9100\",device=\"%s\"} %f %d\n", metric, h.Name, device, total, at.Unix())
				}
			}
		}
	}
	text.WriteString("# EOF\n")
	metrics, config := filepath.Join(dir, "metrics"), filepath.Join(dir, "prometheus.yml")
	for name, text := range map[string]string{metrics: text.String(), config: "{}\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	data := filepath.Join(dir, "data")
	if out, err := exec.Command("promtool", "tsdb", "create-blocks-from", "openmetrics", metrics, data).CombinedOutput(); err != nil {
		t.Fatalf("promtool: %v: %s", err, out)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	cmd := exec.Command("prometheus", "--config.file="+config, "--storage.tsdb.path="+data, "--web.listen-address="+address, "--log.level=error")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	for range 1200 {
		if res, err := http.Get("http://" + address + "/-/ready"); err == nil {
			res.Body.Close()
			if res.StatusCode == http.StatusOK {
				break
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	src, err := NewPrometheus("http://" + address)
	if err != nil {
		t.Fatal(err)
	}
	if now, err := src.Now(t.Context()); err != nil || now.Before(to.Add(-24*time.Hour)) {
		t.Fatal(now, err)
	}
	return src
}

// TestAssignIsByChance wants each host to be the first one in about as many seeds.
func TestAssignIsByChance(t *testing.T) {
	const seeds = 2000
	counts := make([]int, 20)
	for seed := range uint64(seeds) {
		hosts := inventory(t, 20)
		for i := range hosts {
			hosts[i].Before = []*float64{new(1.0)}
		}
		assign(hosts, []int{1, 10}, seed)
		counts[slices.IndexFunc(hosts, func(h Host) bool { return h.Step == 0 })]++
	}
	for i, n := range counts {
		if n < 60 || n > 145 { // 100 expected, with a deviation of 9.7
			t.Errorf("host %d is first in %d of %d", i, n, seeds)
		}
	}
}
