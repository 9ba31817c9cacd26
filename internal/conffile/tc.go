package conffile

import (
	"maps"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/spelling"
)

// tcCommand reads tc qdisc add, change, replace: the queueing discipline of an
// interface's root, ingress or clsact hook, or of a class, and its parameters.
func (s *scanner) tcCommand(words []word, base Entry) {
	if len(words) > 4 && words[0].text == "class" {
		s.tcClass(words[1:], base)
	}
	if len(words) > 4 && words[0].text == "filter" {
		s.tcPolice(words[1:], base)
	}
	if len(words) < 4 || words[0].text == "" || !strings.HasPrefix("qdisc", words[0].text) {
		return
	}
	switch words[1].text {
	case "add", "change", "replace":
	default:
		return
	}
	root, leaf := -1, false
	for i := 2; i < len(words); i++ {
		switch words[i].text {
		case "dev":
			if i+1 < len(words) {
				base.Iface = s.ifaceOf(words[i+1])
			}
		case "root":
			root = i
		case "handle":
			i++
		case "parent":
			root, leaf = i+1, true
			i++
		}
	}
	if root < 0 {
		return
	}
	for i := root + 1; i < len(words); i++ {
		if words[i].text == "handle" || words[i].text == "dev" || words[i].text == "estimator" {
			i++
			continue
		}
		w := words[i]
		e := base
		e.Key, e.Name, e.Value, e.Line = "root", "tc:qdisc", w.text, w.line
		if leaf {
			e.Key, e.Name = "parent", "tc:leaf"
		}
		e.KeySpan, e.ValueSpan = words[min(root, i-1)].span, w.span
		if w.expands {
			e.Flags |= Expands
		}
		s.emit(e)
		s.misspeltParameters(words[i+1:])
		s.pairs(words[i+1:], base, func(k string) string {
			if leaf && !leafRates[k] {
				return "" // short queues are usual there
			}
			if qdiscParameters[k] || k == "default" && w.text == "htb" {
				return "tc:" + w.text + "/" + k
			}
			return ""
		})
		return
	}
}

// leafRates are the parameters of a discipline under a class that are judged as at the root.
var leafRates = map[string]bool{"rate": true, "burst": true, "maxrate": true, "bandwidth": true}

// misspeltParameters rejects words of a queueing discipline that are a slip from a parameter.
func (s *scanner) misspeltParameters(words []word) {
	for _, w := range words {
		if len(w.text) < 5 || w.quoted || w.expands || qdiscParameters[w.text] {
			continue
		}
		for _, known := range slices.Sorted(maps.Keys(qdiscParameters)) {
			if len(known) > 4 && spelling.Slip(w.text, known) {
				s.reject(w.line, w.span, "tc knows no "+w.text+"; did you mean "+known+"?")
				break
			}
		}
	}
}

// tcPolice reads the rate that a filter holds packets to.
func (s *scanner) tcPolice(words []word, base Entry) {
	at := slices.IndexFunc(words, func(w word) bool { return w.text == "police" })
	if at < 0 {
		return
	}
	for i, w := range words[:at] {
		if w.text == "dev" {
			base.Iface = s.ifaceOf(words[i+1])
		}
	}
	s.pairs(words[at+1:], base, func(k string) string {
		if k == "rate" {
			return "tc:police/rate"
		}
		return ""
	})
}

// tcClass reads tc class add, change, replace: the class, and its rates.
func (s *scanner) tcClass(words []word, base Entry) {
	switch words[0].text {
	case "add", "change", "replace":
	default:
		return
	}
	kind := ""
	for i := 1; i+1 < len(words); i++ {
		switch words[i].text {
		case "dev":
			base.Iface = s.ifaceOf(words[i+1])
		case "classid":
			e := base
			e.Key, e.Name, e.Value, e.Line = "classid", "tc:class", words[i+1].text, words[i].line
			e.KeySpan, e.ValueSpan = words[i].span, words[i+1].span
			if words[i+1].expands {
				e.Flags |= Expands
			}
			s.emit(e)
		case "parent":
		default:
			kind = words[i].text
			s.pairs(words[i+1:], base, func(k string) string {
				if k == "rate" || k == "ceil" {
					return "tc:" + kind + "/" + k
				}
				return ""
			})
			return
		}
		i++
	}
}

// qdiscParameters are parameters of fq, fq_codel, cake, tbf, netem and pfifo
// that take one value.
var qdiscParameters = map[string]bool{"limit": true, "flow_limit": true, "quantum": true, "initial_quantum": true,
	"maxrate": true, "rate": true, "burst": true, "latency": true, "target": true, "interval": true, "flows": true,
	"memory_limit": true, "bandwidth": true, "rtt": true, "ce_threshold": true, "buckets": true, "delay": true, "loss": true}
