package facts

import (
	"cmp"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// RDMA is the name under which the counters of RDMA devices are kept.
const RDMA = "rdma statistic show"

// The counters of an RDMA device: as grep prints the files of /sys/class/infiniband/DEVICE/ports/PORT/hw_counters, as
// rdma(8) of iproute2 prints them: "link mlx5_0/1 NAME VALUE ...", with -p one to a line below the device, and as
// perfquery ("# Port counters: Lid 12 port 1", "SymbolErrorCounter:......7") and ibqueryerrors of infiniband-diags do.
var (
	rdmaFile  = regexp.MustCompile(`(?:^|/)infiniband/([\w.-]+)/ports/\d+/(?:hw_)?counters/(\w+):(\d+)$`)
	rdmaLink  = regexp.MustCompile(`^link ([\w.-]+)/\d+(?: (.*))?$`)
	rdmaBelow = regexp.MustCompile(`^\s+(\w+) (\d+)$`)
	fabricOf  = regexp.MustCompile(fabricHead)
	fabricRow = regexp.MustCompile(`^(\w+):\.{2,}(\d+)$`)
	// fabricErrors is a port of ibqueryerrors, below the name of its node.
	fabricNode   = regexp.MustCompile(`^Errors for (?:0x[0-9a-f]+ )?"?([^"]{1,64})"?$`)
	fabricErrors = regexp.MustCompile(fabricPort)
	fabricPair   = regexp.MustCompile(`\[(\w+) == (\d+)`)
	// FabricForm is a line of either.
	FabricForm = regexp.MustCompile(fabricHead + `|^[A-Z]\w+:\.{4,}(?:\d+|0x[0-9a-f]+)$|` + fabricPort)
)

const (
	fabricHead = `^# Port (?:extended )?counters: Lid (\d{1,5}) port (\d{1,3})\b`
	fabricPort = `^\s+GUID 0x[0-9a-f]+ port (\d{1,3}|ALL):(?: \[|$)`
)

// fabricNames are the names of perfquery as the kernel has them.
var fabricNames = map[string]string{"SymbolErrorCounter": "symbol_error", "LinkErrorRecoveryCounter": "link_error_recovery",
	"LinkDownedCounter": "link_downed", "PortRcvErrors": "port_rcv_errors", "PortRcvPkts": "port_rcv_packets",
	"LocalLinkIntegrityErrors": "local_link_integrity_errors"}

// readRDMA keeps the counters as rdma.DEVICE.NAME.
func (f *Facts) readRDMA(t text) error {
	device, node, found := "", "", false
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
		} else if m := fabricOf.FindStringSubmatch(line); m != nil {
			device = "LID " + m[1] + " port " + m[2]
		} else if m := fabricRow.FindStringSubmatch(line); m != nil {
			if device == "" {
				device = "port" // somebody cut its name off
			}
			keep(cmp.Or(fabricNames[m[1]], m[1]), m[2], i+1)
		} else if m := fabricNode.FindStringSubmatch(line); m != nil {
			node = strings.ReplaceAll(m[1], ".", "_") + " "
		} else if m := fabricErrors.FindStringSubmatch(line); m != nil && m[1] != "ALL" { // ALL is the sum of a node
			device = node + "port " + m[1]
			for _, p := range fabricPair.FindAllStringSubmatch(line, 32) {
				keep(cmp.Or(fabricNames[p[1]], p[1]), p[2], i+1)
			}
		}
	}
	return nothingUnless(found)
}
