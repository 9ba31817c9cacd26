//go:build linux

package lab

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// BenchmarkStream is what TCP connections carry over a link, with the senders,
// the receivers and the emulator on this machine. A unit's processor time counts
// the whole machine's work for it, or the emulator's thread alone; it depends
// less than the rate does on what else runs here.
func BenchmarkStream(b *testing.B) {
	for _, c := range []struct {
		spec    string
		streams int
	}{
		{"rtt=20ms", 1}, {"rtt=20ms", 4}, {"rtt=0s", 1}, {"rate=10gbit,rtt=20ms,loss=1e-5", 1},
		{"rate=10gbit,rtt=20ms", 1}, {"rate=10gbit,rtt=20ms", 4}, {"rate=5gbit,rtt=20ms", 1}, {"rate=1gbit,rtt=20ms", 1},
	} {
		b.Run(fmt.Sprintf("%s/streams=%d", c.spec, c.streams), func(b *testing.B) {
			l := up(b, c.spec)
			var goodput float64
			before := processTime()
			for b.Loop() {
				res, err := l.transfer(b.Context(), transfer{streams: c.streams, duration: 2 * time.Second, omit: time.Second, congestion: "bbr"})
				if err != nil {
					b.Fatal(err)
				}
				goodput += res.goodput
			}
			all := processTime() - before
			up, _ := l.Stats()
			units := float64(max(up.Units, 1))
			b.ReportMetric(goodput/float64(b.N)/1e9, "Gbit/s")
			b.ReportMetric(float64(up.Segments)/units, "segments/unit")
			b.ReportMetric(up.CPU.Seconds()/units*1e6, "emulator-us/unit")
			b.ReportMetric(all.Seconds()/units*1e6, "all-us/unit")
			b.ReportMetric(float64(up.WorstLate.Microseconds()), "worst-late-us")
			b.ReportMetric(float64(up.Late)/units, "late/unit")
		})
	}
}

// BenchmarkAgainstC carries connections over the emulator and over a sketch of
// one in C that only delays (testdata/sketch.c), one after the other on devices
// of the same kind, and compares them: "of-C" is the emulator's share of the
// sketch's goodput, "CPU-of-C" its processor time for each byte over the
// sketch's.
func BenchmarkAgainstC(b *testing.B) {
	compiler, err := exec.LookPath("gcc")
	if err != nil {
		// What a benchmark says when it is skipped is printed with -v alone.
		fmt.Fprintln(os.Stderr, "BenchmarkAgainstC skipped: no gcc to compile the sketch with; apt-get install gcc libc6-dev")
		b.SkipNow()
	}
	sketch := filepath.Join(b.TempDir(), "sketch")
	if out, err := exec.Command(compiler, "-O2", "-pthread", "-o", sketch, "testdata/sketch.c").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	for _, streams := range []int{1, 4} {
		b.Run(fmt.Sprintf("rtt=20ms/streams=%d", streams), func(b *testing.B) {
			var ours, theirs, cpu, sketchCPU float64
			for i := 0; b.Loop(); i++ {
				for j := range 2 {
					if (i+j)%2 == 0 {
						goodput, each := carry(b, streams, "")
						ours += goodput
						cpu += each
					} else {
						goodput, each := carry(b, streams, sketch)
						theirs += goodput
						sketchCPU += each
					}
				}
			}
			n := float64(b.N)
			b.ReportMetric(ours/n/1e9, "Gbit/s")
			b.ReportMetric(theirs/n/1e9, "C-Gbit/s")
			b.ReportMetric(ours/theirs, "of-C")
			b.ReportMetric(cpu/sketchCPU, "CPU-of-C")
		})
	}
}

// carry returns the goodput of connections over a path that only delays, in
// bit/s, and the processor time that its emulator, or the sketch in its place,
// takes for each byte, in ns.
func carry(b *testing.B, streams int, sketch string) (goodput, cpu float64) {
	needLab(b)
	topology := Pair(Link{Up: Direction{Delay: 10 * time.Millisecond}, Down: Direction{Delay: 10 * time.Millisecond}})
	topology.Awake.Mode = AwakeOn
	l, err := Bring(b.Context(), topology)
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	var end func() (bytes, ns float64)
	if sketch == "" {
		end = func() (float64, float64) {
			up, down := l.Stats()
			return float64(up.Bytes + down.Bytes), float64(up.CPU + down.CPU)
		}
	} else {
		end = replace(b, l, sketch)
	}
	res, err := l.transfer(b.Context(), transfer{streams: streams, duration: 2 * time.Second, omit: time.Second, congestion: "bbr"})
	if err != nil {
		b.Fatal(err)
	}
	bytes, ns := end()
	return res.goodput, ns / bytes
}

// replace stops the emulator of a lab's link and starts the sketch on its
// devices. The function that it returns ends the sketch.
func replace(b *testing.B, l *Lab, sketch string) (end func() (bytes, ns float64)) {
	w := l.links[0]
	w.up.close()
	w.down.close()
	w.up, w.down = nil, nil
	cmd := exec.Command(sketch, fmt.Sprint(w.link.Up.Delay.Nanoseconds()))
	for _, fd := range w.tuns {
		own, err := unix.Dup(fd)
		if err != nil {
			b.Fatal(err)
		}
		f := os.NewFile(uintptr(own), "tun")
		defer f.Close()
		cmd.ExtraFiles = append(cmd.ExtraFiles, f)
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	var out strings.Builder
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	return func() (bytes, ns float64) {
		stdin.Close()
		var units float64
		if err := cmd.Wait(); err != nil {
			b.Fatal(err)
		}
		if _, err := fmt.Sscan(out.String(), &units, &bytes, &ns); err != nil || bytes == 0 {
			b.Fatalf("the sketch said %q: %v", out.String(), err)
		}
		return bytes, ns
	}
}

// processTime returns the processor time of this process.
func processTime() time.Duration {
	var u unix.Rusage
	unix.Getrusage(unix.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkCut is the cost of one segment that is cut out of a unit.
func BenchmarkCut(b *testing.B) {
	for _, n := range []int{1, 10, 44} {
		b.Run(fmt.Sprintf("segments=%d", n), func(b *testing.B) {
			u := tcp(44)
			s := shapeOf(u)
			head := make([]byte, vnetLen+maxHeaders)
			for b.Loop() {
				cut(head, u, s, 44-n, n, true)
			}
		})
	}
}

// BenchmarkBringUp is a lab up and down.
func BenchmarkBringUp(b *testing.B) {
	needLab(b)
	for b.Loop() {
		l, err := Bring(b.Context(), Pair(Link{}))
		if err != nil {
			b.Fatal(err)
		}
		l.Close()
	}
}
