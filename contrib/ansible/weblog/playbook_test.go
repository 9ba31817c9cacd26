package weblog_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wirerate/wirerate/tools/genlog/accesslog"
)

// run runs a command and fails the test with its output.
func run(t *testing.T, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// need skips the test where a program is missing and returns its path. make
// tools puts Ansible into .venv.
func need(t *testing.T, name string) string {
	t.Helper()
	venv, err := filepath.Abs("../../../.venv/bin")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"", "/usr/sbin/", "/sbin/", venv + "/"} {
		if p, err := exec.LookPath(dir + name); err == nil {
			return p
		}
	}
	t.Skipf("%s is not installed; make tools installs it", name)
	return ""
}

// namespace makes a network namespace, so that neither this machine's addresses
// nor its packet filter matter.
func namespace(t *testing.T, name string) string {
	t.Helper()
	ns := fmt.Sprintf("wr-ansible-%d-%s", os.Getpid(), name)
	if out, err := exec.Command("ip", "netns", "add", ns).CombinedOutput(); err != nil {
		t.Skipf("no network namespaces here: %v: %s", err, out)
	}
	t.Cleanup(func() { exec.Command("ip", "netns", "del", ns).Run() })
	run(t, nil, "ip", "-n", ns, "link", "set", "lo", "up")
	return ns
}

// server is a network namespace with an sshd in it that is reached from another.
func server(t *testing.T, from, dir string, i int) (address string) {
	t.Helper()
	sshd := need(t, "sshd")
	ns, veth := namespace(t, fmt.Sprint(i)), fmt.Sprintf("e%d", i)
	near, far := fmt.Sprintf("10.79.%d.1", i), fmt.Sprintf("10.79.%d.2", i)
	for _, line := range []string{
		"-n " + from + " link add " + veth + " type veth peer name e0 netns " + ns,
		"-n " + from + " addr add " + near + "/30 dev " + veth, "-n " + from + " link set " + veth + " up",
		"-n " + ns + " addr add " + far + "/30 dev e0", "-n " + ns + " link set e0 up",
	} {
		run(t, nil, "ip", strings.Fields(line)...)
	}
	config := filepath.Join(dir, fmt.Sprintf("sshd%d.conf", i))
	text := fmt.Sprintf("ListenAddress %s\nHostKey %s/host\nAuthorizedKeysFile %s/user.pub\nStrictModes no\nUsePAM no\nPidFile none\nPermitRootLogin prohibit-password\nSubsystem sftp internal-sftp\n", far, dir, dir)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("ip", "netns", "exec", ns, sshd, "-D", "-e", "-f", config)
	log := new(strings.Builder)
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		if t.Failed() {
			t.Logf("sshd of %s: %s", far, log)
		}
	})
	listens(t, ns, far+":22")
	return far
}

// listens waits until something in a namespace listens: Ansible does not try
// twice.
func listens(t *testing.T, ns, address string) {
	t.Helper()
	for range 1200 {
		if out, err := exec.Command("ip", "netns", "exec", ns, "ss", "-Hltn").Output(); err == nil && strings.Contains(string(out), " "+address+" ") {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("nothing listens on %s", address)
}

// TestPlaybook counts the logs of two servers over real ssh and merges them. The names
// of the servers and the logs are such as a shell or a folder could trip over.
func TestPlaybook(t *testing.T) {
	ansible := need(t, "ansible-playbook")
	need(t, "ip")
	if os.Geteuid() != 0 {
		t.Skip("network namespaces with names need root")
	}
	dir := t.TempDir()
	binary := filepath.Join(dir, "wirerate")
	run(t, nil, "go", "build", "-o", binary, "../../../cmd/wirerate")
	if out, err := exec.Command(binary, "weblog", "--help").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, key := range []string{"host", "user"} {
		run(t, nil, need(t, "ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, key))
	}
	// The servers are this machine: its Python, not what Ansible guesses.
	python := strings.TrimSpace(run(t, nil, need(t, "python3"), "-c", "import sys; print(sys.executable)"))
	inventory := "[web:vars]\nansible_python_interpreter=" + python + "\n[web]\n"
	const want = 700
	controller := namespace(t, "c")
	for i := range 2 {
		address := server(t, controller, dir, i)
		log := filepath.Join(dir, fmt.Sprintf("access %d.log", i))
		var text bytes.Buffer
		if _, err := (accesslog.Synthetic{Lines: 300 + 100*i, Seed: uint64(i)}).WriteTo(&text); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(log, text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		inventory += fmt.Sprintf("\"../web %d;x\" ansible_host=%s ansible_user=root weblog_logs=\"['%s']\" ansible_ssh_private_key_file=%s/user ansible_ssh_common_args='-o StrictHostKeyChecking=yes -o UserKnownHostsFile=%s/known'\n", i, address, log, dir, dir)
	}
	host, err := os.ReadFile(filepath.Join(dir, "host.pub"))
	if err != nil {
		t.Fatal(err)
	}
	known := fmt.Sprintf("10.79.0.2 %s10.79.1.2 %s", host, host)
	for name, text := range map[string]string{"inventory": inventory, "known": known} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(dir, "out")
	// A connection that Ansible keeps to share it outlives the play by a minute, and
	// the play's output ends with it.
	env := []string{"ANSIBLE_PIPELINING=1", "ANSIBLE_LOCAL_TEMP=" + dir + "/a", "ANSIBLE_TIMEOUT=120", "ANSIBLE_SSH_ARGS=-o ControlMaster=no -o ControlPath=none"}
	run(t, env, "ip", "netns", "exec", controller, ansible, "-i", filepath.Join(dir, "inventory"), "playbook.yaml",
		"-e", "weblog_binary="+binary, "-e", "weblog_out="+out)
	var report struct {
		Requests uint64 `json:"requests"`
		Inputs   []any  `json:"inputs"`
	}
	if err := json.Unmarshal([]byte(run(t, nil, binary, "weblog", out+"/all.wrl", "--json")), &report); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(out + "/.._web_[01]_x-????????.wrl")
	if err != nil || len(files) != 2 {
		t.Errorf("counts of the servers: %v, %v", files, err)
	}
	if report.Requests != want || len(report.Inputs) != 2 {
		t.Errorf("%d requests of %d logs, want %d of 2", report.Requests, len(report.Inputs), want)
	}
}
