package kerneltext

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// Iperf3 is the part of iperf3's JSON (-J) that is used, of versions 3.1 to 3.19. The reverse sums are those of the
// other direction of --bidir.
type Iperf3 struct {
	Error     string           `json:"error"`
	Intervals []Iperf3Interval `json:"intervals"`
	End       struct {
		Streams []struct {
			Sender struct {
				MeanRTT float64 `json:"mean_rtt"` // us
			} `json:"sender"`
		} `json:"streams"`
		Sum                *Iperf3Sum `json:"sum"` // of UDP
		SumSent            Iperf3Sum  `json:"sum_sent"`
		SumReceived        Iperf3Sum  `json:"sum_received"`
		SumSentReverse     *Iperf3Sum `json:"sum_sent_bidir_reverse"`
		SumReceivedReverse *Iperf3Sum `json:"sum_received_bidir_reverse"`
	} `json:"end"`
}

// Iperf3Interval is an interval of a test, over all streams.
type Iperf3Interval struct {
	Streams    []Iperf3Stream `json:"streams"`
	Sum        Iperf3Sum      `json:"sum"`
	SumReverse *Iperf3Sum     `json:"sum_bidir_reverse"`
}

// Iperf3Sum is what all streams of a direction carried.
type Iperf3Sum struct {
	Bytes       float64 `json:"bytes"`
	BitsPerS    float64 `json:"bits_per_second"`
	Retransmits *int64  `json:"retransmits"`
	Omitted     bool    `json:"omitted"`
	Seconds     float64 `json:"seconds"`
	Packets     float64 `json:"packets"`
	Lost        float64 `json:"lost_packets"`
	JitterMS    float64 `json:"jitter_ms"`
}

// Iperf3Stream is an interval of one stream; the window is that of a sender of TCP, 0 where it is not said.
type Iperf3Stream struct {
	Socket      int     `json:"socket"`
	Start       float64 `json:"start"` // s
	End         float64 `json:"end"`   // s
	Bytes       float64 `json:"bytes"`
	BitsPerS    float64 `json:"bits_per_second"`
	Retransmits float64 `json:"retransmits"`
	Window      float64 `json:"snd_cwnd"` // bytes
	Omitted     bool    `json:"omitted"`
}

// ParseIperf3 reads the JSON of one test. What iperf3 says in place of a result is its Error, and none of this
// function.
func ParseIperf3(data []byte) (Iperf3, error) {
	var out Iperf3
	err := json.Unmarshal(data, &out)
	if err == nil {
		return out, nil
	}
	cut := json.NewDecoder(bytes.NewReader(data)).Decode(&json.RawMessage{})
	if errors.Is(cut, io.ErrUnexpectedEOF) || errors.Is(cut, io.EOF) {
		return out, fmt.Errorf("its JSON is cut short: %q", clip(data))
	}
	return out, fmt.Errorf("its output is not the JSON of iperf3 -J (%w): %q", err, clip(data))
}

func clip(data []byte) string {
	const most = 200
	if len(data) <= most {
		return string(data)
	}
	return string(data[:most]) + "..."
}

// Iperf3Documents are the tests in a file to which -J was written several times; one that is cut short or no JSON is
// the last. The events of --json-stream (iperf 3.17 and later) are put together as -J prints them.
func Iperf3Documents(data []byte) (out [][]byte) {
	data = unstreamed(data)
	in := json.NewDecoder(bytes.NewReader(data))
	for {
		from := in.InputOffset()
		var one json.RawMessage
		if err := in.Decode(&one); errors.Is(err, io.EOF) {
			return out
		} else if err != nil {
			return append(out, bytes.TrimSpace(data[from:]))
		}
		out = append(out, one)
	}
}

// unstreamed puts the events of --json-stream, one JSON object a line, together; anything else stays as it is.
func unstreamed(data []byte) []byte {
	type event struct {
		Event string          `json:"event"`
		Data  json.RawMessage `json:"data"`
	}
	whole := map[string]any{}
	intervals := []json.RawMessage{}
	in := json.NewDecoder(bytes.NewReader(data))
	for {
		var e event
		if err := in.Decode(&e); errors.Is(err, io.EOF) {
			break
		} else if err != nil || e.Event == "" {
			return data
		}
		switch e.Event {
		case "interval":
			intervals = append(intervals, e.Data)
		case "start", "end", "error":
			whole[e.Event] = e.Data
		}
	}
	if _, ended := whole["end"]; !ended && whole["error"] == nil {
		whole["error"] = "its stream of events has no end: the test was cut short"
	}
	whole["intervals"] = intervals
	joined, err := json.Marshal(whole)
	if err != nil {
		return data
	}
	return joined
}

// IperfLine is a line of iperf3's text: an interval of a stream, or a sum over the time or over the streams.
type IperfLine struct {
	Stream string // its number, or SUM
	// Way is TX or RX with --bidir, with the end that counted behind it: TX-C.
	Way        string
	From, To   float64 // s
	Bytes, BPS float64
	// Again are segments that TCP sent again, Window its congestion window in bytes; Lost and Sent are UDP's datagrams.
	// Counts that the line does not have are -1.
	Again, Window, Lost, Sent float64
	// Role is sender or receiver in the summary, Omitted is set while the test warms up. Total lines of iperf 2, which
	// prints times with one digit, and with two since 2.1, begin with the test.
	Role    string
	Omitted bool
	Total   bool
}

var (
	iperfLine = regexp.MustCompile(`(?:^|\s)\[ *(\d+|SUM)\](?:\[([A-Z-]+)\])? +([0-9.]+)- *([0-9.]+) +sec ` +
		`+([0-9.]+) ([KMGT]?)Bytes +\**([0-9.]+) ([KMGT]?)(bits|Bytes)/sec(.*)$`) // iperf 2 pads the end: "0.0- 1.0 sec"
	iperfSent = regexp.MustCompile(`^ +(\d+)(?: +([0-9.]+) ([KMGT]?)Bytes)?(?: |$)`)
	// What iperf 2 says with -e: writes and failed ones, segments that were sent again, window and round-trip time.
	iperf2Sent  = regexp.MustCompile(`^ +\d+/\d+ +(\d+) +(\d+)([KMG]?)/\d+(?:\(\d+\))? us\b`)
	iperf2Times = regexp.MustCompile(`^\d+\.\d$`)
	iperfLost   = regexp.MustCompile(` (\d+)/ *(\d+) \(`)
	// A row of ethr (clientui.go, printTestResult): the rate alone, in bits and powers of 1000.
	ethrLine = regexp.MustCompile(`^\[ *(\d+|SUM)\] +(TCP|UDP) +(\d{3,6})-(\d{3,6}) sec +([0-9.]+)([KMGT]?)$`)
)

// ParseIperfLine reads a line of the text that iperf3 prints (src/iperf_api.c, iperf_print_intermediate): amounts and
// windows in powers of 1024, rates in powers of 1000 where they are of bits.
func ParseIperfLine(line string) (IperfLine, bool) {
	m := iperfLine.FindStringSubmatch(line)
	if m == nil {
		return parseEthrLine(line)
	}
	rest := strings.TrimRight(m[10], " \r")
	l := IperfLine{Stream: m[1], Way: m[2], From: number(m[3]), To: number(m[4]), Bytes: scaled(m[5], m[6], 1024),
		BPS: scaled(m[7], m[8], 1000), Again: -1, Window: -1, Lost: -1, Sent: -1, Omitted: strings.Contains(rest, "omitted")}
	if m[9] == "Bytes" {
		l.BPS = 8 * scaled(m[7], m[8], 1024)
	}
	if role := rest[strings.LastIndexByte(rest, ' ')+1:]; role == "sender" || role == "receiver" {
		l.Role = role
	}
	if d := iperfLost.FindStringSubmatch(rest); d != nil {
		l.Lost, l.Sent = number(d[1]), number(d[2])
	} else if s := iperf2Sent.FindStringSubmatch(rest); s != nil {
		l.Again, l.Window = number(s[1]), scaled(s[2], s[3], 1024)
	} else if s := iperfSent.FindStringSubmatch(rest); s != nil && (s[2] != "" || l.Role == "sender") {
		if l.Again = number(s[1]); s[2] != "" {
			l.Window = scaled(s[2], s[3], 1024)
		}
	}
	l.Total = l.From == 0 && l.To >= 5 && l.Role == "" && l.Window < 0 &&
		(iperf2Times.MatchString(m[3]) && iperf2Times.MatchString(m[4]) || l.To != math.Trunc(l.To))
	return l, true
}

func parseEthrLine(line string) (IperfLine, bool) {
	m := ethrLine.FindStringSubmatch(line)
	if m == nil {
		return IperfLine{}, false
	}
	l := IperfLine{Stream: m[1], From: number(m[3]), To: number(m[4]), BPS: scaled(m[5], m[6], 1000), Again: -1, Window: -1,
		Lost: -1, Sent: -1}
	l.Bytes = l.BPS * max(l.To-l.From, 0) / 8
	return l, true
}

// scaled reads a number with a prefix.
func scaled(s, prefix string, base float64) float64 {
	v := number(s)
	for range strings.Index(" KMGT", prefix) * len(prefix) {
		v *= base
	}
	return v
}
