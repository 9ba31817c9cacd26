// Command kernels holds the catalog against running kernels. It reads dumps
// (boot.sh boots Debian's kernels and makes them; the output of uname -sr and
// sysctl -a of a BSD is one too, from a file or from ssh://HOST) and says what does not agree: names that exist and
// have no record, records of names that do not exist, defaults, writability, and
// the ends of ranges. With -write the releases for which a record was found true go
// into catalog/checked and the counts into docs/kernels.md.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/tools/kernels/observed"
)

func main() {
	ranges := flag.Bool("ranges", false, "print the ranges that boot.sh is to try, as JSON")
	write := flag.Bool("write", false, "write catalog/checked and docs/kernels.md")
	flag.Parse()
	if err := run(os.Stdout, *ranges, *write, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "kernels:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, ranges, write bool, files []string) error {
	c, err := catalog.Load()
	if err != nil {
		return err
	}
	if ranges {
		return printRanges(w, c)
	}
	var results []*result
	for _, name := range files {
		dump, err := readDump(name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		r, err := compare(c, dump)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		results = merge(results, r)
	}
	for _, r := range results {
		r.print(w)
	}
	if write {
		return store(results)
	}
	return nil
}

// askBSD makes a dump of a running BSD; OpenBSD's sysctl has no list of what is writable.
const askBSD = "uname -sr; sysctl -a; echo '# writable'; sysctl -aWN 2>/dev/null || :"

func readDump(name string) (observed.Dump, error) {
	if host, remote := strings.CutPrefix(name, "ssh://"); remote {
		answer, err := exec.Command("ssh", "--", host, askBSD).Output()
		if err != nil {
			return observed.Dump{}, err
		}
		return observed.Read(bytes.NewReader(answer))
	}
	f, err := os.Open(name)
	if err != nil {
		return observed.Dump{}, err
	}
	defer f.Close()
	return observed.Read(f)
}

// merge joins what two machines of one release showed: a record is true when it
// is on both.
func merge(all []*result, r *result) []*result {
	i := slices.IndexFunc(all, func(o *result) bool { return o.system == r.system && o.version == r.version })
	if i < 0 {
		return append(all, r)
	}
	for name, problems := range r.problems {
		for _, p := range problems {
			all[i].add(name, p)
		}
	}
	maps.DeleteFunc(all[i].agree, func(name string, _ bool) bool { return !r.agree[name] })
	maps.Copy(all[i].seen, r.seen)
	return all
}
