package diagnose

import (
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
)

// inputQueue finds drops at the IP input queue of the BSDs.
func inputQueue() Rule {
	return Rule{
		ID: "input-queue-drops", Title: "Packets were dropped at the IP input queue", Systems: onBSD(),
		Needs: []string{"settings"}, Severity: Warning,
		Because: "The input queue was full when packets arrived: protocol processing could not keep up.",
		Check: func(in Input) (out []Finding) {
			for _, name := range []string{"net.inet.ip.intr_queue_drops", "net.inet.ip.ifq.drops",
				"net.inet6.ip6.ifq.drops", "net.inet6.ip6.intr_queue_drops"} {
				v, src, ok := setting(in.Facts, name)
				if !ok || v <= 0 {
					continue
				}
				found := one("ip input", []facts.Source{src}, "%d packets dropped since boot", v)
				found[0].Fix = []Fix{{Setting: strings.Replace(strings.Replace(name, "ifq.drops", "ifq.maxlen", 1),
					"queue_drops", "queue_maxlen", 1)}}
				out = append(out, found...)
			}
			return out
		},
		Fires: openbsdExample("sysctl -a", "net.inet.ip.ifq.len=0\nnet.inet.ip.ifq.maxlen=2048\nnet.inet.ip.ifq.drops=77\n"),
		Quiet: freebsdExample("sysctl -a", "net.inet.ip.intr_queue_maxlen: 256\nnet.inet.ip.intr_queue_drops: 0\n"),
	}
}
