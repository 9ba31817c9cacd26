package canary

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// server answers as Prometheus does, with what the name of a query asks for.
type server struct {
	hosts int
	now   time.Time
	down  bool
}

func (p *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if p.down {
		http.Error(w, "no", http.StatusServiceUnavailable)
		return
	}
	answer := func(kind string, result any) {
		_ = json.NewEncoder(w).Encode(map[string]any{"status": "success", "data": map[string]any{"resultType": kind, "result": result}})
	}
	seconds := func(name string) float64 {
		v, _ := strconv.ParseFloat(r.FormValue(name), 64)
		return v
	}
	query := r.FormValue("query")
	if query == "time()" {
		answer("scalar", []any{float64(p.now.Unix()), strconv.FormatInt(p.now.Unix(), 10)})
		return
	}
	if query == "nonsense(" {
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]any{"status": "error", "errorType": "bad_data", "error": "parse error"})
		return
	}
	var result []any
	for i := range p.hosts {
		labels := map[string]string{"instance": fmt.Sprintf("h%d:9100", i)}
		var values []any
		for at := seconds("start"); at <= seconds("end"); at += seconds("step") {
			value := 100 + 10*math.Sin(at/7200+float64(i*i)) + float64(i)
			text := strconv.FormatFloat(value, 'g', -1, 64)
			switch query {
			case "nan":
				text = "NaN"
			case "counter":
				text = strconv.FormatFloat(at*float64(i+1), 'f', 0, 64)
			}
			values = append(values, []any{at, text})
		}
		switch query {
		case "nothing":
			continue
		case "unlabelled":
			labels = map[string]string{"job": "node"}
		case "strange":
			labels["instance"] = fmt.Sprintf("other%d:9100", i)
		case "several":
			labels["device"] = "eth0"
			result = append(result, map[string]any{"metric": map[string]string{"instance": labels["instance"], "device": "eth1"}, "values": values})
		}
		result = append(result, map[string]any{"metric": labels, "values": values})
	}
	answer("matrix", append([]any{}, result...))
}

func served(t *testing.T, p *server) *Prometheus {
	t.Helper()
	web := httptest.NewServer(p)
	t.Cleanup(web.Close)
	src, err := NewPrometheus(web.URL)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func inventory(t *testing.T, hosts int) []Host {
	t.Helper()
	var lines strings.Builder
	for i := range hosts {
		fmt.Fprintf(&lines, "h%d rack=r%d\n", i, i%2)
	}
	all, err := Inventory([]byte(lines.String()), []string{"rack"})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func smallDesign(query string) Design {
	d := simulatedDesign()
	d.Metric.Query, d.Blocks, d.Resolution = query, []string{"rack"}, 3600
	return d
}

// TestQueriesInWords designs with queries that give no value per host.
func TestQueriesInWords(t *testing.T) {
	src := served(t, &server{hosts: 12, now: simulated})
	for query, want := range map[string]string{
		"nothing":    "gives nothing between",
		"nan":        "for only 0 of 12 hosts",
		"several":    "gives several series for host h0, which differ in device; aggregate them",
		"counter":    "only rises, as a counter does; compare its rate",
		"unlabelled": `its series have no label "instance"`,
		"strange":    `none of its 12 series has a host of the inventory in its label "instance"`,
		"nonsense(":  "Prometheus says parse error",
	} {
		_, err := New(t.Context(), src, smallDesign(query), "instance", inventory(t, 12), "1,50%,100%")
		if err == nil || !strings.Contains(err.Error(), want) || !errors.Is(err, ErrQuery) {
			t.Errorf("%s: %v; want %q", query, err, want)
		}
	}
	if _, err := NewPrometheus("prometheus:9090"); err == nil {
		t.Error("an address without a scheme is taken")
	}
}

// What is no answer of Prometheus is an error of the source, never a value.
func TestAnswersThatAreNone(t *testing.T) {
	series := func(values string) string {
		return `{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"instance":"a"},"values":[` + values + `]}]}}`
	}
	for _, c := range []struct {
		status     int
		text, want string
		is         error
	}{
		{200, series(`[1709251200.5,"1.5"],[1709251201,"NaN"]`), "", nil},
		{200, `{"status":"success","data":{"resultType":"scalar","result":[1,"1"]}}`, "it gives a scalar, where a value per host is expected", ErrQuery},
		{400, `{"status":"error","errorType":"bad_data","error":"parse error"}`, "Prometheus says parse error", ErrQuery},
		{422, `{"status":"error","errorType":"execution","error":"too many samples"}`, "Prometheus says too many samples", ErrQuery},
		{400, series(`[1,"1"]`), "400 Bad Request", ErrSource},
		{503, `{"status":"error","errorType":"timeout","error":"slow"}`, "503 Service Unavailable", ErrSource},
		{200, `{"status":"error","errorType":"timeout","error":"slow"}`, "slow", ErrSource},
		{200, `{}`, "no status", ErrSource},
		{200, `<html>`, "invalid character", ErrSource},
		{204, ``, "204", ErrSource},
		{200, series(`[1]`), "is no sample", ErrSource},
		{200, series(`[1,"1",2]`), "is no sample", ErrSource},
		{200, series(`[1e300,"1"]`), "is no sample", ErrSource},
		{200, series(`[1,1]`), "cannot unmarshal", ErrSource},
		{200, series(`[1,"x"]`), "invalid syntax", ErrSource},
		{200, series(`null`), "is no sample", ErrSource},
	} {
		for _, method := range []string{http.MethodPost, http.MethodGet} {
			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != method {
					w.WriteHeader(http.StatusMethodNotAllowed)
					return
				}
				if r.URL.Path != "/x/api/v1/query_range" || r.FormValue("query") != "up" || r.FormValue("start") != "1709251200.5" ||
					r.FormValue("end") != "1709251201.499" || r.FormValue("step") != "0.25" {
					t.Errorf("%s of %s?%s", r.Method, r.URL, r.Form.Encode())
				}
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.text))
			}))
			src, err := NewPrometheus(web.URL + "/x/")
			if err != nil {
				t.Fatal(err)
			}
			from := time.UnixMilli(1709251200500)
			got, err := src.Range(t.Context(), "up", from, from.Add(time.Second), 250*time.Millisecond)
			web.Close()
			switch {
			case c.is != nil && (!errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%d %s by %s: %v, %v; want %q", c.status, c.text, method, got, err, c.want)
			case c.is == nil && (err != nil || len(got) != 1 || len(got[0].Points) != 2 || got[0].Labels["instance"] != "a" ||
				!got[0].Points[0].At.Equal(from) || got[0].Points[0].Value != 1.5 || !math.IsNaN(got[0].Points[1].Value)):
				t.Errorf("%s: %+v, %v", method, got, err)
			}
		}
	}
}

// TestStateGoesOn judges a canary over HTTP with everything in its way: a window that
// lasts, a server that is down, a process that ends between two calls, and hosts that
// show nothing any more.
func TestStateGoesOn(t *testing.T) {
	p := &server{hosts: 12, now: simulated}
	src := served(t, p)
	s, err := New(t.Context(), src, smallDesign("fine"), "instance", inventory(t, 12), "1,25%,50%,100%")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "canary.json")
	again := func() {
		t.Helper()
		if err := s.Save(file); err != nil {
			t.Fatal(err)
		}
		if s, err = Load(file); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Judge(t.Context(), src); !errors.Is(err, ErrOrder) {
		t.Errorf("a step that has not begun: %v", err)
	}
	for range 2 { // the second answers the same
		if step, err := s.Begin(p.now); step != 0 || err != nil || len(s.ChangedBy(step)) != 1 {
			t.Fatalf("step %d, %v, %v", step, s.ChangedBy(step), err)
		}
		again()
	}
	var early *Early
	if _, err := s.Judge(t.Context(), src); !errors.As(err, &early) {
		t.Fatalf("a window that has just begun: %v", err)
	}
	again()
	p.now = early.Until.Add(time.Minute)
	p.down = true
	if _, err := s.Judge(t.Context(), src); !errors.Is(err, ErrSource) || s.Steps[0].Look != nil {
		t.Errorf("a server that is down: %v", err)
	}
	p.down = false
	look, err := s.Judge(t.Context(), src)
	if err != nil || look.Action != Proceed {
		t.Fatalf("%+v, %v", look, err)
	}
	again()
	if step, err := s.Begin(p.now); step != 1 || err != nil {
		t.Fatal(step, err)
	}
	if _, err := s.Judge(t.Context(), src); !errors.As(err, &early) {
		t.Fatal(err)
	}
	p.now = early.Until
	p.hosts = 0
	if _, err := s.Judge(t.Context(), src); !errors.Is(err, ErrQuery) {
		t.Errorf("nothing returned: %v", err)
	}
	p.hosts = 3 // of the unchanged ones too few are left to judge by
	if _, err := s.Judge(t.Context(), src); !errors.Is(err, ErrSource) || !strings.Contains(err.Error(), "--again") {
		t.Errorf("most hosts are missing: %v", err)
	}
	if err := s.Again(); err != nil || s.Steps[1].Since != nil {
		t.Error(err)
	}
}

// TestLostHostsStop makes the changed hosts silent.
func TestLostHostsStop(t *testing.T) {
	f, all := newFleet(plain(120), 4)
	d := simulatedDesign()
	f.pass(d.before() + (splits+5)*d.window())
	s, err := New(t.Context(), f, d, "instance", all, "1,25%,50%")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Begin(f.now); err != nil {
		t.Fatal(err)
	}
	_, _ = s.Judge(t.Context(), f) // begins the window
	for i, h := range s.Hosts {
		if h.Step == 0 {
			f.effects[i] = func(time.Time) float64 { return math.NaN() }
		}
	}
	f.pass(d.window() + f.step)
	look, err := s.Judge(t.Context(), f)
	if err != nil || look.Action != Stop || len(look.Missing) != 1 {
		t.Errorf("%+v, %v", look, err)
	}
	if _, err := s.Begin(f.now); !errors.Is(err, ErrOrder) {
		t.Errorf("a step after the stop: %v", err)
	}
	if second, err := s.Judge(t.Context(), f); second != look || err != nil {
		t.Errorf("the second look: %+v, %v", second, err)
	}
}
