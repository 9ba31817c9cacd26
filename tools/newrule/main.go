// Newrule writes the skeleton of a diagnosis rule and registers it: go run
// ./tools/newrule ring-drops makes internal/diagnose/rule_ring_drops.go and adds
// it to rules.go. The rule's tests fail until it is filled in.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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

// listEnd ends the list of rules in rules.go.
const listEnd = "\n\t}\n}\n"

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "newrule: one rule id is expected, in lower case with hyphens")
		os.Exit(2)
	}
	file, err := create("internal/diagnose", os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "newrule:", err)
		os.Exit(1)
	}
	fmt.Printf("%s written and registered at the end of rules.go: move it there before the rules of its consequences\n",
		file)
}

var idPattern = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// create writes the skeleton of a rule into a folder and adds it to rules.go.
func create(dir, id string) (file string, err error) {
	if !idPattern.MatchString(id) {
		return "", fmt.Errorf("%q: a rule id is in lower case with hyphens", id)
	}
	words := strings.Split(id, "-")
	name := words[0]
	for _, w := range words[1:] {
		name += strings.ToUpper(w[:1]) + w[1:]
	}
	list := filepath.Join(dir, "rules.go")
	text, err := os.ReadFile(list)
	if err != nil {
		return "", err
	}
	at := bytes.LastIndex(text, []byte(listEnd))
	if at < 0 {
		return "", fmt.Errorf("%s: the end of the list is not found", list)
	}
	file = filepath.Join(dir, "rule_"+strings.Join(words, "_")+".go")
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return "", err
	}
	_, err = fmt.Fprintf(f, skeleton, id, name)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	return file, os.WriteFile(list, fmt.Appendf(nil, "%s\n\t\t%s(),%s", text[:at], name, text[at:]), 0o644)
}
