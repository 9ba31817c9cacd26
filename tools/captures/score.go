package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/flow"
	"github.com/wirerate/wirerate/internal/packets"
)

// truth is what the kernel of the sender says of a labelled capture, by
// TCP_INFO, in microseconds.
type truth struct {
	Retransmitted int64 `json:"retrans"`
	Busy          int64 `json:"busy"`
	Window        int64 `json:"rwnd"`
	Buffer        int64 `json:"snd"`
	RTT           int64 `json:"minrtt"`
}

// planted are the limits that a label stands for. Bbr does not take losses of a
// percent for congestion.
func planted(label, cc string) []flow.Limit {
	switch label {
	case "window":
		return []flow.Limit{flow.PeerWindow}
	case "sndbuf":
		return []flow.Limit{flow.SendBuffer}
	case "reader":
		return []flow.Limit{flow.SlowReader}
	case "app1", "app2", "program":
		return []flow.Limit{flow.Program}
	case "start":
		return []flow.Limit{flow.SlowStart}
	case "loss":
		if cc == "bbr" {
			return []flow.Limit{flow.Path, flow.Timeout}
		}
		return []flow.Limit{flow.Congestion, flow.Timeout}
	case "path", "bloat":
		return []flow.Limit{flow.Path}
	case "nagle":
		return []flow.Limit{flow.Nagle}
	case "policer":
		return []flow.Limit{flow.Policer, flow.Timeout}
	case "shallow": // a queue of a few packets
		return []flow.Limit{flow.Path, flow.Congestion, flow.Timeout}
	case "blackhole":
		return []flow.Limit{flow.BlackHole}
	case "silly":
		return []flow.Limit{flow.Silly}
	case "tail":
		return []flow.Limit{flow.Timeout}
	}
	return nil
}

// scored is what became of one capture.
type scored struct {
	name, label, end string
	right            float64 // share of the time
	top              flow.Limit
	limits           string
}

func score(args []string) error {
	f := flag.NewFlagSet("score", flag.ExitOnError)
	half := f.String("half", "", "only this `half` of the captures of each label: even or odd")
	worst := f.Int("worst", 20, "print the worst `N`")
	_ = f.Parse(args)
	var all []scored
	retransmissions, equal := 0, 0
	for _, dir := range f.Args() {
		names, err := filepath.Glob(filepath.Join(dir, "*.pcap*"))
		if err != nil {
			return err
		}
		for i, name := range names {
			if *half == "even" && i/2%2 == 1 || *half == "odd" && i/2%2 == 0 {
				continue
			}
			s, t, life, err := judge(name)
			if err != nil {
				fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
				continue
			}
			if s == nil {
				continue
			}
			all = append(all, *s)
			if s.end == "cli" {
				retransmissions++
				if t.Retransmitted == life.Again {
					equal++
				}
			}
		}
	}
	fmt.Printf("retransmissions equal to the kernel's at the sender: %d of %d\n", equal, retransmissions)
	table(all)
	slices.SortStableFunc(all, func(a, b scored) int { return cmp.Compare(a.right, b.right) })
	for _, s := range all[:min(*worst, len(all))] {
		fmt.Printf("%.2f %s: %s\n", s.right, s.name, s.limits)
	}
	return nil
}

// judge holds a capture against its label; nil where what was planted did not
// come about, as the kernel tells.
func judge(name string) (*scored, truth, packets.Life, error) {
	stem := strings.TrimSuffix(name, filepath.Ext(name))
	end := strings.TrimPrefix(filepath.Ext(stem), ".")
	stem = strings.TrimSuffix(stem, "."+end)
	parts := strings.Split(filepath.Base(stem), "_")
	limits := planted(parts[0], parts[len(parts)-1])
	var t truth
	text, err := os.ReadFile(stem + ".json")
	if errors.Is(err, fs.ErrNotExist) || limits == nil || json.Unmarshal(text, &t) != nil {
		return nil, t, packets.Life{}, nil
	}
	if parts[0] == "sndbuf" && t.Buffer*5 < t.Busy || parts[0] == "window" && t.Window*2 < t.Busy {
		return nil, t, packets.Life{}, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, t, packets.Life{}, err
	}
	defer file.Close()
	trace, err := packets.Read(file)
	if err != nil {
		return nil, t, packets.Life{}, err
	}
	a := packets.Analyze(name, trace)
	if len(a.Flows) == 0 || len(a.Flows[0].Limits) == 0 {
		return nil, t, packets.Life{}, errors.New("no data in it")
	}
	l := a.Flows[0]
	s := &scored{name: filepath.Base(name), label: parts[0], end: end, top: l.Limit}
	if l.Flight > 4_000_000 { // net.ipv4.tcp_wmem ends there
		limits = append(limits, flow.SendBuffer)
	}
	s.right = share(l, limits)
	if l.RTT != nil && parts[0] == "nagle" { // of a request only the first segment waits
		s.right = min(1, s.right*(2*l.RTT.Min+40)/(l.RTT.Min+40))
	}
	if idle := 1 - float64(t.Busy)/1e6/l.Duration; parts[0] == "app1" && idle > 0 { // its bursts have other limits
		s.right /= idle
	}
	if idle := 1 - float64(t.Busy)/1e6/l.Duration; parts[0] != "nagle" && l.Duration > 0 {
		for _, h := range l.Limits {
			if h.Limit == flow.Program && !slices.Contains(limits, flow.Program) {
				s.right += min(max(idle, 0), h.Share)
			}
		}
	}
	s.right = min(s.right, 1)
	for _, h := range l.Limits {
		s.limits += fmt.Sprintf("%s %.0f%% ", h.Limit, h.Share*100)
	}
	return s, t, l, nil
}

// share is that of the time in which a limit was a planted one; slow start is
// right at the beginning of every connection.
func share(l packets.Life, limits []flow.Limit) float64 {
	var right, total float64
	beginning := l.Start
	if l.RTT != nil {
		beginning += max(0.3, 14*l.RTT.Min/1000)
	}
	for _, s := range l.Spans {
		t := s.End - s.Start
		switch {
		case slices.Contains(limits, s.Limit):
			right += t
		case s.Limit == flow.SlowStart && s.Start < beginning:
			continue // part of neither
		}
		total += t
	}
	if total == 0 {
		return 0
	}
	return right / total
}

func table(all []scored) {
	var labels []string
	for _, s := range all {
		if !slices.Contains(labels, s.label) {
			labels = append(labels, s.label)
		}
	}
	slices.Sort(labels)
	sum, good := 0.0, 0
	fmt.Println("label      captures  right share of time  captures right for most of the time")
	for _, label := range labels {
		n, ok, part := 0, 0, 0.0
		for _, s := range all {
			if s.label == label {
				n++
				part += s.right
				if s.right > 0.5 {
					ok++
				}
			}
		}
		sum, good = sum+part, good+ok
		fmt.Printf("%-10s %8d  %18.1f%%  %d\n", label, n, part/float64(n)*100, ok)
	}
	fmt.Printf("%-10s %8d  %18.1f%%  %d\n", "all", len(all), sum/float64(max(1, len(all)))*100, good)
}
