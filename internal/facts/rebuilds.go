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
	mdArray   = regexp.MustCompile(`^(md[\w/.-]+) : active`)
	mdRebuild = regexp.MustCompile(`\b(resync|recovery|reshape|check) *= *[0-9.]+% \(\d+/\d+\) finish=`)
	zfsPass   = regexp.MustCompile(`^scan: (scrub|resilver) in progress`)
)

// readMdstat reads /proc/mdstat (drivers/md/md.c, status_resync).
func (f *Facts) readMdstat(t text) error {
	array := ""
	for i, line := range t.lines() {
		if m := mdArray.FindStringSubmatch(line); m != nil {
			array = m[1]
			f.use(t.from, i+1)
		} else if m := mdRebuild.FindStringSubmatch(line); m != nil && array != "" {
			f.rebuilds(array, m[1], f.Line(t.from, i+1))
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
