package host

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// awakeVariable marks a process that keeps processors awake: the share of time,
// and the processors, separated by commas.
const awakeVariable = "WIRERATE_AWAKE_PROCESSORS"

// Awake is a process, this program again, that keeps processors from going
// idle: one thread for each, of class SCHED_IDLE, which runs only while nothing
// else wants to and gives way at once. A hypervisor that takes an idle virtual
// processor away gives it back late, tens of milliseconds on a full machine. It
// is a process of its own because a Go program stops all its threads now and
// then, and would wait for those that do not get to run. It ends when it is
// closed or this program ends, however it ends.
type Awake struct {
	cmd   *exec.Cmd
	conn  *os.File
	ended chan struct{} // closed when the process has ended and been waited for
}

// AllowedProcessors lists the processors that this process may run on.
func AllowedProcessors() ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, fmt.Errorf("allowed processors: %w", err)
	}
	var list []int
	for i := 0; len(list) < set.Count(); i++ {
		if set.IsSet(i) {
			list = append(list, i)
		}
	}
	return list, nil
}

// KeepAwake keeps processors awake, each for a share of the time at most, above 0
// to 1. The caller has called ServeIfAgent.
func KeepAwake(processors []int, share float64) (_ *Awake, err error) {
	if len(processors) == 0 {
		return nil, errors.New("keep processors awake: none is given")
	}
	if !(share > 0 && share <= 1) {
		return nil, fmt.Errorf("keep processors awake: share %g of the time: above 0 to 1 is expected", share)
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("keep processors awake: socketpair: %w", err)
	}
	// Non-blocking, so that a read of it can have a deadline.
	if err := unix.SetNonblock(pair[0], true); err != nil {
		return nil, err
	}
	a := &Awake{conn: os.NewFile(uintptr(pair[0]), "awake"), ended: make(chan struct{})}
	theirs := os.NewFile(uintptr(pair[1]), "awake")
	defer theirs.Close()
	list := strconv.FormatFloat(share, 'g', -1, 64)
	for _, cpu := range processors {
		list += "," + strconv.Itoa(cpu)
	}
	a.cmd = exec.Command("/proc/self/exe")
	a.cmd.Args[0] = "wirerate-awake"
	// Threads that run all the time are not to be interrupted for their turn.
	a.cmd.Env = append(os.Environ(), awakeVariable+"="+list, "GODEBUG=asyncpreemptoff=1")
	a.cmd.Dir = "/"
	a.cmd.ExtraFiles = []*os.File{theirs}
	// With a session of its own it weighs little among those of the machine,
	// whichever of them the programs of the lab are in; see weighLittle.
	a.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := a.cmd.Start(); err != nil {
		a.conn.Close()
		return nil, fmt.Errorf("keep processors awake: %w", err)
	}
	go func() { // at once, whoever ends it
		a.cmd.Wait()
		close(a.ended)
	}()
	return a, nil
}

// PID returns the process.
func (a *Awake) PID() int { return a.cmd.Process.Pid }

// Ended is closed when the process has ended, whoever ended it.
func (a *Awake) Ended() <-chan struct{} { return a.ended }

// CPU returns the processor time that the process has used.
func (a *Awake) CPU() time.Duration {
	select {
	case <-a.ended:
	default:
		// clock_getcpuclockid(3): the number of a process's clock, as linux/posix-timers.h
		// has it (CPUCLOCK_SCHED).
		var used unix.Timespec
		if unix.ClockGettime(int32(^a.cmd.Process.Pid)<<3|2, &used) == nil {
			return time.Duration(used.Nano())
		}
		<-a.ended
	}
	return a.cmd.ProcessState.UserTime() + a.cmd.ProcessState.SystemTime()
}

// Ready waits until the processors are kept awake, or says why they are not.
func (a *Awake) Ready() error {
	a.conn.SetReadDeadline(time.Now().Add(5 * time.Second))
	line, err := bufio.NewReader(a.conn).ReadString('\n')
	if err != nil {
		return fmt.Errorf("keep processors awake: no answer: %w", err)
	}
	if line = strings.TrimSpace(line); line != "" {
		return fmt.Errorf("keep processors awake: %s", line)
	}
	return nil
}

// Rest lets the processors go idle, or keeps them awake again.
func (a *Awake) Rest(rest bool) error {
	command := []byte{awakeSpin}
	if rest {
		command[0] = awakeRest
	}
	_, err := a.conn.Write(command)
	return err
}

// Close ends the process and waits for its end.
func (a *Awake) Close() error {
	select {
	case <-a.ended: // its number may be another's by now
	default:
		a.hasten()
		a.cmd.Process.Kill()
		<-a.ended
	}
	return a.conn.Close()
}

// hasten lets the threads run like any other: on busy processors they would
// have to wait seconds for the turn in which they end. Where that is refused
// they do wait.
func (a *Awake) hasten() {
	folder := fmt.Sprintf("/proc/%d/", a.cmd.Process.Pid)
	_ = os.WriteFile(folder+"autogroup", []byte("0"), 0o644)
	tasks, err := os.ReadDir(folder + "task")
	if err != nil {
		return
	}
	for _, t := range tasks {
		tid, _ := strconv.Atoi(t.Name())
		for _, nice := range []int32{0, 19} { // less than before is for root alone
			if unix.SchedSetAttr(tid, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Nice: nice}, 0) == nil {
				break
			}
		}
	}
}

// Commands to the process.
const (
	awakeSpin = 's'
	awakeRest = 'r'
)

// serveAwake keeps processors awake until the other end is gone, when this
// process was started to do so.
func serveAwake() (served bool) {
	list := os.Getenv(awakeVariable)
	if list == "" {
		return false
	}
	_ = os.WriteFile("/proc/self/comm", []byte("wirerate-awake"), 0o644) // for who looks at processes
	conn := os.NewFile(3, "awake")
	s := spinners{spin: make(chan struct{})}
	answer := ""
	if err := s.start(strings.Split(list, ",")); err != nil {
		answer = err.Error()
	}
	fmt.Fprintln(conn, answer)
	if answer == "" {
		s.serve(conn)
	}
	return true
}

// spinners are the threads of the process.
type spinners struct {
	count   int
	share   float64 // of the time, above 0 to 1
	resting atomic.Bool
	spin    chan struct{} // one for each thread to spin again
}

func (s *spinners) start(list []string) (err error) {
	debug.SetGCPercent(-1) // a collection would have to stop them
	runtime.GOMAXPROCS(len(list) + 1)
	weighLittle()
	if s.share, err = strconv.ParseFloat(list[0], 64); err != nil {
		return fmt.Errorf("share %q: %w", list[0], err)
	}
	failed := make(chan error)
	for _, item := range list[1:] {
		cpu, err := strconv.Atoi(item)
		if err != nil {
			return fmt.Errorf("processor %q: %w", item, err)
		}
		go s.run(cpu, failed)
		if err := <-failed; err != nil {
			return fmt.Errorf("processor %d: %w", cpu, err)
		}
		s.count++
	}
	return nil
}

// serve obeys until the other end is gone.
func (s *spinners) serve(conn *os.File) {
	command := make([]byte, 1)
	for {
		if n, err := conn.Read(command); n == 0 || err != nil {
			return
		}
		rest := command[0] == awakeRest
		if s.resting.Swap(rest) && !rest {
			for range s.count {
				s.spin <- struct{}{}
			}
		}
	}
}

// run keeps one processor awake.
func (s *spinners) run(cpu int, failed chan<- error) {
	runtime.LockOSThread()
	err := idleClass(cpu)
	failed <- err
	if err != nil {
		return
	}
	x := 2.0
	for turn := (turn{}); ; {
		for !s.resting.Load() {
			// A chain of square roots, each of which waits for the one before:
			// a thread of the same core finds its units free. A PAUSE
			// instruction would make some hypervisors take the processor away.
			for range 10_000 {
				x = math.Sqrt(x + 2)
			}
			if s.share < 1 {
				time.Sleep(turn.rest(s.share, time.Now(), threadCPU()))
			}
		}
		if x > 0 { // always; the chain has a use
			<-s.spin
		}
	}
}

// turnTime is in what time a thread may use its share.
const turnTime = 50 * time.Millisecond

// turn is a stretch of time of which a thread uses a share.
type turn struct {
	began time.Time
	used  time.Duration // processor time until then
}

// rest returns for how long a thread that has used so much processor time by now
// has to rest.
func (t *turn) rest(share float64, now time.Time, used time.Duration) time.Duration {
	if over := now.Sub(t.began); over >= turnTime {
		*t = turn{now, used}
	} else if used-t.used >= time.Duration(share*float64(turnTime)) {
		return turnTime - over
	}
	return 0
}

func threadCPU() time.Duration {
	var used unix.Timespec
	unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &used)
	return time.Duration(used.Nano())
}

// idleClass binds this thread to a processor and puts it behind every other.
// Its nice value is set first, for the kernel counts the time of threads with
// one above 0 as "nice", of whatever class: whoever measures how busy the
// processors are can leave that out.
func idleClass(cpu int) error {
	var set unix.CPUSet
	set.Set(cpu)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("affinity: %w", err)
	}
	if err := unix.Setpriority(unix.PRIO_PROCESS, 0, 19); err != nil {
		return fmt.Errorf("nice: %w", err)
	}
	const schedIdle = 5 // SCHED_IDLE of sched(7)
	if err := unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: schedIdle, Nice: 19},
		0); err != nil {
		return fmt.Errorf("SCHED_IDLE: %w", err)
	}
	return nil
}

// weighLittle gives this process's session the least weight among those that
// the kernel shares processors between (autogroup, sched(7)). Without that the
// whole session would count as much as that of the programs of the lab.
func weighLittle() {
	_ = os.WriteFile("/proc/self/autogroup", []byte("19"), 0o644) // absent: not needed
}
