package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/lock"
)

const netnsFolder = "/run/netns"

// Hold brings up a lab under a name, calls ready with its record, and keeps it
// until ctx ends.
func Hold(ctx context.Context, name string, t Topology, ready func(Kept)) (err error) {
	if err := CheckName(name); err != nil {
		return err
	}
	switch _, err := FindKept(name); {
	case err == nil:
		return fmt.Errorf("lab %s: %w; see: wirerate lab list", name, ErrNameTaken)
	case !errors.Is(err, ErrNoSuchLab):
		return err
	}
	l, err := Bring(ctx, t)
	if err != nil {
		return err
	}
	defer l.Close()
	k := Kept{Name: name, PID: os.Getpid(), Born: born(os.Getpid()), PIDSpace: pidSpace(), Awake: l.Awake()}
	for _, r := range l.Report() {
		k.Links = append(k.Links, KeptLink{r.From, r.To, r.Link})
	}
	for _, h := range t.Hosts {
		pid := l.Host(h).PID()
		k.Hosts = append(k.Hosts, KeptHost{
			Name: h, PID: pid, Born: born(pid), IPv4: l.Addr(h, false), IPv6: l.Addr(h, true),
			Environment: l.environment(h), Netns: freeNetns(name, h),
		})
	}
	if k.Restrictions, err = l.Restrictions(ctx); err != nil {
		return err
	}
	// The record first: whoever finds it after a kill knows what to remove.
	if err := k.claim(); err != nil {
		return err
	}
	defer func() { // the lock last: it says that the lab is gone
		err = errors.Join(err, l.Close())
		k.sweep()
		k.release()
	}()
	if err := l.OnKill(k.leftover()); err != nil {
		return err
	}
	for i := range k.Hosts {
		if err := k.Hosts[i].publish(); err != nil {
			k.Hosts[i].Netns = ""
		}
	}
	if err := k.write(); err != nil {
		return fmt.Errorf("record of the lab: %w", err)
	}
	ctx, end := context.WithCancel(ctx)
	defer end()
	stop, err := attend(k.file, l.Status, end)
	if err != nil {
		return err
	}
	defer stop()
	ready(k)
	detach()
	<-ctx.Done()
	return nil
}

// detach lets go of the input and output of the command that began this
// process.
func detach() {
	null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	for fd := range 3 {
		unix.Dup3(null, fd, 0)
	}
	unix.Close(null)
}

func netnsName(lab, host string) string { return lab + "-" + host }

// freeNetns returns the name for a host's network namespace, "" where somebody
// else has one of that name.
func freeNetns(lab, host string) string {
	if _, err := os.Lstat(filepath.Join(netnsFolder, netnsName(lab, host))); !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return netnsName(lab, host)
}

// publish makes the host's network namespace known to ip netns, which needs
// root outside any user namespace.
func (h KeptHost) publish() error {
	if h.Netns == "" {
		return fs.ErrExist
	}
	if err := os.MkdirAll(netnsFolder, 0o755); err != nil {
		return err
	}
	path := filepath.Join(netnsFolder, h.Netns)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDONLY, 0o444)
	if err != nil {
		return err
	}
	f.Close()
	if err := unix.Mount(fmt.Sprintf("/proc/%d/ns/net", h.PID), path, "", unix.MS_BIND, ""); err != nil {
		os.Remove(path)
		return err
	}
	return nil
}

// leftover is what is left of a lab outside its namespaces when its holder is
// killed.
func (k Kept) leftover() host.Leftover {
	left := host.Leftover{Lock: lockFile(k.file)}
	for _, h := range k.Hosts {
		if h.Netns == netnsName(k.Name, h.Name) {
			left.Paths = append(left.Paths, filepath.Join(netnsFolder, h.Netns))
		}
	}
	dir := filepath.Dir(k.file)
	left.Paths = append(left.Paths, statusSocket(k.file), k.file, lockFile(k.file), dir, filepath.Dir(dir))
	return left
}

// sweep removes what is left of a lab outside its namespaces, but for the lock.
func (k Kept) sweep() {
	for _, h := range k.Hosts {
		if h.Netns != netnsName(k.Name, h.Name) {
			continue
		}
		path := filepath.Join(netnsFolder, h.Netns)
		// What is no mount point was to become one.
		if err := unix.Unmount(path, unix.MNT_DETACH); err == nil || errors.Is(err, unix.EINVAL) {
			os.Remove(path)
		}
	}
	os.Remove(statusSocket(k.file))
	os.Remove(k.file)
}

// TakeDown ends the lab and waits until it is gone.
func (k Kept) TakeDown(ctx context.Context) error {
	if err := k.end(ctx); err != nil {
		return err
	}
	for range 1000 {
		held, err := lock.Held(lockFile(k.file))
		if err != nil {
			return fmt.Errorf("lab %s: %w", k.Name, err)
		}
		if !held {
			_, err := KeptLabs() // removes what is left
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
	return fmt.Errorf("lab %s: its process does not end; %s", k.Name, k.lastResort())
}

// end asks the process that holds the lab to end. One that does not answer is
// sent a signal, where its number is known to be its.
func (k Kept) end(ctx context.Context) error {
	err := k.ask(ctx, endRequest, func(io.Reader) error { return nil })
	if held, unknown := lock.Held(lockFile(k.file)); err == nil || unknown == nil && !held {
		return nil
	}
	if k.near() != nil || born(k.PID) != k.Born {
		return fmt.Errorf("lab %s: its process does not answer: %w; %s", k.Name, err, k.lastResort())
	}
	if err := syscall.Kill(k.PID, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("lab %s: end process %d: %w", k.Name, k.PID, err)
	}
	return nil
}

// lastResort says how to end a process that does not end when it is asked to.
func (k Kept) lastResort() string {
	if k.near() != nil {
		return fmt.Sprintf("in the PID namespace where it was brought up, kill it with: kill -9 %d", k.PID)
	}
	return fmt.Sprintf("kill it with: kill -9 %d", k.PID)
}

// Enter makes this process able to run programs in the lab: if that is an
// ordinary user's, this program runs again, with args, which are to be its own, in
// the lab's user namespace, and *Ended is returned.
func (k Kept) Enter(ctx context.Context, args []string, s Streams) error {
	if err := k.near(); err != nil {
		return err
	}
	ours, err := os.Readlink("/proc/self/ns/user")
	if err != nil {
		return err
	}
	theirs, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/user", k.PID))
	if err != nil {
		return fmt.Errorf("lab %s belongs to another user: %w", k.Name, err)
	}
	if ours == theirs {
		return nil
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	c := s.command(append([]string{"nsenter", "--user", "--preserve-credentials", "--target", strconv.Itoa(k.PID),
		program}, args...), nil)
	status, err := foreground(ctx, c, func() error { return notStarted(c, c.Start()) })
	if err != nil {
		return err
	}
	return &Ended{status}
}
