// Bench measures what wirerate promises about its speed and size, beside other
// programs that do the same work, in one run. It judges nothing: a busy machine
// is slower than its goals.
//
//	go run ./tools/bench [-lines N] [-log FILE] bin/wirerate
//	go run ./tools/bench -planted [-kinds KIND,...] bin/wirerate
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/tools/genlog/accesslog"
)

func main() {
	if len(os.Args) > 2 && os.Args[1] == "load" {
		if err := runLoad(os.Args[2], os.Args[3:]); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	lines := flag.Int("lines", 4_000_000, "lines of the access log to make up")
	log := flag.String("log", "", "access log to use instead: combined with the request time behind")
	limits := flag.Bool("planted", false, "plant limits in labs, and say how many watch names within 5 s")
	kinds := flag.String("kinds", "", "with -planted, only these `kinds`, such as window,loss")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "bench: usage: bench [-lines N] [-log FILE] bin/wirerate")
		os.Exit(2)
	}
	program, err := filepath.Abs(flag.Arg(0))
	switch {
	case err != nil:
	case *limits:
		err = planted(program, *kinds)
	default:
		err = run(program, *log, *lines)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(program, log string, lines int) error {
	dir, err := os.MkdirTemp("", "wirerate-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	t := newTable()
	if err := size(t, program); err != nil {
		return err
	}
	load, err := catalogLoad()
	if err != nil {
		return err
	}
	t.row("catalog: load", "", ms(load), "in this process")
	if err := small(t, program, dir); err != nil {
		return err
	}
	if err := large(t, program, dir); err != nil {
		return err
	}
	if err := t.end(); err != nil {
		return err
	}
	if err := paths(program, dir); err != nil {
		return err
	}
	if err := watching(program, 10_000); err != nil {
		return err
	}
	if log == "" {
		log = filepath.Join(dir, "access.log")
		if err := makeLog(log, lines); err != nil {
			return err
		}
	}
	if err := logs(program, log); err != nil {
		return err
	}
	return compressed(program, log, dir)
}

// table prints rows of what was promised and what was measured.
type table struct{ w *tabwriter.Writer }

func newTable() table {
	t := table{tabwriter.NewWriter(os.Stdout, 0, 0, 3, ' ', 0)}
	t.row("", "goal", "measured", "")
	return t
}

func (t table) row(what, goal, measured, note string) {
	fmt.Fprintf(t.w, "%s\t%s\t%s\t%s\n", what, goal, measured, note)
}

func (t table) end() error {
	fmt.Fprintln(t.w)
	return t.w.Flush()
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", d.Seconds()*1e3) }

func size(t table, program string) error {
	st, err := os.Stat(program)
	if err != nil {
		return err
	}
	t.row("the binary", "< 30 MB", fmt.Sprintf("%.1f MB", float64(st.Size())/1e6), "")
	return nil
}

func catalogLoad() (best time.Duration, err error) {
	best = time.Hour
	for range 10 {
		start := time.Now()
		if _, err := catalog.Load(); err != nil {
			return 0, err
		}
		best = min(best, time.Since(start))
	}
	return best, nil
}

func makeLog(name string, lines int) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := (accesslog.Synthetic{Lines: lines, Seed: 1}).WriteTo(f); err != nil {
		return err
	}
	return f.Close()
}
