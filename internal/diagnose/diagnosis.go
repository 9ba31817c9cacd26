package diagnose

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/netpath"
	"github.com/wirerate/wirerate/internal/shell"
	"github.com/wirerate/wirerate/internal/units"
)

// Diagnosis is everything that inspect says of a host.
type Diagnosis struct {
	Schema   int          `json:"schema"`
	Host     string       `json:"host"`
	Facts    *facts.Facts `json:"facts"`
	Path     *PathValues  `json:"path"` // null when not declared
	Ceilings []Ceiling    `json:"ceilings"`
	// Binding is the resource of the lowest goodput ceiling, null when none
	// is known.
	Binding *string `json:"binding"`
	// Verdict says in one sentence what limits, and whether a setting helps.
	Verdict string `json:"conclusion"`
	// Recorded says that the facts are of a capture: it cannot be observed
	// any longer.
	Recorded bool `json:"recorded"`
	// Measured is the traffic of the window, null without one.
	Measured *Traffic `json:"measured"`
	// Next is the command to type after this one.
	Next         string         `json:"next"`
	Findings     []Finding      `json:"problems"`
	NotEvaluated []NotEvaluated `json:"not_evaluated"`
	// Negligible are losses that were seen and are too small to matter.
	Negligible []Negligible `json:"negligible"`
	// Unread is what was posted and not understood: the verdict is not about it.
	Unread []facts.Unread `json:"unread"`

	peer     string // the other end's name, empty without one
	role     string
	nextNote string // when to type Next
}

// PathValues is a path: its rate in bit/s, its round-trip time in milliseconds.
type PathValues struct {
	Rate float64 `json:"rate_bps"`
	RTT  float64 `json:"rtt_ms"` // milliseconds
	Loss float64 `json:"loss"`
	MTU  int     `json:"mtu_bytes"`
	// From says where it was found where nobody declared it.
	From string `json:"from,omitempty"`
}

// Traffic is what crossed an interface over the window.
type Traffic struct {
	Interface string  `json:"interface"`
	Sent      float64 `json:"sent_bps"`
	Received  float64 `json:"received_bps"`
}

// Question is what is asked of a host.
type Question struct {
	Facts *facts.Facts
	Peer  *facts.Facts // the other end; nil: the host is judged as both ends
	// Beside are hosts that were read with this one.
	Beside []*facts.Facts
	Path   netpath.Path // zero: nobody declared it
	Role   string       // empty: nobody declared it
	// Recorded says that the facts are of a file.
	Recorded bool
	// Proposed are the values of a plan for the path and the role, by setting, or by setting@interface.
	Proposed map[string]string
	// ProposedFor says what the path and the role were estimated from, where nobody declared them.
	ProposedFor string
	// Written are the lines of configuration files beside the outputs that lint objects to.
	Written []Written
}

// Answer judges a host, as both ends of the path or, with a peer, as its sender.
func (q Question) Answer() Diagnosis {
	f, receiver := q.Facts, q.Peer
	if receiver == nil {
		receiver = f
	}
	told := ""
	if q.Path.Rate == 0 {
		q.Path, told = ToldPath(f)
	}
	d := Diagnosis{Schema: 2, Host: f.Host, Facts: f, Ceilings: ceilings(q.Path, f, receiver, q.Role),
		Recorded: q.Recorded, Unread: unread(f), role: q.Role}
	if q.Peer != nil {
		d.peer = q.Peer.Host
	}
	if q.Path.Rate > 0 {
		d.Path = &PathValues{float64(q.Path.Rate), 1000 * q.Path.RTT.Seconds(), q.Path.Loss, q.Path.MTU, told}
	}
	if b, ok := Binding(d.Ceilings); ok {
		d.Binding = &b.Resource
	}
	d.Findings, d.Negligible, d.NotEvaluated = evaluate(Input{Facts: f, Peer: q.Peer, Beside: q.Beside, Path: q.Path, Role: q.Role, Proposed: q.Proposed,
		ProposedFor: q.ProposedFor, PathFrom: told, Written: q.Written})
	for _, found := range d.Findings {
		posted(f, found.Evidence)
	}
	for _, small := range d.Negligible {
		posted(f, small.Evidence)
	}
	d.Unread = append(d.Unread, warnings(f, d.Findings)...)
	d.Findings = append(d.Findings, q.ofPeer()...)
	slices.SortStableFunc(d.Findings, func(a, b Finding) int { return cmp.Compare(a.rank(), b.rank()) })
	d.Measured = traffic(f)
	d.Verdict = d.verdict()
	d.Next, d.nextNote = d.next()
	return d
}

// posted replaces the lines of outputs by those of the post that held them.
func posted(f *facts.Facts, evidence []facts.Source) {
	for i := range evidence {
		evidence[i] = f.Posted(evidence[i])
	}
}

// ofPeer are the problems of the other end by itself.
func (q Question) ofPeer() (out []Finding) {
	if q.Peer == nil {
		return nil
	}
	all, _ := Evaluate(Input{Facts: q.Peer, Path: q.Path})
	for _, f := range all {
		if !f.Severity.AtLeast(Warning) || f.past || strings.HasPrefix(f.Rule, "setting-") {
			continue
		}
		f.Host = q.Peer.Host
		for i := range f.Evidence {
			f.Evidence[i] = peerSource(q.Peer, f.Evidence[i])
		}
		out = append(out, f)
	}
	return out
}

// unread is what was posted and not understood, and the outputs of known commands that could not be read.
func unread(f *facts.Facts) []facts.Unread {
	all := append([]facts.Unread{}, f.Unread...)
	for _, name := range slices.Sorted(maps.Keys(f.Parts)) {
		if p := f.Parts[name]; p.State == facts.Unparsed || p.State == facts.Read && p.Line > 0 {
			at := f.Posted(facts.Source{From: p.From, Line: p.Line}).Line
			all = append(all, facts.Unread{Line: at, Lines: 1, Command: p.From, Words: p.Because})
		}
	}
	return all
}

// warnings are the lines of a short log that a program calls warnings or errors and no finding is about, where nothing else
// shows a cause.
func warnings(f *facts.Facts, found []Finding) (out []facts.Unread) {
	if slices.ContainsFunc(found, func(o Finding) bool { return o.Severity.AtLeast(Warning) || o.decides }) {
		return nil
	}
	const most = 8
	var lines []facts.Source
	for _, log := range []string{"dmesg", facts.Reports} {
		all := f.Lines(log)
		if len(lines)+len(all) > shortLog {
			return nil
		}
		for i, line := range all {
			if facts.IsWarning(line) {
				lines = append(lines, f.Posted(f.Line(log, i+1)))
			}
		}
	}
	for _, at := range lines[:min(len(lines), most)] {
		if !slices.ContainsFunc(found, func(o Finding) bool { return slices.Contains(o.Evidence, at) }) {
			out = append(out, facts.Unread{Line: at.Line, Lines: 1, Words: facts.MessageOf(at.Text), Because: "no rule covers this message"})
		}
	}
	return out
}

// verdict says what limits, where and how surely: the first finding that matters; without one, that none was found in
// what was read, and what binds.
func (d Diagnosis) verdict() string {
	if len(d.Findings) > 0 && (d.Findings[0].Severity.AtLeast(Warning) || d.Findings[0].decides && !d.Findings[0].past) {
		f := d.Findings[0]
		word := map[Confidence]string{Certain: "cause", Likely: "likely cause", Possible: "possible cause"}[f.Confidence]
		if strings.HasPrefix(f.Rule, "setting-") {
			word = "possible cause" // that it does harm is certain, not that the harm is the one that was noticed
		}
		return fmt.Sprintf("%s: %s: %s", word, f.Rule, f.Said())
	}
	said := "no problem found in what was read"
	if len(d.Unread) > 0 {
		said = "no problem found in the part that was understood; " + d.unreadWords()
	}
	said += tested(d.Facts)
	b, known := Binding(d.Ceilings)
	if !known {
		said += "; the bottleneck is unknown"
	} else {
		said += fmt.Sprintf("; the lowest known limit is %s at %s", limitWords(b), rate(b.Value)) + d.afterLimit(b)
	}
	if i := slices.IndexFunc(d.Findings, ofPath); i >= 0 {
		f := d.Findings[i]
		said += fmt.Sprintf("; worth knowing: %s: %s", f.Rule, f.Said())
	}
	return said
}

// ofPath reports whether a finding is worth a word in the conclusion about a path: the judgement of a setting outside the
// network is not.
func ofPath(f Finding) bool {
	return !strings.HasPrefix(f.Rule, "setting-") || !strings.HasPrefix(f.Subject, "kern") &&
		!strings.HasPrefix(f.Subject, "vm.") && !strings.HasPrefix(f.Subject, "fs.")
}

// tested says what a test reached that shows no problem, and what follows from its losses.
func tested(f *facts.Facts) string {
	if f == nil {
		return ""
	}
	best, at := facts.Transfer{}, 0.0
	for _, tr := range f.Transfers {
		if bps := 8 * tr.Bytes / max(tr.Seconds, 1e-3); tr.Seconds >= 1 && bps > at {
			best, at = tr, bps
		}
	}
	if at == 0 {
		for _, end := range f.TransferEnds {
			if end.Role == "receiver" || end.Role == "total" || end.Role == "" && end.Intervals > 0 && end.Seconds >= 1 {
				at = max(at, float64(end.Rate))
			}
		}
		if len(f.Receipts) == 1 && f.Receipts[0].Seconds >= 1 && at == 0 {
			at = 8 * f.Receipts[0].Bytes / f.Receipts[0].Seconds
		}
		if at == 0 {
			return testedLine(f)
		}
		return "; a test reached " + rate(at)
	}
	said := "; a test reached " + rate(at)
	if best.Parallel {
		said = "; one stream of a test reached " + rate(at)
	}
	if t, ok := undisturbed(best); ok && t.link() > 0 && best.Intervals >= 3 {
		return fmt.Sprintf("; a test reached %s, the full rate of a %s link", rate(t.rate), t.link())
	}
	if best.Retransmits == 0 {
		if slices.ContainsFunc(f.TransferEnds, func(e facts.TransferEnd) bool { return e.Retransmits > 0 }) {
			return said // in intervals that are not shown
		}
		return said + " without loss"
	}
	return said + " and retransmitted " + percent(againShare(best)) + " again"
}

// testedLine says what a speed test reached.
func testedLine(f *facts.Facts) string {
	for _, s := range f.SpeedTests {
		switch {
		case s.Down > 0 && s.Up > 0:
			return fmt.Sprintf("; a speed test reached %s down and %s up", s.Down, s.Up)
		case s.Down > 0:
			return fmt.Sprintf("; a speed test reached %s down", s.Down)
		}
	}
	return ""
}

// usualAbove is the smallest usual link that carries what the tests reached, as a path says it; a gigabit where there
// are none.
func usualAbove(f *facts.Facts) string {
	most := 0.0
	if f != nil {
		for _, tr := range f.Transfers {
			most = max(most, 8*tr.Bytes/max(tr.Seconds, 1e-3))
		}
		for _, end := range f.TransferEnds {
			most = max(most, float64(end.Rate))
		}
	}
	for _, link := range []int{1, 10, 25, 40} {
		if most <= float64(link)*float64(units.Gbit) {
			return fmt.Sprintf("%dgbit", link)
		}
	}
	return "100gbit"
}

// limitWords names a resource as people speak of it.
func limitWords(c Ceiling) string {
	if setting, _ := c.Inputs["setting"].(string); setting != "" {
		return "the " + strings.ReplaceAll(c.Resource, "-", " ") + " (" + plainSetting(setting) + ")"
	}
	return "the " + strings.ReplaceAll(c.Resource, "-", " ")
}

// afterLimit says what would raise the lowest limit. That nothing but faster hardware would is said only where the
// limits beside it are known.
func (d Diagnosis) afterLimit(b Ceiling) string {
	setting, _ := b.Inputs["setting"].(string)
	switch {
	case setting != "":
		return ""
	case b.Resource == "loss-response":
		return ": find the source of the loss, or use a congestion control that tolerates it (BBR)"
	case b.Resource != "link" && b.Resource != "bus" && b.Resource != "disk":
		return ""
	}
	var unknown []string
	for _, c := range d.Ceilings {
		if !c.Known && c.Metric == Goodput && slices.Contains([]string{"bus", "send-window", "receive-window"}, c.Resource) &&
			!slices.Contains(unknown, c.Resource) {
			unknown = append(unknown, c.Resource)
		}
	}
	if len(unknown) > 0 {
		return ", but these are unknown and may be lower: " + strings.Join(unknown, ", ")
	}
	return ": no setting raises it, only a faster " + b.Resource + " does"
}

// unreadWords says which part was not understood.
func (d Diagnosis) unreadWords() string {
	lines := 0
	var what []string
	for _, u := range d.Unread {
		lines += max(1, u.Lines)
		name := cmp.Or(u.Command, u.Words)
		if name != "" && len(what) < 3 && !slices.Contains(what, name) {
			what = append(what, name)
		}
	}
	said := counted(lines, "line") + " not understood"
	if len(what) == 0 {
		return said
	}
	said += ": " + strings.Join(what, "; ")
	if more := len(d.Unread) - len(what); more > 0 {
		said += fmt.Sprintf(" and %d more", more)
	}
	return said
}

// traffic is the busiest interface over the window.
func traffic(f *facts.Facts) *Traffic {
	var best *Traffic
	for i := range f.NICs {
		n := &f.NICs[i]
		sent, received := n.Counters["link.tx_bytes"].Rate, n.Counters["link.rx_bytes"].Rate
		if sent == nil || received == nil || n.Kind == "loopback" || !n.Up {
			continue
		}
		t := Traffic{n.Name, *sent * 8, *received * 8}
		if best == nil || t.Sent+t.Received > best.Sent+best.Received {
			best = &t
		}
	}
	return best
}

// next is the command to type after this one, and when or with what: the plan or the experiment where a cause is found
// that settings cure, else what would tell more.
func (d Diagnosis) next() (command, note string) {
	name := "HOST"
	if d.plannable() {
		name = shell.Word(d.Host)
	}
	cause, found := Finding{}, len(d.Findings) > 0 && d.Findings[0].Severity.AtLeast(Warning)
	if found {
		cause = d.Findings[0]
	}
	cured := slices.ContainsFunc(cause.Fix, func(fix Fix) bool { return fix.Setting != "" })
	path, role, yours := "rate="+usualAbove(d.Facts)+",rtt=20ms", cmp.Or(d.role, "bulk"), "with your path and role"
	if d.Path != nil {
		p := netpath.Path{Rate: units.Rate(d.Path.Rate), RTT: time.Duration(d.Path.RTT * float64(time.Millisecond)),
			Loss: d.Path.Loss, MTU: d.Path.MTU}
		path, yours = p.String(), "with your role"
	}
	if d.Path != nil && d.role != "" {
		yours = ""
	}
	plan := "wirerate plan " + name + " --path " + path + " --role " + role
	watch := "wirerate inspect " + name + " --for 5s"
	switch {
	case slices.ContainsFunc(d.Findings[:min(1, len(d.Findings))], func(f Finding) bool { return f.Rule == inFile }):
		return "wirerate lint " + shell.Word(d.Host), "to check every line of the configuration"
	case cured && d.peer != "" && !d.Recorded:
		return "wirerate tune " + name + " --peer " + shell.Word(d.peer) + " --role " + role, ""
	case cured:
		return plan, yours
	case found && !d.Recorded:
		return watch, "after the change, to check whether it still grows"
	case found:
		return "wirerate inspect HOST --for 5s", "on the live host, after the change, to check whether it still " +
			"grows"
	case d.Facts.Requested > 0:
		return "wirerate weblog access.log", "on the server's whole access log: errors and times of each URL"
	case d.Path == nil:
		return "wirerate inspect " + d.quoted() + " --path " + path, "with your path's rate and round-trip time"
	case d.Facts.Window == 0 && !d.Recorded:
		return watch, "while it is slow, to turn counters into rates"
	}
	return plan, yours
}

// plannable reports whether plan takes this host: a live one or a capture, and not a post, of which too little is
// known.
func (d Diagnosis) plannable() bool {
	return !d.Recorded || d.Facts.Memory > 0 && d.Host != facts.StandardInput
}

// quoted is the host as a shell takes it.
func (d Diagnosis) quoted() string {
	switch {
	case d.Recorded && d.Host == facts.StandardInput:
		return "--from -"
	case d.Recorded:
		return "--from " + shell.Word(d.Host)
	}
	return shell.Word(d.Host)
}
