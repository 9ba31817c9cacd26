package diagnose

import (
	"maps"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// opticFault finds optics and cables that their card refuses, or that are out of their own limits.
func opticFault() Rule {
	return Rule{
		ID: "optic-fault", Title: "An optic or cable is faulty", Severity: Warning,
		Needs: []string{"linux:optic *|messages", "freebsd:ifconfig|messages", "openbsd:messages"},
		Because: "With too little light a receiver gets corrupted frames or no link; a module that overheats, or that the " +
			"card rejects, is shut down.",
		Confirm: "After the replacement the alarm flags clear, and CRC errors or link flaps stop.",
		Check: func(in Input) (out []Finding) {
			for i := range in.Facts.NICs {
				out = append(out, opticFlags(&in.Facts.NICs[i])...)
			}
			for _, r := range refusedModules {
				if lines, n := matching(in.Facts, r.form); n > 0 {
					out = append(out, with(r.severity, do(r.action, one(cardOf(lines...), lines, "%s (%s)", r.what,
						counted(n, "line"))))...)
				}
			}
			return out
		},
		Fires: linuxExample("ethtool -m eth0", "\tIdentifier                                : 0x03 (SFP)\n"+
			"\tReceiver signal average optical power     : 0.0123 mW / -19.10 dBm\n"+
			"\tLaser rx power low alarm                  : On\n"),
		Quiet: linuxExample("ethtool -m eth0", "\tIdentifier                                : 0x03 (SFP)\n"+
			"\tReceiver signal average optical power     : 0.4123 mW / -3.85 dBm\n"+
			"\tLaser rx power low alarm                  : Off\n"),
	}
}

// opticFlags finds what a module reports beyond its limits. That no light arrives at a port without a link is worth
// knowing alone: it may be a spare one.
func opticFlags(n *facts.NIC) (out []Finding) {
	if n.Optic == nil {
		return nil
	}
	names := slices.Sorted(maps.Keys(n.Optic.Flags)) // the alarm before the warning
	for _, name := range names {
		src := n.Optic.Flags[name]
		switch {
		case strings.HasPrefix(name, "rx power low") && n.Optic.Dark:
			found := do("check the port and optic at the other end, and that TX and RX fibres are crossed; clean "+
				"the connectors", one(n.Name, []facts.Source{n.Shown["optic.rx power"], src}, "its optic receives no light"))
			if !n.Up {
				found = with(Info, found)
			}
			return append(out, found...)
		case strings.HasPrefix(name, "rx power low"):
			return append(out, do("clean the connectors at both ends; check for a bent fibre, and for an optic of a different "+
				"type or reach at the other end (ethtool -m NAME there: laser output power)",
				one(n.Name, []facts.Source{n.Shown["optic.rx power"], src}, "its optic receives too little light (%s)", name))...)
		case len(out) == 0:
			out = do("improve the airflow, or use a lower-power module (DAC, or fibre instead of 10GBASE-T)",
				one(n.Name, []facts.Source{n.Shown["optic.temperature"], src}, "its optic is overheating (%s)", name))
		}
	}
	return out
}

// refusedModules are what drivers say of modules that they do not use: ixgbe (ixgbe_main.c), ix(4), i40e
// (i40e_main.c), ixl(4), ice (ice_main.c), mlx5 (core/events.c, mlx5_eq.c of FreeBSD), bnxt_en (bnxt.c).
var refusedModules = []struct {
	form         *regexp.Regexp
	severity     Severity
	what, action string
}{
	{regexp.MustCompile(`(?i)(?:unsupported|unqualified) (?:SFP\+?|QSFP\+?|SFP\+ or QSFP|module)[\w +]*(?:type was |module )?detected|` +
		`Rx/Tx is disabled on this device because`), Critical,
		"the card rejects the optic or cable in its port",
		"use one from the card's list of supported modules (Intel ixgbe accepts others with the module parameter " +
			"allow_unsupported_sfp=1)"},
	{regexp.MustCompile(`\bvalidation with support [0-9a-f,]+ failed: -`), Warning, // phylink.c
		"the port supports none of the module's modes", "use a module whose rate and type the port supports " +
			"(ethtool NAME lists its modes, ethtool -m NAME identifies the module)"},
	{regexp.MustCompile(`Port module event\[error\]: module \d+, [^,]*, (?:Power budget exceeded|Long Range for non MLNX|` +
		`Bus stuck|No EEPROM|Enforce part number|Unknown identifier|Bad or shorted cable)`), Critical,
		"the card refuses to power the optic or cable in " +
			"its port", "use a module of lower power or shorter reach, or one that the " +
			"firmware supports; try another cable; update the firmware"},
}
