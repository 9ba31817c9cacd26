// Package system names the operating systems that wirerate knows.
package system

// System is one of the operating systems, as `uname -s` names it in lower case; the empty System is one that could not
// be told.
type System string

// The systems.
const (
	Linux   System = "linux"
	FreeBSD System = "freebsd"
	OpenBSD System = "openbsd"
)

// All lists every system, in the order in which reports name them.
func All() []System { return []System{FreeBSD, OpenBSD, Linux} }

// Named returns the system that calls itself by a name, as `uname -s` prints it; empty for any other.
func Named(name string) System {
	for _, s := range All() {
		if s.Title() == name {
			return s
		}
	}
	return ""
}

// Title returns the system's name as its authors write it; the name of a system that is none of the three as it is.
func (s System) Title() string {
	switch s {
	case Linux:
		return "Linux"
	case FreeBSD:
		return "FreeBSD"
	case OpenBSD:
		return "OpenBSD"
	}
	return string(s)
}
