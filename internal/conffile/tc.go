package conffile

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/spelling"
)

// tcCommand reads tc qdisc add, change, replace: the queueing discipline of an
// interface's root, ingress or clsact hook, or of a class, and its parameters.
func (s *scanner) tcCommand(words []word, base Entry) {
	if len(words) > 4 {
		s.tree.command(s, words)
	}
	if len(words) > 4 && words[0].text == "class" {
		s.tcClass(words[1:], base)
	}
	if len(words) > 4 && words[0].text == "filter" {
		s.tcPolice(words[1:], base)
		s.tcPortMask(words)
		s.marks.filter(s, words)
	}
	if len(words) < 4 || words[0].text == "" || !strings.HasPrefix("qdisc", words[0].text) {
		return
	}
	switch words[1].text {
	case "add", "change", "replace":
	default:
		return
	}
	root, leaf := s.tcPlace(words, &base)
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
		if s.foreignParameter(words[1].text, w.text, words[i+1:]) {
			return
		}
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

// tcPlace finds the word that says where a discipline goes, its interface, and whether it goes below a class.
func (s *scanner) tcPlace(words []word, base *Entry) (root int, leaf bool) {
	root = -1
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
	return root, leaf
}

// qdiscOwn are the parameters of disciplines, by the usage that tc of iproute2 6.1 prints.
var qdiscOwn = map[string]string{
	"htb": "default r2q debug direct_qlen offload", "hfsc": "default", "prio": "bands priomap multiqueue", "pfifo": "limit", "bfifo": "limit",
	"fq_codel": "limit flows memory_limit target interval quantum ecn noecn ce_threshold ce_threshold_selector drop_batch",
	"codel":    "limit target interval ecn noecn ce_threshold",
	"sfq":      "limit perturb quantum divisor flows depth headdrop redflowlimit min max avpkt burst probability ecn harddrop",
	"fq": "limit flow_limit buckets quantum initial_quantum maxrate low_rate_threshold refill_delay orphan_mask pacing nopacing " +
		"timer_slack ce_threshold horizon horizon_drop horizon_cap bands priomap weights defrate",
	"netem": "limit delay latency loss drop corrupt ecn duplicate reorder rate gap slot distribution seed",
	"cake":  "bandwidth rtt flows overhead mpu memlimit fwmark",
	"red":   "limit min max avpkt burst probability adaptive bandwidth ecn harddrop",
	"pie":   "target limit tupdate alpha beta bytemode ecn dq_rate_estimator",
	"tbf":   "limit burst buffer maxburst rate mtu minburst peakrate latency overhead mpu linklayer",
}

// parameterWords are parameters of some discipline or class that no discipline takes as the value of another one.
var parameterWords = strings.Fields("rate ceil burst default bandwidth bands delay loss limit target interval flows latency maxrate r2q perturb")

// foreignParameter rejects a parameter that a discipline does not have, which its classes or another one may, and a tbf
// without one that it needs.
func (s *scanner) foreignParameter(verb, kind string, words []word) bool {
	own := strings.Fields(qdiscOwn[kind])
	if len(own) == 0 {
		return false
	}
	hidden := slices.ContainsFunc(words, func(w word) bool { return w.expands })
	has := func(names ...string) bool {
		return slices.ContainsFunc(words, func(w word) bool { return slices.Contains(names, w.text) })
	}
	for _, w := range words {
		if w.quoted || !slices.Contains(parameterWords, w.text) || slices.Contains(own, w.text) {
			continue
		}
		reason := kind + " has no parameter " + w.text
		if (kind == "htb" || kind == "hfsc") && w.text != "limit" {
			reason = "the discipline " + kind + " takes no " + w.text + ", its classes do: tc class add dev DEV parent 1: classid 1:1 " + kind + " " + w.text + " …"
		}
		s.reject(w.line, w.span, reason)
		return true
	}
	if kind != "tbf" || hidden || len(words) == 0 || verb == "change" {
		return false
	}
	last := words[len(words)-1]
	span := Span{words[0].span.Start, last.span.End}
	switch {
	case !has("rate"):
		s.reject(last.line, span, "tbf needs a rate")
	case !has("burst", "buffer", "maxburst"):
		s.reject(last.line, span, "tbf needs burst, the size of its bucket in bytes")
	case !has("limit", "latency"):
		s.reject(last.line, span, "tbf needs latency or limit, the length of its queue")
	default:
		return false
	}
	return true
}

// fwMarks are filters by the mark of a packet, on devices to which an ingress hook redirects.
type fwMarks struct {
	filters  []word          // the word fw, with its device as text
	from     map[string]bool // devices to which packets are redirected
	restored bool            // an action gives packets a mark before that

	set    []word          // marks that rules of iptables set, as numbers
	taken  map[string]bool // marks of filters
	hidden bool            // of either not all are known
}

// maxMarks bounds the filters that are kept.
const maxMarks = 200

// filter remembers a command tc filter.
func (m *fwMarks) filter(s *scanner, words []word) {
	device, ingress := "", false
	for i, w := range words {
		next := word{}
		if i+1 < len(words) {
			next = words[i+1]
		}
		switch w.text {
		case "dev":
			if device == "" {
				device = s.ifaceOf(next)
			} else if ingress && device != "*" && !next.expands && len(m.from) < maxMarks {
				keep(&m.from, next.text, true)
			}
		case "ingress":
			ingress = true
		case "parent":
			ingress = ingress || next.text == "ffff:" || next.text == "ffff:0"
		case "connmark", "ctinfo", "skbedit", "xt", "ct", "ipt", "bpf", "continue":
			m.restored = true
		case "handle":
			if slices.ContainsFunc(words, func(w word) bool { return w.text == "fw" }) {
				keep(&m.taken, m.number(next), true)
			}
		case "fw":
			if device != "*" && device != "" && len(m.filters) < maxMarks {
				w.text = device
				m.filters = append(m.filters, w)
			}
		}
	}
}

// number is a mark in one form.
func (m *fwMarks) number(w word) string {
	v, err := strconv.ParseUint(w.text, 0, 32)
	m.hidden = m.hidden || err != nil || w.expands
	return strconv.FormatUint(v, 10)
}

// rule remembers the mark that a rule of iptables sets.
func (m *fwMarks) rule(r *iptRule) {
	w := r.option("--set-mark", "--set-xmark")
	if r.target != "MARK" || r.operation != "-A" && r.operation != "-I" || w.text == "" {
		return
	}
	w.text = m.number(w)
	if m.hidden = m.hidden || len(m.set) >= maxMarks; !m.hidden {
		m.set = append(m.set, w)
	}
}

// otherMarks are words of a text in which marks serve for something else than filters by their whole value.
var otherMarks = []string{"fwmark", "--mark", "match mark", "meta mark", "-set-xmark 0x0", " mask ", "--or-mark", "--and-mark"}

// untaken tells a mark that no filter takes, where there are filters for others.
func (m *fwMarks) untaken(s *scanner) {
	has := func(w word) bool { return m.taken[w.text] }
	if m.hidden || !slices.ContainsFunc(m.set, has) || s.stopped || len(s.src) > maxSearched ||
		slices.ContainsFunc(otherMarks, func(w string) bool { return strings.Contains(s.src, w) }) {
		return
	}
	for _, w := range m.set {
		if !has(w) {
			s.rejected(Reject{Line: w.line, Span: w.span, Idle: true, Reason: "no filter of tc takes the mark " + w.text,
				Because: "Packets with it go where those without a mark go; a filter takes it by handle " + w.text + " fw."})
		}
	}
}

// conclude tells filters by a mark that no packet has yet.
func (m *fwMarks) conclude(s *scanner) {
	m.untaken(s)
	for _, w := range m.filters {
		if m.restored || !m.from[w.text] || s.stopped {
			continue
		}
		s.rejected(Reject{Line: w.line, Span: w.span, Idle: true,
			Reason: "packets on " + w.text + " have no firewall mark yet: they come from the ingress hook, which is before iptables and nftables",
			Because: "Match addresses and ports there (u32, flower), or give packets the mark of their connection before they are redirected: " +
				"action connmark (tc-connmark(8))."})
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
			s.pairs(words[i:i+2], base, func(string) string { return "tc:class" })
		case "parent":
			s.pairs(words[i:i+2], base, func(string) string { return "tc:parent" })
			if _, minor, _ := strings.Cut(words[i+1].text, ":"); strings.Trim(minor, "0") == "" && !words[i+1].expands {
				base.Flags |= Top
			}
		case "root":
			base.Flags |= Top
			i--
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
