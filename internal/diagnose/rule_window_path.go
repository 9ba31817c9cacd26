package diagnose

import (
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/netpath"
	"github.com/wirerate/wirerate/internal/units"
)

// windowBelowPath finds buffers that hold less than the declared path.
func windowBelowPath() Rule {
	return Rule{
		ID: "window-below-path", Title: "A connection's window cannot fill this path", Needs: []string{"settings"},
		Severity: Warning,
		Because: "A sender moves at most one window in each round trip: a window below the bandwidth-delay product " +
			"bounds one connection, whatever the link.",
		Confirm: "Several connections together are faster than one.",
		Check: func(in Input) (out []Finding) {
			f := in.Facts
			if in.Path.Rate == 0 || in.Path.RTT == 0 {
				return nil
			}
			if on, known := windowScaling(f); known && !on {
				return nil // window-scaling-off says it
			}
			want := in.Path.LinkGoodput()
			for _, end := range []struct {
				ceiling Ceiling
				what    string
			}{{sendWindow(in.Path, f), "sent"}, {receiveWindow(in.Path, f), "received"}} {
				name, _ := end.ceiling.Inputs["setting"].(string)
				src := f.Settings[plainSetting(name)].Source
				fix := Fix{Setting: plainSetting(name)}
				if f.System == "openbsd" { // a constant of the kernel
					src = f.Line("uname -a", 1)
					fix = Fix{Action: "nothing on this system raises it: use several connections"}
				}
				if !end.ceiling.Known || end.ceiling.Value >= 0.8*want || src.Text == "" {
					continue
				}
				found := one(plainSetting(name), []facts.Source{src}, "%s can be %s by one connection over %s, the "+
					"link would carry %s: %s",
					units.Rate(end.ceiling.Value), end.what, units.Duration(in.Path.RTT), units.Rate(want), end.ceiling.Because)
				found[0].Fix = []Fix{fix}
				if end.ceiling.Value < 0.2*want {
					found = with(Critical, found)
				}
				out = append(out, found...)
			}
			return out
		},
		Fires: windowExample("4096\t16384\t65536"),
		Quiet: windowExample("4096\t16384\t67108864"),
	}
}

// plainSetting is a setting's name without the field that a ceiling names.
func plainSetting(s string) string {
	for i, r := range s {
		if r == '[' || r == ' ' {
			return s[:i]
		}
	}
	return s
}

func windowExample(wmem string) Example {
	return linuxExample("sysctl -a", "net.ipv4.tcp_wmem = "+wmem+"\n").on(netpath.Path{Rate: units.Gbit, RTT: 50e6,
		MTU: 1500})
}
