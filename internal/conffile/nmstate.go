package conffile

import (
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// isNMState tells a state of nmstate, by itself or in a policy of Kubernetes, and the variables of Ansible's
// linux-system-roles.network, which describe interfaces alike.
var isNMState = regexp.MustCompile(`(?m)^[ \t]*interfaces:[ \t]*(?:#.*)?\r?\n[ \t]*- [a-z-]+: (?s:.*)^[ \t]+(?:- )?(?:state: (?:up|down|absent)|link-aggregation:|ethtool:)|` +
	`^[ \t]*(?:- )?network_connections:[ \t]*(?:#.*)?\r?\n[ \t]*- [a-z_]+: `)

// nmstateNames are keys of an interface of nmstate, with the settings that they are.
var nmstateNames = map[string]string{
	"mtu": "link:mtu", "link-aggregation/mode": "link:bond-mode", "link-aggregation/options/miimon": "link:bond-miimon",
	"link-aggregation/options/lacp_rate":        "link:bond-lacp_rate",
	"link-aggregation/options/xmit_hash_policy": "link:bond-xmit_hash_policy",
	"link-aggregation/options/arp_interval":     "link:bond-arp_interval",
	"bond/mode":                                 "link:bond-mode", "bond/miimon": "link:bond-miimon", "bond/lacp_rate": "link:bond-lacp_rate",
	"bond/xmit_hash_policy": "link:bond-xmit_hash_policy", "bond/arp_interval": "link:bond-arp_interval",
}

// maxKey bounds the keys of which the path of a setting is made.
const maxKey = 100

// nmstateGroups are their groups of settings of ethtool.
var nmstateGroups = map[string]string{"feature": "features", "features": "features", "ring": "ring", "coalesce": "coalesce", "pause": "pause"}

// nmstate reads the settings of the interfaces that nmstate describes: MTU, bonds, and what ethtool sets. An item of
// interfaces may have its name in any place, so that what it holds is handed out when it ends.
func (s *scanner) nmstate() {
	var open []netplanLevel // mappings, with item for the one that an item of a list begins
	var found []Entry
	iface := ""
	end := func() {
		for _, e := range found {
			e.Iface = iface
			s.emit(e)
		}
		found, iface = nil, ""
	}
	y := &yamlReader{s: s}
	s.lines(textStart(s.src), len(s.src), 1, func(line, from, to int) bool {
		if i := strings.Index(s.src[from:to], " #"); i >= 0 {
			to = from + i
		}
		start := from
		from, to = s.trim(from, to)
		if from == to || s.src[from] == '#' {
			return true
		}
		listed := strings.HasPrefix(s.src[from:to], "- ")
		for len(open) > 0 {
			last := open[len(open)-1]
			if last.indent < from-start || listed && last.indent == from-start && last.key != "item" {
				break // the items of a list may stand below its key
			}
			open = open[:len(open)-1]
		}
		if listed {
			if len(open) > 0 && (open[len(open)-1].key == "interfaces" || open[len(open)-1].key == "network_connections") {
				end()
				open = append(open, netplanLevel{from - start, "item"})
			}
			from, to = s.trim(from+1, to)
		}
		colon := strings.IndexByte(s.src[from:to], ':')
		if colon <= 0 || colon > maxKey || len(open) > maxLoop {
			return true
		}
		key, value := y.scalar(line, from, from+colon), y.scalar(line, from+colon+1, to)
		path, item := "", false
		for _, level := range open {
			if path += level.key + "/"; level.key == "item" {
				path, item = "", true
			}
		}
		switch {
		case value.text == "":
			open = append(open, netplanLevel{from - start, key.text})
		case item && path == "" && (key.text == "interface_name" || key.text == "name" && iface == ""):
			iface = value.text
		case item && len(found) < maxLoop:
			if name := nmstateName(path, key.text); name != "" {
				e := Entry{Key: key.text, Name: name, Value: value.text, Line: line, KeySpan: key.span, ValueSpan: value.span,
					Raw: s.wholeLines(key.span), style: styleFixed}
				if e.Value = switchWord[value.text]; e.Value == "" {
					e.Value = value.text
				}
				found = append(found, e)
			}
		}
		return true
	})
	end()
}

// switchWord are the words of YAML for a switch, as ethtool writes them.
var switchWord = map[string]string{"true": "on", "false": "off", "yes": "on", "no": "off"}

// nmstateName returns the name of the setting at a place of an interface, "" for others.
func nmstateName(path, key string) string {
	if group, ok := strings.CutPrefix(path, "ethtool/"); ok {
		if group = nmstateGroups[strings.TrimSuffix(group, "/")]; group != "" {
			return ethtoolName(group, strings.ReplaceAll(key, "_", "-"))
		}
		return ""
	}
	return nmstateNames[path+key]
}
