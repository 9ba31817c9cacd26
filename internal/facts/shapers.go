package facts

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/units"
)

// Shapers of the BSDs: the pipes and queues of dummynet, and the queues of pf as systat shows them.

var (
	// dummynetPipe is "00061:  20.000 Mbit/s    0 ms burst 0", before FreeBSD 8 with the queue behind it.
	dummynetPipe = regexp.MustCompile(`^0*(\d+): +(?:([0-9.]+) ([KMG]?)bit/s|unlimited) +(\d+) ms(.*)$`)
	// dummynetQueue is "q131133  50 sl. 0 flows (1 buckets) sched 65597 ... droptail".
	dummynetQueue = regexp.MustCompile(`^q0*(\d+) +(\d+ .*)$`)
	dummynetSlots = regexp.MustCompile(`(?:^| )(\d+) sl\.`)
	dummynetLoss  = regexp.MustCompile(`\bplr ([0-9.]+)`)
	dummynetSched = regexp.MustCompile(`^\s*sched \d+ type (\S+)`)
)

// readDummynet reads ipfw pipe, queue and sched show, and dnctl's (sbin/ipfw/dummynet.c): a line for each pipe, below
// it its queue, its scheduler, and rows of flows that end in packets and bytes in all, packets and bytes that wait,
// drops.
func (f *Facts) readDummynet(t text) error {
	var c *Class
	rows, found := false, false
	begin := func(id string, src Source) {
		found, rows, c = true, false, nil
		if len(f.Shapers) < rowLimit {
			f.Shapers = append(f.Shapers, Class{Kind: "dummynet",
				ID: id, Named: src, Sent: Counter{Source: src}, Dropped: Counter{Source: src}})
			c = &f.Shapers[len(f.Shapers)-1]
		}
	}
	for i, line := range t.lines() {
		words := strings.Fields(line)
		pipe, queue := dummynetPipe.FindStringSubmatch(line), dummynetQueue.FindStringSubmatch(line)
		switch {
		case pipe != nil:
			if begin("pipe "+pipe[1], f.Line(t.from, i+1)); c != nil {
				c.Rate = tcRate(pipe[2] + pipe[3] + "bit")
				c.DelayMS = float64(smallNumber(pipe[4]))
				c.dummynet(pipe[5])
			}
		case queue != nil:
			if c == nil || c.Limit > 0 || strings.HasPrefix(c.ID, "queue") { // of no pipe: ipfw queue show
				begin("queue "+queue[1], f.Line(t.from, i+1))
			}
			f.use(t.from, i+1)
			if c != nil {
				c.dummynet(queue[2])
			}
		case c == nil || len(words) == 0:
		case words[0] == "BKT":
			rows = true
		case rows:
			if v, ok := dummynetFlow(words); ok {
				c.flow(v, f.Line(t.from, i+1))
			}
		default:
			if m := dummynetSched.FindStringSubmatch(line); m != nil {
				c.Options = shorten(m[1])
			}
		}
	}
	return nothingUnless(found)
}

// dummynet takes what a line says of a queue: its length, and the loss that somebody asked for.
func (c *Class) dummynet(s string) {
	if m := dummynetSlots.FindStringSubmatch(s); m != nil {
		c.Limit = int64(smallNumber(m[1]))
	}
	if m := dummynetLoss.FindStringSubmatch(s); m != nil {
		if v, err := strconv.ParseFloat(m[1], 64); err == nil && v >= 0 && v <= 1 {
			c.Loss = v
		}
	}
}

// dummynetFlow takes the numbers at the end of a row of a flow: packets and bytes in all, those that wait, drops.
func dummynetFlow(words []string) (v [5]uint64, ok bool) {
	if len(words) < len(v)+3 {
		return v, false
	}
	for i := range v {
		if v[i], ok = count(words[len(words)-len(v)+i]); !ok {
			return v, false
		}
	}
	return v, true
}

func (c *Class) flow(v [5]uint64, src Source) {
	sent, dropped := v[0]-min(v[4], v[0]), v[4] // what is dropped is counted before it is
	c.Backlog += int64(min(v[3], 1<<40))
	if dropped > 0 && c.Dropped.Value == 0 || c.Sent.Value == 0 {
		c.Sent.Source, c.Dropped.Source = src, src
	}
	c.Sent.Value += sent
	c.Dropped.Value += dropped
}

// systatQueue is a row of systat queues: a name, its interface at a root, its rate, its scheduler, then numbers.
var systatQueue = regexp.MustCompile(`^\s*(\S+)(?: on (\S+))?\s+(?:(\d+[KMG]?)\s+)?(?:[a-z][\w-]*\s+)?([0-9.]+[KMGT]?)\s+[0-9.]+[KMGT]?\s+` +
	`([0-9.]+[KMGT]?)\s+[0-9.]+[KMGT]?\s+\d+\b`)

// readSystatQueues reads systat queues of OpenBSD (usr.bin/systat/pftop.c): a heading, and a row for each queue whose
// name is indented below that of its parent; "outq on em0" names the interface.
func (f *Facts) readSystatQueues(t text) error {
	var n *NIC
	headed := false
	for i, line := range t.lines() {
		if words := strings.Fields(line); len(words) > 4 && words[0] == "QUEUE" {
			headed = true
			f.use(t.from, i+1)
			continue
		}
		m := systatQueue.FindStringSubmatch(line)
		if !headed || m == nil {
			continue
		}
		if m[2] != "" && plainName(m[2]) {
			n = f.linkOf(m[2], "", f.Line(t.from, i+1))
		}
		sent, ok := scaledCount(m[4])
		dropped, ok2 := scaledCount(m[5])
		if n == nil || !ok || !ok2 || len(n.Classes) >= rowLimit {
			continue
		}
		src := f.Line(t.from, i+1)
		n.Classes = append(n.Classes, Class{Kind: "pf", ID: m[1], Rate: tcRate(m[3] + "bit"),
			Sent: Counter{Value: sent, Source: src}, Dropped: Counter{Value: dropped, Source: src}})
	}
	return nothingUnless(headed)
}

// systatIP are the names that netstat -s has for what systat -ip shows (usr.bin/systat/ip.c).
var systatIP = map[string]string{
	"total packets received":     "ip.total_packet_received",
	"- fragments dropped":        "ip.fragment_dropped",
	"- fragments timed out":      "ip.fragment_dropped_after_timeout",
	"packets forwarded":          "ip.packet_forwarded",
	"- output drops":             "ip.output_packet_dropped_due_to_no_buf_etc",
	"total input packets":        "udp.datagram_received",
	"- no socket for dest port":  "udp.dropped_due_to_no_socket",
	"- socket buffer full":       "udp.dropped_due_to_full_socket_buffer",
	"total output packets":       "udp.datagram_output",
	"total packets sent":         "ip.packet_sent_from_this_host",
	"destinations unreachable":   "ip.output_packet_discarded_due_to_no_route",
	"output fragments generated": "ip.fragment_created",
}

// systatCell is a number with its words, of which two stand in a line.
var systatCell = regexp.MustCompile(`(\d+) (-? ?[a-zA-Z][a-zA-Z ]*?)(?:  |$)`)

// readSystatIP reads systat -ip of FreeBSD, which shows what was counted in a second.
func (f *Facts) readSystatIP(t text) error {
	found := false
	for i, line := range t.lines() {
		for _, m := range systatCell.FindAllStringSubmatch(line, -1) {
			name := systatIP[strings.TrimSpace(m[2])]
			v, ok := count(m[1])
			if name == "" || !ok {
				continue
			}
			found = true
			rate := float64(v)
			f.keepCounter(f.Counters, name, Counter{Value: v, Partial: true, Over: 1, Rate: &rate, Source: f.Line(t.from, i+1)})
		}
	}
	return nothingUnless(found)
}

// Ceiling is what a shaper lets pass: the rate of a pipe or queue; 0 is unknown.
func (c *Class) Ceiling() units.Rate { return cmp.Or(c.Ceil, c.Rate) }
