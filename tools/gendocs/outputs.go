package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/system"
)

// outputsHead has ' for the marks of code, which Go's own strings cannot hold.
const outputsHead = `# Outputs that inspect understands

'wirerate inspect --from' reads a capture by wirerate itself, an unpacked sosreport, a folder of saved outputs, or a
pasted session; a text may be compressed (gzip, bzip2, zstd). A file is recognised by its name: the command with
underscores for spaces, with or without '.txt' ('netstat_-m.txt', 'ethtool_-S_eth0'), or the path of a kernel file
('proc/net/softnet_stat'). A session is read by its prompts and commands; common outputs are also recognised by their
first line. Other orders of options and longer forms are equivalent ('ip -s link', 'ss -ltnp',
'ethtool --show-ring eth0').

Mail quotation marks, fences and asterisks of forums, and comment signs in front of an output are removed; UTF-16,
the source of a web page and raw mail (quoted-printable) are read. Parts of one table of counters from several greps are
combined; if a counter appears twice, the later value counts, and the growth is kept. An output
that names no interface is assigned to the only one in the file. Truncated output is read as far as it goes, and the place is
reported. Each host named in the prompts of a session is inspected. Evidence from a session names the file, the line in
it, and the output it comes from.

'ethtool -S' and 'dev.NAME.UNIT' use different names in every driver: packets without a descriptor, damaged frames
and pause frames are recognised by the words in the names, and counters of single queues are added up.

Anything that is missing, was denied, or is in another language stays unknown, and '--json' lists it under 'parts' with the
source, the line and the reason. At most 16 MiB of one source are read.
`

// outputsPage lists what facts reads, by area: first what is read of every system, then of each.
func outputsPage() page {
	var b bytes.Buffer
	b.WriteString(made + strings.ReplaceAll(outputsHead, "'", "`"))
	everywhere := map[facts.Area][]string{}
	for _, area := range facts.Areas() {
		everywhere[area] = slices.DeleteFunc(facts.Documented(system.Linux, area), func(name string) bool {
			return !slices.Contains(facts.Documented(system.FreeBSD, area), name) ||
				!slices.Contains(facts.Documented(system.OpenBSD, area), name)
		})
	}
	outputsTable(&b, "Every system", func(area facts.Area) []string { return everywhere[area] })
	for _, s := range []system.System{system.Linux, system.FreeBSD, system.OpenBSD} {
		outputsTable(&b, s.Title(), func(area facts.Area) []string {
			return slices.DeleteFunc(facts.Documented(s, area),
				func(name string) bool { return slices.Contains(everywhere[area], name) })
		})
	}
	return page{"outputs.md", b.Bytes()}
}

func outputsTable(b *bytes.Buffer, title string, names func(facts.Area) []string) {
	fmt.Fprintf(b, "\n## %s\n\n| what | names |\n|---|---|\n", title)
	for _, area := range facts.Areas() {
		if list := names(area); len(list) > 0 {
			fmt.Fprintf(b, "| %s | %s |\n", area, strings.Join(list, ", "))
		}
	}
}
