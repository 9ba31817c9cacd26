package diagnose

import (
	"fmt"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
)

// busyQueue finds a card of which one of several queues takes all interrupts.
func busyQueue() Rule {
	return Rule{
		ID: "one-busy-queue", Title: "One of a card's queues does all the work", Systems: onFreeBSD(), Needs: []string{"interrupts"},
		Severity: Info,
		Because: "The card spreads flows by their addresses and ports: what has none for it, as PPPoE, GRE and other " +
			"tunnels, comes into one queue and so to one core.",
		Confirm: "One core is full while it is slow (top -SHP), the others idle.",
		Check: func(in Input) (out []Finding) {
			type card struct {
				all, most uint64
				queues    int
				busiest   facts.Counter
			}
			cards, order := map[string]*card{}, []string(nil)
			for _, irq := range in.Facts.Interrupts {
				nic, queue, ok := strings.Cut(irq.Name, ":")
				if !ok || !strings.HasPrefix(queue, "que") && !strings.HasPrefix(queue, "rx") {
					continue
				}
				c := cards[nic]
				if c == nil {
					c = &card{}
					cards[nic], order = c, append(order, nic)
				}
				c.queues++
				c.all += irq.Total.Value
				if irq.Total.Value > c.most {
					c.most, c.busiest = irq.Total.Value, irq.Total
				}
			}
			for _, nic := range order {
				const many = 10_000_000
				if c := cards[nic]; c.queues >= 2 && c.most >= many && float64(c.most) >= 0.95*float64(c.all) {
					out = append(out, do("for PPPoE and tunnels let netisr spread the packets (net.isr.dispatch=deferred, "+
						"net.isr.maxthreads=-1); else see whether RSS is on", one(nic, []facts.Source{c.busiest.Source},
						"one of %d queues took %.0f%% of the interrupts", c.queues, 100*float64(c.most)/float64(c.all)))...)
				}
			}
			return out
		},
		Fires: freebsdExample("vmstat -ia", busyExample(912312312, 12312)),
		Quiet: freebsdExample("vmstat -ia", busyExample(912312312, 712312312)),
	}
}

func busyExample(first, second int) string {
	return fmt.Sprintf("interrupt                          total       rate\nirq264: igb0:que 0 %20d      "+
		"24312\nirq265: igb0:que 1 %20d         10\n", first, second)
}
