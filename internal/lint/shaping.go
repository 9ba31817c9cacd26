package lint

import (
	"fmt"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/conffile"
	"github.com/wirerate/wirerate/internal/regexp"
)

// bytesPerSecond is a rate of tc(8) in a unit that looks like bits.
var bytesPerSecond = regexp.MustCompile(`^([0-9.]+)([kmgt]?i?)bps$`)

// shaping judges the rates of tc's disciplines and classes, and remembers classes.
func (k *checker) shaping(e conffile.Entry) *finding {
	name, ok := strings.CutPrefix(e.Name, "tc:")
	if !ok {
		return nil
	}
	switch name {
	case "class", "htb/default":
		if len(k.classes) < cacheLimit {
			k.classes = append(k.classes, &assignment{file: k.file, kind: k.kindOf(e), entry: e})
		}
		return nil
	}
	_, parameter, _ := strings.Cut(name, "/")
	switch parameter {
	case "rate", "ceil", "maxrate", "bandwidth":
	default:
		return nil
	}
	m := bytesPerSecond.FindStringSubmatch(strings.ToLower(e.Value))
	if m == nil || e.Has(conffile.Expands) {
		return nil
	}
	return &finding{code: "wrong-unit", severity: Warning, value: true, sources: []string{"tc(8), RATES"},
		message: fmt.Sprintf("%s: bps is bytes per second here, so that %s is eight times as many bits", e.Name, e.Value),
		because: fmt.Sprintf("tc(8) writes bits per second as bit; for %s%s bits per second write %s%sbit.", m[1], m[2], m[1], m[2])}
}

// judgeClasses reports an htb whose default class no command makes.
func (k *checker) judgeClasses() {
	classes := map[string]bool{} // of an interface
	open := map[string]bool{}    // interfaces of which not all classes are known
	device := func(a *assignment) string { return a.file.path + "\x00" + a.entry.Iface }
	for _, a := range k.classes {
		if a.entry.Name != "tc:class" {
			continue
		}
		_, minor, _ := strings.Cut(a.entry.Value, ":")
		classes[device(a)], classes[device(a)+" "+minorID(minor)] = true, true
		if a.entry.Has(conffile.Expands) {
			open[device(a)] = true
		}
	}
	for _, a := range k.classes {
		id := minorID(a.entry.Value)
		if a.entry.Name != "tc:htb/default" || id == "" || a.entry.Has(conffile.Expands) || open[device(a)] ||
			!classes[device(a)] || classes[device(a)+" "+id] {
			continue
		}
		k.reportIn(a.file, a.entry, finding{code: "conflict", severity: Warning, value: true,
			sources: []string{"tc-htb(8), default", "torvalds/linux v6.12 net/sched/sch_htb.c, htb_classify"},
			message: fmt.Sprintf("no command makes the default class of htb, %s", a.entry.Value),
			because: "What no filter puts into a class is then sent at once and unshaped, past all classes."})
	}
}

// minorID is the minor number of a class, which is hexadecimal with or without 0x,
// in one form; "" for 0, which stands for none.
func minorID(text string) string {
	return strings.TrimLeft(strings.TrimPrefix(strings.ToLower(text), "0x"), "0")
}

// judgeSlots reports queues of dummynet that ipfw refuses, since they are longer than the limit.
func (k *checker) judgeSlots() {
	const limit = "net.inet.ip.dummynet.pipe_slot_limit"
	most, known := k.numberOf(k.effects[limit], limit)
	for _, a := range k.slots {
		if n, ok := parseNumber(a.entry.Value, catalog.FreeBSD, ""); ok && known && n > most {
			k.reportIn(a.file, a.entry, finding{code: "out-of-range", severity: Warning, value: true,
				sources: []string{"freebsd-src sbin/ipfw/dummynet.c: 2 <= queue size <= limit"},
				message: fmt.Sprintf("queue %s is more than %s, %.0f unless it is set", a.entry.Value, limit, most),
				because: "ipfw refuses the line, so that the pipe stays as it was; raise the limit first, or write the size in Kbytes."})
		}
	}
}
