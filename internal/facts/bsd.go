package facts

import (
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/units"
)

// bsdMachine takes the machine's description from the settings.
func (f *Facts) bsdMachine(cores string) {
	if n, ok := f.Integer(cores); ok && n > 0 && n <= maxProcessors {
		f.Cores = int(n)
	} else if n, ok := f.Integer("hw.ncpu"); ok && n > 0 && n <= maxProcessors {
		f.Cores = int(n)
	}
	if n, ok := f.Integer("hw.physmem"); ok && n > 0 {
		f.Memory = units.Bytes(n)
	}
	if n, ok := f.Integer("hw.pagesize"); ok && n > 0 {
		f.PageSize = units.Bytes(n)
	}
	if n, ok := f.Integer("kern.smp.threads_per_core"); ok && n > 0 {
		f.ThreadsPerCore = int(n)
	}
	f.Processor, _ = f.Setting("hw.model")
}

// cpTimes takes FreeBSD's kern.cp_times: user, nice, system, interrupt and idle
// ticks of each processor.
func (f *Facts) cpTimes() {
	v, _ := f.Setting("kern.cp_times")
	words := strings.Fields(v)
	for id := 0; id*5+4 < len(words) && id < maxProcessors; id++ {
		ticks := make([]uint64, 8)
		for i, to := range []int{0, 1, 2, 5, 3} { // into /proc/stat's order
			n, ok := count(words[id*5+i])
			if !ok {
				return
			}
			ticks[to] = n
		}
		p := f.processor(id)
		p.ticks, p.Source = ticks, f.Settings["kern.cp_times"].Source
		p.share(ticks)
	}
}

// deviceCounters takes what drivers publish below dev.NAME.UNIT that counts
// trouble: errors, drops, missed packets, pause frames.
func (f *Facts) deviceCounters() {
	for _, name := range slices.Sorted(maps.Keys(f.Settings)) { // cards of which nothing else was posted
		if m := cardSetting.FindStringSubmatch(name); m != nil {
			f.linkOf(m[1]+m[2]+m[3]+m[4], "", f.Settings[name].Source)
		}
	}
	for i := range f.NICs {
		n := &f.NICs[i]
		driver, unit := splitUnit(n.Name)
		prefix := "dev." + driver + "." + unit + "."
		for name, s := range f.Settings {
			rest, ok := strings.CutPrefix(name, prefix)
			v, number := count(s.Value)
			if !ok || !number {
				continue
			}
			if n.Counters == nil {
				n.Counters = map[string]Counter{}
			}
			n.Counters[rest] = Counter{Value: v, Source: s.Source}
		}
	}
}

// cardSetting finds the network card in a setting that only cards have: by what drivers call their counters, or by the
// name of the driver.
var cardSetting = regexp.MustCompile(`^dev\.(?:([a-z][a-z0-9]*[a-z])\.(\d+)\.(?:mac_stats|iflib|vstats|pstats|` +
	`eni_metrics|pf|stats\.[rt]x_)|(` + CardDrivers + `)\.(\d+)\.[a-z])`)

// CardDrivers are the names of network cards of the BSDs, as a regular expression.
const CardDrivers = `(?:em|igb|igc|ix|ixl|ixv|iavf|ice|re|rl|bge|bce|bnxt|cxl|cxgbe?|mce|mlxen|mlx\w+|t\dnex|vmx|vtnet|` +
	`virtio_pci|hn|ena|xn|axge|axgbe|msk|sk|nfe|age|alc|fxp|xl|dc|sis|vr|vge|bfe|ste|nge|stge|oce|sfxge|qlxgb|` +
	`qlnx|atlantic|aq)`

func splitUnit(name string) (driver, unit string) {
	driver = strings.TrimRight(name, "0123456789")
	return driver, name[len(driver):]
}

// readIfconfig reads ifconfig -a of FreeBSD and OpenBSD.
func (f *Facts) readIfconfig(t text) error {
	if f.System == "linux" {
		return nil // another format; ip tells more
	}
	var n *NIC
	masters := map[string]string{}
	for i, line := range t.lines() {
		src := f.Line(t.from, i+1)
		if name, rest, ok := strings.Cut(line, ": flags="); ok && !strings.ContainsAny(name, " \t") {
			if n = f.NIC(name); n != nil { // shown once more: the later state counts
				*n = ifconfigHead(name, rest, src)
				continue
			}
			if len(f.NICs) >= linkLimit {
				break
			}
			f.NICs = append(f.NICs, ifconfigHead(name, rest, src))
			n = &f.NICs[len(f.NICs)-1]
			continue
		}
		words := strings.Fields(line)
		if len(words) > 0 && words[0] == "carp:" {
			f.carpGroup(words, n, src)
		}
		if n == nil || len(words) == 0 {
			continue
		}
		switch words[0] {
		case "laggport:", "member:", "trunkport":
			masters[pairs(words)[words[0]]] = n.Name
		}
		n.ifconfigLine(words, strings.TrimSpace(line), src)
	}
	if len(f.NICs) == 0 && len(f.CARP) == 0 {
		return errNothing
	}
	f.masters = masters
	for i := range f.NICs {
		f.NICs[i].Master = masters[f.NICs[i].Name]
	}
	return nil
}

// CARPGroup is a shared address as ifconfig shows it: "carp: MASTER vhid 1 advbase 1 advskew 0".
type CARPGroup struct {
	VHID      string `json:"vhid"`
	State     string `json:"state"`
	Skew      string `json:"skew"`
	Interface string `json:"interface,omitempty"` // empty where a grep took it
	Source    Source `json:"source"`
}

func (f *Facts) carpGroup(words []string, n *NIC, src Source) {
	values := pairs(words[1:])
	if values["vhid"] == "" || len(f.CARP) >= rowLimit {
		return
	}
	g := CARPGroup{VHID: values["vhid"], State: words[1], Skew: values["advskew"], Source: src}
	if n != nil {
		g.Interface = n.Name
	}
	f.CARP = append(f.CARP, g)
}

// vlanName is how FreeBSD (em0.100) and OPNsense (ix1_vlan111) name a VLAN after its interface.
var vlanName = regexp.MustCompile(`^[a-z]+[0-9]+(?:\.|_vlan)[0-9]{1,4}$`)

func ifconfigHead(name, rest string, src Source) NIC {
	driver, _ := splitUnit(name)
	driver = strings.TrimRight(driver, "-_.:0123456789") // vnet0:17 of iocage
	switch {
	case vlanName.MatchString(name):
		driver = "vlan"
	case name == UnnamedLink:
		driver = ""
	}
	n := NIC{Name: name, Driver: driver, Kind: "ethernet", Source: src, Features: map[string]Feature{},
		Counters: map[string]Counter{},
		Shown:    map[string]Source{"mtu": src, "up": src, "driver": src}}
	switch driver {
	case "lo":
		n.Kind = "loopback"
	case "lagg", "trunk", "aggr":
		n.Kind = "lagg"
	case "bridge", "veb":
		n.Kind = "bridge"
	case "vlan", "tun", "tap", "wg", "gif", "gre", "enc", "pflog", "pfsync", "epair", "vxlan", "carp", "svlan", "tpmr",
		"pair", "vether", "vnet", "stf", "ipsec", "ovpn", "usbus":
		n.Kind = driver
	}
	flags := namedBits(rest)
	n.Up = slices.Contains(flags, "UP") && slices.Contains(flags, "RUNNING")
	n.MTU = wholeMTU(pairs(strings.Fields(rest))["mtu"])
	if rest == "?" { // a grep cut the line
		n.Up, n.StateUnknown = true, true
		delete(n.Shown, "up")
	}
	return n
}

// namedBits are the names behind a number: "8843<UP,RUNNING>", which lost its brackets on many pages of the web.
func namedBits(text string) []string {
	_, list, bracketed := strings.Cut(text, "<")
	list, _, _ = strings.Cut(list, ">")
	if words := strings.Fields(text); !bracketed && len(words) > 1 && strings.ToUpper(words[1]) == words[1] {
		list = words[1]
	}
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' })
}

func (n *NIC) ifconfigLine(words []string, line string, src Source) {
	words = append(words, "") // a key may stand alone
	switch key, _, _ := strings.Cut(words[0], "="); key {
	case "options":
		for _, o := range namedBits(line) {
			n.Features[o] = Feature{On: true, Source: src}
		}
		n.show("options", src)
	case "ether", "lladdr":
		if n.MAC = words[1]; n.MAC == appleT2 {
			n.Kind = "loopback"
		}
	case "inet", "inet6":
		n.Addrs = append(n.Addrs, withPrefix(words))
	case "media:":
		n.media(strings.TrimSpace(strings.TrimPrefix(line, "media:")), src)
	case "hwaddr": // some releases print media on the same line
		if _, rest, ok := strings.Cut(line, "media:"); ok {
			n.media(strings.TrimSpace(rest), src)
		}
	case "status:":
		if words[1] == "no" || words[1] == "inactive" {
			n.Up, n.StateUnknown = false, false
			n.show("up", src)
		}
	case "laggproto", "trunkproto":
		n.show("hash", src)
		if i := strings.Index(line, "lagghash "); i >= 0 {
			n.Hash = strings.Fields(line[i:])[min(1, len(strings.Fields(line[i:]))-1)]
		}
	case "vlan:", "encap:": // "parent interface: em0", OpenBSD's "parent em0"
		_, rest, _ := strings.Cut(line, " parent ")
		n.Device, _, _ = strings.Cut(strings.TrimPrefix(rest, "interface: "), " ")
	case "drivername:": // an interface that was renamed
		n.Driver, _ = splitUnit(words[1])
	case "lagghash":
		n.Hash = words[1]
		n.show("hash", src)
	case "lane":
		n.lane(line, src)
	}
}

// appleT2 is the address that macOS gives its interface to the T2 chip inside of a Mac, which says 100baseTX and
// leads out of the machine no more than a loopback.
const appleT2 = "ac:de:48:00:11:22"

// withPrefix is an address with the length of its prefix: "10.0.0.1 netmask 0xffffff00", "fe80::1%em0 prefixlen 64".
func withPrefix(words []string) string {
	values := pairs(words[2:])
	if bits, ok := MaskBits(values["netmask"]); ok {
		return words[1] + "/" + strconv.Itoa(bits)
	}
	if v, ok := count(values["prefixlen"]); ok && v <= 128 && !strings.Contains(words[1], "/") {
		return words[1] + "/" + strconv.FormatUint(v, 10)
	}
	return words[1]
}

// MaskBits is the length of the prefix of a netmask: 255.255.255.0 or 0xffffff00.
func MaskBits(mask string) (bits int, ok bool) {
	var n uint32
	if at, err := netip.ParseAddr(mask); err == nil && at.Is4() {
		for _, b := range at.As4() {
			n = n<<8 | uint32(b)
		}
	} else {
		hex, err := strconv.ParseUint(strings.TrimPrefix(strings.ToLower(mask), "0x"), 16, 32)
		if err != nil || !strings.HasPrefix(strings.ToLower(mask), "0x") {
			return 0, false
		}
		n = uint32(hex)
	}
	for bits < 32 && n&(1<<31) != 0 {
		bits, n = bits+1, n<<1
	}
	return bits, n == 0
}

// laneOf is what ifconfig -v says of the light that arrives (sbin/ifconfig/sfp.c): "lane 1: RX power: 0.50 mW (-3.01 dBm)", and
// "RX: 0.50 mW" before FreeBSD 14.
var laneOf = regexp.MustCompile(`\bRX(?: power)?: [0-9.]+ mW \((-?[0-9.]+|-inf) dBm\)`)

// leastLight is the mean power in dBm that must arrive on each lane (IEEE 802.3, tables 38-4, 38-8, 52-9, 52-13, 52-17 and 112-9).
var leastLight = []struct {
	media string
	dbm   float64
}{{"1000baseSX", -17}, {"1000baseLX", -19}, {"10Gbase-SR", -9.9}, {"10Gbase-LR", -14.4}, {"10Gbase-ER", -15.8},
	{"25GBase-SR", -10.3}}

// lane takes the light of one lane: FreeBSD shows no limits of the module, so those of the medium count.
func (n *NIC) lane(line string, src Source) {
	m := laneOf.FindStringSubmatch(line)
	if m == nil {
		return
	}
	if n.Optic == nil {
		n.Optic = &Optic{Flags: map[string]Source{}}
	}
	n.show("optic.rx power", src)
	v, err := strconv.ParseFloat(m[1], 64)
	if err != nil || v <= -darkness { // -inf is a number as well
		n.Optic.Dark, n.Optic.Flags["rx power low"] = true, src
		return
	}
	for _, l := range leastLight {
		if strings.Contains(strings.ToLower(n.Media), strings.ToLower(l.media)) && v < l.dbm {
			n.Optic.Flags["rx power low: "+m[1]+" dBm, "+l.media+" needs "+strconv.FormatFloat(l.dbm, 'g', -1, 64)] = src
		}
	}
}

// media reads "Ethernet autoselect (1000baseT <full-duplex,rxpause,txpause>)".
func (n *NIC) media(s string, src Source) {
	n.Media = shorten(s)
	n.show("media", src)
	active := s
	if _, inner, ok := strings.Cut(s, "("); ok {
		active = inner
	}
	lower := strings.ToLower(active)
	i := strings.Index(lower, "base")
	if i < 0 {
		i = strings.Index(lower, "sfp+") // OpenBSD's 10GSFP+Cu
	}
	if i > 0 {
		start := i
		for start > 0 && (lower[start-1] >= '0' && lower[start-1] <= '9' || lower[start-1] == 'g' || lower[start-1] == '.') {
			start--
		}
		n.mediaSpeed(lower[start:i], src)
	}
	switch {
	case strings.Contains(lower, "full-duplex"):
		n.Duplex = "full"
		n.show("duplex", src)
	case strings.Contains(lower, "half-duplex"), fixedMedia.MatchString(s): // ifmedia(4): half unless it says full
		n.Duplex = "half"
		n.show("duplex", src)
	}
	if strings.Contains(lower, "pause") {
		n.Pause = &Pause{RX: strings.Contains(lower, "rxpause"), TX: strings.Contains(lower, "txpause")}
		n.show("pause.rx", src)
	}
}

// fixedMedia is a medium that somebody fixed without a duplex. Whole lines only: mark-up may have taken what stood in
// <>.
var fixedMedia = regexp.MustCompile(`^Ethernet 10{1,2}base(?:T/UTP|TX)$`)

func (n *NIC) mediaSpeed(s string, src Source) {
	unit := units.Mbit
	if v, ok := strings.CutSuffix(s, "g"); ok {
		s, unit = v, units.Gbit
	}
	if v, ok := count(s); ok && v > 0 && v < 1_000_000 {
		n.Speed = units.Rate(v) * unit
		n.show("speed_bps", src)
	} else if s == "2.5" && unit == units.Gbit {
		n.Speed = 2500 * units.Mbit
		n.show("speed_bps", src)
	}
}

// readHWFeatures reads OpenBSD's ifconfig hwfeatures: what the hardware can do,
// in the line "hwfeatures=...<CSUM_IPv4,...> hardmtu 9216". The stack uses it all
// but for LRO, which is on when the interface's flags say so (tcplro,
// ifconfig(8)).
func (f *Facts) readHWFeatures(t text) error {
	var n *NIC
	found, lro := false, false
	for i, line := range t.lines() {
		if name, flags, ok := strings.Cut(line, ": flags="); ok {
			n, lro = f.NIC(name), hasToken(flags, "LRO")
			continue
		}
		trimmed := strings.TrimSpace(line)
		if n == nil || !strings.HasPrefix(trimmed, "hwfeatures=") {
			continue
		}
		found = true
		for _, o := range namedBits(trimmed) {
			n.Features[o] = Feature{On: o != "LRO" || lro, Source: f.Line(t.from, i+1)}
		}
	}
	return nothingUnless(found)
}

// readBSDRoutes reads netstat -rn; the interface stands in the column that the
// heading calls Netif or Iface.
func (f *Facts) readBSDRoutes(t text) error {
	column := -1
	for i, line := range t.lines() {
		words := strings.Fields(line)
		if len(words) > 3 && words[0] == "Destination" {
			column = -1
			for j, w := range words {
				if w == "Netif" || w == "Iface" {
					column = j
				}
			}
			continue
		}
		if column < 0 || len(words) <= column || line[0] == ' ' || len(f.Routes) >= rowLimit {
			continue
		}
		name := words[column]
		if f.NIC(name) == nil { // FreeBSD cuts long names
			for j := range f.NICs {
				if len(name) >= 5 && strings.HasPrefix(f.NICs[j].Name, name) {
					name = f.NICs[j].Name
				}
			}
		}
		f.Routes = append(f.Routes, Route{Destination: words[0], Gateway: words[1], Interface: name,
			Source: f.Line(t.from, i+1)})
	}
	return nothingUnless(len(f.Routes) > 0)
}
