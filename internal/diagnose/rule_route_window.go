package diagnose

import (
	"strconv"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/units"
)

// routeWindow finds routes that bound the window of all connections over them.
func routeWindow() Rule {
	return Rule{
		ID: "route-window", Title: "A route limits the window of its connections", Systems: onLinux(),
		Needs: []string{"routes"}, Severity: Warning,
		Because: "ip-route(8), window: the maximum window that this host advertises over the route, whatever its buffers " +
			"allow. One window is transferred per round trip.",
		Confirm: "ss -ti shows an rcv_space no larger than this.",
		Check: func(in Input) (out []Finding) {
			const small = 1 << 20
			for _, r := range in.Facts.Routes {
				window, err := strconv.ParseInt(r.Attributes["window"], 10, 64)
				if err != nil || window <= 0 || window >= small || len(out) > 0 {
					continue
				}
				out = do("ip route change "+r.Destination+" with its current attributes, but "+
					"without window", one("route "+r.Destination,
					[]facts.Source{r.Source}, "its connections receive at most %s per round trip", units.Bytes(window)))
			}
			return out
		},
		Fires: linuxExample("ip route show table main", "default via 192.0.2.1 dev eth0 proto static window 65535\n"),
		Quiet: linuxExample("ip route show table main", "default via 192.0.2.1 dev eth0 proto static\n"),
	}
}
