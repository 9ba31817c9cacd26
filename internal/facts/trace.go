package facts

import (
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// Trace is a report of mtr, or what traceroute found: the routers of a path, in their order.
type Trace struct {
	Hops []Hop `json:"hops"`
	// Target and Size are the host and the bytes of a probe with all its headers that the command of mtr names.
	Target string `json:"target,omitempty"`
	Size   int    `json:"probe_bytes,omitempty"`
	// Cut is set where the report breaks off: within a row, or at one that is not the host that was asked for.
	Cut bool `json:"cut,omitempty"`
}

// Hop is a router of a path, or its end; times in seconds, Loss is a share.
type Hop struct {
	Number int     `json:"number"`
	Name   string  `json:"name"`
	Loss   float64 `json:"loss"`
	Sent   int     `json:"sent"`
	Mean   float64 `json:"mean_s"`
	Best   float64 `json:"best_s"`
	Worst  float64 `json:"worst_s"`
	Source Source  `json:"source"`
}

var (
	mtrHead = regexp.MustCompile(`Loss%\s+Snt\s+Last\s+Avg\s+Best\s+Wrst|^traceroute6? to |^Tracing route to `)
	mtrHop  = regexp.MustCompile(`^\s*(\d+)\.(?:\|--)?\s*(?:AS\S+\s+)?(\S.*?)\s+([0-9.]+)%?\s+(\d+)\s+[0-9.]+\s+([0-9.]+)\s+` +
		`([0-9.]+)\s+([0-9.]+)(?:\s+[0-9.]+)?$`)
	// WinMTR: Host - % | Sent | Recv | Best | Avrg | Wrst | Last
	winMTRHop = regexp.MustCompile(`^\|\s*(\S.*?)\s+-\s+\|?\s*(\d+)\s*\|\s*(\d+)\s*\|\s*\d+\s*\|` +
		`\s*(\d+)\s*\|\s*(\d+)\s*\|\s*(\d+)\s*\|\s*\d+\s*\|`)
	// brokenHop begins a row that does not end as one.
	brokenHop = regexp.MustCompile(`^\s*\d{1,2}\.(?:\|--)?(?:\s|$)|^\|\s+\S+\s+-?\s*\d*\s*(?:\||$)`)
	// The rows of tracepath: "2:  gw.example  0.455ms pmtu 1480".
	tracepathRow = regexp.MustCompile(`^\s*\d{1,2}\??: +(?:\S+ .*?\d+\.\d+ ?ms(?:.*\b(pmtu \d+))?|no reply|` +
		`\[LOCALHOST\])|^\s+(?:Resume|Too many hops): pmtu \d+`)
	// The rows of traceroute, and those of tracert with three probes before the name.
	traceHop = regexp.MustCompile(`^\s*(\d{1,2})\s+(\S.*)$`)
	probe    = regexp.MustCompile(`<?\b(\d+(?:\.\d+)?) ms|(?:^|\s)(\*)`)
	// ProbeRow is such a row of tracert: it stands without a head in many posts.
	ProbeRow = regexp.MustCompile(`^\s*\d{1,2}(?:\s+(?:<?\d+ ms|\*)){3}(?:\s|$)`)
)

// readTrace reads reports of mtr (ui/report.c), what its window shows (ui/curses.c), those of WinMTR, and the rows of
// traceroute and tracert.
func (f *Facts) readTrace(t text) error {
	found, row, typed := false, 0, ""
	for i, line := range t.lines() {
		line = strings.TrimRight(line, " \r")
		if strings.HasPrefix(line, "mtr ") {
			typed = line
			continue
		}
		if mtrHead.MatchString(line) {
			f.use(t.from, i+1)
			row = 0
		}
		if m := tracepathRow.FindStringSubmatch(line); m != nil {
			found = true
			f.use(t.from, i+1)
			if m[1] != "" && len(f.Messages) < messageLimit {
				f.Messages = append(f.Messages, Message{shorten(strings.TrimSpace(line)), f.Line(t.from, i+1)})
			}
			continue
		}
		hop, ok := hopOf(line, row+1)
		if !ok {
			if last := len(f.Traces) - 1; last >= 0 && row > 0 && brokenHop.MatchString(line) && !strings.HasSuffix(line, "(waiting for reply)") {
				f.Traces[last].Cut = true
			}
			continue
		}
		row = hop.Number
		hop.Source = f.Line(t.from, i+1)
		last := len(f.Traces) - 1
		if last < 0 || hop.Number <= f.Traces[last].Hops[len(f.Traces[last].Hops)-1].Number {
			if len(f.Traces) >= pingLimit {
				break
			}
			f.Traces, last, typed = append(f.Traces, tracedBy(typed)), last+1, ""
		}
		if len(f.Traces[last].Hops) < 256 {
			f.Traces[last].Hops = append(f.Traces[last].Hops, hop)
		}
		found = true
	}
	return nothingUnless(found)
}

// tracedBy is a trace of which only the command is known: mtr -s 1472 host (man mtr: the size includes the headers of IP and
// ICMP; without the option it is 64).
func tracedBy(typed string) (t Trace) {
	const limit, standard = 512, 64
	words := strings.Fields(typed[:min(len(typed), limit)])
	if len(words) < 2 || words[0] != "mtr" {
		return t
	}
	t.Size = standard
	if m := probeSize.FindStringSubmatch(typed); m != nil {
		t.Size = smallNumber(m[1])
	}
	for _, w := range words[1:] {
		if tracedHost.MatchString(w) {
			t.Target = w
		}
	}
	return t
}

var (
	probeSize  = regexp.MustCompile(`\s(?:-\w*s|--psize)[ =]?(\d{2,5})\b`)
	tracedHost = regexp.MustCompile(`^(?:(?:\d{1,3}\.){3}\d{1,3}|[\w-]*[a-zA-Z][\w-]*(?:\.[\w-]+)+|[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7})$`)
)

// hopOf is the hop of a row; next is the number of one that shows none.
func hopOf(line string, next int) (Hop, bool) {
	if m := mtrHop.FindStringSubmatch(line); m != nil {
		return Hop{Number: smallNumber(m[1]), Name: shorten(m[2]), Loss: min(amount(m[3])/100, 1), Sent: smallNumber(m[4]),
			Mean: amount(m[5]) / 1000, Best: amount(m[6]) / 1000, Worst: amount(m[7]) / 1000}, true
	}
	if m := winMTRHop.FindStringSubmatch(line); m != nil {
		return Hop{Number: next, Name: shorten(m[1]), Loss: min(amount(m[2])/100, 1), Sent: smallNumber(m[3]),
			Best: amount(m[4]) / 1000, Mean: amount(m[5]) / 1000, Worst: amount(m[6]) / 1000}, true
	}
	m := traceHop.FindStringSubmatch(line)
	if m == nil {
		return Hop{}, false
	}
	hop := Hop{Number: smallNumber(m[1])}
	probes, places := probe.FindAllStringSubmatch(m[2], -1), probe.FindAllStringIndex(m[2], -1)
	if len(probes) == 0 || len(probes) > 16 {
		return Hop{}, false
	}
	var sum float64
	answered := 0
	for _, p := range probes {
		hop.Sent++
		if p[1] == "" {
			continue
		}
		s := milliseconds(p[1])
		if answered++; answered == 1 || s < hop.Best {
			hop.Best = s
		}
		hop.Worst, sum = max(hop.Worst, s), sum+s
	}
	hop.Loss = 1 - float64(answered)/float64(hop.Sent)
	hop.Mean = sum / float64(max(answered, 1))
	hop.Name = shorten(strings.TrimSpace(m[2][:places[0][0]]))
	if hop.Name == "" { // tracert names it last
		hop.Name = shorten(strings.TrimSpace(m[2][places[len(places)-1][1]:]))
	}
	return hop, true
}
