package ansible_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestWatchService renders the service of the role watch, has systemd check it, and
// runs its command as a user without rights, as DynamicUser= does.
func TestWatchService(t *testing.T) {
	t.Parallel()
	ansible, analyze := need(t, "ansible"), need(t, "systemd-analyze")
	dir, err := os.MkdirTemp("", "wirerate-watch") // t.TempDir is closed to other users
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	binary, unit, state := filepath.Join(dir, "wirerate"), filepath.Join(dir, "wirerate-watch.service"), filepath.Join(dir, "state")
	run(t, nil, "go", "build", "-ldflags", "-s -w", "-o", binary, "../../cmd/wirerate")
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	template, err := filepath.Abs("wirerate/tuning/roles/watch/templates/wirerate-watch.service.j2")
	if err != nil {
		t.Fatal(err)
	}
	run(t, []string{"ANSIBLE_LOCAL_TEMP=" + dir + "/a"}, ansible, "localhost", "-c", "local", "-m", "ansible.builtin.template",
		"-a", "src="+template+" dest="+unit, "-e", "watch_interval=1s")
	data, err := os.ReadFile(unit)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("/usr/local/bin/wirerate", binary, "/var/lib/wirerate-watch", state).Replace(string(data))
	if err := os.WriteFile(unit, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if out := run(t, nil, analyze, "verify", unit); strings.Contains(out, unit) || strings.Contains(out, "wirerate-watch") {
		t.Errorf("systemd-analyze verify: %s", out)
	}
	start := regexp.MustCompile(`(?m)^ExecStart=(.*)$`).FindStringSubmatch(text)
	if start == nil {
		t.Fatalf("no ExecStart in\n%s", text)
	}
	words := strings.Fields(start[1])
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent"}
	if os.Geteuid() == 0 {
		const nobody = 65534
		for _, name := range []string{dir, state} {
			if err := os.Chown(name, nobody, nobody); err != nil {
				t.Fatal(err)
			}
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	said := new(strings.Builder)
	cmd.Stderr = said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	replayed := func() string {
		out, _ := exec.Command(binary, "watch", "--replay", state, "--format", "text").Output()
		return string(out)
	}
	for range 600 {
		if replayed() != "" {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	_ = cmd.Process.Signal(syscall.SIGTERM) // as systemctl stop does
	err = cmd.Wait()
	if replayed() == "" {
		t.Errorf("nothing was recorded: %v: %s", err, said)
	}
}
