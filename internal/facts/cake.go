package facts

import (
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// tinTable reads the table of cake's tins (iproute2 tc/q_cake.c, cake_print_xstats): a row of their names, then a row
// for each number, with the names of the rows in front.
type tinTable struct {
	open bool
}

// tinRows are the rows that are kept.
var tinRows = map[string]func(t *Tin, value string, at func() Source){
	"thresh":   func(t *Tin, v string, _ func() Source) { t.Rate = tcRate(v) },
	"target":   func(t *Tin, v string, _ func() Source) { t.Target = tcTime(v) },
	"pk_delay": func(t *Tin, v string, at func() Source) { t.Peak, t.DelayLine = tcTime(v), at() },
	"av_delay": func(t *Tin, v string, _ func() Source) { t.Mean = tcTime(v) },
	"pkts":     func(t *Tin, v string, _ func() Source) { t.Packets, _ = count(v) },
	"ack_drop": func(t *Tin, v string, _ func() Source) { t.AckDrops, _ = count(v) },
	"drops":    func(t *Tin, v string, at func() Source) { t.Drops, _ = count(v); t.DropLine = at() },
	"marks":    func(t *Tin, v string, _ func() Source) { t.Marks, _ = count(v) },
}

// tinOther are the other rows, and what stands above the table.
var (
	tinOther = regexp.MustCompile(`^\s*(?:interval|sp_delay|backlog|bytes|way_\w+|sp_flows|bk_flows|` +
		`un_flows|max_len|quantum)\s+\d`)
	tinHead    = regexp.MustCompile(`^\s{8,}(?:Tin 0|Bulk|Best Effort|CS\d|LSVC|Tin 1)\b`)
	cakeMemory = regexp.MustCompile(`memory used: (\d+[KMG]?)b of (\d+[KMG]?)b`)
	cakeAbove  = regexp.MustCompile(`^\s*(?:capacity estimate|m(?:in|ax)/max [a-z-]+|average [a-z ]+):`)
)

// take takes a line of the table, or one above it, and tells whether it was one.
func (table *tinTable) take(q *Qdisc, line string, at func() Source) bool {
	if m := cakeMemory.FindStringSubmatch(line); m != nil {
		q.MemoryUsed, q.LimitBytes = sizeWord(m[1]), sizeWord(m[2])
		at()
		return true
	}
	if tinHead.MatchString(line) {
		table.open, q.Tins = true, nil
		for _, name := range columns(line) {
			q.Tins = append(q.Tins, Tin{Name: shorten(name)})
		}
		at()
		return true
	}
	words := strings.Fields(line)
	switch row, values := tinRows[words[0]], words[1:]; {
	case cakeAbove.MatchString(line):
	case !table.open:
		return false
	case row != nil && len(values) == len(q.Tins):
		for i := range q.Tins {
			row(&q.Tins[i], values[i], at)
		}
	case !tinOther.MatchString(line):
		return false
	}
	at()
	return true
}

// tcTime reads 5ms, 100us, 1.5s, in seconds.
func tcTime(s string) float64 {
	for _, unit := range []struct {
		suffix string
		factor float64
	}{{"us", 1e-6}, {"ms", 1e-3}, {"ns", 1e-9}, {"s", 1}} {
		if number, ok := strings.CutSuffix(s, unit.suffix); ok {
			v, err := strconv.ParseFloat(number, 64)
			if err != nil || v < 0 || v > 1e9 {
				return 0
			}
			return v * unit.factor
		}
	}
	return 0
}

// columns are the parts of a row between which two spaces or more stand.
func columns(line string) (out []string) {
	for part := range strings.SplitSeq(strings.ReplaceAll(line, "\t", "  "), "  ") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}
