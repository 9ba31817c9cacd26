package conffile

import "strings"

// pfSpoof follows antispoof quick, and emits pf:rule/antispoof at an interface of it where the loopback is filtered: the
// rules that pfctl makes of it block packets from the interface's own addresses on every other interface, and packets of
// the host to itself pass lo0 with these (antispoof of pfctl's parse.y).
type pfSpoof struct {
	iface word
	open  bool // the loopback is passed
}

func (a *pfSpoof) statement(words []word) {
	loopback := func(w word) bool { return strings.HasPrefix(w.text, "lo") || w.expands }
	switch words[0].text {
	case "include":
		a.open = true // which may pass it
	case "set", "pass":
		for i, w := range words {
			on := words[0].text == "set" && i > 2 && words[1].text == "skip" || words[0].text == "pass" && i > 0 &&
				(words[i-1].text == "on" || words[i-1].text == "{")
			a.open = a.open || on && loopback(w)
		}
	case "antispoof":
		quick := false
		for _, w := range words[1:] {
			quick = quick || w.text == "quick"
			if plain := w.text != "quick" && w.text != "for" && w.text != "log" && strings.Trim(w.text, "{}()") != ""; plain && quick &&
				a.iface.text == "" && !a.open && !strings.HasPrefix(w.text, "lo") && w.text != "label" && !strings.HasPrefix(w.text, "inet") {
				a.iface = w
			}
		}
	}
}

func (a *pfSpoof) conclude(s *scanner) {
	if a.iface.text != "" && !a.open {
		s.pfName("pf:rule/antispoof", a.iface, a.iface.text)
	}
}
