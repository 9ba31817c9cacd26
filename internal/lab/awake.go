package lab

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// AwakeMode says whether a lab keeps the machine's processors awake.
type AwakeMode string

// Modes of keeping awake. AwakeAuto does it where the processors are virtual and
// the hypervisor takes them away: at least MinStolen of the time that they were
// wanted since boot. The zero value is what AwakeVariable says, or AwakeAuto.
const (
	AwakeAuto AwakeMode = "auto"
	AwakeOn   AwakeMode = "on"
	AwakeOff  AwakeMode = "off"
)

// AwakeVariable is the environment variable with the AwakeMode of labs that are
// not told otherwise.
const AwakeVariable = "WIRERATE_AWAKE"

// MinStolen is the least share of stolen time at which AwakeAuto keeps
// processors awake.
const MinStolen = 0.005

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
	Stolen     float64 `json:"stolen"`               // share of the wanted time since boot, 0 to 1
	Reason     string  `json:"reason"`               // why, or why not
}

// String is a line for people.
func (a Awake) String() string {
	if a.On {
		return fmt.Sprintf("%d processors are kept awake: %s", a.Processors, a.Reason)
	}
	return "processors may go idle: " + a.Reason
}

// ParseAwake reads a mode; "" is what AwakeVariable says, or AwakeAuto.
func ParseAwake(s string) (AwakeMode, error) {
	from := ""
	if s == "" {
		s, from = os.Getenv(AwakeVariable), "environment variable "+AwakeVariable+": "
	}
	switch m := AwakeMode(s); m {
	case "":
		return AwakeAuto, nil
	case AwakeAuto, AwakeOn, AwakeOff:
		return m, nil
	}
	return "", fmt.Errorf("%sawake %q: auto, on or off is expected", from, s)
}

// decide chooses for a machine on which stolen is the share of time that its
// processors were taken away, with a limit on processor time or none.
func (m AwakeMode) decide(stolen float64, limit string) Awake {
	a := Awake{Stolen: stolen}
	taken := fmt.Sprintf("the hypervisor took them away for %.2g%% of the time that they were wanted since boot", 100*stolen)
	switch {
	case m == AwakeOff:
		a.Reason = "asked for"
	case m == AwakeOn:
		a.On, a.Reason = true, "asked for"
	case stolen < MinStolen:
		a.Reason = "nobody takes them away"
		if stolen > 0 {
			a.Reason = taken + fmt.Sprintf(", less than %g%%", 100*MinStolen)
		}
	case limit != "":
		a.Reason = "this process's time is limited (" + limit + "), and keeping them awake would use it up"
	default:
		a.On, a.Reason = true, taken
	}
	return a
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
