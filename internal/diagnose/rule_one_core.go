package diagnose

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// oneCore finds the interrupts of several queues on a single CPU.
func oneCore() Rule {
	return Rule{
		ID: "interrupts-on-one-core", Title: "All queues' interrupts go to one core", Systems: onLinux(),
		Needs: []string{"interrupts"}, Severity: Warning,
		Because: "Several queues use several cores only if their interrupts are spread.",
		Confirm: "That core is busy in softirq while others are idle.",
		Check: func(in Input) (out []Finding) {
			all := interruptsByCard(in.Facts)
			for _, card := range slices.Sorted(maps.Keys(all)) {
				out = append(out, queuesOnOneCore(card, all[card])...)
			}
			if len(out) == 0 {
				out = networkInterrupts(in.Facts)
			}
			return out
		},
		Fires: linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000, 0, 0, 0), "/proc/interrupts",
			"       CPU0       CPU1\n 40: 900000          0   PCI-MSI 1-edge      eth0-TxRx-0\n 41: 800000          "+
				"0   PCI-MSI 2-edge      eth0-TxRx-1\n"),
		Quiet: linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000, 0, 0, 0), "/proc/interrupts",
			"       CPU0       CPU1\n 40: 900000          0   PCI-MSI 1-edge      eth0-TxRx-0\n 41:      0     "+
				"800000   PCI-MSI 2-edge      eth0-TxRx-1\n"),
	}
}

// queuesOnOneCore finds queues of one card whose interrupts a single CPU handles.
func queuesOnOneCore(card string, its []facts.Interrupt) []Finding {
	sums, queues, evidence := queueInterrupts(its)
	if queues < 2 || len(sums) < 2 {
		return nil
	}
	var all, most uint64
	core := 0
	for id, v := range sums {
		all += v
		if v > most {
			most, core = v, id
		}
	}
	if all < 10000 || float64(most) < 0.95*float64(all) {
		return nil
	}
	return do("spread them: systemctl enable --now irqbalance, or write one CPU per queue to /proc/irq/N/smp_affinity_list",
		one(card, sample(evidence), "CPU %d handled %.0f%% of the interrupts of %d queues", core,
			100*float64(most)/float64(all), queues))
}

// queueOfCard tells the interrupt of a queue that its driver does not name after an interface: mlx4, mlx5, virtio_net, gve,
// hns3, mana, and others that say TxRx.
var queueOfCard = regexp.MustCompile(`^(mlx[45]_comp|mlx4-|virtio\d+-input\.|gve-ntfy-blk|mana_q|.*-TxRx-)\d+(@\S+)?(?:\s|$)`)

// interruptsByCard are the interrupts of each interface, and of each card whose queues are not named after one.
func interruptsByCard(f *facts.Facts) map[string][]facts.Interrupt {
	all := map[string][]facts.Interrupt{}
	for _, irq := range f.Interrupts {
		card := irq.NIC
		if m := queueOfCard.FindStringSubmatch(irq.Name); card == "" && m != nil {
			card = strings.TrimRight(m[1]+m[2], "-.")
		}
		if card != "" {
			all[card] = append(all[card], irq)
		}
	}
	return all
}

// networkHardware tells the interrupts of cards that are not named after an interface: those of routers and small
// boards.
var networkHardware = regexp.MustCompile(`(?i)\b(eth\d|en[ops]\d|end\d|ath\d+k|mwlwifi|mvneta|mvpp2|ag71xx|bcmgenet|` +
	`mt76\w*|mtk_eth|edma|cpsw|fec|[gx]mac|stmmac)|\.ethernet\b|_net_[rt]x\b`)

// oneOfQueues tells the interrupt of one of several queues: the others may go elsewhere.
var oneOfQueues = regexp.MustCompile(`(?i)-(?:tx-?rx|rx|tx|fp|q)-?\d+`)

// networkInterrupts finds a processor that takes all interrupts of network hardware with single queues. That is usual,
// and matters only where the processor is busy.
func networkInterrupts(f *facts.Facts) []Finding {
	var sums []uint64
	var all uint64
	var evidence []facts.Source
	for _, irq := range f.Interrupts {
		if !networkHardware.MatchString(irq.Name) || oneOfQueues.MatchString(irq.Name) || irq.Total.Value < 10000 ||
			len(irq.PerCPU) < 2 {
			continue
		}
		if sums == nil {
			sums = make([]uint64, len(irq.PerCPU))
		}
		for id, v := range irq.PerCPU[:min(len(sums), len(irq.PerCPU))] {
			sums[id] += v
			all += v
		}
		evidence = append(evidence, irq.Total.Source)
	}
	usb := func(irq facts.Interrupt) bool { return strings.Contains(irq.Name, "xhci") && irq.Total.Value > all }
	if all < 1e5 || slices.ContainsFunc(f.Interrupts, usb) { // a card there may have more packets
		return nil
	}
	core := slices.Index(sums, slices.Max(sums))
	if float64(sums[core]) < 0.95*float64(all) {
		return nil
	}
	severity := Info
	if i := slices.IndexFunc(f.Processors, func(p facts.Processor) bool { return p.ID == core }); i >= 0 &&
		f.Processors[i].Interrupt > 0.5 {
		severity = Warning
	}
	found := one(fmt.Sprintf("CPU %d", core), sample(evidence), "it handled %.0f%% of the %d network interrupts; %s "+
		"handled none", 100*float64(sums[core])/float64(all), all,
		counted(len(sums)-1, "other CPU"))
	found[0].Fix = []Fix{{Setting: steering}}
	return with(severity, do("spread the packets in software (RPS; in OpenWrt: packet steering), or move each card's "+
		"interrupt to another CPU (/proc/irq/N/smp_affinity_list)", found))
}

// queueInterrupts adds up the interrupts of a card's busy queues by CPU,
// over the window when there is one.
func queueInterrupts(its []facts.Interrupt) (sums []uint64, queues int, evidence []facts.Source) {
	for _, irq := range its {
		numbers := irq.PerCPU
		if irq.Grown != nil {
			numbers = irq.Grown
		}
		if !receives(irq.Name) || irq.Total.Value < 100 {
			continue
		}
		if sums == nil {
			sums = make([]uint64, len(numbers))
		}
		for id, v := range numbers {
			if id < len(sums) {
				sums[id] += v
			}
		}
		queues++
		evidence = append(evidence, irq.Total.Source)
	}
	return sums, queues, evidence
}

// receives tells the interrupts of receive queues from those for sending and
// for control.
func receives(name string) bool {
	lower := strings.ToLower(name)
	for _, other := range []string{"config", "async", "output", "pme", ":aq", "mgmt", "-event"} {
		if strings.Contains(lower, other) {
			return false
		}
	}
	return !strings.Contains(lower, "-tx") || strings.Contains(lower, "txrx")
}
