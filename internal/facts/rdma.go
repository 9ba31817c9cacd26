package facts

import (
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// RDMA is the name under which the counters of RDMA devices are kept.
const RDMA = "rdma statistic show"

// The counters of an RDMA device: as grep prints the files of /sys/class/infiniband/DEVICE/ports/PORT/hw_counters, and as
// rdma(8) of iproute2 prints them: "link mlx5_0/1 NAME VALUE ...", with -p one to a line below the device.
var (
	rdmaFile  = regexp.MustCompile(`(?:^|/)infiniband/([\w.-]+)/ports/\d+/(?:hw_)?counters/(\w+):(\d+)$`)
	rdmaLink  = regexp.MustCompile(`^link ([\w.-]+)/\d+(?: (.*))?$`)
	rdmaBelow = regexp.MustCompile(`^\s+(\w+) (\d+)$`)
)

// readRDMA keeps the counters as rdma.DEVICE.NAME.
func (f *Facts) readRDMA(t text) error {
	device, found := "", false
	keep := func(name, number string, line int) {
		if v, ok := count(number); ok && device != "" {
			f.keepCounter(f.Counters, "rdma."+device+"."+name, Counter{Value: v, Source: f.Line(t.from, line)})
			f.use(t.from, line)
			found = true
		}
	}
	for i, line := range t.lines() {
		line = strings.TrimRight(line, " \r")
		if m := rdmaFile.FindStringSubmatch(line); m != nil {
			device = m[1]
			keep(m[2], m[3], i+1)
		} else if m := rdmaLink.FindStringSubmatch(line); m != nil {
			device = m[1]
			words := strings.Fields(m[2])
			for k := 0; k+1 < len(words); k += 2 {
				keep(words[k], words[k+1], i+1)
			}
		} else if m := rdmaBelow.FindStringSubmatch(line); m != nil {
			keep(m[1], m[2], i+1)
		}
	}
	return nothingUnless(found)
}
