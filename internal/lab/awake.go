package lab

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/units"
)

// AwakeMode says whether a lab keeps the machine's processors awake.
type AwakeMode string

// Modes of keeping awake. AwakeAuto does it where the processors are virtual and
// the hypervisor takes them away: at least MinStolen of the time that they were
// wanted since boot. None does on a battery.
const (
	AwakeAuto AwakeMode = "auto"
	AwakeOn   AwakeMode = "on"
	AwakeOff  AwakeMode = "off"
)

// AwakeOptions say when a lab keeps the machine's processors awake, and for how
// much of the time. The zero value is what AwakeVariable says, or AwakeAuto, all
// the time.
type AwakeOptions struct {
	Mode AwakeMode
	// Share is for how much of the time each processor is kept awake at most,
	// above 0 to 1; 0 is 1.
	Share float64
	// From is the rate that a link of the lab has at least where AwakeAuto keeps
	// processors awake; 0 is any.
	From units.Rate
}

// AwakeVariable is the environment variable with the AwakeOptions of labs that
// are not told otherwise.
const AwakeVariable = "WIRERATE_AWAKE"

// MinStolen is the least share of stolen time at which AwakeAuto keeps
// processors awake.
const MinStolen = 0.005

// AwakeExecFrom is the rate from which keeping processors awake is worth the
// processor time to a program that is run once. In pairs of runs with and without it
// on a busy virtual machine the emulator was late less often with it in 5 of 15
// pairs at 1 and 10 Mbit/s, and in 5 of 7 at 100 Mbit/s.
const AwakeExecFrom = 100 * units.Mbit

// maxAwake bounds how many processors are kept awake: the first ones that the
// process may use. A lab's threads and the programs under test are few, and on a
// machine with more processors those that it runs on rarely go idle together.
const maxAwake = 16

// Awake says whether a lab keeps the machine's processors awake, and why.
//
// A virtual processor that has nothing to do goes back to the hypervisor, which
// on a full machine returns it tens of milliseconds after a packet or a timer
// wanted it. No emulator that sleeps between packets can be on time then. A
// process with one thread of class SCHED_IDLE for each processor keeps them
// from going idle, takes next to nothing from other programs, and is counted as
// "nice" time. It rests while the lab carries nothing.
type Awake struct {
	On         bool    `json:"on"`
	Processors int     `json:"processors,omitempty"` // how many
	Share      float64 `json:"share,omitempty"`      // for how much of the time at most, 0 to 1
	Stolen     float64 `json:"stolen"`               // share of the wanted time since boot, 0 to 1
	Reason     string  `json:"reason"`               // why, or why not
	// CPU is the processor time that this took.
	CPU time.Duration `json:"cpu_ns"`
}

// String is a line for people.
func (a Awake) String() string {
	if !a.On {
		return "processors may go idle: " + a.Reason
	}
	most := ""
	if a.Share < 1 {
		most = fmt.Sprintf(" for at most %s%% of the time", units.Digits(100*a.Share, 3))
	}
	return fmt.Sprintf("%d processors are kept awake%s: %s", a.Processors, most, a.Reason)
}

// Took says what it took, "" for nothing.
func (a Awake) Took() string {
	if a.CPU <= 0 {
		return ""
	}
	return fmt.Sprintf("keeping %d processors awake took %s of processor time", a.Processors,
		a.CPU.Round(10*time.Millisecond))
}

// ParseAwake reads auto, on or off, the first two with a share of the time or
// without, as on:50%; "" is what AwakeVariable says, or auto.
func ParseAwake(s string) (AwakeOptions, error) {
	from := ""
	if s == "" {
		s, from = os.Getenv(AwakeVariable), "environment variable "+AwakeVariable+": "
	}
	if s == "" {
		return AwakeOptions{Mode: AwakeAuto, Share: 1}, nil
	}
	mode, share, limited := strings.Cut(s, ":")
	o := AwakeOptions{Mode: AwakeMode(mode), Share: 1}
	switch o.Mode {
	case AwakeAuto, AwakeOn:
	case AwakeOff:
		if !limited {
			return o, nil
		}
		fallthrough
	default:
		return AwakeOptions{}, fmt.Errorf("%sawake %.40q: auto, on or off is expected", from, s)
	}
	if limited {
		var err error
		number, percent := strings.CutSuffix(share, "%")
		o.Share, err = strconv.ParseFloat(number, 64)
		if percent {
			o.Share /= 100
		}
		if err != nil || !(o.Share >= minAwakeShare && o.Share <= 1) {
			return AwakeOptions{}, fmt.Errorf("%sawake %.40q: a share of the time is %g%% to 100%%, like on:50%%",
				from, s, 100*minAwakeShare)
		}
	}
	return o, nil
}

// minAwakeShare is less than does anything.
const minAwakeShare = 0.01

// String is the options as ParseAwake reads them.
func (o AwakeOptions) String() string {
	if o.Mode == "" || o.Mode == AwakeOff || o.Share == 0 || o.Share == 1 {
		return string(o.Mode)
	}
	return fmt.Sprintf("%s:%g", o.Mode, o.Share)
}

// machine is what AwakeOptions decide about.
type machine struct {
	stolen  float64    // share of the time that its processors were taken away
	limit   string     // on this process's processor time, or none
	battery bool       // it runs on one
	fastest units.Rate // of the lab's links; 0: one has no limit
}

// decide chooses for a machine and a lab.
func (o AwakeOptions) decide(m machine) Awake {
	a := Awake{Stolen: m.stolen, Share: cmp.Or(o.Share, 1)}
	taken := fmt.Sprintf("the hypervisor took them away for %s%% of the time that they were wanted since boot",
		units.Digits(100*m.stolen, 2))
	switch {
	case o.Mode == AwakeOff:
		a.Reason = "asked for"
	case m.battery:
		a.Reason = onBatteryReason
	case o.Mode == AwakeOn:
		a.On, a.Reason = true, "asked for"
	case m.stolen < MinStolen:
		a.Reason = "nobody takes them away"
		if m.stolen > 0 {
			a.Reason = taken + fmt.Sprintf(", less than %g%%", 100*MinStolen)
		}
	case m.fastest > 0 && m.fastest < o.From:
		a.Reason = fmt.Sprintf("below %s it is not worth the processor time", o.From)
	case m.limit != "":
		a.Reason = "this process's time is limited (" + m.limit + "), and keeping them awake would use it up"
	default:
		a.On, a.Reason = true, taken
	}
	return a
}

const onBatteryReason = "the machine runs on its battery"

// onBattery reads the kernel's folder of power supplies (ABI/testing/sysfs-class-power
// of its documentation): whether a battery of the machine, not of a mouse, is
// being emptied and nothing feeds it.
func onBattery(folder fs.FS) bool {
	supplies, err := fs.ReadDir(folder, ".")
	if err != nil {
		return false // no such folder: no battery
	}
	emptied := false
	for _, s := range supplies {
		read := func(name string) string {
			text, _ := fs.ReadFile(folder, path.Join(s.Name(), name))
			return strings.TrimSpace(string(text))
		}
		switch kind := read("type"); {
		case read("scope") == "Device":
		case kind == "Battery":
			emptied = emptied || read("status") == "Discharging"
		case read("online") == "1":
			return false
		}
	}
	return emptied
}

// stolenShare reads /proc/stat: stolen time as a share of the time since boot in
// which somebody wanted a processor. What "nice" programs wanted is left out, for
// those that keep processors awake are among them.
func stolenShare(stat string) (float64, error) {
	line, _, _ := strings.Cut(stat, "\n")
	f := strings.Fields(line)
	// proc_stat(5): cpu user nice system idle iowait irq softirq steal.
	if len(f) < 9 || f[0] != "cpu" {
		return 0, fmt.Errorf("/proc/stat: no line of all processors with stolen time")
	}
	var v [9]float64
	for i := 1; i < len(v); i++ {
		n, err := strconv.ParseUint(f[i], 10, 64)
		if err != nil {
			return 0, fmt.Errorf("/proc/stat: %q is not a number of ticks", f[i])
		}
		v[i] = float64(n)
	}
	stolen := v[8]
	wanted := v[1] + v[3] + v[6] + v[7] + stolen
	if wanted == 0 {
		return 0, nil
	}
	return stolen / wanted, nil
}
