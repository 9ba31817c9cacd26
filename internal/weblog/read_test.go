package weblog

import (
	"context"
	"os"
	"strconv"
	"testing"
)

// BenchmarkRead measures one pass over WIRERATE_BENCH_LOG, or over a log of
// 200,000 lines made for it.
func BenchmarkRead(b *testing.B) {
	name := os.Getenv("WIRERATE_BENCH_LOG")
	if name == "" {
		name = b.TempDir() + "/access.log"
		f, err := os.Create(name)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := (Synthetic{Lines: 200_000, Seed: 1}).WriteTo(f); err != nil {
			b.Fatal(err)
		}
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
	}
	st, err := os.Stat(name)
	if err != nil {
		b.Fatal(err)
	}
	for _, full := range []bool{false, true} {
		b.Run("full="+strconv.FormatBool(full), func(b *testing.B) {
			b.SetBytes(st.Size())
			b.ReportAllocs()
			for b.Loop() {
				s, err := Read(context.Background(), []string{name}, nil, Options{Full: full})
				if err != nil || s.Requests == 0 || s.Skipped() != 0 || s.Inputs[0].Err != nil {
					b.Fatal(err, s.Requests, s.Skipped(), s.Inputs)
				}
			}
		})
	}
}
