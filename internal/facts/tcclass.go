package facts

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/units"
)

// typedDevice is the interface of a command that names one: tc leaves it out of what it prints then.
var typedDevice = regexp.MustCompile(`\bdev (\S+)`)

func (t text) device() string {
	if m := typedDevice.FindStringSubmatch(t.typed); m != nil {
		return m[1]
	}
	return ""
}

// readClasses reads tc -s class show (iproute2 tc/tc_class.c) of every classful discipline: a line that names the
// class, then its counters as those of a discipline.
func (f *Facts) readClasses(t text) error {
	found := false
	var c *Class
	for i, line := range t.lines() {
		words := strings.Fields(strings.ReplaceAll(line, "**", "")) // what somebody set in bold
		if len(words) == 0 {
			continue
		}
		if words[0] == "class" && len(words) >= 3 {
			values := pairs(words[3:])
			n := f.NIC(cmp.Or(values["dev"], t.device(), UnnamedLink))
			if c = nil; n == nil || len(n.Classes) >= rowLimit {
				continue
			}
			found = true
			n.Classes = append(n.Classes, Class{Kind: words[1], ID: words[2], Parent: values["parent"],
				Rate: tcRate(values["rate"]), Ceil: tcRate(values["ceil"]), Options: shorten(strings.Join(words[3:], " ")),
				Sent: Counter{Source: f.Line(t.from, i+1)}})
			c = &n.Classes[len(n.Classes)-1]
			c.curves(line)
			continue
		}
		if c == nil {
			continue
		}
		q := Qdisc{Sent: c.Sent, Dropped: c.Dropped, Overlimits: c.Overlimits, Backlog: c.Backlog}
		q.counters(words, f.Line(t.from, i+1))
		c.Sent, c.Dropped, c.Overlimits, c.Backlog = q.Sent, q.Dropped, q.Overlimits, q.Backlog
		if words[0] == "rate" && len(words) > 2 && strings.HasSuffix(words[2], "pps") {
			c.Measured, c.MeasuredLine = tcRate(words[1]), f.Line(t.from, i+1)
		}
		if v, ok := count(pairs(words)["giants:"]); ok {
			c.Giants = Counter{Value: v, Source: f.Line(t.from, i+1)}
		}
	}
	return nothingUnless(found)
}

// curves takes the rates of hfsc: "ls m1 0bit d 0us m2 3Mbit ul m1 0bit d 0us m2 20Mbit", of which the last one lasts.
func (c *Class) curves(line string) {
	for _, m := range hfscCurve.FindAllStringSubmatch(line, -1) {
		if m[1] == "ul" {
			c.Ceil = tcRate(m[2])
		} else {
			c.Rate = max(c.Rate, tcRate(m[2]))
		}
	}
}

var hfscCurve = regexp.MustCompile(`\b(rt|ls|sc|ul) m1 \S+ d \S+ m2 (\S+)`)

// tcRate reads 100Mbit, 1500Kbit, 12bit and, of the bytes that old ones print, 1Mbps.
func tcRate(s string) units.Rate {
	m := rateWord.FindStringSubmatch(s)
	if m == nil {
		return 0
	}
	v, err := strconv.ParseFloat(m[1], 64)
	if err != nil || v < 0 || v > 1e12 {
		return 0
	}
	for range strings.Index(" KMGT", strings.ToUpper(m[2])) * len(m[2]) {
		v *= 1000
	}
	if m[3] == "bps" {
		v *= 8
	}
	return units.Rate(min(v, 1e15))
}

var rateWord = regexp.MustCompile(`^([0-9.]+)([KkMGT]?)(bit|bps)$`)

// limit takes the length of the queue out of the options: "limit 10240p", "limit 1000", "limit 3000b", "limit 128Kb".
func (q *Qdisc) limit(words []string) {
	v := cmp.Or(pairs(words)["limit"], pairs(words)["memlimit"])
	if n, ok := count(strings.TrimSuffix(v, "p")); ok && n < 1<<40 {
		if q.LimitPackets = int64(n); q.Kind == "tbf" || q.Kind == "bfifo" || q.Kind == "red" {
			q.LimitPackets, q.LimitBytes = 0, int64(n)
		}
		return
	}
	q.LimitBytes = sizeWord(strings.TrimSuffix(v, "b"))
}

// values keeps the numbers that a discipline prints by name: "maxpacket 1514 drop_overlimit 0", "flows 3 (inactive 1
// throttled 0)".
func (q *Qdisc) values(words []string) {
	if words[0] == "Sent" || words[0] == "backlog" || words[0] == "rate" {
		return
	}
	for i := 0; i+1 < len(words); i++ {
		name := strings.Trim(words[i], "(),:")
		if v, ok := count(strings.Trim(words[i+1], "(),")); ok && qdiscName.MatchString(name) && len(q.Values) < 64 {
			if q.Values == nil {
				q.Values = map[string]uint64{}
			}
			q.Values[name] = v
			i++
		}
	}
}

var qdiscName = regexp.MustCompile(`^[a-z][a-z_]+$`)

var (
	pfQueue = regexp.MustCompile(`^queue\s+(\S+)(?:(?: parent \S+)? on (\S+)| )`)
	pfSent  = regexp.MustCompile(`\[ *pkts: +(\d+) +bytes: +\d+ +dropped pkts: +(\d+)`)
	pfLimit = regexp.MustCompile(`qlimit (\d+)|qlength: +\d+/ *(\d+)`)
	// pfRate is "bandwidth 19M, max 19M" (print_queuespec of OpenBSD's sbin/pfctl/pfctl_parser.c), "bandwidth 10Mb hfsc(
	// upperlimit(20Mb 1000 10Mb) )" (print_hfsc_sc of FreeBSD's pfctl_altq.c), and "measured: 801.3 packets/s, 9.90Mb/s".
	pfRate = regexp.MustCompile(`\b(bandwidth|max|upperlimit|packets/s,)(?:\([^)]*)? ([0-9.]+) ?([KMG]?)b?(?:[,)/ ]|$)`)
)

// rates takes what a line says of a queue of pf: what it is promised, what it may have, and what it had in the last seconds.
func (c *Class) rates(line string, src Source) {
	for _, m := range pfRate.FindAllStringSubmatch(line, -1) {
		switch v := tcRate(m[2] + m[3] + "bit"); m[1] {
		case "bandwidth":
			if c.Rate = v; strings.Contains(line, " cbq(") && !strings.Contains(line, " borrow ") {
				c.Ceil = v
			}
		case "packets/s,":
			c.Measured, c.MeasuredLine = v, src
		default:
			c.Ceil = v
		}
	}
}

// readPfQueues reads pfctl -v -s queue: a line for each queue of an interface, and below it what it sent and dropped.
func (f *Facts) readPfQueues(t text) error {
	found, link := false, UnnamedLink // of old ALTQ only the root says its interface
	var c *Class
	lines := t.lines()
	for i, line := range lines {
		if m := pfQueue.FindStringSubmatch(line); m != nil && (m[2] != "" || i+1 < len(lines) && pfSent.MatchString(lines[i+1])) {
			found = true
			if c, link = nil, cmp.Or(m[2], link); !plainName(link) {
				continue
			}
			n := f.linkOf(link, "", f.Line(t.from, i+1))
			n.Classes = append(n.Classes, Class{Kind: "pf", ID: m[1], Options: shorten(strings.TrimPrefix(line, m[0])),
				Named: f.Line(t.from, i+1), Sent: Counter{Source: f.Line(t.from, i+1)}})
			c = &n.Classes[len(n.Classes)-1]
		}
		if c == nil {
			continue
		}
		if m := pfSent.FindStringSubmatch(line); m != nil {
			sent, _ := count(m[1])
			dropped, _ := count(m[2])
			c.Sent, c.Dropped = Counter{Value: sent, Source: f.Line(t.from, i+1)}, Counter{Value: dropped,
				Source: f.Line(t.from, i+1)}
		}
		c.rates(line, f.Line(t.from, i+1))
		if m := pfLimit.FindStringSubmatch(line); m != nil {
			c.Limit = int64(smallNumber(m[1] + m[2]))
		}
	}
	return nothingUnless(found)
}

// readSockstatTable reads FreeBSD's sockstat: a row for each socket of a program. Counters sockets.tcp4 and so on say
// how many there are, sockets.full those whose rows name a full table.
func (f *Facts) readSockstatTable(t text) error {
	sums, shown, known := map[string]uint64{}, map[string]Source{}, false
	for i, line := range t.lines() {
		words := strings.Fields(line)
		if len(words) > 5 && words[0] == "USER" && words[1] == "COMMAND" {
			known = true
			f.use(t.from, i+1)
			continue
		}
		if len(words) < 6 {
			continue
		}
		proto := words[4]
		if !strings.HasPrefix(proto, "tcp") && !strings.HasPrefix(proto, "udp") {
			continue
		}
		if sums[proto]++; sums[proto] == 1 {
			shown[proto] = f.Line(t.from, i+1)
		}
		f.use(t.from, i+1)
	}
	for proto, n := range sums {
		f.Counters["sockets."+proto] = Counter{Value: n, Source: shown[proto]}
	}
	return nothingUnless(known || len(sums) > 0)
}

// systatShare finds the shares of time in systat -vmstat of FreeBSD ("0.4%Sys   0.0%Intr") and OpenBSD ("0.0%Int
// 0.3%Sys").
var systatShare = regexp.MustCompile(`([0-9.]+)% ?(Sys|Intr?|User|Usr|Nice?|Idle|Spn)\b`)

// readSystatVM reads the processors' line of systat -vm; the last page counts.
func (f *Facts) readSystatVM(t text) error {
	found := false
	for i, line := range t.lines() {
		all := systatShare.FindAllStringSubmatch(line, -1)
		if len(all) < 4 {
			continue
		}
		p := Processor{Sampled: true, Source: f.Line(t.from, i+1)}
		for j, m := range all {
			long := map[string]string{"Int": "intr", "Usr": "user", "Nic": "nice", "Spn": "spin"}[m[2]]
			all[j][2] = strings.ToLower(cmp.Or(long, m[2]))
		}
		if p.shares(all) {
			f.AllProcessors, found = &p, true
			f.Parts["all processors"] = Part{From: t.from, State: Read}
		}
	}
	return nothingUnless(found)
}
