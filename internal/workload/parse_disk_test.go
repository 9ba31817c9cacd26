package workload

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/shell"
)

// fioJSON has the form of fio 3's --output-format=json, numbers invented.
func fioJSON(name, options, side, other string) string {
	return fmt.Sprintf(`note: both iodepth >= 1 and synchronous I/O engine are selected, queue depth will be capped at 1
{
  "fio version" : "fio-3.33",
  "timestamp" : 1700000000,
  "time" : "Tue Nov 14 22:13:20 2023",
  "global options" : {
    "directory" : "/srv",
    "ioengine" : "psync",
    "runtime" : "2000ms"
  },
  "jobs" : [
    {
      "jobname" : %q,
      "groupid" : 0,
      "error" : 0,
      "elapsed" : 3,
      "job options" : {
        "name" : %q,
        %s
      },
      %s
      %s
      "sync" : {
        "total_ios" : 0,
        "lat_ns" : { "min" : 0, "max" : 0, "mean" : 0.000000, "stddev" : 0.000000, "N" : 0 }
      },
      "job_runtime" : 2000,
      "usr_cpu" : 1.000000
    }
  ],
  "disk_util" : [ ]
}
`, name, name, options, side, other)
}

// fioSideJSON is the part of one direction.
func fioSideJSON(side string, bytes, ms, ios int, us float64) string {
	return fmt.Sprintf(`"%s" : { "io_bytes" : %d, "bw_bytes" : %d, "iops" : %f, "runtime" : %d, "total_ios" : %d, "short_ios" : 0,
        "slat_ns" : { "min" : 0, "max" : 0, "mean" : 0.000000 },
        "clat_ns" : { "min" : %.0f, "max" : %.0f, "mean" : %f, "percentile" : { "1.000000" : 1, "50.000000" : %.0f, "90.000000" : %.0f, "99.000000" : %.0f, "99.900000" : %.0f } },
        "lat_ns" : { "min" : %.0f, "max" : %.0f, "mean" : %f } },`,
		side, bytes, bytes*1000/max(ms, 1), float64(ios)*1000/float64(max(ms, 1)), ms, ios, us*500, us*9000, us*1100, us*1000, us*2000, us*4000, us*8000, us*500, us*9000, us*1100)
}

func none(side string) string { return fioSideJSON(side, 0, 0, 0, 0) }

func fioOutputs() map[string]string {
	return map[string]string{
		"write":  fioJSON("write", `"rw" : "write", "bs" : "1m", "end_fsync" : "1"`, none("read"), fioSideJSON("write", 2<<30, 2000, 2048, 900)),
		"sync":   fioJSON("sync", `"rw" : "write", "bs" : "4k", "sync" : "1"`, none("read"), fioSideJSON("write", 4096*10000, 2000, 10000, 190)),
		"read":   fioJSON("read", `"rw" : "read", "bs" : "1m", "direct" : "1"`, fioSideJSON("read", 3<<30, 1500, 3072, 480), none("write")),
		"random": fioJSON("random", `"rw" : "randread", "bs" : "4k", "direct" : "1"`, fioSideJSON("read", 4096*24000, 2000, 24000, 80), none("write")),
		"deep":   fioJSON("deep", `"rw" : "randread", "bs" : "4k", "direct" : "1", "numjobs" : "32"`, fioSideJSON("read", 4096*800000, 2000, 800000, 78), none("write")),
	}
}

func fioWhole() string {
	o := fioOutputs()
	return o["write"] + o["sync"] + o["read"] + o["random"] + o["deep"]
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-6*math.Abs(b) }

func TestParseFio(t *testing.T) {
	run, err := ParseOutput("fio", []byte(fioWhole()))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{WriteBytes: 1 << 30, SyncWrites: 5000, LatencyP50: 190e-6, LatencyP99: 760e-6, LatencyP999: 1520e-6,
		ReadBytes: 2 << 30, RandomReads: 12000, RandomReadTime: 80e-6, DeepReads: 400000, LatencyMean: 209e-6} {
		if got := run.Metrics[name]; !near(got, want) {
			t.Errorf("%s is %g, want %g", name, got, want)
		}
	}
	if tool := DetectTool([]byte(fioWhole())); tool != "fio" {
		t.Errorf("detected as %q", tool)
	}
	// One line, as jq -c leaves it, with the options where another put them.
	compact := `{"fio version":"fio-3.1","global options":{"rw":"randread","bs":"4096B","iodepth":"8","direct":"1"},"jobs":[{"jobname":"a","error":0,"read":{"total_ios":0,"iops":0},"write":{"total_ios":0}},{"jobname":"b","error":0,"read":{"total_ios":500,"runtime":1000,"iops":499}}]}`
	if run, err = ParseOutput("fio", []byte(compact)); err != nil || run.Metrics[DeepReads] != 500 {
		t.Errorf("%v, %v", run.Metrics, err)
	}
	// fsync after each write: two distributions, of which the means add up.
	fsync := strings.Replace(fioOutputs()["sync"], `"sync" : "1"`, `"fdatasync" : "1"`, 1)
	fsync = strings.Replace(fsync, `"total_ios" : 0,
        "lat_ns" : { "min" : 0, "max" : 0, "mean" : 0.000000`, `"total_ios" : 10000,
        "lat_ns" : { "min" : 1, "max" : 9, "mean" : 91000.000000`, 1)
	run, err = ParseOutput("fio", []byte(fsync))
	if _, p50 := run.Metrics[LatencyP50]; err != nil || p50 || !near(run.Metrics[LatencyMean], 300e-6) || run.Metrics[SyncWrites] != 5000 {
		t.Errorf("%v, %v", run.Metrics, err)
	}
	// The cache may have answered.
	cached := strings.Replace(fioOutputs()["random"], `"direct" : "1"`, `"direct" : "0"`, 1)
	if _, err = ParseOutput("fio", []byte(cached)); err == nil || !strings.Contains(err.Error(), "memory may have answered") {
		t.Errorf("%v", err)
	}
	for what, text := range map[string]string{
		"cut":         fioWhole()[:len(fioWhole())-300],
		"other JSON":  "{\n \"a\": 1\n}\n",
		"failed job":  strings.Replace(fioWhole(), `"error" : 0`, `"error" : 28`, 1),
		"nothing":     "",
		"no document": "fio: pid=1, err=28/file:filesetup.c:240, func=write, error=No space left on device",
		"few options": fioJSON("x", `"rw" : "randwrite", "bs" : "64k"`, none("read"), fioSideJSON("write", 1<<20, 100, 16, 10)),
	} {
		if run, err := ParseOutput("fio", []byte(text)); err == nil {
			t.Errorf("%s: %v", what, run.Metrics)
		}
	}
}

// diskinfoOutput has the form of diskinfo -ctwS and -i of FreeBSD 14.
const diskinfoOutput = "/dev/nda1\n\t512         \t# sectorsize\n\t1024209543168\t# mediasize in bytes (954G)\n\n" +
	"Transfer rates:\n\toutside:       102400 kbytes in   0.050000 sec =  2048000 kbytes/sec\n\tmiddle:        102400 kbytes in   0.052000 sec =  1969230 kbytes/sec\n\tinside:        102400 kbytes in   0.051000 sec =  2007843 kbytes/sec\n\n" +
	"Asynchronous random reads:\n\tsectorsize:    900000 ops in    3.000000 sec =   300000 IOPS\n\t4 kbytes:      840000 ops in    3.000000 sec =   280000 IOPS\n\t32 kbytes:      90000 ops in    3.000000 sec =    30000 IOPS\n\n" +
	"Synchronous random writes:\n\t 0.5 kbytes:     25.1 usec/IO =     19.5 Mbytes/s\n\t   4 kbytes:     40.0 usec/IO =     97.7 Mbytes/s\n\t1024 kbytes:    900.0 usec/IO =   1111.1 Mbytes/s\n"

func TestParseDiskinfo(t *testing.T) {
	run, err := ParseOutput("diskinfo", []byte(diskinfoOutput))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{SyncWrites: 25000, LatencyMean: 40e-6, ReadBytes: 1969230 * 1024, DeepReads: 280000} {
		if !near(run.Metrics[name], want) {
			t.Errorf("%s is %g, want %g", name, run.Metrics[name], want)
		}
	}
	if tool := DetectTool([]byte(diskinfoOutput)); tool != "diskinfo" {
		t.Errorf("detected as %q", tool)
	}
	if _, err := ParseOutput("diskinfo", []byte("diskinfo: /dev/nda1: Operation not permitted\n")); err == nil {
		t.Error("a refusal as a result")
	}
}

func TestParseDD(t *testing.T) {
	for what, text := range map[string]string{
		"GNU":     "phase write\n268435456 bytes (268 MB, 256 MiB) copied, 0.5 s, 537 MB/s\nphase sync\n256+0 records in\n1048576 bytes (1.0 MB, 1.0 MiB) copied, 2.56e-01 s, 4 MB/s\nphase read\n268435456 bytes (268 MB, 256 MiB) copied, 0.25 s, 1.1 GB/s\n",
		"FreeBSD": "phase write\n268435456 bytes transferred in 0.500000 secs (536870912 bytes/sec)\nphase sync\n1048576 bytes transferred in 0.256000 secs (4096000 bytes/sec)\nphase read\n268435456 bytes transferred in 0.250000 secs (1 bytes/sec)\n",
		"BusyBox": "phase write\n268435456 bytes (256.0MB) copied, 0.5 seconds, 512.0MB/s\nphase sync\n1048576 bytes (1.0MB) copied, 0.256 seconds, 3.9MB/s\nphase read\n268435456 bytes (256.0MB) copied, 0.25 seconds, 1.0GB/s\n",
	} {
		run, err := parseDD(text)
		if err != nil || !near(run.Metrics[SyncWrites], 1000) || !near(run.Metrics[LatencyMean], 1e-3) || !near(run.Metrics[WriteBytes], 1<<29) || !near(run.Metrics[ReadBytes], 1<<30) {
			t.Errorf("%s: %v, %v", what, run.Metrics, err)
		}
	}
	if _, err := parseDD("phase write\n5 bytes transferred in 1.0 secs\nphase sync\ndd: unknown operand oflag\n"); err == nil || !strings.Contains(err.Error(), "install fio") {
		t.Errorf("%v", err)
	}
}

func FuzzParseDisk(f *testing.F) {
	// Short ones: of a long input nothing but its minimization is run.
	f.Add("fio", `{"fio version":"fio-3.1","jobs":[{"jobname":"a","job options":{"rw":"write","direct":"1"},"write":{"io_bytes":9,"runtime":1}}]}`)
	f.Add("fio", `{"fio version":"fio-3.1","jobs":[{"job options":{"rw":"randread","iodepth":"8"},"read":{"total_ios":5,"lat_ns":{"percentile":{"50.000000":1}}}}]}`)
	f.Add("fio", `{"fio version":"fio-3.1","jobs":[{"job options":{"rw":"write","sync":"dsync"},"write":{"total_ios":5,"runtime":1},"sync":{"lat_ns":{"mean":1}}}]}`)
	f.Add("diskinfo", "/dev/a\n\t512\t# sectorsize\nSynchronous random writes:\n\t 4 kbytes: 40.0 usec/IO = 97.7 Mbytes/s\n")
	f.Add("dd", "1000 bytes transferred in 0.5 secs (2000 bytes/sec)\n")
	f.Fuzz(func(t *testing.T, tool, text string) {
		run, err := ParseOutput(tool, []byte(text))
		sound(t, run, err)
		if run, err := parseDD(text); err == nil && !(run.Metrics[SyncWrites] > 0) {
			t.Fatalf("%v", run.Metrics)
		}
		if p, err := parsePlace(text); err == nil && p.free < 0 {
			t.Fatalf("%+v", p)
		}
	})
}

// fakeFio is a fio that prints what was prepared for its --name and keeps how
// it was called.
func fakeFio(t *testing.T, script string) (calls func() []string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range fioOutputs() {
		if err := os.WriteFile(filepath.Join(dir, name+".json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	program := "#!/bin/sh\nhere=" + shell.Quote(dir) + `
echo "$*" >>"$here/calls"
for a; do case $a in --name=*) name=${a#*=} ;; --directory=*) to=${a#*=} ;; esac; done
` + script + `
[ $name = write ] && head -c 3000000 /dev/zero >"$to/data"
cat "$here/$name.json"
`
	if err := os.WriteFile(filepath.Join(dir, "fio"), []byte(program), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return func() []string {
		data, _ := os.ReadFile(filepath.Join(dir, "calls"))
		return strings.Split(strings.TrimSpace(string(data)), "\n")
	}
}

func TestFioIsDriven(t *testing.T) {
	calls := fakeFio(t, "")
	dir := t.TempDir()
	s := diskSpec(t, dir, "")
	run, err := Measure(t.Context(), Pair{Client: host.NewLocal()}, s)
	if err != nil {
		t.Fatal(err)
	}
	if run.Tool != "fio" || run.Metrics[SyncWrites] != 5000 {
		t.Errorf("%s: %v", run.Tool, run.Metrics)
	}
	_, reads := run.Unknown[ReadBytes]
	want := map[bool]int{true: 2, false: 5}[reads] // the test's folder may be in memory
	got := calls()
	if len(got) != want {
		t.Fatalf("%d calls, want %d: %q", len(got), want, got)
	}
	for i, flags := range [][]string{
		{"--rw=write", "--bs=1m", "--end_fsync=1", "--size=16777216", "--runtime=500ms"},
		{"--rw=write", "--bs=4k", "--sync=1", "--time_based", "--size=4194304"},
		{"--rw=read", "--direct=1", "--size=2097152"}, // whole blocks of what was written
		{"--rw=randread", "--bs=4k", "--direct=1"},
		{"--rw=randread", "--direct=1", "--numjobs=32", "--group_reporting"},
	} {
		if i >= want {
			break
		}
		for _, flag := range flags {
			if !slices.Contains(strings.Fields(got[i]), flag) {
				t.Errorf("%s is not in %q", flag, got[i])
			}
		}
	}
	if left := leftIn(t, dir); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

func TestFioFails(t *testing.T) {
	for what, c := range map[string]struct{ script, want string }{
		"full":     {`echo "fio: io_u error on file data: No space left on device: write" >&2; exit 1`, "became full"},
		"old":      {`echo "fio: unrecognized option '--$name'" >&2; exit 1`, "unrecognized option"},
		"no JSON":  {`echo "write: io=3200.0KB, bw=1935.9KB/s"; touch "$to/data"; exit 0`, "JSON"},
		"silently": {`exit 3`, "without a result"},
	} {
		t.Run(what, func(t *testing.T) {
			fakeFio(t, c.script)
			dir := t.TempDir()
			_, err := Measure(t.Context(), Pair{Client: host.NewLocal()}, diskSpec(t, dir, "fio"))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v", err)
			}
			if left := leftIn(t, dir); left != nil {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}
