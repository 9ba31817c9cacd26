package regexp

import (
	"regexp"
	"slices"
	"testing"
)

// FuzzSet compares with the expressions one by one.
func FuzzSet(f *testing.F) {
	for _, s := range [][3]string{{`NIC Link is (Up|Down)`, `(?i)watchdog`, "eth0: NIC Link is Up WatchDog"},
		{`(?i)link`, `\d`, "LIN\u212a 1"}, {`ab|`, `^$`, ""}, {`a`, `(?i)[ab]c|de`, "xDE"}} {
		f.Add(s[0], s[1], s[2])
	}
	f.Fuzz(func(t *testing.T, first, second, text string) {
		var list []*Regexp
		var want []int
		for i, expression := range []string{first, second} {
			std, err := regexp.Compile(expression)
			if err != nil || len(expression) > 200 {
				return
			}
			list = append(list, MustCompile(expression))
			if std.MatchString(text) {
				want = append(want, i)
			}
		}
		if got := slices.Collect(SetOf(list...).Matching(text)); !slices.Equal(got, want) {
			t.Errorf("%q, %q on %q: %v, %v one by one", first, second, text, got, want)
		}
	})
}
