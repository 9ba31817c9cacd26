package switchport

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gosnmp/gosnmp"
	"github.com/wirerate/wirerate/internal/units"
)

// The objects, each before the index of a port: ifTable and ifXTable of RFC 2863,
// dot3StatsTable and dot3PauseTable of RFC 3635.
const (
	sysUpTime       = ".1.3.6.1.2.1.1.3.0"
	ifEntry         = ".1.3.6.1.2.1.2.2.1."
	ifXEntry        = ".1.3.6.1.2.1.31.1.1.1."
	dot3Stats       = ".1.3.6.1.2.1.10.7.2.1."
	dot3Pause       = ".1.3.6.1.2.1.10.7.10.1."
	ifName          = ifXEntry + "1"
	ifHighSpeed     = ifXEntry + "15" // Mbit/s
	ifDiscontinuity = ifXEntry + "19" // sysUpTime when counts began anew
	ifOperStatus    = ifEntry + "8"
	duplexStatus    = dot3Stats + "19"
)

// counters are the objects that count, by our names for them.
func counters() map[string]string {
	return map[string]string{
		"in_bytes": ifXEntry + "6", "in_packets": ifXEntry + "7", "out_bytes": ifXEntry + "10",
		"out_packets": ifXEntry + "11",
		"in_discards": ifEntry + "13", "in_errors": ifEntry + "14", "out_discards": ifEntry + "19",
		"out_errors":          ifEntry + "20",
		"in_alignment_errors": dot3Stats + "2", "in_fcs_errors": dot3Stats + "3", "out_late_collisions": dot3Stats + "8",
		"out_mac_errors": dot3Stats + "10", "out_carrier_errors": dot3Stats + "11", "in_too_long": dot3Stats + "13",
		"in_mac_errors": dot3Stats + "16", "in_symbol_errors": dot3Stats + "18",
		"in_pause_frames": dot3Pause + "3", "out_pause_frames": dot3Pause + "4",
	}
}

// CounterNames are the names that counts of a port may have, in order.
func CounterNames() []string { return slices.Sorted(maps.Keys(counters())) }

// count is a counter of 64 bits, or of 32.
type count struct {
	value uint64
	wide  bool
}

// answer is what an agent said of a port.
type answer struct {
	at            time.Time
	name          string
	uptime        uint64 // of the agent, in hundredths of a second
	discontinuity uint64
	speed         float64 // bit/s, 0 is not known
	status        string
	duplex        string
	counts        map[string]count
}

// read takes an answer: what has the type that its object has.
func (a *answer) read(index string, pdus []gosnmp.SnmpPDU) {
	values := map[string]gosnmp.SnmpPDU{}
	for _, p := range pdus {
		values[p.Name] = p
	}
	number := func(object string) (count, bool) { return numberOf(values[object+"."+index]) }
	if p, ok := numberOf(values[sysUpTime]); ok {
		a.uptime = p.value
	}
	if p := values[ifName+"."+index]; p.Type == gosnmp.OctetString {
		a.name = text(p)
	}
	if n, ok := number(ifDiscontinuity); ok {
		a.discontinuity = n.value
	}
	if n, ok := number(ifHighSpeed); ok {
		a.speed = float64(n.value) * 1e6
	}
	if n, ok := number(ifOperStatus); ok {
		a.status = one(n.value, "up", "down", "testing", "unknown", "dormant", "notPresent", "lowerLayerDown")
	}
	if n, ok := number(duplexStatus); ok {
		a.duplex = one(n.value, "unknown", "half", "full")
	}
	for name, object := range counters() {
		if n, ok := number(object); ok {
			a.counts[name] = n
		}
	}
}

// one is the n-th of the words of an enumeration.
func one(n uint64, words ...string) string {
	if n >= 1 && n <= uint64(len(words)) {
		return words[n-1]
	}
	return "unknown"
}

// text is an octet string of bounded length; who shows it escapes it.
func text(p gosnmp.SnmpPDU) string {
	b, _ := p.Value.([]byte)
	return strings.ToValidUTF8(string(b[:min(len(b), 255)]), "?")
}

func numberOf(p gosnmp.SnmpPDU) (count, bool) {
	switch p.Type {
	case gosnmp.Counter64, gosnmp.Counter32, gosnmp.Gauge32, gosnmp.TimeTicks, gosnmp.Integer:
		n := gosnmp.ToBigInt(p.Value)
		return count{n.Uint64(), p.Type == gosnmp.Counter64}, n.IsUint64()
	}
	return count{}, false
}

// plausible reports whether a port can carry so many bit/s: ten times its speed, since
// agents bring their counters up to date every half a minute at worst; virtual ports
// say 10 Mbit/s and carry what they can.
func plausible(bps, speed float64) bool { return bps < 1e13 && (speed <= 10e6 || bps <= 10*speed) }

// since is what was counted between two answers, and over how many seconds. Where
// counts began anew, or cannot be believed, it is nothing, with the reason.
func (a *answer) since(b *answer) (map[string]uint64, float64, error) {
	seconds := a.at.Sub(b.at).Seconds()
	switch {
	case a.uptime < b.uptime:
		return nil, 0, fmt.Errorf("the agent was restarted: counts begin anew")
	case a.discontinuity != b.discontinuity:
		return nil, 0, fmt.Errorf("the port's counters were reset: counts begin anew")
	case seconds <= 0:
		return nil, 0, nil
	}
	counted := map[string]uint64{}
	for _, name := range slices.Sorted(maps.Keys(a.counts)) {
		now := a.counts[name]
		before, known := b.counts[name]
		if !known || before.wide != now.wide {
			continue
		}
		n := now.value - before.value
		if now.value < before.value {
			// 2^32 comes after half an hour of large counts; more than half of that at once is a reset.
			if n &= 1<<32 - 1; now.wide || n >= 1<<31 {
				return nil, 0, fmt.Errorf("%s went back, which the agent does not explain: counts begin anew", name)
			}
		}
		if bps := 8 * float64(n) / seconds; strings.HasSuffix(name, "_bytes") && !plausible(bps, a.speed) {
			return nil, 0, fmt.Errorf("%s is %s Gbit/s on a port of %s: the agent is not believed",
				name, units.Digits(bps/1e9, 3), units.Digits(a.speed/1e9, 3))
		}
		counted[name] = n
	}
	return counted, seconds, nil
}

// words are those of an answer, unknown where it has none.
func (a *answer) words() (status, duplex string) {
	return cmp.Or(a.status, "unknown"), cmp.Or(a.duplex, "unknown")
}
