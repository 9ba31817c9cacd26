package facts

import (
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// messageLimit bounds the messages that are kept.
const messageLimit = 500

// messageMarks are what makes a kernel message one of the network's.
var messageMarks = []string{
	"possible syn flooding", "neighbor table overflow", "neighbour table overflow", "table full", "limit reached",
	"listen queue overflow", "interrupt storm", "is using my ip", "duplicate ip", "duplicate address", "detected!",
	"dad complete for", "dad detected duplicate",
	"moved from", "netdev watchdog", "transmit timed out", "watchdog timeout", "tx hang", "tx unit hang", "link is down",
	"link is up",
	"out of socket memory", "out of memory", "too many orphaned", "oom", "limiting icmp", "limiting open port",
	"limiting closed port",
	"mbuf", "nmbclusters", "zone limit", "page allocation failure", "reset adapter", "resetting", "unsafe",
	"link state changed", "arp:", "pfsync", "maxsockets", "maxfiles", "martian", "nf_conntrack",
	"clocksource", "speed", "duplex", "pf state", "pf limit",
}

// readMessages keeps the lines of dmesg that concern the network; the only
// failure is a kernel that shows them to root alone.
func (f *Facts) readMessages(t text) error {
	if lines := t.lines(); len(lines) <= 2 && strings.HasPrefix(lines[0], "dmesg: ") {
		return &refusal{Denied, 1, shorten(lines[0])}
	}
	card := ""
	for i, line := range t.lines() {
		if m := RealtekStats.FindStringSubmatch(line); m != nil && m[1] != "" {
			card = m[1]
		} else if m != nil && card != "" {
			f.loggedCounter([]string{"", card, m[2], m[3]}, f.Line(t.from, i+1))
		} else if m := loggedCounter.FindStringSubmatch(line); m != nil && f.System == "freebsd" {
			m[2] = "rx " + m[2]
			f.loggedCounter(m, f.Line(t.from, i+1))
		}
		lower := strings.ToLower(line)
		for _, mark := range messageMarks {
			if mark == "speed" && strings.Contains(lower, "usb") {
				continue // its buses have one too
			}
			if strings.Contains(lower, mark) {
				f.Messages = append(f.Messages, Message{shorten(line), f.Line(t.from, i+1)})
				break
			}
		}
		if len(f.Messages) >= messageLimit {
			break
		}
	}
	return nil
}

// loggedCounter is what em(4) of FreeBSD before 8 logs when dev.em.N.stats is
// set: "em0: Missed Packets = 1266".
var loggedCounter = regexp.MustCompile(`^([a-z]+\d+): ([A-Z][A-Za-z ]+) = (\d+)\s*$`)

// RealtekStats are lines that re(4) of FreeBSD logs when dev.re.N.stats is set (sys/dev/re/if_re.c): "re0 statistics:", then
// "Rx missed frames : 12".
var RealtekStats = regexp.MustCompile(`\b(re\d+) statistics:$|\b([RT]x [a-z ]{3,32}) : (\d+)$`)

func (f *Facts) loggedCounter(m []string, src Source) {
	n := f.linkOf(m[1], "", src)
	v, ok := count(m[3])
	if !ok {
		return
	}
	if n.Counters == nil {
		n.Counters = map[string]Counter{}
	}
	n.Counters[strings.ReplaceAll(strings.ToLower(m[2]), " ", "_")] = Counter{Value: v, Source: src}
}

// Message returns the first kernel message that holds all the words, in lower
// case.
func (f *Facts) Message(words ...string) (Message, bool) {
	for _, m := range f.Messages {
		lower := strings.ToLower(m.Text)
		all := true
		for _, w := range words {
			all = all && strings.Contains(lower, w)
		}
		if all {
			return m, true
		}
	}
	return Message{}, false
}

// NetmapFull is what netmap says of a ring without room, whatever function it names (netmap_transmit in sys/dev/netmap/netmap.c, of
// old releases with the length behind it), and of a card without support for it (nm_os_generic_xmit_frame, netmap_freebsd.c).
var NetmapFull = regexp.MustCompile(`\b([a-z][\w.]*) full hwcur \d+ hwtail \d+ qlen \d|netmap_transmit\s+([a-z][\w.]*) full\b|` +
	`Netmap ([a-z][\w.]*) transmit ring is full`)
