package facts

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// Talk is one direction of a connection, as the text of tcpdump or of tshark shows it.
type Talk struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Data are its segments that carry data, Again those of them that were sent before.
	Data  int `json:"data_segments"`
	Again int `json:"sent_again"`
	// Closed counts the segments that announce a window of zero, Asked the times that a handshake was begun with one
	// sequence number.
	Closed int `json:"zero_windows"`
	Asked  int `json:"syns"`
	// Waited is the time in seconds from the first packet of a handshake to its answer, where it was sent again before.
	Waited float64 `json:"waited_s,omitempty"`
	// Late counts the answers without data that came after the delay of an acknowledgement, and let the other end send
	// on at once; Delay is the last such delay in seconds.
	Late  int     `json:"late_acks"`
	Delay float64 `json:"delay_s,omitempty"`
	// Stuck counts how often the same full-sized segment, of so many bytes, was sent without being acknowledged.
	Stuck      int `json:"stuck"`
	StuckBytes int `json:"stuck_bytes,omitempty"`

	AgainLine  Source `json:"-"` // the first and the last line of what the counters count
	ClosedLine Source `json:"-"`
	AskedLine  Source `json:"-"`
	WaitedLine Source `json:"-"`
	LateLine   Source `json:"-"`
	StuckLine  Source `json:"-"`
}

// talking is a direction while the text is read.
type talking struct {
	Talk
	first, top uint64  // the sequence number of the handshake, and the end of what was sent
	asking     float64 // when the handshake was begun
	began, end uint64  // the last full-sized segment at the beginning of what waits
	acked      uint64  // what this direction acknowledges of the other
	at         float64
	late       float64 // when a late answer came; 0 after the next segment
	size       int     // of the last segment
	replied    bool    // anything came back
	lateSource Source
	recent     [16]segmentLine // the last ones, to tell what was shown twice
	shown      int
}

// talkLimit bounds the directions that are kept.
const talkLimit = 4096

// segmentLine is a segment of TCP in a text.
type segmentLine struct {
	from, to       string
	at             float64 // 0 is unknown
	syn, ack, end  bool
	again          bool // as tshark says it
	seq, acked     uint64
	hasSeq         bool
	window, length int
}

var (
	// print-tcp.c of tcpdump 4: "IP 192.0.2.1.51000 > 192.0.2.9.22: Flags [P.], seq 1:201, ack 1, win 501, length 200".
	tcpdumpHead = regexp.MustCompile(`(?:^|\s)(\S+) > (\S+): Flags \[([A-Z.]+)\],(.*)$`)
	tcpdumpSeq  = regexp.MustCompile(`\bseq (\d+)(?::(\d+))?`)
	tcpdumpAck  = regexp.MustCompile(`\back (\d+)`)
	tcpdumpWin  = regexp.MustCompile(`\bwin (\d+)`)
	tcpdumpLen  = regexp.MustCompile(`\blength (\d+)`)
	packetClock = regexp.MustCompile(`(?:^|\s)(\d\d):(\d\d):(\d\d\.\d+)\s`)
	// The summary of tshark and of Wireshark's list (packet-tcp.c): "12 0.031 192.0.2.1 → 192.0.2.9 TCP 1514 [TCP
	// Retransmission] 51000 → 22 [ACK] Seq=1 Ack=1 Win=501 Len=1448".
	sharkHead = regexp.MustCompile(`(?:^|\s)(\d+\.\d{3,}|\d\d:\d\d:\d\d\.\d+)\s+([0-9a-fA-F.:]{3,39})\s+(?:(?:→|->|>)\s*)?` +
		`([0-9a-fA-F.:]{3,39})\s+T(?:CP|LSv\S+)\s+\d+\s+(.*)$`)
	sharkInfo = regexp.MustCompile(`^(.*?)(\d+)\s*(?:→|->|>)\s*(\d+)\s+\[([A-Z, ]+)\]\s+Seq=(\d+)(?:\s+Ack=(\d+))?\s+` +
		`Win=(\d+)(?:.*?\bLen=(\d+))?`)
)

// PacketForm is a line of a text of packets that stands without the command.
var PacketForm = regexp.MustCompile(`\d\s+[0-9a-fA-F.:]{3,39}\s+(?:(?:→|->|>)\s*)?[0-9a-fA-F.:]{3,39}\s+TCP\s+\d+\s+.*` +
	`\[[A-Z, ]+\]\s+Seq=\d`)

// olderPacket is the form of OpenBSD's tcpdump, and of others before version 4: "192.0.2.1.51000 > 192.0.2.9.22: P 1:201(200) ack 1
// win 501 <nop,nop,timestamp 1 2>".
var olderPacket = regexp.MustCompile(`(\S+ > \S+): ([SFPRW.]{1,3})(?: (\d+:\d+)\((\d+)\))?( ack \d+)?( win \d+)?(?: <([^>]*)>)?`)

// todaysPacket rewrites an older line.
func todaysPacket(line string) string {
	if len(line) > 4096 || !strings.Contains(line, " > ") || strings.Contains(line, ": Flags [") {
		return line
	}
	m := olderPacket.FindStringSubmatchIndex(line)
	if m == nil {
		return line
	}
	part := func(i int) string {
		if m[2*i] < 0 {
			return ""
		}
		return line[m[2*i]:m[2*i+1]]
	}
	flags := part(2)
	if part(5) != "" && !strings.HasSuffix(flags, ".") {
		flags += "."
	}
	out := part(1) + ": Flags [" + flags + "],"
	for _, field := range []struct{ name, value string }{{" seq ", part(3)}, {"", part(5)}, {"", part(6)}} {
		if field.value != "" {
			out += field.name + field.value + ","
		}
	}
	if part(7) != "" {
		out += " options [" + part(7) + "],"
	}
	return line[:m[0]] + "IP " + out + " length " + cmp.Or(part(4), "0")
}

// segmentOf reads a line of tcpdump or of tshark; clock is the time of the line before, where -v broke it.
func segmentOf(line string, clock float64) (segmentLine, bool) {
	if m := tcpdumpHead.FindStringSubmatch(line); m != nil {
		s := segmentLine{from: m[1], to: m[2], at: clock, syn: strings.Contains(m[3], "S"),
			ack: strings.Contains(m[3], "."), end: strings.ContainsAny(m[3], "RF")}
		if c := packetClock.FindStringSubmatch(line); c != nil {
			s.at = clockSeconds(c[1:])
		}
		rest := m[4]
		seq, win, length := tcpdumpSeq.FindStringSubmatch(rest), tcpdumpWin.FindStringSubmatch(rest),
			tcpdumpLen.FindStringSubmatch(rest)
		if win == nil && !s.end || length == nil {
			return s, false // cut off
		}
		if seq != nil {
			s.seq, s.hasSeq = sequence(seq[1]), true
		}
		if ack := tcpdumpAck.FindStringSubmatch(rest); ack != nil {
			s.acked = sequence(ack[1])
		}
		if win != nil {
			s.window = smallNumber(win[1])
		}
		s.length = smallNumber(length[1])
		return s, true
	}
	h := sharkHead.FindStringSubmatch(line)
	if h == nil {
		return segmentLine{}, false
	}
	m := sharkInfo.FindStringSubmatch(h[4])
	if m == nil {
		return segmentLine{}, false
	}
	s := segmentLine{from: h[2] + ":" + m[2], to: h[3] + ":" + m[3], syn: strings.Contains(m[4], "SYN"),
		ack: strings.Contains(m[4], "ACK"), end: strings.Contains(m[4], "RST") || strings.Contains(m[4], "FIN"),
		seq: sequence(m[5]), hasSeq: true, acked: sequence(m[6]), window: smallNumber(m[7]), length: smallNumber(m[8]),
		again: strings.Contains(m[1], "Retransmission")}
	s.at = clockSeconds(strings.Split(h[1], ":"))
	return s, true
}

func sequence(s string) uint64 {
	v, err := strconv.ParseUint(s, 10, 32)
	if err != nil {
		return 0
	}
	return v
}

// readPackets reads the text of tcpdump (print-tcp.c) and of tshark: handshakes, what was sent again, not answered or
// refused, and losses of streams.
func (f *Facts) readPackets(t text) error {
	known := f.readHandshakes(t) == nil
	known = f.rtpLosses(t) || known
	talks := map[[2]string]*talking{}
	var order []*talking
	of := func(from, to string) *talking {
		if d := talks[[2]string{from, to}]; d != nil || len(order) >= talkLimit {
			return d
		}
		d := &talking{Talk: Talk{From: from, To: to}}
		talks[[2]string{from, to}] = d
		order = append(order, d)
		return d
	}
	clock := 0.0
	for i, line := range t.lines() {
		if len(line) > 4096 {
			continue
		}
		s, ok := segmentOf(todaysPacket(line), clock)
		clock = 0
		if m := packetTime.FindStringSubmatch(line); m != nil {
			clock = clockSeconds(m[1:])
		}
		if !ok {
			continue
		}
		known = true
		there, back := of(s.from, s.to), of(s.to, s.from)
		if there != nil && back != nil {
			there.take(s, back, func() Source { return f.Line(t.from, i+1) })
		}
	}
	for _, d := range order {
		d.settle(talks[[2]string{d.To, d.From}])
		if d.Again+d.Closed+d.Asked+d.Late+d.Stuck > 0 || d.Waited > 0 {
			f.Talks = append(f.Talks, d.Talk)
		}
	}
	return nothingUnless(known)
}

// take counts a segment; back is the other direction.
func (d *talking) take(s segmentLine, back *talking, at func() Source) {
	back.replied = true
	if s.at == 0 || d.shownTwice(s) {
		return
	}
	if s.syn {
		d.asked(s, back, at)
		return
	}
	if s.end {
		d.late = 0
		return
	}
	if s.window == 0 {
		if d.Closed++; d.Closed == 1 {
			d.ClosedLine = at()
		}
	}
	d.answers(s, back, at)
	d.acked = numbered(d.acked, s.acked)
	if s.length <= 1 { // one byte is a probe of a closed window
		return
	}
	d.data(s, back, at)
}

// shownTwice reports whether the segment stands there already: tcpdump of all interfaces (-i any) shows it on each that
// it passes, within microseconds. No sender repeats itself so soon.
func (d *talking) shownTwice(s segmentLine) bool {
	const soon = 0.002
	for _, before := range d.recent {
		at := before.at
		if before.at = s.at; before == s && s.at-at >= 0 && s.at-at < soon {
			return true
		}
	}
	d.recent[d.shown%len(d.recent)] = s
	d.shown++
	return false
}

// asked counts how often the same handshake was begun.
func (d *talking) asked(s segmentLine, back *talking, at func() Source) {
	if s.ack {
		if wait := s.at - back.asking; back.Asked > 1 && back.Waited == 0 && back.first+1 == s.acked && wait > 0 {
			back.Waited, back.WaitedLine = wait, back.AskedLine
		}
		return
	}
	if d.Asked > 0 && d.first != s.seq { // another connection from the same port
		d.Asked = 0
	}
	if d.Asked == 0 {
		d.asking = s.at
	}
	d.first = s.seq
	d.Asked++
	d.AskedLine = at()
}

// Delays of acknowledgements: 40 ms of Linux (TCP_DELACK_MIN), 200 ms of Windows and of older BSDs.
func delayedAnswer(s float64) bool { return s > 0.038 && s < 0.046 || s > 0.19 && s < 0.215 }

// answers finds acknowledgements that came late to a small segment, and set the other end free to send.
func (d *talking) answers(s segmentLine, back *talking, at func() Source) {
	const full, once = 1000, 0.002
	if back.late > 0 && s.length > 0 && s.at >= back.late && s.at-back.late < once {
		if back.Late++; back.Late == 1 {
			back.LateLine = back.lateSource
		}
	}
	back.late = 0
	if wait := s.at - back.at; s.at > 0 && back.at > 0 && s.length == 0 && s.window > 0 && back.size > 0 && back.size < full &&
		s.acked >= back.top && delayedAnswer(wait) {
		d.late, d.Delay, d.lateSource = s.at, wait, at()
	}
	d.at, d.size = s.at, s.length
}

// numbered is the greater of two numbers of one direction, or the later where tcpdump began to count from the first one
// that it saw, as it does where the handshake is not shown.
func numbered(before, now uint64) uint64 {
	const far = 4 << 20
	if before > now+far {
		return now
	}
	return max(before, now)
}

// data counts a segment with data, and whether it was sent before.
func (d *talking) data(s segmentLine, back *talking, at func() Source) {
	d.Data++
	const full = 1000
	end := s.seq + uint64(s.length)
	if numbered(d.top, end) < d.top {
		d.top, d.Stuck = 0, 0
	}
	before := s.hasSeq && d.top > 0 && end <= d.top && s.seq >= back.acked
	if s.again || before {
		if d.Again++; d.Again == 1 {
			d.AgainLine = at()
		}
	}
	switch {
	case !s.hasSeq || s.length < full:
	case d.began == s.seq && d.end == end && back.acked <= s.seq && d.Stuck > 0:
		d.Stuck++
		d.StuckLine = at()
	case back.acked > d.began || d.Stuck == 0: // the first that waits
		d.began, d.end, d.Stuck, d.StuckBytes = s.seq, end, 1, s.length
	}
	d.top = max(d.top, end)
}

// settle drops what a later answer showed to be no trouble.
func (d *talking) settle(back *talking) {
	if d.Stuck < 3 || back != nil && back.acked > d.began {
		d.Stuck = 0
	}
	if d.Asked < 3 || d.replied {
		d.Asked = 0
	}
}
