package facts

import (
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// NFSMount is a file system of an NFS server that is mounted here.
type NFSMount struct {
	From string `json:"from"` // server:/path
	On   string `json:"on,omitempty"`
	// Options are those of the mount: proto, timeo, rsize.
	Options map[string]string `json:"options,omitempty"`
	// Operations are the reads and writes of nfsiostat and mountstats.
	Operations []NFSOperation `json:"operations,omitempty"`
	Source     Source         `json:"source"`
}

// NFSOperation is what one kind of request took: times in seconds, Again the share that was sent again.
type NFSOperation struct {
	Name      string  `json:"name"`
	PerSecond float64 `json:"per_second,omitempty"`
	Count     uint64  `json:"count,omitempty"`
	Again     float64 `json:"sent_again_share"`
	RoundTrip float64 `json:"round_trip_s"`
	// Total includes what a request waited here before it was sent.
	Total  float64 `json:"total_s"`
	Source Source  `json:"source"`
}

var (
	nfsMounted = regexp.MustCompile(`(?:^|\s|device )(\S+:/\S*) (?:mounted )?(?:on )?(/\S*)(?: type|` +
		` with fstype)? nfs4?(?: \(?(\S+=[^\s)]*))?`)
	nfsInfo    = regexp.MustCompile(` (/\S*) \S+(?: \S+:\d+)* - nfs4? (\S+:/\S*) (\S+=\S*)`)
	nfsFrom    = regexp.MustCompile(`^(/\S*) from (\S+:/\S*)$`)
	nfsShown   = regexp.MustCompile(`^(\S+:/\S*) mounted on (/\S*):$`)
	nfsBSD     = regexp.MustCompile(`^(\S+:/\S*) on (/\S*)(?: \(nfs.*\))?$`)
	nfsOptions = regexp.MustCompile(`^\s*(?:Flags|opts):\s+(\S+=\S*)|^(nfsv[234]\S*,rsize=\S+)$`)
	nfsAgain   = regexp.MustCompile(`^\d+\(([0-9.]+)%\)$`)
	// NFSOptions are the options of a mount as somebody quotes them without the mount.
	NFSOptions = regexp.MustCompile(`\(((?:rw|ro),[\w.,:=-]*\b[rw]size=\d+,[\w.,:=-]*\bproto=(?:tcp|udp),[\w.,:=-]*)\)`)
	nfsPerOp   = regexp.MustCompile(`^\s*(READ|WRITE): (\d+) (\d+) (\d+) \d+ \d+ \d+ (\d+) (\d+)`)
)

// readNFS reads what tells of the client of NFS (nfs-utils utils/nfsstat, tools/mountstats, tools/nfs-iostat; the BSDs'
// usr.bin/nfsstat): nfsstat -c and -m, nfsiostat, mountstats, and the lines of mount and /proc/mounts.
func (f *Facts) readNFS(t text) error {
	found := false
	heads := []string(nil)
	for i, line := range t.lines() {
		line = strings.TrimRight(line, " \r")
		at := func() Source { return f.Line(t.from, i+1) }
		switch m := f.nfsMount(line, at); {
		case m:
			found, heads = true, nil
		case strings.Contains(line, "calls") && strings.Contains(line, "retrans"),
			strings.Contains(line, "ops/s") && strings.Contains(line, "retrans"),
			strings.Contains(line, "TimedOut") && strings.Contains(line, "Requests"):
			heads = strings.Fields(rpcHeads.Replace(line))
		case heads != nil:
			found = f.nfsRow(heads, line, at) || found
			heads = nil
		default:
			found = f.nfsOperation(line, at) || found
		}
	}
	return nothingUnless(found)
}

// rpcHeads make a word of each heading, and give those of the BSDs' "Rpc Info" the names of Linux's.
var rpcHeads = strings.NewReplacer("X Replies", "unexpected", "Retries", "retrans", "Requests", "calls",
	"avg RTT (ms)", "rtt", "avg exe (ms)", "exe", "avg queue (ms)", "queue")

// nfsMount takes a line that names a mount, or the options of the last one.
func (f *Facts) nfsMount(line string, at func() Source) bool {
	from, on, options := "", "", ""
	if m := nfsMounted.FindStringSubmatch(line); m != nil {
		from, on, options = m[1], m[2], m[3]
	} else if m := nfsInfo.FindStringSubmatch(line); m != nil {
		on, from, options = m[1], m[2], m[3]
	} else if m := nfsFrom.FindStringSubmatch(line); m != nil {
		on, from = m[1], m[2]
	} else if m := nfsShown.FindStringSubmatch(line); m != nil {
		from, on = m[1], m[2]
	} else if m := nfsBSD.FindStringSubmatch(line); m != nil {
		from, on = m[1], m[2]
	} else if m := NFSOptions.FindStringSubmatch(line); m != nil {
		from, options = "NFS mount", m[1]
	} else if m := nfsOptions.FindStringSubmatch(line); m != nil && len(f.NFSMounts) > 0 {
		last := &f.NFSMounts[len(f.NFSMounts)-1]
		last.Options, last.Source = mountOptions(m[1]+m[2]), at()
		return true
	}
	if from == "" || len(f.NFSMounts) >= rowLimit {
		return false
	}
	f.NFSMounts = append(f.NFSMounts, NFSMount{From: shorten(from), On: shorten(on),
		Options: mountOptions(options), Source: at()})
	return true
}

// mountOptions are the words of a mount's options; those without a value have the value "yes".
func mountOptions(s string) map[string]string {
	out := map[string]string{}
	for w := range strings.SplitSeq(s, ",") {
		name, value, given := strings.Cut(w, "=")
		if !given {
			value = "yes"
		}
		if name != "" && len(out) < 64 {
			out[shorten(name)] = shorten(value)
		}
	}
	return out
}

// nfsRow takes the numbers below headings: the calls of nfsstat -c, or an operation of nfsiostat.
func (f *Facts) nfsRow(heads []string, line string, at func() Source) bool {
	row := strings.Fields(strings.ReplaceAll(line, " (", "("))
	name, isOperation := strings.CutSuffix(heads[0], ":")
	if isOperation {
		heads = heads[1:]
	}
	if len(row) < len(heads) {
		return false
	}
	values := map[string]string{}
	for i, h := range heads {
		values[h] = row[i]
	}
	if !isOperation {
		f.readHere("nfsstat", "nfs")
		kept := false
		for _, h := range []string{"calls", "retrans"} {
			if v, ok := count(values[h]); ok {
				f.keepCounter(f.Counters, "nfs."+h, Counter{Value: v, Source: at()})
				kept = true
			}
		}
		return kept
	}
	op := NFSOperation{Name: name, PerSecond: amount(values["ops/s"]), RoundTrip: amount(values["rtt"]) / 1000,
		Total: amount(values["exe"]) / 1000, Source: at()}
	if m := nfsAgain.FindStringSubmatch(values["retrans"]); m != nil {
		op.Again = amount(m[1]) / 100
	}
	return f.keepOperation(op)
}

// nfsOperation takes a row of /proc/self/mountstats: requests, transmissions, timeouts, bytes both ways, and the sums
// of the times in the queue, on the way, and of all in milliseconds.
func (f *Facts) nfsOperation(line string, at func() Source) bool {
	m := nfsPerOp.FindStringSubmatch(line)
	if m == nil {
		return false
	}
	n, sent := amount(m[2]), amount(m[3])
	if n == 0 {
		return true
	}
	return f.keepOperation(NFSOperation{Name: strings.ToLower(m[1]), Count: uint64(n), Again: max(sent-n, 0) / n,
		RoundTrip: amount(m[5]) / n / 1000, Total: amount(m[6]) / n / 1000, Source: at()})
}

func (f *Facts) keepOperation(op NFSOperation) bool {
	if len(f.NFSMounts) == 0 {
		f.NFSMounts = append(f.NFSMounts, NFSMount{Source: op.Source})
	}
	last := &f.NFSMounts[len(f.NFSMounts)-1]
	if len(last.Operations) < 64 {
		last.Operations = append(last.Operations, op)
	}
	return true
}

// amount is a number that is not negative, else 0.
func amount(s string) float64 {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || v < 0 || v > 1e15 {
		return 0
	}
	return v
}
