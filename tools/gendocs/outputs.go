package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/system"
)

// outputsHead has ' for the marks of code, which Go's own strings cannot hold.
const outputsHead = `# Outputs that inspect understands

'wirerate inspect --from' reads a capture by wirerate itself, an unpacked sosreport, a folder of saved outputs, or a
session as it was pasted. A file is known by its name: the command with underscores for spaces, with or without '.txt'
('netstat_-m.txt', 'ethtool_-S_eth0'), or the path of a kernel file ('proc/net/softnet_stat'). In a session the
prompts with their commands tell; common outputs are also known by their first line. Other orders of options and
longer forms are taken for the same ('ip -s link', 'ss -ltnp', 'ethtool --show-ring eth0').

Quotation marks of mail, fences and stars of forums, and comment signs in front of an output are taken off; UTF-16,
the source of a web page and a mail as it travels (quoted-printable) are read. What several greps left of one table of
counters is put together; of a counter that stands there twice the first counts. An output that names no interface is
given to the only one in the file. Evidence from a session names the file, the line in it, and the output it is of.

'ethtool -S' and 'dev.NAME.UNIT' have names of their own in every driver: packets without a descriptor, damaged frames
and pause frames are told by the words in the names, and counters of single queues are added up.

What is missing, was denied, or is in another language stays unknown, and '--json' says so under 'parts' with the
source, the line and the reason. Of one source at most 16 MiB are read.
`

// outputsPage lists what facts reads, by system and area.
func outputsPage() page {
	var b bytes.Buffer
	b.WriteString(made + strings.ReplaceAll(outputsHead, "'", "`"))
	for _, s := range []system.System{system.Linux, system.FreeBSD, system.OpenBSD} {
		fmt.Fprintf(&b, "\n## %s\n\n| what | names |\n|---|---|\n", s.Title())
		for _, area := range facts.Areas() {
			if names := facts.Documented(s, area); len(names) > 0 {
				fmt.Fprintf(&b, "| %s | %s |\n", area, strings.Join(names, ", "))
			}
		}
	}
	return page{"outputs.md", b.Bytes()}
}
