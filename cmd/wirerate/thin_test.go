package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// thinPrograms are all that a host needs beside its own sysctl, ifconfig,
// netstat and uname.
var thinPrograms = []string{"sh", "cat", "chmod", "cmp", "cp", "mkdir", "mv", "rm", "rmdir", "sleep", "sync"}

// thinStack are settings of a FreeBSD 13 network stack, as the made-up sysctl(8)
// of internal/change reads them: value, type, how a new one is taken.
var thinStack = map[string][2]string{
	"net.inet.tcp.cc.algorithm": {"newreno", "string one-of ESRCH cubic newreno htcp"}, "net.inet.tcp.cc.available": {"cubic, newreno, htcp", "string ro"},
	"net.inet.tcp.sendbuf_max": {"2097152", "integer rw"}, "net.inet.tcp.recvbuf_max": {"2097152", "integer rw"},
	"net.inet.tcp.sendspace": {"32768", "integer rw"}, "net.inet.tcp.recvspace": {"65536", "integer rw"},
	"net.inet.tcp.sendbuf_auto": {"1", "integer rw"}, "net.inet.tcp.recvbuf_auto": {"1", "integer rw"}, "net.inet.tcp.sendbuf_inc": {"8192", "integer rw"},
	"kern.ipc.maxsockbuf": {"2097152", "unsigned least 2048"}, "kern.ipc.soacceptqueue": {"128", "integer least 1"}, "kern.ipc.somaxconn": {"128", "integer least 1"},
	"kern.ipc.nmbclusters": {"67108864", "integer raise"}, "kern.ipc.maxsockets": {"0", "integer raise"}, "net.inet.tcp.tcbhashsize": {"512", "integer tun"},
	"net.inet.tcp.mssdflt": {"536", "integer least 216"}, "net.inet.tcp.minmss": {"216", "integer rw"}, "net.inet.tcp.rfc1323": {"1", "integer rw"},
	"net.inet.tcp.initcwnd_segments": {"10", "integer rw"}, "net.inet.tcp.abc_l_var": {"2", "integer rw"}, "net.inet.tcp.sack.enable": {"1", "integer rw"},
	"net.inet.tcp.tso": {"1", "integer rw"}, "net.inet.tcp.ecn.enable": {"2", "integer rw"}, "net.inet.tcp.functions_default": {"freebsd", "string one-of ENOENT freebsd rack bbr"},
	"net.inet.ip.intr_queue_maxlen": {"256", "integer least 1"}, "net.isr.dispatch": {"direct", "string one-of EINVAL direct hybrid deferred"},
	"net.isr.maxthreads": {"1", "integer tun"}, "net.inet.ip.portrange.first": {"10000", "integer clamp 1024 65535"}, "net.inet.tcp.path_mtu_discovery": {"1", "integer rw"},
	"net.inet.tcp.delayed_ack": {"1", "integer rw"}, "net.inet.udp.recvspace": {"42080", "integer rw"}, "net.inet.udp.maxdgram": {"9216", "integer rw"},
	"net.inet.tcp.msl": {"30000", "integer least 1"}, "net.inet.tcp.keepidle": {"7200000", "integer least 1"}, "kern.hz": {"1000", "integer tun"},
	"net.inet.tcp.syncookies": {"1", "integer rw"}, "net.inet.ip.forwarding": {"0", "integer rw"}, "net.inet.tcp.hostcache.expire": {"3600", "integer rw"},
}

// thinHost makes a host behind ssh, in a file system of its own, that has a
// FreeBSD network stack and hardly any program but those named, and returns
// ssh's configuration. The other host stays as it is.
func thinHost(t *testing.T, more ...string) (config, root string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("not root: sshd cannot change the root folder")
	}
	a, b := namespaces(t)
	config = sshHosts(t, a, b)
	// sshd wants a folder that nobody else may write to, all the way up.
	root, err := os.MkdirTemp("/run", "wirerate-thin-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	os.Chmod(root, 0o755)
	put := func(name, text string, mode os.FileMode) {
		path := filepath.Join(root, name)
		os.MkdirAll(filepath.Dir(path), 0o755)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	library := regexp.MustCompile(`/\S+\.so\S*`)
	for _, name := range append(append([]string{"ls"}, thinPrograms...), more...) { // ls is for the made-up sysctl
		path, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		libraries, _ := exec.Command("ldd", path).Output()
		for _, file := range append(library.FindAllString(string(libraries), -1), path) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if file == path {
				file = "/bin/" + name
			}
			put(file, string(data), 0o755)
			if file == "/bin/sh" {
				put(loginShell(t), string(data), 0o755)
			}
		}
	}
	sysctl, err := os.ReadFile("../../internal/change/testdata/fake/sysctl")
	if err != nil {
		t.Fatal(err)
	}
	put("bin/sysctl", string(sysctl), 0o755)
	put("bin/uname", "#!/bin/sh\ncase ${1-} in -r) echo 13.0-STABLE ;; -m) echo amd64 ;; -a) echo FreeBSD thin 13.0-STABLE amd64 ;; *) echo FreeBSD ;; esac\n", 0o755)
	put("bin/ifconfig", "#!/bin/sh\nprintf '%s\\n' 'f-stack-0: flags=8843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> metric 0 mtu 1500' '\tether 32:1d:3:f8:29:63' '\tinet 192.168.77.2 netmask 0xffffff00 broadcast 192.168.77.255'\n", 0o755)
	put("bin/netstat", "#!/bin/sh\necho 'netstat: no statistics here' >&2; exit 1\n", 0o755)
	for name, s := range thinStack {
		put("fake/sysctl/"+name, s[0]+"\n", 0o644)
		put("fake/oid/"+name, s[1]+"\n", 0o644)
	}
	put("dev/null", "", 0o666)
	os.Remove(filepath.Join(root, "dev/null"))
	if err := exec.Command("mknod", "-m", "666", filepath.Join(root, "dev/null"), "c", "1", "3").Run(); err != nil {
		t.Skip("no devices can be made here: ", err)
	}
	exec.Command("mknod", "-m", "666", filepath.Join(root, "dev/urandom"), "c", "1", "9").Run()
	os.MkdirAll(filepath.Join(root, "tmp"), 0o755)
	server := strings.Replace(config, "ssh_config", "sshd_config", 1)
	data, _ := os.ReadFile(server)
	os.WriteFile(server+".thin", fmt.Appendf(data, "ChrootDirectory %s\nSetEnv PATH=/bin FAKE=/fake\n", root), 0o600)
	data, _ = os.ReadFile(config)
	of := "exec " + a + " /usr/sbin/sshd -i -f " + server
	os.WriteFile(config, []byte(strings.Replace(string(data), of, of+".thin", 1)), 0o600)
	return config, root
}

// loginShell is root's on this machine.
func loginShell(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("/etc/passwd")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if fields := strings.Split(strings.TrimSpace(line), ":"); fields[0] == "root" && len(fields) == 7 && fields[6] != "" {
			return fields[6]
		}
	}
	return "/bin/sh"
}

func wirerate(t *testing.T, want int, args ...string) string {
	t.Helper()
	out, err := exec.Command("wirerate", args...).CombinedOutput()
	if got := exitStatus(err); got != want {
		t.Fatalf("wirerate %s: exit status %d, want %d: %s", strings.Join(args, " "), got, want, out)
	}
	return string(out)
}

// values are the host's settings.
func (h thin) values() map[string]string {
	v := map[string]string{}
	for name := range thinStack {
		data, _ := os.ReadFile(filepath.Join(string(h), "fake/sysctl", name))
		v[name] = strings.TrimSpace(string(data))
	}
	return v
}

type thin string

func (h thin) differ(before map[string]string) string {
	for name, v := range h.values() {
		if before[name] != v {
			return fmt.Sprintf("%s was %s and is %s", name, before[name], v)
		}
	}
	return ""
}

// TestThinFreeBSD inspects, plans, applies, confirms and takes back over ssh on
// a host with FreeBSD's network stack and a handful of programs.
func TestThinFreeBSD(t *testing.T) {
	t.Parallel()
	config, root := thinHost(t)
	host, h := "ssh://root@wr-a", thin(root)
	before := h.values()
	ssh := []string{"--ssh-config", config}
	wirerate(t, 0, append(ssh, "inspect", host, "--path", "rate=10gbit,rtt=100ms")...)
	dir := t.TempDir()
	wirerate(t, 0, append(ssh, "plan", host, "--path", "rate=10gbit,rtt=100ms", "--role", "bulk", "--memory", "16GiB", "-o", dir)...)
	applied := wirerate(t, 0, append(ssh, "apply", dir, host)...)
	if h.differ(before) == "" || !strings.Contains(applied, "net.inet.tcp.sendbuf_max = ") {
		t.Errorf("nothing is applied: %s", applied)
	}
	wirerate(t, 2, append(ssh, "apply", dir, host)...) // another one is pending
	wirerate(t, 0, append(ssh, "rollback", host)...)
	if d := h.differ(before); d != "" {
		t.Error(d)
	}
	wirerate(t, 0, append(ssh, "apply", dir, host)...)
	wirerate(t, 0, append(ssh, "confirm", host)...)
	if out := wirerate(t, 0, append(ssh, "status", host, "--json")...); !strings.Contains(out, `"confirmed"`) {
		t.Error(out)
	}
	data, err := os.ReadFile(filepath.Join(root, "etc/sysctl.conf"))
	if err != nil || !strings.Contains(string(data), "net.inet.tcp.sendbuf_max=") {
		t.Errorf("%v: %s", err, data)
	}
	var list struct{ Changes []struct{ ID string } }
	json.Unmarshal([]byte(wirerate(t, 0, append(ssh, "status", host, "--json")...)), &list)
	wirerate(t, 0, append(ssh, "rollback", list.Changes[len(list.Changes)-1].ID, host)...)
	if d := h.differ(before); d != "" {
		t.Error(d)
	}
	if _, err := os.Stat(filepath.Join(root, "etc/sysctl.conf")); err == nil {
		t.Error("sysctl.conf stayed")
	}
}

// TestThinFreeBSDKilled kills apply over ssh at random moments; the dead-man
// timer or a rollback brings everything back.
func TestThinFreeBSDKilled(t *testing.T) {
	t.Parallel()
	config, root := thinHost(t)
	host, h := "ssh://root@wr-a", thin(root)
	before := h.values()
	dir := t.TempDir()
	wirerate(t, 0, "--ssh-config", config, "plan", host, "--path", "rate=10gbit,rtt=100ms", "--role", "bulk", "--memory", "16GiB", "-o", dir)
	for i := range 4 {
		cmd := exec.Command("wirerate", "--ssh-config", config, "apply", dir, host, "--confirm-within", "3s")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(200+300*i) * time.Millisecond)
		cmd.Process.Kill()
		cmd.Wait()
		if i%2 == 0 {
			exec.Command("wirerate", "--ssh-config", config, "rollback", host).Run()
		}
		deadline := time.Now().Add(5 * time.Minute)
		pending := filepath.Join(root, "var/db/wirerate/pending")
		for time.Now().Before(deadline) {
			_, err := os.Stat(pending)
			// What was killed before it began to write has no timer.
			running := processes(func(proc string) bool { at, _ := os.Readlink(proc + "/root"); return at == root })
			if h.differ(before) == "" && (err != nil || len(running) == 0) {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		if d := h.differ(before); d != "" {
			left, _ := exec.Command("sh", "-c", "cd '"+root+"/var/db/wirerate' && ls -lR . && tail -n 50 */progress */state */timer */rollback.log").CombinedOutput()
			t.Errorf("%d: %s\n%s", i, d, left)
		}
		exec.Command("wirerate", "--ssh-config", config, "rollback", host).Run()
	}
}

// TestThinHostLacks names the programs that are missing before anything is
// written.
func TestThinHostLacks(t *testing.T) {
	t.Parallel()
	config, root := thinHost(t)
	host, h := "ssh://root@wr-a", thin(root)
	before := h.values()
	dir := t.TempDir()
	wirerate(t, 0, "--ssh-config", config, "plan", host, "--path", "rate=10gbit,rtt=100ms", "--role", "bulk", "--memory", "16GiB", "-o", dir)
	os.Remove(filepath.Join(root, "bin/cmp"))
	os.Remove(filepath.Join(root, "bin/sleep"))
	out := wirerate(t, 3, "--ssh-config", config, "apply", dir, host)
	if !strings.Contains(out, "programs that are not there: cmp sleep; install them first; nothing is changed") || h.differ(before) != "" {
		t.Errorf("%s%s", out, h.differ(before))
	}
}

// TestThinFreeBSDTuned compares the plan with the default over ssh between that
// host and a Linux one, without what a kernel only raises, and restores both.
func TestThinFreeBSDTuned(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("iperf3"); err != nil {
		t.Skip("iperf3 is not installed")
	}
	config, root := thinHost(t, "iperf3")
	h := thin(root)
	// Too few clusters for the path, so that the plan raises them, and a machine
	// that tells its size.
	for name, s := range map[string][2]string{"kern.ipc.nmbclusters": {"4096", "integer raise"}, "hw.physmem": {"17179869184", "long ro"}, "hw.ncpu": {"8", "integer ro"}} {
		os.WriteFile(filepath.Join(root, "fake/sysctl", name), []byte(s[0]+"\n"), 0o644)
		os.WriteFile(filepath.Join(root, "fake/oid", name), []byte(s[1]+"\n"), 0o644)
	}
	os.WriteFile(filepath.Join(root, "fake/calls"), nil, 0o644)
	before := h.values()
	tune := func() (string, int) {
		out, err := exec.Command("wirerate", "--ssh-config", config, "tune", "ssh://root@wr-a", "--peer", "ssh://root@wr-b", "--address", "10.78.0.2",
			"--path", "rate=10gbit,rtt=100ms", "--role", "bulk", "--no-history", "--for", "10m", "--run", "1s", "--omit", "1s", "--pairs", "2", "--no-shares").CombinedOutput()
		return string(out), exitStatus(err)
	}
	out, status := tune()
	if status != 0 && status != 1 || !strings.Contains(out, "kern.ipc.nmbclusters is planned and not tried") || !regexp.MustCompile(`from\s+2\s+pairs`).MatchString(out) { // 1 is a verdict
		t.Errorf("exit status %d: %s", status, out)
	}
	t.Log(out)
	calls, _ := os.ReadFile(filepath.Join(root, "fake/calls"))
	if strings.Contains(string(calls), "kern.ipc.nmbclusters=") || !strings.Contains(string(calls), "net.inet.tcp.sendbuf_max=") {
		t.Errorf("sysctl was called so: %s", calls)
	}
	if d := h.differ(before); d != "" {
		t.Error(d)
	}
	os.Remove(filepath.Join(root, "bin/iperf3"))
	if out, status := tune(); status != 3 || !strings.Contains(out, "iperf3 is not installed on ssh://root@wr-a") {
		t.Errorf("exit status %d: %s", status, out)
	}
	if d := h.differ(before); d != "" {
		t.Error(d)
	}
}
