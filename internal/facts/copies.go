package facts

import (
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// Copy is a copy of files over the network, as the program that makes it shows its progress.
type Copy struct {
	Program string  `json:"program"`
	Rate    float64 `json:"rate_bytes_per_s"` // the highest that it showed
	Source  Source  `json:"source"`
}

// The progress of scp and sftp (OpenSSH, progressmeter.c), that of rsync (progress.c) with what it says at the end
// (main.c), the average of curl's table (tool_progress.c, tool_operate.c), and the last line of wget (http.c). All count in
// powers of 1024.
var (
	scpProgress   = regexp.MustCompile(`\d% +\d+[KMGTP]?B +(\d+\.\d)([KMGT]?)B/s +(?:\d{1,3}:)?[\d-]\d:[\d-]\d(?: ETA)?$`)
	rsyncProgress = regexp.MustCompile(`^[\d,.]+[KMGT]? +\d+% +(\d+\.\d\d)([kMGT]?)B/s +\d+:\d\d:\d\d`)
	rsyncEnd      = regexp.MustCompile(`^sent [\d,.KMGT]+ bytes +received [\d,.KMGT]+ bytes +([\d,]+\.\d\d)([KMGT]?) bytes/sec$`)
	curlMeter     = regexp.MustCompile(curlRow)
	wgetEnd       = regexp.MustCompile(`\((\d+(?:\.\d+)?) ([KMG]?)B/s\) - \S.* saved \[`)
)

// curlRow is a row of curl's table, with the average rates of what was received and sent.
const curlRow = `^\s*\d{1,3} +[\d.]+[kMGT]?(?: +\d{1,3} +[\d.]+[kMGT]?){2} +([\d.]+)([kMGT]?) +([\d.]+)([kMGT]?) +[\d-]+:`

// CopyLine is a row of curl's table of progress, or the last line of wget.
var CopyLine = regexp.MustCompile(curlRow + `|B/s\) - \S.* saved \[`)

// readCopies reads the progress of scp, sftp, rsync, curl and wget.
func (f *Facts) readCopies(t text) error {
	found := false
	for i, line := range t.lines() {
		for end := range strings.SplitSeq(line, "\r") { // each line of progress is written over the last one
			found = f.copied(strings.TrimSpace(end), f.Line(t.from, i+1)) || found
		}
	}
	return nothingUnless(found)
}

// copied keeps the highest rate of each program.
func (f *Facts) copied(line string, src Source) bool {
	program, m := "", []string(nil)
	for _, form := range []struct {
		program string
		line    *regexp.Regexp
	}{{"rsync", rsyncProgress}, {"rsync", rsyncEnd}, {"scp", scpProgress}, {"curl", curlMeter}, {"wget", wgetEnd}} {
		if m = form.line.FindStringSubmatch(line); m != nil {
			program = form.program
			break
		}
	}
	switch {
	case m == nil:
		return false
	case len(m) > 4 && strings.Trim(m[1], "0.") == "": // curl sent, and received nothing
		m = m[2:]
	}
	size, _ := binarySize(strings.ReplaceAll(m[1], ",", "") + strings.ToUpper(m[2]))
	rate := float64(size)
	for i := range f.Copies {
		if c := &f.Copies[i]; c.Program == program {
			if rate > c.Rate {
				c.Rate, c.Source = rate, src
			}
			return true
		}
	}
	f.Copies = append(f.Copies, Copy{program, rate, src})
	return true
}
