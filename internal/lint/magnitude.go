package lint

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/conffile"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/spelling"
	"github.com/wirerate/wirerate/internal/units"
)

// unitSlip finds a time that was meant in another unit, by the setting's default.
func (k *checker) unitSlip(r *catalog.Record, e conffile.Entry, v reading, version catalog.Version) []finding {
	value, normal, exact := k.beside(r, e, v, version)
	if !exact {
		return nil
	}
	if f := otherUnit(r, e, value, normal); f != nil {
		return []finding{*f}
	}
	return nil
}

// smallBound finds a capacity that is smaller than the system's own. It is the one
// rule for it; a record has a judgement only where the default is no measure or more
// is to be said.
func (k *checker) smallBound(r *catalog.Record, e conffile.Entry, v reading, version catalog.Version) []finding {
	if f := k.smallList(r, e, v, version); f != nil {
		return []finding{*f}
	}
	value, normal, exact := k.beside(r, e, v, version)
	f := k.smallCapacity(r, e, value, normal, version)
	if f == nil {
		return nil
	}
	if !exact {
		f.because += " " + assumedText
		if least, known := k.standardOn(smallest, r, version, k.inputs(e, v, version)); !known || value >= least {
			f.severity = Info // it is no less than a small machine has
		}
	}
	return []finding{*f}
}

// beside returns a number and the default that it is to be held against, both 0 when
// one of them is not known or not positive; exact is false for a default that rests
// on the assumed machine.
func (k *checker) beside(r *catalog.Record, e conffile.Entry, v reading,
	version catalog.Version) (value, normal float64, exact bool) {
	if !v.numeric || len(v.numbers) != 1 || v.numbers[0] <= 0 {
		return 0, 0, false
	}
	normal, exact, known := k.standard(r, version, k.inputs(e, v, version))
	if !known || normal <= 0 {
		return 0, 0, false
	}
	return v.numbers[0], normal, exact
}

// A time is taken for one in another unit when it is far from the default as it is
// written and near it in the other unit: people lower times more than they raise them.
// Milliseconds from shortTime on are plausible as they stand (a keepalive of 10 s).
const (
	farFromDefault  = 50
	aboveDefault    = 5
	belowDefault    = 200
	shortTime       = 10_000
	millisInASecond = 1000
)

// otherUnit finds seconds where the kernel counts milliseconds, and the reverse.
func otherUnit(r *catalog.Record, e conffile.Entry, value, normal float64) *finding {
	near := func(n float64) bool { return n <= normal*aboveDefault && n >= normal/belowDefault }
	var message string
	better := value * millisInASecond
	switch {
	case r.Unit == "ms" && value < min(normal/farFromDefault, shortTime) && near(value*millisInASecond):
		message = fmt.Sprintf("%s = %.0f is %g s: the unit is milliseconds; %.0f s is written %.0f",
			e.Name, value, value/millisInASecond, value, value*millisInASecond)
	case r.Unit == "s" && value >= millisInASecond && value > normal*farFromDefault &&
		near(value/millisInASecond) && !roundHours(value):
		message = fmt.Sprintf("%s = %.0f is %s: the unit is seconds; %.0f ms is written %.0f",
			e.Name, value, units.Duration(time.Duration(value)*time.Second), value, value/millisInASecond)
		better = value / millisInASecond
	default:
		return nil
	}
	return &finding{id: "other-unit", code: "wrong-unit",
		severity: Warning, message: message, sources: r.Sources, value: true,
		because: r.Does + fmt.Sprintf(" The default is %.0f.", normal),
		fix:     &Fix{Kind: FixValue, Text: fmt.Sprintf("%.0f", better), Reason: message}}
}

// roundHours reports seconds that are whole hours, and no round number of milliseconds.
func roundHours(value float64) bool {
	return math.Mod(value, 3600) == 0 && math.Mod(value, millisInASecond) != 0
}

// capacityUnits are units of which a system can have enough or too few, and
// capacityName the ends of names that bound how many there may be. Rates, minima
// and lower thresholds are no capacities.
var (
	capacityUnits = []string{"bytes", "buffers", "buckets", "clusters", "connections", "entries", "files", "mbufs",
		"packets", "pages",
		"processes", "semaphores", "sockets", "fragments", "threads", "requests", "states", "watches", "instances", "events",
		"segments", "queues"}
	capacityName = regexp.MustCompile(`(max|shmall|maxconn|limit|backlog|maxlen|size|space|queue|qlen|high_thresh|` +
		`gc_thresh3|buckets|max_[a-z_]+|max[a-z]+|sem(mni|mns|mnu|msl|ume)|msgmni|shmmni)$`)
)

// smallCapacity finds a bound that is lower than the one which the system has by
// itself.
func (k *checker) smallCapacity(r *catalog.Record, e conffile.Entry, value, normal float64,
	version catalog.Version) *finding {
	last := lastPart(r.Name)
	capacity := capacityName.MatchString(last) || strings.HasPrefix(last, "pf:set/limit/")
	if r.Hardening || value >= normal || !slices.Contains(capacityUnits, r.Unit) || !capacity ||
		strings.Contains(last, "min") || strings.Contains(last, "icmp") {
		return nil
	}
	f := &finding{id: "small-capacity", code: "below-default",
		severity: Info, sources: r.Sources, value: true, because: r.Does,
		message: k.valueMessage("below-default", e, defaultText(r, normal, true, version), version)}
	if value <= normal/2 {
		f.severity = Warning
	}
	return f
}

// smallList finds a list of capacities of which some are below the default and none
// above it, or one is far below it.
func (k *checker) smallList(r *catalog.Record, e conffile.Entry, v reading, version catalog.Version) *finding {
	d, known := r.DefaultIn(version)
	normal := strings.Fields(d.Value)
	if !known || r.Type != catalog.TypeList || !slices.Contains(capacityUnits, r.Unit) || len(normal) != len(v.numbers) {
		return nil
	}
	smaller, larger, far, least := false, false, -1, 0.5
	for i, word := range normal {
		n, ok := lastNumber(word)
		if !ok {
			return nil
		}
		smaller, larger = smaller || v.numbers[i] < n, larger || v.numbers[i] > n
		if n > 0 && v.numbers[i]/n <= least {
			far, least = i, v.numbers[i]/n
		}
	}
	f := &finding{id: "small-list", code: "below-default",
		severity: Warning, sources: r.Sources, value: true, because: r.Does,
		message: k.valueMessage("below-default", e, d.Value, version)}
	switch {
	case larger && far >= 0:
		f.message = fmt.Sprintf("%s = %s: number %d of it is far below the default of %s %s, %s", e.Name, e.Value, far+1,
			k.system.Title(), version, normal[far])
	case larger || !smaller:
		return nil
	}
	return f
}

// order judges a range whose first number is above its last, which kernels refuse.
func order(r *catalog.Record, e conffile.Entry, v reading) *finding {
	if r.Type != catalog.TypeList || !strings.HasSuffix(r.Name, "_port_range") || len(v.numbers) != 2 ||
		v.numbers[0] <= v.numbers[1] {
		return nil
	}
	return &finding{id: "order", code: "bad-value", severity: Error, sources: r.Sources, value: true,
		message: fmt.Sprintf("%s: the first number, %.0f, is above the last, %.0f", e.Name, v.numbers[0], v.numbers[1]),
		because: "The kernel refuses the value and keeps the old range."}
}

// patched are congestion controls of kernels that their users patch.
var patched = []string{"bbr2", "bbr3", "bbrplus", "brutal", "bbr_tsunami", "tsunami", "nanqinlang", "lotspeed"}

// word judges a word that is none of those known for the setting. One that is
// almost a known one is refused; another may come with a module.
func (k *checker) word(r *catalog.Record, e conffile.Entry) *finding {
	if same := k.lookup("net.ipv4.tcp_congestion_control"); r.Name == "route:congctl" && same != nil && e.Value != "lock" {
		r = same
	}
	if r.Type != catalog.TypeString || len(r.Values) < 3 || len(strings.Fields(e.Value)) != 1 {
		return nil
	}
	near, edits := "", 3
	for _, known := range r.Values {
		n := spelling.Edits(e.Value, known.Value)
		if n == 0 {
			return k.goneWord(e, known)
		}
		if n < edits && n < len(known.Value)-1 {
			near, edits = known.Value, n
		}
	}
	f := &finding{id: "word", code: "bad-value", severity: Error, sources: r.Sources, value: true,
		message: fmt.Sprintf("%s: %q is not known", e.Name, e.Value),
		because: "The kernel refuses a word that neither it nor a module of it knows, and keeps the old value."}
	switch {
	case r.Name == "net.core.default_qdisc" && k.isDiscipline(e.Value):
		f.severity, f.message = Warning, fmt.Sprintf("%s: %s cannot be the default discipline", e.Name, e.Value)
		f.because = "It needs options, classes or a place that a default has not; interfaces that come up then have no queue " +
			"at all, or send nothing."
	case slices.Contains(patched, e.Value):
		f.severity = Warning
		f.because = "It is in patched kernels only; one without the patch refuses it and keeps the old value."
	case near != "":
		f.message += "; did you mean " + near + "?"
	case e.Name == "tc:qdisc":
		f.severity = Warning // a module or a BPF program from elsewhere may bring it
	}
	return f
}

// goneWord reports a word that the release does not know any more.
func (k *checker) goneWord(e conffile.Entry, word catalog.Value) *finding {
	if word.Removed == "" || !k.versions[0].AtLeast(word.Removed) {
		return nil
	}
	return &finding{id: "word", code: "removed", severity: Warning, value: true,
		sources: []string{"torvalds/linux 6.3, net/sched: Retire CBQ, ATM and dsmark qdisc"},
		message: fmt.Sprintf("%s: %s (%s) was removed in Linux %s", e.Name, word.Value, word.Means, word.Removed),
		because: "tc refuses the command, and the classes and filters of this discipline fail too."}
}

// isDiscipline reports a word that is a queueing discipline of Linux.
func (k *checker) isDiscipline(word string) bool {
	r := k.lookup("tc:qdisc")
	return r != nil && slices.ContainsFunc(r.Values, func(v catalog.Value) bool { return v.Value == word })
}
