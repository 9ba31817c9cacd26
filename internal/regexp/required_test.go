package regexp

import (
	"regexp"
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
		if got := requiredOf(expression).texts; !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", expression, got, want)
		}
	}
}

// FuzzRequired compares with the standard library.
func FuzzRequired(f *testing.F) {
	for _, s := range [][2]string{{`NIC Link is (Up|Down)`, "eth0: NIC Link is Up"}, {`(?i)link|k`, "LIN\u212a"},
		{`(?i)TX timeout`, "e1: Tx Timeout"}, {`a{0}b|cd`, "b"}, {`(?s).ab|^$`, ""}, {`x(?i:ab)Cd|(?i)ef`, "xABCd EF"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, expression, text string) {
		std, err := regexp.Compile(expression)
		if err != nil || len(expression) > 200 {
			return
		}
		if std.MatchString(text) && !requiredOf(expression).within(text) {
			t.Errorf("%q matches %q, which has none of %q", expression, text, requiredOf(expression).texts)
		}
	})
}
