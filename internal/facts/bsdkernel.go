package facts

import (
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// readZones reads FreeBSD's vmstat -z: "NAME: SIZE, LIMIT, USED, FREE, REQ,
// FAIL, SLEEP[, XDOMAIN]".
func (f *Facts) readZones(t text) error {
	found := false
	lines := t.lines()
	for i, line := range lines {
		if i+1 < len(lines) && brokenZone.MatchString(lines[i+1]) { // by a mail program
			line += " " + lines[i+1]
		}
		cut := strings.LastIndex(line, ":")
		if cut <= 0 {
			continue
		}
		words := strings.Split(line[cut+1:], ",")
		if len(words) < 5 {
			continue
		}
		for len(words) < 6 { // before FreeBSD 7 it did not count failures
			words = append(words, "0")
		}
		var v [6]uint64
		good := true
		for j := range v {
			var ok bool
			v[j], ok = count(strings.TrimSpace(words[j]))
			good = good && ok
		}
		if !good || len(f.Memories) >= rowLimit {
			continue
		}
		found = true
		f.Memories = append(f.Memories, Pool{Name: "zone " + strings.TrimSpace(line[:cut]), Limit: v[1], Used: v[2],
			Cached: v[3], Denied: v[5],
			Source: f.Line(t.from, i+1)})
	}
	return nothingUnless(found)
}

// brokenZone is the rest of a row of vmstat -z.
var brokenZone = regexp.MustCompile(`^\s*\d+(, *\d+)*,?\s*$`)

// readVmstatInterrupts reads vmstat -i: "irq256: igb0:rxq0  1234  56" on
// FreeBSD, "irq114/em0  1234  56" on OpenBSD.
func (f *Facts) readVmstatInterrupts(t text) error {
	for i, line := range t.lines() {
		words := strings.Fields(line)
		if len(words) < 3 || strings.EqualFold(words[0], "total") || words[0] == "interrupt" {
			continue
		}
		total, ok := count(words[len(words)-2])
		rate, ok2 := count(words[len(words)-1])
		if !ok || !ok2 || len(f.Interrupts) >= rowLimit {
			continue
		}
		label := strings.Join(words[:len(words)-2], " ")
		id, name, ok := strings.Cut(label, ": ")
		if !ok {
			id, name, _ = strings.Cut(label, "/")
		}
		irq := Interrupt{ID: id, Name: name, Rate: rate, Total: Counter{Value: total, Source: f.Line(t.from, i+1)}}
		device, queue, _ := strings.Cut(name, ":")
		if n := f.NIC(device); n != nil {
			irq.NIC = device
			if _, number := count(queue); number || strings.HasPrefix(queue, "rx") || strings.HasPrefix(queue, "que") {
				n.Queues.RX++
			}
		}
		f.Interrupts = append(f.Interrupts, irq)
	}
	return nothingUnless(len(f.Interrupts) > 0)
}

// pcixCap is what pciconf says of a PCI-X card (FreeBSD
// usr.sbin/pciconf/cap.c): what it can do, as the slot's clock is not told.
var pcixCap = regexp.MustCompile(`= PCI-X (\d+)-bit (?:bridge )?(?:supports (\d+)MHz)?`)

var pciexpLink = regexp.MustCompile(`link x(\d+)\(x(\d+)\)(?: speed ([0-9.]+)\(([0-9.]+)\))?`)

// typedCard is the device that a command asks pciconf for: "pciconf -lcv ix0".
var typedCard = regexp.MustCompile(`^pciconf .*?\b([a-z]+\d+)(?:@\S+)?$`)

func (t text) card() string {
	if m := typedCard.FindStringSubmatch(t.typed); m != nil {
		return m[1]
	}
	return ""
}

// coreDevice is the device of a card of which the interface has another name: mlx4_core0 of mlxen0, mlx5_core1 of mce1.
var coreDevice = regexp.MustCompile(`^mlx([45])_core(\d+)$`)

// readPciconf reads FreeBSD's pciconf -lvc: a line "ix0@pci0:3:0:0: ..." and,
// below it, "link x8(x8) speed 5.0(5.0)": as trained, and as the device could.
func (f *Facts) readPciconf(t text) error {
	var n *NIC
	found := false
	if name := t.card(); name != "" && !strings.Contains(string(t.data), "@pci") { // a grep took the head
		n, found = f.linkOf(name, "", f.Line(t.from, 1)), true
	}
	for i, line := range t.lines() {
		if name, rest, ok := strings.Cut(line, "@pci"); ok && line[0] != ' ' && line[0] != '\t' {
			found = true
			mellanox := coreDevice.FindStringSubmatch(name)
			if mellanox != nil {
				name = map[string]string{"4": "mlxen", "5": "mce"}[mellanox[1]] + mellanox[2]
			}
			// Of a host every interface is known by now; in a post the card may be all that there is of it.
			if n = f.NIC(name); n == nil && (t.card() == name || f.pasted && strings.Contains(rest, "class=0x020000")) {
				n = f.linkOf(name, "", f.Line(t.from, i+1))
			}
			if n != nil {
				n.Bus = "pci" + strings.TrimSuffix(strings.Fields(rest)[0], ":")
			}
			continue
		}
		if n == nil {
			continue
		}
		if m := pcixCap.FindStringSubmatch(line); m != nil {
			n.PCIe = &PCIe{Form: "pci-x", Bits: smallNumber(m[1]), Clock: 66}
			if m[2] != "" {
				n.PCIe.Clock = float64(smallNumber(m[2]))
			}
			n.show("pcie", f.Line(t.from, i+1))
		}
		if m := pciexpLink.FindStringSubmatch(line); m != nil {
			p := &PCIe{Form: "pcie", Width: smallNumber(m[1]), MaxWidth: smallNumber(m[2])}
			p.Speed, _ = strconv.ParseFloat(m[3], 64)
			p.MaxSpeed, _ = strconv.ParseFloat(m[4], 64)
			n.PCIe = p
			n.show("pcie", f.Line(t.from, i+1))
		}
	}
	return nothingUnless(found)
}

var (
	pcidumpSpeed = regexp.MustCompile(`Link Speed: ([0-9.]+) / ([0-9.]+)`)
	pcidumpWidth = regexp.MustCompile(`Link Width: x(\d+) / x(\d+)`)
	pcidumpHead  = regexp.MustCompile(`^ (\d+):(\d+):(\d+): `)
	pciDevice    = regexp.MustCompile(`^(\w+) at pci(\d+) dev (\d+) function (\d+)`)
	pciBus       = regexp.MustCompile(`^pci(\d+) at \w+ bus (\d+)`)
)

// readPcidump reads OpenBSD's pcidump -v: " 1:0:0: Intel 82599", then "Link
// Speed: 5.0 / 5.0 GT/s" and "Link Width: x8 / x8" on one line or two, as
// trained and as the device could. The kernel's messages name the interface at
// an address; joinPcidump brings them together.
func (f *Facts) readPcidump(t text) error {
	address := ""
	f.pciLinks, f.pciShown = map[string]*PCIe{}, map[string]Source{}
	for i, line := range t.lines() {
		if m := pcidumpHead.FindStringSubmatch(line); m != nil {
			address = m[1] + ":" + m[2] + ":" + m[3]
			continue
		}
		speed, width := pcidumpSpeed.FindStringSubmatch(line), pcidumpWidth.FindStringSubmatch(line)
		if address == "" || speed == nil && width == nil {
			continue
		}
		if f.pciLinks[address] == nil {
			f.pciLinks[address] = &PCIe{Form: "pcie"}
		}
		p := f.pciLinks[address]
		if speed != nil {
			a, _ := strconv.ParseFloat(speed[1], 64)
			b, _ := strconv.ParseFloat(speed[2], 64)
			p.Speed, p.MaxSpeed = min(a, b), max(a, b)
		}
		if width != nil {
			a, b := smallNumber(width[1]), smallNumber(width[2])
			p.Width, p.MaxWidth = min(a, b), max(a, b)
		}
		f.pciShown[address] = f.Line(t.from, i+1)
	}
	return nothingUnless(address != "")
}

// joinPcidump gives the interfaces of OpenBSD their PCI links, by the lines of
// dmesg "pci1 at ppb0 bus 1" and "ix0 at pci1 dev 0 function 0".
func (f *Facts) joinPcidump() {
	lines := f.texts["dmesg"]
	bus := map[string]string{}
	for _, line := range lines {
		if m := pciBus.FindStringSubmatch(line); m != nil {
			bus[m[1]] = m[2]
		}
		m := pciDevice.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if n := f.NIC(m[1]); n != nil && bus[m[2]] != "" {
			n.Bus = bus[m[2]] + ":" + m[3] + ":" + m[4]
			if p := f.pciLinks[n.Bus]; p != nil {
				n.PCIe = p
				n.show("pcie", f.pciShown[n.Bus])
			}
		}
	}
}

// readKldstat reads FreeBSD's kldstat: the last column is the file's name.
func (f *Facts) readKldstat(t text) error {
	for _, line := range t.lines() {
		words := strings.Fields(line)
		if len(words) >= 5 && words[0] != "Id" {
			f.Modules = append(f.Modules, strings.TrimSuffix(words[4], ".ko"))
		} else if len(words) == 2 && line[0] != 'I' { // -v: the modules in a file
			if _, number := count(words[0]); number {
				f.Modules = append(f.Modules, words[1][strings.LastIndex(words[1], "/")+1:])
			}
		}
	}
	return nothingUnless(len(f.Modules) > 0)
}

// readPfctl reads pfctl -si: "  current entries   123", and counters with a
// rate behind them. Names become pf.NAME with underscores.
func (f *Facts) readPfctl(t text) error {
	found := false
	section := ""
	for i, line := range t.lines() {
		if line == "" {
			continue
		}
		if f.pfctlInOne(line, t.from, i+1) || f.dashboardStates(line, t.from, i+1) {
			found = true
			continue
		}
		words := strings.Fields(line)
		if line[0] != ' ' && line[0] != '\t' && !pfCounter.MatchString(line) {
			section = ""
			if words[0] == "Source" || words[0] == "Limit" {
				section = strings.ToLower(words[0]) + "."
			}
			if words[0] == "Status:" && len(words) > 1 {
				found = true
				f.Settings["pf.status"] = Setting{Value: strings.ToLower(words[1]), Source: f.Line(t.from, i+1), State: Read}
			}
			continue
		}
		number := -1
		for j, w := range words {
			if _, ok := count(w); ok {
				number = j
				break
			}
		}
		if number <= 0 {
			continue
		}
		found = true
		v, _ := count(words[number])
		f.Counters["pf."+section+strings.Join(words[:number], "_")] = Counter{Value: v, Source: f.Line(t.from, i+1)}
	}
	return nothingUnless(found)
}

// pfctlInOne takes what a web page or a forum made one line of.
func (f *Facts) pfctlInOne(line, from string, at int) bool {
	all := pfNamed.FindAllStringSubmatch(line, -1)
	const several = 3
	if len(all) < several {
		return false
	}
	for _, m := range all {
		if v, ok := count(m[2]); ok {
			f.Counters["pf."+strings.ReplaceAll(m[1], " ", "_")] = Counter{Value: v, Source: f.Line(from, at)}
		}
	}
	return true
}

// dashboardStates takes "State table size 99% (402311/403000)" of a firewall's start page.
func (f *Facts) dashboardStates(line, from string, at int) bool {
	used, limit, ok := dashboardPair(line, DashboardStates)
	if ok {
		f.Counters["pf.current_entries"] = Counter{Value: used, Source: f.Line(from, at)}
		f.Settings["pf:set/limit/states"] = Setting{Value: strconv.FormatUint(limit, 10), Source: f.Line(from, at), State: Read}
	}
	return ok
}

// Rows of a firewall's start page: a name, perhaps a share, what is used and the most there can be. pfSense puts these two in
// parentheses (widgets/system_information.widget.php), OPNsense with blanks, and old releases without a share.
var (
	DashboardStates = dashboardRow("state table size")
	DashboardMbufs  = dashboardRow("mbufs? (?:usage|clusters)")
)

func dashboardRow(name string) *regexp.Regexp {
	const between = `[^\w\n/]{0,8}`
	return regexp.MustCompile(`(?m)^` + between + `(?i:` + name + `)` + between + `(?:\d{1,3}(?:\.\d+)? ?%` + between + `)?(\d+) ?/ ?(\d+)\b`)
}

// dashboardPair takes both numbers of a row.
func dashboardPair(line string, row *regexp.Regexp) (used, limit uint64, ok bool) {
	m := row.FindStringSubmatch(line)
	if m == nil {
		return 0, 0, false
	}
	used, isUsed := count(m[1])
	limit, isLimit := count(m[2])
	return used, limit, isUsed && isLimit
}

// pfNamed is a counter of pfctl -si by its name (sbin/pfctl/pfctl_parser.c).
var pfNamed = regexp.MustCompile(`\b(current entries|half-open tcp|searches|inserts|removals|match|bad-offset|` +
	`fragment|short|` +
	`normalize|memory|bad-timestamp|congestion|ip-option|proto-cksum|state-mismatch|state-insert|state-limit|` +
	`src-limit|` +
	`synproxy|map-failed|translate|no-route) +(\d+)\b`)

// pfCounter is a counter that lost its indentation on the way.
var pfCounter = regexp.MustCompile(`^[a-z][a-z -]*\s+\d+\s+\d+\.\d+/s\s*$`)

// readPfLimits reads pfctl -sm: "states        hard limit   100000".
func (f *Facts) readPfLimits(t text) error {
	found := false
	for i, line := range t.lines() {
		words := strings.Fields(line)
		if len(words) < 4 || words[1] != "hard" || words[2] != "limit" {
			continue
		}
		found = true
		f.Settings["pf:set/limit/"+words[0]] = Setting{Value: words[3], Source: f.Line(t.from, i+1), State: Read}
	}
	return nothingUnless(found)
}

// HostEntry is what FreeBSD's host cache remembers of a peer.
type HostEntry struct {
	Address  string  `json:"address"`
	MTU      int64   `json:"mtu"`
	SSThresh int64   `json:"ssthresh_bytes"`
	RTT      float64 `json:"rtt_ms"`
	CWND     int64   `json:"cwnd_bytes"`
	Source   Source  `json:"source"`
}

// readHostcache reads net.inet.tcp.hostcache.list: a heading, then a line for
// each peer (FreeBSD sys/netinet/tcp_hostcache.c).
func (f *Facts) readHostcache(t text) error {
	heads := map[string]int{}
	known := false
	for i, line := range t.lines() {
		words := strings.Fields(line)
		if len(words) > 5 && words[0] == "IP" {
			known = true
			for j, w := range words[2:] { // "IP address" is one column
				heads[w] = j + 1
			}
			continue
		}
		if !known || len(words) < len(heads)+1 {
			continue
		}
		at := func(name string) int64 {
			j, ok := heads[name]
			if !ok {
				return 0
			}
			v, _ := wholeNumber(strings.TrimSuffix(words[j], "ms"))
			return v
		}
		ssthresh := at("SSTRESH") + at("SSTHRESH")
		f.HostCache = append(f.HostCache, HostEntry{Address: words[0], MTU: at("MTU"), SSThresh: ssthresh,
			RTT: float64(at("RTT")), CWND: at("CWND"), Source: f.Line(t.from, i+1)})
	}
	return nothingUnless(known)
}
