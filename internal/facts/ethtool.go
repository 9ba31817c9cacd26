package facts

import (
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/units"
)

// ethtoolReaders are the questions to ethtool about one interface. Their parts
// are named after the question and the interface: "driver eth0".
func ethtoolReaders(nic string) []reader {
	ask := func(part, flag string, parse func(n *NIC, f *Facts, t text) error) reader {
		args := append(strings.Fields("ethtool "+flag), nic)
		return reader{part + " " + nic, host.Command(args...), func(f *Facts, t text) error {
			n := f.NIC(nic)
			if n == nil {
				return errNothing
			}
			return parse(n, f, t)
		}}
	}
	return []reader{
		ask("link", "", readEthtoolLink),
		ask("driver", "-i", readEthtoolDriver),
		ask("features", "-k", readEthtoolFeatures),
		ask("rings", "-g", readEthtoolRings),
		ask("channels", "-l", readEthtoolChannels),
		ask("indirection", "-x", readEthtoolIndirection),
		ask("coalesce", "-c", readEthtoolCoalesce),
		ask("pause", "-a", readEthtoolPause),
		ask("statistics", "-S", readEthtoolStatistics),
		ask("eee", "--show-eee", readEthtoolEEE),
		ask("fec", "-I --show-fec", readEthtoolFEC),
		ask("optic", "-m", readEthtoolOptic),
	}
}

// colonFields calls each for every "name: value" line, with names trimmed.
func colonFields(t text, each func(line int, name, value string)) {
	for i, line := range t.lines() {
		if name, value, ok := strings.Cut(line, ":"); ok {
			each(i+1, strings.TrimSpace(name), strings.TrimSpace(value))
		}
	}
}

func (n *NIC) show(field string, s Source) {
	if n.Shown == nil {
		n.Shown = map[string]Source{}
	}
	n.Shown[field] = s
}

// readEthtoolLink reads ethtool NAME (ethtool.c, dump_ecmd).
func readEthtoolLink(n *NIC, f *Facts, t text) error {
	n.Fastest, n.Advertised, n.Offered = fastestMode(t, "Supported link modes"), fastestMode(t, "Advertised link modes"),
		fastestMode(t, "Link partner advertised link modes")
	found := n.Fastest > 0 || n.Advertised > 0
	colonFields(t, func(line int, name, value string) {
		src := f.Line(t.from, line)
		switch name {
		case "Speed":
			found = true
			if v, ok := count(strings.TrimSuffix(value, "Mb/s")); ok && v > 0 && v < 10_000_000 && v != unknownSpeed {
				n.Speed = units.Rate(v) * units.Mbit
				n.show("speed_bps", src)
			}
		case "Duplex":
			found = true
			if word := strings.ToLower(value); word == "full" || word == "half" {
				n.Duplex = word
				n.show("duplex", src)
			}
		case "Port":
			n.Media = value
		case "Auto-negotiation":
			n.show("autonegotiation", src)
		case "Advertised auto-negotiation": // an answer may be cut off before the other line
			if value == "No" {
				n.show("autonegotiation", src)
			}
		case "Link detected":
			found = true
			n.show("link", src)
			n.Up, n.StateUnknown = value == "yes", false
		}
	})
	return nothingUnless(found)
}

// unknownSpeed is what kernels before 2.6.37 say of a link without one: the
// 16-bit SPEED_UNKNOWN, -1.
const unknownSpeed = 65535

// fastestMode finds the fastest of the modes below a title, such as
// 1000baseT/Full below "Supported link modes:".
func fastestMode(t text, title string) units.Rate {
	var best units.Rate
	inside := false
	for _, line := range t.lines() {
		if name, rest, ok := strings.Cut(line, ":"); ok {
			inside = strings.TrimSpace(name) == title
			line = rest
		}
		if !inside {
			continue
		}
		for _, w := range strings.Fields(line) {
			speed, _, ok := strings.Cut(w, "base")
			if v, number := count(speed); ok && number && v < 10_000_000 {
				best = max(best, units.Rate(v)*units.Mbit)
			}
		}
	}
	return best
}

func readEthtoolDriver(n *NIC, f *Facts, t text) error {
	found := false
	colonFields(t, func(line int, name, value string) {
		switch name {
		case "driver":
			found = true
			n.Driver = value
			n.show("driver", f.Line(t.from, line))
		case "version":
			n.Version = value
		case "firmware-version":
			n.Firmware = value
		case "bus-info":
			if value != "" {
				n.Bus = value
			}
		}
	})
	return nothingUnless(found)
}

// readEthtoolFeatures reads ethtool -k: "name: on|off [fixed] [requested on]". What was requested in vain is as fixed
// as what the driver never changes, and so is a group of which each member, indented below it, is.
func readEthtoolFeatures(n *NIC, f *Facts, t text) error {
	n.Features = map[string]Feature{}
	group, indent := "", 0
	free := map[string]int{} // the members of a group that can be changed
	lines := t.lines()
	colonFields(t, func(line int, name, value string) {
		words := strings.Fields(value)
		if len(words) == 0 || words[0] != "on" && words[0] != "off" {
			return
		}
		src := f.Line(t.from, line)
		fixed := strings.Contains(value, "[fixed]") || words[0] == "off" && strings.Contains(value, "[requested on]")
		n.Features[name] = Feature{On: words[0] == "on", Fixed: fixed, Source: src}
		f.Settings["ethtool:features/"+name+"@"+n.Name] = Setting{Value: words[0], Source: src, State: Read}
		text := lines[line-1]
		if width := len(text) - len(strings.TrimLeft(text, " \t")); group == "" || width <= indent {
			group, indent = name, width
		} else if free[group] += 0; !fixed {
			free[group]++
		}
	})
	if _, shown := free[group]; !shown && strings.HasPrefix(strings.TrimSpace(lines[0]), "Features for") &&
		slices.Contains([]string{"tx-checksumming", "scatter-gather", "tcp-segmentation-offload"}, group) {
		free[group] = 0 // the text ends before its members
	}
	for name, changeable := range free {
		if feature := n.Features[name]; changeable == 0 {
			feature.Fixed = true
			n.Features[name] = feature
		}
	}
	return nothingUnless(len(n.Features) > 0)
}

// twoBlocks reads ethtool's answers of two blocks: the maximums, then the
// current values. "n/a" and what is no number is left out.
func twoBlocks(t text, each func(line int, maximum bool, name string, value int)) error {
	maximum, found := false, false
	colonFields(t, func(line int, name, value string) {
		switch {
		case strings.HasPrefix(name, "Pre-set maximums"):
			maximum = true
		case strings.HasPrefix(name, "Current hardware settings"):
			maximum, found = false, true
		default:
			if v, ok := count(value); ok && v < 1<<31 {
				each(line, maximum, name, int(v))
			}
		}
	})
	return nothingUnless(found)
}

func readEthtoolRings(n *NIC, f *Facts, t text) error {
	return twoBlocks(t, func(line int, maximum bool, name string, v int) {
		into := map[string][2]*int{"RX": {&n.Rings.RX, &n.Rings.RXMax}, "TX": {&n.Rings.TX, &n.Rings.TXMax}}[name]
		if into[0] == nil {
			return
		}
		f.keepBlock(n, "ethtool:ring/"+strings.ToLower(name), maximum, into, v, f.Line(t.from, line))
	})
}

func readEthtoolChannels(n *NIC, f *Facts, t text) error {
	var rx, tx int
	err := twoBlocks(t, func(line int, maximum bool, name string, v int) {
		var unused int
		into := map[string][2]*int{"Combined": {&n.Queues.Combined, &n.Queues.MaxCombined},
			"RX": {&rx, &n.Queues.MaxRX}, "TX": {&tx, &unused}}[name]
		if into[0] == nil {
			return
		}
		f.keepBlock(n, "ethtool:channels/"+strings.ToLower(name), maximum, into, v, f.Line(t.from, line))
	})
	if err == nil && rx+n.Queues.Combined > 0 {
		n.Queues.RX, n.Queues.TX = rx+n.Queues.Combined, tx+n.Queues.Combined
	}
	return err
}

var (
	indirectionHead = regexp.MustCompile(`indirection table for \S+ with (\d{1,4}) RX ring`)
	indirectionRow  = regexp.MustCompile(`^\s*\d{1,5}:((?:\s+\d{1,4})+)\s*$`)
)

// readEthtoolIndirection reads ethtool -x: to which queues the card spreads what it receives.
func readEthtoolIndirection(n *NIC, f *Facts, t text) error {
	of, queues := 0, map[string]bool{}
	for i, line := range t.lines() {
		if m := indirectionHead.FindStringSubmatch(line); m != nil {
			of = smallNumber(m[1])
			n.show("indirection", f.Line(t.from, i+1))
		} else if m := indirectionRow.FindStringSubmatch(line); m != nil && of > 0 {
			for _, q := range strings.Fields(m[1]) {
				queues[q] = true
			}
		}
	}
	n.Queues.Hashed, n.Queues.HashedOf = len(queues), of
	return nothingUnless(len(queues) > 0)
}

func (f *Facts) keepBlock(n *NIC, setting string, maximum bool, into [2]*int, v int, src Source) {
	if maximum {
		*into[1] = v
		n.show(setting+"/max", src)
		return
	}
	*into[0] = v
	n.show(setting, src)
	f.Settings[setting+"@"+n.Name] = Setting{Value: decimal(v), Source: src, State: Read}
}

// readEthtoolCoalesce reads ethtool -c: "rx-usecs: 3", and a line that holds
// two: "Adaptive RX: off  TX: off".
func readEthtoolCoalesce(n *NIC, f *Facts, t text) error {
	n.Coalesce = map[string]string{}
	keep := func(name, value string, src Source) {
		if value == "" || value == "n/a" {
			return
		}
		n.Coalesce[name] = value
		f.Settings["ethtool:coalesce/"+name+"@"+n.Name] = Setting{Value: value, Source: src, State: Read}
	}
	for i, line := range t.lines() {
		src := f.Line(t.from, i+1)
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		if name == "Adaptive RX" || name == "CQE mode RX" {
			prefix := map[string]string{"Adaptive RX": "adaptive-", "CQE mode RX": "cqe-mode-"}[name]
			rx, tx, _ := strings.Cut(value, "TX:")
			keep(prefix+"rx", strings.TrimSpace(rx), src)
			keep(prefix+"tx", strings.TrimSpace(tx), src)
			continue
		}
		if _, number := count(strings.TrimSpace(value)); number {
			keep(strings.TrimSpace(name), strings.TrimSpace(value), src)
		}
	}
	return nothingUnless(len(n.Coalesce) > 0)
}

func readEthtoolPause(n *NIC, f *Facts, t text) error {
	p := Pause{}
	found := false
	colonFields(t, func(line int, name, value string) {
		into := map[string]*bool{"Autonegotiate": &p.Autonegotiate, "RX": &p.RX, "TX": &p.TX}[name]
		if into == nil || value != "on" && value != "off" {
			return
		}
		found = true
		*into = value == "on"
		src := f.Line(t.from, line)
		f.Settings["ethtool:pause/"+strings.ToLower(name)+"@"+n.Name] = Setting{Value: value, Source: src, State: Read}
		n.show("pause."+strings.ToLower(name), src)
	})
	if !found {
		return errNothing
	}
	n.Pause = &p
	return nil
}

// RepeatsPerQueue reports whether lines of ethtool -S are of a driver that prints its names again for each queue (Linux
// drivers/net/vmxnet3/vmxnet3_ethtool.c), and not of two readings.
func RepeatsPerQueue(statistics string) bool {
	return perQueueName.MatchString(statistics)
}

var perQueueName = regexp.MustCompile(`Queue#|\bpkts [rt]x\b|drv dropped [rt]x|\bring full:|rx buf alloc fail`)

// readEthtoolStatistics reads ethtool -S: "name: number". Drivers that repeat
// a name for each queue ("[0]: rx_packets") keep the index in the name.
func readEthtoolStatistics(n *NIC, f *Facts, t text) error {
	if n.Counters == nil {
		n.Counters = map[string]Counter{}
	}
	found := false
	seen := map[string]bool{}
	queues := RepeatsPerQueue(string(t.data))
	for i, line := range t.lines() {
		cut := strings.LastIndex(line, ":")
		if cut < 0 {
			continue
		}
		name := strings.TrimLeft(strings.TrimSpace(line[:cut]), "# ") // somebody may show it as a comment
		v, ok := count(strings.TrimSpace(line[cut+1:]))
		if !ok || name == "" {
			continue
		}
		found = true
		// vmxnet3 repeats its names below a line for each queue: they add up.
		if seen[name] && !queues {
			continue // another sample, or genet's copy of a name
		}
		if seen[name] {
			v += n.Counters[name].Value
		}
		if !strings.HasSuffix(name, "Queue#") {
			n.Counters[name] = Counter{Value: v, Source: f.Line(t.from, i+1)}
			seen[name] = true
		}
	}
	if !found {
		return errNothing
	}
	n.sumQueues()
	n.sumVSI()
	n.sumPackets()
	return nil
}

var (
	queueCounter = regexp.MustCompile(`^(?:\[\d+\]|[rt]xq\d+): (\S+)$`)
	// queueTrouble are names with the queue's number inside or at the end:
	// rx_queue_3_drops, rxq_0_queue_full_drops, queue_2_rx_page_alloc_fail,
	// rx_no_buffers_posted[1].
	queueTrouble = regexp.MustCompile(`^((?:rx|tx)?_?(?:q|queue|ring|ch|rvec|rxq|txq)?)[_#]?\d+([_. ]\S*(?:drop|miss|` +
		`err|discard|fail|overr|overflow|no_buf|nobuf)\S*)$|^(\S*(?:drop|miss|err|discard|fail|overr|overflow|no_buf|` +
		`nobuf)\S*)\[\d+\]$`)
)

// queueName takes the queue out of a counter's name; empty when there is none.
func queueName(name string) string {
	if m := queueCounter.FindStringSubmatch(name); m != nil {
		return m[1]
	}
	if m := queueTrouble.FindStringSubmatch(name); m != nil && m[1]+m[3] != "" {
		return m[1] + m[2] + m[3]
	}
	return ""
}

// sumQueues adds up what drivers count for each queue alone ("[0]:
// rx_discards", "rxq0: rx_drops_no_frags"). A sum that the driver gives itself
// stays.
func (n *NIC) sumQueues() {
	sums, largest := map[string]uint64{}, map[string]Counter{}
	for name, c := range n.Counters {
		sum := queueName(name)
		if sum == "" {
			continue
		}
		sums[sum] += c.Value
		if top := largest[sum]; c.Value > top.Value ||
			c.Value == top.Value && (top.Source.Line == 0 || c.Source.Line < top.Source.Line) {
			largest[sum] = c
		}
	}
	for name, sum := range sums {
		if _, have := n.Counters[name]; !have {
			n.Counters[name] = Counter{Value: sum, Source: largest[name].Source}
		}
	}
	// What igb and igc count for a queue is what found no descriptor (RQDPC).
	if c := n.Counters["rx_queue_drops"]; c.Value > 0 && n.Counters["rx_missed_errors"].Value == 0 {
		if _, intel := n.Counters["rx_queue_0_alloc_failed"]; intel {
			n.Counters["rx_missed_errors"] = c
		}
	}
}

// sumVSI completes what i40e and ice count for an interface: the kinds of packets, and as rx_dropped those that found
// no descriptor (the rx_discards of the card's statistics; Linux drivers/net/ethernet/intel/ice/ice_ethtool.c). The
// kinds count them as well (DPDK drivers/net/ice/ice_ethdev.c, ice_stats_get).
func (n *NIC) sumVSI() {
	if _, known := n.Counters["rx_unknown_protocol"]; !known {
		return
	}
	for _, way := range []string{"rx", "tx"} {
		sum := n.Counters[way+"_unicast"]
		if _, have := n.Counters[way+"_packets"]; have || sum.Value == 0 {
			continue
		}
		sum.Value += n.Counters[way+"_multicast"].Value + n.Counters[way+"_broadcast"].Value
		if dropped := n.Counters[way+"_dropped"].Value; way == "rx" && dropped < sum.Value {
			sum.Value -= dropped
		}
		n.Counters[way+"_packets"] = sum
	}
	if c := n.Counters["rx_dropped"]; c.Value > 0 && n.Counters["port.rx_dropped"].Value == 0 &&
		n.Counters["rx_dropped.nic"].Value == 0 {
		n.Counters["rx_discards"] = c
	}
}

// queuePackets are the names under which drivers count the packets of a queue: rx_queue_0_packets (igb, ixgbe, i40e,
// ice, virtio), rx0_packets (mlx5), queue_0_rx_cnt (ena), rx_packets[0] (gve), [0]: rx_ucast_packets (bnxt).
var queuePackets = regexp.MustCompile(`^(?:(rx|tx)[_-]?(?:queue[_-])?\d+[_.](?:packets|pkts)|queue_\d+_(rx|tx)_cnt|` +
	`(rx|tx)_packets\[\d+\]|\[\d+\]: (rx|tx)_(?:ucast|mcast|bcast)_packets)$`)

// sumPackets completes the packets of an interface where ip did not say them: from the driver's total, else from those
// of its queues.
func (n *NIC) sumPackets() {
	sums, shown := map[string]uint64{}, map[string]Source{}
	for name, c := range n.Counters {
		if m := queuePackets.FindStringSubmatch(name); m != nil {
			way := m[1] + m[2] + m[3] + m[4]
			if sums[way] += c.Value; shown[way].Line == 0 || c.Source.Line < shown[way].Line {
				shown[way] = c.Source
			}
		}
	}
	for _, way := range []string{"rx", "tx"} {
		total, have := n.Counters[way+"_packets"]
		for _, other := range []string{way + "_total_packets", way + "_packets_phy", "port_" + way + "_packets",
			way + "_packets.nic", way + "_pkts_nic"} {
			if c, known := n.Counters[other]; !have && known {
				total, have = c, true
			}
		}
		if !have && sums[way] > 0 {
			total, have = Counter{Value: sums[way], Source: shown[way]}, true
		}
		if _, known := n.Counters["link."+way+"_packets"]; have && !known {
			n.Counters["link."+way+"_packets"] = total
		}
	}
}

func readEthtoolEEE(n *NIC, f *Facts, t text) error {
	found := false
	colonFields(t, func(line int, name, value string) {
		if name != "EEE status" {
			return
		}
		word, _, _ := strings.Cut(value, " ")
		word = strings.Trim(word, ",")
		found = true
		if word == "enabled" || word == "disabled" {
			n.EEE = word
			src := f.Line(t.from, line)
			n.show("eee", src)
			onOff := map[string]string{"enabled": "on", "disabled": "off"}[word]
			f.Settings["ethtool:eee@"+n.Name] = Setting{Value: onOff, Source: src, State: Read}
		}
	})
	return nothingUnless(found)
}
