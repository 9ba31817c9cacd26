package regexp

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"testing"
)

func TestRequired(t *testing.T) {
	for expression, want := range map[string][]string{
		`NIC Link is (Up|Down)`:        {"NIC Link is "},
		`(\S+): link (?:up|down)`:      {": link "},
		`(?i)TX timeout|watchdog`:      {"tx timeout", "watchdog"},
		`foo(?:bar)?|baz+qux`:          {"foo", "qux"},
		`^\d+ (?:rx|tx)_drops$`:        {"_drops"},
		`(?:abc){2,}x`:                 {"abc"},
		`(?:abc)*`:                     nil,
		`[a-z]+`:                       nil,
		`abc|\d+`:                      nil,
		`a|b`:                          nil,
		`(?i)größe`:                    nil,
		`(?i:send).*no buffer|ENOBUFS`: {"no buffer", "ENOBUFS"},
	} {
		re, err := syntax.Parse(expression, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		if got := requiredOf(re).texts; !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", expression, got, want)
		}
	}
}

// FuzzRequired compares with the standard library.
func FuzzRequired(f *testing.F) {
	for _, s := range [][2]string{{`NIC Link is (Up|Down)`, "eth0: NIC Link is Up"}, {`(?i)link|k`, "LIN\u212a"},
		{`(?i)TX timeout`, "e1: Tx Timeout"}, {`a{0}b|cd`, "b"}, {`(?s).ab|^$`, ""}, {`x(?i:ab)Cd|(?i)ef`, "xABCd EF"},
		{`^a+b|(?m:^)cd$|\d`, "x\ncd"}, {`(?i)(?:lost|drops)|(?s:e.f)|`, "e\nf"}, {`^abc|def$|x?`, "def"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, expression, text string) {
		std, err := regexp.Compile(expression)
		if err != nil || len(expression) > 200 {
			return
		}
		if ours := MustCompile(expression); std.MatchString(text) != ours.MatchString(text) ||
			std.FindString(text) != ours.FindString(text) {
			t.Errorf("%q on %q: %v, %v with the standard library", expression, text, ours.MatchString(text), std.MatchString(text))
		}
	})
}
