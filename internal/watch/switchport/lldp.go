package switchport

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"

	"github.com/gosnmp/gosnmp"
)

// LLDP-MIB of IEEE 802.1AB-2005: lldpLocPortTable, by a port's number, and
// lldpRemTable, by a time mark, that number and a counter.
const (
	locPortID   = ".1.0.8802.1.1.2.1.3.7.1.3"
	locPortDesc = ".1.0.8802.1.1.2.1.3.7.1.4"
	remEntry    = ".1.0.8802.1.1.2.1.4.1.1."
	remChassis  = remEntry + "5"
	remPortType = remEntry + "6"
	remPortID   = remEntry + "7"
	remSysName  = remEntry + "9"
)

// Kinds of a port's name (LldpPortIdSubtype).
const (
	portIsMAC  = 3
	portIsName = 5
)

// rows bounds what is read of a table.
const rows = 1 << 14

var errTable = errors.New("the table does not end")

// table walks one column: the rest of each name, and its value.
func table(c *gosnmp.GoSNMP, column string, row func(rest string, p gosnmp.SnmpPDU)) error {
	n := 0
	return c.BulkWalk(column, func(p gosnmp.SnmpPDU) error {
		rest, ok := strings.CutPrefix(p.Name, column+".")
		if n++; n > rows || !ok {
			return errTable
		}
		row(rest, p)
		return nil
	})
}

// find tells the index of the port that is asked for.
func find(c *gosnmp.GoSNMP, name string, machine Machine) (index string, err error) {
	names := map[string]string{} // by index
	if err := table(c, ifName, func(rest string, p gosnmp.SnmpPDU) { names[rest] = text(p) }); err != nil {
		return "", err
	}
	if name == "" {
		return neighbour(c, names, machine)
	}
	for index, known := range names {
		if known == name {
			return index, nil
		}
	}
	return "", fmt.Errorf("it has no port %q, but %s", name, some(names))
}

// some are a few names, for a message.
func some(names map[string]string) string {
	var all []string
	for _, n := range names {
		all = append(all, n)
	}
	slices.Sort(all)
	if len(all) > 8 {
		all = append(all[:8], "...")
	}
	if len(all) == 0 {
		return "names none (IF-MIB's ifName)"
	}
	return strings.Join(all, ", ")
}

// Machine is how LLDP may know a machine.
type Machine struct {
	Name       string // of the host
	Interfaces []net.Interface
}

// ThisMachine is the one that this program runs on.
func ThisMachine() Machine {
	m := Machine{}
	m.Name, _ = os.Hostname()
	m.Interfaces, _ = net.Interfaces()
	return m
}

// has reports whether one of the machine's interfaces has an address.
func (m Machine) has(mac []byte) bool {
	return len(mac) == 6 && slices.ContainsFunc(m.Interfaces,
		func(i net.Interface) bool { return bytes.Equal(i.HardwareAddr, mac) })
}

func (m Machine) named(name string) bool {
	return slices.ContainsFunc(m.Interfaces, func(i net.Interface) bool { return i.Name == name })
}

// neighbour tells the port that hears this machine: one whose neighbour gives an
// address of ours, or our name with that of an interface of ours.
func neighbour(c *gosnmp.GoSNMP, names map[string]string, m Machine) (string, error) {
	types, systems := map[string]uint64{}, map[string]string{}
	err := errors.Join(
		table(c, remPortType, func(rest string, p gosnmp.SnmpPDU) {
			n, _ := numberOf(p)
			types[rest] = n.value
		}), table(c, remSysName, func(rest string, p gosnmp.SnmpPDU) { systems[rest] = text(p) }))
	ports := map[string]bool{}
	match := func(rest string, ours bool) {
		if parts := strings.Split(rest, "."); ours && len(parts) == 3 {
			ports[parts[1]] = true
		}
	}
	err = errors.Join(err,
		table(c, remChassis, func(rest string, p gosnmp.SnmpPDU) {
			mac, _ := p.Value.([]byte)
			match(rest, m.has(mac))
		}),
		table(c, remPortID, func(rest string, p gosnmp.SnmpPDU) {
			id, _ := p.Value.([]byte)
			match(rest, types[rest] == portIsMAC && m.has(id) ||
				types[rest] == portIsName && m.named(string(id)) && m.Name != "" && sameSystem(systems[rest], m.Name))
		}))
	switch {
	case err != nil:
		return "", err
	case len(types) == 0:
		return "", errors.New("its LLDP knows no neighbour: name the port, snmp://HOST/IFNAME")
	case len(ports) == 0:
		return "", errors.New("none of its LLDP neighbours is this machine: name the port, " +
			"snmp://HOST/IFNAME, or run lldpd here")
	case len(ports) > 1:
		return "", fmt.Errorf("LLDP hears this machine at %d of its ports: name one, snmp://HOST/IFNAME", len(ports))
	}
	for number := range ports {
		return indexOf(c, number, names)
	}
	return "", nil
}

// sameSystem compares names of a host, of which one may have its domain.
func sameSystem(a, b string) bool {
	a, _, _ = strings.Cut(strings.ToLower(a), ".")
	b, _, _ = strings.Cut(strings.ToLower(b), ".")
	return a == b
}

// indexOf tells the interface of a port's number in LLDP: the one of the same name,
// else of the same number.
func indexOf(c *gosnmp.GoSNMP, number string, names map[string]string) (string, error) {
	found := ""
	for _, column := range []string{locPortID, locPortDesc} {
		err := table(c, column, func(rest string, p gosnmp.SnmpPDU) {
			for index, name := range names {
				if rest == number && name != "" && text(p) == name && found == "" {
					found = index
				}
			}
		})
		if err != nil || found != "" {
			return found, err
		}
	}
	if _, known := names[number]; known {
		return number, nil
	}
	return "", fmt.Errorf("which interface its LLDP port %s is, it does not tell: name the port, snmp://HOST/IFNAME",
		number)
}
