package ansible_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
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
	venv, err := filepath.Abs("../../.venv/bin")
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
	ns := fmt.Sprintf("wr-ansible-%d-%s-%s", os.Getpid(), strings.ReplaceAll(t.Name(), "/", "-"), name)
	if out, err := exec.Command("ip", "netns", "add", ns).CombinedOutput(); err != nil {
		t.Skipf("no network namespaces here: %v: %s", err, out)
	}
	t.Cleanup(func() { exec.Command("ip", "netns", "del", ns).Run() })
	run(t, nil, "ip", "-n", ns, "link", "set", "lo", "up")
	return ns
}

// fleet is a controller and servers, each a network namespace with an sshd of its own,
// whose files are its own where wirerate writes.
type fleet struct {
	dir, controller, binary string
	servers                 []string // namespaces
	inventory               string   // lines of an inventory, of the servers by number
	env                     []string
	ansible                 string // the folder of Ansible's programs
}

// newFleet starts a number of servers; more is what the inventory says of each beside
// how it is reached.
func newFleet(t *testing.T, servers int, more func(i int) (name, vars string)) *fleet {
	t.Helper()
	f := &fleet{dir: t.TempDir(), ansible: filepath.Dir(need(t, "ansible-playbook"))}
	need(t, "ip")
	if os.Geteuid() != 0 {
		t.Skip("network namespaces with names need root")
	}
	f.binary = filepath.Join(f.dir, "wirerate")
	run(t, nil, "go", "build", "-ldflags", "-s -w", "-o", f.binary, "../../cmd/wirerate")
	for _, key := range []string{"host", "user"} {
		run(t, nil, need(t, "ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(f.dir, key))
	}
	f.controller = namespace(t, "c")
	// The servers are this machine: its Python, not what Ansible guesses.
	python := strings.TrimSpace(run(t, nil, need(t, "python3"), "-c", "import sys; print(sys.executable)"))
	f.inventory = "[web:vars]\nansible_python_interpreter=" + python + "\n[web]\n"
	public, err := os.ReadFile(filepath.Join(f.dir, "host.pub"))
	if err != nil {
		t.Fatal(err)
	}
	known := ""
	for i := range servers {
		address := f.server(t, i)
		known += address + " " + string(public)
		name, vars := more(i)
		f.inventory += fmt.Sprintf("%s ansible_host=%s ansible_user=root %s ansible_ssh_private_key_file=%s/user ansible_ssh_common_args='-o StrictHostKeyChecking=yes -o UserKnownHostsFile=%[4]s/known'\n",
			name, address, vars, f.dir)
	}
	f.write(t, "inventory", f.inventory)
	f.write(t, "known", known)
	collection := filepath.Join(f.dir, "collections/ansible_collections/wirerate")
	if err := os.MkdirAll(collection, 0o755); err != nil {
		t.Fatal(err)
	}
	here, err := filepath.Abs("wirerate/tuning")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(here, filepath.Join(collection, "tuning")); err != nil {
		t.Fatal(err)
	}
	// A connection that Ansible keeps to share it outlives the play by a minute, and
	// the play's output ends with it.
	f.env = []string{"ANSIBLE_PIPELINING=1", "ANSIBLE_LOCAL_TEMP=" + f.dir + "/a", "ANSIBLE_TIMEOUT=120", "ANSIBLE_FORKS=6",
		"ANSIBLE_SSH_ARGS=-o ControlMaster=no -o ControlPath=none", "ANSIBLE_COLLECTIONS_PATH=" + f.dir + "/collections",
		"PYTHONDONTWRITEBYTECODE=1", "ANSIBLE_RETRY_FILES_ENABLED=0"}
	return f
}

func (f *fleet) write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(f.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// playbook is a play of the fleet, run by the controller.
func (f *fleet) playbook(name string, more ...string) *exec.Cmd {
	args := append([]string{"netns", "exec", f.controller, f.ansible + "/ansible-playbook", "-i", filepath.Join(f.dir, "inventory"), name,
		"-e", "wirerate_binaries=" + f.binary, "-e", "wirerate_local=" + f.binary}, more...)
	cmd := exec.Command("ip", args...)
	cmd.Env = append(os.Environ(), f.env...)
	return cmd
}

func (f *fleet) play(t *testing.T, name string, more ...string) string {
	t.Helper()
	out, err := f.playbook(name, more...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	return string(out)
}

// server is a network namespace with an sshd in it that is reached from the controller.
func (f *fleet) server(t *testing.T, i int) (address string) {
	t.Helper()
	sshd := need(t, "sshd")
	ns, veth := namespace(t, fmt.Sprint(i)), fmt.Sprintf("e%d", i)
	f.servers = append(f.servers, ns)
	near, far := fmt.Sprintf("10.79.%d.1", i), fmt.Sprintf("10.79.%d.2", i)
	for _, line := range []string{
		"-n " + f.controller + " link add " + veth + " type veth peer name e0 netns " + ns,
		"-n " + f.controller + " addr add " + near + "/30 dev " + veth, "-n " + f.controller + " link set " + veth + " up",
		"-n " + ns + " addr add " + far + "/30 dev e0", "-n " + ns + " link set e0 up",
	} {
		run(t, nil, "ip", strings.Fields(line)...)
	}
	config := f.write(t, fmt.Sprintf("sshd%d.conf", i), fmt.Sprintf("ListenAddress %s\nHostKey %s/host\nAuthorizedKeysFile %[2]s/user.pub\nStrictModes no\nUsePAM no\nPidFile none\nPermitRootLogin prohibit-password\nMaxStartups 100\nSubsystem sftp internal-sftp\n", far, f.dir))
	for _, dir := range []string{"/run/sshd", "/var/lib/wirerate", "/etc/sysctl.d", f.dir + "/var"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	own := "mount --bind " + f.dir + "/var /var/lib/wirerate && mount -t tmpfs none /etc/sysctl.d && exec " + sshd + " -D -e -f " + config
	cmd := exec.Command("ip", "netns", "exec", ns, "unshare", "-m", "sh", "-c", own)
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

// TestWeblog counts the logs of two servers over real ssh and merges them. The names
// of the servers and the logs are such as a shell or a folder could trip over.
func TestWeblog(t *testing.T) {
	t.Parallel()
	const want = 700
	f := newFleet(t, 2, func(i int) (string, string) {
		log := filepath.Join(t.TempDir(), fmt.Sprintf("access %d.log", i))
		var text bytes.Buffer
		if _, err := (accesslog.Synthetic{Lines: 300 + 100*i, Seed: uint64(i)}).WriteTo(&text); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(log, text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("\"../web %d;x\"", i), fmt.Sprintf("weblog_logs=\"['%s']\"", log)
	})
	out := filepath.Join(f.dir, "out")
	f.play(t, "wirerate.tuning.weblog", "-e", "weblog_out="+out)
	var report struct {
		Requests uint64 `json:"requests"`
		Inputs   []any  `json:"inputs"`
	}
	if err := json.Unmarshal([]byte(run(t, nil, f.binary, "weblog", out+"/all.wrl", "--json")), &report); err != nil {
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

// TestCollection builds and installs the collection, reads its documentation and lints it.
func TestCollection(t *testing.T) {
	bin := filepath.Dir(need(t, "ansible-galaxy"))
	dir := t.TempDir()
	env := []string{"ANSIBLE_COLLECTIONS_PATH=" + dir, "ANSIBLE_LOCAL_TEMP=" + dir + "/a", "PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + dir}
	run(t, env, bin+"/ansible-galaxy", "collection", "install", "wirerate/tuning", "-p", dir)
	for _, module := range []string{"apply", "confirm", "extend", "inspect", "lint", "plan", "rollback", "verify", "weblog"} {
		if out := run(t, env, bin+"/ansible-doc", "wirerate.tuning."+module); !strings.Contains(out, "EXAMPLES") {
			t.Errorf("%s: %s", module, out)
		}
	}
	if _, err := os.Stat(bin + "/ansible-lint"); err != nil {
		t.Skip("ansible-lint is not installed; make ansible installs it")
	}
	cmd := exec.Command(bin+"/ansible-lint", "--offline", "--profile", "production", "--nocolor")
	cmd.Dir, cmd.Env = filepath.Join(dir, "ansible_collections/wirerate/tuning"), append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("ansible-lint: %v: %s", err, out)
	}
}

// TestFleetPage wants what docs/fleet.md types to exist: verbs with their flags,
// playbooks, and variables that some playbook or role reads.
func TestFleetPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/fleet.md")
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(t.TempDir(), "wirerate")
	run(t, nil, "go", "build", "-o", binary, "../../cmd/wirerate")
	var read strings.Builder
	err = filepath.WalkDir("wirerate/tuning", func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".yml") {
			var data []byte
			data, err = os.ReadFile(path)
			read.Write(data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	commands := 0
	for line := range strings.Lines(strings.ReplaceAll(string(page), "\\\n", "")) {
		words := strings.Fields(line)
		if !strings.HasPrefix(line, "    ") || len(words) == 0 {
			continue
		}
		switch words[0] {
		case "wirerate":
			commands++
			run(t, nil, "sh", "-c", strings.Replace(strings.TrimSpace(line), "wirerate", binary, 1)+" --help")
		case "ansible-playbook":
			commands++
			name, _ := strings.CutPrefix(words[1], "wirerate.tuning.")
			if _, err := os.Stat("wirerate/tuning/playbooks/" + name + ".yml"); err != nil {
				t.Error(err)
			}
			for i, word := range words {
				if variable, _, _ := strings.Cut(word, "="); words[i-min(i, 1)] == "-e" && !strings.Contains(read.String(), variable) {
					t.Errorf("%s: nothing reads %s", name, variable)
				}
			}
		}
	}
	if commands < 6 {
		t.Errorf("only %d commands are found", commands)
	}
}
