package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/name"
	"github.com/wirerate/wirerate/internal/regexp"
)

var nicWord = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,14}$`)

// DescribedInterfaces reads a comma-separated list of interfaces of a machine
// that is only described: a driver, NAME:DRIVER, or on the BSDs a name, which
// is its driver's with a number. A driver's name on another system stands for
// this system's driver of the same cards. What had to be assumed is said.
func DescribedInterfaces(system catalog.System, list string) ([]Interface, []string, error) {
	var nics []Interface
	var assumed []string
	seen := map[string]bool{}
	for i, word := range strings.Split(list, ",") {
		nic, driver, both := strings.Cut(word, ":")
		if !nicWord.MatchString(nic) || both && !nicWord.MatchString(driver) {
			return nil, nil, fmt.Errorf("%q: a driver such as ix, or NAME:DRIVER such as eth0:igb, is expected", word)
		}
		stem := strings.TrimRight(nic, "0123456789")
		switch {
		case both:
		case system == catalog.Linux || catalog.OwnDriver(system, nic) != nic:
			driver = nic
		case stem != nic && stem != "":
			driver = stem
		default:
			driver = nic
		}
		own := catalog.OwnDriver(system, driver)
		switch {
		case both:
		case system == catalog.Linux:
			nic = fmt.Sprintf("eth%d", i)
			assumed = append(assumed, fmt.Sprintf("the interface of driver %s is called %s in the files, as its "+
				"name is not known: give it as --nic NAME:%s", own, nic, own))
		case driver == nic || own != driver:
			nic = fmt.Sprintf("%s%d", own, countOf(nics, own))
		}
		if own != driver {
			assumed = append(assumed, fmt.Sprintf("%s names another system's driver: this system's for the same "+
				"cards is %s, and the interface %s", driver, own, nic))
		}
		if seen[nic] {
			return nil, nil, fmt.Errorf("%s is named twice", nic)
		}
		seen[nic] = true
		parsed, err := name.ParseInterface(system, nic)
		if err != nil {
			return nil, nil, fmt.Errorf("%q: %w", word, err)
		}
		nics = append(nics, Interface{Name: parsed, Driver: own})
	}
	return nics, assumed, nil
}

func countOf(nics []Interface, driver string) int {
	n := 0
	for _, nic := range nics {
		if nic.Driver == driver {
			n++
		}
	}
	return n
}

// lacks tells whether a Linux driver is known to have no such setting, by the
// operations in its ethtool_ops: a plan for a described machine leaves it out.
func lacks(driver, setting string) bool {
	d, _ := catalog.DriverOf(catalog.Linux, driver)
	if setting == "ethtool:eee" || strings.HasPrefix(setting, "ethtool:coalesce/adaptive-") {
		return !d.HasSetting(setting)
	}
	return d.LacksSetting(setting)
}

// onIflib tells a FreeBSD driver with the dev.DRIVER.UNIT.iflib settings.
func onIflib(driver string) bool {
	d, _ := catalog.DriverOf(catalog.FreeBSD, driver)
	return d.Iflib
}

func lacksHere(rec *catalog.Record, inst instance) bool {
	driver, ok := inst.inputs["driver"].(string)
	return ok && strings.Contains(inst.name, "@") && lacks(driver, rec.Name)
}

// capacity is what the driver of a described interface offers by itself: the
// largest ring, and the receive queues of a machine with so many processors.
// 0 where it depends on the card or on the hypervisor.
func capacity(system catalog.System, driver string, cores int) (queues, ring int) {
	d, _ := catalog.DriverOf(system, driver)
	return min(cores, d.Queues), d.RingMax
}

// driverDefault is the value with which a described interface starts, where
// the driver decides it and is known; else empty.
func driverDefault(rec *catalog.Record, inst instance, m Machine) string {
	driver, _ := inst.inputs["driver"].(string)
	if m.System != catalog.Linux || m.Running != nil || rec.Name != "ethtool:ring/rx" {
		return ""
	}
	if d, _ := catalog.DriverOf(m.System, driver); d.Ring > 0 {
		return strconv.Itoa(d.Ring)
	}
	return ""
}

// counted writes a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// complete fills in what is not said about the interfaces of a described
// machine from their drivers, and says so.
func (m Machine) complete() Machine {
	if m.Running != nil {
		return m
	}
	m.Interfaces = slices.Clone(m.Interfaces)
	m.Assumed = slices.Clone(m.Assumed)
	alike := map[string][]string{} // interfaces by what is assumed of them
	var order []string
	for i := range m.Interfaces {
		nic := &m.Interfaces[i]
		queues, ring := capacity(m.System, nic.Driver, m.Cores)
		var said []string
		if nic.Queues == 0 && queues > 0 {
			nic.Queues = queues
			said = append(said, counted(queues, "receive queue")+" (--queues)")
		}
		if nic.RingMax == 0 && ring > 0 {
			nic.RingMax = ring
			said = append(said, fmt.Sprintf("rings of at most %d descriptors (--ring-max)", ring))
		}
		text := fmt.Sprintf("a card of %s, is taken to have %s", nic.Driver, strings.Join(said, " and "))
		_, known := catalog.DriverOf(m.System, nic.Driver)
		switch {
		case !known:
			text = fmt.Sprintf("a card of %s, is of a driver that is not described: what its queues, rings and "+
				"options need is not decided unless --queues and --ring-max are given", nic.Driver)
		case len(said) == 0:
			continue
		}
		if alike[text] == nil {
			order = append(order, text)
		}
		alike[text] = append(alike[text], string(nic.Name))
	}
	for _, text := range order {
		names := alike[text]
		if len(names) > 1 {
			text = strings.NewReplacer("a card of", "cards of", ", is ", ", are ", "its queues",
				"their queues").Replace(text)
		}
		m.Assumed = append(m.Assumed, strings.Join(names, " and ")+", "+text)
	}
	return m
}
