package packets

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/flow"
)

// The first packets of labelled captures of the lab, from both ends
// (tools/captures): the limit that was planted holds for most of the time.
func TestCorpus(t *testing.T) {
	planted := map[string]flow.Limit{"nagle": flow.Nagle, "blackhole": flow.BlackHole, "program": flow.Program,
		"start": flow.SlowStart, "loss": flow.Congestion, "policer": flow.Policer, "reader": flow.SlowReader,
		"path": flow.Path, "window": flow.PeerWindow, "sndbuf": flow.SendBuffer}
	names, err := filepath.Glob("testdata/*_r*.pcapng.gz")
	if err != nil || len(names) == 0 {
		t.Fatal("no capture", err)
	}
	for _, name := range names {
		label, _, _ := strings.Cut(filepath.Base(name), "_")
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		trace, err := Read(f)
		f.Close()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		l := Analyze(name, trace).Flows[0]
		held := 0.0
		for _, h := range l.Limits {
			if h.Limit == planted[label] {
				held = h.Share
			}
		}
		if l.Limit != planted[label] || held < 0.5 {
			t.Errorf("%s: %s is planted and holds for %.0f%%: %v", name, planted[label], held*100, l.Limits)
		}
		if end := strings.Contains(name, ".cli."); end != (l.Vantage == "sender") {
			t.Errorf("%s: captured at the %s", name, l.Vantage)
		}
	}
}
