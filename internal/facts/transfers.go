package facts

import (
	"regexp"
	"strings"

	"github.com/wirerate/wirerate/internal/kerneltext"
)

var iperfEnds = regexp.MustCompile(`^\[ *(\d+)\] local (\S+) port (\d+) connected (?:to|with) (\S+) port (\d+)`)

// transferLimit bounds the streams that are kept.
const transferLimit = 256

// readTransfers reads what iperf3 prints at the sender of TCP. Sums over
// streams and the summary are left out.
func (f *Facts) readTransfers(t text) error {
	found := false
	at := map[string]int{}
	ends := map[string][2]string{}
	for i, line := range t.lines() {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "Connecting to host ") || strings.HasPrefix(line, "Accepted connection") {
			at, found = map[string]int{}, true // another test
			continue
		}
		if m := iperfEnds.FindStringSubmatch(line); m != nil {
			ends[m[1]] = [2]string{m[2] + ":" + m[3], m[4] + ":" + m[5]}
			continue
		}
		l, ok := kerneltext.ParseIperfLine(line)
		if !ok {
			continue
		}
		found = true
		if l.Window < 0 || l.Stream == "SUM" || strings.HasPrefix(l.Way, "RX") || l.Role == "sender" || l.Omitted {
			continue
		}
		k, have := at[l.Stream]
		if !have {
			if len(f.Transfers) >= transferLimit {
				continue
			}
			k = len(f.Transfers)
			at[l.Stream] = k
			f.Transfers = append(f.Transfers, Transfer{Local: ends[l.Stream][0], Peer: ends[l.Stream][1]})
		}
		f.Transfers[k].interval(l, f.Line(t.from, i+1))
	}
	if !found {
		return errNothing
	}
	return nil
}

func (tr *Transfer) interval(l kerneltext.IperfLine, src Source) {
	tr.Intervals++
	tr.Bytes += l.Bytes
	tr.Seconds += max(l.To-l.From, 0)
	tr.Retransmits += uint64(l.Again)
	tr.Window = max(tr.Window, l.Window)
	tells := false
	if l.Again > 0 {
		tr.Lossy++
		tells = true
	}
	if l.Bytes == 0 && l.Window < 10000 {
		tr.Stalled++
		tells = true
	}
	if tells {
		if tr.Source.Text == "" {
			tr.Source = src
		}
		tr.Last = src
	}
}
