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

// The progress of scp and sftp (OpenSSH, progressmeter.c), and that of rsync (progress.c) with what it says at the end
// (main.c). All count in powers of 1024.
var (
	scpProgress   = regexp.MustCompile(`\d% +\d+[KMGTP]?B +(\d+\.\d)([KMGT]?)B/s +(?:\d{1,3}:)?[\d-]\d:[\d-]\d(?: ETA)?$`)
	rsyncProgress = regexp.MustCompile(`^[\d,.]+[KMGT]? +\d+% +(\d+\.\d\d)([kMGT]?)B/s +\d+:\d\d:\d\d`)
	rsyncEnd      = regexp.MustCompile(`^sent [\d,.KMGT]+ bytes +received [\d,.KMGT]+ bytes +([\d,]+\.\d\d)([KMGT]?) bytes/sec$`)
)

// readCopies reads the progress of scp, sftp and rsync.
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
	program := "rsync"
	m := rsyncProgress.FindStringSubmatch(line)
	if m == nil {
		m = rsyncEnd.FindStringSubmatch(line)
	}
	if m == nil {
		program, m = "scp", scpProgress.FindStringSubmatch(line)
	}
	if m == nil {
		return false
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
