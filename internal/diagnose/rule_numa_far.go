package diagnose

import (
	"fmt"
	"strconv"
	"strings"
)

// numaFar finds cards whose interrupts run on another NUMA node.
func numaFar() Rule {
	return Rule{
		ID: "numa-far", Title: "A card's interrupts run on a remote NUMA node", Systems: onLinux(),
		Needs: []string{"interrupts", "system files"}, Severity: Warning,
		Because: "Every packet then crosses the interconnect between the sockets, which costs latency and memory bandwidth.",
		Check: func(in Input) (out []Finding) {
			byCard := interruptsByCard(in.Facts)
			for i := range in.Facts.NICs {
				n := &in.Facts.NICs[i]
				if n.NUMANode == nil {
					continue
				}
				name := fmt.Sprintf("/sys/devices/system/node/node%d/cpulist", *n.NUMANode)
				list, ok := in.Facts.Setting(name)
				near := cpuList(list)
				_, others := in.Facts.Setting("/sys/devices/system/node/node1/cpulist")
				sums, _, evidence := queueInterrupts(byCard[n.Name])
				if !ok || len(near) == 0 || !others {
					continue
				}
				var all, far uint64
				for id, v := range sums {
					all += v
					if !near[id] {
						far += v
					}
				}
				if all < 10000 || float64(far) < 0.5*float64(all) {
					continue
				}
				evidence = append(sample(evidence), in.Facts.Settings[name].Source, n.Shown["numa_node"])
				out = append(out, do(fmt.Sprintf("pin the card's interrupts (/proc/irq/N/smp_affinity_list) and the program "+
					"(taskset -c) to CPUs %s of its node %d", list, *n.NUMANode),
					one(n.Name, evidence, "%.0f%% of its interrupts ran on CPUs of other nodes", 100*float64(far)/float64(all)))...)
			}
			return out
		},
		Fires: numaExample("900000          0"),
		Quiet: numaExample("0          900000"),
	}
}

func numaExample(perCPU string) Example {
	return linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000, 0, 0, 0), "/sys/class/net",
		"eth0/device/numa_node:1\n",
		"/sys", "/sys/devices/system/node/node0/cpulist:0\n/sys/devices/system/node/node1/cpulist:1\n",
		"/proc/interrupts", "       CPU0       CPU1\n 40: "+perCPU+"   PCI-MSI 1-edge      eth0-TxRx-0\n")
}

// cpuList reads a list such as 0-3,8-11.
func cpuList(s string) map[int]bool {
	set := map[int]bool{}
	for _, part := range strings.Split(s, ",") {
		low, high, isRange := strings.Cut(strings.TrimSpace(part), "-")
		first, err := strconv.Atoi(low)
		if err != nil {
			continue
		}
		last := first
		if isRange {
			if last, err = strconv.Atoi(high); err != nil {
				continue
			}
		}
		for id := first; id <= last && id < first+8192; id++ {
			set[id] = true
		}
	}
	return set
}
