package weblog

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/wirerate/wirerate/internal/weblog/latency"
	"github.com/wirerate/wirerate/internal/weblog/logline"
	"github.com/wirerate/wirerate/tools/genlog/accesslog"
)

// row is what a reader makes of a row.
type row struct {
	Time     *int64   `parquet:"time_unix_s"`
	Moment   *int64   `parquet:"time,timestamp(millisecond:local)"`
	Duration float64  `parquet:"duration_s"`
	Upstream *float64 `parquet:"upstream_s"`
	Status   int32    `parquet:"status"`
	Bytes    *int64   `parquet:"bytes"`
	Method   string   `parquet:"method"`
	Path     string   `parquet:"path"`
	Protocol string   `parquet:"protocol"`
	Client   string   `parquet:"client"`
	Cache    string   `parquet:"cache"`
}

func writeParquet(t *testing.T, text string) (name string, s *Sketch) {
	t.Helper()
	name = filepath.Join(t.TempDir(), "rows.parquet")
	p, err := CreateParquet(name)
	if err != nil {
		t.Fatal(err)
	}
	s, err = Read(context.Background(), []string{"-"}, strings.NewReader(text), Options{Rows: p})
	if err != nil || s.Inputs[0].Err != nil {
		t.Fatal(err, s.Inputs)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	return name, s
}

func TestParquetHoldsEveryRequest(t *testing.T) {
	name, s := writeParquet(t, synthetic(t, accesslog.Synthetic{Lines: 3000, Seed: 8})+"junk\n")
	rows, err := parquet.ReadFile[row](name)
	if err != nil {
		t.Fatal(err)
	}
	if uint64(len(rows)) != s.Requests || s.Requests != 3000 {
		t.Fatalf("%d rows of %d requests", len(rows), s.Requests)
	}
	var h latency.Hist
	for _, r := range rows {
		h.Add(uint64(r.Duration*1e6 + 0.5))
		if r.Time == nil || r.Bytes == nil || r.Upstream != nil || r.Method != "GET" || !strings.HasPrefix(r.Path, "/") {
			t.Fatalf("row %+v", r)
		}
	}
	all := s.Times()
	if h.Sum != all.Sum || h.N != all.N || h.Under(100_000) != all.Under(100_000) {
		t.Errorf("rows: %d with sum %d us; read: %d with %d", h.N, h.Sum, all.N, all.Sum)
	}
}

// TestParquetMemory: what is held while rows are written does not grow with the columns'
// values, of which no two are the same here.
func TestParquetMemory(t *testing.T) {
	p, err := CreateParquet(filepath.Join(t.TempDir(), "rows.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	held := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := held()
	for i := range 160_000 {
		p.add(&logline.Request{Path: fmt.Appendf(nil, "/a/%d/%x", i, i*i), Client: fmt.Appendf(nil, "192.0.%d.%d", i/250, i%250), Size: int64(i)})
	}
	if grown := held() - before; grown > 24<<20 {
		t.Errorf("%d bytes are held", grown)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// TestParquetDropped: a file that gets no rows is as it was.
func TestParquetDropped(t *testing.T) {
	name := filepath.Join(t.TempDir(), "rows.parquet")
	for _, old := range []string{"", "old"} {
		if old != "" {
			os.WriteFile(name, []byte(old), 0o600)
		}
		p, err := CreateParquet(name)
		if err != nil {
			t.Fatal(err)
		}
		p.Drop()
		if there, err := os.ReadFile(name); string(there) != old || (err != nil) != (old == "") {
			t.Errorf("of %q there is %q left: %v", old, there, err)
		}
	}
	p, err := CreateParquet(name)
	if err != nil {
		t.Fatal(err)
	}
	p.add(&logline.Request{Path: []byte("/")})
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if rows, err := parquet.ReadFile[row](name); err != nil || len(rows) != 1 {
		t.Errorf("%d rows: %v", len(rows), err)
	}
}

// TestDuckDBReadsParquet asks DuckDB what the report says, too.
func TestDuckDBReadsParquet(t *testing.T) {
	python := os.Getenv("WIRERATE_PYTHON")
	if python == "" {
		python = "../../.venv/bin/python3" // of make tools
		if _, err := os.Stat(python); err != nil {
			python = "python3"
		}
	}
	if err := exec.Command(python, "-c", "import duckdb").Run(); err != nil {
		t.Skipf("%s has no duckdb module (make tools installs it; WIRERATE_PYTHON names another python): %v", python, err)
	}
	const bad = "192.0.2.1 - - [01/Mar/2024:00:00:30 +0000] \"GET /\xff\x00\u202e\\x22 HTTP/1.1\" 405 5 \"-\" \"-\" 0.100\n"
	name, s := writeParquet(t, synthetic(t, accesslog.Synthetic{Lines: 5000, Seed: 9})+bad)
	query := fmt.Sprintf(`import duckdb; print(*duckdb.sql("select count(*), sum(bytes)::bigint, count(*) filter (duration_s < 0.1), count(*) filter (status = 404), typeof(min(time)), max(epoch(time)::bigint - time_unix_s), min(time), max(path) filter (status = 405) from '%s'").fetchall()[0])`, name)
	out, err := exec.Command(python, "-c", query).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want := fmt.Sprintln(s.Requests, s.Bytes, s.Times().Under(100_000), s.Status[404], "TIMESTAMP", 0, "2024-03-01 00:00:00", `/\xff\x00\u202e\x22`)
	if string(out) != want {
		t.Errorf("DuckDB says %s, the log holds %s", out, want)
	}
}

func TestCellText(t *testing.T) {
	for in, want := range map[string]string{"/a b": "/a b", `/\x22`: `/\x22`, "/é": "/é", "\xff": `\xff`, "\x1b[2J": `\x1b[2J`, "a\u202eb": `a\u202eb`, "": ""} {
		if got := cellText([]byte(in)); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
