// Captures makes labelled packet captures in the lab, scores what inspect says
// of them, and holds its counts beside tcptrace's and tshark's. Those of the tests
// were trimmed by editcap -r -s 96 IN OUT 1-1000.
//
//	captures make [-wirerate PROGRAM] [-o DIR] [-seed N] [-runs N] [-only LABELS]
//	captures score [-worst N] [-only NAME] DIR...
//	captures beside DIR...
package main

import (
	"fmt"
	"os"
)

func main() {
	verbs := map[string]func([]string) error{"make": makeAll, "score": score, "beside": beside, "send": send,
		"serve": serve}
	if len(os.Args) < 2 || verbs[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "captures: make, score or beside is expected")
		os.Exit(2)
	}
	if err := verbs[os.Args[1]](os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "captures:", err)
		os.Exit(1)
	}
}
