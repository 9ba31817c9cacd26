package link

import (
	"strings"
	"testing"
	"time"
)

func TestParseGivesWhatIsWritten(t *testing.T) {
	l, err := Parse("rate=1gbit,rtt=80ms,up:loss=1e-5,down:loss=burst:0.01,0.3,queue=1bdp,seed=7")
	if err != nil {
		t.Fatal(err)
	}
	if l.RTT() != 80*time.Millisecond || l.Up.Rate != 1e9 || l.Seed != 7 {
		t.Errorf("got %+v", l)
	}
	if l.Up.Loss != (Pattern{Kind: Random, P: 1e-5}) || l.Down.Loss != (Pattern{Kind: Bursts, P: 0.01, R: 0.3}) {
		t.Errorf("loss: up %+v, down %+v", l.Up.Loss, l.Down.Loss)
	}
}

func TestParsePrintsBack(t *testing.T) {
	for _, spec := range []string{
		"rate=none",
		"rtt=80ms,rate=1gbit",
		"rtt=30ms,up:rate=10mbit,down:rate=100mbit,down:aqm=codel",
		"rtt=1ms,rate=1234567bit,queue=100packets,ecn=20packets",
		"up:delay=1ms,down:delay=3ms,jitter=2ms:normal,queue=50ms,rate=1mbit",
		"rate=1mbit,aqm=codel:10ms:200ms,ecn=on,queue=30000B",
		"loss=every:1000,mark=0.01,duplicate=0.1,corrupt=1e-06,reorder=0.5,hold=2ms",
		"up:loss=burst:0.001,0.25,jitter=5ms:pareto:overtake",
		"down:trace=/tmp/x.trace,mtu=9000,framing=ip,seed=3",
		"metro-1g,loss=1e-3",
		"rate=1gbit,rtt=4ms,loss=0.1%,backend=netem",
		"queue=256KiB,aqm=codel,down:rate=1gbit", "dsl,up:rate=none,full=drop", "rate=1gb/s,queue=1500bytes,ecn=2pkts",
	} {
		l, err := Parse(spec)
		if err != nil {
			t.Errorf("%s: %v", spec, err)
			continue
		}
		again, err := Parse(l.String())
		if err != nil || again != l {
			t.Errorf("%s printed as %s: %v", spec, l, err)
		}
	}
}

func TestParseRejects(t *testing.T) {
	for _, spec := range []string{
		"", "rate", "rate=", "=1", "rate=0", "rate=1e30gbit", "rate=1bit", "rtt=10", "rtt=-1ms", "rtt=2h",
		"up:rtt=1ms", "rtt=1ms,delay=1ms", "rate=1mbit,rate=2mbit", "speed=1", "loss=2", "loss=every:0",
		"loss=burst:0.1", "loss=nan", "queue=0", "queue=-1bdp", "queue=1.5packets", "aqm=red", "aqm=codel:5ms",
		"ecn=on", "ecn=1bdp", "mtu=100", "mtu=99999", "framing=atm", "seed=x", "jitter=1ms:cauchy",
		"rate=1gbit,trace=x,up:queue=5ms", "nosuchprofile", "backend=hardware", "backend=netem,loss=every:10", "backend=netem,rate=1mbit,aqm=codel", "metro-1g,dsl",
		"jitter=1ms:normal:pareto", "queue=50ms", "rtt=1ms,aqm=codel", "ecn=5packets", "hold=61s,reorder=0.1", "hold=1ms", "datacenter-25g,rate=none",
		"rate=1gbit,trace=x", "up:rate=1gbit,up:trace=x", "trace=x,queue=1bdp", "up:aqm=codel,down:rate=1gbit", "rate=10GB/s",
		"seed=0", "loss=1e-400", "loss=5", "rate=1gbit,queue=1000", "rate=1gbit,ecn=65", "rate=1gbit,", "rate=1gbit rtt=1ms",
	} {
		if l, err := Parse(spec); err == nil {
			t.Errorf("%q was taken as %s", spec, l)
		}
	}
}

// What is wrong is said with what to write instead.
func TestParseSaysWhatToWrite(t *testing.T) {
	for spec, want := range map[string]string{
		"rate=10":                       "10 bit/s is outside 1 kbit/s..1 Tbit/s; write it like 100mbit",
		"rate=1gbit,queue=1000":         "of what? write 1000packets, 1000B or 1000KiB",
		"rate=1gbit,ecn=65":             "of what? write 65packets",
		"rtt=20":                        "like 50ms or 30s",
		"rtt=3m":                        "up to 2m ",
		"bandwidth=1gbit":               "write rate=",
		"latency=1ms":                   "write delay=",
		"profile=dsl":                   "its name alone at the beginning",
		"loss=1e-4,dsl":                 "a profile; only one is allowed, at the beginning",
		"rate:1gbit":                    "write rate=1gbit",
		"rate":                          "write rate=VALUE",
		"cabel":                         "cable, ",
		"rate=1gbit;rtt=1ms":            "commas",
		"loss=5":                        "write 5%",
		"up:queue=1MiB,down:rate=1gbit": "give up:rate too",
	} {
		if _, err := Parse(spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", spec, err, want)
		}
	}
}

// A queue that both directions were given is that of the one with a limit.
func TestParseQueueOfTheLimitedDirection(t *testing.T) {
	l, err := Parse("queue=256KiB,aqm=CoDel,down:rate=1gbit,down:queue=1MiB")
	if err != nil || l.Up != (Direction{}) || l.Down.Queue.Size != 1<<20 || l.Down.CoDel != DefaultCoDel() {
		t.Errorf("%+v, %v", l, err)
	}
}

// A field of one direction wins over that of both, in either order.
func TestParseDirections(t *testing.T) {
	for _, spec := range []string{"rate=2mbit,up:rate=1mbit", "up:rate=1mbit,rate=2mbit", "UP:Rate=1Mbit,RATE=2MBIT"} {
		l, err := Parse(spec)
		if err != nil || l.Up.Rate != 1e6 || l.Down.Rate != 2e6 {
			t.Errorf("%s: up %s, down %s, %v", spec, l.Up.Rate, l.Down.Rate, err)
		}
	}
	if l, err := Parse("RTT=1MS,JITTER=1MS:Normal"); err != nil || l.RTT() != time.Millisecond || l.Up.Jitter.Shape != Normal {
		t.Errorf("capitals: %+v, %v", l, err)
	}
	if _, err := Parse("rtt=-1ms"); err == nil || !strings.Contains(err.Error(), `rtt: duration "-1ms"`) {
		t.Errorf("the field is not named: %v", err)
	}
}

func TestDefaultQueueIsOneBDP(t *testing.T) {
	l, err := Parse("rate=100mbit,rtt=40ms")
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := l.Limits(l.Up, l.Up.Queue); b != 500000 {
		t.Errorf("queue of %d bytes, want 500000", b)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("rate=1gbit,rtt=80ms,loss=1e-5,queue=1bdp")
	f.Add("up:loss=burst:0.001,0.25,jitter=5ms:pareto:overtake,aqm=codel,ecn=on")
	f.Add("metro-1g,queue=9e8packets")
	f.Add("queue=1MiB,up:queue=1bdp,ecn=OFF,down:rate=10Gb/s,aqm=none,jitter=none")
	f.Fuzz(func(t *testing.T, spec string) {
		l, err := Parse(spec)
		if err != nil {
			return
		}
		again, err := Parse(l.String())
		if err != nil || again != l {
			t.Errorf("%q printed as %q: %v", spec, l, err)
		}
		for _, d := range []Direction{l.Up, l.Down} {
			if _, packets := l.Limits(d, d.Queue); l.Memory(d) <= 0 || d.Limited() && packets <= 0 {
				t.Errorf("%q: no room", spec)
			}
		}
	})
}

func TestProfilesAreValidAndSourced(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range Profiles() {
		if _, err := Parse(p.Name); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
		if seen[p.Name] || p.About == "" || p.Source == "" {
			t.Errorf("%s is doubled, or without description or source", p.Name)
		}
		if !strings.Contains(p.Source, "https://") && !strings.Contains(p.Source, "RFC ") && !strings.HasPrefix(p.Source, "definition") {
			t.Errorf("%s: no document is named in %q", p.Name, p.Source)
		}
		if (strings.Contains(p.Link, "jitter=") || strings.Contains(p.Link, "queue=")) && !strings.Contains(p.Source, "assumed") {
			t.Errorf("%s: nobody says where its jitter or its queue come from", p.Name)
		}
		seen[p.Name] = true
	}
	for _, name := range []string{"dsl", "cable", "lte", "wifi", "geo-satellite", "leo-satellite", "transatlantic-10g", "metro-1g", "datacenter-25g"} {
		if !seen[name] {
			t.Errorf("no profile %s", name)
		}
	}
}

func TestNetemArguments(t *testing.T) {
	l, err := Parse("rate=100mbit,rtt=40ms,queue=100packets,up:loss=0.1%,down:loss=burst:0.01,0.25,backend=netem")
	if err != nil {
		t.Fatal(err)
	}
	// 100 in the queue and 100 Mbit/s x 20 ms / 1538 bytes delayed.
	up, err := l.NetemArgs(l.Up)
	if got := strings.Join(up, " "); err != nil || got != "limit 263 delay 20000us loss random 0.1% rate 100000000bit 24" {
		t.Errorf("up: %s, %v", got, err)
	}
	down, _ := l.NetemArgs(l.Down)
	if got := strings.Join(down, " "); !strings.Contains(got, "loss gemodel 1% 25%") {
		t.Errorf("down: %s", got)
	}
}
