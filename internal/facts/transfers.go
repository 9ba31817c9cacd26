package facts

import (
	"regexp"
	"strconv"
	"strings"
)

var (
	iperfEnds = regexp.MustCompile(`^\[ *(\d+)\] local (\S+) port (\d+) connected (?:to|with) (\S+) port (\d+)`)
	// iperfLine is an interval: stream, role with --bidir, begin, end, amount, rate,
	// and at the sender of TCP the retransmissions and the window.
	iperfLine = regexp.MustCompile(`^\[ *(\d+)\](?:\[(TX|RX)-[CS]\])? +(\d+\.\d+)-(\d+\.\d+) +sec +(\d+(?:\.\d+)?) ([KMGT]?)Bytes +(\d+(?:\.\d+)?) ([KMGT]?)bits/sec(?: +(\d+) +(\d+(?:\.\d+)?) ([KMGT]?)Bytes)?(.*)$`)
)

// transferLimit bounds the streams that are kept.
const transferLimit = 256

// readTransfers reads what iperf3 prints at the sender of TCP (iperf3
// src/iperf_api.c, iperf_print_intermediate): amounts and windows in powers of
// 1024. Sums over streams and the summary are left out.
func (f *Facts) readTransfers(t text) error {
	found := false
	at := map[string]int{}
	ends := map[string][2]string{}
	for i, line := range t.lines() {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "Connecting to host ") || strings.HasPrefix(line, "Accepted connection") {
			at, found = map[string]int{}, true // another test
			continue
		}
		if m := iperfEnds.FindStringSubmatch(line); m != nil {
			ends[m[1]] = [2]string{m[2] + ":" + m[3], m[4] + ":" + m[5]}
			continue
		}
		m := iperfLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		found = true
		if m[9] == "" || m[2] == "RX" || strings.Contains(m[12], "sender") || strings.Contains(m[12], "omitted") {
			continue
		}
		k, have := at[m[1]]
		if !have {
			if len(f.Transfers) >= transferLimit {
				continue
			}
			k = len(f.Transfers)
			at[m[1]] = k
			f.Transfers = append(f.Transfers, Transfer{Local: ends[m[1]][0], Peer: ends[m[1]][1]})
		}
		f.Transfers[k].interval(m, f.Line(t.from, i+1))
	}
	if !found {
		return errNothing
	}
	return nil
}

func (tr *Transfer) interval(m []string, src Source) {
	number := func(s string) float64 { v, _ := strconv.ParseFloat(s, 64); return v } // digits, by the pattern
	binary := func(s, unit string) float64 {
		return number(s) * float64(uint64(1)<<(10*strings.Index(" KMGT", unit+"")))
	}
	amount := number(m[5])
	if m[6] != "" {
		amount = binary(m[5], m[6])
	}
	window := number(m[10])
	if m[11] != "" {
		window = binary(m[10], m[11])
	}
	again, _ := count(m[9])
	tr.Intervals++
	tr.Bytes += amount
	tr.Seconds += max(number(m[4])-number(m[3]), 0)
	tr.Retransmits += again
	tr.Window = max(tr.Window, window)
	tells := false
	if again > 0 {
		tr.Lossy++
		tells = true
	}
	if amount == 0 && window < 10000 {
		tr.Stalled++
		tells = true
	}
	if tells {
		if tr.Source.Text == "" {
			tr.Source = src
		}
		tr.Last = src
	}
}
