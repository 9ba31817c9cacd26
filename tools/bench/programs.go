package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/wirerate/wirerate/internal/catalog"
)

// usage is what a program needed.
type usage struct {
	wall, cpu time.Duration
	memory    int64 // largest resident set, bytes
}

// measure runs a command several times and returns the least of each.
func measure(times int, command ...string) (usage, error) {
	var best usage
	for i := range times {
		u, err := once(command)
		if err != nil {
			return best, err
		}
		if i == 0 {
			best = u
		}
		best = usage{min(best.wall, u.wall), min(best.cpu, u.cpu), min(best.memory, u.memory)}
	}
	return best, nil
}

func once(command []string) (usage, error) {
	cmd := exec.Command(command[0], command[1:]...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	start := time.Now()
	err := cmd.Run()
	u := usage{wall: time.Since(start)}
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) { // lint that finds something ends with 1
		return u, fmt.Errorf("%s: %w: %s", strings.Join(command, " "), err, stderr.String())
	}
	u.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if r, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		u.memory = r.Maxrss * 1024
	}
	return u, nil
}

// small measures what people wait for at the prompt.
func small(t table, program, dir string) error {
	different, same := filepath.Join(dir, "different.conf"), filepath.Join(dir, "same.conf")
	if err := errors.Join(writeDifferent(different), writeSame(same)); err != nil {
		return err
	}
	for _, r := range []struct {
		what, goal string
		arguments  []string
	}{
		{"start", "", []string{"version"}},
		{"explain", "30 ms", []string{"explain", "net.ipv4.tcp_rmem"}},
		{"lint, 500 settings", "30 ms", []string{"lint", "--os", "linux", different}},
		{"lint, one setting 500 times", "30 ms", []string{"lint", "--os", "linux", same}},
	} {
		u, err := measure(10, append([]string{program}, r.arguments...)...)
		if err != nil {
			return err
		}
		t.row(r.what, r.goal, ms(u.wall), ms(u.cpu)+" of CPU")
	}
	return nil
}

func writeDifferent(name string) error {
	c, err := catalog.Load()
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, n := range c.Names(catalog.Linux)[:500] {
		b.WriteString(n + " = 1\n")
	}
	return os.WriteFile(name, []byte(b.String()), 0o644)
}

func writeSame(name string) error {
	var b strings.Builder
	for i := range 500 {
		fmt.Fprintf(&b, "net.ipv4.tcp_rmem = 4096 87380 %d\n", 1_000_000+i)
	}
	return os.WriteFile(name, []byte(b.String()), 0o644)
}

// large measures lint's throughput.
func large(t table, program, dir string) error {
	const lines = 700_000 // the most that fit into conffile.MaxSize
	name := filepath.Join(dir, "large.conf")
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f) // what this process holds counts as its children's memory
	for range lines / 4 {
		w.WriteString("# a comment\nnet.ipv4.tcp_rmem = 4096 131072 67108864\nnet.core.somaxconn=4096\n\n")
	}
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		return err
	}
	u, err := measure(2, program, "lint", "--os", "linux", name)
	if err != nil {
		return err
	}
	t.row("lint, a large file", "1 million lines/s", fmt.Sprintf("%.2f million lines/s", lines/u.wall.Seconds()/1e6),
		fmt.Sprintf("%.0f MB of memory", float64(u.memory)/1e6))
	return nil
}

// logs measures weblog beside other programs that count request times.
func logs(program, log string) error {
	st, err := os.Stat(log)
	if err != nil {
		return err
	}
	fmt.Printf("one histogram of the request times of %d MB of log\n", st.Size()/1e6)
	t := newTable()
	var plain usage
	for _, r := range []struct {
		what, goal string
		times      int
		command    []string
		to         *usage
	}{
		{"wc -l", "", 3, []string{"wc", "-l", log}, nil},
		{"wirerate weblog", "2 GB/s, 100 MB", 5, []string{program, "weblog", log}, &plain},
		{"wirerate weblog --full", "at most twice", 5, []string{program, "weblog", "--full", log}, nil},
		{"mawk", "a fifth", 1, []string{"mawk", "{n[int($NF*10)]++} END{for(i in n) print i, n[i]}", log}, nil},
		{"perl", "a twentieth", 1, []string{"perl", "-ne", "$n{int($1*10)}++ if / ([0-9.]+)$/; END{print \"$_ $n{$_}\\n\" " +
			"for keys %n}", log}, nil},
		{"goaccess (it does more)", "", 1, []string{"goaccess", log, "--log-format=%h %^[%d:%t %^] \"%r\" %s %b \"%R\" " +
			"\"%u\" %T", "--date-format=%d/%b/%Y", "--time-format=%T", "-o", "json"}, nil},
	} {
		if _, err := exec.LookPath(r.command[0]); err != nil {
			t.row(r.what, r.goal, "not installed", "")
			continue
		}
		u, err := measure(r.times, r.command...)
		if err != nil {
			return err
		}
		if r.to != nil {
			*r.to = u
		}
		t.row(r.what, r.goal, fmt.Sprintf("%.2f s, %.2f GB/s, %.0f MB", u.wall.Seconds(),
			float64(st.Size())/u.wall.Seconds()/1e9, float64(u.memory)/1e6),
			fmt.Sprintf("CPU %.2f s%s", u.cpu.Seconds(), ratio(u, plain)))
	}
	return t.end()
}

// ratio compares with plain weblog, once that is known.
func ratio(u, plain usage) string {
	if plain.wall == 0 || u == plain {
		return ""
	}
	return fmt.Sprintf("; %.1f times weblog's time, %.1f times its CPU", u.wall.Seconds()/plain.wall.Seconds(),
		u.cpu.Seconds()/plain.cpu.Seconds())
}

// compressed measures weblog on compressed logs beside the decompressors, which
// do nothing else.
func compressed(program, log, dir string) error {
	const lines = "1000000"
	fmt.Printf("the first %s lines of it, compressed\n", lines)
	t := newTable()
	for _, c := range []struct{ tool, suffix string }{{"gzip", ".gz"}, {"zstd", ".zst"}, {"bzip2", ".bz2"}} {
		if _, err := exec.LookPath(c.tool); err != nil {
			t.row(c.tool, "", "not installed", "")
			continue
		}
		small := filepath.Join(dir, "compressed.log"+c.suffix)
		if _, err := once([]string{"sh", "-c", `head -n "$1" "$2" | "$3" -c >"$4"`, "sh",
			lines, log, c.tool, small}); err != nil {
			return err
		}
		alone, err := measure(2, c.tool, "-dc", small)
		if err != nil {
			return err
		}
		u, err := measure(2, program, "weblog", small)
		if err != nil {
			return err
		}
		t.row(c.tool+" -dc", "", fmt.Sprintf("%.2f s", alone.wall.Seconds()), fmt.Sprintf("CPU %.2f s", alone.cpu.Seconds()))
		t.row("wirerate weblog, "+c.suffix, "no slower", fmt.Sprintf("%.2f s, %.0f MB",
			u.wall.Seconds(), float64(u.memory)/1e6),
			fmt.Sprintf("CPU %.2f s; %.1f times the time of %s", u.cpu.Seconds(), u.wall.Seconds()/alone.wall.Seconds(), c.tool))
	}
	return t.end()
}
