package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/conffile"
)

// otherModules are modules of FreeBSD that are one letter from one in the catalog.
var otherModules = []string{"cxgbe", "if_axge", "if_bce", "if_cxgb", "if_cxl", "if_ed", "if_ef", "if_enc", "if_et",
	"if_gem", "if_gre",
	"if_ixv", "if_le", "if_me", "if_mge", "if_oce", "if_ptnet", "if_rl", "if_rue", "if_ure", "if_vxlan", "if_xl",
	"ipwfw", "ispfw", "ixgb",
	"pflow", "t3fw_cfg", "t7fw_cfg", "ehci", "ohci", "uhci", "xhci", "uacpi", "if_muge"}

// misspeltModule judges a module of loader.conf whose name is a slip from a known one:
// ports bring others that nobody lists.
func (k *checker) misspeltModule(e conffile.Entry) []finding {
	if f := k.prefixedModule(e); f != nil {
		return []finding{*f}
	}
	near, slip := k.nearest(e.Name)
	module, typed := strings.TrimSuffix(near, "_load"), strings.TrimSuffix(e.Name, "_load")
	if algorithm, ok := strings.CutPrefix(typed, "cc_"); ok && !slip && !swapped(typed, module) {
		return []finding{k.noAlgorithm(e, algorithm)}
	}
	if slices.Contains(otherModules, typed) || !isModule(near) || !slip && !swapped(typed, module) || len(typed) < 4 ||
		withoutDigits(typed) == withoutDigits(module) {
		return nil
	}
	severity := Info // a port may bring a module of that name
	if swapped(typed, module) {
		severity = Warning
	}
	return []finding{{code: "unknown-key", severity: severity, message: fmt.Sprintf("%s is not known; did you mean %s?",
		e.Name, near),
		because: "The loader prints that it cannot load the module and goes on without it.", sources: []string{"loader.conf(5)"}}}
}

// prefixedModule finds a module of a driver whose file has no if_ before its name.
func (k *checker) prefixedModule(e conffile.Entry) *finding {
	plain, prefixed := strings.CutPrefix(e.Name, "if_")
	r := k.lookup(plain)
	if !prefixed || r == nil {
		return nil
	}
	to := cmp.Or(r.RenamedTo, plain)
	return &finding{code: "unknown-key", severity: Warning, sources: r.Sources,
		message: fmt.Sprintf("%s loads nothing: there is no such module; write %s", e.Name, to),
		because: "The loader prints that it cannot load the module and goes on without it.",
		fix:     &Fix{Kind: FixRename, To: to, Reason: "the module is called " + strings.TrimSuffix(to, "_load")}}
}

// noAlgorithm judges a module of a congestion control that there is not: all of them are in the catalog.
func (k *checker) noAlgorithm(e conffile.Entry, algorithm string) finding {
	f := finding{code: "unknown-key", severity: Warning, sources: []string{"freebsd-src sys/modules/cc/Makefile"},
		message: e.Name + " loads nothing: there is no such module",
		because: "The kernel's congestion controls are cubic, newreno, htcp, cdg, chd, hd, vegas and dctcp."}
	if stack := "tcp_" + algorithm + "_load"; k.lookup(stack) != nil {
		f.message += "; " + algorithm + " is a TCP stack: " + stack
		f.because += " A stack is chosen by net.inet.tcp.functions_default."
	}
	return f
}

// swapped reports whether two words differ in the order of two letters beside each other.
func swapped(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) - 1 {
		if a[i] != b[i] {
			return a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
		}
	}
	return false
}
