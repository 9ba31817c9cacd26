package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// account is who logs in on a host of shellHost.
type account struct {
	name   string
	uid    int
	shell  string
	greets string // a file of the home folder that prints something at login
	sudo   string // /etc/sudoers
	doas   string // /etc/doas.conf
}

// shellHost makes wr-a a host with its own accounts: the files of /etc are
// mounted over in the server's own mount namespace.
func shellHost(t *testing.T, who account) (config, ns string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("not root: no accounts can be made up")
	}
	if who.shell != "" {
		if _, err := exec.LookPath(who.shell); err != nil {
			t.Skipf("%s is not installed", who.shell)
		}
	}
	a, b := namespaces(t)
	config = sshHosts(t, a, b)
	dir := filepath.Dir(config)
	for p := dir; p != "/tmp" && p != "/"; p = filepath.Dir(p) {
		os.Chmod(p, 0o755) // the user reads the keys
	}
	home := filepath.Join(dir, "home")
	os.MkdirAll(home, 0o755)
	os.Chown(home, who.uid, who.uid)
	if who.greets != "" {
		file := filepath.Join(home, who.greets)
		os.MkdirAll(filepath.Dir(file), 0o755)
		os.WriteFile(file, []byte("echo Welcome to this host\n"), 0o644)
	}
	passwd, _ := os.ReadFile("/etc/passwd")
	text := ""
	for line := range strings.Lines(string(passwd)) {
		if !strings.HasPrefix(line, who.name+":") {
			text += line
		}
	}
	shell, _ := exec.LookPath(who.shell)
	files := map[string]string{"passwd": fmt.Sprintf("%s:x:%d:%d::%s:%s\n", who.name, who.uid, who.uid, home, shell) + text,
		"shadow": who.name + ":*:19000::::::\nroot:*:19000::::::\n", "doas.conf": who.doas, "sudoers": who.sudo}
	script := "set -e\n"
	for name, content := range files {
		from := filepath.Join(dir, "etc-"+name)
		mode := os.FileMode(0o644)
		if name == "sudoers" || name == "doas.conf" {
			mode = 0o440
		}
		if err := os.WriteFile(from, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat("/etc/" + name); err == nil {
			script += fmt.Sprintf("mount --bind %s /etc/%s\n", from, name)
		} else if name == "doas.conf" && content != "" {
			// Nothing to mount over: the folder gets a layer.
			layer := filepath.Join(dir, "layer")
			os.MkdirAll(filepath.Join(layer, "up"), 0o755)
			os.MkdirAll(filepath.Join(layer, "work"), 0o755)
			script = fmt.Sprintf("set -e\nmount -t tmpfs tmpfs %s\nmkdir %s/up %s/work\ncp %s %s/up/doas.conf\nmount -t overlay -o lowerdir=/etc,upperdir=%s/up,workdir=%s/work overlay /etc\n",
				layer, layer, layer, from, layer, layer, layer) + strings.TrimPrefix(script, "set -e\n")
		}
	}
	wrapper := filepath.Join(dir, "enter")
	data, _ := os.ReadFile(config)
	server := filepath.Join(dir, "sshd_config")
	script += fmt.Sprintf("exec /usr/sbin/sshd -i -f %s\n", server)
	os.WriteFile(wrapper, []byte(script), 0o755)
	text = strings.ReplaceAll(string(data), fmt.Sprintf("ip netns exec %s /usr/sbin/sshd -i -f %s", a, server),
		fmt.Sprintf("ip netns exec %s unshare -m sh %s", a, wrapper))
	os.WriteFile(config, []byte(text), 0o600)
	if out, err := exec.Command("unshare", "-m", "sh", "-c", strings.Split(script, "exec ")[0]).CombinedOutput(); err != nil {
		t.Skipf("accounts cannot be made up here: %v: %s", err, out)
	}
	return config, a
}

// TestLoginShells applies and takes back over ssh where the user's login shell
// is none of the POSIX ones, and greets.
func TestLoginShells(t *testing.T) {
	t.Parallel()
	for _, c := range []account{
		{shell: "tcsh", greets: ".cshrc"},
		{shell: "fish", greets: ".config/fish/config.fish"},
		{shell: "bash", greets: ".bashrc"},
	} {
		t.Run(c.shell, func(t *testing.T) {
			t.Parallel()
			c.name = "root"
			config, ns := shellHost(t, c)
			before := sysctls(t, ns)
			dir, host := t.TempDir(), "ssh://root@wr-a"
			wirerate(t, 0, "--ssh-config", config, "plan", host, "--path", "rate=10gbit,rtt=100ms", "--role", "bulk", "-o", dir)
			keepNamespaced(t, filepath.Join(dir, "plan.json"))
			wirerate(t, 0, "--ssh-config", config, "apply", dir, host, "--runtime-only")
			if sysctls(t, ns) == before {
				t.Error("nothing is changed")
			}
			wirerate(t, 0, "--ssh-config", config, "rollback", host)
			if after := sysctls(t, ns); after != before {
				t.Errorf("differs: %s", firstDifference(before, after))
			}
		})
	}
}

// TestBecome reaches hosts where root is had by sudo or doas only, and says what
// to do where it is not.
func TestBecome(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, become, sudo, doas string
		status                   int
		want                     string
	}{
		{"sudo", "?become=sudo", "wr ALL=(root) NOPASSWD: ALL\n", "", 0, "no changes"},
		{"sudo with password", "?become=sudo", "wr ALL=(root) ALL\n", "", 3, "sudo asks for a password, which wirerate never gives: allow the user without one"},
		{"sudo for others", "?become=sudo", "root ALL=(ALL) ALL\n", "", 3, "sudo"},
		{"doas", "?become=doas", "", "permit nopass wr as root\n", 0, "no changes"},
		{"doas with password", "?become=doas", "", "permit wr as root\n", 3, "doas asks for a password, which wirerate never gives: allow the user without one"},
		{"doas for others", "?become=doas", "", "permit nopass other as root\n", 3, "doas does not allow this user to become root"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(strings.TrimPrefix(c.become, "?become=")); err != nil {
				t.Skip(err)
			}
			config, _ := shellHost(t, account{name: "wr", uid: 65001, shell: "sh", sudo: c.sudo, doas: c.doas})
			out := wirerate(t, c.status, "--ssh-config", config, "status", "ssh://wr@wr-a"+c.become)
			if !strings.Contains(out, c.want) {
				t.Errorf("%s", out)
			}
		})
	}
}

// needsRoot is said to an ordinary user.
const needsRoot = "it needs root (sudo, or ssh://root@HOST, or ssh://USER@HOST?become=sudo)"

// TestNoRootAtAll says what to do, before anything is written, and does not take
// journals that only root can read for none or for damaged ones.
func TestNoRootAtAll(t *testing.T) {
	t.Parallel()
	config, ns := shellHost(t, account{name: "wr", uid: 65001, shell: "sh"})
	before := sysctls(t, ns)
	dir := t.TempDir()
	wirerate(t, 0, "--ssh-config", config, "plan", "ssh://wr@wr-a", "--path", "rate=10gbit,rtt=100ms", "--role", "bulk", "-o", dir)
	out := wirerate(t, 3, "--ssh-config", config, "apply", dir, "ssh://wr@wr-a")
	if !strings.Contains(out, needsRoot) || strings.Contains(out, "mkdir:") {
		t.Errorf("%s", out)
	}
	out = wirerate(t, 3, "--ssh-config", config, "tune", "ssh://wr@wr-a", "--peer", "ssh://root@wr-b", "--address", "10.78.0.2",
		"--path", "rate=10gbit,rtt=100ms", "--role", "bulk", "--no-history", "--for", "30s", "--run", "1s", "--omit", "1s")
	if !strings.Contains(out, needsRoot) {
		t.Errorf("tune: %s", out)
	}
	keepNamespaced(t, filepath.Join(dir, "plan.json"))
	wirerate(t, 0, "--ssh-config", config, "apply", dir, "ssh://root@wr-a", "--runtime-only")
	for _, verb := range []string{"status", "confirm", "rollback"} {
		if out := wirerate(t, 3, "--ssh-config", config, verb, "ssh://wr@wr-a"); !strings.Contains(out, needsRoot) {
			t.Errorf("%s: %s", verb, out)
		}
	}
	wirerate(t, 0, "--ssh-config", config, "rollback", "ssh://root@wr-a")
	if after := sysctls(t, ns); after != before {
		t.Errorf("differs: %s", firstDifference(before, after))
	}
}
