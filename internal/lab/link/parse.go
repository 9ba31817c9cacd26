package link

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/units"
)

// Parse parses a link such as
//
//	rate=1gbit,rtt=80ms,loss=1e-5,queue=1bdp
//	rtt=30ms,up:rate=10mbit,down:rate=100mbit,down:aqm=codel
//	dsl,loss=every:1000
//
// A field without prefix holds for both directions, one with "up:" (client to
// server) or "down:" for that one alone, wherever it stands. The first field may be the name of a
// profile (see Profiles), which later fields change. Fields:
//
//	rate=1gbit            bit rate on the wire; none: no limit (default)
//	trace=FILE            delivery opportunities in mahimahi's format, instead of rate
//	rtt=80ms              base round-trip time, half in each direction
//	delay=40ms            one-way delay, instead of rtt
//	jitter=2ms            spread; 2ms:normal, 2ms:pareto; 2ms:uniform:overtake lets segments overtake
//	queue=1bdp            what may wait: 1bdp (default), 256KiB, 100packets, 50ms
//	full=drop             what a full queue does; pause: it holds back the links into its host (IEEE 802.3x)
//	aqm=codel             or codel:TARGET:INTERVAL; taildrop (default)
//	ecn=on                CoDel marks; ecn=100packets, 30KiB, 1ms: mark above a threshold; off (default)
//	loss=1e-5             random; 0.1%; every:1000; burst:P,R (enter, leave)
//	mark=, duplicate=, corrupt=   the same patterns
//	reorder=1e-3          the same patterns; hold=1ms is how long such a segment is held
//	mtu=1500, seed=1, framing=ethernet|ip, backend=user|netem
func Parse(spec string) (Link, error) {
	l := Link{Framing: FramingEthernet}
	if len(spec) > maxSpec {
		return Link{}, fmt.Errorf("link of %d bytes: %d at most are read", len(spec), maxSpec)
	}
	fields, err := splitSpec(spec)
	if err != nil {
		return Link{}, fmt.Errorf("link %q: %w", spec, err)
	}
	if fields[0].value == "" {
		p, ok := FindProfile(fields[0].key)
		if !ok {
			return Link{}, fmt.Errorf("link %q: %w", spec, noProfile(fields[0].key))
		}
		if l, err = Parse(p.Link); err != nil {
			return Link{}, err
		}
		fields = fields[1:]
	}
	slices.SortStableFunc(fields, func(a, b linkField) int { return min(len(a.side), 1) - min(len(b.side), 1) })
	seen := map[string]bool{}
	for _, f := range fields {
		if f.value == "" {
			return Link{}, fmt.Errorf("link %q: %w", spec, noValue(f.key))
		}
		if seen[f.side+f.key] {
			return Link{}, fmt.Errorf("link %q: %s%s is given twice", spec, f.side, f.key)
		}
		seen[f.side+f.key] = true
		if err := l.set(f); err != nil {
			return Link{}, fmt.Errorf("link %q: %w", spec, err)
		}
	}
	if err := contradiction(seen); err != nil {
		return Link{}, fmt.Errorf("link %q: %w", spec, err)
	}
	if err := l.dropIdleQueues(seen); err != nil {
		return Link{}, fmt.Errorf("link %q: %w", spec, err)
	}
	if err := l.Validate(); err != nil {
		return Link{}, fmt.Errorf("link %q: %w", spec, err)
	}
	return l, nil
}

// maxSpec bounds a link's text, in bytes; a trace's path may be long.
const maxSpec = 16 << 10

// contradiction reports fields that exclude each other.
func contradiction(seen map[string]bool) error {
	if seen["rtt"] && (seen["delay"] || seen["up:delay"] || seen["down:delay"]) {
		return fmt.Errorf("give rtt or delay, not both")
	}
	for _, side := range []string{"", "up:", "down:"} {
		if seen[side+"rate"] && seen[side+"trace"] {
			return fmt.Errorf("give %srate or %strace, not both", side, side)
		}
	}
	return nil
}

// dropIdleQueues clears what is set of the queue in a direction without a limit,
// where the other one has one: what was given for both is then of that one. It
// reports what was given for the direction without a limit alone.
func (l *Link) dropIdleQueues(seen map[string]bool) error {
	for _, side := range []struct {
		name       string
		dir, other *Direction
	}{{"up:", &l.Up, &l.Down}, {"down:", &l.Down, &l.Up}} {
		if side.dir.Limited() || !side.other.Limited() {
			continue
		}
		for _, key := range []string{"queue", "full", "aqm", "ecn"} {
			if seen[side.name+key] {
				return fmt.Errorf("%s%s: nothing waits without a limit; give %srate too", side.name, key, side.name)
			}
		}
		side.dir.Queue, side.dir.Pause, side.dir.CoDel, side.dir.ECN = Queue{}, false, CoDel{}, ECN{}
	}
	return nil
}

type linkField struct {
	side, key, value string // side is "", "up:" or "down:"
}

// splitSpec splits at commas; a part without "=" after the first belongs to
// the value before it (burst:P,R has a comma of its own).
func splitSpec(spec string) ([]linkField, error) {
	if strings.TrimSpace(spec) == "" {
		return nil, fmt.Errorf("empty; write something like rate=1gbit,rtt=80ms")
	}
	var fields []linkField
	for _, part := range strings.Split(spec, ",") {
		part = strings.TrimSpace(part)
		key, value, ok := strings.Cut(part, "=")
		if !ok && len(fields) > 0 && strings.HasPrefix(fields[len(fields)-1].value, "burst:") {
			fields[len(fields)-1].value += "," + part
			continue
		}
		if own, known := units.KeyOf(part); known {
			key, value, ok = own, part, true
		}
		f := linkField{key: strings.ToLower(strings.TrimSpace(key)), value: strings.TrimSpace(value)}
		switch {
		case part == "":
			return nil, fmt.Errorf("there is a comma too many")
		case ok && f.value == "" || f.key == "":
			return nil, fmt.Errorf("%q is not key=value", part)
		case !strings.HasSuffix(f.key, "trace") && strings.Contains(f.value, "="):
			return nil, fmt.Errorf("%q: separate the fields with commas, like rate=1gbit,rtt=80ms", part)
		}
		for _, side := range []string{"up:", "down:"} {
			if rest, ok := strings.CutPrefix(f.key, side); ok {
				f.side, f.key = side, rest
			}
		}
		if f.key != "trace" && f.key != "rate" { // a file's name, and Gb/s that are not GB/s
			f.value = strings.ToLower(f.value)
		}
		fields = append(fields, f)
	}
	return fields, nil
}

func (l *Link) set(f linkField) error {
	switch f.key {
	case "rtt", "mtu", "seed", "framing", "backend":
		if f.side != "" {
			return fmt.Errorf("%s%s: %s is of the whole link", f.side, f.key, f.key)
		}
		return l.setWhole(f)
	}
	if f.side != "down:" {
		if err := l.Up.set(f); err != nil {
			return err
		}
	}
	if f.side != "up:" {
		return l.Down.set(f)
	}
	return nil
}

func (l *Link) setWhole(f linkField) (err error) {
	switch f.key {
	case "rtt":
		var rtt time.Duration
		if rtt, err = parseTime(f); err == nil && rtt > 2*MaxDelay {
			return fmt.Errorf("rtt %q: up to %s is possible", f.value, units.Duration(2*MaxDelay))
		}
		l.Up.Delay, l.Down.Delay = rtt/2, rtt-rtt/2
	case "mtu":
		l.MTU, err = strconv.Atoi(f.value)
		if err != nil || l.MTU < MinMTU || l.MTU > MaxMTU {
			return fmt.Errorf("mtu %q: a number of bytes from %d to %d is expected", f.value, MinMTU, MaxMTU)
		}
	case "seed":
		l.Seed, err = strconv.ParseUint(f.value, 10, 64)
		if err != nil || l.Seed == 0 { // 0 is a link without one
			return fmt.Errorf("seed %q: a whole number from 1 on is expected", f.value)
		}
	case "backend":
		switch f.value {
		case "user":
			l.Backend = User
		case "netem":
			l.Backend = Netem
		default:
			return fmt.Errorf("backend %q: user or netem is expected", f.value)
		}
	case "framing":
		l.Framing = Framing(f.value)
		if l.Framing != FramingEthernet && l.Framing != FramingIP {
			return fmt.Errorf("framing %q: ethernet or ip is expected", f.value)
		}
	}
	return err
}

func (d *Direction) set(f linkField) (err error) {
	switch f.key {
	case "rate":
		d.Rate, d.Trace = 0, ""
		if strings.EqualFold(f.value, "none") {
			return nil
		}
		d.Rate, err = units.ParseRate(f.value)
		switch {
		case err == nil && d.Rate == 0:
			return fmt.Errorf("rate %q: more than 0 is expected; write rate=none for no limit", f.value)
		case err == nil && (d.Rate < MinRate || d.Rate > MaxRate):
			return fmt.Errorf("rate %q: %s is outside %s..%s; write it like 100mbit or 10gbit", f.value, d.Rate,
				MinRate, MaxRate)
		}
	case "trace":
		d.Rate, d.Trace = 0, f.value
	case "delay":
		d.Delay, err = parseTime(f)
	case "hold":
		d.Hold, err = parseTime(f)
	case "jitter":
		d.Jitter, err = parseJitter(f.value)
	case "queue":
		d.Queue, err = parseQueue("queue", f.value)
	case "full":
		if f.value != "pause" && f.value != "drop" {
			return fmt.Errorf("full %q: drop or pause is expected", f.value)
		}
		d.Pause = f.value == "pause"
	case "aqm":
		d.CoDel, err = parseAQM(f.value)
	case "ecn":
		d.ECN, err = parseECN(f.value)
	case "loss":
		d.Loss, err = parsePattern(f.key, f.value)
	case "mark":
		d.Mark, err = parsePattern(f.key, f.value)
	case "duplicate":
		d.Duplicate, err = parsePattern(f.key, f.value)
	case "corrupt":
		d.Corrupt, err = parsePattern(f.key, f.value)
	case "reorder":
		d.Reorder, err = parsePattern(f.key, f.value)
	default:
		if instead, ok := otherName(f.key); ok {
			return fmt.Errorf("unknown field %q; write %s", f.key, instead)
		}
		return fmt.Errorf("unknown field %q; known: rate, trace, rtt, delay, jitter, queue, full, aqm, ecn, loss, "+
			"mark, duplicate, corrupt, reorder, hold, mtu, seed, framing, backend", f.key)
	}
	return err
}

func parseTime(f linkField) (time.Duration, error) {
	d, err := units.ParseDuration(f.value)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", f.key, err)
	}
	return d, nil
}

func parseJitter(s string) (Jitter, error) {
	if s == "none" {
		return Jitter{}, nil
	}
	parts := strings.Split(s, ":")
	spread, err := units.ParseDuration(parts[0])
	if err != nil {
		return Jitter{}, fmt.Errorf("jitter: %w", err)
	}
	j := Jitter{Spread: spread}
	for _, word := range parts[1:] {
		switch word {
		case "uniform", "normal", "pareto":
			if j.Shape != "" {
				return Jitter{}, fmt.Errorf("jitter %q: one of %s and %s is expected, not both", s, j.Shape, word)
			}
			j.Shape = Shape(word)
		case "overtake":
			j.Overtake = true
		default:
			return Jitter{}, fmt.Errorf("jitter %q: %q is not one of uniform, normal, pareto, overtake", s, word)
		}
	}
	if spread == 0 {
		return Jitter{}, nil
	}
	if j.Shape == "" {
		j.Shape = Uniform
	}
	return j, nil
}

// queueUnits are the units that only queues are counted in.
var queueUnits = []struct {
	suffix string
	unit   QueueUnit
}{
	{"bdp", QueueBDP},
	{"packets", QueuePackets}, {"packet", QueuePackets}, {"pkts", QueuePackets}, {"pkt", QueuePackets},
}

// bareQueue is up to where a number without a unit may be meant as packets, of
// which queues are often said to hold 100 or 1000; as bytes, that is next to
// nothing.
const bareQueue = 10000

func parseQueue(key, s string) (Queue, error) {
	for _, u := range queueUnits {
		number, ok := strings.CutSuffix(s, u.suffix)
		if !ok {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || math.IsNaN(v) || v <= 0 || v > 1e9 || u.unit == QueuePackets && v != math.Trunc(v) {
			return Queue{}, fmt.Errorf("%s %q: a number above 0 is expected before %s", key, s, u.suffix)
		}
		return Queue{v, u.unit}, nil
	}
	if n, err := strconv.ParseFloat(s, 64); err == nil && n > 0 && n <= bareQueue {
		return Queue{}, fmt.Errorf("%s %q: of what? write %spackets, %sB or %sKiB", key, s, s, s, s)
	}
	// Bytes first: "1m" is a mebibyte here, not a minute.
	if b, err := units.ParseBytes(strings.TrimSuffix(strings.TrimSuffix(s, "ytes"), "yte")); err == nil && b > 0 {
		return Queue{float64(b), QueueBytes}, nil
	}
	if d, err := units.ParseDuration(s); err == nil && d > 0 && d <= MaxDelay {
		return Queue{float64(d), QueueTime}, nil
	}
	return Queue{}, fmt.Errorf("%s %q: write it like 1bdp, 256KiB, 100packets or 50ms", key, s)
}

func parseAQM(s string) (CoDel, error) {
	name, rest, more := strings.Cut(s, ":")
	switch {
	case s == "taildrop", s == "off", s == "none":
		return CoDel{}, nil
	case name != "codel":
		return CoDel{}, fmt.Errorf("aqm %q: taildrop, codel or codel:TARGET:INTERVAL is expected", s)
	case !more:
		return DefaultCoDel(), nil
	}
	target, interval, _ := strings.Cut(rest, ":")
	c := CoDel{}
	var err error
	if c.Target, err = units.ParseDuration(target); err == nil {
		c.Interval, err = units.ParseDuration(interval)
	}
	if err != nil || c.Target == 0 || c.Interval == 0 {
		return CoDel{}, fmt.Errorf("aqm %q: write it like codel:5ms:100ms", s)
	}
	return c, nil
}

func parseECN(s string) (ECN, error) {
	switch s {
	case "off":
		return ECN{}, nil
	case "on":
		return ECN{CoDel: true}, nil
	}
	q, err := parseQueue("ecn", s)
	if n, bare := strconv.ParseFloat(s, 64); bare == nil && n > 0 && err != nil {
		return ECN{}, err
	}
	if err != nil || q.Unit == QueueBDP {
		return ECN{}, fmt.Errorf("ecn %q: on, off, or a threshold like 100packets, 30KiB or 1ms is expected", s)
	}
	return ECN{Threshold: q}, nil
}

func parsePattern(key, s string) (Pattern, error) {
	bad := func() (Pattern, error) {
		return Pattern{}, fmt.Errorf("%s %q: write it like 1e-5, 0.1%%, every:1000 or burst:1e-4,0.3", key, s)
	}
	if s == "none" {
		return Pattern{}, nil
	}
	if n, ok := strings.CutPrefix(s, "every:"); ok {
		every, err := strconv.ParseInt(n, 10, 64)
		if err != nil || every < 1 || every > maxEach {
			return bad()
		}
		return Pattern{Kind: Every, N: every}, nil
	}
	if pr, ok := strings.CutPrefix(s, "burst:"); ok {
		first, second, two := strings.Cut(pr, ",")
		p, err1 := parseProbability(first)
		r, err2 := parseProbability(second)
		if !two || err1 != nil || err2 != nil || p == 0 || r == 0 {
			return bad()
		}
		return Pattern{Kind: Bursts, P: p, R: r}, nil
	}
	p, err := parseProbability(s)
	if n, number := strconv.ParseFloat(s, 64); number == nil && n > 1 && n <= 100 {
		return Pattern{}, fmt.Errorf("%s %q: more than always; for percent write %s%%", key, s, s)
	}
	if err != nil {
		return bad()
	}
	if p == 0 {
		return Pattern{}, nil
	}
	return Pattern{Kind: Random, P: p}, nil
}

func parseProbability(s string) (float64, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(s), "%")
	p, err := strconv.ParseFloat(number, 64)
	if percent {
		p /= 100
	}
	tiny := p == 0 && strings.ContainsAny(strings.SplitN(number, "e", 2)[0], "123456789")
	if err != nil || !(p >= 0 && p <= 1) || tiny || p > 0 && p < 1e-12 {
		return 0, fmt.Errorf("a probability from 1e-12 to 1 is expected")
	}
	return p, nil
}
