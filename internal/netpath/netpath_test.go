package netpath

import (
	"math"
	"testing"
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

func FuzzParse(f *testing.F) {
	f.Add("rate=1gbit,rtt=80ms,loss=1e-5,mtu=9000")
	f.Add("rate=,")
	f.Fuzz(func(t *testing.T, spec string) {
		p, err := Parse(spec)
		if err == nil && p.Check() != nil {
			t.Fatalf("%q gives an impossible path", spec)
		}
	})
}
