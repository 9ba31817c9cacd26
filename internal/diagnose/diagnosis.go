package diagnose

import (
	"fmt"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/netpath"
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
	Measured     *Traffic       `json:"measured"`
	Findings     []Finding      `json:"problems"`
	NotEvaluated []NotEvaluated `json:"not_evaluated"`
}

// PathValues is a path: its rate in bit/s, its round-trip time in milliseconds.
type PathValues struct {
	Rate float64 `json:"rate_bps"`
	RTT  float64 `json:"rtt_ms"` // milliseconds
	Loss float64 `json:"loss"`
	MTU  int     `json:"mtu_bytes"`
}

// Traffic is what crossed an interface over the window.
type Traffic struct {
	Interface string  `json:"interface"`
	Sent      float64 `json:"sent_bps"`
	Received  float64 `json:"received_bps"`
}

// Diagnose judges a host, as both ends of the path or, with a peer, as its
// sender. A zero path is one that nobody declared.
func Diagnose(f, peer *facts.Facts, path netpath.Path, role string) Diagnosis {
	receiver := peer
	if receiver == nil {
		receiver = f
	}
	d := Diagnosis{Schema: 2, Host: f.Host, Facts: f, Ceilings: ceilings(path, f, receiver, role)}
	if path.Rate > 0 {
		d.Path = &PathValues{float64(path.Rate), 1000 * path.RTT.Seconds(), path.Loss, path.MTU}
	}
	if b, ok := Binding(d.Ceilings); ok {
		d.Binding = &b.Resource
	}
	d.Findings, d.NotEvaluated = Evaluate(Input{Facts: f, Path: path, Role: role})
	for i := range d.Findings {
		evidence := d.Findings[i].Evidence
		for j := range evidence {
			evidence[j] = f.Posted(evidence[j])
		}
	}
	d.Measured = traffic(f)
	d.Verdict = d.verdict()
	return d
}

// verdict names the first finding that matters; without one, what binds and
// whether a setting can move it.
func (d Diagnosis) verdict() string {
	b, known := Binding(d.Ceilings)
	lowest := ""
	if known {
		lowest = fmt.Sprintf("the lowest known bound is %s at %s", b.Resource, rate(b.Value))
	}
	if len(d.Findings) > 0 && (d.Findings[0].Severity.AtLeast(Warning) || !known) {
		f := d.Findings[0]
		said := fmt.Sprintf("look first at %s: %s: %s", f.Rule, f.Subject, f.Summary)
		if known {
			said += "; " + lowest
		}
		return said
	}
	if !known {
		return "nothing wrong was found in what could be read; what bounds the rate is not known"
	}
	said := "nothing wrong was found in what could be read; " + lowest
	setting, _ := b.Inputs["setting"].(string)
	switch {
	case b.Resource == "link" || b.Resource == "bus" || b.Resource == "disk":
		return said + ": no setting will raise it, a faster " + b.Resource + " would"
	case b.Resource == "loss-response":
		return said + ": cure the loss, or choose a congestion control that bears it"
	case setting != "":
		return said + ": " + plainSetting(setting) + " sets it"
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

// next is the command to type after this one.
func (d Diagnosis) next() string {
	name := d.Host
	if strings.ContainsAny(name, " '\"$") {
		name = "HOST"
	}
	switch {
	case d.Path == nil:
		return "wirerate inspect " + name + " --path rate=1gbit,rtt=20ms    (your path's rate and round trip)"
	case d.Facts.Window == 0 && !d.Recorded:
		return "wirerate inspect " + name + " --for 5s    (while it is slow: counters become rates)"
	}
	for _, f := range d.Findings {
		for _, fix := range f.Fix {
			if fix.Setting != "" && !strings.ContainsAny(fix.Setting, "*'\" ") {
				return "wirerate explain " + fix.Setting
			}
		}
	}
	p := netpath.Path{Rate: units.Rate(d.Path.Rate), MTU: d.Path.MTU}
	return "wirerate plan " + name + " --path rate=" + p.Rate.String() + ",rtt=... --role bulk"
}
