package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
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
	k := Kept{Name: name, PID: os.Getpid(), Born: born(os.Getpid()), Awake: l.Awake()}
	for _, r := range l.Report() {
		k.Links = append(k.Links, fmt.Sprintf("%s - %s: %s", r.From, r.To, r.Link))
	}
	for _, h := range t.Hosts {
		k.Hosts = append(k.Hosts, KeptHost{
			Name: h, PID: l.Host(h).PID(), IPv4: l.Addr(h, false), IPv6: l.Addr(h, true),
			Environment: l.Environment(h), Netns: netnsName(name, h),
		})
	}
	if k.Restrictions, err = l.Restrictions(ctx); err != nil {
		return err
	}
	// The record first: whoever finds it after a kill knows what to remove.
	record, err := k.save()
	if err != nil {
		return err
	}
	defer k.sweep(record)
	for i := range k.Hosts {
		if err := k.Hosts[i].publish(); err != nil {
			k.Hosts[i].Netns = ""
		}
	}
	if _, err := k.save(); err != nil {
		return err
	}
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

// publish makes the host's network namespace known to ip netns, which needs
// root outside any user namespace.
func (h KeptHost) publish() error {
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

// sweep removes what is left of a lab outside its namespaces.
func (k Kept) sweep(record string) {
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
	os.Remove(record)
	removeStateDir(record)
}

// TakeDown ends a kept lab and waits until it is gone.
func TakeDown(ctx context.Context, name string) error {
	k, err := FindKept(name)
	if err != nil {
		return err
	}
	if err := syscall.Kill(k.PID, syscall.SIGTERM); err != nil {
		return fmt.Errorf("lab %s: end process %d: %w", name, k.PID, err)
	}
	for range 1000 {
		if !k.alive() {
			_, err := KeptLabs() // removes what is left
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
	return fmt.Errorf("lab %s: process %d does not end; kill it with: kill -9 %d", name, k.PID, k.PID)
}

// StartIn starts cmd on a host of a kept lab. Where that lab is an ordinary
// user's, another is returned in its place that enters the user namespace
// first, with self as the arguments that make this program do the same again.
func (k Kept) StartIn(h KeptHost, cmd *exec.Cmd, self []string) (*exec.Cmd, error) {
	ours, err := os.Readlink("/proc/self/ns/user")
	if err != nil {
		return nil, err
	}
	theirs, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/user", k.PID))
	if err != nil {
		return nil, fmt.Errorf("lab %s belongs to another user: %w", k.Name, err)
	}
	if ours == theirs {
		return cmd, startInside(h.PID, cmd)
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	args := append([]string{"--user", "--preserve-credentials", "--target", strconv.Itoa(k.PID), program}, self...)
	again := exec.Command("nsenter", args...)
	again.Stdin, again.Stdout, again.Stderr, again.Env = cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env
	return again, again.Start()
}
