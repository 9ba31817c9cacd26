package diagnose

import (
	"strings"
	"testing"
	"time"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/netpath"
	"github.com/wirerate/wirerate/internal/units"
)

// A path that the text tells serves where none was declared, and is marked as such.
func TestToldPathServes(t *testing.T) {
	f, err := facts.FromTexts("post", map[string]string{"uname -a": unameLinux, "sysctl -a": "net.ipv4.tcp_wmem = 4096 16384 65536\n"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.Told = facts.Told{Rate: units.Gbit, RateSource: facts.Source{Line: 3}, RTT: 80 * time.Millisecond,
		RTTSource: facts.Source{Line: 4}}
	d := Question{Facts: f}.Answer()
	const from = "given in the text (rate: line 3, RTT: line 4)"
	if d.Path == nil || d.Path.Rate != 1e9 || d.Path.From != from || len(d.Findings) == 0 ||
		!strings.Contains(d.Findings[0].Summary, from) {
		t.Errorf("%+v: %+v", d.Path, d.Findings)
	}
	declared := netpath.Path{Rate: 100 * units.Mbit, RTT: time.Millisecond, MTU: 1500}
	if d = (Question{Facts: f, Path: declared}).Answer(); d.Path.Rate != 1e8 || d.Path.From != "" {
		t.Errorf("declared: %+v", d.Path)
	}
	f.Told.RTT = 0 // and nothing measured it
	if d = (Question{Facts: f}).Answer(); d.Path != nil {
		t.Errorf("without a round trip: %+v", d.Path)
	}
}
