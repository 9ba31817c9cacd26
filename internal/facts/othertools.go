package facts

import (
	"strings"

	"github.com/wirerate/wirerate/internal/kerneltext"
)

// keepLink adds a counter to an interface where ip has not said it.
func (n *NIC) keepLink(name, value string, src Source) {
	v, ok := count(value)
	if _, have := n.Counters["link."+name]; ok && !have {
		n.Counters["link."+name] = Counter{Value: v, Source: src}
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

// readLinuxInterfaces reads netstat -i of Linux's net-tools: "Iface MTU [Met]
// RX-OK RX-ERR RX-DRP RX-OVR TX-OK TX-ERR TX-DRP TX-OVR Flg".
func (f *Facts) readLinuxInterfaces(t text) error {
	fields := map[string]string{"RX-OK": "rx_packets", "RX-ERR": "rx_errors", "RX-DRP": "rx_dropped", "RX-OVR": "rx_overrun",
		"TX-OK": "tx_packets", "TX-ERR": "tx_errors", "TX-DRP": "tx_dropped", "TX-OVR": "tx_overrun"}
	var heads []string
	found := false
	for i, line := range t.lines() {
		words := strings.Fields(line)
		if len(words) >= 9 && words[0] == "Iface" {
			heads = words
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
			case head == "Flg" && strings.Contains(words[j], "R") && strings.Contains(words[j], "U"):
				n.Up = true
			}
		}
	}
	if !found {
		return errNothing
	}
	return nil
}

// readLscpu reads lscpu of util-linux.
func (f *Facts) readLscpu(t text) error {
	found := false
	colonFields(t, func(line int, name, value string) {
		v, number := count(value)
		switch {
		case name == "CPU(s)" && number && v > 0 && v <= maxProcessors:
			found = true
			if f.Cores == 0 {
				f.Cores = int(v)
			}
		case name == "Thread(s) per core" && number && v <= 8:
			f.ThreadsPerCore = int(v)
		case name == "Model name" && f.Processor == "":
			f.Processor = shorten(value)
		case strings.HasPrefix(name, "NUMA node") && strings.HasSuffix(name, " CPU(s)"): // "NUMA node0 CPU(s): 0-7"
			node := strings.TrimSuffix(strings.TrimPrefix(name, "NUMA "), " CPU(s)")
			key := "/sys/devices/system/node/" + node + "/cpulist"
			if _, have := f.Settings[key]; !have {
				f.Settings[key] = Setting{Value: value, State: Read, Source: f.Line(t.from, line)}
			}
		}
	})
	if !found {
		return errNothing
	}
	return nil
}
