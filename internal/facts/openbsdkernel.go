package facts

import (
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// readPools reads the table of pools in OpenBSD's vmstat -m (usr.bin/vmstat/vmstat.c): "mcl2k2  2112 812377123 34512
// 8192 ...". Network memory is kept under its own name, other pools as zones.
func (f *Facts) readPools(t text) error {
	var heads []string
	known := false
	for i, line := range t.lines() {
		words := strings.Fields(line)
		if len(words) > 6 && words[0] == "Name" && words[1] == "Size" {
			heads, known = words, true
			f.use(t.from, i+1)
			continue
		}
		fail, used := slices.Index(heads, "Fail"), slices.Index(heads, "InUse")
		if fail < 0 || len(words) != len(heads) || len(f.Memories) >= rowLimit {
			continue
		}
		failed, ok := count(words[fail])
		if !ok {
			continue
		}
		p := Pool{Name: words[0], Denied: failed, Source: f.Line(t.from, i+1)}
		if !networkPool.MatchString(p.Name) {
			p.Name = "zone " + p.Name
		}
		if used >= 0 {
			p.Used, _ = count(words[used])
		}
		f.Memories = append(f.Memories, p)
	}
	return nothingUnless(known)
}

// networkPool tells the pools of mbufs and their clusters (sys/kern/uipc_mbuf.c).
var networkPool = regexp.MustCompile(`^(?:mbufpl|mbpl|mcl\d+k?\d?|mcl\w+k2?)$`)

var (
	// kstatName is "em0:0:em-stats:0": provider, instance, name, unit.
	kstatName = regexp.MustCompile(`^([a-z][a-z0-9]*\d+):\d+:([\w-]+):\d+$`)
	kstatRow  = regexp.MustCompile(`^\s+([a-z][\w ./-]*): (\d+)(?: \w+)?$`)
)

// readKstat reads kstat of OpenBSD (usr.bin/kstat/kstat.c): the name of an interface's statistics, and a row for each.
// The counters of a card keep their names, those of a queue stand behind its name.
func (f *Facts) readKstat(t text) error {
	var n *NIC
	prefix, known := "", false
	for i, line := range t.lines() {
		if m := kstatName.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			known, n, prefix = true, f.linkOf(m[1], "", f.Line(t.from, i+1)), ""
			if !strings.HasSuffix(m[2], "-stats") {
				prefix = m[2] + "."
			}
			if n.Counters == nil {
				n.Counters = map[string]Counter{}
			}
			continue
		}
		m := kstatRow.FindStringSubmatch(line)
		if n == nil || m == nil {
			continue
		}
		if v, ok := count(m[2]); ok {
			f.keepCounter(n.Counters, prefix+m[1], Counter{Value: v, Source: f.Line(t.from, i+1)})
		}
	}
	return nothingUnless(known)
}
