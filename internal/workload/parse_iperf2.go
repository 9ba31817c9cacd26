package workload

import (
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

var (
	iperf2CSV  = regexp.MustCompile(`(?m)^[+0-9.:-]+,[^,]*,\d+,[^,]*,\d+,-?\d+,[0-9.]+-[0-9.]+,\d+,\d+`)
	iperf2Line = regexp.MustCompile(`(?:^|\s)\[ *(\*?\d+|SUM|` +
		`FD\d+)[^\]]*\] +([0-9.]+)- *([0-9.]+) +sec +([0-9.]+ [KMGTP]?Bytes) +([0-9.]+ [KMGTP]?(?:bits|Bytes)/sec)(.*)$`)
	iperf2Lost  = regexp.MustCompile(` (\d+)/ *(\d+) \(`)
	iperf2Sums  = regexp.MustCompile(`^ +(\d+)/(\d+) `) // of --sum-only, without jitter
	iperf2Delay = regexp.MustCompile(` ([0-9.]+) ms +\d+/ *\d+ \(`)
	iperf2Sent  = regexp.MustCompile(` \d+/\d+ *(\d+) +(?:-?\d+K|NA)/(\d+)(?:\(\d+\))? us`)
	iperf2Again = regexp.MustCompile(`^ +\d+/\d+ *(\d+)$`) // of a sum, after its writes and errors
	iperf2Total = 0.01                                     // how near an interval's start must be to 0, s
)

// iperf2Flow is one report; counts that it does not have are -1.
type iperf2Flow struct {
	start, end, bits, lost, sent, jitter, retransmits, rtt float64
}

// iperf2 collects the reports of one test.
type iperf2 struct {
	flows map[string]iperf2Flow
	order []string
	sums  bool // the reports' two numbers are datagrams, lost and all
	tests int  // that ended before this one
}

// parseIperf2 reads the text and the CSV (-y C) of iperf 2.0 to 2.2, with and
// without -e. Of several reports of one flow the one over the whole time
// counts, and of those the receiver's; flows are added up unless the tool did
// that itself.
func parseIperf2(text string, r *Run) error {
	t := iperf2{flows: map[string]iperf2Flow{}}
	lines(text, t.line)
	flows, order := t.flows, t.order
	if sum, ok := flows["SUM"]; ok && sum.end > 0 {
		flows, order = map[string]iperf2Flow{"SUM": sum}, []string{"SUM"}
	}
	if both := slices.DeleteFunc(slices.Clone(order), func(id string) bool { return id[0] != 'F' }); len(both) > 0 {
		order = both // --full-duplex adds up each flow's directions
	}
	var lost, sent, rtts float64
	for _, id := range order {
		f := flows[id]
		r.Metrics[Goodput] += f.bits
		r.Counted, lost, sent = max(r.Counted, f.end-f.start), lost+max(0, f.lost), sent+max(0, f.sent)
	}
	for id, f := range t.flows {
		if _, counted := flows[id]; f.retransmits >= 0 && counted {
			r.Retransmits = max(r.Retransmits, 0) + int64(f.retransmits)
		}
		if f.rtt > 0 {
			rtts++
			r.MeanRTT += (f.rtt - r.MeanRTT) / rtts
		}
		if f.jitter >= 0 {
			r.Metrics[Jitter] = max(r.Metrics[Jitter], f.jitter)
		}
	}
	if r.Counted == 0 {
		return errNoResult
	}
	if sent > 0 {
		r.packets(sent-lost, sent, r.Counted)
	}
	if t.tests > 0 { // -r, or a server's log
		r.severalTests(t.tests + 1)
	}
	return nil
}

func (t *iperf2) line(line string) {
	if cells := strings.Split(line, ","); iperf2CSV.MatchString(line) && len(cells) >= 9 {
		id, f := iperf2Cells(cells)
		t.add(id, f)
		return
	}
	switch {
	case strings.Contains(line, "Interval"):
		t.sums = strings.Contains(line, "Lost/Total") && !strings.Contains(line, "Jitter")
	case strings.Contains(line, " connected with "):
		t.begin()
	}
	m := iperf2Line.FindStringSubmatch(line)
	if m == nil {
		return
	}
	bits, ok := withUnit(m[5], rateUnits())
	f := iperf2Flow{number(m[2]), number(m[3]), bits, -1, -1, -1, -1, -1}
	if l := iperf2Lost.FindStringSubmatch(m[6]); l != nil {
		f.lost, f.sent = number(l[1]), number(l[2])
	} else if l := iperf2Sums.FindStringSubmatch(m[6]); l != nil && t.sums {
		f.lost, f.sent = number(l[1]), number(l[2])
	}
	if j := iperf2Delay.FindStringSubmatch(m[6]); j != nil {
		f.jitter = number(j[1]) / 1e3
	}
	if s := iperf2Sent.FindStringSubmatch(m[6]); s != nil {
		f.retransmits, f.rtt = number(s[1]), number(s[2])/1e6
	}
	if s := iperf2Again.FindStringSubmatch(m[6]); s != nil && m[1] == "SUM" {
		f.retransmits = number(s[1])
	}
	if ok {
		t.add(m[1], f)
	}
}

// iperf2Cells reads a line of CSV: of UDP with jitter, lost, all datagrams and
// the share lost; of a TCP client with -e with writes, errors, retransmits,
// window, RTT in us and its variance.
func iperf2Cells(cells []string) (id string, f iperf2Flow) {
	from, to, _ := strings.Cut(cells[6], "-")
	f = iperf2Flow{number(from), number(to), number(cells[8]), -1, -1, -1, -1, -1}
	switch {
	case len(cells) >= 13 && strings.Contains(cells[9], ".") && strings.Contains(cells[12], "."):
		f.jitter, f.lost, f.sent = number(cells[9])/1e3, number(cells[10]), number(cells[11])
	case len(cells) == 15:
		f.retransmits, f.rtt = number(cells[11]), number(cells[13])/1e6
	}
	if id = cells[5]; id == "-1" {
		id = "SUM"
	}
	return id, f
}

// add keeps the report over the longest time; one with losses is the
// receiver's, and stands although its time may be a little shorter.
func (t *iperf2) add(id string, f iperf2Flow) {
	old, seen := t.flows[id]
	if !seen {
		t.order = append(t.order, id)
	}
	if f.start > iperf2Total {
		return
	}
	fromReceiver := f.sent >= 0 && old.sent < 0 && f.end >= 0.9*old.end
	if seen && old.sent >= 0 && f.sent < 0 && old.end >= 0.9*f.end {
		return
	}
	if !seen || fromReceiver || f.end >= old.end {
		t.flows[id] = f
	}
}

// begin starts over when a connection comes after what was reported as whole.
func (t *iperf2) begin() {
	for _, f := range t.flows {
		if f.end > 0 {
			t.flows, t.order, t.tests = map[string]iperf2Flow{}, nil, t.tests+1
			return
		}
	}
}
