//go:build linux

// Command probe is the first process of a kernel that is booted only to be asked:
// it loads modules, reads every setting below /proc/sys in the first network
// namespace and in a new one, writes the ends of ranges and one beyond, prints an
// observation a line to its first serial port, and switches the machine off.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/wirerate/wirerate/tools/kernels/observed"
)

func main() {
	err := probe()
	if err != nil {
		fmt.Fprintln(os.Stderr, "probe:", err)
	}
	unix.Sync()
	if os.Getpid() == 1 {
		unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF)
	}
}

func probe() error {
	for _, m := range [][2]string{{"proc", "/proc"}, {"sysfs", "/sys"}, {"devtmpfs", "/dev"}} {
		if err := unix.Mount(m[0], m[1], m[0], 0, ""); err != nil {
			return fmt.Errorf("mount %s: %w", m[1], err)
		}
	}
	out, err := os.OpenFile("/dev/ttyS0", os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer out.Close()
	w := bufio.NewWriter(out)
	enc := json.NewEncoder(w)
	if err := enc.Encode(machine()); err != nil {
		return err
	}
	for _, name := range loadModules() {
		fmt.Fprintln(os.Stderr, "probe: not loaded:", name)
	}
	first := walk("/proc/sys", "")
	if err := tryRanges(first); err != nil {
		return err
	}
	runtime.LockOSThread() // the new namespace is this thread's
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return err
	}
	for _, list := range [][]observed.Setting{first, walk("/proc/sys/net", "net.")} {
		for i := range list {
			list[i].New = i < len(list) && &list[0] != &first[0]
			if err := enc.Encode(list[i]); err != nil {
				return err
			}
		}
	}
	if err := enc.Encode(observed.Machine{End: true}); err != nil {
		return err
	}
	return w.Flush()
}

func machine() observed.Machine {
	var u unix.Utsname
	_ = unix.Uname(&u) // fails only for a bad address
	var info unix.Sysinfo_t
	_ = unix.Sysinfo(&info)
	return observed.Machine{System: "linux", Release: unix.ByteSliceToString(u.Release[:]),
		Memory: int64(info.Totalram) * int64(info.Unit), Cores: runtime.NumCPU()}
}

// loadModules loads /modules/N.ko in their order and returns those that the kernel
// refused.
func loadModules() (refused []string) {
	list, err := os.ReadFile("/modules/list")
	if err != nil {
		return nil
	}
	for name := range strings.Lines(string(list)) {
		name = strings.TrimSpace(name)
		f, err := os.Open(filepath.Join("/modules", name))
		if err == nil {
			err = unix.FinitModule(int(f.Fd()), "", 0)
			f.Close()
		}
		if err != nil && !errors.Is(err, unix.EEXIST) {
			refused = append(refused, name+": "+err.Error())
		}
	}
	return refused
}

// walk reads the settings below a folder of /proc/sys.
func walk(root, prefix string) (all []observed.Setting) {
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return nil
		}
		rest := strings.TrimPrefix(path, root+"/")
		s := observed.Setting{Name: prefix + dotted(rest), Path: path, Writable: info.Mode().Perm()&0o222 != 0}
		if text, err := read(path); err == nil {
			s.Value, s.Read = text, true
		}
		all = append(all, s)
		return nil
	})
	return all
}

// dotted is a path below /proc/sys as sysctl(8) writes it: a dot within a name
// becomes a slash.
func dotted(path string) string {
	return strings.NewReplacer("/", ".", ".", "/").Replace(path)
}

// most bounds what is read of one setting.
const most = 4096

func read(path string) (string, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	buf := make([]byte, most)
	n, err := unix.Read(fd, buf)
	if err != nil {
		return "", err
	}
	return strings.Join(strings.Fields(string(buf[:n])), " "), nil
}

// tryRanges writes the ends of the ranges that /ranges names, and one beyond, and
// sets each setting back.
func tryRanges(settings []observed.Setting) error {
	text, err := os.ReadFile("/ranges")
	if err != nil {
		return nil
	}
	ranges := map[string]observed.Range{}
	if err := json.Unmarshal(text, &ranges); err != nil {
		return fmt.Errorf("/ranges: %w", err)
	}
	for i := range settings {
		s := &settings[i]
		r, found := ranges[s.Name]
		if !found || !s.Writable || !s.Read {
			continue
		}
		for _, v := range r.Tries() {
			s.Tried = append(s.Tried, observed.Try{Value: v, Accepted: write(s.Path, v)})
			_ = os.WriteFile(s.Path, []byte(s.Value), 0)
		}
	}
	return nil
}

// write reports whether the kernel took a value and shows it: some accept a
// write and keep another value.
func write(path string, v int64) bool {
	text := strconv.FormatInt(v, 10)
	if err := os.WriteFile(path, []byte(text), 0); err != nil {
		return false
	}
	got, err := read(path)
	return err == nil && got == text
}
