package packets

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/flow"
	"github.com/wirerate/wirerate/internal/units"
)

const (
	pause   = int64(100e6) // a silence of UDP that counts, nanoseconds
	stretch = int64(100e6) // over which its peak rate is measured
	maxSpin = 64
)

// Datagrams are what UDP shows without its programs' help, of one direction.
type Datagrams struct {
	Packets, Bytes int64
	First, Last    int64 // nanoseconds
	Longest        int64 // the longest pause between two
	Pauses, Paused int64 // pauses of 100 ms and more, and their time
	Peak           int64 // the most bytes in 100 ms
	began, bytes   int64 // of the present 100 ms
	rtp            rtp
	quic           quic
}

// add takes a datagram; data is what was captured of it.
func (u *Datagrams) add(p *packet, data []byte) {
	t := max(p.Time, u.Last)
	if u.Packets == 0 {
		u.First, u.Last, u.began = t, t, t
	}
	if silent := t - u.Last; silent > 0 {
		u.Longest = max(u.Longest, silent)
		if silent >= pause {
			u.Pauses++
			u.Paused += silent
		}
	}
	if t-u.began >= stretch {
		u.began, u.bytes = t, 0
	}
	u.bytes += int64(p.Len)
	u.Peak = max(u.Peak, u.bytes)
	u.Packets++
	u.Bytes += int64(p.Len)
	u.Last = t
	u.rtp.add(data)
	u.quic.add(data, t)
}

// rtp follows sequence numbers of the Real-time Transport Protocol (RFC 3550)
// as long as all packets of a flow look like one stream's.
type rtp struct {
	packets, lost, late int64
	not                 bool // something else
	source              uint32
	next                uint16
}

func (r *rtp) add(data []byte) {
	if r.not || len(data) < 12 || data[0]>>6 != 2 {
		r.not = true
		return
	}
	number, source := be16(data[2:]), be32(data[8:])
	if r.packets > 0 && source != r.source {
		r.not = true
		return
	}
	switch ahead := int16(number - r.next); {
	case r.packets == 0 || ahead == 0:
		r.next = number + 1
	case ahead > 0 && ahead < 3000: // RFC 3550, A.1
		r.lost += int64(ahead)
		r.next = number + 1
	case ahead < 0 && ahead > -100:
		r.late++
		r.lost = max(0, r.lost-1)
	default:
		r.not = true
		return
	}
	r.source = source
	r.packets++
}

func (r *rtp) is() bool { return !r.not && r.packets >= 8 }

// quic sees what QUIC does not encrypt (RFC 8999, RFC 9000): the version, and the
// spin bit, which turns over once in a round trip.
type quic struct {
	version uint32
	short   int64 // packets with a short header
	spin    bool
	turned  int64 // when the bit did
	turns   int64 // how often
	trips   []int64
}

func (q *quic) add(data []byte, t int64) {
	if len(data) < 5 || data[0]&0x40 == 0 {
		return
	}
	if data[0]&0x80 != 0 {
		if v := be32(data[1:]); v == 1 || v == 0x6b3343cf { // RFC 9000, RFC 9369
			q.version = v
		}
		return
	}
	spin := data[0]&0x20 != 0
	if q.short++; q.short > 1 && spin != q.spin {
		if q.turned != 0 && len(q.trips) < maxSpin {
			q.trips = append(q.trips, t-q.turned)
		}
		q.turned = t
		q.turns++
	}
	q.spin = spin
}

// rtt is what the spin bit shows; nil where it is not in use: ends that do not
// take part leave it, or turn it at random.
func (q *quic) rtt() *RTT {
	if q.version == 0 || len(q.trips) < 4 || q.short < 4*q.turns {
		return nil
	}
	s := slices.Sorted(slices.Values(q.trips))
	in := func(i int) float64 { return float64(s[i]) / float64(time.Millisecond) }
	return &RTT{in(0), in(len(s) / 2), in(len(s) - 1)}
}

// UDP is what is told of a UDP flow alone.
type UDP struct {
	Packets int64   `json:"packets"`
	Peak    float64 `json:"peak_bps"` // over 100 ms
	Pauses  int64   `json:"pauses"`   // of 100 ms and more
	Paused  float64 `json:"paused_s"` // their time
	Longest float64 `json:"longest_pause_s"`
	QUIC    bool    `json:"quic"`
	RTP     bool    `json:"rtp"`
	Lost    int64   `json:"lost"` // by RTP's sequence numbers; 0 where they are not seen
	Late    int64   `json:"late"` // overtaken, by them
}

// datagrams tell a UDP flow's life.
func (f *Flow) datagrams(start int64) Life {
	u, back, from, to := &f.UDPs[0], &f.UDPs[1], f.A, f.B
	if back.Bytes > u.Bytes {
		u, back, from, to = back, u, f.B, f.A
	}
	l := Life{Protocol: "udp", From: from.String(), To: to.String(), Bytes: u.Bytes, Back: back.Bytes,
		Limit: flow.Unknown, Limits: []Held{}, Spans: []Stretch{}, Vantage: string(flow.Nowhere),
		Evidence: []flow.Event{}, Fix: []Fix{}, Notes: []string{},
		Start: float64(u.First-start) / 1e9, Duration: float64(u.Last-u.First) / 1e9}
	l.Counts.Segments, l.Counts.Bytes = u.Packets, u.Bytes
	if l.Duration > 0 {
		l.Goodput = float64(u.Bytes) * 8 / l.Duration
	}
	l.UDP = &UDP{Packets: u.Packets, Peak: max(l.Goodput, float64(u.Peak)*8e9/float64(stretch)), Pauses: u.Pauses,
		Paused: float64(u.Paused) / 1e9, Longest: float64(u.Longest) / 1e9,
		QUIC: cmp.Or(u.quic.version, back.quic.version) != 0, RTP: u.rtp.is()}
	said := []string{fmt.Sprintf("%d packets, %s, at most %s over 100 ms", u.Packets, units.Rate(l.Goodput),
		units.Rate(l.UDP.Peak))}
	if u.Pauses > 0 {
		said = append(said, fmt.Sprintf("%d pauses of 100 ms and more, %s in all, the longest %s", u.Pauses,
			units.Duration(time.Duration(u.Paused)), units.Duration(time.Duration(u.Longest))))
	}
	switch {
	case l.UDP.RTP:
		l.UDP.Lost, l.UDP.Late = u.rtp.lost, u.rtp.late
		said = append(said, fmt.Sprintf("RTP: %d of %d were lost before the capture, %d came late", u.rtp.lost,
			u.rtp.lost+u.rtp.packets, u.rtp.late))
	case l.UDP.QUIC:
		u.quic.version = cmp.Or(u.quic.version, back.quic.version)
		said = append(said, "QUIC: what was lost is encrypted")
		if l.RTT = u.quic.rtt(); l.RTT != nil {
			said = append(said, fmt.Sprintf("its spin bit shows a round trip of %s",
				units.Duration(time.Duration(l.RTT.Median*float64(time.Millisecond)))))
		}
	default:
		said = append(said, "only the programs know what was lost")
	}
	l.Verdict = fmt.Sprintf("UDP from %s to %s: %s", from, to, strings.Join(said, "; "))
	return l
}
