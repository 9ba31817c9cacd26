package conffile

import (
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// wgText is a file of wg-quick: the section of the interface, with its key or its port.
var wgText = regexp.MustCompile(`(?m)^\[Interface\][ \t\r]*\n(?:[^\[\n][^\n]*\n|[ \t\r]*\n)*?[ \t]*(?:PrivateKey|ListenPort)[ \t]*=`)

// wgQuick reads the file of an interface of wg-quick(8): its MTU, and the commands that run when it comes up. The
// interface has the name of the file.
func (s *scanner) wgQuick() {
	iface := strings.TrimSuffix(s.path[strings.LastIndexByte(s.path, '/')+1:], ".conf")
	if !strings.HasPrefix(iface, "wg") {
		iface = "wg0"
	}
	s.assignments(func(section string, e Entry) {
		if section != "Interface" {
			return
		}
		switch e.Key {
		case "MTU":
			e.Name, e.Iface, e.style = "wg-quick:mtu", iface, styleFixed
			s.emit(e)
		case "PreUp", "PostUp":
			s.script(e.ValueSpan.Start, e.ValueSpan.End, e.Line)
		}
	})
}
