package netpath

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/units"
)

func TestParse(t *testing.T) {
	p, err := Parse("rate=100mbit,rtt=20ms,loss=0.1%")
	if err != nil || p.Loss != 0.001 || p.MTU != 1500 || p.BDP() != 250000 {
		t.Fatal(p, err)
	}
	if got := p.LinkGoodput(); math.Abs(got-94.1482e6) > 1e3 {
		t.Errorf("link goodput %g", got)
	}
	back, err := Parse(p.String())
	if err != nil || back.Rate != p.Rate || back.RTT != p.RTT || back.Loss != p.Loss {
		t.Errorf("%s -> %v, %v", p, back, err)
	}
	for _, bad := range []string{"", "rate=1gbit", "rtt=5ms", "rate=0,rtt=1ms", "rate=1gbit,rtt=10s", "rate=1gbit,rtt=80",
		"rate=1gbit,rtt=1ms,loss=2", "rate=1gbit,rtt=1ms,mtu=x", "rate=1gbit,rtt=1ms,foo=1", "rate=-1,rtt=1ms",
		"rate=1gbit,rate=2gbit,rtt=1ms", "rate=1e40,rtt=1ms"} {
		if p, err := Parse(bad); err == nil {
			t.Errorf("%q parsed as %v", bad, p)
		}
	}
}

func TestParseWithoutNames(t *testing.T) {
	for _, spec := range []string{"1gbit,80ms", "80ms,1gbit", "1 Gbit/s, 80 ms", "1 Gbit/s 80 ms", "1Gb/s 80ms", "1gbit,rtt=80ms"} {
		if p, err := Parse(spec); err != nil || p.String() != "rate=1gbit,rtt=80ms" {
			t.Errorf("%q: %v, %v", spec, p, err)
		}
	}
	for _, spec := range []string{"125MB/s,80ms", "rate=125 MB/s,rtt=80ms"} {
		if _, err := Parse(spec); !errors.Is(err, units.ErrBytes) || !strings.Contains(err.Error(), "in bits it is 1gbit") {
			t.Errorf("%q: %v", spec, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("rate=1gbit,rtt=80ms,loss=1e-5,mtu=9000")
	f.Add("rate=,")
	f.Add("1 Gbit/s 80 ms")
	f.Fuzz(func(t *testing.T, spec string) {
		p, err := Parse(spec)
		if err == nil && p.Check() != nil {
			t.Fatalf("%q gives an impossible path", spec)
		}
	})
}
