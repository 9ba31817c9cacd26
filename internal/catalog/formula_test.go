package catalog

import (
	"errors"
	"fmt"
	"testing"
)

// eval evaluates an expression that is compiled for it alone.
func eval(expression string, in Inputs) (Result, error) { return new(compiler).eval(expression, in) }

func TestEval(t *testing.T) {
	in := Inputs{"rate": 1e10, "rtt": 0.05, "bdp": 62.5e6, "memory": 16e9, "role": "bulk", "version": "14.1", "cores": 4}
	for _, c := range []struct{ expression, want string }{
		{"bdp * 2", "125000000"},
		{"pow2(bdp)", "67108864"},
		{"clamp(4 * bdp, 4 * MiB, memory / 64)", "250000000"},
		{"triple(4096, 131072, pow2(2 * bdp))", "4096 131072 134217728"},
		{"min(cores, 8) - 1", "3"},
		{"role == 'bulk' and since('13.2')", "1"},
		{"since('15.0')", "0"},
		{"ceil(rate * 0.05 / 8 / 1500)", "41667"},
	} {
		r, err := eval(c.expression, in)
		if err != nil || r.Text() != c.want {
			t.Errorf("%s = %q, %v; want %q", c.expression, r.Text(), err, c.want)
		}
	}
}

func TestEvalWorking(t *testing.T) {
	r, err := eval("pow2(2 * bdp) + 4 * MiB", Inputs{"bdp": 62500000})
	if err != nil {
		t.Fatal(err)
	}
	if want := "pow2(2 * 62500000) + 4 * MiB"; r.Working != want {
		t.Errorf("working %q, want %q", r.Working, want)
	}
	if len(r.Used) != 1 || r.Used["bdp"] != 62500000.0 {
		t.Errorf("used %v", r.Used)
	}
}

func TestEvalUnknownAndWrong(t *testing.T) {
	var unknown *UnknownInput
	if _, err := eval("loss * 2", Inputs{}); !errors.As(err, &unknown) || unknown.Name != "loss" {
		t.Errorf("missing input: %v", err)
	}
	for _, bad := range []string{"losss * 2", "1 +", "1 / 0", "'a' * 2", "log2(0)"} {
		if r, err := eval(bad, Inputs{"loss": 0.1}); err == nil || errors.As(err, &unknown) {
			t.Errorf("%s = %v, %v; want an error", bad, r.Value, err)
		}
	}
}

// A record's expressions are compiled once and give for every input what a
// fresh evaluation gives, whatever the type of the value.
func TestRecordEvalCompilesOnce(t *testing.T) {
	r := Record{expressions: new(compiler)}
	inputs := []Inputs{{"value": 3.0, "version": "14.1"}, {"value": 9, "version": "13.0"},
		{"value": "cubic", "version": "14.1"}, {"version": "14.1"}, {"value": 9.0}, {}}
	for _, text := range []string{"value > 4", "value == 'cubic'", "value > 4 and since('14.0')", "since('14.0')",
		"1 +", "losss > 1"} {
		for _, in := range inputs {
			want, wantErr := eval(text, in)
			got, err := r.Eval(text, in)
			if got.Value != want.Value || got.Working != want.Working || fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Errorf("%s with %v = %v (%v), want %v (%v)", text, in, got, err, want, wantErr)
			}
		}
	}
	if n := len(r.expressions.done); n != 12 {
		t.Errorf("%d compilations of 6 expressions with 2 types of value", n)
	}
}

func BenchmarkRecordHolds(b *testing.B) {
	r := Record{expressions: new(compiler)}
	for b.Loop() {
		if ok, err := r.Holds("value > 4 * MiB and since('6.1')", Inputs{"value": 5.0 * mib, "version": "6.12"}); !ok ||
			err != nil {
			b.Fatal(ok, err)
		}
	}
}

func TestVersionCompare(t *testing.T) {
	for _, c := range []struct {
		a, b Version
		want int
	}{{"6.1", "6.10", -1}, {"14", "14.0", 0}, {"5.15.3", "5.15", 1}, {"", "4.18", -1}} {
		if got := c.a.Compare(c.b); got != c.want {
			t.Errorf("%s <=> %s = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestLifetimes(t *testing.T) {
	r := &Record{Kind: Runtime, Lifetimes: []Lifetime{{Removed: "11.0", Kind: Both}, {Since: "11.0", Removed: "12.0", Kind: Boot}, {Since: "14.2", Kind: Runtime}}}
	for _, c := range []struct {
		version Version
		state   State
		kind    Kind
	}{{"9.3", Present, Both}, {"11.0", Present, Boot}, {"11.4", Present, Boot}, {"12.0", Gone, Boot}, {"14.1", Gone, Boot}, {"14.2", Present, Runtime}, {"", Present, Both}} {
		if got := r.In(c.version); r.StateIn(c.version) != c.state || got.Kind != c.kind {
			t.Errorf("%q: %s %s, want %s %s", c.version, r.StateIn(c.version), got.Kind, c.state, c.kind)
		}
	}
	plain := &Record{Kind: Boot, Since: "13.0"}
	if plain.In("14.0") != plain {
		t.Error("a record with one life is copied")
	}
	later := &Record{Kind: Boot, Lifetimes: []Lifetime{{Since: "13.0", Removed: "14.0", Kind: Boot}, {Since: "15.0", Kind: Boot}}}
	if later.StateIn("12.0") != NotYet {
		t.Error(later.StateIn("12.0"))
	}
}
