// Captures scores what inspect says of labelled packet captures, and trims them
// for the tests.
//
//	captures score [-half even|odd] [-worst N] DIR...
//	captures trim [-packets N] IN OUT
package main

import (
	"fmt"
	"os"
)

func main() {
	verbs := map[string]func([]string) error{"score": score, "trim": trim}
	if len(os.Args) < 2 || verbs[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "captures: score or trim is expected")
		os.Exit(2)
	}
	if err := verbs[os.Args[1]](os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "captures:", err)
		os.Exit(1)
	}
}
