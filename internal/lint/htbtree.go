package lint

import (
	"fmt"
	"strings"

	"github.com/wirerate/wirerate/internal/conffile"
)

// htbClass is a class that one command makes.
type htbClass struct {
	id, parent  string
	own, most   *assignment // its rate and its ceiling
	rate, limit float64     // bits a second; the limit is the ceiling, or the rate without one
}

// htbTree is what the commands of a file make on one device.
type htbTree struct {
	classes  []*htbClass
	fallback []*assignment
	open     bool // not all of it is known
}

// judgeTree reports classes of htb whose rates do not go with those of the classes above them.
func (k *checker) judgeTree() {
	trees := map[string]*htbTree{}
	var order []*htbTree
	for _, a := range k.classes {
		if a.entry.Iface == "" || a.entry.Iface == "*" {
			continue
		}
		t := trees[a.device()]
		if t == nil {
			t = &htbTree{}
			trees[a.device()] = t
			order = append(order, t)
		}
		t.add(a)
	}
	for _, t := range order {
		if byID := t.index(); byID != nil {
			k.innerDefault(t)
			k.oversold(t, byID)
		}
	}
}

// add takes one word of a command; the parent and the class stand before the rates.
func (t *htbTree) add(a *assignment) {
	var last *htbClass
	if len(t.classes) > 0 {
		last = t.classes[len(t.classes)-1]
	}
	t.open = t.open || a.entry.Has(conffile.Expands) || a.entry.Has(conffile.Conditional)
	bits, known := tcRate(a.entry.Value)
	switch a.entry.Name {
	case "tc:htb/default":
		t.fallback = append(t.fallback, a)
	case "tc:parent":
		t.classes = append(t.classes, &htbClass{parent: conffile.ClassID(a.entry.Value)})
	case "tc:class":
		if last == nil || last.id != "" { // before its parent, or without one
			t.open = true
			return
		}
		last.id = conffile.ClassID(a.entry.Value)
	default:
		if t.open = t.open || !known || last == nil; t.open {
			return
		}
		if a.entry.Name == "tc:htb/rate" {
			last.own, last.rate = a, bits
		} else {
			last.most = a
		}
		last.limit = max(last.limit, bits)
	}
}

// index finds classes by their number, nil where the tree is not known: a class is made twice, or there are several
// disciplines with classes.
func (t *htbTree) index() map[string]*htbClass {
	byID := map[string]*htbClass{}
	for _, c := range t.classes {
		major, _, _ := strings.Cut(c.id, ":")
		if t.open || c.id == "" || c.own == nil || byID[c.id] != nil || !strings.HasPrefix(c.parent, major+":") {
			return nil
		}
		byID[c.id] = c
	}
	return byID
}

// innerDefault reports a default class that has classes itself.
func (k *checker) innerDefault(t *htbTree) {
	inner := map[string]bool{}
	for _, c := range t.classes {
		_, minor, _ := strings.Cut(c.parent, ":")
		inner[minor] = minor != ""
	}
	for _, a := range t.fallback {
		if !inner[conffile.ClassNumber(a.entry.Value)] || len(t.fallback) > 1 {
			continue
		}
		k.reportIn(a.file, a.entry, finding{code: "conflict", severity: Warning, value: true,
			sources: []string{"torvalds/linux v6.12 net/sched/sch_htb.c, htb_classify: bad default"},
			message: fmt.Sprintf("the default class of htb, %s, has classes below it and takes no packets", a.entry.Value),
			because: "Only a class without classes below it has a queue. What no filter puts into one is then sent at once and unshaped; " +
				"name one of the classes below as default."})
	}
}

// oversold reports classes whose children may send more than they let through, and ceilings above that of the parent.
func (k *checker) oversold(t *htbTree, byID map[string]*htbClass) {
	sums := map[string]float64{}
	for _, c := range t.classes {
		sums[c.parent] += c.rate
		above := byID[c.parent]
		if above == nil || c.most == nil || c.limit <= above.limit || c.rate > above.limit {
			continue
		}
		k.reportIn(c.most.file, c.most.entry, finding{code: "no-effect", severity: Info, value: true,
			sources: []string{"torvalds/linux v6.12 net/sched/sch_htb.c, htb_class_mode"},
			message: fmt.Sprintf("tc:htb/ceil = %s is not reached: the parent class lets through %s", c.most.entry.Value, limitText(above)),
			because: "Above its rate a class borrows from its parent, which lends no more than up to its own ceiling."})
	}
	for _, c := range t.classes {
		const slack = 1.1 // little more hardly shows
		if sums[c.id] <= c.limit*slack {
			continue
		}
		k.reportIn(c.own.file, c.own.entry, finding{code: "conflict", severity: Warning,
			sources: []string{"torvalds/linux v6.12 net/sched/sch_htb.c, htb_class_mode"},
			message: fmt.Sprintf("the rates of the classes below add up to %.4g Mbit/s, more than the %s of this one", sums[c.id]/1e6, limitText(c)),
			because: "A class sends up to its own rate without asking its parent, so that together they pass the limit and the queue " +
				"builds up behind it. Let the rates add up to that of the parent; the ceilings may each be as high."})
	}
}

// limitText is the most that a class lets through, as it is written.
func limitText(c *htbClass) string {
	if c.most == nil || c.rate == c.limit {
		return c.own.entry.Value
	}
	return c.most.entry.Value
}
