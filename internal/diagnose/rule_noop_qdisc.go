package diagnose

import (
	"slices"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/shell"
)

// noopQdisc finds interfaces that are up and discard all that is sent.
func noopQdisc() Rule {
	return Rule{
		ID: "noop-qdisc", Title: "An interface that is up discards everything it should send (noop qdisc)", Severity: Critical,
		Systems: onLinux(), Needs: []string{"links|qdiscs"},
		Because: "noop is the qdisc of an interface that was not brought up properly: every packet is dropped before it " +
			"reaches the driver, and no counter of the card shows it.",
		Confirm: "ip link shows the default qdisc after the interface is taken down and up.",
		Check: func(in Input) (out []Finding) {
			for i := range in.Facts.NICs {
				n := &in.Facts.NICs[i]
				shown := facts.Source{}
				if hasWord(n.Source.Text, "noop") && (n.Up || flagUp(n.Source.Text)) {
					shown = n.Source
				}
				if k := slices.IndexFunc(n.Qdiscs,
					func(q facts.Qdisc) bool { return q.Kind == "noop" && q.Parent == "" }); k >= 0 &&
					n.Up && shown.Text == "" {
					shown = n.Qdiscs[k].Sent.Source
				}
				if shown.Text == "" {
					continue
				}
				found := one(n.Name, []facts.Source{shown}, "its qdisc is noop although it is up")
				found[0].Fix = []Fix{{Action: "take the interface down and up", Command: shell.Join("ip", "link", "set",
					n.Name, "down") + " && " + shell.Join("ip", "link", "set", n.Name, "up")}}
				out = append(out, found...)
			}
			return out
		},
		Fires: noopExample("noop"),
		Quiet: noopExample("noqueue"),
	}
}

func noopExample(kind string) Example {
	return linuxExample("ip -s -d link show", "5: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc "+kind+
		" state UP mode DEFAULT group default qlen 1000\n    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff\n")
}
