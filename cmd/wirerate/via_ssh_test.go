package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// routed makes three namespaces in a row, of which the middle one forwards.
func routed(t *testing.T) (client, router, server string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("network namespaces with names need root")
	}
	n := namespaceCount.Add(1)
	name := func(what string) string { return fmt.Sprintf("wr-test-%s-%d-%d", what, os.Getpid(), n) }
	client, router, server = name("c"), name("r"), name("s")
	t.Cleanup(func() { removeNamespaces(client, router, server) })
	for _, line := range []string{
		"netns add " + client, "netns add " + router, "netns add " + server,
		"-n " + client + " link add v0 type veth peer name v0 netns " + router, "-n " + server + " link add v0 type veth peer name v1 netns " + router,
		"-n " + client + " addr add 10.79.1.1/24 dev v0", "-n " + router + " addr add 10.79.1.2/24 dev v0",
		"-n " + router + " addr add 10.79.2.2/24 dev v1", "-n " + server + " addr add 10.79.2.1/24 dev v0",
		"-n " + client + " link set v0 up", "-n " + router + " link set v0 up", "-n " + router + " link set v1 up", "-n " + server + " link set v0 up",
		"-n " + client + " route add default via 10.79.1.2", "-n " + server + " route add default via 10.79.2.2",
		"netns exec " + router + " sysctl -qw net.ipv4.ip_forward=1",
		"netns exec " + router + " sysctl -qw net.ipv4.conf.all.send_redirects=1", // the machine's own may be 0
	} {
		if out, err := exec.Command("ip", strings.Fields(line)...).CombinedOutput(); err != nil {
			t.Skipf("ip %s: %v: %s", line, err, out)
		}
	}
	return client, router, server
}

// TestViaOverSSH runs a whole trial of a router that is reached by OpenSSH: the
// arms set it and no end, and it is as it was afterwards.
func TestViaOverSSH(t *testing.T) {
	t.Parallel()
	client, router, server := routed(t)
	config := sshHosts(t, router, server)
	hosts := []string{client, router, server}
	var before []string
	for _, ns := range hosts {
		before = append(before, sysctls(t, ns))
	}
	cmd := exec.Command("wirerate", "trial", "--arm", "current", "--arm", "set:net.ipv4.conf.all.send_redirects=0", "ns:"+client, "--peer", "ns:"+server,
		"--address", "10.79.2.1", "--via", "ssh://root@wr-a", "--ssh-config", config, "--tool", "builtin", "--run", "1s", "--omit", "0s", "--pairs", "2", "--for", "10m", "--no-history", "--json")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if status := exitStatus(err); status != 0 && status != 1 { // 1 is a verdict
		t.Fatalf("%v: %s", err, stderr.String())
	}
	for _, want := range []string{`"name": "ssh://root@wr-a"`, `"side": "router"`, `"setting": "net.ipv4.conf.all.send_redirects"`, `"router_cpu": `} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the result lacks %s", want)
		}
	}
	for i, ns := range hosts {
		if after := sysctls(t, ns); after != before[i] {
			t.Errorf("%s differs: %s", ns, firstDifference(before[i], after))
		}
	}
	if out, err := exec.Command("wirerate", "status", "ssh://root@wr-a", "--ssh-config", config).CombinedOutput(); strings.Contains(string(out), "pending") {
		t.Errorf("the router has a pending change: %v: %s", err, out)
	}
}
