//go:build linux

package lab

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wirerate/wirerate/internal/lab/link"
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
				goodput += bulk(b, l, c.streams)
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

// bulk returns the goodput of TCP connections with BBR from the client to the
// server, in bit/s over two seconds after one that does not count.
func bulk(b *testing.B, l *Lab, streams int) float64 {
	var listener net.Listener
	if err := l.Inside(ServerHost, func() (err error) {
		listener, err = net.Listen("tcp4", net.JoinHostPort(l.PeerAddr(), "7078"))
		return err
	}); err != nil {
		b.Fatal(err)
	}
	defer listener.Close()
	dialer := net.Dialer{Control: func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) { unix.SetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION, "bbr") })
	}}
	var arrived atomic.Int64
	for range streams {
		var conn net.Conn
		if err := l.Inside(ClientHost, func() (err error) {
			conn, err = dialer.DialContext(b.Context(), "tcp4", listener.Addr().String())
			return err
		}); err != nil {
			b.Fatal(err)
		}
		peer, err := listener.Accept()
		if err != nil {
			b.Fatal(err)
		}
		defer peer.Close()
		defer conn.Close()
		go func() {
			for block := make([]byte, 1<<20); ; {
				if _, err := conn.Write(block); err != nil {
					return
				}
			}
		}()
		go func() {
			for block := make([]byte, 1<<20); ; {
				n, err := peer.Read(block)
				arrived.Add(int64(n))
				if err != nil {
					return
				}
			}
		}()
	}
	time.Sleep(time.Second)
	start, before := time.Now(), arrived.Load()
	time.Sleep(2 * time.Second)
	return float64(arrived.Load()-before) * 8 / time.Since(start).Seconds()
}

// carry returns the goodput of connections over a path that only delays, in
// bit/s, and the processor time that its emulator, or the sketch in its place,
// takes for each byte, in ns.
func carry(b *testing.B, streams int, sketch string) (goodput, cpu float64) {
	needLab(b)
	topology := Pair(link.Link{Up: link.Direction{Delay: 10 * time.Millisecond}, Down: link.Direction{Delay: 10 * time.Millisecond}})
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
	goodput = bulk(b, l, streams)
	bytes, ns := end()
	return goodput, ns / bytes
}

// replace stops the emulator of a lab's link and starts the sketch on its
// devices. The function that it returns ends the sketch.
func replace(b *testing.B, l *Lab, sketch string) (end func() (bytes, ns float64)) {
	w := l.links[0]
	w.up.Close()
	w.down.Close()
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

// BenchmarkBringUp is a lab up and down.
func BenchmarkBringUp(b *testing.B) {
	needLab(b)
	for b.Loop() {
		l, err := Bring(b.Context(), Pair(link.Link{}))
		if err != nil {
			b.Fatal(err)
		}
		l.Close()
	}
}
