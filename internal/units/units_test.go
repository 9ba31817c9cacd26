package units

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseRate(t *testing.T) {
	for s, want := range map[string]Rate{"10gbit": 10 * Gbit, "1.2 Gbit/s": 1200 * Mbit, "100Mbps": 100 * Mbit, "9600": 9600, "64k": 64 * Kbit, "2tbit": 2 * Tbit,
		"1Gb/s": Gbit, "1gbps": Gbit, "5 Mb/s": 5 * Mbit} {
		if got, err := ParseRate(s); err != nil || got != want {
			t.Errorf("%q = %v, %v; want %v", s, got, err, want)
		}
	}
	for _, bad := range []string{"", "gbit", "-1gbit", "1e40", "10gib", "1GB/s", "1..2gbit", "NaN", "99999999999999999999tbit"} {
		if got, err := ParseRate(bad); err == nil {
			t.Errorf("%q parsed as %v", bad, got)
		}
	}
}

func TestParseBytes(t *testing.T) {
	for s, want := range map[string]Bytes{"64MiB": 64 * MiB, "1k": KiB, "1kB": 1000, "1.5GiB": 1536 * MiB, "0": 0, "100B": 100, "9223372036854775807": 1<<63 - 1} {
		if got, err := ParseBytes(s); err != nil || got != want {
			t.Errorf("%q = %v, %v; want %v", s, got, err, want)
		}
	}
	for _, bad := range []string{"", "MiB", "-1", "1mbit", "9223372036854775808"} {
		if got, err := ParseBytes(bad); err == nil {
			t.Errorf("%q parsed as %v", bad, got)
		}
	}
}

func TestParseDuration(t *testing.T) {
	if d, err := ParseDuration("1.5 s"); err != nil || d != 1500*time.Millisecond {
		t.Error(d, err)
	}
	for _, bad := range []string{"", "80", "-5ms", "5 parsecs"} {
		if d, err := ParseDuration(bad); err == nil {
			t.Errorf("%q parsed as %v", bad, d)
		}
	}
}

func TestString(t *testing.T) {
	for want, got := range map[string]string{
		"10 Gbit/s": (10 * Gbit).String(), "9.41 Gbit/s": Rate(9414824447).String(), "0 bit/s": Rate(0).String(),
		"64 MiB": (64 * MiB).String(), "1.5 GiB": (1536 * MiB).String(), "999 B": Bytes(999).String(),
		"50 ms": Duration(50 * time.Millisecond), "1.25 s": Duration(1250 * time.Millisecond), "200 µs": Duration(200 * time.Microsecond), "4m30s": Duration(270 * time.Second), "1h": Duration(time.Hour),
		"10gbit": (10 * Gbit).Typed(), "9.41gbit": Rate(9414824447).Typed(), "0bit": Rate(0).Typed(), "64MiB": (64 * MiB).Typed(), "999B": Bytes(999).Typed(),
		"50ms": TypedDuration(50 * time.Millisecond), "200us": TypedDuration(200 * time.Microsecond), "10m": TypedDuration(10 * time.Minute),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestStringParsesBack holds what is printed to within the precision of three
// digits of what it says.
func TestStringParsesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Rate(rapid.Int64Range(1, int64(400*Tbit)).Draw(t, "rate"))
		back, err := ParseRate(r.String())
		if err != nil || float64(back) < 0.995*float64(r) || float64(back) > 1.005*float64(r) {
			t.Fatalf("%d prints %s, which is %d (%v)", r, r, back, err)
		}
		if typed, err := ParseRate(r.Typed()); err != nil || typed != back {
			t.Fatalf("%d is typed as %s, which is %d (%v)", r, r.Typed(), typed, err)
		}
		b := Bytes(rapid.Int64Range(0, int64(100*TiB)).Draw(t, "bytes"))
		if back, err := ParseBytes(b.String()); err != nil || float64(back) < 0.995*float64(b) || float64(back) > 1.005*float64(b) {
			t.Fatalf("%d prints %s, which is %d (%v)", b, b, back, err)
		}
		d := time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "duration"))
		if back, err := ParseDuration(TypedDuration(d)); err != nil || float64(back) < 0.99*float64(d) || float64(back) > 1.01*float64(d) {
			t.Fatalf("%d is typed as %s, which is %d (%v)", d, TypedDuration(d), back, err)
		}
	})
}

func TestBDP(t *testing.T) {
	if got := BDP(10*Gbit, 50*time.Millisecond); got != 62500000 {
		t.Errorf("%d", got)
	}
}

func TestParseFields(t *testing.T) {
	fields, err := ParseFields("Rate=1gbit, rtt=80ms")
	if err != nil || len(fields) != 2 || fields[0] != (Field{"rate", "1gbit"}) || fields[1] != (Field{"rtt", "80ms"}) {
		t.Error(fields, err)
	}
	for _, bad := range []string{"", " ", "a", "a=", "=b", "a=1,a=2", "a=1,,b=2"} {
		if f, err := ParseFields(bad); err == nil {
			t.Errorf("%q parsed as %v", bad, f)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"10gbit", "64MiB", "50ms", "1.5", "", "a=b,c=d", "-1", "1e9"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if r, err := ParseRate(s); err == nil && r < 0 {
			t.Fatalf("rate %d", r)
		}
		if b, err := ParseBytes(s); err == nil && b < 0 {
			t.Fatalf("bytes %d", b)
		}
		if d, err := ParseDuration(s); err == nil && d < 0 {
			t.Fatalf("duration %d", d)
		}
		ParseFields(s)
	})
}

func TestPlural(t *testing.T) {
	for want, got := range map[string]string{
		"1 request": Plural(1, "request"), "0 requests": Plural(0, "request"), "1 class": Plural(1, "class"),
		"1,000 classes": Plural(1000, "class"), "12,345,678": Count(12345678), "999": Count(999),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestDigitsWritesNoExponent(t *testing.T) {
	for _, c := range []struct {
		v      float64
		digits int
		want   string
	}{
		{99.6, 2, "100"}, {81800, 3, "81800"}, {123456, 3, "123000"}, {1.5, 3, "1.5"}, {0.0000123, 2, "0.000012"}, {0, 3, "0"},
		{math.Inf(1), 3, "+Inf"},
	} {
		if got := Digits(c.v, c.digits); got != c.want {
			t.Errorf("Digits(%v, %d) = %q, want %q", c.v, c.digits, got, c.want)
		}
	}
}
