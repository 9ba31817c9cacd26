package service_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// run runs a program, and skips the test where it is not installed.
func run(t *testing.T, name string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skipf("%s is not installed", name)
	}
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Errorf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The unit is one that systemd takes, and hardened.
func TestUnit(t *testing.T) {
	text := read(t, "wirerate-watch.service")
	unit := filepath.Join(t.TempDir(), "wirerate-watch.service")
	if err := os.WriteFile(unit, []byte(strings.Replace(text, "/usr/bin/wirerate ", "/bin/sh ", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	run(t, "systemd-analyze", "verify", "--man=no", unit)
	run(t, "systemd-analyze", "security", "--offline=yes", "--threshold=20", unit) // of 100
}

func TestScripts(t *testing.T) {
	for file, shell := range map[string]string{"freebsd/wirerate_watch": "sh", "openbsd/wirerate_watch": "ksh"} {
		t.Run(file, func(t *testing.T) {
			run(t, "sh", "-n", file)
			// What rc.subr defines, and reads, is not in the file.
			run(t, "shellcheck", "-s", shell, "-e", "SC1091,SC2034", file)
		})
	}
}

// FreeBSD's script starts a program with the options that rc.conf gives.
func TestFreeBSD(t *testing.T) {
	text := strings.Replace(read(t, "freebsd/wirerate_watch"), ". /etc/rc.subr",
		`load_rc_config() { wirerate_watch_args="--probe icmp:192.0.2.1"; eval "$SET"; }; run_rc_command() { echo "$start_precmd; $command $command_args"; }`, 1)
	for set, want := range map[string]string{
		":": "install -d -m 0700 /var/db/wirerate-watch; /usr/sbin/daemon -f -R 10 -P /var/run/wirerate_watch.pid -t wirerate_watch " +
			"/usr/local/bin/wirerate watch --format text --record /var/db/wirerate-watch --metrics 127.0.0.1:9747 --probe icmp:192.0.2.1",
		"wirerate_watch_metrics=; wirerate_watch_record=/x": "install -d -m 0700 /x; /usr/sbin/daemon -f -R 10 " +
			"-P /var/run/wirerate_watch.pid -t wirerate_watch /usr/local/bin/wirerate watch --format text --record /x --probe icmp:192.0.2.1",
	} {
		cmd := exec.Command("sh", "-c", text, "wirerate_watch", "start")
		cmd.Env = append(os.Environ(), "SET="+set)
		out, err := cmd.CombinedOutput()
		if got := strings.Join(strings.Fields(string(out)), " "); err != nil || got != want {
			t.Errorf("%v: %s\nwant %s", err, got, want)
		}
	}
}
