package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/netpath"
	"github.com/wirerate/wirerate/internal/plan"
	"github.com/wirerate/wirerate/internal/units"
	"github.com/wirerate/wirerate/internal/workload"
)

// addDisk declares what the workload disk is told.
func (f *benchFlags) addDisk(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.spec.Dir, "dir", "", "for disk: `folder` on the file system to measure, on HOST (default "+workload.DiskDir+")")
	cmd.Flags().StringVar(&f.size, "size", "", "for disk: `size` of its file (default 512MiB, at most a quarter of what is free)")
}

func (f *benchFlags) parseSize() error {
	if f.size == "" {
		return nil
	}
	size, err := units.ParseBytes(f.size)
	if err != nil {
		return fmt.Errorf("--size: %w", err)
	}
	f.spec.Size = int64(size)
	return nil
}

// alone tells whether the workload runs on one host.
func (f *benchFlags) alone() bool {
	kind, err := workload.FindKind(f.spec.Workload)
	return err == nil && kind.Alone
}

// whereAlone checks what goes with a workload of one host. A relative folder
// is one of this machine.
func (f *benchFlags) whereAlone() error {
	switch {
	case f.lab != "":
		return fmt.Errorf("%s measures a host's own disk: --lab, whose hosts share this machine's, does not go with it", f.spec.Workload)
	case f.peer != "":
		return fmt.Errorf("%s runs on one HOST: a peer does not go with it", f.spec.Workload)
	case f.address != "" || f.given("port"):
		return fmt.Errorf("%s sends nothing over the network: --address and --port do not go with it", f.spec.Workload)
	case f.path == "auto":
		return fmt.Errorf("--path auto: %s has no peer to which it could be measured; declare it, like --path rate=1gbit,rtt=80ms", f.spec.Workload)
	}
	if f.spec.Dir != "" && !path.IsAbs(f.spec.Dir) && (f.host == "" || f.host == "local") {
		here, err := os.Getwd()
		if err != nil {
			return err
		}
		f.spec.Dir = path.Join(here, f.spec.Dir)
	}
	if f.given("streams") && f.spec.Streams == 0 {
		return errors.New("streams 0: disk has none to choose")
	}
	if _, err := f.declaredPath(); err != nil {
		return err
	}
	_, err := f.spec.WithDefaults(0)
	return err
}

// declaredPath is the path of --path; no path when there is none.
func (f *benchFlags) declaredPath() (netpath.Path, error) {
	if f.path == "" {
		return netpath.Path{}, nil
	}
	return netpath.Parse(f.path)
}

// hosts are the ends that the session has: one where the workload needs no
// peer.
func (s *benchSession) hosts() []*end {
	if s.flags.alone() {
		return []*end{&s.client}
	}
	if s.flags.routed() {
		return []*end{&s.client, &s.server, &s.router}
	}
	return []*end{&s.client, &s.server}
}

// diskFigures are what a plan takes from measurements of a disk.
type diskFigures struct {
	rate       float64 // sustained writes, bytes/s
	iops       float64 // random reads per second with many at once
	latency    float64 // of one random read, s
	syncWrites float64 // per second, one after the other
}

func figuresOf(median map[string]float64) diskFigures {
	return diskFigures{median[workload.WriteBytes], median[workload.DeepReads], median[workload.RandomReadTime], median[workload.SyncWrites]}
}

// flags writes the figures as plan takes them.
func (d diskFigures) flags() string {
	text := ""
	if d.rate > 0 {
		text += fmt.Sprintf(" --disk-rate %s", roundBytes(d.rate))
	}
	if d.iops > 0 && d.latency > 0 {
		text += fmt.Sprintf(" --disk-iops %.3g --disk-latency %s", d.iops, time.Duration(d.latency*1e9).Round(100*time.Nanosecond))
	}
	return strings.ReplaceAll(text, "µs", "us")
}

func roundBytes(v float64) string {
	if v >= 1e7 {
		return fmt.Sprintf("%.0fMB", v/1e6)
	}
	return fmt.Sprintf("%.0fkB", v/1e3)
}

// showDiskPlan prints the command that plans with what was measured.
func (e *Env) showDiskPlan(m measured) {
	if flags := figuresOf(m.Median).flags(); m.Workload == "disk" && flags != "" {
		e.printf("  plan with it: wirerate plan --role file --path PATH%s\n", flags)
		e.wrap("  ", "  ", "--disk-iops is of one disk: in a pool of N give a part of it and --disks N, or all of it by --disk-from FILE, the output of --json")
	}
}

// measuredDisk reads the JSON of measure disk into a machine. A pool's random
// reads are spread over its disks.
func measuredDisk(file string, m *plan.Machine) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("--disk-from: %w", err)
	}
	var read measured
	if err := json.Unmarshal(data, &read); err != nil || read.Schema != 1 {
		return fmt.Errorf("--disk-from %s: the output of wirerate measure disk --json is expected", file)
	}
	d := figuresOf(read.Median)
	if !(d.rate > 0 && d.rate < 1e15) && !(d.syncWrites > 0 && d.syncWrites < 1e9) {
		return fmt.Errorf("--disk-from %s: no figures of a disk in it: neither %s nor %s", file, workload.WriteBytes, workload.SyncWrites)
	}
	m.DiskRate, m.SyncWrites = d.rate, d.syncWrites
	if d.iops > 0 && d.iops < 1e9 && d.latency > 0 && d.latency < 100 {
		m.DiskDepth = depthOf(d.iops/float64(max(1, m.Disks)), d.latency)
	}
	return nil
}
