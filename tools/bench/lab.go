package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// paths measures what iperf3 carries over emulated paths. It has large socket
// buffers, since the path is to be the limit. The same without iperf3, and beside
// a sketch in C, are the benchmarks of internal/lab.
func paths(program, dir string) error {
	fmt.Printf("TCP over emulated paths on %d processors, 5 s of iperf3 each\n", runtime.NumCPU())
	t := newTable()
	var one float64
	for _, r := range []struct {
		what, goal, link string
		streams          int
	}{
		{"no limit, one stream", "12 Gbit/s", "rtt=20ms", 1},
		{"no limit, four streams", "no slower", "rtt=20ms", 4},
		{"10 Gbit/s with loss", "8 Gbit/s", "rate=10gbit,rtt=20ms,loss=1e-5", 1},
		{"10 Gbit/s, 200 ms", "", "rate=10gbit,rtt=200ms", 1},
	} {
		if _, err := exec.LookPath("iperf3"); err != nil {
			t.row(r.what, r.goal, "iperf3 is not installed", "")
			continue
		}
		goodput, note, err := overPath(program, dir, r.link, r.streams)
		if err != nil {
			t.row(r.what, r.goal, "not measured", err.Error())
			continue
		}
		if r.streams == 1 && one == 0 {
			one = goodput
		} else if r.streams > 1 && one > 0 {
			note = fmt.Sprintf("%.2f of one stream's; %s", goodput/one, note)
		}
		t.row(r.what, r.goal, fmt.Sprintf("%.1f Gbit/s", goodput/1e9), note)
	}
	if _, err := exec.LookPath("mm-delay"); err != nil {
		t.row("mahimahi", "", "not installed", "Debian 12 has no package of it")
	}
	return t.end()
}

// overPath returns the goodput of iperf3 over a link, and what the emulator says
// of itself.
func overPath(program, dir, link string, streams int) (goodput float64, note string, err error) {
	stats, result := filepath.Join(dir, "stats.json"), filepath.Join(dir, "iperf3.json")
	const buffers = `sysctl -qw net.ipv4.tcp_rmem='4096 131072 536870912' net.ipv4.tcp_wmem='4096 16384 536870912'; `
	client := fmt.Sprintf(buffers+`exec iperf3 -J -O 2 -t 5 -P %d -c "$WIRERATE_PEER" >%s`, streams, result)
	cmd := exec.Command(program, "lab", "exec", link, "--stats", stats, "--serve", buffers+"exec iperf3 -s >/dev/null",
		"--", "sh", "-c", client)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		line, _, _ := strings.Cut(strings.TrimSpace(stderr.String()), "\n")
		return 0, "", fmt.Errorf("%w: %s", err, line)
	}
	var report struct {
		End struct {
			Received struct {
				Rate float64 `json:"bits_per_second"`
			} `json:"sum_received"`
		} `json:"end"`
	}
	var emulator struct {
		Links []struct {
			Up struct {
				Units, Segments float64
				CPU             float64 `json:"cpu_ns"`
				Stalled         float64 `json:"stalled_ns"`
			}
			KeptUp bool `json:"kept_up"`
		}
	}
	if err := errors.Join(readJSON(result, &report), readJSON(stats, &emulator)); err != nil {
		return 0, "", err
	}
	if len(emulator.Links) == 0 || emulator.Links[0].Up.Units == 0 {
		return 0, "", errors.New("nothing went over the link")
	}
	up := emulator.Links[0].Up
	note = fmt.Sprintf("%.1f us of CPU for a unit of %.0f segments, behind for %.0f ms", up.CPU/up.Units/1e3,
		up.Segments/up.Units, up.Stalled/1e6)
	return report.End.Received.Rate, note, nil
}

func readJSON(name string, v any) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, v)
}
