package facts

import (
	"cmp"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/units"
)

// lshw names the output, lshwLink finds the interfaces in it.
const lshw = "lshw -C network"

var lshwLink = regexp.MustCompile(`^\s+logical name: (\S+)\s*$`)

// lshwSpeed is a rate as lshw prints it: 100Mbit/s, 1Gbit/s.
func lshwSpeed(s string) units.Rate {
	v, err := units.ParseRate(strings.ToLower(strings.TrimSuffix(s, "/s")))
	if err != nil || v <= 0 || v > 10*units.Tbit {
		return 0
	}
	return v
}

// readLshw reads lshw -C network (lshw src/core/hw.cc, print.cc): blocks that begin with *-network, of "name: value";
// size is the speed of the link, capacity that of the card, the configuration has its duplex, driver and state.
func (f *Facts) readLshw(t text) error {
	found := false
	var n *NIC
	var size, capacity units.Rate
	var sizeAt Source
	for i, line := range t.lines() {
		name, value, ok := strings.Cut(strings.TrimSpace(line), ": ")
		src := func() Source { return f.Line(t.from, i+1) }
		switch {
		case strings.HasPrefix(strings.TrimSpace(line), "*-"):
			n, size, capacity = nil, 0, 0
		case !ok:
		case name == "logical name":
			n = f.NIC(value)
		case n == nil:
		case name == "size":
			size, sizeAt = lshwSpeed(value), src()
		case name == "capacity":
			capacity = lshwSpeed(value)
		case name == "capabilities":
			capacity = max(capacity, fastestCapability(value))
		case name == "configuration":
			found = true
			n.configured(value, src())
			if n.Speed = max(n.Speed, size); size > 0 {
				n.show("speed_bps", sizeAt)
			}
			n.Fastest = max(n.Fastest, capacity)
		}
	}
	return nothingUnless(found)
}

// fastestCapability is the fastest mode in lshw's capabilities: 1000bt-fd.
func fastestCapability(s string) (best units.Rate) {
	for _, w := range strings.Fields(s) {
		if speed, ok := strings.CutSuffix(strings.TrimSuffix(w, "-fd"), "bt"); ok {
			if v, number := count(speed); number && v < 10_000_000 {
				best = max(best, units.Rate(v)*units.Mbit)
			}
		}
	}
	return best
}

// configured reads the words of lshw's configuration.
func (n *NIC) configured(words string, src Source) {
	for _, w := range strings.Fields(words) {
		switch key, value, _ := strings.Cut(w, "="); key {
		case "driver":
			n.Driver = value
		case "port":
			if value == "twisted" { // the value has a space in it
				n.Media = "Twisted Pair"
			}
		case "duplex":
			if value == "full" || value == "half" {
				n.Duplex = value
				n.show("duplex", src)
			}
		case "link":
			n.Up, n.StateUnknown = value == "yes", false
			n.show("link", src)
		}
	}
}

// miiLink is the first line of mii-tool (net-tools mii-tool.c): what was negotiated, or is fixed; miiModes are the
// lines of mii-tool -v.
var (
	miiLink = regexp.MustCompile(`^([a-z][\w.-]*): (?:negotiated (\d+)base[\w-]*-([FH])D|(\d+) Mbit, (full|` +
		`half) duplex|` +
		`negotiated)(?:[ ,].*)?, (link ok|no link)`)
	miiModes = regexp.MustCompile(`^\s+(capabilities|advertising|link partner):((?: +\d+base[\w-]+D)+)`)
	miiMode  = regexp.MustCompile(`(\d+)base`)
)

// readMiiTool reads mii-tool.
func (f *Facts) readMiiTool(t text) error {
	var n *NIC
	for i, line := range t.lines() {
		if m := miiModes.FindStringSubmatch(line); m != nil && n != nil {
			n.miiModes(m[1], m[2])
			continue
		}
		m := miiLink.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		found := f.NIC(m[1])
		v, ok := count(cmp.Or(m[2]+m[4], "0"))
		if found == nil || !ok || v > 10_000_000 {
			continue
		}
		n = found
		src := f.Line(t.from, i+1)
		if n.Speed > units.Rate(v)*units.Mbit { // old ones know of no gigabit, and ethtool said it
			continue
		}
		n.Up, n.StateUnknown = m[6] == "link ok", false
		n.show("speed_bps", src)
		n.show("link", src)
		if n.Speed = units.Rate(v) * units.Mbit; v == 0 {
			continue
		}
		n.Duplex = map[string]string{"F": "full", "full": "full"}[m[3]+m[5]]
		if n.Duplex == "" {
			n.Duplex = "half"
		}
		n.show("duplex", src)
	}
	return nothingUnless(n != nil)
}

// miiModes keeps the fastest of the modes that mii-tool lists; what both ends offer is what they negotiated where the
// first line does not say it.
func (n *NIC) miiModes(of, modes string) {
	var fastest units.Rate
	for _, m := range miiMode.FindAllStringSubmatch(modes, -1) {
		if v, ok := count(m[1]); ok && v <= 10_000_000 {
			fastest = max(fastest, units.Rate(v)*units.Mbit)
		}
	}
	switch of {
	case "capabilities":
		n.Fastest = max(n.Fastest, fastest)
	case "advertising":
		n.Advertised = fastest
	default:
		n.Offered = fastest
		if n.Speed == 0 && n.Advertised > 0 {
			n.Speed = min(n.Advertised, n.Offered)
		}
	}
}
