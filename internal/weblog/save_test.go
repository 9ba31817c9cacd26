package weblog

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
)

// reportOf is everything that is shown of a sketch, but not its inputs.
func reportOf(t testing.TB, s *Sketch) string {
	t.Helper()
	r := Summarize(s, View{By: Groupings(), Top: 1000})
	r.Inputs, r.Examples = nil, nil
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestSaveAndLoad(t *testing.T) {
	s := readText(t, synthetic(t, Synthetic{Lines: 5000, Seed: 3})+"half a line\n", Options{Full: true})
	var b bytes.Buffer
	if err := s.Save(&b); err != nil {
		t.Fatal(err)
	}
	if !IsSaved(b.Bytes()) {
		t.Error("IsSaved does not know its own")
	}
	back, err := Load(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(reportOf(t, s), reportOf(t, back)); diff != "" {
		t.Errorf("loaded differs from saved:\n%s", diff)
	}
	for cut := range b.Len() {
		if _, err := Load(bytes.NewReader(b.Bytes()[:cut])); err == nil {
			t.Fatalf("the first %d of %d bytes load", cut, b.Len())
		}
		if cut > 2000 {
			break
		}
	}
}

// TestMergeEqualsWhole: sketches of the pieces of a log, read in any split and
// order, merge into that of the whole log, except for its clusters.
func TestMergeEqualsWhole(t *testing.T) {
	text := synthetic(t, Synthetic{Lines: 6000, Seed: 4})
	lines := strings.SplitAfter(text, "\n")
	whole := readText(t, text, Options{Full: true})
	merged := readText(t, strings.Join(lines[4000:], ""), Options{Full: true})
	merged.Merge(readText(t, strings.Join(lines[:1000], ""), Options{Full: true}))
	merged.Merge(readText(t, strings.Join(lines[1000:4000], ""), Options{Full: true}))
	whole.clusters, merged.clusters = []*Hist{whole.Times()}, []*Hist{merged.Times()}
	// Which line follows which depends on the split.
	whole.detail.backward, merged.detail.backward = 0, 0
	if diff := cmp.Diff(reportOf(t, whole), reportOf(t, merged)); diff != "" {
		t.Errorf("whole -, merged +:\n%s", diff)
	}
}

// TestWaysToRead: a file read by several workers, a pipe and compressed copies
// give the same.
func TestWaysToRead(t *testing.T) {
	text := synthetic(t, Synthetic{Lines: 9000, Seed: 5}) + strings.Repeat("y", 3*maxLine) + "\nhalf a line\n\n" + synthetic(t, Synthetic{Lines: 10, Seed: 6})
	name := t.TempDir() + "/a.log"
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	want := ""
	for _, workers := range []int{1, 2, 7} {
		s, err := Read(context.Background(), []string{name}, nil, Options{Full: true, Workers: workers})
		if err != nil || s.Inputs[0].Err != nil {
			t.Fatal(err, s.Inputs)
		}
		stream := readText(t, text, Options{Full: true, Workers: workers})
		if s.Requests != 9010 || s.Skipped() != 2 || s.Inputs[0].Lines != 9013 || len(s.examples) != 2 || s.examples[1].Line != 9002 {
			t.Fatalf("%d workers: %d requests, %d skipped, %d lines, examples %+v", workers, s.Requests, s.Skipped(), s.Inputs[0].Lines, s.examples)
		}
		if stream.Inputs[0].Lines != 9013 || len(stream.examples) != 2 || stream.examples[1].Line != 9002 {
			t.Fatalf("stream: %d lines, examples %+v", stream.Inputs[0].Lines, stream.examples)
		}
		for _, got := range []*Sketch{s, stream} {
			got.detail.backward = 0 // depends on where blocks begin
			if want == "" {
				want = reportOf(t, got)
			}
			if diff := cmp.Diff(want, reportOf(t, got)); diff != "" {
				t.Fatalf("%d workers:\n%s", workers, diff)
			}
		}
	}
}

// FuzzLoad packs what it is given, so that it reaches the checks behind the
// decompressor.
func FuzzLoad(f *testing.F) {
	s := readText(f, synthetic(f, Synthetic{Lines: 20, Seed: 3}), Options{Full: true})
	text, err := json.Marshal(s.saved())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"requests":1,"status":{"200":1},"clusters":[{"sum":5,"min":5,"max":5,"bins":[5,1]}],"detail":{}}`))
	z, err := zstd.NewWriter(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Load(bytes.NewReader(append([]byte(savedMagic), z.EncodeAll(data, nil)...)))
		if err == nil {
			reportOf(t, s)
		}
	})
}
