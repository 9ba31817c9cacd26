package workload

import (
	"context"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/shell"
)

// diskSpec is a short run of some MB.
func diskSpec(t *testing.T, dir, tool string) Spec {
	t.Helper()
	s, err := Spec{Workload: "disk", Dir: dir, Size: diskStep, Duration: 2500 * time.Millisecond, Tool: tool}.WithDefaults(0)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func leftIn(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, ".wirerate*"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestDiskRuns(t *testing.T) {
	kind := diskKind()
	for _, tool := range []string{"builtin", "dd"} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "with space and 'quote")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			run, err := Measure(t.Context(), Pair{Client: host.NewLocal()}, diskSpec(t, dir, tool))
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{SyncWrites, WriteBytes, LatencyMean} {
				if v := run.Metrics[name]; !(v > 0) || math.IsInf(v, 0) {
					t.Errorf("%s is %g", name, v)
				}
			}
			for _, m := range kind.Metrics {
				_, known := run.Metrics[m.Name]
				if why := run.Unknown[m.Name]; known == (why != "") {
					t.Errorf("%s: known %v, reason %q: exactly one is expected", m.Name, known, why)
				}
			}
			if tool == "builtin" {
				// One after the other: rate times mean time is the whole time at most; how
				// much less is the affair of a busy machine, or of storage as fast as memory.
				if part := run.Metrics[SyncWrites] * run.Metrics[LatencyMean]; part < 0.002 || part > 1.01 {
					t.Errorf("%g writes/s of %g s each", run.Metrics[SyncWrites], run.Metrics[LatencyMean])
				}
			}
			if left := leftIn(t, dir); left != nil {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestDiskPlaces(t *testing.T) {
	c := host.NewLocal()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{filepath.Join(t.TempDir(), "absent"): "annot be written to", file: "cannot be written to", "/proc/self": ""} {
		_, err := Measure(t.Context(), Pair{Client: c}, diskSpec(t, dir, "builtin"))
		if err == nil || !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", dir, err)
		}
	}
	if os.Geteuid() == 0 {
		t.Skip("root may write to any folder")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	if _, err := Measure(t.Context(), Pair{Client: c}, diskSpec(t, dir, "builtin")); !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "ermission denied") {
		t.Errorf("unwritable folder: %v", err)
	}
}

// smallDisk runs a script with $1 a tmpfs of 40 MiB, in a mount namespace that
// ends with it.
func smallDisk(t *testing.T, script string) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command("unshare", "-rm", "sh", "-c", `mount -t tmpfs -o size=40m none "$1" || exit 77; `+script, "sh", dir)
	cmd.Env = append(os.Environ(), "DISK_TEST_DIR="+dir, "DISK_TEST_PROGRAM="+os.Args[0])
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.Is(err, exec.ErrNotFound) || errors.As(err, &exit) && (exit.ExitCode() == 77 || strings.Contains(string(out), "unshare:")) {
		t.Skipf("no mount namespace here: %v %s", err, out)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// TestDiskInside is what the tests of a small disk run in the namespace.
func TestDiskInside(t *testing.T) {
	dir := os.Getenv("DISK_TEST_DIR")
	if dir == "" {
		t.Skip("part of TestFullDisk")
	}
	c := host.NewLocal()
	run, err := Measure(t.Context(), Pair{Client: c}, diskSpec(t, dir, "builtin"))
	if err != nil {
		t.Fatal(err)
	}
	if run.Unknown[RandomReads] == "" || run.Warnings == nil || !strings.Contains(run.Warnings[len(run.Warnings)-1].Text, "memory") {
		t.Errorf("a file system in memory: %v %v", run.Unknown, run.Warnings)
	}
	// Not enough room is said before anything is written.
	big := diskSpec(t, dir, "builtin")
	big.Size = 64 << 20
	if _, err := Measure(t.Context(), Pair{Client: c}, big); !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "would fill it") {
		t.Errorf("too large: %v", err)
	}
	// Somebody else takes the room: little is left, which a slow machine fills too.
	other := filepath.Join(dir, "other")
	if err := os.WriteFile(other, make([]byte, 36<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tool := range []string{"builtin", "dd"} {
		job := diskJob{conn: c, dir: dir, size: 80 << 20, duration: 20 * time.Second}
		runner := map[string]func(context.Context, diskJob) (Run, error){"builtin": runDiskBuiltin, "dd": runDD}[tool]
		if _, err := runner(t.Context(), job); !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "became full") {
			t.Errorf("%s on a disk that gets full: %v", tool, err)
		}
	}
	if err := os.Remove(other); err != nil {
		t.Fatal(err)
	}
	if left := leftIn(t, dir); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

func TestFullDisk(t *testing.T) {
	t.Parallel()
	out := smallDisk(t, `"$DISK_TEST_PROGRAM" -test.run '^TestDiskInside$' -test.v`)
	if !strings.Contains(out, "--- PASS: TestDiskInside") {
		t.Error(out)
	}
}

// TestDiskKilled ends a run in the middle in two ways, of which one leaves no
// process the time to clean up.
func TestDiskKilled(t *testing.T) {
	gone := func(t *testing.T, dir string) {
		t.Helper()
		for range 600 { // half of the time after which it would end by itself
			if leftIn(t, dir) == nil {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
		t.Errorf("left behind: %v", leftIn(t, dir))
	}
	appeared := func(t *testing.T, dir string) {
		t.Helper()
		for range 12000 {
			if names, _ := filepath.Glob(filepath.Join(dir, ".wirerate*/data")); names != nil {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Fatal("no run began")
	}
	t.Run("interrupted", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		spec := diskSpec(t, dir, "builtin")
		spec.Duration = time.Minute
		go func() {
			_, err := Measure(ctx, Pair{Client: host.NewLocal()}, spec)
			done <- err
		}()
		appeared(t, dir)
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		gone(t, dir)
	})
	t.Run("kill -9 of who started it", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		script := strings.Replace(diskFrame, "%s\n) ;", `echo x >"$d/data"; sleep 60`+"\n) ;", 1)
		file := filepath.Join(t.TempDir(), "script")
		if err := os.WriteFile(file, []byte(strings.Replace(script, "%s", shell.Quote(dir), 1)), 0o644); err != nil {
			t.Fatal(err)
		}
		parent := exec.Command("sh", "-c", `setsid sh -s <"$1" & wait`, "sh", file)
		if err := parent.Start(); err != nil {
			t.Fatal(err)
		}
		appeared(t, dir)
		if err := parent.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = parent.Wait() // killed
		gone(t, dir)
	})
	t.Run("kill -9 of the whole group", func(t *testing.T) {
		t.Parallel()
		if _, err := exec.LookPath("setsid"); err != nil {
			t.Skip("no setsid here: the process that removes cannot leave the group")
		}
		dir := t.TempDir()
		job := diskJob{dir: dir, size: diskStep, duration: time.Minute}
		cmd := exec.Command("sh", "-s")
		script := strings.Replace(diskFrame, "%s\n) ;", `echo x >"$d/data"; sleep 60`+"\n) ;", 1)
		cmd.Stdin = strings.NewReader(strings.Replace(script, "%s", shell.Quote(job.dir), 1))
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		appeared(t, dir)
		if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // killed
		gone(t, dir)
	})
}

func TestDiskSpec(t *testing.T) {
	good := Spec{Workload: "disk", Dir: "/x", Size: diskStep}
	if s, err := good.WithDefaults(time.Second); err != nil || s.Duration != 10*time.Second || s.Omit != 0 || s.Streams != 1 {
		t.Errorf("%+v %v", s, err)
	}
	for name, bad := range map[string]Spec{
		"--dir":     {Workload: "bulk", Dir: "/x"},
		"--size":    {Workload: "rr", Size: 1 << 30},
		"streams":   {Workload: "disk", Streams: 2},
		"direction": {Workload: "disk", Direction: Down},
		"omit":      {Workload: "disk", Omit: time.Second},
		"size":      {Workload: "disk", Size: 1},
		"absolute":  {Workload: "disk", Dir: "x"},
		"duration":  {Workload: "disk", Duration: time.Second},
		"tool":      {Workload: "disk", Tool: "iperf3"},
	} {
		if _, err := bad.WithDefaults(0); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

func TestParsePlace(t *testing.T) {
	for _, c := range []struct {
		text string
		want place
	}{
		{"dir /var/tmp\ndf /dev/vda 264212084 33039996 62461268 35% /\ntype ext2/ext3\nzfs \n", place{dir: "/var/tmp", free: 62461268 << 10, kind: "ext2/ext3"}},
		{"dir /tank/a b\ndf tank/a b 100 20 80 20% /tank/a b\ntype zfs\nzfs all standard\n", place{dir: "/tank/a b", free: 80 << 10, kind: "zfs", cache: "all", sync: "standard"}},
		{"dir /\ndf //srv/share%x 100 20 80 20% /\ntype smb2\nzfs\n", place{dir: "/", free: 80 << 10, kind: "smb2"}},
	} {
		got, err := parsePlace(c.text)
		if err != nil || got != c.want {
			t.Errorf("%q: %+v, %v", c.text, got, err)
		}
	}
	if _, err := parsePlace("dir /x\ndf df: no mtab\n"); err == nil {
		t.Error("free space out of nothing")
	}
	for kind, known := range map[string]bool{"xfs": true, "ext2/ext3": true, "tmpfs": false, "zfs": false, "fuseblk": false, "": false} {
		if why := (place{kind: kind}).cached(); (why == "") != known {
			t.Errorf("%q: %q", kind, why)
		}
	}
	if why := (place{kind: "zfs", cache: "metadata"}).cached(); why != "" {
		t.Error(why)
	}
}

func TestDiskWarnings(t *testing.T) {
	run := Run{Tool: "fio", Metrics: map[string]float64{SyncWrites: 5e5, LatencyP50: 2e-6}}
	got, err := run.ofDisk(diskKind(), place{dir: "/d", kind: "zfs", sync: "disabled"}, "why")
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, w := range got.Warnings {
		text += w.Code + ": " + w.Text + "\n"
	}
	for _, want := range []string{"sync=disabled", "read_bytes_per_s, random_reads_per_s, random_read_p50_s, deep_random_reads_per_s: why"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %q", want, text)
		}
	}
	if _, err := (Run{Tool: "fio", Metrics: map[string]float64{WriteBytes: 1}}).ofDisk(diskKind(), place{}, ""); err == nil {
		t.Error("a run without synchronous writes")
	}
}
