package change

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/plan"
	"github.com/wirerate/wirerate/internal/regexp"
)

var (
	interfaceName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.:-]*$`)
	routeName     = regexp.MustCompile(`^(default|[0-9A-Fa-f.:]+(/[0-9]+)?)$`)
	keyName       = regexp.MustCompile(`^[a-z0-9_-]+$`)
)

// linuxKnob reaches what ethtool(8), ip-link(8), ip-route(8) and a module's
// parameters govern.
func linuxKnob(form, key, on, root string) (knob, error) {
	setting := form + ":" + key
	if form == "module" {
		module, parameter, ok := strings.Cut(key, "/")
		if !ok || !isModule(module) || !keyName.MatchString(parameter) {
			return knob{}, fmt.Errorf("%s: write it like module:NAME/PARAMETER", setting)
		}
		return fileKnob(root + "/sys/module/" + module + "/parameters/" + parameter), nil
	}
	if on == "" {
		return knob{}, fmt.Errorf("%s: for which interface or route? write %s@NAME", setting, setting)
	}
	if form == "route" {
		if !routeName.MatchString(on) || !slices.Contains(routeAttributes, key) {
			return knob{}, fmt.Errorf("%s@%s: not an attribute of a route that can be changed", setting, on)
		}
		return routeKnob(key, on), nil
	}
	if !interfaceName.MatchString(on) {
		return knob{}, fmt.Errorf("%s: %q is not the name of an interface", setting, on)
	}
	if form == "link" && slices.Contains(linkAttributes, key) {
		return linkKnob(key, on), nil
	}
	if form == "ethtool" {
		return ethtoolKnob(key, on)
	}
	return knob{}, fmt.Errorf("%s: it is set by the written files", setting)
}

// ethtoolKnob reads ethtool's answers with sed. A set that changes nothing ends
// some versions of ethtool with status 80, which is no failure.
func ethtoolKnob(key, nic string) (knob, error) {
	group, name, _ := strings.Cut(key, "/")
	i := quote(nic)
	made := func(ask, pick, set string) (knob, error) {
		return knob{
			get: "v=$(ethtool " + ask + " " + i + " 2>&1) || return 1; v=$(printf '%s\\n' \"$v\" | sed -n '" + pick +
				`' | head -n 1); if [ -z "$v" ] || [ "$v" = n/a ]; then v='the interface does not have it'; return 1; fi`,
			put: "m=$(ethtool " + set + ` 2>&1) || [ $? = 80 ] || { echo "$m" >&2; return 1; }`,
		}, nil
	}
	if name != "" && !keyName.MatchString(name) {
		return knob{}, fmt.Errorf("ethtool:%s: not a name that ethtool knows", key)
	}
	const blank = `[[:space:]]*`
	switch group {
	case "features":
		return made("-k", `s/^`+blank+plan.LongFeature(name)+`: \([a-z]*\).*/\1/p`, "-K "+i+" "+quote(name)+` "$1"`)
	case "ring", "channels":
		shown := map[string]string{"rx": "RX", "tx": "TX", "rx-mini": "RX Mini", "rx-jumbo": "RX Jumbo",
			"combined": "Combined", "other": "Other"}[name]
		flags := map[string][2]string{"ring": {"-g", "-G"}, "channels": {"-l", "-L"}}[group]
		if shown == "" {
			break
		}
		return made(flags[0], `/^Current/,$s/^`+shown+`:`+blank+`\([0-9a-z/]*\).*/\1/p`,
			flags[1]+" "+i+" "+name+` "$1"`)
	case "coalesce":
		switch name {
		case "adaptive-rx":
			return made("-c", `s/^Adaptive RX: *\([a-z/]*\).*/\1/p`, "-C "+i+` adaptive-rx "$1"`)
		case "adaptive-tx":
			return made("-c", `s/^Adaptive RX:.*TX: *\([a-z/]*\).*/\1/p`, "-C "+i+` adaptive-tx "$1"`)
		}
		return made("-c", `s/^`+name+`:`+blank+`\([0-9a-z/]*\).*/\1/p`, "-C "+i+" "+name+` "$1"`)
	case "pause":
		shown := map[string]string{"rx": "RX", "tx": "TX", "autoneg": "Autonegotiate"}[name]
		if shown == "" {
			break
		}
		return made("-a", `s/^`+shown+`:`+blank+`\([a-z]*\).*/\1/p`, "-A "+i+" "+name+` "$1"`)
	case "eee":
		return made("--show-eee", `s/.*EEE status: enabled.*/on/p;s/.*EEE status: disabled.*/off/p`,
			"--set-eee "+i+` eee "$1"`)
	}
	return knob{}, fmt.Errorf("ethtool:%s: it is set by the written files", key)
}

var linkAttributes = []string{"mtu", "txqueuelen", "gso_max_size", "gso_max_segs", "gro_max_size", "gso_ipv4_max_size",
	"gro_ipv4_max_size"}

// linkKnob uses ip-link(8), which shows the length of the queue as qlen.
func linkKnob(key, nic string) knob {
	shown := key
	if key == "txqueuelen" {
		shown = "qlen"
	}
	return knob{
		get: "v=$(ip -d -o link show dev " + quote(nic) +
			" 2>&1) || return 1; v=$(printf '%s\\n' \"$v\" | sed -n 's/.* " + shown +
			` \([0-9]*\).*/\1/p'); if [ -z "$v" ]; then v='ip does not show it'; return 1; fi`,
		put: "ip link set dev " + quote(nic) + " " + key + ` "$1"`,
	}
}

// unset is the value of an attribute that a route does not have.
const unset = "unset"

var routeAttributes = []string{"initcwnd", "initrwnd", "quickack", "congctl", "mtu", "advmss", "rto_min", "window",
	"ssthresh", "cwnd", "rtt", "rttvar", "reordering", "hoplimit"}

// routeKnob changes one attribute of a route and keeps the rest of it as
// ip-route(8) shows it, without the words that only describe its state.
func routeKnob(key, to string) knob {
	family := "-4"
	if strings.Contains(to, ":") {
		family = "-6"
	}
	ip := "ip " + family + " route show " + quote(to)
	show := "r=$(" + ip + " 2>/dev/null) || { v=$(" + ip +
		" 2>&1); return 1; }; r=$(printf '%s\\n' \"$r\" | head -n 1); " +
		"if [ -z \"$r\" ]; then v='no such route'; return 1; fi"
	return knob{
		get: show + `; case " $r " in *" ` + key + ` "*) v=${r#*" ` + key +
			` "}; [ "${v%% *}" != lock ] || v=${v#lock }; v=${v%% *} ;; *) v=` + unset + ` ;; esac`,
		put: show + `; r=$(printf '%s\n' "$r" | sed -e 's/ ` + key +
			` \(lock \)*[^ ]*//' -e 's/ linkdown//;s/ dead//'); ` +
			`if [ "$1" != ` + unset + ` ]; then r="$r ` + key + ` $1"; fi; set -f; ip ` + family +
			` route change $r; s=$?; set +f; return $s`,
	}
}

// bsdKnob reaches what ifconfig(8) and pfctl(8) govern.
func bsdKnob(system catalog.System, form, key, on string) (knob, error) {
	setting := form + ":" + key
	switch {
	case form == "pf" && strings.HasPrefix(key, "set/limit/") &&
		keyName.MatchString(strings.TrimPrefix(key, "set/limit/")):
		return pfLimitKnob(system, strings.TrimPrefix(key, "set/limit/"))
	case form != "ifconfig":
		return knob{}, fmt.Errorf("%s: it is set by the written files", setting)
	case !interfaceName.MatchString(on):
		return knob{}, fmt.Errorf("%s: for which interface? write %s@NAME", setting, setting)
	case key == "mtu":
		return mtuKnob(on), nil
	}
	shown, ok := ifconfigFlags[key]
	if !ok || system == catalog.OpenBSD && key != "tcplro" {
		return knob{}, fmt.Errorf("%s: it is set by the written files", setting)
	}
	return flagKnob(on, key, shown), nil
}

// ifconfigFlags are the words between < and > of ifconfig(8) for the options
// that switch them.
var ifconfigFlags = map[string][]string{
	"tso": {"TSO4", "TSO6"}, "tso4": {"TSO4"}, "tso6": {"TSO6"}, "lro": {"LRO"}, "tcplro": {"LRO"},
	"rxcsum": {"RXCSUM"}, "txcsum": {"TXCSUM"}, "rxcsum6": {"RXCSUM_IPV6"}, "txcsum6": {"TXCSUM_IPV6"},
	"vlanhwtso": {"VLAN_HWTSO"}, "vlanhwtag": {"VLAN_HWTAGGING"}, "vlanhwcsum": {"VLAN_HWCSUM"},
	"toe": {"TOE4", "TOE6"}, "polling": {"POLLING"}, "wol": {"WOL_UCAST", "WOL_MCAST", "WOL_MAGIC"},
}

func mtuKnob(nic string) knob {
	i := quote(nic)
	return knob{
		get: "l=$(ifconfig " + i +
			` 2>&1) || { v=$l; return 1; }; case $l in *" mtu "*) v=${l#*" mtu "}; v=${v%%[!0-9]*} ;; *) v='ifconfig does not show it'; return 1 ;; esac`,
		put: "m=$(ifconfig " + i +
			` mtu "$1" 2>&1) || { echo "$m" >&2; return 1; }; [ -z "$m" ] || { echo "$m" >&2; return 1; }`,
	}
}

// flagKnob switches an option; off is written -NAME. An option that stands for
// several flags, of which some are on, has their names as its value.
func flagKnob(nic, key string, shown []string) knob {
	i := quote(nic)
	var tests, parts strings.Builder
	for n, flag := range shown {
		fmt.Fprintf(&tests, `case "$l" in *[\<,]%s[\>,]*) v="$v %s" ;; *) off=1 ;; esac; `, flag, strings.ToLower(flag))
		if n > 0 {
			parts.WriteByte(' ')
		}
		parts.WriteString("-" + strings.ToLower(flag))
	}
	set := "ifconfig " + i
	return knob{
		get: "l=$(ifconfig " + i + " 2>&1) || { v=$l; return 1; }; v=; off=; " + tests.String() +
			`if [ -z "$v" ]; then v=off; elif [ -z "$off" ]; then v=on; fi; v=${v# }`,
		put: `case "$1" in on) m=$(` + set + " " + key + ` 2>&1) ;; off) m=$(` + set + " -" + key +
			` 2>&1) ;; *) m=$(` + set + " " + parts.String() +
			" && " + set + ` $1) 2>&1 ;; esac || { echo "$m" >&2; return 1; }; [ -z "$m" ] || { echo "$m" >&2; return 1; }`,
	}
}

// pfLimitKnob changes one limit and leaves the rest of the rule set as it is:
// pfctl -m merges options (FreeBSD's pfctl(8); OpenBSD's has no such option).
func pfLimitKnob(system catalog.System, name string) (knob, error) {
	if system != catalog.FreeBSD {
		return knob{}, fmt.Errorf("pf:set/limit/%s: OpenBSD takes it from pf.conf only", name)
	}
	return knob{
		get: "v=$(pfctl -sm 2>&1) || return 1; v=$(printf '%s\\n' \"$v\" | sed -n 's/^" + name +
			`[[:space:]].*[[:space:]]\([0-9]*\)$/\1/p'); ` +
			`if [ -z "$v" ]; then v='pf does not show it'; return 1; fi`,
		put: `m=$(printf 'set limit ` + name + ` %s\n' "$1" | pfctl -mf - 2>&1) || { echo "$m" >&2; return 1; }`,
	}, nil
}
