package facts

import (
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/kerneltext"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/units"
)

var iperfEnds = regexp.MustCompile(`^\[ *(\d+)\] local (\S+) port (\d+) connected (?:to|with) (\S+) port (\d+)`)

// transferLimit bounds the streams that are kept.
const transferLimit = 256

// readTransfers reads what iperf3 prints at the sender of TCP. Sums over
// streams and the summary are left out.
func (f *Facts) readTransfers(t text) error {
	found := f.readIperfJSON(t)
	at, received := map[string]int{}, map[string]int{}
	ends := map[string][2]string{}
	for i, line := range t.lines() {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "Connecting to host ") || strings.HasPrefix(line, "Accepted connection") {
			at, received, found = map[string]int{}, map[string]int{}, true // another test
			continue
		}
		if m := iperfWindow.FindStringSubmatch(line); m != nil && len(f.TestWindows) < rowLimit {
			f.TestWindows = append(f.TestWindows, TestWindow{Asked: iperfSize(m[3], m[4]), Got: iperfSize(m[1], m[2]),
				Source: f.Line(t.from, i+1)})
			found = true
			continue
		}
		if f.testProcessors(line, t.from, i+1) {
			found = true
			continue
		}
		if m := iperfEnds.FindStringSubmatch(line); m != nil {
			ends[m[1]] = [2]string{m[2] + ":" + m[3], m[4] + ":" + m[5]}
			continue
		}
		l, ok := kerneltext.ParseIperfLine(line)
		if !ok {
			found = f.otherTest(line, t.from, i+1) || found
			continue
		}
		found = true
		f.transferEnd(l, f.Line(t.from, i+1))
		if l.Window < 0 && l.Lost < 0 && l.Role == "" && !l.Total && !l.Omitted && l.Stream != "SUM" {
			l.Again, l.Window = 0, 0
			f.Receipts = countIn(f.Receipts, received, ends, l, f.Line(t.from, i+1))
		}
		if l.Window <= 0 || l.Stream == "SUM" || strings.HasPrefix(l.Way, "RX") || l.Role == "sender" || l.Omitted {
			continue
		}
		f.Transfers = countIn(f.Transfers, at, ends, l, f.Line(t.from, i+1))
		for _, other := range at {
			f.Transfers[other].Parallel = len(at) > 1
		}
	}
	return nothingUnless(found)
}

var (
	// netperf's TCP_STREAM: sizes of the buffers and of the message, seconds, Mbit/s (src/nettest_bsd.c).
	netperfRow = regexp.MustCompile(`^\s*\d+ +\d+ +\d+ +(\d+\.\d+) +(\d+\.\d+)\s*$`)
	// What nuttcp says at the end: "281.5 MB / 10.03 sec = 235.4 Mbps 11 %TX 20 %RX 38 retrans 0.45 msRTT" (nuttcp.c).
	nuttcpEnd = regexp.MustCompile(`^([0-9.]+) MB / +([0-9.]+) sec = +([0-9.]+) Mbps +\d+ %TX +\d+ %RX(?: +(\d+) retrans)?(?: +([0-9.]+) msRTT)?`)
)

// otherTest keeps what netperf and nuttcp say at the end of a test.
func (f *Facts) otherTest(line, from string, at int) bool {
	end := TransferEnd{Stream: "1", Role: "total", Retransmits: -1, Lost: -1, Datagrams: -1, Source: f.Line(from, at)}
	if m := netperfRow.FindStringSubmatch(line); m != nil {
		end.Seconds, end.Rate = amount(m[1]), units.Rate(min(1e6*amount(m[2]), 1e15))
		end.Bytes = float64(end.Rate) * end.Seconds / 8
	} else if m := nuttcpEnd.FindStringSubmatch(line); m != nil {
		end.Bytes, end.Seconds, end.Rate = amount(m[1])*(1<<20), amount(m[2]), units.Rate(min(1e6*amount(m[3]), 1e15))
		end.RTT = amount(m[5]) / 1000
		if again, ok := count(m[4]); ok {
			end.Role, end.Retransmits = "sender", int64(min(again, 1<<40))
		}
	} else {
		return false
	}
	if end.Seconds <= 0 || end.Rate <= 0 || len(f.TransferEnds) >= transferLimit {
		return false
	}
	f.TransferEnds = append(f.TransferEnds, end)
	return true
}

// iperfProcessors is one end of what iperf3 -V says of processors (src/iperf_locale.c, report_cpu): "local/sender 99.7%
// (6.8%u/92.9%s)", of which one core is 100%.
var iperfProcessors = regexp.MustCompile(`\b(local|remote)/(sender|receiver) (\d{1,5}(?:\.\d+)?)% \(`)

// testProcessors keeps what a line says of the processor time of a test's ends.
func (f *Facts) testProcessors(line, from string, at int) bool {
	if !strings.HasPrefix(line, "CPU Utilization: ") {
		return false
	}
	ends := iperfProcessors.FindAllStringSubmatch(line, 2)
	for _, m := range ends {
		if len(f.TestProcessors) < rowLimit {
			f.TestProcessors = append(f.TestProcessors,
				TestProcessor{End: m[1], Role: m[2], Share: amount(m[3]) / 100, Source: f.Line(from, at)})
		}
	}
	return len(ends) > 0
}

// countIn adds an interval to that of its stream.
func countIn(all []Transfer, at map[string]int, ends map[string][2]string, l kerneltext.IperfLine, src Source) []Transfer {
	k, have := at[l.Stream]
	if have && l.From == 0 && all[k].Intervals > 1 && l.To >= all[k].Seconds {
		return all // the sum of what it printed
	}
	if !have || l.From == 0 && all[k].Seconds > 0 { // iperf 2 begins another test without a word of its own
		if len(all) >= transferLimit {
			return all
		}
		k = len(all)
		at[l.Stream] = k
		all = append(all, Transfer{Local: ends[l.Stream][0], Peer: ends[l.Stream][1]})
	}
	all[k].interval(l, src)
	return all
}

// iperfWindow is what iperf 2 says of a buffer that -w set (src/ReportDefault.c): on Linux it gets twice as much.
var iperfWindow = regexp.MustCompile(`^TCP window size: +([0-9.]+) ([KMG]?)Byte \(WARNING: requested +([0-9.]+) ([KMG]?)Byte\)`)

// iperfSize is a size in powers of 1024.
func iperfSize(number, prefix string) int64 {
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || v < 0 || v > 1e9 {
		return 0
	}
	for range strings.Index(" KMG", prefix) * len(prefix) {
		v *= 1024
	}
	return int64(v)
}

func (tr *Transfer) interval(l kerneltext.IperfLine, src Source) {
	tr.Intervals++
	if tr.Intervals > 1 {
		tr.Fastest = max(tr.Fastest, units.Rate(min(l.BPS, 1e15)))
	}
	tr.Bytes += l.Bytes
	tr.Seconds += max(l.To-l.From, 0)
	tr.Retransmits += uint64(l.Again)
	if tr.Lossy > 0 {
		tr.AfterBytes += l.Bytes
		tr.AfterAgain += uint64(l.Again)
		tr.AfterSeconds += max(l.To-l.From, 0)
	} else {
		tr.Before = max(tr.Before, units.Rate(min(l.BPS, 1e15)))
	}
	if l.Again > 0 || l.Window < 0.98*tr.Window || l.Window > 1.02*tr.Window {
		tr.Steady, tr.SteadyBytes, tr.SteadySeconds = 0, 0, 0
	} else {
		tr.Steady++
		tr.SteadyBytes += l.Bytes
		tr.SteadySeconds += max(l.To-l.From, 0)
		tr.SteadySource = src
	}
	tr.Window = max(tr.Window, l.Window)
	if l.Bytes == 0 && l.Again == 0 && l.Window >= 1<<16 {
		tr.Held++
		tr.HeldSource = src
	}
	tells := false
	if l.Again > 0 {
		tr.Lossy++
		tells = true
	}
	if l.Bytes == 0 && l.Window < 10000 {
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

// transferEnd keeps a line of the summary, and adds up the intervals of UDP until it comes.
func (f *Facts) transferEnd(l kerneltext.IperfLine, src Source) {
	if l.Role == "" && l.Total && l.Lost < 0 {
		l.Role = "total"
	}
	if l.Omitted || l.Role == "" && l.Lost < 0 || len(f.TransferEnds) >= transferLimit {
		return
	}
	end := TransferEnd{Stream: l.Stream, Role: l.Role, Way: l.Way, Bytes: l.Bytes, Seconds: max(l.To-l.From, 0),
		Rate: units.Rate(min(l.BPS, 1e15)), Retransmits: int64(min(l.Again, 1e15)), Lost: int64(min(l.Lost, 1e15)),
		Datagrams: int64(min(l.Sent, 1e15)), To: l.To, Source: src}
	at := -1
	for i, e := range f.TransferEnds { // the last one: another test begins at 0 again
		if e.Role == "" && e.Stream == l.Stream && e.Way == l.Way {
			at = i
		}
	}
	if at >= 0 && l.Role == "" && l.From < 0.9*f.TransferEnds[at].To {
		at = -1
	}
	switch {
	case at < 0:
		f.TransferEnds = append(f.TransferEnds, end)
	case l.Role != "": // what the intervals said is in it
		f.TransferEnds = append(slices.Delete(f.TransferEnds, at, at+1), end)
	default:
		e := &f.TransferEnds[at]
		e.Bytes, e.Seconds = e.Bytes+end.Bytes, e.Seconds+end.Seconds
		e.Lost, e.Datagrams = e.Lost+end.Lost, e.Datagrams+end.Datagrams
		if e.Seconds > 0 {
			e.Rate = units.Rate(min(8*e.Bytes/e.Seconds, 1e15))
		}
		e.To, e.Source = l.To, src
		e.Intervals++
	}
}
