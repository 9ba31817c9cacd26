package report

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/diagnose"
)

// The picture of an inspection is whole XML with each known ceiling of the
// goodput, the one that binds, and what was measured, whatever the names hold.
func TestInspectSVG(t *testing.T) {
	ceiling := func(resource string, value float64) diagnose.Ceiling {
		return diagnose.Ceiling{Resource: resource, Metric: diagnose.Goodput, Value: value, Known: value > 0}
	}
	in := Inspection{Path: `<&"`, Ceilings: []diagnose.Ceiling{ceiling("link", 9e8), ceiling("send-window", 2e8), ceiling("bus", 0)}}
	for _, c := range []struct {
		in       Inspection
		measured *diagnose.Traffic
		want     []string
	}{
		{in, nil, []string{"link", "binds"}},
		{in, &diagnose.Traffic{Interface: "eth0<", Sent: 1e8, Received: 5e7}, []string{"measured: sent, eth0", "measured: received, eth0"}},
		{Inspection{}, nil, []string{"no ceiling is known"}},
	} {
		var b strings.Builder
		if err := InspectSVG(&b, c.in, c.measured); err != nil {
			t.Fatal(err)
		}
		dec := xml.NewDecoder(strings.NewReader(b.String()))
		var text strings.Builder
		for {
			token, err := dec.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%v in %s", err, b.String())
			}
			if chars, ok := token.(xml.CharData); ok {
				text.Write(chars)
			}
		}
		for _, want := range c.want {
			if !strings.Contains(text.String(), want) {
				t.Errorf("no %q in %s", want, text.String())
			}
		}
	}
}
