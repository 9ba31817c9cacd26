package weblog

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// benchLog is WIRERATE_BENCH_LOG, or a log of 4 million lines (755 MB) made for
// the benchmark.
func benchLog(b *testing.B) (name string, size int64) {
	b.Helper()
	if name = os.Getenv("WIRERATE_BENCH_LOG"); name == "" {
		name = b.TempDir() + "/access.log"
		f, err := os.Create(name)
		if err != nil {
			b.Fatal(err)
		}
		if size, err = (Synthetic{Lines: 4_000_000, Seed: 1}).WriteTo(f); err != nil {
			b.Fatal(err)
		}
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
		return name, size
	}
	st, err := os.Stat(name)
	if err != nil {
		b.Fatal(err)
	}
	return name, st.Size()
}

// BenchmarkLog measures one histogram of a log's request times, the full
// analysis, and what other tools need for the histogram, in one run.
func BenchmarkLog(b *testing.B) {
	name, size := benchLog(b)
	for _, full := range []bool{false, true} {
		b.Run("wirerate/full="+strconv.FormatBool(full), func(b *testing.B) {
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				s, err := Read(context.Background(), []string{name}, nil, Options{Full: full})
				if err != nil || s.Requests == 0 || s.Skipped() != 0 || s.Inputs[0].Err != nil {
					b.Fatal(err, s.Requests, s.Skipped(), s.Inputs)
				}
			}
		})
	}
	for _, other := range [][]string{
		{"wc", "-l", name},
		{"mawk", "{n[int($NF*10)]++} END{for(i in n) print i, n[i]}", name},
		{"perl", "-ne", "$n{int($1*10)}++ if / ([0-9.]+)$/; END{print \"$_ $n{$_}\\n\" for keys %n}", name},
		{"goaccess", name, "--log-format=%h %^[%d:%t %^] \"%r\" %s %b \"%R\" \"%u\" %T", "--date-format=%d/%b/%Y", "--time-format=%T", "-o", "json"},
	} {
		b.Run(other[0], func(b *testing.B) {
			if _, err := exec.LookPath(other[0]); err != nil {
				b.Skip(err)
			}
			if other[0] == "goaccess" && os.Getenv("WIRERATE_BENCH_GOACCESS") == "" {
				b.Skip("takes minutes; set WIRERATE_BENCH_GOACCESS to run it")
			}
			b.SetBytes(size)
			for b.Loop() {
				if err := exec.Command(other[0], other[1:]...).Run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestCountsEqualAwk compares every 100 ms bin with awk's count.
func TestCountsEqualAwk(t *testing.T) {
	awk, err := exec.LookPath("awk")
	if err != nil {
		t.Skip(err)
	}
	text := synthetic(t, Synthetic{Lines: 20_000, Seed: 12})
	cmd := exec.Command(awk, `{n[int($NF*10+1e-9)]++} END{for(i=0;i<60;i++) print n[i]+0}`)
	cmd.Stdin = strings.NewReader(text)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, bin := range Summarize(readText(t, text, Options{}), View{}).Bins[:60] {
		fmt.Fprintln(&got, bin.Count)
	}
	if got.String() != string(out) {
		t.Errorf("bins:\n%s\nawk:\n%s", got.String(), out)
	}
}
