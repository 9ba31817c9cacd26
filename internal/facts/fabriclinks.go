package facts

import (
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/units"
)

// FabricLink is a port of an InfiniBand card, or one that iblinkinfo shows, with what it could be.
type FabricLink struct {
	Name string `json:"name"`
	// Card is the card's type, such as MT4099; Lanes, Rate and State are those of the port, State and Physical in lower case.
	Card     string     `json:"card,omitempty"`
	Rate     units.Rate `json:"rate_bps,omitempty"`
	Lanes    int        `json:"lanes,omitempty"`
	State    string     `json:"state,omitempty"`
	Physical string     `json:"physical_state,omitempty"`
	// Layer is infiniband or ethernet, where it is shown.
	Layer string `json:"link_layer,omitempty"`
	// Could is what both ends could run, where that is more.
	Could  string `json:"could_be,omitempty"`
	Source Source `json:"source"` // that of the rate
	Shown  Source `json:"shown"`  // that of the state
}

// ibstat ("CA 'mlx4_0'", "Port 1:", "Rate: 40"), ibstatus ("Infiniband device 'mlx4_0' port 1 status:", "rate: 40 Gb/sec (4X
// QDR)") and iblinkinfo of infiniband-diags.
var (
	fabricCard  = regexp.MustCompile(`^CA '([\w.-]+)'$`)
	fabricCardN = regexp.MustCompile(`^\s+CA type: (MT\d+)`)
	fabricPortN = regexp.MustCompile(`^\s+Port (\d+):$`)
	fabricDev   = regexp.MustCompile(`^Infiniband device '([\w.-]+)' port (\d+) status:`)
	fabricRate  = regexp.MustCompile(`^\s+[Rr]ate:\s+(\d{1,4})(?:\.\d+)?(?: Gb/sec \((\d{1,2})X \w+\))?\s*$`)
	fabricState = regexp.MustCompile(`^\s+([Ss]tate|[Pp]hys(?:ical)? state|[Ll]ink[ _]layer):\s+(?:\d+: )?(\w+)`)
	fabricWidth = regexp.MustCompile(`==\( *(\d{1,2})X +[0-9.]+ Gbps +(\w+)/ *(\w+)\)==>`)
	fabricCould = regexp.MustCompile(`==>.*?(?:"([^"]{1,64})".*)?\( ?Could be ([^)]{1,40}?) ?\)`)
	// FabricLinkForm begins the output of a port.
	FabricLinkForm = regexp.AnyOf(fabricCard, fabricDev, fabricWidth)
)

// readFabricLinks reads them.
func (f *Facts) readFabricLinks(t text) error {
	card, kind := "", ""
	var l *FabricLink
	begin := func(name string) {
		if l = nil; len(f.FabricLinks) < rowLimit {
			f.FabricLinks = append(f.FabricLinks, FabricLink{Name: name, Card: kind})
			l = &f.FabricLinks[len(f.FabricLinks)-1]
		}
	}
	for i, line := range t.lines() {
		if len(line) > 1024 {
			continue
		}
		at := func() Source { return f.Line(t.from, i+1) }
		if m := fabricCard.FindStringSubmatch(line); m != nil {
			card, kind, l = m[1], "", nil
		} else if m := fabricCardN.FindStringSubmatch(line); m != nil {
			kind = m[1]
		} else if m := fabricPortN.FindStringSubmatch(line); m != nil {
			begin(strings.TrimSpace(card + " port " + m[1]))
		} else if m := fabricDev.FindStringSubmatch(line); m != nil {
			begin(m[1] + " port " + m[2])
		} else if m := fabricWidth.FindStringSubmatch(line); m != nil {
			could := fabricCould.FindStringSubmatch(line)
			if could == nil {
				continue
			}
			if begin("link to " + strings.TrimSpace(could[1])); l != nil {
				l.Lanes, l.State, l.Physical, l.Could, l.Source = smallNumber(m[1]), strings.ToLower(m[2]), strings.ToLower(m[3]), could[2], at()
			}
		} else if m := fabricRate.FindStringSubmatch(line); m != nil && l != nil {
			l.Rate, l.Lanes, l.Source = units.Rate(smallNumber(m[1]))*units.Gbit, smallNumber(m[2]), at()
		} else if m := fabricState.FindStringSubmatch(line); m != nil && l != nil {
			switch word := strings.ToLower(m[2]); m[1][0] | 0x20 {
			case 's':
				l.State, l.Shown = word, at()
			case 'p':
				l.Physical = word
			default:
				l.Layer = word
			}
		}
	}
	return nothingUnless(len(f.FabricLinks) > 0)
}
