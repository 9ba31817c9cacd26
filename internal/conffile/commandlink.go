package conffile

import (
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// ifconfigCommand reads ifconfig IF OPTIONS.
func (s *scanner) ifconfigCommand(words []word, base Entry) {
	for len(words) > 0 && strings.HasPrefix(words[0].text, "-") {
		words = words[1:]
	}
	if len(words) < 2 {
		return
	}
	base.Iface = s.ifaceOf(words[0])
	s.addressWords(words[1:])
	s.ifconfigOptions(words[1:], base)
}

// linkAttributes are the attributes of ip link that take a value and concern
// performance (ip-link(8)), with their name in the catalog.
var linkAttributes = map[string]string{
	"mtu": "link:mtu", "txqueuelen": "link:txqueuelen", "qlen": "link:txqueuelen", "txqlen": "link:txqueuelen",
	"gso_max_size": "link:gso_max_size", "gso_max_segs": "link:gso_max_segs", "gro_max_size": "link:gro_max_size",
	"gso_ipv4_max_size": "link:gso_ipv4_max_size", "gro_ipv4_max_size": "link:gro_ipv4_max_size",
	"numtxqueues": "link:numtxqueues", "numrxqueues": "link:numrxqueues",
}

// bondAttributes are those of a bond.
var bondAttributes = map[string]bool{"mode": true, "miimon": true, "arp_interval": true, "lacp_rate": true,
	"xmit_hash_policy": true}

// routeAttributes are the metrics of ip route (ip-route(8)).
var routeAttributes = map[string]string{
	"mtu": "route:mtu", "advmss": "route:advmss", "window": "route:window", "rtt": "route:rtt", "rttvar": "route:rttvar",
	"rto_min": "route:rto_min", "ssthresh": "route:ssthresh", "cwnd": "route:cwnd", "initcwnd": "route:initcwnd",
	"initrwnd": "route:initrwnd", "features": "route:features", "quickack": "route:quickack", "congctl": "route:congctl",
	"reordering": "route:reordering", "hoplimit": "route:hoplimit", "fastopen_no_cookie": "route:fastopen_no_cookie",
}

// ipCommand reads ip link set and ip route add, change, replace, append.
// Objects and verbs may be abbreviated as ip allows.
func (s *scanner) ipCommand(words []word, base Entry) {
	options := len(words)
	for len(words) > 0 && strings.HasPrefix(words[0].text, "-") {
		skip := 1
		if strings.HasPrefix("-netns", words[0].text) && len(words[0].text) > 1 || words[0].text == "-family" || words[0].text == "-f" {
			skip = 2
		}
		words = words[min(skip, len(words)):]
	}
	if len(words) < 3 {
		return
	}
	object, verb, args := words[0].text, words[1].text, words[2:]
	if object != "" && (strings.HasPrefix("route", object) || object == "ro") {
		if options == len(words) { // an option may choose another family or host
			s.sameRoute(verb, args, base)
		}
	} else if object != "rule" && verb != "add" {
		clear(s.routes) // an interface that goes down, and an address that is taken away, take their routes with them
	}
	if object != "" && (strings.HasPrefix("address", object) || strings.HasPrefix("route", object) || object == "ro") {
		s.addressWords(args)
	}
	switch {
	case object != "" && strings.HasPrefix("link", object):
		if !strings.HasPrefix("set", verb) && !strings.HasPrefix("add", verb) && !strings.HasPrefix("change", verb) {
			return
		}
		base.Iface = s.ifaceOf(args[0])
		if args[0].text == "dev" && len(args) > 1 {
			base.Iface, args = s.ifaceOf(args[1]), args[1:]
		}
		bond := false
		s.pairs(args[1:], base, func(k string) string {
			if bond = bond || k == "bond"; bond && bondAttributes[k] {
				return "link:bond-" + k
			}
			return linkAttributes[k]
		})
	case object != "" && (strings.HasPrefix("route", object) || object == "ro"):
		switch verb {
		case "add", "a", "change", "chg", "c", "replace", "append", "prepend", "r", "rep":
		default:
			return
		}
		for i := 0; i+1 < len(args); i++ {
			if args[i].text == "dev" {
				base.Iface = s.ifaceOf(args[i+1])
			}
		}
		s.pairs(args, base, func(k string) string { return routeAttributes[k] })
	}
}

// routeKeys are what tells two routes to one network apart, and routeTypes the words that may stand before it.
var (
	routeKeys  = []string{"metric", "preference", "priority", "table", "tos", "dsfield", "vrf"}
	routeTypes = []string{"to", "unicast", "local", "broadcast", "multicast", "throw", "unreachable", "prohibit", "blackhole", "nat"}
)

// routeTo is a network, as a route begins with it.
var routeTo = regexp.MustCompile(`^(?:default|[0-9]+(?:\.[0-9]+)*(?:/[0-9]+)?|[0-9a-fA-F]*:[0-9a-fA-F:.]*(?:/[0-9]+)?)$`)

// keepsRoutes are commands that neither add nor remove a route; any other one may.
var keepsRoutes = []string{"ip", "echo", "printf", "sysctl", "sleep", "modprobe", "iptables", "ip6tables", "ipset", "nft", "tc", "ethtool", "set"}

// sameRoute rejects a route that a script adds after another one to the same network, of the same metric and table.
func (s *scanner) sameRoute(verb string, args []word, base Entry) {
	if verb != "add" && verb != "a" {
		clear(s.routes)
		return
	}
	for len(args) > 1 && slices.Contains(routeTypes, args[0].text) {
		args = args[1:]
	}
	if !strings.HasPrefix(s.src, "#!") || base.Flags&Conditional != 0 || len(args) == 0 {
		return
	}
	key := args[0].text
	if key == "0.0.0.0/0" {
		key = "default"
	}
	if !routeTo.MatchString(key) && !args[0].expands {
		return // an option stands before the network
	}
	for i, w := range args {
		switch {
		case w.expands && !s.fixed(w):
			return
		case i > 0 && slices.Contains(routeKeys, args[i-1].text):
			key += " " + args[i-1].text + " " + w.text
		case strings.Contains(w.text, ":") && !strings.HasSuffix(key, " -6"):
			key += " -6"
		}
	}
	if before, known := s.routes[key]; known {
		s.rejected(Reject{Line: args[0].line, Span: args[0].span, Code: "conflict", certain: true,
			Reason:  "the kernel refuses this route: line " + strconv.Itoa(before) + " adds one to the same network, of the same metric",
			Because: "It answers File exists, whatever the gateway is. Give one of the two a metric, or write ip route replace."})
		return
	}
	keep(&s.routes, key, args[0].line)
}

// routeCommand reads the metrics of BSD's route(8), written -mtu 1400, and rejects words that route takes for none of
// its addresses and interfaces.
func (s *scanner) routeCommand(words []word, base Entry) {
	s.addressWords(words)
	s.routeMask(words)
	for i, w := range words {
		switch {
		case s.system == Linux || w.quoted || w.expands:
		case i > 0 && words[i-1].text == "-ifp" && w.text != "egress" && strings.Trim(w.text, "abcdefghijklmnopqrstuvwxyz") == "":
			s.reject(w.line, w.span, "there is no interface "+w.text+": interface names end in a number, as in "+w.text+"0")
		case mistaken(w.text) != "":
			s.reject(w.line, w.span, w.text+" is not a valid address: route refuses it")
		}
	}
	s.pairs(words, base, func(k string) string {
		if k == "-mtu" {
			return "route:mtu"
		}
		return ""
	})
}

// routeMask rejects the destinations that OpenBSD's route takes for others than meant, or not at all, since 6.4 (its upgrade
// guide): the length of a prefix before the address, and a network without its mask.
func (s *scanner) routeMask(words []word) {
	if s.system != OpenBSD || len(words) < 3 || words[0].text != "add" && words[0].text != "-n" && words[0].text != "-qn" {
		return
	}
	network, host, mask := false, false, word{}
	destination := word{}
	for i, w := range words[1:] {
		before := words[i].text
		switch {
		case w.text == "-net":
			network = true
		case w.text == "-host":
			host = true
		case w.text == "-netmask" || w.text == "-prefixlen":
			mask = w
			if destination.text == "" {
				s.reject(w.line, w.span, w.text+" stands before the address: route refuses it since OpenBSD 6.4; write the address with /N")
				return
			}
		case destination.text == "" && (numeric(w.text) || strings.Contains(w.text, "::")) && before != "-label" && before != "-ifa":
			destination = w
		}
	}
	if mask.text != "" || !dottedQuad(destination.text) || strings.Contains(destination.text, "/") || host {
		return
	}
	switch {
	case network:
		s.reject(destination.line, destination.span, "route refuses -net without a mask since OpenBSD 6.4: write "+destination.text+"/N")
	case strings.HasSuffix(destination.text, ".0"):
		s.rejected(Reject{Line: destination.line, Span: destination.span, Because: "The route is then to this single address.",
			Reason: "without a mask " + destination.text + " is one host since OpenBSD 6.4: write " + destination.text + "/N"})
	}
}

// numeric reports an address, or the beginning of one, as in 10.3/16.
func numeric(text string) bool { return text != "" && strings.Trim(text, "0123456789./") == "" }
