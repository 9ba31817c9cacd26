package transcript

import (
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// squashed are outputs that pages, mails and chats make one line of: what begins each of their lines, how many of them a
// line must hold to be taken for several, and words of which one stands in such a line.
var squashed = []squashedForm{
	{start: logStart, least: 3, words: []string{" kernel: ", "] "}},
	{start: regexp.MustCompile(`\b(?:Ip|Icmp|IcmpMsg|Tcp|Udp|UdpLite|TcpExt|IpExt|ip|icmp|tcp|udp): |` +
		`\b\d+ [A-Za-z]{2}|` +
		`\b[A-Z][A-Za-z]+: \d`), least: 3, words: []string{"p: ", "pExt: "},
		title: regexp.MustCompile(`\b(?:Ip|Tcp|Udp|TcpExt|IpExt|ip|tcp|udp): \d+ [a-z]`)},
	{start: regexp.MustCompile(`\b\d+K?(?:/\d+K?)* (?:mbufs? |4k |9k |16k |K?bytes allocated|Kbytes allocated|requests for |` +
		`calls to protocol)`), least: 4, words: []string{"mbufs in use"}},
	{start: regexp.MustCompile(`\b(?:net|kern|kernel|vm|hw|dev|fs)\.[\w.%-]+(?: =|:) `), least: 2,
		words: []string{" = ", ": "}},
	{start: regexp.MustCompile(`\[ *(?:\d+|ID|SUM)\] |\bConnecting to host `), least: 3, words: []string{" sec "}},
	{start: regexp.MustCompile(`\b\d+ bytes from |--- \S+ ping|\b\d+ packets transmitted|\b(?:rtt|round-trip) min/`),
		least: 2, words: []string{" bytes from ", "packets transmitted"}},
	{start: regexp.MustCompile(`\b\S+ +Link encap:|\b\S+: flags=|\binet6? |\bether |\bUP [A-Z]{4}|` +
		`\b[RT]X (?:packets|errors)\b|` +
		`\bRX bytes\b|\bcollisions:|\bInterrupt:`), least: 4, words: []string{"RX packets"}},
	{start: regexp.MustCompile(`\b\d+: \S+: <[A-Z]|\blink/\w+ |\b[RT]X: +bytes |\b[RT]X errors: +[a-z]|\b\d+(?: +\d+){4,}`), least: 4,
		words: []string{"RX: bytes"}},
	{start: regexp.MustCompile(`\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+: \d`), least: 4, words: []string{"rx_", "tx_"}},
	{start: regexp.MustCompile(`\bSettings for |\b(?:Supported|Supports|Advertised|Link partner) |\bSpeed: |` +
		`\bDuplex: |\bPort: |` +
		`\bPHYAD: |\bTransceiver: |\bAuto-negotiation: |\bMDI-X: |\bWake-on: |\bCurrent message |` +
		`\bLink detected: `), least: 4,
		words: []string{"Settings for", "Speed: "}},
	{start: regexp.MustCompile(`\b(?:qdisc|class) \w+ [0-9a-f]*:[0-9a-f]* |\bSent \d+ bytes |\bbacklog \d|` +
		`\blended: |\btokens: `),
		least: 3, words: []string{" pkt"}},
	{start: regexp.MustCompile(`\bOpenBSD \d+\.\d+ \([\w.]+\) #\d+: |\b[a-z]{2,}\d+ at [a-z]{2,}\d+\b|\bcpu\d+: |` +
		`\breal mem|\bavail mem`),
		least: 4, words: []string{" at mainbus0", " at pci"}},
	{start: regexp.MustCompile(`\b(?:\d{1,4}|[A-Z]{3}): +\d+ +\d+ `), least: 3, words: []string{"CPU0 "}},
	{start: regexp.MustCompile(`\bState +Recv-Q|\b(?:LISTEN|ESTAB|UNCONN|TIME-WAIT) +\d+ +\d+ |` +
		`\b(?:TcpExt|Tcp|Udp|IpExt|Ip)[A-Z]\w+ +\d+ +\d+\.\d\b|\bcpu=\d+ `), least: 2, words: []string{"Recv-Q", "cpu=0 "}},
}

type squashedForm struct {
	start *regexp.Regexp
	least int
	words []string
	title *regexp.Regexp // stands in the line as well
}

// broken puts each line of the output on one of its own.
func (q *squashedForm) broken(line string) string {
	if !slices.ContainsFunc(q.words, func(w string) bool { return strings.Contains(line, w) }) ||
		q.title != nil && !q.title.MatchString(line) {
		return line
	}
	starts := q.start.FindAllStringIndex(line, -1)
	if len(starts) < q.least {
		return line
	}
	var b strings.Builder
	from := 0
	for _, at := range starts {
		if at[0] > from {
			b.WriteString(strings.TrimRight(line[from:at[0]], " ") + "\n")
			from = at[0]
		}
	}
	return b.String() + line[from:]
}

// squashedLength is the length from which on a line may be several.
const squashedLength = 80

// unsquashed breaks lines into which somebody joined a whole output.
func unsquashed(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		for j := range squashed {
			if len(line) >= squashedLength {
				line = squashed[j].broken(line)
			}
		}
		lines[i] = line
	}
	return strings.Join(lines, "\n")
}

// indentOf are the blanks before a line.
func indentOf(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " \t"))] }

// wholeProxyLines joins lines of HAProxy's log that somebody broke behind the time, or the names, of the request.
func wholeProxyLines(s string) string {
	if !facts.ProxyBroken.MatchString(s) {
		return s
	}
	const most = 2
	lines := strings.Split(s, "\n")
	var out []string
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		for n := 0; n < most && len(line) < 4096 && i+1 < len(lines) && facts.ProxyBroken.MatchString(line) &&
			!facts.ProxyBroken.MatchString(lines[i+1]); n++ {
			i++
			line += " " + strings.Trim(lines[i], "> \t\r") // quoted, or not
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// logLine is a line of a kernel's log in a quotation or not; lineGoesOn begins what a mail program put on the next line.
var (
	logLine    = regexp.MustCompile(`^[|>\s]*(?:[A-Z][a-z]{2} +\d+ [\d:]{8} (?:[\w.-]+ )?kernel: |\[ *\d+\.\d{6}\] ).*[^.:!?]$`)
	lineGoesOn = regexp.MustCompile(`^[|>\s]*([a-z]\S*)`)
)

// wholeLogLines joins lines of a kernel's log that a mail program broke where they were too long for it. An empty line takes
// the place of the second half.
func wholeLogLines(s string) string {
	if !logStart.MatchString(s) {
		return s
	}
	const narrowest, widest = 72, 80 // columns at which mail programs break lines
	lines := strings.Split(s, "\n")
	for i := 0; i+1 < len(lines); i++ {
		if len(lines[i]) > widest || len(lines[i]) < narrowest/2 || !logLine.MatchString(lines[i]) {
			continue
		}
		next := lineGoesOn.FindStringSubmatch(lines[i+1])
		if next == nil || len(lines[i+1]) > widest || len(lines[i])+len(" ")+len(next[1]) < narrowest ||
			i+2 < len(lines) && strings.Trim(lines[i+2], "|> \t\r") != "" && !logLine.MatchString(lines[i+2]) {
			continue // a sentence below the log, which has more lines
		}
		lines[i] += " " + strings.TrimLeft(lines[i+1], "|> \t")
		lines[i+1] = ""
	}
	return strings.Join(lines, "\n")
}

// dashboardCell is the name of a row of a firewall's start page whose numbers a page put on the next line.
var dashboardCell = regexp.MustCompile(`(?im)^([^\w\n]{0,8}(?:state table size|mbuf usage)[^\w\n]{0,8})\n([^\w\n]{0,8}\d[\d %(]* ?/ ?\d+.*)$`)
