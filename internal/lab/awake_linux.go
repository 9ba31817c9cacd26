package lab

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/input"
	"github.com/wirerate/wirerate/internal/units"
)

const (
	// awakeLook is how often a lab looks whether it carries anything.
	awakeLook = 500 * time.Millisecond
	// awakeRest is after how long without a packet processors may go idle.
	awakeRest = 20 * time.Second
	// batteryLook is how often a lab looks for what the machine runs on.
	batteryLook = 10 * time.Second
)

// waker keeps processors awake while a lab carries packets.
type waker struct {
	mu      sync.Mutex
	info    Awake
	process *host.Awake // nil where none was started
	supply  fs.FS       // the machine's power supplies
	stop    chan struct{}
	watch   sync.WaitGroup
}

// startWaker decides and begins; what goes wrong is a reason not to. fastest is
// the rate of the fastest link of the lab, 0 where one has no limit.
func startWaker(o AwakeOptions, fastest units.Rate) (*waker, error) {
	if o.Mode == "" {
		told, err := ParseAwake("")
		if err != nil {
			return nil, err
		}
		o.Mode, o.Share = told.Mode, told.Share
	}
	w := &waker{stop: make(chan struct{}), supply: os.DirFS("/sys/class/power_supply")}
	m := machine{limit: timeLimit("/sys/fs/cgroup", "/proc/self/cgroup"), battery: onBattery(w.supply),
		fastest: fastest}
	stat, err := input.File("/proc/stat", recordLimit)
	if err == nil {
		m.stolen, err = stolenShare(string(stat))
	}
	w.info = o.decide(m)
	if err != nil && !w.info.On && o.Mode == AwakeAuto {
		w.info.Reason = err.Error()
	}
	if !w.info.On {
		return w, nil
	}
	processors, err := host.AllowedProcessors()
	if err == nil {
		processors = processors[:min(len(processors), maxAwake)]
		w.process, err = host.KeepAwake(processors, w.info.Share)
	}
	if err != nil {
		w.off(err.Error())
		return w, nil
	}
	w.info.Processors = len(processors)
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
		w.process, w.info.Processors = nil, 0
		w.off(err.Error())
		return
	}
	w.watch.Go(func() { w.follow(packets, awakeLook, awakeRest) })
}

// off notes that processors may go idle, and why.
func (w *waker) off(why string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.info.On, w.info.Reason = false, why
}

// state is what is done, and what it took so far.
func (w *waker) state() Awake {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.process != nil {
		w.info.CPU = w.process.CPU()
	}
	return w.info
}

// follow looks now and then, and lets the processors go idle when it is known
// that nothing has been carried for some time, or the machine runs on its battery.
func (w *waker) follow(packets func() (int64, bool), look, after time.Duration) {
	tick := time.NewTicker(look)
	defer tick.Stop()
	last, since, resting := int64(0), time.Now(), false
	battery, looked, reason := false, time.Now(), w.info.Reason
	for {
		select {
		case <-w.stop:
			return
		case <-w.process.Ended():
			w.off("the process that kept them awake was ended by somebody")
			return
		case now := <-tick.C:
			n, known := packets()
			if n != last || !known {
				last, since = n, now
			}
			if now.Sub(looked) >= batteryLook {
				battery, looked = onBattery(w.supply), now
			}
			rest := battery || now.Sub(since) > after
			if rest == resting || w.process.Rest(rest) != nil {
				continue
			}
			resting = rest
			w.mu.Lock()
			if w.info.On, w.info.Reason = !battery, reason; battery {
				w.info.Reason = onBatteryReason
			}
			w.mu.Unlock()
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
