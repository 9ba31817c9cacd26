// Captures makes labelled packet captures in the lab, scores what inspect says
// of them, holds its counts beside tcptrace's and tshark's, and trims captures for
// the tests.
//
//	captures make [-wirerate PROGRAM] [-o DIR] [-seed N] [-runs N] [-only LABELS]
//	captures score [-worst N] [-only NAME] DIR...
//	captures beside DIR...
//	captures trim [-packets N] IN OUT
package main

import (
	"fmt"
	"os"
)

func main() {
	verbs := map[string]func([]string) error{"make": makeAll, "score": score, "beside": beside, "trim": trim,
		"send": send, "serve": serve}
	if len(os.Args) < 2 || verbs[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "captures: make, score, beside or trim is expected")
		os.Exit(2)
	}
	if err := verbs[os.Args[1]](os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "captures:", err)
		os.Exit(1)
	}
}
