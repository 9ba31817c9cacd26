package diagnose

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/facts"
)

// settingHarmful finds running values that the catalog knows to do harm.
func settingHarmful() Rule {
	return Rule{
		ID: "setting-harmful", Title: "A setting has a harmful value", Severity: Warning,
		Needs:   []string{"settings|interfaces|links|ifconfig"},
		Because: "According to the catalog's sources this value breaks or slows something.",
		Check:   func(in Input) []Finding { return judged(in, "harmful") },
		Fires:   linuxExample("sysctl -a", "net.ipv4.tcp_rmem = 16777216\t16777216\t16777216\n"),
		Quiet:   linuxExample("sysctl -a", "net.ipv4.tcp_rmem = 4096\t131072\t33554432\n"),
	}
}

// settingNoEffect finds running values that do nothing and were set by somebody.
func settingNoEffect() Rule {
	return Rule{
		ID: "setting-no-effect", Title: "A setting was changed but has no effect", Severity: Info,
		Needs:   []string{"settings|interfaces|links|ifconfig"},
		Because: "The release accepts the value and ignores it, or another setting overrides it.",
		Check:   func(in Input) []Finding { return judged(in, "no-effect") },
		Fires:   linuxExample("sysctl -a", "net.ipv4.tcp_low_latency = 1\n"),
		Quiet:   linuxExample("sysctl -a", "net.ipv4.tcp_low_latency = 0\n"),
	}
}

// judged applies the catalog's judgements of one code to every setting that was read and differs from its default, as
// lint does to the lines of a file. A release that is not known is stood for by the newest and the oldest one that the
// catalog describes, and both must agree.
func judged(in Input, code string) (out []Finding) {
	f, c := in.Facts, in.Catalog
	versions := releases(f)
	byReason := map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(f.Settings)) {
		s := f.Settings[name]
		base, iface, _ := strings.Cut(name, "@")
		r, ok := c.Lookup(f.System, base)
		if s.State != facts.Read || !ok || fixed(f, base, iface) {
			continue
		}
		v := verdictOf(r, s.Value, code, versions, in)
		if v == nil {
			continue
		}
		if i, again := byReason[v.because]; again && (out[i].Subject == base || iface != "") {
			out[i].Evidence = append(out[i].Evidence, s.Source)
			continue
		}
		byReason[v.because] = len(out)
		subject, shown := base, name
		if _, option, ok := strings.Cut(base, "/"); ok && iface != "" && !strings.HasPrefix(name, "/") {
			subject, shown = iface, option
		}
		found := with(v.severity, one(subject, []facts.Source{s.Source}, "%s = %s%s", shown, s.Value, v.where))
		found[0].Because = v.because
		found[0].Fix = []Fix{{Setting: base, Interface: iface, Value: v.normal}}
		if v.normal == "" && !strings.HasPrefix(name, "/") {
			found[0].Fix = []Fix{{Action: "remove the line that sets " + shown + ", so that the system's default applies"}}
		}
		out = append(out, found...)
	}
	return out
}

// fixed reports whether an offload is one that its driver does not let anybody change, or the card has no more queues.
func fixed(f *facts.Facts, base, iface string) bool {
	n := f.NIC(iface)
	if n == nil {
		return false
	}
	name, offload := strings.CutPrefix(base, "ethtool:features/")
	return offload && n.Features[name].Fixed || base == "ethtool:channels/combined" && n.Queues.MaxCombined == 1
}

// releases are the host's own, or the newest and the oldest one of the catalog.
func releases(f *facts.Facts) []catalog.Version {
	if v, err := catalog.ParseVersion(f.Release); err == nil && v != "" {
		return []catalog.Version{v}
	}
	oldest, newest := catalog.Supported(f.System)
	return []catalog.Version{newest, oldest}
}

// settingVerdict is what the catalog says of a running value.
type settingVerdict struct {
	severity               Severity
	because, where, normal string
}

// verdictOf judges a value in every release; nil when one of them has nothing against it.
func verdictOf(r *catalog.Record, value, code string, versions []catalog.Version, in Input) (v *settingVerdict) {
	for _, version := range versions {
		r := r.In(version)
		def, _ := r.DefaultIn(version)
		if strings.Join(strings.Fields(def.Value), " ") == value {
			return nil
		}
		switch r.StateIn(version) {
		case catalog.Inactive:
			if code != "no-effect" || def.Value == "" || def.Value == "unknown" || def.Value == "computed" {
				return nil
			}
			because := r.Became
			if because == "" {
				because = r.Does
			}
			v = &settingVerdict{Info, because, " is ignored by this release", def.Value}
			continue
		case catalog.Gone, catalog.NotYet: // a release that its distribution changed: it is there
		}
		if v = judgement(r, value, code, version, in); v == nil {
			return nil
		}
		v.normal = ""
		if def.Value != "unknown" && def.Value != "computed" {
			v.normal = def.Value
		}
	}
	return v
}

// judgement returns the first judgement of the code that holds. One that depends on a role that nobody declared is an
// info that names the roles.
func judgement(r *catalog.Record, value, code string, version catalog.Version, in Input) *settingVerdict {
	if r.Combine == "and" {
		return nil // one interface's value says nothing by itself
	}
	inputs, ok := settingInputs(r, value, version, in)
	if !ok || computedDefault(r, version, inputs) {
		return nil
	}
	for _, j := range r.Judge {
		if j.Code != code {
			continue
		}
		severity := Severity(j.Severity)
		switch {
		case code == "no-effect":
			severity = Info
		case severity != Info && aboutNetwork(r.Name):
			severity = Warning // what is measured comes before what is known of a value
		default:
			severity = Info
		}
		holds, err := r.Holds(j.When, inputs)
		if err == nil && holds {
			return &settingVerdict{severity, j.Because, "", ""}
		}
		if unknown := (*catalog.UnknownInput)(nil); errors.As(err, &unknown) && unknown.Name == "role" &&
			code == "harmful" {
			if roles := holdingRoles(r, j.When, inputs); len(roles) > 0 && !switchesForwarding(r.Name, in.Facts) {
				return &settingVerdict{Info, j.Because, " (for a host of role " + strings.Join(roles, ", ") + ")", ""}
			}
		}
	}
	return nil
}

// switchesForwarding tells the switch that says itself which role the host has: nobody sets it unawares.
func switchesForwarding(name string, f *facts.Facts) bool {
	src, on := forwards(f)
	return on && f.Settings[name].Source == src
}

// aboutNetwork tells whether a setting can slow a path, rather than what else the host does.
func aboutNetwork(name string) bool {
	return !strings.HasPrefix(name, "fs.") && !strings.HasPrefix(name, "kernel.")
}

// computedDefault tells whether the kernel itself may have computed the value: its own formulas count pages that are
// free at the time, those of the catalog all memory.
func computedDefault(r *catalog.Record, version catalog.Version, inputs catalog.Inputs) bool {
	def, _ := r.DefaultIn(version)
	value, number := inputs["value"].(float64)
	standard, known := inputs["standard"].(float64)
	return def.Formula != "" && number && known && value <= standard*1.05 && value >= standard*0.9
}

func holdingRoles(r *catalog.Record, when string, inputs catalog.Inputs) (roles []string) {
	for _, role := range catalog.Roles() {
		with := maps.Clone(inputs)
		with["role"] = role
		if holds, err := r.Holds(when, with); err == nil && holds {
			roles = append(roles, role)
		}
	}
	return roles
}

// settingInputs are what a judgement of a value computes with; false where the value is not of the setting's type.
func settingInputs(r *catalog.Record, value string, version catalog.Version, in Input) (catalog.Inputs, bool) {
	inputs := machineInputs(in)
	inputs["version"] = string(version)
	words := strings.Fields(value)
	var numbers []float64
	for _, w := range words {
		n, err := strconv.ParseFloat(w, 64)
		if err != nil {
			break
		}
		numbers = append(numbers, n)
	}
	switch {
	case len(words) == 0:
		return nil, false
	case r.Type == catalog.TypeString || r.Type == catalog.TypeOpaque || r.Type == catalog.TypeEnum && len(numbers) == 0:
		inputs["value"] = value
	case r.Type == catalog.TypeBool && len(numbers) == 0:
		on, known := map[string]float64{"on": 1, "yes": 1, "off": 0, "no": 0}[value]
		if !known {
			return nil, false
		}
		inputs["value"] = on
	case len(numbers) != len(words):
		return nil, false
	default:
		inputs["value"] = numbers[0]
		if len(numbers) > 3 {
			inputs["fourth"] = numbers[3]
		}
		if len(numbers) == 3 {
			inputs["low"], inputs["mid"], inputs["high"] = numbers[0], numbers[1], numbers[2]
		}
	}
	if def, ok := r.DefaultIn(version); ok {
		text := def.Value
		if def.Formula != "" {
			if result, err := r.Eval(def.Formula, inputs); err == nil {
				text = result.Text()
			}
		}
		if words := strings.Fields(text); len(words) > 0 {
			if n, err := strconv.ParseFloat(words[len(words)-1], 64); err == nil {
				inputs["standard"] = n
			}
		}
	}
	return inputs, true
}

// machineInputs are the quantities of machine, path and role by the names of the catalog's formulas.
func machineInputs(in Input) catalog.Inputs {
	f, p := in.Facts, in.Path
	inputs := catalog.Inputs{}
	for name, v := range map[string]float64{"memory": float64(f.Memory), "page": float64(f.PageSize),
		"cores": float64(f.Cores), "rate": float64(p.Rate), "rtt": p.RTT.Seconds(), "mtu": float64(p.MTU)} {
		if v > 0 {
			inputs[name] = v
		}
	}
	if p.Rate > 0 && p.RTT > 0 {
		inputs["bdp"], inputs["loss"] = float64(p.Rate)*p.RTT.Seconds()/8, p.Loss
		inputs["mss"] = float64(p.MSS())
	}
	if n := f.Outlet(); n != nil {
		if n.Speed > 0 {
			inputs["nic_rate"] = float64(n.Speed)
		}
		if n.Driver != "" {
			inputs["driver"] = n.Driver
		}
	}
	if in.Role != "" {
		inputs["role"] = in.Role
	} else if _, on := reallyForwards(f, ""); on {
		inputs["role"] = "router"
	}
	return inputs
}
