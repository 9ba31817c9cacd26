package lab

import (
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/input"
)

const (
	// awakeLook is how often a lab looks whether it carries anything.
	awakeLook = 500 * time.Millisecond
	// awakeRest is after how long without a packet processors may go idle.
	awakeRest = 20 * time.Second
)

// waker keeps processors awake while a lab carries packets.
type waker struct {
	info    Awake
	process *host.Awake // nil where processors may go idle
	stop    chan struct{}
	watch   sync.WaitGroup
}

// startWaker decides and begins; what goes wrong is a reason not to.
func startWaker(mode AwakeMode) (*waker, error) {
	mode, err := ParseAwake(string(mode))
	if err != nil {
		return nil, err
	}
	w := &waker{stop: make(chan struct{})}
	var stolen float64
	stat, err := input.File("/proc/stat", recordLimit)
	if err == nil {
		stolen, err = stolenShare(string(stat))
	}
	w.info = mode.decide(stolen, timeLimit("/sys/fs/cgroup", "/proc/self/cgroup"))
	if err != nil && !w.info.On && mode != AwakeOff {
		w.info.Reason = err.Error()
	}
	if !w.info.On {
		return w, nil
	}
	processors, err := host.AllowedProcessors()
	if err == nil {
		processors = processors[:min(len(processors), maxAwake)]
		w.process, err = host.KeepAwake(processors)
	}
	w.info.Processors = len(processors)
	if err != nil {
		w.fail(err)
	}
	return w, nil
}

// ready waits until the processors are kept awake. packets returns how many the
// lab has carried.
func (w *waker) ready(packets func() (n int64, known bool)) {
	if w.process == nil {
		return
	}
	if err := w.process.Ready(); err != nil {
		w.process.Close()
		w.fail(err)
		return
	}
	w.watch.Go(func() { w.follow(packets, awakeLook, awakeRest) })
}

func (w *waker) fail(err error) {
	w.process = nil
	w.info.On, w.info.Processors, w.info.Reason = false, 0, err.Error()
}

// follow looks now and then, and lets the processors go idle when it is known
// that nothing has been carried for some time.
func (w *waker) follow(packets func() (int64, bool), look, after time.Duration) {
	tick := time.NewTicker(look)
	defer tick.Stop()
	last, since, resting := int64(0), time.Now(), false
	for {
		select {
		case <-w.stop:
			return
		case now := <-tick.C:
			n, known := packets()
			if n != last || !known {
				last, since = n, now
			}
			rest := now.Sub(since) > after
			if rest != resting && w.process.Rest(rest) == nil {
				resting = rest
			}
		}
	}
}

func (w *waker) close() error {
	close(w.stop)
	w.watch.Wait()
	if w.process == nil {
		return nil
	}
	return w.process.Close()
}

// timeLimit returns the limit on processor time that a control group sets for
// this process, "" where there is none. Groups are mounted at root and named in
// the file self, in either version of cgroups(7).
func timeLimit(root, self string) string {
	text, err := input.File(self, recordLimit)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		// hierarchy:controllers:path
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 {
			continue
		}
		file, mount, none := "cpu.max", root, "max"
		if f[1] != "" {
			if !strings.Contains(","+f[1]+",", ",cpu,") {
				continue
			}
			file, mount, none = "cpu.cfs_quota_us", filepath.Join(root, f[1]), "-1"
		}
		for dir := filepath.Clean("/" + f[2]); ; dir = filepath.Dir(dir) {
			data, err := input.File(filepath.Join(mount, dir, file), recordLimit)
			if limit := strings.TrimSpace(string(data)); err == nil && !strings.HasPrefix(limit, none) {
				return file + " " + limit
			}
			if dir == "/" {
				break
			}
		}
	}
	return ""
}
