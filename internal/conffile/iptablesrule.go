package conffile

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/spelling"
)

// iptTables are the tables of iptables with their own chains.
var iptTables = map[string][]string{
	"filter":   {"INPUT", "FORWARD", "OUTPUT"},
	"nat":      {"PREROUTING", "INPUT", "OUTPUT", "POSTROUTING"},
	"mangle":   {"PREROUTING", "INPUT", "FORWARD", "OUTPUT", "POSTROUTING"},
	"raw":      {"PREROUTING", "OUTPUT"},
	"security": {"INPUT", "FORWARD", "OUTPUT"},
}

// iptTargets are targets that are no chain of the user's; those of them that one table alone has, and the chains of
// those that only some have, are in iptTargetTable and iptTargetChains.
var iptTargets = map[string]bool{"ACCEPT": true, "DROP": true, "RETURN": true, "QUEUE": true, "LOG": true, "NFLOG": true, "MARK": true,
	"CONNMARK": true, "TCPMSS": true, "DSCP": true, "SET": true, "CLASSIFY": true, "NFQUEUE": true, "REJECT": true, "MASQUERADE": true,
	"SNAT": true, "DNAT": true, "REDIRECT": true, "NETMAP": true, "CT": true, "NOTRACK": true, "TPROXY": true, "TOS": true, "TTL": true,
	"HL": true, "ECN": true, "CHECKSUM": true, "TCPOPTSTRIP": true, "SYNPROXY": true, "TRACE": true, "TEE": true, "": true}

// Where targets may stand (the .table and .hooks of struct xt_target in net/netfilter and net/ipv4/netfilter of Linux
// 6.12; tried with iptables 1.8.9, both of its back ends).
var (
	iptTargetTable = map[string]string{"REJECT": "filter", "MASQUERADE": "nat", "SNAT": "nat", "DNAT": "nat", "REDIRECT": "nat",
		"NETMAP": "nat", "CT": "raw", "NOTRACK": "raw", "TPROXY": "mangle", "DSCP": "mangle", "TOS": "mangle", "TTL": "mangle",
		"HL": "mangle", "ECN": "mangle", "CHECKSUM": "mangle", "TCPOPTSTRIP": "mangle"}
	iptTargetChains = map[string][]string{"MASQUERADE": {"POSTROUTING"}, "SNAT": {"POSTROUTING", "INPUT"},
		"DNAT": {"PREROUTING", "OUTPUT"}, "REDIRECT": {"PREROUTING", "OUTPUT"}, "TPROXY": {"PREROUTING"}}
)

// iptPorts are the options that the match of a protocol with ports has, and iptPortLists those of the match multiport.
var (
	iptPorts     = []string{"--dport", "--sport", "--destination-port", "--source-port"}
	iptPortLists = []string{"--dports", "--sports", "--destination-ports", "--source-ports", "--ports"}
	ported       = []string{"tcp", "udp", "udplite", "sctp", "dccp", "6", "17", "132", "33", "136"}
)

// refusedByIptables tells the first thing in a rule that iptables refuses, or that lets it match nothing.
func (s *scanner) refusedByIptables(r *iptRule) bool {
	if r.guessed || !slices.Contains([]string{"-A", "-I", "-R", "-P", "-C"}, r.operation) || r.chain == "" {
		return false
	}
	for _, check := range []func(*iptRule) (word, string){misplacedChain, misplacedTarget, misplacedDevice, misplacedPorts,
		misplacedReset, withoutMatch, splitList, misspeltTarget} {
		at, reason := check(r)
		if reason == "" {
			continue
		}
		because := ""
		if r.wholeFile {
			because = "iptables-restore stops at this line and loads nothing of the table."
		}
		s.iptRefused(at, reason, because)
		return true
	}
	if at := r.option("-i", "--in-interface"); strings.Contains(at.text, ":") && !at.expands {
		s.rejected(Reject{Line: at.line, Span: at.span, Idle: true, certain: true,
			Reason:  "no packet comes in through " + at.text + ": it is the label of an address, not an interface",
			Because: "iptables compares with the device, " + at.text[:strings.IndexByte(at.text, ':')] + "; write that, with -d ADDRESS for this address."})
		return true
	}
	return false
}

func misplacedChain(r *iptRule) (word, string) {
	at := r.option(r.operation)
	for long, short := range iptOperations {
		if short == r.operation && at.text == "" {
			at = r.option(long)
		}
	}
	own := slices.ContainsFunc(slices.Collect(maps.Values(iptTables)), func(c []string) bool { return slices.Contains(c, r.chain) })
	chains, known := iptTables[r.table]
	switch {
	case !known:
		return word{}, ""
	case own && !slices.Contains(chains, r.chain):
		return at, "the table " + r.table + " has no chain " + r.chain
	case r.operation == "-P" && !own:
		return at, "only the chains " + strings.Join(chains, ", ") + " of the table " + r.table + " have a policy"
	}
	return word{}, ""
}

func misplacedTarget(r *iptRule) (word, string) {
	at := r.option("-j", "--jump")
	table, chains := iptTargetTable[r.target], iptTargetChains[r.target]
	switch {
	case table != "" && table != r.table && iptTables[r.table] != nil:
		return at, r.target + " works only in the table " + table + ", not in " + r.table
	case chains != nil && iptChain(r.chain) && !slices.Contains(chains, r.chain):
		return at, r.target + " works only in the chain " + strings.Join(chains, " or ") + ", not in " + r.chain
	case r.target == "TCPMSS" && r.has("--clamp-mss-to-pmtu") && (r.chain == "PREROUTING" || r.chain == "INPUT"):
		return at, "--clamp-mss-to-pmtu works only in the chains FORWARD, OUTPUT and POSTROUTING, not in " + r.chain
	case r.target == "TCPMSS" && r.protocol == "":
		return at, "TCPMSS needs -p tcp --tcp-flags SYN,RST SYN"
	}
	return word{}, ""
}

// iptChain reports whether a chain is one of iptables' own.
func iptChain(name string) bool { return slices.Contains(iptTables["mangle"], name) }

func misplacedDevice(r *iptRule) (word, string) {
	in, out := r.option("-i", "--in-interface"), r.option("-o", "--out-interface")
	switch {
	case in.text != "" && (r.chain == "OUTPUT" || r.chain == "POSTROUTING"):
		return in, "-i does not go with " + r.chain + ", whose packets are on their way out: use -o"
	case out.text != "" && (r.chain == "INPUT" || r.chain == "PREROUTING"):
		return out, "-o does not go with " + r.chain + ", whose packets have just come in: use -i"
	case in.text == "!" || out.text == "!" || r.option("-s", "--source").text == "!" || r.option("-d", "--destination").text == "!":
		return r.option("!"), "the ! belongs before the option, as in ! -i lo"
	}
	return word{}, ""
}

func misplacedPorts(r *iptRule) (word, string) {
	module := r.option("-m", "--match").text
	for i, w := range r.words {
		port, list := slices.Contains(iptPorts, w.text), slices.Contains(iptPortLists, w.text)
		switch {
		case !port && !list:
		case r.option("-p", "--protocol", "--proto").expands || r.protocol != "" && !slices.Contains(ported, r.protocol) && !slices.Contains(notPorted, r.protocol):
		case !slices.Contains(ported, r.protocol) && module != "tcp" && module != "udp":
			return w, w.text + " needs a protocol with ports before it: -p tcp or -p udp"
		case list && !r.has("multiport"):
			return w, w.text + " needs -m multiport before it"
		case port && !r.has("multiport") && i+1 < len(r.words) && strings.Contains(r.words[i+1].text, ",") && !r.words[i+1].expands:
			return r.words[i+1], "a list of ports needs -m multiport and " + w.text + "s"
		case r.has("multiport") && i+1 < len(r.words) && !r.words[i+1].expands && portCount(r.words[i+1].text) > maxPorts:
			return r.words[i+1], "multiport takes at most " + strconv.Itoa(maxPorts) + " ports, and a range counts as two"
		}
	}
	if to := r.option("--to-destination", "--to"); r.target == "DNAT" && strings.Count(to.text, ":") == 1 && !r.has("-p", "--protocol", "--proto") && !to.expands {
		return to, "DNAT to a port needs a protocol: -p tcp or -p udp"
	}
	return word{}, ""
}

// maxPorts are the ports that one multiport match holds (XT_MULTI_PORTS, xt_multiport.h of Linux 6.12).
const maxPorts = 15

// portCount is the room that a list of ports takes there.
func portCount(list string) int { return 1 + strings.Count(list, ",") + strings.Count(list, ":") }

// notPorted are protocols without ports.
var notPorted = []string{"all", "icmp", "icmpv6", "ipv6-icmp", "gre", "esp", "ah", "igmp", "1", "47", "50", "51", "58"}

func misplacedReset(r *iptRule) (word, string) {
	with := r.option("--reject-with")
	if with.text == "tcp-reset" && r.protocol != "tcp" && r.protocol != "6" && !r.option("-p", "--protocol", "--proto").expands {
		return with, "tcp-reset needs -p tcp; --reject-with icmp-port-unreachable is for every protocol"
	}
	return word{}, ""
}

// iptModules are options with the match that has them.
var iptModules = map[string]string{"--state": "state", "--ctstate": "conntrack", "--limit": "limit", "--limit-burst": "limit",
	"--mac-source": "mac", "--connlimit-above": "connlimit", "--hitcount": "recent", "--match-set": "set", "--uid-owner": "owner"}

// withoutMatch finds an option without its match, and a state without its option.
func withoutMatch(r *iptRule) (word, string) {
	tcp := r.protocol == "tcp" || r.protocol == "6" || r.option("-p", "--protocol", "--proto").expands
	for i, w := range r.words {
		module := iptModules[w.text]
		switch {
		case module != "" && !r.has(module):
			return w, w.text + " needs -m " + module + " before it"
		case (w.text == "--syn" || w.text == "--tcp-flags") && !tcp:
			return w, w.text + " needs -p tcp before it"
		case i > 0 && r.words[i-1].text == "-m" && (w.text == "state" || w.text == "conntrack") && i+1 < len(r.words) &&
			iptStates[strings.Split(r.words[i+1].text, ",")[0]]:
			return r.words[i+1], "-m " + w.text + " needs " + map[string]string{"state": "--state", "conntrack": "--ctstate"}[w.text] + " before " + r.words[i+1].text
		}
	}
	return word{}, ""
}

var iptStates = map[string]bool{"NEW": true, "ESTABLISHED": true, "RELATED": true, "INVALID": true, "UNTRACKED": true}

// splitList finds a list with a blank behind its comma, of which iptables gets the first part alone.
func splitList(r *iptRule) (word, string) {
	for i, w := range r.words[:max(len(r.words)-1, 0)] {
		if next := r.words[i+1]; i > 0 && strings.HasPrefix(r.words[i-1].text, "-") && strings.HasSuffix(w.text, ",") && !w.quoted &&
			next.text != "" && next.text[0] != '-' {
			return w, "the list ends at the blank: write " + w.text + next.text
		}
	}
	return word{}, ""
}

func misspeltTarget(r *iptRule) (word, string) {
	at := r.option("-j", "--jump")
	if iptTargets[r.target] || at.expands || len(r.target) < 4 || r.target != strings.ToUpper(r.target) {
		return word{}, ""
	}
	for _, known := range slices.Sorted(maps.Keys(iptTargets)) {
		if len(known) > 3 && spelling.Slip(r.target, known) {
			return at, "there is no target " + r.target + "; did you mean " + known + "?"
		}
	}
	return word{}, ""
}
