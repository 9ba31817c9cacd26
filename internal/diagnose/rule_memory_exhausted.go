package diagnose

import (
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
)

// memoryExhausted finds messages about memory and limits that ran out.
func memoryExhausted() Rule {
	return Rule{
		ID: "kernel-limit-reached", Title: "The kernel reported an exhausted network limit",
		Needs: []string{"messages"}, Severity: Critical,
		Because: "At the moment of the message connections or packets were refused.",
		Check: func(in Input) (out []Finding) {
			for _, m := range in.Facts.Messages {
				lower := strings.ToLower(m.Text)
				for _, mark := range []string{"out of socket memory", "too many orphaned sockets",
					"maxsockets limit reached", "nmbclusters limit reached", "nmbjumbo", "mbuf_cluster limit reached",
					"mbuf limit reached", "clusters exhausted", "out of mbuf address space", "out of mbufs", "mclpool limit reached"} {
					if strings.Contains(lower, mark) && len(out) < 3 {
						out = append(out, one("kernel", []facts.Source{m.Source}, "%q", m.Text)...)
						break
					}
				}
			}
			return out
		},
		Fires: freebsdExample("dmesg", "[zone: mbuf_cluster] kern.ipc.nmbclusters limit reached\n"),
		Quiet: openbsdExample("dmesg", "mtrr: Pentium Pro MTRR support\n"),
	}
}
