package facts

import (
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// Ping is what ping measured of a peer: times in seconds, counts of packets.
type Ping struct {
	Peer string  `json:"peer"`
	Min  float64 `json:"min_s"`
	Avg  float64 `json:"mean_s"`
	Max  float64 `json:"max_s"`
	// Sent and Answered are those of the summary; without one what was answered counts.
	Sent int `json:"sent"`
	// Data is what each packet carried in bytes, 0 where it was not said; TooLong is set where somebody on the path, or
	// the host itself, said that this is too much.
	Data    int  `json:"data_bytes,omitempty"`
	TooLong bool `json:"too_long,omitempty"`

	Answered int    `json:"answered"`
	Source   Source `json:"source"` // the summary of the times, or the first answer
	Counted  Source `json:"-"`      // that of the counts
	Slowest  Source `json:"-"`      // the answer that took longest, where answers were shown

	sum float64
}

// What ping prints, in any language: only the form of the numbers is looked at (iputils ping/ping_common.c, BSD ping.c,
// busybox networking/ping.c).
var (
	pingBegin   = regexp.MustCompile(`^PING6?\(?[^ ]* ?(?:bytes\) \S+ --> )?([\w.:-]+)`)
	pingFrom    = regexp.MustCompile(`^\d+ bytes from ([\w.:-]+): `)
	pingAnswer  = regexp.MustCompile(`\bttl=\d+ \S{1,12}[=<]([0-9]+(?:[.,][0-9]+)?) ?(?:ms|мс|毫秒)|hlim=\d+ time=([0-9.]+) ms`)
	pingSummary = regexp.MustCompile(` = ([0-9.]+)/([0-9.]+)/([0-9.]+)(?:/[0-9.]+)? ?(?:ms|мс)`)
	pingData    = regexp.MustCompile(`^PING.*[ :](\d+)(?:\(\d+\))? (?:data )?bytes`)
	pingRefused = regexp.MustCompile(`(?i)frag needed|message too long|packet too big`)
	pingTooLong = regexp.MustCompile(`(?i)frag needed and DF set \(mtu`)
	pingCount   = regexp.MustCompile(`^(\d+) \D+, (\d+) .*\d+(?:[.,]\d+)?%`)
)

// pingLimit bounds the peers that are kept.
const pingLimit = 64

// readPing reads ping.
func (f *Facts) readPing(t text) error {
	var p *Ping
	for i, line := range t.lines() {
		line = strings.TrimSpace(line)
		at := func() Source { return f.Line(t.from, i+1) }
		if strings.Contains(line, "No buffer space available") || pingTooLong.MatchString(line) {
			f.Messages = append(f.Messages, Message{shorten(line), at()})
		}
		if m := pingBegin.FindStringSubmatch(line); m != nil {
			p = f.ping(m[1])
			if m := pingData.FindStringSubmatch(line); m != nil {
				p.Data = smallNumber(m[1])
				f.use(t.from, i+1)
			}
			continue
		}
		if p == nil {
			p = f.ping("")
			if m := pingFrom.FindStringSubmatch(line); m != nil {
				p.Peer = m[1] // the heading was cut
			}
		}
		p.TooLong = p.TooLong || pingRefused.MatchString(line)
		if m := pingAnswer.FindStringSubmatch(line); m != nil {
			p.answer(milliseconds(m[1]+m[2]), at())
		} else if m := pingSummary.FindStringSubmatch(line); m != nil {
			p.Min, p.Avg, p.Max, p.Source = milliseconds(m[1]), milliseconds(m[2]), milliseconds(m[3]), at()
		} else if m := pingCount.FindStringSubmatch(line); m != nil {
			p.Sent, _ = strconv.Atoi(m[1])
			p.Answered, _ = strconv.Atoi(m[2])
			p.Counted = at()
		}
	}
	if len(f.Messages) == 0 && (p == nil || p.Source.Text == "" && p.Sent == 0) {
		return errNothing
	}
	return nil
}

// ping begins with a peer.
func (f *Facts) ping(peer string) *Ping {
	if len(f.Pings) < pingLimit {
		f.Pings = append(f.Pings, Ping{Peer: peer})
	}
	return &f.Pings[len(f.Pings)-1]
}

// answer counts an answer.
func (p *Ping) answer(s float64, at Source) {
	if p.Answered == 0 {
		p.Min, p.Source = s, at
	}
	p.Answered++
	if s >= p.Max {
		p.Slowest = at
	}
	p.Min, p.Max, p.sum = min(p.Min, s), max(p.Max, s), p.sum+s
	p.Avg = p.sum / float64(p.Answered)
	p.Sent = max(p.Sent, p.Answered)
}

func milliseconds(s string) float64 {
	v, err := strconv.ParseFloat(strings.ReplaceAll(s, ",", "."), 64)
	if err != nil || v < 0 || v > 1e7 {
		return 0
	}
	return v / 1000
}
