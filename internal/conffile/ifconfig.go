package conffile

import (
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/spelling"
)

// ifconfigSwitches are the options of ifconfig that are written NAME or -NAME
// and concern performance. FreeBSD: ifconfig(8); OpenBSD: tcplro, tso and the
// link flags.
var ifconfigSwitches = map[string]bool{
	"tso": true, "tso4": true, "tso6": true, "lro": true, "rxcsum": true, "txcsum": true,
	"rxcsum6": true, "txcsum6": true, "vlanhwtag": true, "vlanhwfilter": true, "vlanhwtso": true,
	"vlanhwcsum": true, "vlanmtu": true, "polling": true, "toe": true, "toe4": true, "toe6": true,
	"netmap": true, "txrtlmt": true, "txtls": true, "txtlsrtlmt": true, "mextpg": true, "rxtls": true,
	"wol": true, "promisc": true, "monitor": true, "use_flowid": true, "use_numa": true,
	"tcplro": true, "link0": true, "link1": true, "link2": true, "vxlanhwcsum": true, "vxlanhwtso": true,
}

// ifconfigValues are the options that take one argument. "-media" and the
// like do not exist for them, except -mediaopt.
var ifconfigValues = map[string]bool{
	"mtu": true, "media": true, "mediaopt": true, "-mediaopt": true, "txqueuelen": true,
	"laggproto": true, "lagghash": true, "trunkproto": true, "flowid_shift": true, "rr_limit": true,
	"maxaddr": true, "rxprio": true, "txprio": true, "llprio": true,
}

// ifconfigSkip are options whose argument could be taken for an option.
var ifconfigSkip = map[string]bool{
	"description": true, "descr": true, "name": true, "group": true, "nwid": true, "wpakey": true,
	"ssid": true, "vlandev": true, "parent": true, "laggport": true, "trunkport": true, "addm": true,
	"lladdr": true, "ether": true, "label": true, "fib": true, "rdomain": true, "rtlabel": true, "join": true, "bssid": true,
	"wgdescr": true, "wgdescription": true, "wgkey": true, "wgpsk": true, "pppoeac": true, "pppoesvc": true,
}

// ifconfigSpelt are options that a slip turns into none, and ifconfigNear those that
// only look like one.
var (
	ifconfigSpelt = []string{"netmask", "prefixlen", "broadcast", "alias", "laggproto", "laggport", "lagghash", "vlandev",
		"media", "mediaopt", "rxcsum", "txcsum", "vlanhwtag", "vlanhwfilter", "vlanhwtso", "polling", "description",
		"accept_rtadv", "trunkproto", "trunkport", "parent", "vnetid", "autoconf", "wpakey", "rdomain", "pppoedev",
		"authproto", "authname", "authkey", "SYNCDHCP", "carpdev", "advskew", "advbase", "syncdev", "wgendpoint"}
	ifconfigNear = []string{"wepkey", "parents", "vlandevs"}
)

// ifconfigMost are the largest numbers that options take (carp(4), vlan(4)).
var ifconfigMost = map[string]int{"vhid": 255, "advskew": 254, "advbase": 254, "vlan": 4094, "vnetid": 4094}

// outOfRange rejects the number of an option that is too large. Other interfaces than VLANs have larger vnetids.
func (s *scanner) outOfRange(option, value word, iface string, most int) {
	n, err := strconv.Atoi(value.text)
	if err != nil || n <= most || value.quoted || option.text == "vnetid" && !strings.Contains(iface, "vlan") {
		return
	}
	s.reject(value.line, value.span, option.text+" must be at most "+strconv.Itoa(most))
}

// isOption reports a word that ifconfig takes as it stands; it knows none in capitals.
func isOption(w string) bool {
	return w == "up" || w == "down" || w == "inet" || w == "inet6" || ifconfigValues[w] || ifconfigSkip[w] ||
		ifconfigSwitches[strings.TrimPrefix(w, "-")] || slices.Contains(ifconfigSpelt, w)
}

// ifconfigOfOthers are options of FreeBSD's ifconfig, of Linux and of older releases that OpenBSD's has not (cmds of
// sbin/ifconfig/ifconfig.c), with what it has instead.
var ifconfigOfOthers = map[string]string{
	"tso": "", "tso4": "", "tso6": "", "lro": "tcplro", "rxcsum": "", "txcsum": "", "rxcsum6": "", "txcsum6": "", "vlanhwtag": "",
	"vlanhwfilter": "", "vlanhwtso": "", "vlanhwcsum": "", "vlanmtu": "", "polling": "", "promisc": "", "laggproto": "trunkproto",
	"laggport": "trunkport", "addm": "add", "deletem": "del", "ether": "lladdr", "fib": "rdomain", "accept_rtadv": "autoconf",
	"SYNCDHCP": "autoconf", "DHCP": "autoconf", "ssid": "nwid", "autoconfprivacy": "temporary", "gateway": "",
}

// foreignOption rejects an option that OpenBSD's ifconfig has not.
func (s *scanner) foreignOption(w word) bool {
	bare := strings.TrimPrefix(w.text, "-")
	instead, foreign := ifconfigOfOthers[bare]
	if !foreign || w.quoted {
		return false
	}
	r := Reject{Line: w.line, Span: w.span, certain: true, Reason: "OpenBSD's ifconfig has no option " + bare}
	switch {
	case bare == "autoconfprivacy":
		r.Reason += " since 6.9: write " + strings.Replace(w.text, bare, instead, 1)
	case bare == "gateway":
		r.Reason += ": the address of the router goes into /etc/mygate"
	case instead != "":
		r.Reason += ": write " + instead
	case strings.HasPrefix(bare, "tso"):
		r.Reason += "; segmentation in the card is the sysctl net.inet.tcp.tso"
	}
	s.rejected(r)
	return true
}

// misspeltDHCP are slips that leave the word a letter out of its place.
var misspeltDHCP = map[string]bool{"DCHP": true, "DHPC": true, "HDCP": true, "DHCPD": true, "DHC": true, "DCHCP": true}

// misspeltOption returns the option that a word is one slip away from, "" for none.
func misspeltOption(text string) string {
	if misspeltDHCP[text] {
		return "DHCP"
	}
	if len(text) < 5 || len(text) > 20 || slices.Contains(ifconfigSpelt, text) || slices.Contains(ifconfigNear, text) {
		return ""
	}
	for _, option := range ifconfigSpelt {
		if spelling.Slip(text, option) {
			return option
		}
	}
	return ""
}

// ifconfigOptions emits the options among the words of an ifconfig command
// line after the interface. base gives interface, lines and flags.
func (s *scanner) ifconfigOptions(words []word, base Entry) {
	prefix := "ifconfig:"
	if s.system == Linux {
		prefix = "link:"
	}
	for i := 0; i < len(words); i++ {
		w := words[i]
		if s.system == OpenBSD && s.foreignOption(w) {
			continue
		}
		e := Entry{Key: w.text, Line: w.line, KeySpan: w.span, Raw: base.Raw, Iface: base.Iface,
			Flags: base.Flags&(Conditional|Quoted) | Part}
		bare := strings.TrimPrefix(w.text, "-")
		switch {
		case ifconfigSwitches[bare] && !w.quoted:
			e.Name, e.Value, e.ValueSpan, e.style = prefix+bare, "on", w.span, styleSwitch
			if bare != w.text {
				e.Value = "off"
			}
		case w.text == "txqueuelen" && s.system != Linux:
			s.reject(w.line, w.span, "ifconfig has no option txqueuelen, which is one of Linux")
			continue
		case ifconfigValues[w.text] && i+1 < len(words):
			i++
			v := words[i]
			if w.text == "trunkproto" && strings.HasPrefix(base.Iface, "aggr") {
				continue // which has one protocol, and takes its name
			}
			e.Name, e.Value, e.ValueSpan = prefix+w.text, v.text, v.span
			if v.expands {
				e.Flags |= Expands
			}
		case ifconfigSkip[w.text]:
			i++
			if w.text == "addm" && i < len(words) {
				s.bridgeable(words[i])
			}
			continue
		default:
			meant := misspeltOption(bare)
			if bare == "wpapsk" && s.system == OpenBSD {
				meant = "wpakey"
			}
			if lower := strings.ToLower(w.text); meant == "" && lower != w.text && isOption(lower) {
				meant = lower
			}
			if most := ifconfigMost[w.text]; most > 0 && i+1 < len(words) && s.system != Linux {
				s.outOfRange(w, words[i+1], base.Iface, most)
			}
			if bare == "net" && i+1 < len(words) && words[i+1].text == "mask" {
				s.reject(w.line, Span{w.span.Start, words[i+1].span.End}, "ifconfig spells netmask as one word")
			}
			if meant != "" && s.system != Linux && !w.quoted {
				s.rejected(Reject{Line: w.line, Span: w.span, Reason: "ifconfig has no option " + bare + "; did you mean " + meant + "?", certain: true})
			}
			continue
		}
		s.emit(e)
	}
}

// unbridged are drivers of FreeBSD whose interfaces carry no Ethernet frames.
var unbridged = []string{"gre", "tun", "wg", "ipsec", "lo", "stf", "me", "ppp", "enc", "pflog"}

// bridgeable rejects a member of a bridge that the kernel refuses.
func (s *scanner) bridgeable(w word) {
	driver := strings.TrimRight(w.text, "0123456789")
	if s.system != FreeBSD || w.expands || driver == w.text || !slices.Contains(unbridged, driver) {
		return
	}
	s.rejected(Reject{Line: w.line, Span: w.span, certain: true,
		Reason: w.text + " cannot be a member of a bridge: " + driver + " carries IP packets, not Ethernet frames",
		Because: "A bridge accepts only Ethernet, VLAN and gif interfaces (sys/net/if_bridge.c, bridge_ioctl_add: EINVAL); gif or vxlan " +
			"carries frames through a tunnel."})
}
