package diagnose

import (
	"fmt"
	"strconv"

	"github.com/wirerate/wirerate/internal/facts"
)

// netisrDrops finds drops at FreeBSD's netisr queues.
func netisrDrops() Rule {
	return Rule{
		ID: "netisr-drops", Title: "Packets were dropped at a netisr queue", Systems: onFreeBSD(),
		Needs: []string{"netisr"}, Severity: Warning,
		Settings: []string{"net.isr.maxthreads"},
		Because:  "Packets passed to a netisr thread wait in a bounded queue, which overflows when the thread cannot keep up.",
		Check: func(in Input) (out []Finding) {
			for _, w := range in.Facts.NetISR {
				if w.Drops > 0 {
					s := Info
					if float64(w.Drops) > 1e-5*float64(w.Handled) {
						s = Warning
					}
					found := one(fmt.Sprintf("%s on CPU %d", w.Protocol, w.CPU), []facts.Source{w.Source},
						"%d dropped since boot, %d handled; the queue reached a length of %d", w.Drops, w.Handled, w.Watermark)
					found[0].Fix = []Fix{longerNetISR(w)}
					out = append(out, with(s, found)...)
				}
			}
			return out
		},
		Fires: freebsdExample("netstat -Q", netisrTable(412, 900, 100000)),
		Quiet: freebsdExample("netstat -Q", netisrTable(0, 900, 100000)),
	}
}

// longerNetISR lets the queue of a work stream be twice as long: IPv4 and IPv6 have their own limits, which may change
// while the system runs (ip_input.c, ip6_input.c).
func longerNetISR(w facts.NetISR) Fix {
	fix := Fix{Setting: "net.isr.defaultqlimit"}
	switch w.Protocol {
	case "ip":
		fix.Setting = "net.inet.ip.intr_queue_maxlen"
	case "ip6":
		fix.Setting = "net.inet6.ip6.intr_queue_maxlen"
	}
	if w.Limit > 0 {
		fix.Value = strconv.Itoa(2 * w.Limit)
		fix.ValueFor = fmt.Sprintf("a starting point: twice the current limit of %d", w.Limit)
	}
	return fix
}

// netisrTable is netstat -Q's answer with one work stream of IP.
func netisrTable(drops, queued, handled int) string {
	return fmt.Sprintf("Configuration:\nSetting                        Current        Limit\nThread count           "+
		"              1            1\n\nProtocols:\n"+
		"Name   Proto QLimit Policy Dispatch Flags\nip         1    256   flow  default   ---\n\nWorkstreams:\n"+
		"WSID CPU   Name     Len WMark   Disp'd  HDisp'd   QDrops   Queued  Handled\n   0   0   ip         0   256  "+
		"   1000        0 %d %d %d\n", drops, queued, handled)
}
