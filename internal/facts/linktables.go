package facts

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/kerneltext"
	"github.com/wirerate/wirerate/internal/regexp"
)

// keepLink adds a counter to an interface where ip has not said it.
func (n *NIC) keepLink(name, value string, src Source) {
	if v, ok := count(value); ok {
		n.keepCount("link."+name, v, src)
	}
}

// keepCount keeps what a table of the kernel's own counters says: the driver's total only stands in for it, and the
// lost packets beside it are a share of the table's.
func (n *NIC) keepCount(name string, v uint64, src Source) {
	if c, have := n.Counters[name]; !have || strings.HasPrefix(c.Source.From, "ethtool -S") {
		n.Counters[name] = Counter{Value: v, Source: src}
	}
}

// devFields are the counters of /proc/net/dev by the names that ip has for them.
var devFields = []string{"rx_bytes", "rx_packets", "rx_errors", "rx_dropped", "rx_errors_fifo", "rx_errors_frame", "",
	"rx_mcast", "tx_bytes", "tx_packets", "tx_errors", "tx_dropped", "tx_errors_fifo", "tx_collsns", "tx_carrier", ""}

// readNetDev reads /proc/net/dev.
func (f *Facts) readNetDev(t text) error {
	return kerneltext.Devices(string(t.data), func(line int, name string, numbers []string) {
		if !plainName(name) {
			return
		}
		src := f.Line(t.from, line)
		n := f.linuxLink(name, src)
		for i, field := range devFields {
			if field != "" {
				n.keepLink(field, numbers[i], src)
			}
		}
	})
}

var vyosHead = regexp.MustCompile(`^Interface(?:\s+[RT]x (?:Packets|Bytes|Dropped|Errors)){8}\s*$`)

// readLinuxInterfaces reads netstat -i of Linux's net-tools: "Iface MTU [Met]
// RX-OK RX-ERR RX-DRP RX-OVR TX-OK TX-ERR TX-DRP TX-OVR Flg", and "show interfaces kernel statistics" of VyOS
// (src/op_mode/interfaces.py), whose names of columns have two words.
func (f *Facts) readLinuxInterfaces(t text) error {
	fields := map[string]string{"RX-OK": "rx_packets", "RX-ERR": "rx_errors", "RX-DRP": "rx_dropped",
		"RX-OVR": "rx_overrun",
		"TX-OK":  "tx_packets", "TX-ERR": "tx_errors", "TX-DRP": "tx_dropped", "TX-OVR": "tx_overrun",
		"Rx Packets": "rx_packets", "Rx Errors": "rx_errors", "Rx Dropped": "rx_dropped", "Rx Bytes": "rx_bytes",
		"Tx Packets": "tx_packets", "Tx Errors": "tx_errors", "Tx Dropped": "tx_dropped", "Tx Bytes": "tx_bytes"}
	var heads []string
	found := false
	for i, line := range t.lines() {
		words := strings.Fields(line)
		if len(words) >= 9 && words[0] == "Iface" {
			heads = words
			continue
		}
		if vyosHead.MatchString(line) {
			heads = nil
			for k := 1; k < len(words); k += 2 {
				heads = append(heads, words[k]+" "+words[k+1])
			}
			heads = append([]string{words[0]}, heads...)
			continue
		}
		if len(heads) == 0 || len(words) != len(heads) || !plainName(words[0]) {
			continue
		}
		found = true
		src := f.Line(t.from, i+1)
		n := f.linuxLink(words[0], src)
		for j, head := range heads {
			switch {
			case fields[head] != "":
				n.keepLink(fields[head], words[j], src)
			case head == "MTU" && n.MTU == 0:
				n.MTU = smallNumber(words[j])
			case head == "Flg" && n.StateUnknown:
				n.Up = strings.Contains(words[j], "R") && strings.Contains(words[j], "U")
				n.StateUnknown = false
			}
		}
	}
	return nothingUnless(found)
}

// briefLink is a row of ip -br link or ip -br address: "eth0@if5  UP  192.0.2.2/24 fe80::1/64".
var briefLink = regexp.MustCompile(`^\s*([a-z][\w.-]*)(?:@\S+)?\s+(UP|DOWN|UNKNOWN|LOWERLAYERDOWN|DORMANT)(?:\s+(.*))?$`)

// readBriefLinks reads them.
func (f *Facts) readBriefLinks(t text) error {
	found := false
	for i, line := range t.lines() {
		m := briefLink.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		found = true
		n := f.linuxLink(m[1], f.Line(t.from, i+1))
		if n.MTU == 0 { // no such row has it
			delete(n.Shown, "mtu")
		}
		if n.StateUnknown && m[2] != "UNKNOWN" {
			n.Up, n.StateUnknown = m[2] == "UP", false
		}
		for _, w := range strings.Fields(m[3]) {
			if _, err := netip.ParsePrefix(w); err == nil && !slices.Contains(n.Addrs, w) {
				n.Addrs = append(n.Addrs, w)
			} else if _, err := net.ParseMAC(w); err == nil && n.MAC == "" {
				n.MAC = w
			}
		}
	}
	if !found && len(f.NICs) == 0 { // a further command of the same line printed them
		f.NICs = ipLinks(t)
		f.readHere(t.from, "links")
		found = len(f.NICs) > 0
	}
	return nothingUnless(found)
}

var (
	oldIfconfig = regexp.MustCompile(`^(\S+)\s+(?:Link encap|Lien encap|Encapsulamento do Link): ?(\S+)`)
	// translatedRow is the row of packets in French, Portuguese and Spanish: "pacotes RX:138 erros:0 descartados:0
	// excesso:0 quadro:0" (net-tools po/pt_BR.po); its numbers stand as in English.
	translatedRow = regexp.MustCompile(`(?i)^(?:pacotes|paquetes|paquets|packets) (rx|tx|re\S{1,3}us|` +
		`transmis)\S*:(\d+) [^: ]*:(\d+) ` +
		`[^: ]*:(\d+) [^: ]*:(\d+) [^: ]*:(\d+)$`)
	newIfconfig = regexp.MustCompile(`^(\S+): flags=\d+<([^>]*)>\s+mtu (\d+)`)
	// namedRow is a row of packets behind the name of its interface.
	namedRow   = regexp.MustCompile(`^\s*[a-z][\w.@-]{1,20}:?\s+[RT]X packets[: ]\d`)
	linkNumber = regexp.MustCompile(`(packets|errors|dropped|overruns|frame|bytes|carrier|collisions)[: ](\d+)`)
)

// readLinuxIfconfig reads ifconfig of Linux's net-tools, old ("eth0  Link
// encap:Ethernet", "RX packets:1 errors:0 dropped:0 overruns:0") and new
// ("eth0: flags=4163<UP,...>  mtu 1500", "RX errors 0  dropped 0 ..."), for
// interfaces that ip did not show.
func (f *Facts) readLinuxIfconfig(t text) error {
	var n *NIC
	found := false
	for i, line := range t.lines() {
		src := f.Line(t.from, i+1)
		if m := oldIfconfig.FindStringSubmatch(line); m != nil {
			n, found = f.linuxLink(m[1], src), true
			n.takeAddress(line)
			continue
		}
		if m := newIfconfig.FindStringSubmatch(line); m != nil {
			n, found = f.linuxLink(strings.TrimSuffix(m[1], ":"), src), true
			n.MTU = smallNumber(m[3])
			n.Up = strings.Contains(m[2]+",", "UP,") && strings.Contains(m[2]+",", "RUNNING,")
			n.StateUnknown = false
			continue
		}
		words := strings.Fields(line)
		if namedRow.MatchString(line) { // a script or a person joined both
			n, found, words = f.linuxLink(strings.TrimSuffix(words[0], ":"), src), true, words[1:]
		}
		if n == nil || len(words) == 0 {
			continue
		}
		if strings.Contains(line, "MTU:") { // "UP BROADCAST RUNNING MULTICAST  MTU:1500  Metric:1"
			n.Up = words[0] == "UP" && strings.Contains(line, " RUNNING ")
			n.StateUnknown = false
			_, rest, _ := strings.Cut(line, "MTU:")
			n.MTU = smallNumber(strings.Fields(rest + " 0")[0])
		}
		n.takeAddress(line)
		if m := translatedRow.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			n.translated(m, src)
		}
		prefix := strings.ToLower(words[0])
		if strings.HasPrefix(prefix, "collisions:") { // the old one has them in a line of their own
			prefix = "tx"
		}
		if prefix == "rx" || prefix == "tx" {
			for _, m := range linkNumber.FindAllStringSubmatch(line, -1) {
				v, ok := count(m[2])
				name := fmt.Sprintf("link.%s_%s", prefix, strings.TrimSuffix(m[1], "s")+plural(m[1]))
				switch m[1] {
				case "overruns":
					name = "link." + prefix + "_overrun"
				case "collisions":
					name = "link." + prefix + "_collsns"
				}
				if ok {
					n.keepCount(name, v, src)
				}
			}
		}
	}
	return nothingUnless(found)
}

// takeAddress keeps the Ethernet address that a line of ifconfig shows.
func (n *NIC) takeAddress(line string) {
	if m := linkAddress.FindStringSubmatch(line); m != nil && n.MAC == "" {
		n.MAC = m[1]
	}
}

var linkAddress = regexp.MustCompile(`\b(?:ether|HWaddr) ((?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2})\b`)

// translated keeps the numbers of a row that is not in English.
func (n *NIC) translated(row []string, src Source) {
	way, names := "rx", []string{"packets", "errors", "dropped", "overrun", "frame"}
	if row[1][0]|0x20 == 't' {
		way, names = "tx", []string{"packets", "errors", "dropped", "overrun", "carrier"}
	}
	for i, name := range names {
		if v, ok := count(row[i+2]); ok {
			n.keepCount("link."+way+"_"+name, v, src)
		}
	}
}

// plural keeps the names that ip uses: packets, errors, dropped.
func plural(word string) string {
	if strings.HasSuffix(word, "s") {
		return "s"
	}
	return ""
}

// kindByName is the kind of an interface of which only the name is known.
func kindByName(name string) string {
	if m := tunnelKind.FindStringSubmatch(name); m != nil {
		return map[string]string{"wg": "wireguard", "ppp": "ppp", "pppoe-": "ppp", "tun": "tun", "tap": "tun"}[m[1]+m[2]]
	}
	return "ethernet"
}

// tunnelKind are names that programs give to tunnels, whose kind ifconfig and ethtool do not tell.
var tunnelKind = regexp.MustCompile(`^(?:(wg|ppp|tun|tap)\d|(pppoe-)\w)`)

func (f *Facts) linuxLink(name string, src Source) *NIC {
	if n := f.NIC(name); n != nil {
		if n.Counters == nil {
			n.Counters = map[string]Counter{}
		}
		return n
	}
	n := NIC{Name: name, Kind: kindByName(name), Counters: map[string]Counter{}, Source: src, Up: true, StateUnknown: true,
		Shown: map[string]Source{"mtu": src}}
	if name == "lo" {
		n.Kind = "loopback"
	}
	if len(f.NICs) >= linkLimit {
		return &NIC{Counters: map[string]Counter{}} // counted nowhere
	}
	f.NICs = append(f.NICs, n)
	return &f.NICs[len(f.NICs)-1]
}
