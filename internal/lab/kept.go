package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/wirerate/wirerate/internal/input"
	"github.com/wirerate/wirerate/internal/lock"
	"github.com/wirerate/wirerate/internal/regexp"
)

// Kept is a lab that outlives the command that brought it up: a process holds
// it, and a lock for as long as it lives, and this record tells where.
type Kept struct {
	Name string `json:"name"`
	// PID is the process that holds the lab, Born its start time in clock
	// ticks since boot, which tells it from a later process of that number. They
	// and those of the hosts mean something in one PID namespace alone, PIDSpace.
	PID      int        `json:"pid"`
	Born     string     `json:"born"`
	PIDSpace string     `json:"pid_namespace"` // as readlink /proc/self/ns/pid has it
	Links    []KeptLink `json:"links"`
	Hosts    []KeptHost `json:"hosts"`
	Awake    Awake      `json:"awake"`
	// Restrictions says what the hosts cannot set, and how to allow it.
	Restrictions []string `json:"restrictions,omitempty"`

	file string     // the record
	lock *lock.Lock // in the process that holds the lab
}

// KeptLink is a link of a kept lab, as ParseLink reads it.
type KeptLink struct {
	From string `json:"from"`
	To   string `json:"to"`
	Link string `json:"link"`
}

// KeptHost is a host of a kept lab.
type KeptHost struct {
	Name string `json:"name"`
	PID  int    `json:"pid"`  // of a process in all its namespaces
	Born string `json:"born"` // its start time, as the lab's
	IPv4 string `json:"ipv4"`
	IPv6 string `json:"ipv6"`
	// Environment is what a program there is to be given.
	Environment []string `json:"environment"`
	// Netns is the name under which ip netns knows the host; empty for an
	// ordinary user's lab.
	Netns string `json:"netns,omitempty"`
}

var labName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)

// CheckName reports a name that cannot be a kept lab's.
func CheckName(name string) error {
	if !labName.MatchString(name) {
		return fmt.Errorf("lab name %q: up to 32 small letters, digits and hyphens are expected", name)
	}
	return nil
}

// Has reports a host that the lab has not.
func (k Kept) Has(name string) error {
	_, err := k.host(name)
	return err
}

// Site returns where programs of a host run.
func (k Kept) Site(name string) (Site, error) {
	h, err := k.host(name)
	if err != nil {
		return Site{}, err
	}
	if err := k.near(); err != nil {
		return Site{}, err
	}
	// Its number may be another process's by now.
	if h.Born == "" || born(h.PID) != h.Born {
		return Site{}, fmt.Errorf("host %s of lab %s is gone: its process %d was ended; take the lab down with: "+
			"wirerate lab down %s", name, k.Name, h.PID, k.Name)
	}
	return Site{h.PID, h.Environment}, nil
}

// near reports a lab whose process numbers are not those of this PID namespace.
func (k Kept) near() error {
	if k.PIDSpace == pidSpace() && k.PIDSpace != "" {
		return nil
	}
	return fmt.Errorf("%w: lab %s was brought up in another PID namespace, that of a container or of the machine "+
		"around it: run its programs from there", ErrUnavailable, k.Name)
}

// pidSpace names the PID namespace of this process, "" where the system does not
// say.
func pidSpace() string {
	name, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return name
}

// host returns a host of the lab by name.
func (k Kept) host(name string) (KeptHost, error) {
	var names []string
	for _, h := range k.Hosts {
		if h.Name == name {
			return h, nil
		}
		names = append(names, h.Name)
	}
	return KeptHost{}, fmt.Errorf("lab %s has no host %q; it has %s", k.Name, name, strings.Join(names, ", "))
}

// ErrNameTaken is wrapped where a lab of that name is up already.
var ErrNameTaken = errors.New("a lab of that name is up already")

// ErrNoSuchLab is wrapped where no lab of that name is up.
var ErrNoSuchLab = errors.New("no such lab is up")

// stateDirs returns the folders that records may be in, the preferred one first:
// /run/wirerate/labs, else one of the user's own.
func stateDirs() []string {
	dirs := []string{"/run/wirerate/labs"}
	if own := os.Getenv("XDG_RUNTIME_DIR"); own != "" {
		dirs = append(dirs, filepath.Join(own, "wirerate", "labs"))
	}
	return append(dirs, filepath.Join(os.TempDir(), fmt.Sprintf("wirerate-%d", outerUID()), "labs"))
}

// own reports a folder that is not this user's alone to write: in /tmp, anybody
// could have made it before, to have this user's commands end other processes.
func own(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || ok && int(st.Uid) != os.Geteuid() || info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%s is not a folder that only this user writes", dir)
	}
	return nil
}

// makeStateDir makes the folder of a record and the one around it, and none above.
func makeStateDir(record string) error {
	dir := filepath.Dir(record)
	for _, d := range []string{filepath.Dir(dir), dir} {
		if err := os.Mkdir(d, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return own(dir)
}

// removeStateDir removes what makeStateDir made, if nothing else is there.
func removeStateDir(record string) {
	dir := filepath.Dir(record)
	os.Remove(dir)
	os.Remove(filepath.Dir(dir))
}

// outerUID returns the user's number outside a user namespace.
func outerUID() int {
	data, err := input.File("/proc/self/uid_map", recordLimit)
	var inner, outer, count int
	if err == nil {
		if _, err := fmt.Sscan(string(data), &inner, &outer, &count); err == nil && count == 1 {
			return outer
		}
	}
	return os.Getuid()
}

// claim takes the lock of the name in the first folder where that is possible,
// and writes the record there. A name that a living process holds is
// ErrNameTaken.
func (k *Kept) claim() error { return k.claimIn(stateDirs()) }

func (k *Kept) claimIn(dirs []string) error {
	var failed []string
	for _, dir := range dirs {
		k.file = filepath.Join(dir, k.Name+".json")
		err := k.hold()
		// Who looks at a dead lab of that name has its lock for a moment, and who
		// removes it may remove the folder.
		for n := 0; n < 20 && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, lock.ErrHeld)); n++ {
			time.Sleep(10 * time.Millisecond)
			err = k.hold()
		}
		switch {
		case err == nil:
			return nil
		case errors.Is(err, lock.ErrHeld):
			return fmt.Errorf("lab %s: %w; see: wirerate lab list", k.Name, ErrNameTaken)
		}
		failed = append(failed, err.Error())
	}
	return fmt.Errorf("%w: no folder for its record (%s); set XDG_RUNTIME_DIR to one that you may write",
		ErrUnavailable, strings.Join(failed, "; "))
}

// hold takes the lock, removes what a dead lab of the name has left, and writes
// the record.
func (k *Kept) hold() (err error) {
	if err := makeStateDir(k.file); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			removeStateDir(k.file)
		}
	}()
	if k.lock, err = lock.Hold(lockFile(k.file)); err != nil {
		return err
	}
	if left, err := readRecord(k.file); err == nil {
		left.sweep()
	}
	if err := k.write(); err != nil {
		k.release()
		return err
	}
	return nil
}

// release removes the lock and its file.
func (k *Kept) release() {
	os.Remove(lockFile(k.file)) // while it is ours, so that it is nobody else's
	k.lock.Release()
	removeStateDir(k.file)
}

// lockFile is what the process that holds a lab has locked, beside the record.
func lockFile(record string) string { return strings.TrimSuffix(record, ".json") + ".lock" }

// write writes the record under a temporary name in its folder, and then gives
// it its own.
func (k *Kept) write() error {
	data, err := json.MarshalIndent(k, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(k.file), ".new")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(append(data, '\n'))
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), k.file)
}

func readRecord(file string) (Kept, error) {
	data, err := input.File(file, recordLimit)
	if err != nil {
		return Kept{}, err
	}
	k := Kept{file: file}
	if err := json.Unmarshal(data, &k); err != nil || CheckName(k.Name) != nil {
		return Kept{}, fmt.Errorf("%s is not a lab's record; remove it", file)
	}
	return k, nil
}

// recordLimit bounds what is read of a lab's record or a file of the kernel's,
// in bytes.
const recordLimit = 4 << 20

// KeptLabs returns the labs that are up, by name, and removes what labs left
// whose process was killed: those whose lock nobody holds.
func KeptLabs() ([]Kept, error) {
	labs := []Kept{} // none is not null in JSON
	for _, dir := range stateDirs() {
		if own(dir) != nil {
			continue // there is none, or it is not ours
		}
		removeUnfinished(dir)
		records, err := records(dir)
		if err != nil {
			return nil, err
		}
		for _, file := range records {
			switch k, err := living(file); {
			case errors.Is(err, fs.ErrNotExist): // it ended, or has only begun
			case err != nil:
				return nil, err
			default:
				labs = append(labs, k)
			}
		}
	}
	slices.SortFunc(labs, func(a, b Kept) int { return strings.Compare(a.Name, b.Name) })
	return labs, nil
}

// records lists the records of a folder that are there, and those of which only
// the lock is.
func records(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var files []string
	for _, e := range entries {
		for _, kind := range []string{".json", ".lock"} {
			if name, ok := strings.CutSuffix(e.Name(), kind); ok && CheckName(name) == nil {
				files = append(files, filepath.Join(dir, name+".json"))
			}
		}
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}

// living returns the record of a lab whose lock is held. What is left of one
// whose lock is not, it removes; that is fs.ErrNotExist then.
func living(file string) (Kept, error) {
	mine, err := lock.Hold(lockFile(file))
	if errors.Is(err, lock.ErrHeld) {
		return readRecord(file)
	}
	if err != nil {
		return Kept{}, err
	}
	k, err := readRecord(file)
	switch {
	case err == nil:
		k.sweep()
	case errors.Is(err, fs.ErrNotExist):
		k, err = Kept{file: file}, nil
	default:
		k.file = file
	}
	k.lock = mine
	k.release()
	if err != nil {
		return Kept{}, err
	}
	return Kept{}, fs.ErrNotExist
}

// removeUnfinished removes what programs left that were killed while they wrote
// a record; that takes much less than a minute.
func removeUnfinished(dir string) {
	found, _ := filepath.Glob(filepath.Join(dir, ".new*"))
	for _, file := range found {
		if info, err := os.Stat(file); err == nil && time.Since(info.ModTime()) > time.Minute {
			os.Remove(file)
			removeStateDir(file)
		}
	}
}

// FindKept returns the lab of that name.
func FindKept(name string) (Kept, error) {
	labs, err := KeptLabs()
	if err != nil {
		return Kept{}, err
	}
	for _, k := range labs {
		if k.Name == name {
			return k, nil
		}
	}
	return Kept{}, fmt.Errorf("lab %s: %w; see: wirerate lab list", name, ErrNoSuchLab)
}

// born returns a process's start time, "" where there is none.
func born(pid int) string {
	if f := processFields(pid); f != nil {
		return f[19]
	}
	return ""
}

// processFields returns proc_pid_stat(5) from the state on, field 3; nil where
// there is no such process, or it has ended.
func processFields(pid int) []string {
	data, err := input.File(fmt.Sprintf("/proc/%d/stat", pid), recordLimit)
	if err != nil {
		return nil
	}
	// Its name before them may have any characters.
	fields := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
	if len(fields) < 20 || fields[0] == "Z" {
		return nil
	}
	return fields
}
