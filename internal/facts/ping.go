package facts

import (
	"slices"
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
	// Sent and Answered are those of the summary; without one, what was answered, and what was seen to be missing
	// between two answers.
	Sent int `json:"sent"`
	// Data is what each packet carried in bytes, 0 where it was not said; TooLong is set where somebody on the path, or
	// the host itself, said that this is too much.
	Data    int  `json:"data_bytes,omitempty"`
	TooLong bool `json:"too_long,omitempty"`
	// Swept says that the packets grew up to Data (ping -g -G of the BSDs); Largest is what the largest answered one carried.
	Swept   bool `json:"swept,omitempty"`
	Largest int  `json:"largest_answered_bytes,omitempty"`

	// Took are the seconds from the first packet to the last one, 0 where they were not printed.
	Took float64 `json:"-"`

	Answered int    `json:"answered"`
	Source   Source `json:"source"` // the summary of the times, or the first answer
	Counted  Source `json:"-"`      // that of the counts
	Slowest  Source `json:"-"`      // the answer that took longest, where answers are shown
	Refused  Source `json:"-"`      // that of TooLong
	Missing  Source `json:"-"`      // the first answer, or complaint, behind which or in whose place one is missing

	times     []float64 // of the answers that are shown
	sum       float64
	last      int          // the number of the last answer
	awaited   map[int]bool // the numbers that count as sent and have no answer so far
	adjoining bool         // the line before this one was an answer
}

// What ping prints, in any language: only the form of the numbers is looked at (iputils ping/ping_common.c, BSD ping.c,
// busybox networking/ping.c, and the ping of Windows).
var (
	pingBegin = regexp.MustCompile(`^PING6?\(?[^ ]* ?(?:bytes\) \S+ --> )?([\w.:-]+)|` +
		`^(?:Pinging|Ping wird ausgeführt für|Haciendo ping a|Envoi d.une requête 'Ping'|` +
		`Esecuzione di Ping) +([\w.:-]+).* \d+ [Bbo]\S+`)
	pingAnswer = regexp.MustCompile(`\bttl=\d+ \S{1,12}[=<]([0-9]+(?:[.,][0-9]+)?) ?(?:ms|мс|毫秒)|` +
		`hlim=\d+ time=([0-9.]+) ms|` +
		`: ?\S+=\d+ \S+[=<](\d+) ?ms TTL=\d+`)
	pingNumber = regexp.MustCompile(`\b(?:icmp_|icmp6_)?[rs]eq=(\d+)`)
	pingFrom   = regexp.MustCompile(`^\d+ [Bb]\S+ \S+ (?:\S+ \(([\w.:-]+)\)|([\w.:-]+?)):? |` +
		`^[A-Z]\S+ \S+ ([0-9][\d.]+[0-9]) ?: ?\S+=\d+ `)
	pingSummary = regexp.MustCompile(` = ([0-9.]+)/([0-9.]+)/([0-9.]+)(?:/[0-9.]+)? ?(?:ms|мс)`)
	pingTimes   = regexp.MustCompile(`^\S+ = (\d+) ?ms, \S+ = (\d+) ?ms, \S+ = (\d+) ?ms$`)
	pingData    = regexp.MustCompile(`^P(?:ING|ing).*[ :](\d+)(?:\(\d+\))? (?:data )?[Bb]ytes`)
	pingSweep   = regexp.MustCompile(`^PING.*\(\d+ \.\.\. (\d+)\) data bytes`)
	pingSize    = regexp.MustCompile(`^(\d+) bytes from `)
	pingRefused = regexp.MustCompile(`(?i)frag needed|message too long|packet too big|` +
		`packet needs to be fragmented but DF set`)
	// What others said instead of an answer, and what arping says of them (iputils, arping.c).
	pingTold = regexp.MustCompile(`No buffer space available|(?i:frag needed and DF set \(mtu|` +
		`local error: message too long,? \(?mtu)|(?i:time to live exceeded|ttl expired in transit|redirect (?:host|network)|` +
		`destination (?:host|net) unreachable|packet filtered|communication prohibited)|^Unicast reply from |` +
		`^ARPING \S+ from 0\.0\.0\.0`)
	pingCount = regexp.MustCompile(`^(\d+) \D+, (\d+) .*\d+(?:[.,]\d+)?%|^\S+ ?: \S+ = (\d+), \S+ = (\d+), \S+ = \d+`)
	pingTook  = regexp.MustCompile(`, time (\d+) ?ms$`)
	pingSent  = regexp.MustCompile(`^\d+ packets transmitted, \d+ (?:packets )?received`)
	pingNone  = regexp.MustCompile(`^(?:Request timed out\.|no answer yet for icmp_seq=(\d+)|` +
		`Request timeout for icmp_seq (\d+)|` +
		`Zeitüberschreitung der Anforderung\.|Délai d.attente de la demande dépassé\.|` +
		`Tiempo de espera agotado para esta solicitud\.)$`)
	pingStatistics = regexp.MustCompile(`^Ping\S* \S+ \S+ ([0-9a-fA-F.:]+[0-9a-fA-F]) ?:$`)
)

// StampOfPing is the form of a time that ping -D (iputils), ts and scripts write in front of an answer.
const StampOfPing = `\[\d{9,11}\.\d+\] |(?:\w{3} )?\w{3} +\d+ \d\d:\d\d:\d\d(?:\.\d+)?(?: \d{4})?:? +|` +
	`\[?(?:\d{4}-\d\d-\d\d[ T])?\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?:? +`

var (
	pingStamp = regexp.MustCompile(`^(?:` + StampOfPing + `)`)
	// pingNote is what people write in place of the answers that are missing.
	pingNote = regexp.MustCompile(`^[\[(<].*\b(?i:missing|lost|no answers?|timeouts?)\b.*[\])>]$`)
)

// pingLimit bounds the peers that are kept.
const pingLimit = 64

// readPing reads ping.
func (f *Facts) readPing(t text) error {
	var p *Ping
	for i, line := range t.lines() {
		line = pingStamp.ReplaceAllString(strings.TrimSpace(line), "")
		at := func() Source { return f.Line(t.from, i+1) }
		if len(f.Messages) < messageLimit && pingTold.MatchString(line) {
			f.Messages = append(f.Messages, Message{shorten(line), at()})
		}
		if m := pingBegin.FindStringSubmatch(line); m != nil {
			p = f.ping(m[1] + m[2])
			if m := pingData.FindStringSubmatch(line); m != nil {
				p.Data = smallNumber(m[1])
				f.use(t.from, i+1)
			} else if m := pingSweep.FindStringSubmatch(line); m != nil {
				p.Data, p.Swept = smallNumber(m[1]), true
				f.use(t.from, i+1)
			}
			continue
		}
		if m := pingStatistics.FindStringSubmatch(line); m != nil {
			if p == nil || p.Counted.Text != "" {
				p = f.ping(m[1])
			}
			p.Peer = m[1]
			f.use(t.from, i+1)
			continue
		}
		if p == nil || p.Counted.Text != "" && (pingAnswer.MatchString(line) || pingSent.MatchString(line)) { // a later one
			p = f.ping("")
		}
		if pingRefused.MatchString(line) && !p.TooLong {
			p.TooLong, p.Refused = true, at()
		}
		p.take(line, at)
	}
	f.Pings = slices.DeleteFunc(f.Pings, func(p Ping) bool { return p.Sent == 0 && p.Source.Text == "" && p.Peer == "" })
	if len(f.Messages) == 0 && (p == nil || p.Source.Text == "" && p.Sent == 0 && !p.TooLong) {
		return errNothing
	}
	return nil
}

// take reads a line behind the first one.
func (p *Ping) take(line string, at func() Source) {
	answered := false
	if m := pingAnswer.FindStringSubmatch(line); m != nil {
		if from := pingFrom.FindStringSubmatch(line); from != nil && p.Peer == "" {
			p.Peer = from[1] + from[2] + from[3]
		}
		p.answer(milliseconds(m[1]+m[2]+m[3]), line, at())
		answered = true
	} else if m := pingNone.FindStringSubmatch(line); m != nil {
		p.last++
		if number := m[1] + m[2]; number != "" {
			p.last = smallNumber(number)
		}
		p.await(p.last, at())
		answered = p.adjoining
	} else if pingNote.MatchString(line) {
		answered = p.adjoining
	} else if m := pingSummary.FindStringSubmatch(line); m != nil {
		p.Min, p.Avg, p.Max, p.Source = milliseconds(m[1]), milliseconds(m[2]), milliseconds(m[3]), at()
	} else if m := pingTimes.FindStringSubmatch(line); m != nil {
		p.Min, p.Max, p.Avg, p.Source = milliseconds(m[1]), milliseconds(m[2]), milliseconds(m[3]), at()
	} else if m := pingCount.FindStringSubmatch(line); m != nil {
		p.Sent, _ = strconv.Atoi(m[1] + m[3])
		p.Answered, _ = strconv.Atoi(m[2] + m[4])
		p.Counted = at()
		if m := pingTook.FindStringSubmatch(line); m != nil {
			p.Took = milliseconds(m[1])
		}
	}
	p.adjoining = answered
}

// ping begins with a peer.
func (f *Facts) ping(peer string) *Ping {
	if len(f.Pings) < pingLimit {
		f.Pings = append(f.Pings, Ping{Peer: peer})
	}
	return &f.Pings[len(f.Pings)-1]
}

// answer counts an answer, and those that are missing between it and the one on the line before: what was cut out of a
// paste is not lost.
func (p *Ping) answer(s float64, line string, at Source) {
	if len(p.times) < timesLimit {
		p.times = append(p.times, s)
	}
	const most = 100
	if p.Answered == 0 {
		p.Min, p.Source = s, at
	}
	if s >= p.Max {
		p.Slowest = at
	}
	p.Answered++
	p.Sent++
	if m := pingSize.FindStringSubmatch(line); m != nil {
		const header = 8 // of ICMP
		p.Largest = max(p.Largest, smallNumber(m[1])-header)
	}
	if m := pingNumber.FindStringSubmatch(line); m != nil {
		number := smallNumber(m[1])
		if p.awaited[number] { // a late one
			delete(p.awaited, number)
			p.Sent--
		} else {
			if gap := number - p.last - 1; p.adjoining && gap < most {
				for n := p.last + 1; n < number; n++ {
					p.await(n, at)
				}
			}
			p.last = number
		}
	}
	p.Min, p.Max, p.sum = min(p.Min, s), max(p.Max, s), p.sum+s
	p.Avg = p.sum / float64(p.Answered)
}

// await counts a packet that has no answer so far: ping (-O of iputils, and Apple's) says so when it sends the next one.
func (p *Ping) await(number int, at Source) {
	p.Sent++
	if p.Missing.Text == "" {
		p.Missing = at
	}
	if p.awaited == nil {
		p.awaited = map[int]bool{}
	}
	if len(p.awaited) < timesLimit {
		p.awaited[number] = true
	}
}

// timesLimit bounds the answers whose times are kept.
const timesLimit = 1 << 16

// Later counts the answers that took at least so many seconds, of those that are shown.
func (p *Ping) Later(s float64) (later, shown int) {
	for _, t := range p.times {
		if t >= s {
			later++
		}
	}
	return later, len(p.times)
}

func milliseconds(s string) float64 {
	v, err := strconv.ParseFloat(strings.ReplaceAll(s, ",", "."), 64)
	if err != nil || v < 0 || v > 1e7 {
		return 0
	}
	return v / 1000
}
