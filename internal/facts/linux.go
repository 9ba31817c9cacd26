package facts

import (
	"context"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/host"
)

// nicLimit bounds the interfaces that are asked one by one: a container host
// has hundreds that are all alike.
const nicLimit = 24

// grepInterfaces prints the small files of every interface as PATH:CONTENT.
const grepInterfaces = `cd /sys/class/net && grep -s '' */speed */duplex */address */ifindex */carrier */operstate ` +
	`*/device/numa_node */device/current_link_speed */device/current_link_width */device/max_link_speed */device/max_link_width ` +
	`*/queues/rx-*/rps_cpus */queues/rx-*/rps_flow_cnt */bonding/xmit_hash_policy */bonding/mode; ` +
	`for d in */device/driver; do [ -e "$d" ] && echo "$d:$(basename "$(readlink -f "$d")")"; done; ` +
	`for q in */queues/*; do [ -e "$q" ] && echo "$q:"; done; true`

// linuxReaders are the sources of Linux, without those of single interfaces
// where the interfaces are not known.
func (f *Facts) linuxReaders() []reader {
	readers := []reader{
		{"memory", host.Read("/proc/meminfo"), (*Facts).readMeminfo},
		{"processor", host.Read("/proc/cpuinfo"), (*Facts).readCPUInfo},
		{"page size", host.Command("getconf", "PAGESIZE"), (*Facts).readPageSize},
		{"distribution", host.Read("/etc/os-release"), (*Facts).readOSRelease},
		{"uptime", host.Read("/proc/uptime"), (*Facts).readUptime},
		{"interfaces", host.Command("sh", "-c", grepInterfaces), (*Facts).readSysNet},
		{"addresses", host.Command("ip", "-o", "address", "show"), (*Facts).readAddresses},
		{"routes", host.Command("ip", "route", "show", "table", "main"), (*Facts).readIPRoute},
	}
	for _, nic := range f.askedNICs() {
		readers = append(readers, ethtoolReaders(nic)...)
	}
	return readers
}

// askedNICs are the interfaces that ethtool is asked about.
func (f *Facts) askedNICs() []string {
	var names []string
	for i := range f.NICs {
		n := &f.NICs[i]
		if n.Kind != "loopback" && len(names) < nicLimit && !strings.HasPrefix(n.Name, "-") {
			names = append(names, n.Name)
		}
	}
	return names
}

// finish derives what several sources say together.
func (f *Facts) finish() {}

func (f *Facts) sample(context.Context, host.Conn, []reader, time.Duration) error { return nil }
