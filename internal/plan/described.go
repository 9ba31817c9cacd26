package plan

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/name"
)

var nicWord = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,14}$`)

// families are the drivers of the same cards on the three systems: the
// driver's name on Linux, and what FreeBSD and OpenBSD call the interfaces
// ("" where the system has no driver). FreeBSD mlx5en(4) and mlx4en(4) name
// theirs mce and mlxen; OpenBSD em(4) drives what igb drives elsewhere.
var families = []struct{ linux, freebsd, openbsd string }{
	{"mlx5_core", "mce", "mcx"},
	{"mlx4_en", "mlxen", ""},
	{"ixgbe", "ix", "ix"},
	{"i40e", "ixl", "ixl"},
	{"ice", "ice", "ice"},
	{"igb", "igb", "em"},
	{"igc", "igc", "igc"},
	{"e1000e", "em", "em"},
	{"r8169", "re", "re"},
	{"bnxt_en", "bnxt", "bnxt"},
	{"virtio_net", "vtnet", "vio"},
	{"vmxnet3", "vmx", "vmx"},
	{"tg3", "bge", "bge"},
}

// spellings are other names under which those drivers are known.
var spellings = map[string]string{"mlx5": "mlx5_core", "mlx5en": "mlx5_core", "mlx4": "mlx4_en", "mlx4en": "mlx4_en", "virtio": "virtio_net", "vmxnet": "vmxnet3"}

// iflibDrivers are the FreeBSD drivers on iflib(4), which alone have the
// dev.DRIVER.UNIT.iflib settings.
var iflibDrivers = []string{"em", "igb", "igc", "ix", "ixv", "ixl", "iavf", "ice", "bnxt", "vmx", "ax", "enetc", "mgb"}

// ownName is what a driver of any of the systems is called on this one.
func ownName(system catalog.System, driver string) string {
	if long := spellings[driver]; long != "" {
		driver = long
	}
	for _, f := range families {
		own := map[catalog.System]string{catalog.Linux: f.linux, catalog.FreeBSD: f.freebsd, catalog.OpenBSD: f.openbsd}[system]
		if driver == own {
			return driver
		}
	}
	for _, f := range families {
		own := map[catalog.System]string{catalog.Linux: f.linux, catalog.FreeBSD: f.freebsd, catalog.OpenBSD: f.openbsd}[system]
		if own != "" && slices.Contains([]string{f.linux, f.freebsd, f.openbsd}, driver) {
			return own
		}
	}
	return driver
}

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
		case system == catalog.Linux || spellings[nic] != "" || ownName(system, nic) != nic:
			driver = nic
		case stem != nic && stem != "":
			driver = stem
		default:
			driver = nic
		}
		own := ownName(system, driver)
		switch {
		case both:
		case system == catalog.Linux:
			nic = fmt.Sprintf("eth%d", i)
			assumed = append(assumed, fmt.Sprintf("the interface of driver %s is called %s in the files, as its name is not known: give it as --nic NAME:%s", own, nic, own))
		case driver == nic || own != driver:
			nic = fmt.Sprintf("%s%d", own, countOf(nics, own))
		}
		if own != driver {
			assumed = append(assumed, fmt.Sprintf("%s names another system's driver: this system's for the same cards is %s, and the interface %s", driver, own, nic))
		}
		if seen[nic] {
			return nil, nil, fmt.Errorf("%s is named twice", nic)
		}
		seen[nic] = true
		parsed, err := name.ParseInterface(string(system), nic)
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
	virtual := slices.Contains([]string{"virtio_net", "vmxnet3", "ena", "hv_netvsc", "xen_netfront", "gve"}, driver)
	switch {
	case strings.HasPrefix(setting, "ethtool:pause/"):
		return virtual
	case setting == "ethtool:eee":
		// Only copper links sleep.
		return !slices.Contains([]string{"igb", "igc", "e1000e", "r8169", "tg3"}, driver)
	case setting == "ethtool:coalesce/adaptive-rx", setting == "ethtool:coalesce/adaptive-tx":
		return !slices.Contains([]string{"ice", "i40e", "iavf", "mlx5_core", "mlx4_en", "bnxt_en", "ena", "vmxnet3", "be2net", "enic", "hns3"}, driver)
	case strings.HasPrefix(setting, "ethtool:coalesce/"):
		return slices.Contains([]string{"virtio_net", "hv_netvsc", "xen_netfront"}, driver)
	case strings.HasPrefix(setting, "ethtool:ring/"):
		return slices.Contains([]string{"r8169", "xen_netfront"}, driver)
	}
	return false
}

func lacksHere(rec *catalog.Record, inst instance) bool {
	driver, ok := inst.inputs["driver"].(string)
	return ok && strings.Contains(inst.name, "@") && lacks(driver, rec.Name)
}

// capacity is what the driver of a described interface offers by itself: the
// largest ring, and the receive queues of a machine with so many processors.
// 0 where it depends on the card or on the hypervisor.
func capacity(system catalog.System, driver string, cores int) (queues, ring int) {
	largest := map[string]int{"igb": 4096, "igc": 4096, "ix": 4096, "ixgbe": 4096, "ixl": 4096, "i40e": 4096, "em": 4096, "e1000e": 4096, "ice": 8160,
		"mlx5_core": 8192, "bnxt_en": 2047, "tg3": 511}
	if system == catalog.OpenBSD {
		return 0, 0
	}
	most := map[string]int{"ix": 16, "ixl": 16, "ixgbe": 63, "i40e": 64, "ice": 64, "mlx5_core": 64, "igb": 8, "igc": 4}
	one := []string{"e1000e", "r8169", "re"}
	switch {
	case slices.Contains(one, driver):
		queues = 1
	case most[driver] > 0:
		queues = min(cores, most[driver])
	}
	return queues, largest[driver]
}

// rings are the descriptors of a receive ring with which Linux drivers start:
// IGB_DEFAULT_RXD and its fellows in drivers/net/ethernet/intel,
// MLX5E_PARAMS_DEFAULT_LOG_RQ_SIZE, BNXT_DEFAULT_RX_RING_SIZE.
var rings = map[string]string{"igb": "256", "igc": "256", "e1000e": "256", "ixgbe": "512", "i40e": "512", "ice": "2048", "mlx5_core": "1024", "bnxt_en": "511"}

// driverDefault is the value with which a described interface starts, where
// the driver decides it and is known; else empty.
func driverDefault(rec *catalog.Record, inst instance, m Machine) string {
	driver, _ := inst.inputs["driver"].(string)
	if m.System != catalog.Linux || m.Running != nil || rec.Name != "ethtool:ring/rx" {
		return ""
	}
	return rings[driver]
}

// knownDriver tells whether a driver is one that this package or the catalog
// has something to say about.
func knownDriver(system catalog.System, driver string) bool {
	others := map[catalog.System][]string{
		catalog.Linux:   {"ena", "hv_netvsc", "xen_netfront", "gve", "iavf", "be2net", "enic", "hns3", "cxgb4", "qede", "sfc", "bnx2x", "atlantic", "veth", "ixgbevf", "nfp", "mlx4_core", "e1000", "bnx2", "forcedeth", "alx", "sky2", "tun", "macvlan", "vlan", "bonding", "bridge"},
		catalog.FreeBSD: {"cxl", "cc", "cxgbe", "ccv", "cxlv", "vcc", "mxge", "bxe", "hn", "xn", "ena", "gve", "msk", "alc", "age", "axe", "cxgb", "oce", "qlxgb", "qlnx", "sfxge", "aq", "ixv", "iavf", "ax", "mgb", "enetc", "dpni", "genet", "cpsw", "ure", "bce", "nfe", "fxp", "xl", "lagg", "vlan", "epair", "tap"},
		catalog.OpenBSD: {"bge", "bnx", "msk", "hvn", "xnf", "mvneta", "mvpp", "dwge", "dwqe", "cas", "gem", "fxp", "xl", "sk", "alc", "age", "jme", "nfe", "vr", "rge", "mcx", "ixl", "bnxt", "aq", "iavf", "urndis", "axen", "ure", "vic", "nep", "tht", "oce", "xge", "myx"},
	}
	if slices.Contains(others[system], driver) {
		return true
	}
	for _, f := range families {
		if driver == map[catalog.System]string{catalog.Linux: f.linux, catalog.FreeBSD: f.freebsd, catalog.OpenBSD: f.openbsd}[system] {
			return true
		}
	}
	return false
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
		switch {
		case !knownDriver(m.System, nic.Driver):
			text = fmt.Sprintf("a card of %s, is of a driver that is not described: what its queues, rings and options need is not decided unless --queues and --ring-max are given", nic.Driver)
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
			text = strings.NewReplacer("a card of", "cards of", ", is ", ", are ", "its queues", "their queues").Replace(text)
		}
		m.Assumed = append(m.Assumed, strings.Join(names, " and ")+", "+text)
	}
	return m
}
