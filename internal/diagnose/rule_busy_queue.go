package diagnose

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// busyQueue finds a card of which one of several queues takes all interrupts.
func busyQueue() Rule {
	return Rule{
		ID: "one-busy-queue", Title: "One of a card's queues gets nearly all the packets", Systems: onFreeBSD(),
		Needs:    []string{"interrupts|settings"},
		Severity: Info,
		Because: "The card spreads flows by IP addresses and ports (RSS): traffic where it finds none, such as PPPoE, GRE and " +
			"other tunnels, goes to one queue and so to one core.",
		Confirm: "One core is at 100% while it is slow (top -SHP), the others are idle.",
		Check: func(in Input) (out []Finding) {
			cards, order := map[string]*queueLoad{}, []string(nil)
			for _, irq := range in.Facts.Interrupts {
				nic, queue, ok := strings.Cut(irq.Name, ":")
				if !ok || !strings.HasPrefix(queue, "que") && !strings.HasPrefix(queue, "rx") {
					continue
				}
				c := cards[nic]
				if c == nil {
					c = &queueLoad{}
					cards[nic], order = c, append(order, nic)
				}
				c.add(irq.Total)
			}
			for _, nic := range order {
				const many = 10_000_000
				if c := cards[nic]; c.queues >= 2 && c.most >= many && float64(c.most) >= 0.95*float64(c.all) {
					out = append(out, do(queueAction, one(nic, []facts.Source{c.busiest.Source},
						"one of %d queues got %.0f%% of the interrupts", c.queues, 100*float64(c.most)/float64(c.all)))...)
				}
			}
			if len(out) == 0 {
				return busyByPackets(in.Facts)
			}
			return out
		},
		Fires: freebsdExample("vmstat -ia", busyExample(912312312, 12312)),
		Quiet: freebsdExample("vmstat -ia", busyExample(912312312, 712312312)),
	}
}

// queueLoad is how the queues of a card share what arrives.
type queueLoad struct {
	all, most uint64
	queues    int
	busiest   facts.Counter
}

func (l *queueLoad) add(c facts.Counter) {
	l.queues++
	l.all += c.Value
	if c.Value > l.most {
		l.most, l.busiest = c.Value, c
	}
}

// queuePackets is what drivers of FreeBSD call the packets that a receive queue took.
var queuePackets = regexp.MustCompile(`^(?:pf\.)?(?:queue_?(?:rx_)?|que|rxq|rxstat)\d+\.(?:rx_packets|packets|ipackets)$`)

// busyByPackets finds a card of which one of several queues took nearly all packets.
func busyByPackets(f *facts.Facts) (out []Finding) {
	const many = 10_000_000
	for i := range f.NICs {
		n, l := &f.NICs[i], queueLoad{}
		for _, name := range slices.Sorted(maps.Keys(n.Counters)) {
			if queuePackets.MatchString(name) {
				l.add(n.Counters[name])
			}
		}
		if l.queues >= 2 && l.most >= many && float64(l.most) >= 0.95*float64(l.all) {
			out = append(out, do(queueAction, one(n.Name, []facts.Source{l.busiest.Source}, "one of %d queues got %.0f%% of the "+
				"packets",
				l.queues, 100*float64(l.most)/float64(l.all)))...)
		}
	}
	return out
}

const queueAction = "for PPPoE and tunnels, use netisr to spread the packets: net.isr.dispatch=deferred, and " +
	"net.isr.maxthreads=-1 in /boot/loader.conf; otherwise check that RSS is enabled"

func busyExample(first, second int) string {
	return fmt.Sprintf("interrupt                          total       rate\nirq264: igb0:que 0 %20d      "+
		"24312\nirq265: igb0:que 1 %20d         10\n", first, second)
}
