package ansible_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The setting that the lab's rollouts change, its values, and what a change of the
// metric by it is called.
const (
	rolledOut = "net.ipv4.tcp_slow_start_after_idle"
	unchanged = "1"
	changed   = "0"
)

// onePlan is a plan of that setting.
const onePlan = `{"schema": 2, "host": "local", "os": "linux", "release": "6.12", "role": "web", "path": "rate=1gbit,rtt=10ms", "changes": [
	{"setting": "` + rolledOut + `", "value": "` + changed + `", "running": "` + unchanged + `", "kind": "runtime", "belongs": "sysctl"}]}`

// inside runs do in a network namespace.
func inside(t *testing.T, ns string, do func() error) {
	t.Helper()
	failed := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked, so that the thread ends here
		f, err := os.Open("/run/netns/" + ns)
		if err == nil {
			err = unix.Setns(int(f.Fd()), unix.CLONE_NEWNET)
			f.Close()
		}
		if err == nil {
			err = do()
		}
		failed <- err
	}()
	if err := <-failed; err != nil {
		t.Fatal(err)
	}
}

// production is twelve hosts, a Prometheus that scrapes them, and a metric that the
// rolled out setting multiplies by factor.
type production struct {
	*fleet
	prometheus string
	running    []*os.File // the setting on each host
	factor     float64
}

func newProduction(t *testing.T, hosts int, factor float64) *production {
	t.Helper()
	need(t, "prometheus")
	p := &production{factor: factor}
	p.fleet = newFleet(t, hosts, func(i int) (string, string) { return fmt.Sprintf("web%d", i), fmt.Sprintf("rack=%d", i%2) })
	for _, ns := range p.servers {
		inside(t, ns, func() error {
			// An open file of /proc/sys stays in its namespace.
			f, err := os.Open("/proc/sys/" + strings.ReplaceAll(rolledOut, ".", "/"))
			p.running = append(p.running, f)
			return err
		})
	}
	var exporter net.Listener
	inside(t, p.controller, func() (err error) {
		exporter, err = net.Listen("tcp", "127.0.0.1:9100")
		return err
	})
	web := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { p.export(w) })}
	go web.Serve(exporter)
	t.Cleanup(func() { web.Close() })
	config := p.write(t, "prometheus.yml", "scrape_configs:\n- job_name: lab\n  scrape_interval: 1s\n  static_configs: [{targets: ['127.0.0.1:9100']}]\n")
	p.prometheus = "http://127.0.0.1:9090"
	cmd := exec.Command("ip", "netns", "exec", p.controller, need(t, "prometheus"), "--config.file="+config,
		"--storage.tsdb.path="+filepath.Join(p.dir, "data"), "--web.listen-address=127.0.0.1:9090", "--log.level=error")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	listens(t, p.controller, "127.0.0.1:9090")
	return p
}

// value is what a host's setting is now.
func (p *production) value(host int) string {
	data := make([]byte, 8)
	n, _ := p.running[host].ReadAt(data, 0)
	return strings.TrimSpace(string(data[:n]))
}

func (p *production) export(w http.ResponseWriter) {
	for i := range p.running {
		speed := 100 * (1 + 0.1*float64(i)) * (1 + 0.004*rand.NormFloat64())
		if p.value(i) == changed {
			speed *= p.factor
		}
		fmt.Fprintf(w, "speed{host=\"web%d\"} %f\n", i, speed)
	}
}

// changedHosts counts those that have the setting.
func (p *production) changedHosts() (n int) {
	for i := range p.running {
		if p.value(i) == changed {
			n++
		}
	}
	return n
}

// back waits until no host has the setting any more.
func (p *production) back(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(6 * time.Minute); p.changedHosts() > 0; time.Sleep(200 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d hosts are left changed", p.changedHosts())
		}
	}
}

// design waits for a history and writes the canary.
func (p *production) design(t *testing.T, window string) (file string) {
	t.Helper()
	file = filepath.Join(p.dir, "canary.json")
	os.Remove(file)
	forget(t, file)
	list := exec.Command(p.ansible+"/ansible-inventory", "-i", filepath.Join(p.dir, "inventory"), "--list")
	list.Env = append(os.Environ(), p.env...)
	hosts, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	inventory := p.write(t, "inventory.json", string(hosts))
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(2 * time.Second) {
		cmd := exec.Command("ip", "netns", "exec", p.controller, p.binary, "canary", "design", inventory, "--prometheus", p.prometheus, "--label", "host",
			"--metric", "higher:speed", "--block", "rack", "--steps", "1,25%,50%,100%", "--before", "20s", "--window", window, "--resolution", "1s",
			"--margin", "0.5%", "-o", file)
		out, err := cmd.CombinedOutput()
		if err == nil {
			t.Logf("%s", out)
			return file
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s", out)
		}
	}
}

// forget removes what a rollout noted of a canary beside its file.
func forget(t *testing.T, file string) {
	t.Helper()
	noted, err := filepath.Glob(file + ".*.changes")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range noted {
		os.Remove(name)
	}
}

// rollout is the playbook with a plan of the one setting.
func (p *production) rollout(t *testing.T, file string, lease int) *exec.Cmd {
	t.Helper()
	variables, err := json.Marshal(map[string]any{"wirerate_canary": file, "tuned_host_plan": json.RawMessage(onePlan), "tuned_host_runtime_only": true,
		"rollout_lease": fmt.Sprintf("%ds", lease), "rollout_tick": 1})
	if err != nil {
		t.Fatal(err)
	}
	return p.playbook("wirerate.tuning.rollout", "-e", "@"+p.write(t, "rollout.json", string(variables)))
}

// long skips what takes minutes; make ansible runs it.
func long(t *testing.T) int {
	t.Helper()
	n, err := strconv.Atoi(os.Getenv("WIRERATE_ROLLOUT"))
	if err != nil {
		t.Skip("it takes minutes; make ansible runs it")
	}
	return n
}

// TestRollout promotes a change that helps to all hosts, and stops and takes back one
// that harms.
func TestRollout(t *testing.T) {
	long(t)
	for name, c := range map[string]struct {
		factor float64
		hosts  int
		said   string
	}{
		"helps": {1.05, 12, "every step is made: the change stays on 12 hosts"},
		"harms": {0.95, 0, ": stop: take the change back on "},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProduction(t, 12, c.factor)
			started := time.Now()
			file := p.design(t, "15s")
			out, err := p.rollout(t, file, 600).CombinedOutput()
			if err != nil || !strings.Contains(string(out), c.said) {
				t.Fatalf("%v: %s", err, out)
			}
			if n := p.changedHosts(); n != c.hosts {
				t.Errorf("%d hosts are changed, not %d: %s", n, c.hosts, out)
			}
			t.Logf("in %s:\n%s", time.Since(started).Round(time.Second), run(t, nil, p.binary, "canary", "status", file, "--json"))
			// Once more: nothing is left to do.
			again, err := p.rollout(t, file, 600).CombinedOutput()
			if err != nil || p.changedHosts() != c.hosts {
				t.Errorf("once more: %v, %d hosts: %s", err, p.changedHosts(), again)
			}
		})
	}
}

// TestRolloutByTwo runs two controllers of one harmful canary at once: at least one
// comes to its end, and no host keeps the change.
func TestRolloutByTwo(t *testing.T) {
	long(t)
	p := newProduction(t, 12, 0.95)
	file := p.design(t, "15s")
	var cmds [2]*exec.Cmd
	var outs [2]bytes.Buffer
	for i := range cmds {
		cmds[i] = p.rollout(t, file, 120)
		cmds[i].Stdout, cmds[i].Stderr = &outs[i], &outs[i]
		if err := cmds[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	failed := 0
	for i, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Logf("controller %d: %v: %s", i, err, outs[i].String())
			failed++
		}
	}
	p.back(t)
	said := run(t, nil, p.binary, "canary", "status", file, "--json")
	if failed > 1 || !strings.Contains(said, `"take_back": true`) {
		t.Errorf("%d of 2 controllers failed: %s", failed, said)
	}
}

// untilBegun runs a rollout until the first steps of its canary have begun. One that
// ends before, as where the machine was too busy for its lease, is run again.
func (p *production) untilBegun(t *testing.T, file string, steps int) (cmd *exec.Cmd, ended <-chan error, out *bytes.Buffer) {
	t.Helper()
	start := func() {
		done := make(chan error, 1)
		cmd, ended, out = p.rollout(t, file, 45), done, new(bytes.Buffer)
		cmd.Stdout, cmd.Stderr = out, out
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		run := cmd
		go func() { done <- run.Wait() }()
	}
	start()
	for deadline := time.Now().Add(15 * time.Minute); ; time.Sleep(200 * time.Millisecond) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Count(string(data), `"begun": `) >= steps {
			return cmd, ended, out
		}
		select {
		case err := <-ended:
			if time.Now().After(deadline) {
				t.Fatalf("step %d does not begin: %v: %s", steps, err, out)
			}
			start()
		default:
		}
	}
}

// TestRolloutKilled kills the controller at random moments of a rollout that helps. No
// host keeps a change that is not promoted; at the end it is resumed.
func TestRolloutKilled(t *testing.T) {
	kills := long(t)
	p := newProduction(t, 12, 1.05)
	file := p.design(t, "15s")
	design, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	most := 0
	for i := range kills {
		if err := os.WriteFile(file, design, 0o600); err != nil {
			t.Fatal(err)
		}
		forget(t, file)
		// Before the first step or in one of those before the promotion, whose window
		// alone takes 16 s.
		cmd, ended, out := p.untilBegun(t, file, i%4)
		time.Sleep(time.Duration(rand.IntN(15_000)) * time.Millisecond)
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-ended
		n := p.changedHosts()
		most = max(most, n)
		if strings.Contains(run(t, nil, p.binary, "canary", "status", file, "--json"), `"keep": true`) {
			t.Fatalf("kill %d: promoted before it was killed; kill earlier: %s", i, out.String())
		}
		p.back(t)
		t.Logf("kill %d: in step %d, %d hosts were changed, 0 are left", i, i%4, n)
	}
	if most == 0 {
		t.Error("no host was changed at any kill")
	}
	if out, err := p.rollout(t, file, 600).CombinedOutput(); err != nil || p.changedHosts() != 12 {
		t.Errorf("resumed: %v, %d hosts: %s", err, p.changedHosts(), out)
	}
}

// TestCost measures what applying a plan to hosts costs the controller, and says what
// that makes of a thousand hosts at fifty forks.
func TestCost(t *testing.T) {
	long(t)
	const hosts, fleetHosts, forks = 12, 1000, 50
	f := newFleet(t, hosts, func(i int) (string, string) { return fmt.Sprintf("web%d", i), "" })
	play := f.write(t, "tuned.yml", "- hosts: web\n  gather_facts: false\n  roles: [wirerate.tuning.tuned_host]\n")
	variables := f.write(t, "tuned.json", fmt.Sprintf(`{"tuned_host_binaries": %q, "tuned_host_plan": %s, "tuned_host_runtime_only": true, "tuned_host_confirm_within": "1h"}`,
		f.binary, onePlan))
	measure := func(limit string) (wall, cpu time.Duration) {
		cmd := f.playbook(play, "-e", "@"+variables, "--limit", limit, "--forks", "12")
		start := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return time.Since(start), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	_, one := measure("web0")
	wall, all := measure("web1,web2,web3,web4,web5,web6,web7,web8,web9,web10,web11")
	each := (all - one) / (hosts - 2)
	cores := time.Duration(runtime.NumCPU())
	t.Logf("%d hosts in %s; the controller's processors work %s for each host; %d hosts then take %s on its %d processors, at most %d at once",
		hosts-1, wall.Round(time.Second), each.Round(10*time.Millisecond), fleetHosts, (each * fleetHosts / cores).Round(time.Second), cores, forks)
}

// TestModules runs every module on a real sshd host, and the roles and playbooks that
// the operator of a few hosts uses.
func TestModules(t *testing.T) {
	t.Parallel()
	long(t)
	f := newFleet(t, 3, func(i int) (string, string) { return fmt.Sprintf("web%d", i), "" })
	f.play(t, "testdata/modules.yml")
	out := filepath.Join(f.dir, "found")
	f.play(t, "wirerate.tuning.inspect", "-e", "wirerate_out="+out)
	if text := run(t, nil, f.binary, "fleet", out); !regexp.MustCompile(`(?m)^linux +3 `).MatchString(text) {
		t.Errorf("fleet of three: %s", text)
	}
}
