package lint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/conffile"
	"github.com/wirerate/wirerate/internal/regexp"
)

// memberName finds the number of a triple that a condition is about first.
var memberName = regexp.MustCompile(`\b(low|mid|high)\b`)

// memberMessage is the headline of a triple of which one number is below the default's;
// "" for others.
func (k *checker) memberMessage(r *catalog.Record, j catalog.Judgement, e conffile.Entry, v reading,
	version catalog.Version, in catalog.Inputs) string {
	if r.Type != catalog.TypeTriple || j.Code != "below-default" || len(v.numbers) != 3 {
		return ""
	}
	member := slices.Index([]string{"low", "mid", "high"}, memberName.FindString(j.When))
	normal := k.defaultWords(r, version, in)
	if member < 0 || len(normal) != 3 {
		return ""
	}
	return fmt.Sprintf("%s = %s: its %s number is below the default of %s %s, %s", e.Name, e.Value,
		[]string{"first", "second", "third"}[member], k.system.Title(), version, normal[member])
}

// defaultText writes a default for people: as the system prints it where the
// catalog has that, since a float64 cannot hold every 64-bit number.
func defaultText(r *catalog.Record, normal float64, hasStandard bool, version catalog.Version) string {
	d, ok := r.DefaultIn(version)
	if !hasStandard {
		if ok && r.Type == catalog.TypeBool && (d.Value == "on" || d.Value == "off") {
			return d.Value // a switch of ethtool or of a .link file
		}
		return ""
	}
	if ok {
		if n, isNumber := lastNumber(d.Value); isNumber && n == normal {
			return d.Value
		}
	}
	return fmt.Sprintf("%.0f", normal)
}

// valueMessage is the headline of a judgement; because says the rest.
func (k *checker) valueMessage(code string, e conffile.Entry, normal string, version catalog.Version) string {
	value := e.Value
	if len(value) > 60 {
		value = value[:60] + "…"
	}
	setting := e.Name + " = " + value
	switch {
	case e.Name == "pf:rule/neighbours":
		return "this rule also blocks IPv6 neighbour discovery"
	case strings.HasPrefix(e.Name, "pf:rule/"):
		setting = strconv.Quote(e.Key)
	case strings.HasPrefix(e.Name, "link-file:"):
		setting = e.Key + " = " + value
	}
	if strings.Contains(e.Name, ":") && e.Iface != "" && e.Iface != "*" {
		setting += " for " + e.Iface
	}
	switch code {
	case "below-default":
		if normal != "" {
			return fmt.Sprintf("%s is below the default of %s %s, %s", setting, k.system.Title(), version, normal)
		}
		return setting + " is below the default"
	case "wrong-unit":
		return setting + " is in the wrong unit" + better(normal)
	case "weakens-security":
		return setting + " weakens the system's security"
	case "no-effect":
		return setting + " does not have the effect that it is set for"
	case "out-of-range":
		return setting + " is out of range"
	case "conflict":
		return setting + " conflicts with another setting"
	case "needs":
		return setting + " needs something else first"
	}
	return setting + " is harmful" + better(normal)
}

// better names the default as the value to write instead, where it is known.
func better(normal string) string {
	if normal == "" {
		return ""
	}
	return "; the default is " + normal
}
