package facts

import (
	"fmt"
	"strings"

	"github.com/wirerate/wirerate/internal/kerneltext"
	"github.com/wirerate/wirerate/internal/regexp"
)

// readProcTable reads /proc/net/snmp and /proc/net/netstat.
func (f *Facts) readProcTable(t text) error {
	found := false
	err := kerneltext.Tables(string(t.data), func(v kerneltext.Value) {
		// Tcp.MaxConn is -1: signed values are no counters.
		if n, ok := count(v.Text); ok {
			found = true
			src := Source{From: t.from, Line: f.Line(t.from, v.Line).Line, Text: v.Table + ": " + v.Name + " " + v.Text}
			f.Counters[v.Table+"."+v.Name] = Counter{Value: n, Source: src}
		}
	})
	if err == nil && !found {
		return errNothing
	}
	return err
}

// readSNMP6 reads /proc/net/snmp6: "Ip6InReceives   123".
func (f *Facts) readSNMP6(t text) error {
	found := false
	for i, line := range t.lines() {
		words := strings.Fields(line)
		if len(words) != 2 {
			continue
		}
		if v, ok := count(words[1]); ok {
			found = true
			f.Counters["Snmp6."+words[0]] = Counter{Value: v, Source: f.Line(t.from, i+1)}
		}
	}
	return nothingUnless(found)
}

// readSockstat reads /proc/net/sockstat, whose numbers have no rate.
func (f *Facts) readSockstat(t text) error {
	return kerneltext.Sockstat(string(t.data), func(v kerneltext.Value) {
		n, _ := count(v.Text) // it is one
		f.Counters["sockstat."+v.Table+"."+v.Name] = Counter{Value: n, Source: f.Line(t.from, v.Line)}
	})
}

// readConntrack reads conntrack -S (conntrack-tools): for each processor a line
// "cpu=0 found=0 invalid=2 ...". Its counters are those of
// /proc/net/stat/nf_conntrack, and are added up.
func (f *Facts) readConntrack(t text) error {
	sums := map[string]uint64{}
	shown := map[string]Source{}
	lines := t.lines()
	for i, line := range lines {
		words := strings.Fields(line)
		if len(words) == 2 && conntrackColumn.MatchString(words[0]) { // of conntrack-tools that print sums, one in a line
			words = []string{"cpu=all", words[0] + "=" + words[1]}
		}
		if len(words) < 2 || !strings.HasPrefix(words[0], "cpu=") {
			continue
		}
		for _, w := range words[1:] {
			name, value, _ := strings.Cut(w, "=")
			v, ok := count(value)
			if !ok && value == "" && i == len(lines)-1 {
				break // where the paste was cut
			}
			if !ok {
				return atLine(i+1, "%q is not a counter", shorten(w))
			}
			if sums[name] += v; v > 0 || shown[name].Text == "" {
				shown[name] = f.Line(t.from, i+1)
			}
		}
	}
	if len(sums) == 0 {
		return errNothing
	}
	for name, v := range sums {
		if key := "nf_conntrack." + name; f.Counters[key].Source.Text == "" {
			f.Counters[key] = Counter{Value: v, Source: shown[name]}
		}
	}
	return nil
}

// conntrackColumn are the names of what conntrack -S counts (conntrack-tools, src/conntrack.c).
var conntrackColumn = regexp.MustCompile(`^(?:entries|searched|found|new|invalid|ignore|delete(?:_list)?|insert(?:_failed)?|` +
	`drop|early_drop|(?:icmp_)?error|expect_\w+|search_restart)$`)

// statColumns reads a file of /proc/net/stat.
func statColumns(prefix string) func(f *Facts, t text) error {
	return func(f *Facts, t text) error {
		names, sums, err := kerneltext.StatColumns(string(t.data))
		for i, name := range names {
			f.Counters[prefix+"."+name] = Counter{Value: sums[i],
				Source: Source{From: t.from, Line: f.Line(t.from, 1).Line, Text: fmt.Sprintf("%s %d (sum over processors)",
					name, sums[i])}}
		}
		return err
	}
}
