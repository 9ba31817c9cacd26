package facts

import (
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// Rebuild is a pass over all disks of an array that goes on: a resync, recovery, reshape or check of Linux' md, a resilver
// or scrub of ZFS.
type Rebuild struct {
	Array  string `json:"array"`
	Action string `json:"action"`
	Source Source `json:"source"`
}

var (
	mdArray     = regexp.MustCompile(`^(md[\w/.-]+) : active`)
	mdRebuild   = regexp.MustCompile(`\b(resync|recovery|reshape|check) *= *[0-9.]+% \(\d+/\d+\) finish=`)
	drbdDevice  = regexp.MustCompile(`^\s*(\d+): cs:\w+ `)
	drbdRebuild = regexp.MustCompile(`\b(sync'ed|verified): +[0-9.]+% \(\d+/\d+\)`)
	zfsPass     = regexp.MustCompile(`^scan: (scrub|resilver) in progress`)
)

// readMdstat reads /proc/mdstat (drivers/md/md.c, status_resync).
func (f *Facts) readMdstat(t text) error {
	return f.passes(t, mdArray, "", mdRebuild)
}

// readDRBD reads /proc/drbd (drbd_proc.c): a device has its number, and what it copies stands below.
func (f *Facts) readDRBD(t text) error {
	return f.passes(t, drbdDevice, "drbd", drbdRebuild)
}

// passes reads a list of arrays, with a line for a pass below the one of its array.
func (f *Facts) passes(t text, begin *regexp.Regexp, prefix string, pass *regexp.Regexp) error {
	array := ""
	for i, line := range t.lines() {
		if m := begin.FindStringSubmatch(line); m != nil {
			array = prefix + m[1]
			f.use(t.from, i+1)
		} else if m := pass.FindStringSubmatch(line); m != nil && array != "" {
			f.rebuilds(array, strings.Replace(m[1], "sync'ed", "resync", 1), f.Line(t.from, i+1))
		} else if array != "" {
			f.use(t.from, i+1)
		}
	}
	return nothingUnless(array != "")
}

func (f *Facts) rebuilds(array, action string, src Source) {
	if len(f.Rebuilds) < rowLimit {
		f.Rebuilds = append(f.Rebuilds, Rebuild{array, action, src})
	}
}

// zfsScan keeps the pass over a pool that a line of zpool status shows under way.
func (f *Facts) zfsScan(pool, line string, src Source) {
	if m := zfsPass.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
		f.rebuilds(pool, m[1], src)
	}
}
