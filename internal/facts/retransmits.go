package facts

import (
	"net/netip"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// What tracers say of segments that the kernel of Linux sent again: tcpretrans of bcc and bpftrace a line each ("01:55:05 0 4
// 192.0.2.7:22 R> 192.0.2.9:34619 ESTABLISHED"), with -c one to a connection ("[192.0.2.7]#22 <-> [192.0.2.9]#34619 70"), and
// maps of bpftrace whose name speaks of them ("@retransmits[192.0.2.9, 9042]: 70").
const (
	retransmitRow  = `^\d\d:\d\d:\d\d +\d+ +(?:[46] +)?\S+:\d+ +(?:[RTL]>|--) +(\S+):(\d+) +[A-Z_12]+$`
	retransmitSum  = `^\S+[:#]\d+ +<-> +\[?([0-9a-f.:]+?)\]?[:#](\d+) +(\d+)$`
	retransmitKey  = `^@\w*(?i:retr)\w*\[(.{3,256})\]: (\d+)$`
	retransmitHead = `^Tracing (?:tcp )?retransmits`
)

var (
	retransmitRows = regexp.MustCompile(retransmitRow)
	retransmitSums = regexp.MustCompile(retransmitSum)
	retransmitKeys = regexp.MustCompile(retransmitKey)
	// RetransmitForm is any of them.
	RetransmitForm = regexp.MustCompile(retransmitHead + "|" + retransmitRow + "|" + retransmitSum + "|" + retransmitKey)
)

// Retransmits is the name under which they are kept.
const Retransmits = "tcpretrans"

// readRetransmits keeps how many segments were sent again to each peer, as retransmits.PEER.
func (f *Facts) readRetransmits(t text) error {
	found := false
	keep := func(peer string, n uint64, line int) {
		name := "retransmits." + peer
		c, have := f.Counters[name]
		if !have && len(f.Counters) >= rowLimit {
			return
		}
		if !have {
			c = Counter{Partial: true, Source: f.Line(t.from, line)}
		}
		c.Value += n
		f.Counters[name], found = c, true
		f.use(t.from, line)
	}
	for i, line := range t.lines() {
		line = strings.TrimSpace(line)
		if len(line) > 1024 {
			continue
		}
		if m := retransmitRows.FindStringSubmatch(line); m != nil {
			keep(strings.Trim(m[1], "[]")+":"+m[2], 1, i+1)
		} else if m := retransmitSums.FindStringSubmatch(line); m != nil {
			if n, ok := count(m[3]); ok {
				keep(m[1]+":"+m[2], n, i+1)
			}
		} else if m := retransmitKeys.FindStringSubmatch(line); m != nil {
			if n, ok := count(m[2]); ok {
				if peer := peerOfKey(m[1]); peer != "" {
					keep(peer, n, i+1)
				}
			}
		}
	}
	return nothingUnless(found)
}

// peerOfKey is the last address in the key of a map, with a port that follows it.
func peerOfKey(key string) (peer string) {
	words := strings.FieldsFunc(key, func(r rune) bool { return r == ',' || r == ' ' })
	for i, w := range words {
		if _, err := netip.ParseAddr(w); err != nil {
			continue
		}
		if peer = w; i+1 < len(words) {
			if port, ok := count(words[i+1]); ok && port > 0 && port < 1<<16 {
				peer += ":" + words[i+1]
			}
		}
	}
	return peer
}
