package change

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
)

// sysctlShell are ask NUMBER NAME, which reads one value, and tell NAME VALUE.
// What the program writes on standard error beside a value is no part of it;
// OpenBSD's sysctl(8) ends with status 0 when it failed, having said "sysctl:
// ...". FreeBSD's prints "name: old -> new" when it wrote, new being read back
// from the kernel, so that tell can print it after "now"; OpenBSD's prints
// there what it was given.
const sysctlShell = `ask() {
 cached $1 && return 0
 v=$(sysctl -n "$2" 2>/dev/null) && [ -n "$v" ] && return 0
 v=$(sysctl -n "$2" 2>&1) && case $v in *"sysctl: "*) false ;; *) v= ;; esac
}
tell() {
 m=$(sysctl "$1=$2" 2>&1) || { say "$m" >&2; return 1; }
 case $m in *"sysctl: "*) say "$m" >&2; return 1 ;; esac
 case $read_back$nl$m in "yes"*"$nl$1: "*" -> "*) m=${m##*" -> "}; say "now ${m%%"$nl"*}" ;; esac
}
`

// readFunctions are what the settings' functions need. batch reads at once, with
// one program each, what sysctl(8) reaches and what are files; a value so read
// serves one get_N. What batch does not answer is asked for one by one.
func readFunctions(system catalog.System, items []Item) string {
	var sysctls, files, clear, cases strings.Builder
	between := ": "
	if system == catalog.OpenBSD {
		between = "="
	}
	for i, it := range items {
		switch {
		case it.knob.sysctl != "":
			sysctls.WriteString(" " + quote(it.knob.sysctl))
			start := quote(it.knob.sysctl + between)
			fmt.Fprintf(&cases, " %s*) b_%d=${l#%s} ;;\n", start, i, start)
		case it.knob.file != "":
			files.WriteString(" " + quote(it.knob.file))
			start := quote(it.knob.file + ":")
			fmt.Fprintf(&cases, " %s*) b_%d=\"$b_%d \"${l#%s} ;;\n", start, i, i, start)
		default:
			continue
		}
		fmt.Fprintf(&clear, " b_%d=;", i)
	}
	if cases.Len() == 0 {
		return "batch() { :; }\n"
	}
	var b strings.Builder
	b.WriteString("cached() { eval \"v=\\${b_$1-}; b_$1=\"; [ -n \"$v\" ]; }\n")
	read := ""
	if sysctls.Len() > 0 {
		readBack := "yes"
		if system == catalog.OpenBSD {
			readBack = "no"
		}
		b.WriteString("read_back=" + readBack + "\n" + sysctlShell)
		read = "sysctl" + sysctls.String() + "; "
	}
	if files.Len() > 0 {
		read += "grep -H ''" + files.String() + "; "
	}
	b.WriteString("batch() {\n" + clear.String() + "\n set -f; IFS=$nl; set -- $({ " + read +
		"} 2>/dev/null); IFS=\" \t$nl\"; set +f\n" +
		" for l do case $l in\n" + cases.String() + " esac; done\n}\n")
	return b.String()
}

// onlyRaised are FreeBSD's settings that its kernel raises while it runs and
// never lowers (sys/kern/kern_mbuf.c, sys/kern/uipc_socket.c).
var onlyRaised = []string{"kern.ipc.nmbclusters", "kern.ipc.nmbjumbop", "kern.ipc.nmbjumbo9", "kern.ipc.nmbjumbo16",
	"kern.ipc.nmbufs", "kern.ipc.maxsockets"}

// sameAs is another name of the same variable (sys/kern/uipc_socket.c), or "".
func sameAs(system catalog.System, setting string) string {
	switch {
	case system != catalog.FreeBSD:
	case setting == "kern.ipc.somaxconn":
		return "kern.ipc.soacceptqueue"
	case setting == "kern.ipc.soacceptqueue":
		return "kern.ipc.somaxconn"
	}
	return ""
}

// OnlyRaised tells whether a system takes a setting's new value only when it is
// larger, so that nothing but a reboot takes it back.
func OnlyRaised(system catalog.System, setting string) bool {
	return system == catalog.FreeBSD && slices.Contains(onlyRaised, setting)
}
