package change

import (
	"fmt"

	"github.com/wirerate/wirerate/internal/catalog"
)

// Settings that are a packet filter as a whole. A rule set is a value of one
// word: NoRules, the path of a file of the host, or the base64 of its text.
const (
	FirewallPF      = "firewall:pf"       // of a BSD: on or off
	FirewallPFRules = "firewall:pf-rules" // of a BSD: what pfctl -f loads
	FirewallNFT     = "firewall:nft"      // of Linux: all tables of nftables
)

// NoRules is the value of FirewallNFT without any table.
const NoRules = "none"

// firewallKnob reaches a packet filter.
func firewallKnob(system catalog.System, setting, root string) (knob, error) {
	switch bsd := system == catalog.FreeBSD || system == catalog.OpenBSD; {
	case bsd && setting == FirewallPF:
		return pfKnob(), nil
	case bsd && setting == FirewallPFRules:
		return pfRulesKnob(root), nil
	case system == catalog.Linux && setting == FirewallNFT:
		return nftKnob(), nil
	}
	return knob{}, fmt.Errorf("%s: not a packet filter of %s", setting, system)
}

// pfKnob switches pf: pfctl -s info begins with "Status: Enabled for ..." or
// "Status: Disabled ..." (print_status of pfctl_parser.c).
func pfKnob() knob {
	return knob{
		get: `v=$(pfctl -s info 2>&1) || return 1; case $v in *"Status: Enabled"*) v=on ;; *"Status: Disabled"*) v=off ;; *) v='pfctl does not say whether pf is on'; return 1 ;; esac`,
		put: `case "$1" in on) m=$(pfctl -e 2>&1) ;; off) m=$(pfctl -d 2>&1) ;; *) echo 'on or off is expected' >&2; return 1 ;; esac || { echo "$m" >&2; return 1; }`,
	}
}

// pfRulesKnob loads rule sets of pf. The kernel cannot give back a whole
// pf.conf, so the way back is the file from which the rules came: that is
// /etc/pf.conf only when its rules, as pfctl -nv prints them, are the loaded
// ones. What was loaded otherwise is noted beside the mark of this boot with a
// sum of the rules that it made.
func pfRulesKnob(root string) knob {
	at := quote(root + "/var/run/wirerate/pf-loaded")
	conf := quote(root + "/etc/pf.conf")
	const pick = ` | grep -E '^(pass|block|match|anchor|scrub|antispoof)( |$)'`
	return knob{
		get: `l=$(pfctl -s rules 2>/dev/null) || { v=$(pfctl -s rules 2>&1); return 1; }; s=$(printf '%s\n' "$l" | cksum); s=${s%% *}; n=; w=; ` +
			`{ read -r n w <` + at + `; } 2>/dev/null; if [ "$n" = "$s" ] && [ -n "$w" ]; then v=$w; ` +
			`elif [ "$(pfctl -nvf ` + conf + ` 2>/dev/null` + pick + `)" = "$(printf '%s\n' "$l"` + pick +
			`)" ]; then v=` + conf + `; ` +
			`else v='the loaded rules are not those of ` + root +
			`/etc/pf.conf: they could not be put back'; return 1; fi`,
		put: `case "$1" in /*) m=$(pfctl -f "$1" 2>&1) ;; *) m=$(printf '%s\n' "$1" | openssl base64 -d -A |` +
			` pfctl -f - 2>&1) ;; esac || { echo "$m" >&2; return 1; }; ` +
			`s=$(pfctl -s rules 2>/dev/null | cksum); mkdir -p ` + quote(root+"/var/run/wirerate") +
			` && printf '%s %s\n' "${s%% *}" "$1" >` + at,
	}
}

// nftKnob replaces the whole rule set in one transaction. What nft lists it
// loads again (nft(8)), but for rules that iptables-nft made with extensions of
// its own: such a rule set is not touched. What packets add to a dynamic set is
// state like a counter, and no part of the rules.
func nftKnob() knob {
	return knob{
		get: `command -v nft >/dev/null 2>&1 || { v='nft is not installed'; return 1; }; command -v base64 >/dev/null 2>&1 ||` +
			` { v='base64 is not installed'; return 1; }; ` +
			`l=$(nft -s list ruleset 2>/dev/null) || { v=$(nft -s list ruleset 2>&1); return 1; }; ` +
			`l=$(printf '%s\n' "$l" | sed '/^[[:space:]]*flags .*dynamic/,/^[[:space:]]*}$/{/elements = {.*}$/d;/elements = {/,/}$/d;}') || { v='sed is not installed'; return 1; }; ` +
			`if [ -z "$l" ]; then v=` + NoRules + `; ` +
			`elif printf 'flush ruleset\n%s\n' "$l" | nft -c -f - 2>/dev/null; then v=$(printf '%s\n' "$l" | base64 | tr -d '\n'); ` +
			`else v='nft cannot load the present rules back, which others made (iptables-nft?)'; return 1; fi`,
		put: `case "$1" in ` + NoRules +
			`) m=$(nft flush ruleset 2>&1) ;; *) m=$({ echo 'flush ruleset'; printf '%s\n' "$1" | base64 -d; } |` +
			` nft -f - 2>&1) ;; esac || { echo "$m" >&2; return 1; }`,
	}
}
