package conffile

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// iptChains are the rules at the end of chains so far, by family, table and chain, that decide about their packets.
type iptChains map[string][]iptDecision

// iptDecision is a rule that ends the way of the packets which fit all of what it asks for.
type iptDecision struct {
	asks         []string
	target, does string // does tells targets with other options apart
	line         int
}

// maxDecisions bounds the rules of a chain that are kept.
const maxDecisions = 200

// iptAsks are the options of plain matches, which fit each time or never, with the number of words behind them.
var iptAsks = map[string]int{"-s": 1, "-d": 1, "-p": 1, "-i": 1, "-o": 1, "--dport": 1, "--sport": 1, "--dports": 1, "--sports": 1,
	"--state": 1, "--ctstate": 1, "--syn": 0, "--tcp-flags": 2, "--icmp-type": 1, "--mark": 1}

// iptLongAsks are other names of them.
var iptLongAsks = map[string]string{"--source": "-s", "--src": "-s", "--destination": "-d", "--dst": "-d", "--protocol": "-p", "--proto": "-p",
	"--in-interface": "-i", "--out-interface": "-o", "--destination-port": "--dport", "--source-port": "--sport"}

// iptPlain are matches that fit each time or never, and iptTold options of targets that decide nothing about matching.
var (
	iptPlain = []string{"tcp", "udp", "icmp", "state", "conntrack", "multiport", "comment", "mark"}
	iptTold  = []string{"--to-source", "--to-destination", "--to", "--to-ports", "--to-port", "--reject-with"}
	iptEnds  = []string{"ACCEPT", "DROP", "REJECT", "SNAT", "MASQUERADE", "DNAT", "REDIRECT"}
)

// follow remembers a rule that is appended, and tells one that an earlier rule with another target leaves no packet.
func (c *iptChains) follow(s *scanner, r *iptRule) {
	key := strconv.Itoa(r.body) + r.key(r.chain) // the rules of a function follow each other, whenever it runs
	switch {
	case *c == nil:
		*c = iptChains{}
	case len(*c) > maxDecisions:
		return
	}
	if r.guessed || r.conditional && r.body == 0 || r.operation != "-A" {
		if r.chain == "" {
			clear(*c)
		} else if r.operation != "-P" && r.operation != "-N" && r.operation != "-C" {
			maps.DeleteFunc(*c, func(k string, _ []iptDecision) bool { return strings.HasSuffix(k, r.key(r.chain)) })
		}
		return
	}
	asks, plain := r.asks(s)
	does := r.target
	for _, option := range iptTold {
		does += " " + r.option(option).text
	}
	for _, earlier := range (*c)[key] {
		if earlier.does == does && r.option("--limit").text == "" || slices.ContainsFunc(earlier.asks, func(all string) bool {
			return !slices.ContainsFunc(asks, func(a string) bool { return covers(all, a) })
		}) {
			continue
		}
		s.rejected(Reject{Line: r.words[0].line, Span: r.span(), Idle: true,
			Reason:  "no packet reaches this rule: " + earlier.target + " on line " + strconv.Itoa(earlier.line) + " takes everything that it matches",
			Because: "The rules of a chain are tried in order, and the first one that matches decides. Put this one before it."})
		return
	}
	if plain && slices.Contains(iptEnds, r.target) && len((*c)[key]) < maxDecisions {
		(*c)[key] = append((*c)[key], iptDecision{asks, r.target, does, r.words[0].line})
	}
}

// asks is what a rule asks of a packet; plain is false where not all of it is understood.
func (r *iptRule) asks(s *scanner) (asks []string, plain bool) {
	plain = true
	for i := 0; i < len(r.words); i++ {
		w, not := r.words[i], ""
		if w.text == "!" && i+1 < len(r.words) {
			i++
			w, not = r.words[i], "! "
		}
		name := w.text
		if short := iptLongAsks[name]; short != "" {
			name = short
		}
		behind, known := iptAsks[name]
		switch next := i + 1; {
		case known && i+behind < len(r.words):
			ask := not + name
			for ; behind > 0; behind-- {
				i++
				ask += " " + r.words[i].text
				plain = plain && s.fixed(r.words[i])
			}
			asks = append(asks, ask)
		case next == len(r.words) || strings.HasPrefix(name, "--wait") || name == "-w":
		case name == "-m" || name == "--match":
			plain = plain && slices.Contains(iptPlain, r.words[next].text)
			i++
		case name == "-A" || name == "--append" || name == "-t" || name == "--table" || name == "-j" || name == "--jump" ||
			slices.Contains(iptTold, name) || name == "--comment":
			i++
		default:
			plain = false
		}
	}
	return asks, plain
}

// covers reports whether what one ask lets through holds all that the other one does: the same, or a part of its ports,
// states or addresses.
func covers(all, part string) bool {
	if all == part {
		return true
	}
	name, wide, _ := strings.Cut(all, " ")
	other, narrow, _ := strings.Cut(part, " ")
	if name != other {
		return false
	}
	switch name {
	case "--dport", "--sport":
		from, to, ok := portRange(wide)
		first, last, known := portRange(narrow)
		return ok && known && from <= first && last <= to
	case "--state", "--ctstate":
		states := strings.Split(wide, ",")
		return !slices.ContainsFunc(strings.Split(narrow, ","), func(s string) bool { return !slices.Contains(states, s) })
	case "-s", "-d":
		net, err := netip.ParsePrefix(wide)
		if !strings.Contains(narrow, "/") {
			narrow += "/32"
		}
		within, bad := netip.ParsePrefix(narrow)
		return err == nil && bad == nil && net.Bits() <= within.Bits() && net.Contains(within.Addr())
	}
	return false
}

// portRange reads a port, or a range of them.
func portRange(text string) (from, to uint64, ok bool) {
	low, high, ranged := strings.Cut(text, ":")
	if !ranged {
		high = low
	}
	from, err := strconv.ParseUint(cmp.Or(low, "0"), 10, 16)
	to, bad := strconv.ParseUint(cmp.Or(high, "65535"), 10, 16)
	return from, to, err == nil && bad == nil && text != ""
}

// maxSearched bounds the files that are searched through for single lines of them.
const maxSearched = 64 << 10

// fixed reports whether a word has the same value each time that it stands in the script.
func (s *scanner) fixed(w word) bool {
	if !w.expands {
		return true
	}
	rest := variable.ReplaceAllStringFunc(w.text, func(name string) string {
		name = strings.Trim(name, "${}")
		if len(s.src) > maxSearched || name == s.loop || strings.Count(s.src, name+"=") > 1 {
			return "$"
		}
		return ""
	})
	return !strings.ContainsAny(rest, "$`")
}
