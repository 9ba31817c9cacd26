package facts

import (
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/units"
)

// readSysNet reads the files of /sys/class/net as grep prints them:
// INTERFACE/FILE:CONTENT. Those of an interface whose address differs from the
// one that ip shows belong to another network namespace and are left out.
func (f *Facts) readSysNet(t text) error {
	foreign := map[string]bool{}
	for _, line := range t.lines() {
		if path, mac, ok := strings.Cut(line, "/address:"); ok {
			if n := f.NIC(path); n != nil && n.MAC != "" && !strings.EqualFold(n.MAC, mac) {
				foreign[path] = true
			}
		}
	}
	found := false
	queues := map[string]*Queues{}
	masters := map[string]string{} // of the members of bonds
	for i, line := range t.lines() {
		path, value, ok := strings.Cut(line, ":")
		if before, target, link := strings.Cut(line, " -> "); link { // of ls: "... eth0/device -> ../../../virtio2"
			path, value, ok = before[strings.LastIndexByte(before, ' ')+1:], target, true
		}
		name, file, ok2 := strings.Cut(path, "/")
		n := f.NIC(name)
		if !ok || !ok2 || n == nil || foreign[name] {
			continue
		}
		found = true
		if strings.HasPrefix(file, "queues/") {
			if queues[name] == nil {
				queues[name] = &Queues{}
			}
			countQueue(n, queues[name], strings.TrimPrefix(file, "queues/"), value)
			continue
		}
		if counter, ok := strings.CutPrefix(file, "statistics/"); ok {
			n.statistic(counter, strings.TrimSpace(value), f.Line(t.from, i+1))
			f.use(t.from, i+1)
			continue
		}
		f.use(t.from, i+1)
		n.sysFile(file, strings.TrimSpace(value), Source{From: "/sys/class/net/" + path, Line: 0, Text: value}, i)
		if file == "bonding/slaves" {
			for _, member := range strings.Fields(value) {
				masters[member] = name
			}
		}
	}
	for member, bond := range masters {
		if n := f.NIC(member); n != nil {
			n.Master = bond
		}
	}
	for name, q := range queues {
		if n := f.NIC(name); q.RX > 0 {
			n.Queues.RX, n.Queues.TX = q.RX, q.TX
		}
	}
	return nothingUnless(found)
}

func countQueue(n *NIC, q *Queues, file, value string) {
	queue, attribute, _ := strings.Cut(file, "/")
	switch {
	case attribute == "rps_cpus":
		if n.RPS == nil {
			n.RPS = map[string]string{}
		}
		n.RPS[queue] = value
	case attribute == "xps_cpus":
		if n.XPS == nil {
			n.XPS = map[string]string{}
		}
		n.XPS[queue] = value
	case attribute != "":
	case strings.HasPrefix(queue, "rx-"):
		q.RX++
	case strings.HasPrefix(queue, "tx-"):
		q.TX++
	}
}

func (n *NIC) sysFile(file, value string, src Source, _ int) {
	show := func(field string) {
		if n.Shown == nil {
			n.Shown = map[string]Source{}
		}
		n.Shown[field] = src
	}
	switch file {
	case "speed": // Mbit/s, -1 when not known
		if v, ok := wholeNumber(value); ok && v > 0 && v < 10_000_000 && v != unknownSpeed {
			n.Speed = units.Rate(v) * units.Mbit
			show("speed_bps")
		}
	case "duplex":
		if value == "full" || value == "half" {
			n.Duplex = value
			show("duplex")
		}
	case "mtu":
		if v := wholeMTU(value); v > 0 && n.MTU == 0 {
			n.MTU = v
			show("mtu")
		}
	case "operstate":
		if n.StateUnknown && (value == "up" || value == "down") {
			n.Up, n.StateUnknown = value == "up", false
		}
	case "bonding/xmit_hash_policy":
		n.Hash, _, _ = strings.Cut(value, " ")
		show("hash")
	case "bonding/ad_aggregator": // empty in the other modes (bond_sysfs.c)
		n.Kind = "bond"
		if value != "" {
			n.Aggregator, n.BondMode = value, lacpMode
			show("aggregator")
		}
	case "bonding_slave/ad_aggregator_id":
		n.Aggregator = value
		show("aggregator")
	case "device/driver":
		n.Driver = value[strings.LastIndex(value, "/")+1:]
		show("driver")
	case "device": // virtio2, 0000:3b:00.0, usb's 1-1:1.0
		n.Device = value[strings.LastIndex(value, "/")+1:]
		if n.Bus == "" && pciAddress.MatchString(n.Device) {
			n.Bus = n.Device
		}
	case "carrier_changes", "carrier_down_count":
		if v, ok := count(value); ok {
			n.put(file, Counter{Value: v, Source: src})
		}
	case "device/numa_node":
		if v, ok := wholeNumber(value); ok && v >= 0 {
			node := int(v)
			n.NUMANode = &node
			show("numa_node")
		}
	case "device/current_link_speed", "device/current_link_width", "device/max_link_speed", "device/max_link_width":
		n.pcieFile(strings.TrimPrefix(file, "device/"), value)
		show("pcie." + strings.TrimPrefix(file, "device/"))
	}
}

var pciAddress = regexp.MustCompile(`^[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$`)

// pcieFile reads "8.0 GT/s PCIe" and a width; kernels write "Unknown" and
// widths of 0 and 255 for devices without a link.
func (n *NIC) pcieFile(file, value string) {
	word, _, _ := strings.Cut(value, " ")
	v, err := strconv.ParseFloat(word, 64)
	if err != nil || v <= 0 || v >= 255 {
		return
	}
	if n.PCIe == nil {
		n.PCIe = &PCIe{Form: "pcie"}
	}
	switch file {
	case "current_link_speed":
		n.PCIe.Speed = v
	case "current_link_width":
		n.PCIe.Width = int(v)
	case "max_link_speed":
		n.PCIe.MaxSpeed = v
	case "max_link_width":
		n.PCIe.MaxWidth = int(v)
	}
}

// sysStatistics are the files of statistics by the names that ip has for them (Linux
// Documentation/ABI/testing/sysfs-class-net-statistics).
var sysStatistics = map[string]string{"collisions": "tx_collsns", "multicast": "rx_mcast",
	"rx_crc_errors":  "rx_errors_crc",
	"rx_fifo_errors": "rx_errors_fifo", "rx_frame_errors": "rx_errors_frame", "rx_length_errors": "rx_errors_length",
	"rx_missed_errors": "rx_missed", "rx_over_errors": "rx_overrun", "tx_carrier_errors": "tx_carrier",
	"tx_fifo_errors": "tx_errors_fifo", "tx_aborted_errors": "tx_errors_aborted"}

func (n *NIC) statistic(name, value string, src Source) {
	if n.Counters == nil {
		n.Counters = map[string]Counter{}
	}
	if other := sysStatistics[name]; other != "" {
		name = other
	}
	n.keepLink(name, value, src)
}

// put keeps a counter.
func (n *NIC) put(name string, c Counter) {
	if n.Counters == nil {
		n.Counters = map[string]Counter{}
	}
	n.Counters[name] = c
}
