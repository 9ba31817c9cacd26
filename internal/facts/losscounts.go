package facts

import (
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// LossCount is a counter whose name says that packets were lost, of a tool that has no reader of its own, and the
// counter of packets that stands beside it.
type LossCount struct {
	// Where Of is empty, Beside is what the counter stood at before, or 0.
	// Scope is the port, the queue or the interface that it is of, where the tool heads its counters so.
	Scope  string `json:"scope,omitempty"`
	Name   string `json:"name"`
	Lost   uint64 `json:"lost"`
	Of     string `json:"of"`
	Beside uint64 `json:"beside"`
	Source Source `json:"source"`
	// Total is the line of the other counter.
	Total Source `json:"total"`
}

// Damaged reports whether the name says that the frames arrived damaged.
func (c LossCount) Damaged() bool { return damaged.MatchString(strings.ToLower(c.Name)) }

// Share is the part of the packets that was lost, at least: some tools count it among the others; 0 where nothing tells
// of how many.
func (c LossCount) Share() float64 {
	if c.Of == "" {
		return 0
	}
	ofIperf := c.Name == "lost_packets" && c.Of == "packets" // whose JSON counts them among the packets
	if (ofIperf || holdsAll.MatchString(c.Of)) && c.Lost <= c.Beside {
		return float64(c.Lost) / float64(c.Beside)
	}
	return float64(c.Lost) / (float64(c.Lost) + float64(c.Beside))
}

// holdsAll is the name of a counter that has the lost ones in it as well.
var holdsAll = regexp.MustCompile(`(?i)\b(?:in )?total\b|\ball\b`)

// OtherCounters is the name under which paragraphs of tools without a reader are kept.
const OtherCounters = "other-counters"

// The bounds below which a counter of an unknown tool says nothing: its number, and its share where its name speaks of
// errors, which are not always losses.
const (
	leastLost      = 100
	mostGrowing    = 256 // counters that are compared with later ones
	leastMany      = 20
	manyLost       = 0.005 // a share for which leastMany are enough
	leastLostShare = 1e-6
	leastErrors    = 0.01
	allLost        = 1000
)

// The forms of counters: "name: 12 other=13", "12 packets dropped" at the start of a line or in brackets, "/12 pkts
// dropped", "name | all | 12" and "name   12". A line of words above one of as many numbers is a table.
var (
	countPair  = regexp.MustCompile(`([A-Za-z][\w.-]*(?: [A-Za-z][\w.-]*){0,2})\s*[:=]\s*(\d{1,3}(?: \d{3})+|\d[\d',]*)(?:[^\w.%:/]|$)`)
	countBoxed = regexp.MustCompile(`\[[# ]*([A-Za-z][\w -]*): (\d[\d',]*)\]`)
	countSaid  = regexp.MustCompile(`(?:^\s*|\[|\(|, )(\d[\d',]*) +([A-Za-z][A-Za-z -]*)`)
	countSlash = regexp.MustCompile(`[/:,] ?(\d[\d',]*) ((?:pkts?|packets) [a-z]+)`)
	countRow   = regexp.MustCompile(`^[\s|]*([A-Za-z][\w.-]*(?: [\w.-]+){0,3})(?:\s*\|[^|]*)?(?:\s*\||\s)\s*` +
		`(\d[\d',]*)\s*\|?\s*$`)
	countHead = regexp.MustCompile(`^\s*[A-Za-z][\w.-]*(?:\s+[A-Za-z][\w.-]*)+\s*$`)
)

// What the names of counters say, in lower case with their words apart.
var (
	lossWords = regexp.MustCompile(`\b(?:drops?|dropped|drp|drps|failed upcall|discards?|discarded|lost|` +
		`overflows?|overruns?|imissed|requestlist (?:exceeded|overwritten)|` +
		`rx miss(?:ed|es)?|rx nombuf|nombuf|no m?buf(?:fers?)?)\b`)
	errorWords = regexp.MustCompile(`\b(?:errors?|errs?|too (?:long|short|big|large)|oversized?|undersized?|runts?|giants?|jabbers?|crc|fcs|bad)\b`)
	damaged    = regexp.MustCompile(`\b(?:crc|fcs|framing)\b`)              // each of these frames is lost
	errorNamed = regexp.MustCompile(`\b(?:errors?|errs?|frames?)\b`)        // a CRC alone may be a checksum
	dslWords   = regexp.MustCompile(`\b(?:hec|fec|ses|severely errored)\b`) // of DSL these are superframes, and corrected ones
	totalWords = regexp.MustCompile(`\b(?:[io]?packets?|pkts?|datagrams|messages|processed|received|rcvd|queries|total received|lookups hit|` +
		`success upcall|[rt]x ok)\b|^(?:rx|tx)$`)
	lateWords = regexp.MustCompile(`\blate\b`) // those are not all
	sendWords = regexp.MustCompile(`\b(?:tx|out|output|sent|send|transmit|transmitted|opackets)\b`)
	noCount   = regexp.MustCompile(`\b(?:limit|max|min|avg|mean|peak|size|rate|per|pps|ratio|percent|threshold|` +
		`filter\w*|aged|udma|sata|` +
		`policy|acl|rules?|unknown|reject\w*|den(?:y|ied)|block\w*|dup\w*|fps|video|early|xdp|multicast|mcast|` +
		`broadcast|` +
		`interval|timeout|bytes|sec)\b`)
	wordBreak = regexp.MustCompile(`[^a-zA-Z0-9]+|([a-z])([A-Z])`)
)

type namedCount struct {
	scope, name, words string
	value              uint64
	line               int
	alone              bool // its line has no other: rows of several may be of different processors
}

// scopeLimit bounds the lines between a counter and the heading of its block.
const scopeLimit = 64

// The headings of blocks of counters: "port 3:", "Queue 0 ...", the first word of a line above that is less indented
// (vif0/3 of vRouter), and the row of an interface in VPP's table, with its first counter.
var (
	scopeHead = regexp.MustCompile(`^\s*((?i:port|queue|core|lcore|thread|worker|instance|vif|interface|link|` +
		`nic)[ :#]+ *` +
		`[A-Za-z]*[\w./@-]*\d[\w./@-]*|(?i:port) +[A-Za-z][\w./@-]*:)(?:\s|:|$)`)
	scopeWord = regexp.MustCompile(`^([A-Za-z][\w.@-]*\d[\w./@-]*):?(?:\s|$)`)
	vppRow    = regexp.MustCompile(`^([A-Za-z][\w./-]*)\s+\d+\s+(?:up|down)\s+(?:\d+(?:/\d+)+\s+)?([a-z].*)$`)
)

// scopeOf is the block that a line's counters are of, and the line without the name of the block.
func scopeOf(lines []string, i int) (scope, rest string) {
	line := lines[i]
	if m := vppRow.FindStringSubmatch(line); m != nil {
		return m[1], m[2]
	}
	if m := scopeHead.FindStringSubmatchIndex(line); m != nil {
		return plainScope(line[m[2]:m[3]]), strings.TrimLeft(line[m[3]:], ": \t")
	}
	for j := i - 1; j >= max(i-scopeLimit, 0); j-- {
		if len(lines[j]) > 1024 || indent(lines[j]) >= indent(line) {
			continue
		}
		for _, form := range []*regexp.Regexp{vppRow, scopeHead, scopeWord} {
			if m := form.FindStringSubmatch(lines[j]); m != nil {
				return plainScope(m[1]), line
			}
		}
		break
	}
	return "", line
}

// vppScope reports whether the name of a block is that of an interface of VPP.
func vppScope(name string) bool { return vppName.MatchString(name) }

// vppName is a name that VPP gives, or that its drivers for pairs and taps do.
var vppName = regexp.MustCompile(`^(?:local0|loop\d+|bvi\d+|host-\S+|tap\d+|memif\d+/\d+|[A-Z]\w*Ethernet[\w/]+|` +
	`vxlan_tunnel\d+|rdma-\d+)$`)

func plainScope(s string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(s, ":", " ")), " ")
}

// countsIn are the counters of a line.
func countsIn(line string, number int) (out []namedCount) {
	add := func(name, digits string) {
		if v, ok := count(strings.NewReplacer("'", "", ",", "", " ", "").Replace(digits)); ok {
			name = strings.Join(strings.Fields(name), " ")
			words := strings.ToLower(wordBreak.ReplaceAllString(name, "$1 $2"))
			out = append(out, namedCount{name: name, words: words, value: v, line: number})
		}
	}
	if said := countSlash.FindAllStringSubmatch(line, -1); len(said) > 1 {
		for _, p := range said {
			add(p[2], p[1])
		}
		return out
	}
	if boxed := countBoxed.FindAllStringSubmatch(line, -1); len(boxed) > 0 {
		for _, p := range boxed {
			add(p[1], p[2])
		}
		return out
	}
	pairs := countPair.FindAllStringSubmatch(line, -1)
	if len(pairs) > 0 {
		before, _, _ := strings.Cut(line, pairs[0][1]) // and the words in front of the last one of the first name
		if at := strings.LastIndexByte(pairs[0][1], ' '); at >= 0 && !strings.ContainsAny(before, "0123456789") {
			before, pairs[0][1] = before+pairs[0][1][:at], pairs[0][1][at+1:]
		}
		before = strings.Trim(before, " \t:|-[{(*")
		if len(strings.Fields(before)) > 3 || strings.ContainsAny(before, "0123456789") {
			before = ""
		}
		for _, p := range pairs {
			add(before+" "+p[1], p[2])
		}
		return out
	}
	for _, at := range countSaid.FindAllStringSubmatchIndex(line, -1) {
		if !strings.HasPrefix(line[at[1]:], "/") { // no packets/sec
			add(line[at[4]:at[5]], line[at[2]:at[3]])
		}
	}
	if p := countRow.FindStringSubmatch(line); p != nil && len(out) == 0 {
		add(p[1], p[2])
	}
	return out
}

// countsOf are the counters of a paragraph.
func countsOf(lines []string) (out []namedCount) {
	var columns, ways []string
	for i, line := range lines {
		if len(line) > 1024 || len(out) > rowLimit {
			continue
		}
		if names := tableHead(line); names != nil {
			columns = names
			continue
		}
		if m := waysHead.FindStringSubmatch(line); m != nil {
			ways = m[1:]
			continue
		}
		if row := waysRow(ways, line, i+1); row != nil {
			out = append(out, row...)
			continue
		}
		if row := rowOf(columns, line, i+1); row != nil {
			out = append(out, row...)
			continue
		}
		if fields := strings.Fields(line); i > 0 && len(fields) > 1 && countHead.MatchString(lines[i-1]) {
			if names := strings.Fields(lines[i-1]); len(names) == len(fields) && !slices.ContainsFunc(fields, notDigits) {
				for k, name := range names {
					out = append(out, countsIn(name+": "+fields[k], i+1)...)
				}
				continue
			}
		}
		scope, rest := scopeOf(lines, i)
		here := countsIn(strings.ReplaceAll(rest, `"`, ""), i+1) // of JSON without its quotes
		for _, c := range here {
			c.scope, c.alone = scope, len(here) == 1
			out = append(out, c)
		}
	}
	return out
}

func notDigits(s string) bool { return strings.Trim(s, "0123456789") != "" }

// lossesOf are the counters of losses among those of a paragraph, each beside the counter of packets whose name is most like its
// own, and those that stood lower in it or before it.
func lossesOf(before, all []namedCount) (lost, totals []namedCount) {
	beside := totalsIn(all)
	ofDSL := slices.ContainsFunc(all, func(c namedCount) bool { return dslWords.MatchString(c.words) })
	for i, c := range all {
		if may := lossCounters(all[i : i+1]); len(may) > 0 {
			was, ok := grown(before, c)
			if len(before) < mostGrowing {
				before = append(before, c)
			}
			if ok {
				lost, totals = append(lost, c), append(totals, namedCount{value: was, line: c.line})
				continue
			}
		}
		isLoss, isError := lossWords.MatchString(c.words) || damaged.MatchString(c.words), errorWords.MatchString(c.words)
		if c.value < leastMany || !isLoss && !isError || noCount.MatchString(c.words) {
			continue
		}
		best, like := beside.best(c)
		share := LossCount{Lost: c.value, Of: best.name, Beside: best.value}.Share()
		// A few drops of an interface of VPP are packets that nobody wanted.
		few := c.value < leastLost && share < manyLost || c.value < allLost && (best.value == 0 || c.words == "drops" && vppScope(c.scope))
		if like < 0 && c.value >= allLost && damaged.MatchString(c.words) && (c.scope != "" || errorNamed.MatchString(c.words)) && !ofDSL {
			lost, totals = append(lost, c), append(totals, namedCount{line: c.line})
			continue
		}
		if like < 0 || few || share < leastLostShare || !isLoss && share < leastErrors {
			continue
		}
		lost, totals = append(lost, c), append(totals, best)
	}
	return lost, totals
}

// packetTotals are the counters of packets of a paragraph, all of them and those of each scope, with the direction they are
// of: true for what is sent.
type packetTotals map[totalsOf][]namedCount

type totalsOf struct {
	scope string
	all   bool // of every scope
	sends bool
}

// mostTotals bounds those that a counter without any of its own scope is compared with.
const mostTotals = 1024

func totalsIn(all []namedCount) packetTotals {
	out := packetTotals{}
	for _, t := range all {
		if !totalWords.MatchString(t.words) || lossWords.MatchString(t.words) || errorWords.MatchString(t.words) ||
			noCount.MatchString(t.words) || lateWords.MatchString(t.words) {
			continue
		}
		sends := sendWords.MatchString(t.words)
		for _, of := range []totalsOf{{t.scope, false, sends}, {"", true, sends}} {
			if len(out[of]) < mostTotals {
				out[of] = append(out[of], t)
			}
		}
	}
	return out
}

// best is the counter of packets whose name is most like that of a loss, those of its own scope first, and how much; -1 where
// there is none. One that stands at 0 is one as well: all were lost.
func (p packetTotals) best(c namedCount) (best namedCount, like int) {
	like = -1
	sends := sendWords.MatchString(c.words)
	for _, of := range []totalsOf{{c.scope, false, sends}, {"", true, sends}} {
		for _, t := range p[of] {
			if t.scope != c.scope && t.scope != "" && c.scope != "" && vppScope(c.scope) {
				continue // of another interface of VPP
			}
			if n := commonPrefix(t.words, c.words); n > like || n == like && t.value > best.value {
				best, like = t, n
			}
		}
		if like >= 0 {
			return best, like
		}
	}
	return best, like
}

// grown is what a counter of losses stood at before, where that was less: it goes on, whatever it is to be compared with.
func grown(before []namedCount, c namedCount) (was uint64, ok bool) {
	at := slices.IndexFunc(before, func(b namedCount) bool {
		return b.name == c.name && b.scope == c.scope && b.value >= leastLost && b.value < c.value
	})
	if at < 0 {
		return 0, false
	}
	return before[at].value, true
}

// noGrowth are words of what is no counter.
var noGrowth = regexp.MustCompile(`\b(?:limit|max|min|avg|mean|peak|size|rate|ratio|percent|threshold|interval|bytes|sec|ms|policy|acl|rules?)\b`)

func commonPrefix(a, b string) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// CountsLosses reports whether a paragraph without a reader counts lost packets beside others.
func CountsLosses(lines []string) bool {
	all := countsOf(lines)
	lost, _ := lossesOf(nil, all)
	return len(lost) > 0 || len(lossCounters(all)) > 1 || slices.ContainsFunc(lines, countsNone)
}

// lossCounters are the counters whose names speak of losses, which may grow.
func lossCounters(all []namedCount) (out []namedCount) {
	for _, c := range all {
		if c.alone && c.value >= leastLost && lossWords.MatchString(c.words) && !noGrowth.MatchString(c.words) {
			out = append(out, c)
		}
	}
	return out
}

// countsNone reports whether a line is of a table of ports that has a column for losses: that they are few says something
// as well.
func countsNone(line string) bool {
	return len(line) <= 1024 && (vppRow.MatchString(line) || rtpStream.MatchString(line) || portRow.MatchString(line) ||
		esxtopHeads.MatchString(line))
}

// portRow is a port of ovs-ofctl dump-ports.
var portRow = regexp.MustCompile(`^\s*port\s+\S+: rx pkts=\d+, bytes=\d+, drop=\d+`)

// CountersIn is how many counters with a name a line shows as pairs: "hit:12 missed:3".
func CountersIn(line string) int {
	return len(countPair.FindAllStringIndex(line[:min(len(line), 1024)], -1))
}

// rtpStream is a row of tshark -z rtp,streams: times, addresses and ports of both ends, what it carries, packets and how
// many of them were lost (ui/cli/tap-rtp.c).
var rtpStream = regexp.MustCompile(`^\s*\d+\.\d+\s+\d+\.\d+\s+(\S+)\s+\d+\s+(\S+)\s+\d+\s+0x[0-9A-Fa-f]+\s.*?\s(\d+)\s+(\d+) ` +
	`\(\d+(?:\.\d+)?%\)`)

// rtpLosses reads the rows of streams, and reports whether there are any.
func (f *Facts) rtpLosses(t text) (found bool) {
	for i, line := range t.lines() {
		m := rtpStream.FindStringSubmatch(line)
		if m == nil || len(f.LossCounts) >= rowLimit {
			continue
		}
		packets, _ := count(m[3])
		wrong, _ := count(m[4])
		src := f.Line(t.from, i+1)
		if found = true; wrong > 0 && packets > 0 {
			f.LossCounts = append(f.LossCounts, LossCount{Scope: "RTP " + m[1] + " > " + m[2], Name: "lost", Lost: wrong,
				Of: "packets", Beside: packets, Source: src, Total: src})
		}
	}
	return found
}

// readLossCounts reads the paragraphs in which a tool that is not known counts losses.
func (f *Facts) readLossCounts(t text) error {
	all, found := t.lines(), f.rtpLosses(t)
	found = f.esxtopLosses(t) || found
	var before []namedCount
	for first := 0; first < len(all); first++ {
		end := first
		for end < len(all) && strings.TrimSpace(all[end]) != "" {
			end++
		}
		counts := countsOf(all[first:end])
		lost, totals := lossesOf(slices.Clip(before), counts)
		if len(before) < mostGrowing {
			before = append(before, lossCounters(counts)...)
		}
		for i, c := range lost {
			if len(f.LossCounts) < rowLimit {
				f.LossCounts = append(f.LossCounts, LossCount{Scope: c.scope, Name: c.name, Lost: c.value, Of: totals[i].name,
					Beside: totals[i].value, Source: f.Line(t.from, first+c.line), Total: f.Line(t.from, first+totals[i].line)})
			}
		}
		if len(lost) > 0 || slices.ContainsFunc(all[first:end], countsNone) ||
			slices.ContainsFunc(counts, func(c namedCount) bool { return lossWords.MatchString(c.words) }) {
			found = true
			for i := first; i < end; i++ { // the others say that all else is well
				f.use(t.from, i+1)
			}
		}
		first = end
	}
	return nothingUnless(found)
}
