// Genlog writes a synthetic access log (nginx combined and the request time) to
// standard output, for benchmarks and tests of wirerate weblog:
//
//	go run ./tools/genlog -n 4000000 > /tmp/access.log
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/wirerate/wirerate/tools/genlog/accesslog"
)

func main() {
	lines := flag.Int("n", 4_000_000, "lines to write (4,000,000 are 728 MB)")
	seed := flag.Uint64("seed", 1, "seed of the random numbers")
	profile := flag.String("profile", accesslog.ProfileWide, "request times: wide, before or after")
	flag.Parse()
	if flag.NArg() > 0 || *lines < 0 {
		fmt.Fprintln(os.Stderr, "genlog: usage: genlog [-n LINES] [-seed N] [-profile wide|before|after]")
		os.Exit(2)
	}
	if _, err := (accesslog.Synthetic{Lines: *lines, Seed: *seed, Profile: *profile}).WriteTo(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "genlog:", err)
		os.Exit(4)
	}
}
