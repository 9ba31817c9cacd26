package facts

import (
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// ProgramBuffer is a socket buffer whose size a program's configuration fixes.
type ProgramBuffer struct {
	Program string  `json:"program"`
	Bytes   float64 `json:"bytes"`
	Source  Source  `json:"source"`
}

// bufferLines are the lines that fix a buffer: smb.conf(5) and rsyncd.conf(5), openvpn(8), nginx (ngx_http_core_module,
// listen), HAProxy's configuration manual, Apache's mpm_common and Squid.
var bufferLines = []struct {
	program string
	line    *regexp.Regexp // the size, and its unit
}{
	{"Samba or rsync", regexp.MustCompile(`^[ \t]*socket options *=.*\bSO_(?:RCV|SND)BUF *= *(\d+)()`)},
	{"OpenVPN", regexp.MustCompile(`^(?:push +")?(?:snd|rcv)buf +([1-9]\d*)()"?$`)},
	{"nginx", regexp.MustCompile(`^[ \t]*listen +\S.*\b(?:rcv|snd)buf=(\d+)([km]?)\b.*;`)},
	{"HAProxy", regexp.MustCompile(`^[ \t]*tune\.(?:rcv|snd)buf\.(?:client|server) +(\d+)()$`)},
	{"Apache", regexp.MustCompile(`^[ \t]*(?:Send|Receive)BufferSize +([1-9]\d*)()$`)},
	{"Squid", regexp.MustCompile(`^tcp_recv_bufsize +(\d+) *(KB|MB)?`)},
}

// readProgramBuffers reads the lines of programs' configurations that fix the buffers of their sockets.
func (f *Facts) readProgramBuffers(t text) error {
	found := false
	for i, line := range t.lines() {
		for _, form := range bufferLines {
			m := form.line.FindStringSubmatch(line)
			if m == nil || len(f.ProgramBuffers) >= rowLimit {
				continue
			}
			size, _ := binarySize(m[1] + strings.ToUpper(m[2]))
			f.ProgramBuffers = append(f.ProgramBuffers, ProgramBuffer{form.program, float64(size), f.Line(t.from, i+1)})
			found = true
		}
	}
	return nothingUnless(found)
}
