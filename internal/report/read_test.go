package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/experiment"
)

// A result that was written and read again gives the same report.
func TestReadResult(t *testing.T) {
	for name, r := range samples() {
		if r.Schema == 0 {
			continue
		}
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		again, err := experiment.ReadResult(data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var want, got bytes.Buffer
		for _, w := range []struct {
			to *bytes.Buffer
			r  Result
		}{{&want, r}, {&got, again}} {
			if err := HTML(w.to, w.r); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(want.Bytes(), got.Bytes()) {
			t.Errorf("%s: the page differs after reading", name)
		}
	}
}

func TestReadResultOfOther(t *testing.T) {
	for in, want := range map[string]string{
		"":             "not the JSON of a result",
		`{"schema":1}`: "schema 1",
		`{}`:           "schema 0",
		`[1]`:          "not the JSON of a result",
		`{"schema":2,"ceilings":[{"value":"x"}]}`: "ceiling",
	} {
		if _, err := experiment.ReadResult([]byte(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error with %q", in, err, want)
		}
	}
}
