package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/name"
	"github.com/wirerate/wirerate/internal/shell"
)

// interruptScript gives each queue's interrupt of an interface the next of the
// processors named. Interrupts are those of the card in /sys; queues are told
// from others (link, mailbox) by the names in /proc/interrupts: eth0-TxRx-3,
// mlx5_comp4@pci, virtio0-input.1.
const interruptScript = `
for irq in $(ls "/sys/class/net/$nic/device/msi_irqs" "/sys/class/net/$nic/device/../msi_irqs" 2>/dev/null | grep -E '^[0-9]+$' | sort -nu); do
	grep -qiE "^ *$irq:.*(txrx|tx-rx|rx|tx|input|output|comp)[-_.]?[0-9]+" /proc/interrupts || continue
	core=$1
	shift
	set -- "$@" "$core"
	echo "$core" > "/proc/irq/$irq/smp_affinity_list"
done
`

// describedInterrupts gives the queues of a machine that is only described
// their processors: interrupt numbers are known on the machine alone, so that
// it is a script there.
func (p *Plan) describedInterrupts(r Request) {
	m := r.Machine
	if m.Running != nil || m.Cores < 2 || p.System == catalog.OpenBSD || r.Role == "home" {
		return
	}
	used := map[int]int{} // how many queues each processor has
	for _, nic := range m.Interfaces {
		if nic.Queues < 2 || p.System == catalog.FreeBSD && onIflib(nic.Driver) {
			continue
		}
		cores, left := queueCores(nic, m.Cores, used)
		b := Binding{NIC: nic.Name, Cores: cores}
		why := fmt.Sprintf("Each of %d queues gets a processor of its own, so that a connection stays in one cache: "+
			"%s.", nic.Queues, b.list(", "))
		if left >= 0 {
			why += fmt.Sprintf(" Processor %d is left to the rest of the system.", left)
		}
		if len(nic.Cores) == 0 {
			why += " On a machine with several NUMA nodes give those of the card's node with --numa: a processor of " +
				"another node waits for each packet's memory."
		}
		own := string(nic.Name)
		s := Step{Title: "Bind the interrupts of " + own, Why: why,
			Sources: []string{"Linux Documentation/core-api/irq/irq-affinity.rst",
				"Linux Documentation/networking/scaling.rst, RSS IRQ configuration"}}
		if p.System == catalog.Linux {
			p.Bindings = append(p.Bindings, b)
			s.Why += " irqbalance would move them again."
			s.Commands = []string{"systemctl disable --now irqbalance", shell.Join("sh", "wirerate-irq-"+own+".sh") +
				" # as root; wirerate-irq-" + own + ".service does it at boot"}
		} else {
			s.Commands = []string{"vmstat -ai # the numbers of " + own + "'s interrupts, one for each queue",
				"cpuset -l PROCESSOR -x IRQ # for each of them, in turn: " + b.list(" "),
				"in /etc/rc.local: the same lines, as they last until the next boot"}
			s.Sources = []string{"FreeBSD cpuset(1)", "FreeBSD vmstat(8)"}
		}
		p.Steps = append(p.Steps, s)
	}
}

// Binding gives the queues of an interface their processors, in order.
type Binding struct {
	NIC   name.Interface `json:"nic"`
	Cores []int          `json:"cores"`
}

func (b Binding) list(separator string) string {
	var words []string
	for _, c := range b.Cores {
		words = append(words, strconv.Itoa(c))
	}
	return strings.Join(words, separator)
}

// queueCores are the processors for the queues of an interface, from those of
// its NUMA node or all, the ones with the fewest queues so far first. Where
// there are enough the first one stays free; left is -1 where not.
func queueCores(nic Interface, all int, used map[int]int) (cores []int, left int) {
	local := slices.Clone(nic.Cores)
	if len(local) == 0 {
		for i := range all {
			local = append(local, i)
		}
	}
	left = -1
	if len(local) > nic.Queues {
		left, local = local[0], local[1:]
	}
	for range nic.Queues {
		best := local[0]
		for _, c := range local {
			if used[c] < used[best] {
				best = c
			}
		}
		used[best]++
		cores = append(cores, best)
	}
	return cores, left
}

// interruptFiles are the scripts that bind interrupts, and units that run them
// at boot.
func interruptFiles(p Plan) []File {
	var files []File
	for _, b := range p.sound().Bindings {
		base := "wirerate-irq-" + string(b.NIC)
		installed := "/usr/local/sbin/" + base + ".sh"
		script := "#!/bin/sh\n" + exportHeader(p) +
			remark("One processor for each queue of "+string(b.NIC)+". Values last until the next boot.") +
			"nic=" + shell.Word(string(b.NIC)) + "\nset -- " + b.list(" ") + interruptScript
		unit := exportHeader(p) + "[Unit]\nDescription=Interrupts of " + string(b.NIC) +
			" on processors of their own\nAfter=network.target\n\n" +
			"[Service]\nType=oneshot\nExecStart=/bin/sh " + installed + "\n\n[Install]\nWantedBy=multi-user.target\n"
		files = append(files, File{Name: base + ".sh", Install: installed, Mode: 0o755, Content: script},
			File{Name: base + ".service", Install: "/etc/systemd/system/" + base + ".service", Content: unit})
	}
	return files
}
