package workload

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/shell"
)

// Names of the metrics of a disk.
const (
	SyncWrites     = "sync_writes_per_s"
	WriteBytes     = "write_bytes_per_s"
	ReadBytes      = "read_bytes_per_s"
	RandomReads    = "random_reads_per_s"
	RandomReadTime = "random_read_p50_s"
	DeepReads      = "deep_random_reads_per_s"
)

// Codes of warnings about a run on a disk.
const (
	CodeCached      = "cache-answers"   // reads would measure memory
	CodeNoDisk      = "not-a-disk"      // the file system is in memory
	CodeSyncIgnored = "sync-not-honest" // synchronous writes do not reach stable storage
	CodeCoarse      = "coarse"          // the tool tells less than others
)

const (
	// DiskDir is where a disk is measured unless told: on most systems a
	// disk, and kept over a reboot (hier(7), file-hierarchy(7)).
	DiskDir = "/var/tmp"
	// DiskSize is the file's size unless told or bounded by the free space.
	DiskSize = 512 << 20
	// diskStep divides a file's size; it is also the smallest one.
	diskStep = 16 << 20
	// syncBlock is what is written synchronously and read at random.
	syncBlock = 4096
	seqBlock  = 1 << 20
	// syncFile bounds the file of synchronous writes, which go round in it.
	syncFile = 64 << 20
	// deepReaders read at once where a drive's whole rate is asked for.
	deepReaders = 32
	diskParts   = 5 // of a run's time, one for each way of access
	// slowestDisk is the rate in bytes/s at which a flush may still end.
	slowestDisk = 4 << 20
	// fastestSync is the time below which no drive known flushes a write.
	fastestSync = 8e-6
)

func diskKind() Kind {
	return Kind{Name: "disk", Imitates: "a file server's storage, on one host: synchronous writes of 4 KiB, a long " +
		"write and read, random reads of 4 KiB",
		Metrics: []Metric{
			{SyncWrites, "1/s", "4 KiB written and on stable storage, one after the other (queue depth 1)", false},
			{LatencyP50, "s", "time of the median synchronous write", true},
			{LatencyP99, "s", "time exceeded by one synchronous write in 100", true},
			{LatencyP999, "s", "time exceeded by one synchronous write in 1000", true},
			{WriteBytes, "B/s", "sequential write through the cache, its fsync included", false},
			{ReadBytes, "B/s", "sequential read past the cache", false},
			{RandomReads, "1/s", "random reads of 4 KiB past the cache, one after the other", false},
			{RandomReadTime, "s", "time of the median of them", true},
			{DeepReads, "1/s", "random reads of 4 KiB past the cache, 32 at once", false},
		},
		Tools: []string{"fio", "builtin", "dd"}, Streams: 1, Duration: 10 * time.Second, Alone: true,
		WarmUp: "none: each run writes its files anew, after a sync(1)"}
}

// checkDisk reports what of a specification does not go with the workload.
func (s Spec) checkDisk(alone bool) error {
	switch {
	case !alone && (s.Dir != "" || s.Size != 0):
		return errors.New("a folder and a file's size (--dir, --size) go with the workload disk only")
	case !alone:
		return nil
	case s.Streams != 1:
		return fmt.Errorf("streams %d: disk writes one block after the other, and reads likewise and 32 at a time",
			s.Streams)
	case s.Direction != "":
		return fmt.Errorf("direction %q: disk has none", s.Direction)
	case s.Omit != 0:
		return fmt.Errorf("omit %s: disk leaves nothing out, its files are new in each run", s.Omit)
	case s.Size != 0 && (s.Size < diskStep || s.Size > 1<<44):
		return fmt.Errorf("size %d bytes: 16MiB to 16TiB is possible", s.Size)
	case s.Dir != "" && (!path.IsAbs(s.Dir) || strings.ContainsAny(s.Dir, "\x00\n")):
		return fmt.Errorf("folder %q: an absolute path on the host that is measured is expected", s.Dir)
	case s.Duration < diskParts*time.Second/2:
		return fmt.Errorf("duration %s: at least 2.5s are needed, half a second for each of five ways of access",
			s.Duration)
	}
	return nil
}

// lackError says what a host lacks for a run. It is ErrMissing with a text of
// its own.
type lackError struct{ text string }

func (e *lackError) Error() string        { return e.text }
func (e *lackError) Is(target error) bool { return target == ErrMissing || target == ErrTool }

func lack(format string, args ...any) error { return &lackError{fmt.Sprintf(format, args...)} }

// place is the file system of a run.
type place struct {
	dir, kind string
	free      int64
	// cache and sync are properties of a ZFS dataset: primarycache, sync.
	cache, sync string
}

// lookScript prints what is to be known of a folder. Free space is the fourth
// of the columns of df -P counted from its fifth, which ends in %: the first
// one may hold spaces.
const lookScript = `at=%s; cd "$at" || exit 1
[ -w . ] && [ -x . ] || { echo "$at: Permission denied" >&2; exit 1; }
echo "dir $(pwd -P)"
echo "df $(df -Pk . | tail -n 1)"
case $(uname) in
Linux) echo "type $(stat -f -c %%T .)" ;;
FreeBSD) echo "type $(df -T . | awk 'END { print $2 }')" ;;
*) on=$(df -P . | awk 'END { print $1 }'); echo "type $(mount | awk -v on="$on" '$1 == on { for (i = 2; i < NF; i++) if ($i == "type") print $(i+1) }')" ;;
esac
set -- $(zfs get -Ho value primarycache,sync "$(df -P . | awk 'END { print $1 }')" 2>/dev/null)
echo "zfs $*"
`

// look finds out where a run would write.
func look(ctx context.Context, c host.Conn, dir string) (place, error) {
	a, err := one(ctx, c, host.Script(fmt.Sprintf(lookScript, shell.Quote(dir))))
	if err != nil {
		return place{}, err
	}
	if a.Failure != host.None {
		return place{}, lack("%s on %s cannot be written to: %s; name another folder with --dir", dir, c.Name(),
			host.Reason(a.Stderr))
	}
	return parsePlace(string(a.Out))
}

func parsePlace(text string) (place, error) {
	p := place{free: -1}
	lines(text, func(line string) {
		key, value, _ := strings.Cut(line, " ")
		words := strings.Fields(value)
		switch key {
		case "dir":
			p.dir = value
		case "df":
			for i, w := range words {
				if kb, err := strconv.ParseInt(words[max(0, i-1)], 10, 64); err == nil && strings.HasSuffix(w,
					"%") && kb >= 0 && kb < 1<<52 {
					p.free = kb << 10
					break
				}
			}
		case "type":
			p.kind = strings.Join(words, " ")
		case "zfs":
			if len(words) == 2 {
				p.cache, p.sync = words[0], words[1]
			}
		}
	})
	if p.dir == "" || p.free < 0 {
		return p, fmt.Errorf("%w: the free space of the folder is not known: df printed %q", ErrTool, clip(text, 200))
	}
	return p, nil
}

// size is how large a file the run may write.
func (p place) size(wanted int64, name string) (int64, error) {
	if wanted == 0 {
		wanted = min(DiskSize, p.free/4)
		if wanted < diskStep {
			return 0, lack("%s on %s has %d MiB free, and a run takes a quarter of that, 16 MiB at least: free some, "+
				"or name another folder with --dir", p.dir, name, p.free>>20)
		}
	}
	wanted = wanted / diskStep * diskStep
	if wanted+min(syncFile, wanted/4) > p.free/10*9 {
		return 0, lack("%s on %s has %d MiB free: a file of %d MiB, and a quarter more for synchronous writes, would "+
			"fill it; give a smaller --size or another --dir", p.dir, name, p.free>>20, wanted>>20)
	}
	return wanted, nil
}

// cached says why reads would measure memory; "" when they come from the
// device. O_DIRECT goes to the device on the file systems that are listed
// (open(2)); ZFS takes what it has in its ARC all the same unless the dataset's
// primarycache keeps data out of it (zfsprops(7)).
func (p place) cached() string {
	switch {
	case p.kind == "zfs" && (p.cache == "metadata" || p.cache == "none"):
		return ""
	case p.kind == "zfs":
		return "ZFS answers reads from its ARC, O_DIRECT or not: measure in a dataset with primarycache=metadata"
	case p.inMemory():
		return p.kind + " is memory"
	case slices.Contains([]string{"ext2/ext3", "ext4", "xfs", "btrfs", "f2fs", "jfs", "reiserfs", "bcachefs",
		"overlayfs", "UNKNOWN (0xca451a4e)", "nfs", "ufs"}, p.kind):
		return ""
	}
	return fmt.Sprintf("whether O_DIRECT passes the cache of the file system (%s) is not known", orElse(p.kind,
		"of unknown type"))
}

func (p place) inMemory() bool {
	return slices.Contains([]string{"tmpfs", "ramfs", "mfs", "tarfs"}, p.kind)
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// diskJob is one run that is about to begin.
type diskJob struct {
	conn     host.Conn
	dir      string
	size     int64
	duration time.Duration
	reads    bool
}

// measureDisk runs the workload disk on one host.
func measureDisk(ctx context.Context, c host.Conn, kind Kind, s Spec) (Run, error) {
	at, err := look(ctx, c, orElse(s.Dir, DiskDir))
	if err != nil {
		return Run{}, err
	}
	size, err := at.size(s.Size, c.Name())
	if err != nil {
		return Run{}, err
	}
	tool, err := chooseDisk(ctx, c, kind, s)
	if err != nil {
		return Run{}, err
	}
	why := at.cached()
	job := diskJob{c, at.dir, size, s.Duration, why == ""}
	before, start := readSnapshot(ctx, c).cpu, time.Now()
	run, err := map[string]func(context.Context, diskJob) (Run, error){"fio": runFio, "dd": runDD,
		"builtin": runDiskBuiltin}[tool](ctx, job)
	end := time.Now()
	switch {
	case ctx.Err() != nil:
		return Run{}, fmt.Errorf("%w: %w", ErrTool, ctx.Err())
	case errors.Is(err, ErrMissing):
		return Run{}, err
	case err != nil:
		return Run{}, fmt.Errorf("%w: %w", ErrTool, err)
	}
	if by := clockStep(end.Round(0).Sub(start.Round(0)), end.Sub(start)); by != 0 {
		return Run{}, clockSet(by)
	}
	run.Tool, run.Start, run.Retransmits = tool, start, -1
	run.Client = before.since(readSnapshot(ctx, c).cpu)
	return run.ofDisk(kind, at, why)
}

// ofDisk adds what is to be said of a run on a file system.
func (r Run) ofDisk(kind Kind, at place, cached string) (Run, error) {
	if v, ok := r.Metrics[SyncWrites]; !ok || !(v > 0) {
		return Run{}, fmt.Errorf("%w: %s does not tell %s (%s)", ErrTool, r.Tool, SyncWrites, kind.Primary().Means)
	}
	reads := []string{ReadBytes, RandomReads, RandomReadTime, DeepReads}
	if cached != "" {
		for _, name := range reads {
			r.unknown(name, cached)
		}
	}
	for _, m := range kind.Metrics {
		if _, ok := r.Metrics[m.Name]; !ok && r.Unknown[m.Name] == "" {
			why := r.Tool + " does not tell it"
			if _, some := r.Metrics[LatencyP50]; some && m.Name != LatencyP50 && strings.HasPrefix(m.Name, "latency_") {
				why = "too few synchronous writes for it: measure longer (--run)"
			}
			r.unknown(m.Name, why)
		}
	}
	because := map[string][]string{}
	for _, m := range kind.Metrics {
		if why, ok := r.Unknown[m.Name]; ok {
			because[why] = append(because[why], m.Name)
		}
	}
	for _, m := range kind.Metrics {
		if names := because[r.Unknown[m.Name]]; len(names) > 0 && names[0] == m.Name {
			r.warn(CodeCached+":"+m.Name, float64(len(names)), "not known: %s: %s", strings.Join(names, ", "),
				r.Unknown[m.Name])
		}
	}
	if at.inMemory() {
		r.warn(CodeNoDisk, 1, "%s is on %s, which is memory: this says nothing about a disk; name a folder on one "+
			"with --dir", at.dir, at.kind)
	} else if p50 := r.Metrics[LatencyP50]; at.sync == "disabled" {
		r.warn(CodeSyncIgnored, 1,
			"the dataset has sync=disabled: a synchronous write is answered before it is on the disk")
	} else if p50 > 0 && p50 < fastestSync {
		r.warn(CodeSyncIgnored, p50, "a synchronous write took %.1f µs, faster than drives are: something "+
			"acknowledges it before it is on stable storage (a hypervisor, a library, a mount option)", 1e6*p50)
	}
	if at.kind == "nfs" {
		r.warn(CodeNoDisk, 1, "%s is on NFS: this is the path, the server's cache and its disk together", at.dir)
	}
	return r, nil
}

// unknown takes a metric out of the run and says why.
func (r *Run) unknown(metric, why string) {
	delete(r.Metrics, metric)
	if r.Unknown == nil {
		r.Unknown = map[string]string{}
	}
	r.Unknown[metric] = why
}

// chooseDisk picks the first of the workload's tools that the host has. The
// built-in generator is this program: a host behind ssh needs it in its PATH.
func chooseDisk(ctx context.Context, c host.Conn, kind Kind, s Spec) (string, error) {
	tools := kind.Tools
	if s.Tool != "" {
		tools = []string{s.Tool}
	}
	var lacking []string
	for _, tool := range tools {
		program := tool
		if tool == "builtin" {
			if _, remote := c.(*host.SSH); !remote {
				return tool, nil
			}
			program = "wirerate"
		}
		ok, err := installed(ctx, c, program)
		if err != nil {
			return "", err
		}
		if ok {
			return tool, nil
		}
		lacking = append(lacking, program)
	}
	return "", lack("%s: not installed on %s; install fio there", strings.Join(lacking, ", "), c.Name())
}

// diskFrame runs a script in a new folder and removes it, also when everything
// else of it is killed: the process that removes has a session of its own and
// waits for the end of a pipe that the others hold. (A file without a name,
// gone with its last user, would not do: ZFS and btrfs keep what is written to
// such a file out of their log, and so measure nothing.) When who started it is
// gone, it ends within a second. The script's exit status is the last line.
const diskFrame = `PATH="$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"; LC_ALL=C; export PATH LC_ALL
umask 077
d=$(mktemp -d %s/.wirerate-disk.XXXXXXXX) || exit 1
apart() {
if command -v setsid >/dev/null 2>&1; then exec setsid "$@"; fi
if [ -x /usr/sbin/daemon ]; then exec /usr/sbin/daemon -f "$@"; fi
exec "$@"
}
exec 8>&1
{ (
exec 9>&1 1>&8 8>&- </dev/null
if kill -0 $PPID 2>/dev/null; then
(exec 9>&- >/dev/null 2>&1; while kill -0 $PPID; do sleep 1; done; kill -s TERM -- -$$) &
m=$!; trap 'kill $m 2>/dev/null' EXIT
fi
sync
%s
) ; st=$?; rm -rf "$d"; echo "wirerate-status $st" >&8; } | (apart sh -c 'trap "" HUP INT TERM; cat >/dev/null; rm -rf "$1"' sh "$d") >/dev/null 2>&1 8>&-
`

// framed runs a script on the job's host and returns what it printed.
func (j diskJob) framed(ctx context.Context, tool, script string) ([]byte, error) {
	limit := j.duration + time.Duration(float64(j.size)/slowestDisk*float64(time.Second)) + 2*grace
	a, err := one(ctx, j.conn, host.Script(fmt.Sprintf(diskFrame, shell.Quote(strings.TrimSuffix(j.dir, "/")),
		script)).Within(limit))
	if err != nil {
		return nil, err
	}
	if a.Failure == host.TimedOut {
		return nil, fmt.Errorf("%s on %s did not end within %s and was stopped: the disk is slower than this "+
			"workload is for, or busy; give a smaller --size", tool, j.conn.Name(), limit.Round(time.Second))
	}
	out, status, ended := cutLast(strings.TrimRight(string(a.Out), "\n"), "wirerate-status ")
	if ended && status == "0" {
		return []byte(out), nil
	}
	said := a.Stderr + "\n" + out
	switch host.Classify(said) {
	case host.Full:
		return nil, lack("%s on %s became full during the run: free some, or give a smaller --size", j.dir,
			j.conn.Name())
	case host.Denied, host.ReadOnly:
		return nil, lack("%s on %s cannot be written to: %s; name another folder with --dir", j.dir, j.conn.Name(),
			host.Reason(a.Stderr))
	}
	why := host.Reason(a.Stderr)
	if why == "" {
		why = lastLine(out)
	}
	return nil, fmt.Errorf("%s on %s: %s", tool, j.conn.Name(), orElse(why, "it ended without a result"))
}

// fioScript runs a job for each way of access. What is written is random, so
// that no file system compresses it.
func (j diskJob) fioScript() string {
	part := fmt.Sprintf("--runtime=%dms", (j.duration / diskParts).Milliseconds())
	script := `t() { fio --directory="$d" --ioengine=psync --thread --output-format=json --randrepeat=0 --fallocate=none ` + part + ` "$@"; }
t --name=write --filename=data --rw=write --bs=1m --refill_buffers --end_fsync=1 --size=` + strconv.FormatInt(j.size, 10) + ` || exit
t --name=sync --filename=sync --rw=write --bs=4k --sync=1 --time_based --size=` + strconv.FormatInt(min(syncFile, j.size/4), 10) + " || exit\n"
	if !j.reads {
		return script
	}
	return script + `n=$(($(wc -c <"$d/data") / 1048576 * 1048576))
t --name=read --filename=data --rw=read --bs=1m --direct=1 --size=$n &&
t --name=random --filename=data --rw=randread --bs=4k --direct=1 --norandommap --time_based --size=$n &&
t --name=deep --filename=data --rw=randread --bs=4k --direct=1 --norandommap --time_based --group_reporting --numjobs=` + strconv.Itoa(deepReaders) + ` --size=$n
exit 0`
}

func runFio(ctx context.Context, j diskJob) (Run, error) {
	out, err := j.framed(ctx, "fio", j.fioScript())
	return parsed("fio", out, err)
}

// ddScript is for hosts with nothing else: fixed numbers of blocks, of which
// dd tells the time of all together. /dev/urandom is too slow to be written
// from directly.
func (j diskJob) ddScript() string {
	script := fmt.Sprintf(`dd if=/dev/urandom of="$d/seed" bs=1048576 count=16 2>&1 || exit
echo "phase write"; i=0
while [ $i -lt %d ]; do cat "$d/seed"; i=$((i+1)); done | dd of="$d/data" obs=1048576 conv=fsync 2>&1 || exit
echo "phase sync"; dd if="$d/seed" of="$d/sync" bs=4096 count=256 oflag=sync 2>&1 || exit
`, j.size/diskStep)
	if !j.reads {
		return script
	}
	return script + `echo "phase read"; dd if="$d/data" of=/dev/null bs=1048576 iflag=direct 2>&1
exit 0`
}

func runDD(ctx context.Context, j diskJob) (Run, error) {
	out, err := j.framed(ctx, "dd", j.ddScript())
	if err != nil {
		return Run{}, err
	}
	run, err := parseDD(string(out))
	if err == nil {
		run.warn(CodeCoarse, 256,
			"dd tells the mean of 256 synchronous writes only: install fio on %s for what each took", j.conn.Name())
	}
	return run, err
}

func runDiskBuiltin(ctx context.Context, j diskJob) (Run, error) {
	program, err := os.Executable()
	if err != nil {
		return Run{}, err
	}
	args := []string{shell.Quote(programOn(j.conn, program)), TrafficVerb, "disk",
		`"$d"`, strconv.FormatInt(j.size, 10), j.duration.String(), strconv.FormatBool(j.reads)}
	out, err := j.framed(ctx, "the built-in generator", strings.Join(args, " "))
	if err != nil {
		return Run{}, err
	}
	var report diskReport
	if err := json.Unmarshal(out, &report); err != nil {
		return Run{}, fmt.Errorf("the generator on %s printed %q", j.conn.Name(), clip(string(out), 200))
	}
	return Run{Metrics: report.Metrics, Unknown: report.Unknown, Raw: string(out)}, nil
}
