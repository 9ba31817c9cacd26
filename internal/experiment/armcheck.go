package experiment

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/conffile"
	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/input"
)

// checkArms finds what is wrong with the arms before a host is asked or a lab is
// up: files that are not there, and, for a lab, whose hosts have this machine's
// kernel, congestion controls that it does not have.
func (c *Config) checkArms(ctx context.Context, here host.Conn) error {
	for _, a := range c.Arms {
		for _, p := range a.parts {
			if err := c.checkPart(ctx, here, p); err != nil {
				return withReason(Input, fmt.Errorf("arm %s: %w", a.Name, err))
			}
		}
	}
	return nil
}

func (c *Config) checkPart(ctx context.Context, here host.Conn, p part) error {
	switch {
	case p.kind == "file":
		return readable(p.arg)
	case p.kind == "firewall" && p.arg != "on" && p.arg != "off":
		if err := readable(p.arg); err != nil {
			return fmt.Errorf("firewall: on, off or a file of rules is expected: %w", err)
		}
	case c.Lab == "":
	case p.kind == "tuned":
		if !slices.ContainsFunc(tunedFolders(),
			func(dir string) bool { return readable(filepath.Join(dir, p.arg, "tuned.conf")) == nil }) {
			return fmt.Errorf("TuneD profile %q is not on this machine; name its file as file:PATH/tuned.conf", p.arg)
		}
	case p.kind == "cc":
		return hasCongestion(ctx, here, p.arg)
	case p.kind == "set":
		for _, v := range p.values {
			if conffile.LinuxName(v.name) != "net.ipv4.tcp_congestion_control" {
				continue
			}
			if err := hasCongestion(ctx, here, v.value); err != nil {
				return err
			}
		}
	}
	return nil
}

// readable says why a file cannot be read. A pipe is left alone: what it holds can
// be read once.
func readable(name string) error {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%s is a folder; a file is expected", name)
	case !info.Mode().IsRegular():
		return nil
	}
	f, err := input.Open(name)
	if err == nil {
		err = f.Close()
	}
	return err
}

// hasCongestion refuses a congestion control that this machine's kernel has
// neither built in nor as a module. Where that is not known, the kernel is asked
// when it is set.
func hasCongestion(ctx context.Context, here host.Conn, name string) error {
	answers, err := here.Do(ctx, host.Read("/proc/sys/net/ipv4/tcp_available_congestion_control"),
		host.Read("/proc/sys/kernel/osrelease"), host.Read("/proc/modules"))
	if err != nil || answers[0].Failure != host.None {
		return nil
	}
	has := strings.Fields(answers[0].Text())
	if slices.Contains(has, name) {
		return nil
	}
	if answers[2].Failure == host.None { // a kernel that loads modules
		release := strings.TrimSpace(answers[1].Text())
		modules, err := host.ReadFile(ctx, here, "/lib/modules/"+release+"/modules.dep")
		if err != nil || strings.Contains(string(modules), "/tcp_"+name+".ko") {
			return nil
		}
	}
	return withReason(Missing, fmt.Errorf("this machine's kernel has no congestion control %q; it has %s",
		name, strings.Join(has, ", ")))
}

func tunedFolders() []string {
	return []string{"/etc/tuned/profiles/", "/etc/tuned/", "/usr/lib/tuned/profiles/", "/usr/lib/tuned/"}
}
