package conffile

import "strings"

// nmGroups are prefixes of NetworkManager's properties of [ethtool], with the groups of ethtool (nm-settings-nmcli(5)).
var nmGroups = []struct{ prefix, group string }{
	{"feature-", "features"}, {"ring-", "ring"}, {"coalesce-", "coalesce"}, {"pause-", "pause"}, {"channels-", "channels"},
}

// nmName is the setting that a property of a connection is, "" for others.
func nmName(section, key string) string {
	switch section {
	case "ethernet", "802-3-ethernet", "infiniband", "vlan":
		switch key {
		case "mtu":
			return "link:mtu"
		case "auto-negotiate":
			return "ethtool:link/autoneg"
		case "speed", "duplex":
			return "ethtool:link/" + key
		}
	case "ethtool":
		for _, g := range nmGroups {
			if rest, ok := strings.CutPrefix(key, g.prefix); ok {
				return ethtoolName(g.group, rest)
			}
		}
	case "bond":
		switch key {
		case "interface-name", "id", "options":
			return ""
		}
		return "link:bond-" + key
	}
	return ""
}

// keyfile reads a connection of NetworkManager (nm-settings-keyfile(5)).
func (s *scanner) keyfile() {
	iface := ""
	s.assignments(func(section string, e Entry) {
		if e.Key == "interface-name" {
			iface = e.Value
		}
		s.addressed(e.Key, e.Line, e.ValueSpan)
		e.Name, e.Iface = nmName(section, e.Key), iface
		s.emit(e)
	})
}

// nmcliCommand reads the properties that nmcli connection add and modify set: SECTION.KEY VALUE, and the options of a bond
// as one property or as words of their own.
func (s *scanner) nmcliCommand(words []word, base Entry) {
	for len(words) > 0 && strings.HasPrefix(words[0].text, "-") {
		words = words[1:]
	}
	if len(words) < 4 || words[0].text == "" || !strings.HasPrefix("connection", words[0].text) ||
		!strings.HasPrefix("add", words[1].text) && !strings.HasPrefix("modify", words[1].text) {
		return
	}
	base.Iface, base.style = s.ifaceOf(words[2]), styleFixed
	bond := false
	for i := 2; i+1 < len(words); i++ {
		key, value := words[i], words[i+1]
		s.addressed(key.text, value.line, value.span)
		section, property, dotted := strings.Cut(strings.TrimLeft(key.text, "+-"), ".")
		switch {
		case key.text == "ifname" || key.text == "con-name":
			base.Iface = s.ifaceOf(value)
			continue
		case key.text == "type":
			bond = value.text == "bond"
			continue
		case section == "bond" && property == "options":
			s.bondList(value, base)
			continue
		case bond && !dotted && bondAttributes[section]:
			section, property = "bond", section
		case !dotted:
			continue
		}
		e := base
		e.Key, e.Name, e.Value, e.Line = key.text, nmName(section, property), value.text, key.line
		e.KeySpan, e.ValueSpan = key.span, value.span
		if value.expands {
			e.Flags |= Expands
		}
		s.emit(e)
	}
}

// bondList reads the options of a bond in one word, with commas between them.
func (s *scanner) bondList(w word, base Entry) {
	if w.expands {
		return
	}
	for _, option := range strings.Split(w.text, ",") {
		s.bondWords([]word{{text: strings.TrimSpace(option), span: w.span, line: w.line}}, base)
	}
}
