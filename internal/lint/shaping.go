package lint

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/conffile"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/units"
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
	case "class", "parent", "htb/default", "htb/rate", "htb/ceil":
		if len(k.classes) < cacheLimit {
			k.classes = append(k.classes, k.here(e))
		}
	}
	if name == "leaf" {
		return k.leaf(e)
	}
	_, parameter, _ := strings.Cut(name, "/")
	if e.Has(conffile.Expands) {
		return nil
	}
	switch parameter {
	case "rate", "ceil", "maxrate", "bandwidth":
	case "burst", "buffer", "maxburst":
		return k.smallBurst(e)
	default:
		return nil
	}
	if f := k.rate(e, parameter); f != nil {
		return f
	}
	m := bytesPerSecond.FindStringSubmatch(strings.ToLower(e.Value))
	if m == nil {
		return nil
	}
	return &finding{code: "wrong-unit", severity: Warning, value: true, sources: []string{"tc(8), RATES"},
		message: fmt.Sprintf("%s: bps is bytes per second here, so that %s is eight times as many bits", e.Name, e.Value),
		because: fmt.Sprintf("tc(8) writes bits per second as bit; for %s%s bits per second write %s%sbit.", m[1], m[2], m[1], m[2])}
}

// leaf judges the word for the queueing discipline of a class.
func (k *checker) leaf(e conffile.Entry) *finding {
	r := k.lookup("tc:qdisc")
	if r == nil || e.Has(conffile.Expands) {
		return nil
	}
	e.Name = r.Name
	return k.word(r, e)
}

// bootFiles are places of scripts that run when a machine or an interface comes up.
var bootFiles = regexp.MustCompile(`(?:^|/)(?:rc\.local|init\.d/|rc\.d/|network/|networkd-dispatcher/|dispatcher\.d/|` +
	`network-scripts/|if-up\.d/)`)

// imitates reports a queue that delays or loses packets on purpose, where it is set up at
// every boot.
func (k *checker) imitates(e conffile.Entry) *finding {
	section := strings.HasPrefix(e.Name, "network-file:NetworkEmulator/") && !strings.HasSuffix(e.Name, "/Parent")
	kind := k.kindOf(e)
	boot := kind == conffile.Interfaces || kind == conffile.Service || bootFiles.MatchString(k.file.path)
	if !section && (e.Name != "tc:qdisc" || e.Value != "netem" || !boot) {
		return nil
	}
	return &finding{code: "harmful", severity: Warning, sources: []string{"tc-netem(8)", "systemd.network(5), [NetworkEmulator]"},
		message: "netem imitates a bad path, and this sets it up whenever the interface comes up",
		because: "It delays, loses or reorders what is sent; it is for experiments, which take it away again (tc qdisc del dev DEV root)."}
}

// networkdRates are options of .network files whose unit is bits a second.
var networkdRates = strings.Fields(`CAKE/Bandwidth TokenBucketFilter/Rate TokenBucketFilter/PeakRate
	HierarchyTokenBucketClass/Rate HierarchyTokenBucketClass/CeilRate FairQueueing/MaxRate FairQueueing/MaximumRate`)

// leastRate is a rate in bits a second below which a number without a suffix was meant
// to be in larger units.
const leastRate = 64_000

// bareRate finds megabits written without their suffix in a .network file.
func (k *checker) bareRate(e conffile.Entry) *finding {
	option, ok := strings.CutPrefix(e.Name, "network-file:")
	n, err := strconv.ParseUint(e.Value, 10, 64)
	if !ok || err != nil || n == 0 || n >= leastRate || !slices.Contains(networkdRates, option) {
		return nil
	}
	return &finding{code: "wrong-unit", severity: Warning, value: true, sources: []string{"systemd.network(5), " + e.Key},
		message: fmt.Sprintf("%s = %d is %d bits per second; %d Mbit/s is written %dM", e.Key, n, n, n, n),
		because: "The unit is bits per second, and the suffixes K, M and G are powers of 1000; at this rate one full packet takes " +
			fmt.Sprintf("%s seconds.", units.Digits(12000/float64(n), 3))}
}

// lastRate is the rate in the command that is being read.
type lastRate struct {
	raw  conffile.Span
	file *source
	text string
	bits float64 // a second
}

// rate judges the unit of a rate, and a ceiling below the rate of the same command.
func (k *checker) rate(e conffile.Entry, parameter string) *finding {
	bits, known := tcRate(e.Value)
	switch {
	case !known && tcWord.MatchString(e.Value):
		return &finding{code: "bad-value", severity: Error, value: true,
			sources: []string{"tc(8), RATES", "iproute2 lib/utils.c, get_rate64"},
			message: fmt.Sprintf("%s: tc knows no unit as in %s", e.Name, e.Value),
			because: "tc refuses the command; its units are bit, kbit, mbit, gbit, tbit for bits and bps, kbps, mbps, gbps for bytes."}
	case !known:
	case parameter == "rate":
		k.lastRate = lastRate{raw: e.Raw, file: k.file, text: e.Value, bits: bits}
	case parameter == "ceil" && k.lastRate.raw == e.Raw && k.lastRate.file == k.file && bits < k.lastRate.bits:
		return &finding{code: "conflict", severity: Warning, value: true, sources: []string{"tc-htb(8), ceil"},
			message: fmt.Sprintf("%s = %s is below the rate of the same class, %s", e.Name, e.Value, k.lastRate.text),
			because: "The rate is what the class is sure of and the ceiling the most that it gets, also by borrowing."}
	case parameter == "ceil" && k.lastRate.raw == e.Raw && k.lastRate.file == k.file && bits > k.lastRate.bits && e.Has(conffile.Top):
		return &finding{code: "no-effect", severity: Warning, value: true,
			sources: []string{"tc-htb(8), ceil", "torvalds/linux v6.12 net/sched/sch_htb.c, htb_activate_prios"},
			message: fmt.Sprintf("%s = %s is not reached: this class is at the top, so that %s is the most it gets", e.Name, e.Value, k.lastRate.text),
			because: "What is above its rate a class borrows from its parent class, and this one has none. Raise the rate to the ceiling, " +
				"or put the class below one with that rate."}
	}
	return nil
}

// clockTicks are the most that a kernel counts in a second without finer timers.
const clockTicks = 1000

// smallBurst judges a bucket of tbf that holds less than its rate sends in one tick of
// the fastest clock.
func (k *checker) smallBurst(e conffile.Entry) *finding {
	bytes, known := tcSize(e.Value)
	least := k.lastRate.bits / 8 / clockTicks
	if !known || e.Name != "tc:tbf/burst" || k.lastRate.raw != e.Raw || k.lastRate.file != k.file || bytes >= least {
		return nil
	}
	return &finding{code: "harmful", severity: Warning, value: true, sources: []string{"tc-tbf(8), burst: rate divided by HZ"},
		message: fmt.Sprintf("%s = %s is too small for %s: at least %.0f bytes", e.Name, e.Value, k.lastRate.text, least),
		because: "More tokens arrive between two ticks of the clock than the bucket holds, so that the rate is not reached; a kernel " +
			"with high-resolution timers comes nearer to it, at the cost of a timer for every few packets."}
}

// tcWord is a number with a unit or a word behind it, as for a rate; a plain word such
// as unlimited is none.
var tcWord = regexp.MustCompile(`^[0-9.]+[A-Za-z/]+$`)

// tcNumber is a number with its unit.
var tcNumber = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)([a-z]*)$`)

// tcRate reads a rate in bits a second as tc does.
func tcRate(text string) (bits float64, known bool) {
	m := tcNumber.FindStringSubmatch(strings.ToLower(text))
	if m == nil {
		return 0, false
	}
	n, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return 0, false
	}
	unit, each := strings.CutSuffix(m[2], "bps")
	if each {
		n *= 8
	} else {
		unit, each = strings.CutSuffix(m[2], "bit")
	}
	if m[2] != "" && !each {
		return 0, false
	}
	return scaled(n, unit)
}

// tcSize reads a size in bytes as tc does: k, m and g are powers of 1024.
func tcSize(text string) (bytes float64, known bool) {
	m := tcNumber.FindStringSubmatch(strings.ToLower(text))
	if m == nil {
		return 0, false
	}
	n, err := strconv.ParseFloat(m[1], 64)
	unit := strings.TrimSuffix(m[2], "b")
	if unit != "" {
		unit += "i"
	}
	if err != nil {
		return 0, false
	}
	return scaled(n, unit)
}

// scaled multiplies a number by what a prefix stands for.
func scaled(n float64, prefix string) (float64, bool) {
	base := 1000.0
	letter, binary := strings.CutSuffix(prefix, "i")
	if binary {
		base = 1024
	}
	at := strings.Index("kmgt", letter)
	if len(letter) > 1 || at < 0 || binary && letter == "" {
		return 0, false
	}
	if letter == "" {
		return n, true
	}
	return n * math.Pow(base, float64(at+1)), true
}

// device tells the interfaces of one name in several files apart.
func (a *assignment) device() string { return a.file.path + "\x00" + a.entry.Iface }

// judgeClasses reports an htb whose default class no command makes.
func (k *checker) judgeClasses() {
	k.judgeTree()
	classes := map[string]bool{} // of an interface
	open := map[string]bool{}    // interfaces of which not all classes are known
	for _, a := range k.classes {
		if a.entry.Name != "tc:class" {
			continue
		}
		_, minor, _ := strings.Cut(a.entry.Value, ":")
		classes[a.device()], classes[a.device()+" "+conffile.ClassNumber(minor)] = true, true
		if a.entry.Has(conffile.Expands) {
			open[a.device()] = true
		}
	}
	for _, a := range k.classes {
		id := conffile.ClassNumber(a.entry.Value)
		if a.entry.Name != "tc:htb/default" || id == "" || a.entry.Has(conffile.Expands) || open[a.device()] ||
			!classes[a.device()] || classes[a.device()+" "+id] {
			continue
		}
		k.reportIn(a.file, a.entry, finding{code: "conflict", severity: Warning, value: true,
			sources: []string{"tc-htb(8), default", "torvalds/linux v6.12 net/sched/sch_htb.c, htb_classify"},
			message: fmt.Sprintf("no command makes the default class of htb, %s", a.entry.Value),
			because: "What no filter puts into a class is then sent at once and unshaped, past all classes."})
	}
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
