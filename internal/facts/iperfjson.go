package facts

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/kerneltext"
	"github.com/wirerate/wirerate/internal/units"
)

// readIperfJSON reads what iperf3 -J prints, in a post perhaps without its first brace.
func (f *Facts) readIperfJSON(t text) bool {
	const start = `"start"`
	body := strings.TrimSpace(string(t.data))
	if !strings.Contains(body, start) || body[0] != '{' && !strings.HasPrefix(body, start) {
		return false
	}
	if body[0] != '{' {
		body = "{" + body
	}
	lines := t.lines()
	at := func(key, said string) Source { return f.jsonLine(t.from, lines, key, said) }
	found := false
	for _, document := range kerneltext.Iperf3Documents([]byte(body)) {
		test, err := kerneltext.ParseIperf3(document)
		if err == nil && (len(test.Intervals) > 0 || test.End.SumSent.Bytes > 0) {
			f.iperfTest(test, at)
			found = true
		}
	}
	if !found {
		return false
	}
	for i := range lines {
		f.use(t.from, i+1)
	}
	return true
}

// iperfTest keeps one test as the lines of the text would be; line quotes the one of a key of JSON.
func (f *Facts) iperfTest(test kerneltext.Iperf3, line func(key, said string) Source) {
	at := map[string]int{}
	for _, interval := range test.Intervals {
		for _, s := range interval.Streams {
			if s.Window <= 0 || s.Omitted {
				continue
			}
			f.Transfers = countIn(f.Transfers, at, nil, kerneltext.IperfLine{Stream: strconv.Itoa(s.Socket), From: s.Start, To: s.End,
				Bytes: max(s.Bytes, 0), BPS: max(s.BitsPerS, 0), Again: max(s.Retransmits, 0), Window: s.Window},
				line(`"intervals"`, fmt.Sprintf("%s, %.0f retransmits, window %s", units.Rate(max(s.BitsPerS, 0)),
					s.Retransmits, units.Bytes(s.Window))))
		}
	}
	stream := "SUM"
	for name, k := range at {
		if f.Transfers[k].Parallel = len(at) > 1; len(at) == 1 {
			stream = name
		}
	}
	if len(at) == 0 && len(test.End.Streams) == 1 {
		stream = "1"
	}
	for _, sum := range []struct {
		name, role string
		of         kerneltext.Iperf3Sum
	}{{"sum_sent", "sender", test.End.SumSent}, {"sum_received", "receiver", test.End.SumReceived}} {
		if sum.of.Seconds <= 0 || len(f.TransferEnds) >= transferLimit {
			continue
		}
		end := TransferEnd{Stream: stream, Role: sum.role, Bytes: sum.of.Bytes, Seconds: sum.of.Seconds,
			Rate: units.Rate(min(max(sum.of.BitsPerS, 0), 1e15)), Retransmits: -1, Lost: -1, Datagrams: -1}
		said := end.Rate.String()
		if again := sum.of.Retransmits; again != nil && sum.role == "sender" {
			end.Retransmits = max(*again, 0)
			said += fmt.Sprintf(", %d retransmits", end.Retransmits)
		}
		if udp := test.End.Sum; udp != nil && udp.Packets > 0 && sum.role == "receiver" {
			end.Lost, end.Datagrams = int64(min(max(udp.Lost, 0), 1e15)), int64(min(udp.Packets, 1e15))
			said += fmt.Sprintf(", %d of %d datagrams lost", end.Lost, end.Datagrams)
		}
		end.Source = line(`"`+sum.name+`"`, said)
		f.TransferEnds = append(f.TransferEnds, end)
	}
}

// jsonLine is the line on which a key of JSON stands, quoted as what was understood of its object.
func (f *Facts) jsonLine(from string, lines []string, key, said string) Source {
	i := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, key) })
	if i < 0 {
		return Source{From: from, Text: said}
	}
	src := f.Line(from, i+1)
	src.Text = strings.Trim(key, `"`) + ": " + said
	return src
}
