package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// beside counts the segments that were sent again, in the captures of a folder
// that were made at the sender, by inspect, tcptrace and tshark, and holds each
// count against the kernel's.
func beside(args []string) error {
	f := flag.NewFlagSet("beside", flag.ExitOnError)
	_ = f.Parse(args)
	counters := []struct {
		name  string
		count func(name string, mss int64) (int64, error)
		equal int
	}{{name: "inspect", count: ownCount}, {name: "tcptrace", count: tcptrace}, {name: "tshark", count: tshark}}
	all := 0
	for _, dir := range f.Args() {
		names, err := filepath.Glob(filepath.Join(dir, "*.cli.pcapng"))
		if err != nil {
			return err
		}
		for _, name := range names {
			t, err := readTruth(strings.TrimSuffix(name, ".cli.pcapng") + ".json")
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				continue
			}
			all++
			line := fmt.Sprintf("kernel %d", t.last().Again)
			for i := range counters {
				c := &counters[i]
				n, err := c.count(name, int64(t.last().MSS))
				switch {
				case err != nil:
					line += fmt.Sprintf(", %s %v", c.name, err)
					continue
				case n == int64(t.last().Again):
					c.equal++
				}
				line += fmt.Sprintf(", %s %d", c.name, n)
			}
			fmt.Println(filepath.Base(name)+":", line)
		}
	}
	for _, c := range counters {
		fmt.Printf("%s: equal to the kernel's count in %d of %d captures\n", c.name, c.equal, all)
	}
	return nil
}

func ownCount(name string, _ int64) (int64, error) {
	_, l, err := analyzed(name)
	return l.Again, err
}

var rexmt = regexp.MustCompile(`rexmt data bytes: +(\d+)`)

// tcptrace counts bytes; segments that the card divides are one packet to it.
func tcptrace(name string, mss int64) (int64, error) {
	out, err := output("tcptrace", "-nl", name)
	if err != nil {
		return 0, err
	}
	m := rexmt.FindSubmatch(out)
	if m == nil {
		return 0, errors.New("says nothing")
	}
	n, err := strconv.ParseInt(string(m[1]), 10, 64)
	return (n + mss - 1) / max(mss, 1), err
}

// tshark calls what was sent again by three names, each with packets of its own.
func tshark(name string, mss int64) (int64, error) {
	out, err := output("tshark", "-r", name, "-Y", "tcp.len > 0 && tcp.dstport == 5001 && (tcp.analysis.retransmission "+
		"|| tcp.analysis.fast_retransmission || tcp.analysis.spurious_retransmission)", "-T", "fields", "-e", "tcp.len")
	if err != nil {
		return 0, err
	}
	var sum int64
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		n, err := strconv.ParseInt(s.Text(), 10, 64)
		if err != nil {
			return 0, err
		}
		sum += (n + mss - 1) / max(mss, 1)
	}
	return sum, nil
}

func output(program string, args ...string) ([]byte, error) {
	if _, err := exec.LookPath(program); err != nil {
		return nil, errors.New("is not installed: skipped")
	}
	return exec.CommandContext(context.Background(), program, args...).Output()
}
