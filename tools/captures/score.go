package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/flow"
	"github.com/wirerate/wirerate/internal/packets"
)

// scored is what became of one capture.
type scored struct {
	name, label, end string
	right            float64 // share of the time
	confused         confusion
	limits           string
	again, kernel    int64 // segments sent again, as seen and as the kernel counts
	rtt, minRTT      float64
}

var (
	errNothing = errors.New("no data is in it")
	errLate    = errors.New("the link did not keep up")
)

// confusion is the time in which one limit was true and another was said.
type confusion map[[2]flow.Limit]int64

func score(args []string) error {
	f := flag.NewFlagSet("score", flag.ExitOnError)
	worst := f.Int("worst", 20, "print the worst `N`")
	only := f.String("only", "", "captures whose name begins so")
	_ = f.Parse(args)
	var all []scored
	late := 0
	for _, dir := range f.Args() {
		names, err := filepath.Glob(filepath.Join(dir, *only+"*.pcap*"))
		if err != nil {
			return err
		}
		for _, name := range names {
			s, err := judge(name)
			if err != nil {
				if errors.Is(err, errLate) {
					late++
				} else if !errors.Is(err, errNothing) {
					fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
				}
				continue
			}
			all = append(all, s)
		}
	}
	table(all)
	if late > 0 {
		fmt.Printf("left out: %d captures of links that did not keep up\n", late)
	}
	counts(all)
	confusions(all)
	slices.SortStableFunc(all, func(a, b scored) int { return cmp.Compare(a.right, b.right) })
	for _, s := range all[:min(*worst, len(all))] {
		fmt.Printf("%.2f %s: %s; %s\n", s.right, s.name, s.limits, s.confused)
	}
	return nil
}

// judge holds what is said of a capture against what its sender's kernel said.
func judge(name string) (s scored, err error) {
	stem := strings.TrimSuffix(name, filepath.Ext(name))
	end := strings.TrimPrefix(filepath.Ext(stem), ".")
	t, err := readTruth(strings.TrimSuffix(stem, "."+end) + ".json")
	if err != nil {
		return s, err
	}
	if t.Late > max(10, t.RTT/4) {
		return s, errLate
	}
	trace, l, err := analyzed(name)
	if err != nil {
		return s, err
	}
	if t.Label == "blackhole" && len(l.Spans) == 0 {
		return s, errNothing // nothing gets there
	}
	truths := t.course()
	if end == "srv" { // what the sender does arrives later there
		for i := range truths {
			truths[i].start += int64(t.RTT * 1e6 / 2)
			truths[i].end += int64(t.RTT * 1e6 / 2)
		}
	}
	var spans []flow.Span
	for _, p := range l.Spans {
		spans = append(spans, flow.Span{Limit: p.Limit, Start: trace.Start + int64(p.Start*1e9),
			End: trace.Start + int64(p.End*1e9)})
	}
	s = scored{name: filepath.Base(name), label: t.Label, end: end, confused: confusion{},
		again:  l.Again - unsampled(t, trace, l),
		kernel: int64(t.last().Again), minRTT: t.minRTT()}
	if l.RTT != nil {
		s.rtt = l.RTT.Min
	}
	right, total := agree(spans, truths, int64(max(t.RTT*1e6, 50e6)), s.confused)
	s.right = right / max(total, 1)
	for _, h := range l.Limits {
		s.limits += fmt.Sprintf("%s %.0f%% ", h.Limit, h.Share*100)
	}
	return s, nil
}

// unsampled is how many segments were sent again after the kernel was asked last.
func unsampled(t truth, trace *packets.Trace, l packets.Life) (n int64) {
	for _, e := range l.Evidence {
		again := strings.Contains(e.What, "sent again") || strings.Contains(e.What, "retransmission") ||
			strings.Contains(e.What, "probe")
		if again && trace.Start+int64(e.Seconds*1e9) > t.last().Time {
			n++
		}
	}
	return n
}

// analyzed is a capture's largest flow.
func analyzed(name string) (*packets.Trace, packets.Life, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, packets.Life{}, err
	}
	defer file.Close()
	trace, err := packets.Read(file)
	if err != nil {
		return nil, packets.Life{}, err
	}
	return trace, packets.Analyze(name, trace).Flows[0], nil
}

func table(all []scored) {
	classes := map[string][]scored{}
	for _, s := range all {
		classes[s.label] = append(classes[s.label], s)
	}
	fmt.Println("label      captures  right share of time  captures right for most of the time")
	for _, label := range slices.Sorted(maps.Keys(classes)) {
		row(label, classes[label])
	}
	row("all", all)
}

func row(label string, of []scored) {
	good, sum := 0, 0.0
	for _, s := range of {
		sum += s.right
		if s.right > 0.5 {
			good++
		}
	}
	fmt.Printf("%-10s %8d  %18.1f%%  %d\n", label, len(of), sum/float64(max(1, len(of)))*100, good)
}

// counts holds retransmissions and round trips against the kernel's.
func counts(all []scored) {
	n, equal, times, within := 0, 0, 0, 0
	for _, s := range all {
		if s.rtt > 0 && s.minRTT > 0 {
			times++
			if math.Abs(s.rtt-s.minRTT) <= 0.02*s.minRTT {
				within++
			} else {
				fmt.Printf("%s: round trip %.3f ms, the kernel's %.3f ms\n", s.name, s.rtt, s.minRTT)
			}
		}
		if s.end != "cli" {
			continue
		}
		n++
		if s.again == s.kernel {
			equal++
		} else {
			fmt.Printf("%s: %d sent again, the kernel's %d\n", s.name, s.again, s.kernel)
		}
	}
	fmt.Printf("retransmissions equal to the kernel's at the sender: %d of %d\n", equal, n)
	fmt.Printf("round trip within 2%% of the kernel's: %d of %d\n", within, times)
}

func confusions(all []scored) {
	sum := confusion{}
	for _, s := range all {
		for k, v := range s.confused {
			sum[k] += v
		}
	}
	fmt.Println("true > said:", sum)
}

// String lists what was confused for longest.
func (c confusion) String() string {
	keys := slices.SortedFunc(maps.Keys(c), func(a, b [2]flow.Limit) int { return cmp.Compare(c[b], c[a]) })
	var parts []string
	for _, k := range keys[:min(10, len(keys))] {
		parts = append(parts, fmt.Sprintf("%s > %s %.1f s", k[0], k[1], time.Duration(c[k]).Seconds()))
	}
	return strings.Join(parts, ", ")
}
