package facts

import (
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// Firewall is the name of the listing of a packet filter's rules with their counters.
const Firewall = "iptables -nvL"

// The rules of iptables -nvL and nft list ruleset that tell what connection tracking makes of the packets.
var (
	firewallRow  = regexp.MustCompile(`^\s*(?:\d{1,5}\s+)?(\d{1,18})([KMGT]?)\s+\d{1,18}[KMGT]?\s+(\S+)\s+\S+\s.*\b(?:ct)?state ([A-Z]\S*)`)
	nftRow       = regexp.MustCompile(`\bct state (\S+) .*\bcounter packets (\d{1,18}) bytes \d+ (\w+)`)
	firewallHead = regexp.MustCompile(`^Chain \S+ \((?:policy \w+|\d+ references)|^\s*table \w+ \S+ \{$|^\s*pkts\s+bytes\s+target`)
)

// FirewallForm is a line of such a listing that came without its command.
var FirewallForm = regexp.AnyOf(firewallRow, nftRow)

// readFirewall reads how many packets a packet filter dropped as invalid, and how many it let pass as parts of known
// connections; of several chains the largest numbers count.
func (f *Facts) readFirewall(t text) error {
	found := false
	for i, line := range t.lines() {
		if len(line) > 1024 {
			continue
		}
		if firewallHead.MatchString(line) {
			found = true
			f.use(t.from, i+1)
		}
		state, target, packets := "", "", uint64(0)
		if m := firewallRow.FindStringSubmatch(line); m != nil {
			state, target, packets = m[4], m[3], scaled(m[1], m[2])
		} else if m := nftRow.FindStringSubmatch(line); m != nil {
			state, target = m[1], m[3]
			packets, _ = count(m[2])
		} else {
			continue
		}
		found = true
		f.use(t.from, i+1)
		name, state := "", strings.ToLower(state)
		switch target = strings.ToLower(target); {
		case state == "invalid" && (strings.Contains(target, "drop") || target == "reject"):
			name = "firewall.invalid"
		case strings.Contains(state, "established") && target == "accept":
			name = "firewall.established"
		}
		if name != "" && packets >= f.Counters[name].Value {
			f.Counters[name] = Counter{Value: packets, Source: f.Line(t.from, i+1)}
		}
	}
	return nothingUnless(found)
}

// scaled is a number with iptables' letter of thousands.
func scaled(digits, letter string) uint64 {
	v, err := strconv.ParseUint(digits, 10, 60)
	if err != nil {
		return 0
	}
	for range strings.Index(" KMGT", letter) * len(letter) {
		v = min(v, 1<<50) * 1000
	}
	return v
}
