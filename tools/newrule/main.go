// Newrule writes the skeleton of a diagnosis rule: go run ./tools/newrule
// ring-drops makes internal/diagnose/rule_ring_drops.go. The rule's tests fail
// until its examples are there; it is listed in rules.go by hand, at the place
// where its findings belong.
package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
)

const skeleton = `package diagnose

// %[2]s finds ...
func %[2]s() Rule {
	return Rule{
		ID: "%[1]s", Title: "", Systems: onLinux(), Needs: []string{"counters"}, Severity: Warning,
		Settings: []string{},
		Because:  "",
		Confirm:  "",
		Check: func(in Input) []Finding {
			found := counters(in.Facts, "TcpExt.")
			if len(found) == 0 {
				return nil
			}
			return one("tcp", sources(found), "%%s", happened(found[0]))
		},
		Fires: linuxExample("/proc/net/netstat", ""),
		Quiet: linuxExample("/proc/net/netstat", ""),
	}
}
`

func main() {
	if len(os.Args) != 2 || !regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`).MatchString(os.Args[1]) {
		fmt.Fprintln(os.Stderr, "newrule: one rule id is expected, in lower case with hyphens")
		os.Exit(2)
	}
	id := os.Args[1]
	words := strings.Split(id, "-")
	name := words[0]
	for _, w := range words[1:] {
		name += strings.ToUpper(w[:1]) + w[1:]
	}
	file := "internal/diagnose/rule_" + strings.Join(words, "_") + ".go"
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err == nil {
		_, err = fmt.Fprintf(f, skeleton, id, name)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "newrule:", err)
		os.Exit(1)
	}
	fmt.Printf("%s written; add %s() to internal/diagnose/rules.go\n", file, name)
}
