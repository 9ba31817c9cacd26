package conffile

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// tcTree is what the commands tc of a text make: the classes of each device, and what filters and disciplines name.
type tcTree struct {
	devices  map[string]*tcDevice
	hidden   bool // some command names a device that is not known
	filtered bool // a filter leads to some class
}

type tcDevice struct {
	kinds    map[string]string // of the disciplines, by their major number
	classes  map[string]word
	order    []string        // of the classes
	inner    map[string]bool // classes that have classes
	fallback map[string]bool // the default classes
	chosen   map[string]bool // classes that filters lead to
	named    []tcName
	open     bool // not all of it is known
}

// tcName is a class that a command names.
type tcName struct {
	at     word
	id     string
	filter bool // of a filter, which tc takes all the same
}

// maxTree bounds the devices, and the classes and names of each.
const maxTree = 500

// tcClassful are the disciplines whose classes commands make; a packet whose filter names another class goes to the
// default one (htb_classify, hfsc_classify in net/sched of Linux 6.12).
var tcClassful = []string{"htb", "hfsc"}

// ClassID is a handle or class of tc in one form: both numbers as [ClassNumber] has them.
func ClassID(text string) string {
	major, minor, _ := strings.Cut(text, ":")
	return ClassNumber(major) + ":" + ClassNumber(minor)
}

// ClassNumber is a number of a handle or class, which is hexadecimal with or without 0x, in one form; "" for 0, which stands
// for none.
func ClassNumber(text string) string {
	return strings.TrimLeft(strings.TrimPrefix(strings.ToLower(text), "0x"), "0")
}

// command remembers a command tc qdisc, class or filter.
func (t *tcTree) command(s *scanner, words []word) {
	object, verb := words[0].text, words[1].text
	if !slices.Contains([]string{"qdisc", "class", "filter"}, object) || !slices.Contains([]string{"add", "replace", "change", "del", "delete"}, verb) {
		return
	}
	after := func(names ...string) word {
		for i, w := range words[2 : len(words)-1] {
			if slices.Contains(names, w.text) {
				return words[i+3]
			}
		}
		return word{}
	}
	device := after("dev")
	if device.text == "" || !s.fixed(device) || strings.ContainsAny(device.text, "`@*0123456789") && strings.Contains(device.text, "$") ||
		len(t.devices) >= maxTree {
		t.hidden = true
		return
	}
	d := t.devices[device.text]
	if d == nil {
		d = &tcDevice{kinds: map[string]string{}, classes: map[string]word{}, inner: map[string]bool{}, fallback: map[string]bool{}, chosen: map[string]bool{}}
		keep(&t.devices, device.text, d)
	}
	switch {
	case strings.HasPrefix(verb, "del"):
		d.open = d.open || object != "qdisc"
	case len(d.named)+len(d.order) > maxTree:
		d.open = true
	case object == "qdisc":
		d.qdisc(words, after("handle"), after("parent"))
	case object == "class":
		d.class(after("parent"), after("classid"))
	default:
		t.filtered = true
		d.filter(words, after("parent"), after("flowid", "classid"))
	}
}

func (d *tcDevice) qdisc(words []word, handle, parent word) {
	major, _, _ := strings.Cut(ClassID(handle.text), ":")
	for i, w := range words {
		if slices.Contains(tcClassful, w.text) && i > 3 {
			d.kinds[major] = w.text
		}
		if w.text == "default" && i+1 < len(words) {
			d.open = d.open || words[i+1].expands
			_, minor, split := strings.Cut(words[i+1].text, ":")
			if !split {
				minor = words[i+1].text
			}
			d.fallback[ClassID(major+":"+minor)] = true
		}
	}
	d.open = d.open || handle.expands
	d.name(parent, false)
}

func (d *tcDevice) class(parent, id word) {
	if id.text == "" || id.expands || parent.expands || !strings.Contains(id.text, ":") {
		d.open = true
		return
	}
	if _, known := d.classes[ClassID(id.text)]; !known {
		d.order = append(d.order, ClassID(id.text))
	}
	d.classes[ClassID(id.text)] = id
	if parent.text != "" {
		d.inner[ClassID(parent.text)] = true
		d.name(parent, false)
	}
}

func (d *tcDevice) filter(words []word, parent, id word) {
	switch parent.text {
	case "ffff:", "ffff:0", "ffff:fff1", "ffff:fff2", "ffff:fff3":
		return
	}
	switch {
	case id.expands || slices.ContainsFunc(words, func(w word) bool {
		return w.text == "skbedit" || w.text == "bpf" || w.text == "cgroup" || w.expands && !w.quoted && strings.Contains(w.text, "@")
	}):
		d.open = true
	case id.text != "":
		d.chosen[ClassID(id.text)] = true
		d.name(id, true)
	case !slices.ContainsFunc(words, func(w word) bool { return w.text == "ingress" || w.text == "divisor" || w.text == "link" }):
		d.open = true // the classifier chooses the class itself
	}
}

// name remembers a class that a command names.
func (d *tcDevice) name(at word, filter bool) {
	switch _, minor, _ := strings.Cut(ClassID(at.text), ":"); {
	case at.expands:
		d.open = true
	case minor != "":
		d.named = append(d.named, tcName{at, ClassID(at.text), filter})
	}
}

// tcOtherWays are words of a text which gives packets their class without a filter, or runs what is not read.
var tcOtherWays = []string{"CLASSIFY", "priority set", "skbedit", "net_prio", "net_cls", "-batch", "tc -b", "tc -force -b", "eval "}

// conclude tells classes that are named and not made, and those that no filter leads to.
func (t *tcTree) conclude(s *scanner) {
	if t.hidden || s.stopped || len(s.src) > maxSearched {
		return
	}
	other := slices.ContainsFunc(tcOtherWays, func(w string) bool { return strings.Contains(s.src, w) })
	for _, name := range slices.Sorted(maps.Keys(t.devices)) {
		d := t.devices[name]
		if d.open || len(d.classes) == 0 {
			continue
		}
		d.missing(s)
		if !other && t.filtered {
			d.unused(s)
		}
	}
}

// made reports whether commands make all the classes that the discipline of an id has.
func (d *tcDevice) made(id string) bool {
	major, _, _ := strings.Cut(id, ":")
	return d.kinds[major] != "" && slices.ContainsFunc(d.order, func(c string) bool { return strings.HasPrefix(c, major+":") })
}

// missing tells commands that name a class which no command makes.
func (d *tcDevice) missing(s *scanner) {
	for _, n := range d.named {
		if _, known := d.classes[n.id]; known || !d.made(n.id) {
			continue
		}
		r := Reject{Line: n.at.line, Span: n.at.span, Reason: "no command makes the class " + n.at.text, Code: "conflict",
			Because: "The kernel refuses the command: there is nothing that it could be below."}
		if n.filter {
			r.Because = "What the filter matches then goes where packets without a filter go: to the default class, or unshaped without one."
		}
		s.rejected(r)
	}
}

// unused tells the first class that no filter leads to.
func (d *tcDevice) unused(s *scanner) {
	var idle []string
	for _, id := range d.order {
		if !d.inner[id] && !d.fallback[id] && !d.chosen[id] && d.made(id) {
			idle = append(idle, id)
		}
	}
	if len(idle) == 0 {
		return
	}
	more := ""
	if len(idle) > 1 {
		more = " (nor to " + strconv.Itoa(len(idle)-1) + " more on this device)"
	}
	at := d.classes[idle[0]]
	s.rejected(Reject{Line: at.line, Span: at.span, Idle: true, Reason: "no filter leads to the class " + at.text + more,
		Because: "A class gets the packets that a filter with its flowid matches, and the default class the rest. A mark of iptables alone " +
			"chooses no class: that takes tc filter ... handle MARK fw flowid " + at.text + "."})
}

// tcPortMask tells a match of a port that leaves out its upper bits.
func (s *scanner) tcPortMask(words []word) {
	for i := 0; i+2 < len(words); i++ {
		if words[i].text != "dport" && words[i].text != "sport" {
			continue
		}
		value, err := strconv.ParseUint(words[i+1].text, 0, 16)
		mask, bad := strconv.ParseUint(words[i+2].text, 0, 16)
		if bad != nil && err == nil {
			mask, bad = strconv.ParseUint(words[i+2].text, 16, 16) // tc reads a mask as hexadecimal
		}
		if err != nil || bad != nil || mask == 0 || mask >= 1<<15 || s.stopped {
			continue
		}
		s.rejected(Reject{Line: words[i+2].line, Span: words[i+2].span, Code: "harmful",
			Reason: "the mask " + words[i+2].text + " matches each port whose lower bits are those of " + strconv.FormatUint(value, 10) +
				", one port in " + strconv.FormatUint(mask+1, 10),
			Because: "A port has 16 bits: write " + words[i].text + " " + words[i+1].text + " 0xffff for this port alone."})
	}
}
