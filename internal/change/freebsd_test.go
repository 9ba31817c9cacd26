package change

import (
	"bytes"
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/plan"
)

// stack13 are settings of a FreeBSD 13 network stack: value, type and how the
// kernel takes a new one, as fake/sysctl reads it.
var stack13 = map[string][2]string{
	"net.inet.tcp.cc.algorithm":                          {"newreno", "string one-of ESRCH cubic newreno htcp"},
	"net.inet.tcp.cc.available":                          {"cubic, newreno, htcp", "string ro"},
	"net.inet.tcp.functions_default":                     {"freebsd", "string one-of ENOENT freebsd rack bbr"},
	"net.inet.tcp.functions_available":                   {"\nStack                           D Alias                            PCB count\nfreebsd                         * freebsd                          9\nbbr                               bbr                              0\nrack                              rack                             0\n", "string ro"},
	"net.inet.tcp.sendbuf_max":                           {"2097152", "integer rw"},
	"net.inet.tcp.sendbuf_auto":                          {"1", "integer rw"},
	"net.inet.tcp.sendspace":                             {"32768", "integer rw"},
	"net.inet.tcp.recvspace":                             {"65536", "integer rw"},
	"net.inet.tcp.delayed_ack":                           {"1", "integer rw"},
	"kern.ipc.somaxconn":                                 {"128", "integer least 1"},
	"kern.ipc.soacceptqueue":                             {"128", "integer least 1"},
	"kern.ipc.maxsockbuf":                                {"2097152", "unsigned least 2048"},
	"kern.ipc.nmbclusters":                               {"67108864", "integer raise"},
	"kern.ipc.maxsockets":                                {"0", "integer raise"},
	"kern.ipc.numopensockets":                            {"7", "integer ro"},
	"net.inet.tcp.pcbcount":                              {"9", "unsigned ro"},
	"net.inet.tcp.tcbhashsize":                           {"512", "integer tun"},
	"net.inet.tcp.syncache.hashsize":                     {"512", "unsigned tun"},
	"net.inet.tcp.syncache.cachelimit":                   {"15360", "unsigned tun"},
	"net.inet.tcp.syncache.rexmtlimit":                   {"3", "unsigned rw"},
	"net.inet.tcp.hostcache.cachelimit":                  {"15360", "unsigned tun"},
	"net.inet.tcp.mssdflt":                               {"536", "integer least 216"},
	"net.inet.tcp.v6mssdflt":                             {"1220", "integer least 216"},
	"net.inet.tcp.minmss":                                {"216", "integer rw"},
	"net.inet.tcp.msl":                                   {"30000", "integer least 1"},
	"net.inet.tcp.keepidle":                              {"7200000", "integer least 1"},
	"net.inet.tcp.keepinit":                              {"75000", "integer least 1"},
	"net.inet.tcp.keepintvl":                             {"75000", "integer least 1"},
	"net.inet.tcp.rexmit_min":                            {"30", "integer least 1"},
	"net.inet.tcp.rexmit_initial":                        {"1000", "integer least 1"},
	"net.inet.tcp.finwait2_timeout":                      {"60000", "integer least 1"},
	"net.inet.tcp.maxtcptw":                              {"0", "integer fixed"},
	"net.inet.tcp.initcwnd_segments":                     {"10", "integer rw"},
	"net.inet.tcp.abc_l_var":                             {"2", "integer rw"},
	"net.inet.tcp.log_debug":                             {"0", "integer rw"},
	"net.inet.tcp.blackhole":                             {"0", "integer rw"},
	"net.inet.tcp.cc.newreno.beta":                       {"50", "unsigned most 100"},
	"net.inet.tcp.tolerate_missing_ts":                   {"0", "integer rw"},
	"net.inet.tcp.ecn.enable":                            {"2", "integer rw"},
	"net.inet.tcp.ecn.maxretries":                        {"1", "integer rw"},
	"net.inet.tcp.drop":                                  {"", "opaque rw"},
	"net.inet.tcp.stats":                                 {"", "opaque rw"},
	"net.inet.tcp.reass.maxsegments":                     {"4375000", "integer tun"},
	"net.inet.tcp.reass.cursegments":                     {"0", "integer ro"},
	"net.inet.tcp.reass.maxqueuelen":                     {"100", "unsigned rw"},
	"net.inet.tcp.reass.new_limit":                       {"0", "integer rw"},
	"net.inet.tcp.reass.queueguard":                      {"16", "unsigned rw"},
	"net.inet.udp.recvspace":                             {"42080", "integer rw"},
	"net.inet.udp.maxdgram":                              {"9216", "integer rw"},
	"net.inet.ip.portrange.first":                        {"10000", "integer clamp 1024 65535"},
	"net.inet.ip.portrange.reservedhigh":                 {"1023", "integer rw"},
	"net.inet.ip.portrange.randomized":                   {"1", "integer rw"},
	"net.inet.ip.ttl":                                    {"64", "integer rw"},
	"net.inet.ip.intr_queue_maxlen":                      {"256", "integer least 1"},
	"net.inet.ip.maxfragpackets":                         {"51200", "integer least -1"},
	"net.inet.ip.forwarding":                             {"0", "integer rw"},
	"net.inet.icmp.icmplim":                              {"200", "integer rw"},
	"net.isr.dispatch":                                   {"direct", "string one-of EINVAL direct hybrid deferred"},
	"net.isr.maxthreads":                                 {"1", "integer tun"},
	"net.isr.numthreads":                                 {"1", "integer ro"},
	"kern.hz":                                            {"1000", "integer tun"},
	"kern.ipc.maxmbufmem":                                {"549755813888", "long tun"},
	"kern.timecounter.choice":                            {"ff_clock(1) dummy(-1000000)", "string ro"},
	"kern.timecounter.hardware":                          {"ff_clock", "string rw"},
	"kern.boottime":                                      {"{ sec = 0, usec = 0 } Thu Jan  1 00:00:00 1970", "string ro"},
	"kern.module_path":                                   {"/boot/kernel;/boot/modules", "string rw"},
	"vm.uma_kmem_limit":                                  {"9223372036854775807", "long ro"},
	"vfs.zfs.dirty_data_max":                             {"4294967296", "long rw"},
	"dev.cpu.0.temperature":                              {"45.0C", "string ro"},
	"net.inet.tcp.hostcache.list":                        {"\nIP address        MTU SSTRESH      RTT   RTTVAR \n192.168.77.1     1500       0      0ms      0ms\n", "string ro"},
	"net.inet.tcp.hostcache.purge":                       {"0", "integer rw"},
	"net.inet.tcp.nolocaltimewait":                       {"0", "integer rw"},
	"net.inet.tcp.soreceive_stream":                      {"0", "integer tun"},
	"net.inet.tcp.recvbuf_max":                           {"2097152", "integer rw"},
	"net.inet.tcp.recvbuf_auto":                          {"1", "integer rw"},
	"net.inet.tcp.cc.abe":                                {"0", "integer rw"},
	"net.inet.tcp.path_mtu_discovery":                    {"1", "integer rw"},
	"net.inet.tcp.fast_finwait2_recycle":                 {"0", "integer rw"},
	"net.inet.tcp.syncookies":                            {"1", "integer rw"},
	"net.inet.tcp.sack.enable":                           {"1", "integer rw"},
	"net.inet.tcp.rfc1323":                               {"1", "integer rw"},
	"net.inet.tcp.tso":                                   {"1", "integer rw"},
	"net.inet.tcp.always_keepalive":                      {"1", "integer rw"},
	"net.inet.tcp.per_cpu_timers":                        {"0", "integer rw"},
	"net.inet.tcp.isn_reseed_interval":                   {"0", "integer rw"},
	"net.inet.tcp.pmtud_blackhole_mss":                   {"1200", "integer rw"},
	"net.inet.tcp.sendbuf_inc":                           {"8192", "integer rw"},
	"net.inet.tcp.keepcnt":                               {"8", "integer rw"},
	"net.inet.tcp.lro.entries":                           {"8", "unsigned rw"},
	"net.inet.ip.redirect":                               {"1", "integer rw"},
	"net.inet.ip.process_options":                        {"1", "integer rw"},
	"net.inet.icmp.drop_redirect":                        {"0", "integer rw"},
	"net.inet6.ip6.redirect":                             {"1", "integer rw"},
	"net.inet.tcp.drop_synfin":                           {"0", "integer rw"},
	"net.inet.udp.blackhole":                             {"0", "integer rw"},
	"net.link.ifqmaxlen":                                 {"128", "integer tun"},
	"net.isr.bindthreads":                                {"0", "integer tun"},
	"net.isr.defaultqlimit":                              {"256", "unsigned tun"},
	"net.inet.ip.maxfragsperpacket":                      {"16", "integer rw"},
	"net.inet.raw.recvspace":                             {"9216", "unsigned rw"},
	"net.inet.tcp.hostcache.expire":                      {"3600", "integer rw"},
	"net.inet.tcp.syncache.bucketlimit":                  {"30", "unsigned tun"},
	"net.inet.tcp.functions_inherit_listen_socket_stack": {"1", "integer rw"},
}

// stack makes a host that answers as that stack does.
func stack(t *testing.T) *machine {
	t.Helper()
	m := freebsd(t, nil)
	for name, s := range stack13 {
		m.put("fake/sysctl/"+name, s[0]+"\n")
		m.put("fake/oid/"+name, s[1]+"\n")
	}
	// One variable has two names, and one setting others that follow from it.
	one, other := filepath.Join(m.root, "fake/sysctl/kern.ipc.soacceptqueue"), filepath.Join(m.root, "fake/sysctl/kern.ipc.somaxconn")
	os.Remove(other)
	if err := os.Symlink(one, other); err != nil {
		t.Fatal(err)
	}
	m.put("fake/sysctl/net.inet.ip.maxfrags", "2097152\n")
	m.put("fake/after/kern.ipc.nmbclusters", `echo $((new / 32)) >"$FAKE/sysctl/net.inet.ip.maxfrags"; echo 51200 >"$FAKE/sysctl/net.inet.ip.maxfragpackets"`+"\n")
	return m
}

// stackValue is something to write to a setting of the stack, which may refuse
// it, clamp it, cut it to its type or leave it as it was.
func stackValue(rng *rand.Rand, name string) string {
	words := strings.Fields(stack13[name][1])
	values := map[string][]string{
		"string":  {"/boot/kernel;/boot/my modules", "it's \"quoted\" $HOME `id` \\n *", "", "-n"},
		"one-of":  append(words[min(3, len(words)):], "nosuch", ""),
		"default": {"0", "1", "3", "-5", "4096", "0x200000", "01", "70000", "2147483647", "99999999999", "4m", "1.5", ""},
	}
	kind := "default"
	if words[0] == "string" {
		kind = "string"
	}
	if words[1] == "one-of" {
		kind = "one-of"
	}
	return values[kind][rng.IntN(len(values[kind]))]
}

// TestStackCrashes kills changes of that stack's settings at random steps; a
// rollback, killed too, brings every value back whatever the kernel made of the
// new ones.
func TestStackCrashes(t *testing.T) {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(stack13)) {
		if !strings.Contains(stack13[name][1], "raise") && !strings.HasPrefix(stack13[name][1], "opaque") { // TestOnlyRaised
			all = append(all, name)
		}
	}
	path := os.Getenv("PATH")
	bin := fakePrograms(t)
	reached := map[string]int{}
	for seed := range crashPoints(12) {
		rng := rand.New(rand.NewPCG(uint64(seed), 13))
		m := stack(t)
		t.Setenv("PATH", bin+":"+path)
		m.value = stackValue
		for range 2 + rng.IntN(10) {
			if name := all[rng.IntN(len(all))]; !slices.Contains(m.names, name) {
				m.names = append(m.names, name)
			}
		}
		if stage := crash(t, rng, m, seed); stage != "" {
			reached[stage]++
		}
		if t.Failed() {
			t.Fatalf("seed %d: %v", seed, m.names)
		}
	}
	t.Logf("%v", reached)
}

// TestStackAssignments sets values one by one on the stack: what the kernel
// takes, clamps or refuses is told, and a rollback brings everything back.
func TestStackAssignments(t *testing.T) {
	const refused = "refused: "
	for i, c := range []struct{ setting, value, want string }{
		{"net.inet.tcp.cc.algorithm", "htcp", "htcp"},
		{"net.inet.tcp.cc.algorithm", "bbr", refused + "net.inet.tcp.cc.algorithm=bbr: No such process; the kernel does not have it: load its module first"},
		{"net.inet.tcp.cc.algorithm", "", "newreno"},
		{"net.inet.tcp.functions_default", "rack", "rack"},
		{"net.inet.tcp.functions_default", "nosuch", refused + "net.inet.tcp.functions_default=nosuch: No such file or directory; the kernel does not have it: load its module first"},
		{"net.inet.tcp.sendbuf_max", "4194304", "4194304"},
		{"net.inet.tcp.sendbuf_max", "0x200000", "2097152"},
		{"net.inet.tcp.sendbuf_max", "-1", "-1"},
		{"net.inet.tcp.sendbuf_max", "4m", refused + "invalid integer '4m'"},
		{"net.inet.tcp.sendbuf_max", "", refused + "empty numeric value"},
		{"net.inet.tcp.sendbuf_max", "99999999999", "1215752191"},
		{"kern.ipc.somaxconn", "0", refused + "kern.ipc.somaxconn=0: Invalid argument"},
		{"kern.ipc.maxsockbuf", "1", refused + "kern.ipc.maxsockbuf=1: Invalid argument"},
		{"kern.ipc.maxsockbuf", "16777216", "16777216"},
		{"kern.ipc.nmbclusters", "1000", refused + "kern.ipc.nmbclusters=1000: Invalid argument"},
		{"kern.ipc.numopensockets", "5", refused + "oid 'kern.ipc.numopensockets' is read only"},
		{"net.inet.tcp.tcbhashsize", "1024", refused + "oid 'net.inet.tcp.tcbhashsize' is a read only tunable; Tunable values are set in /boot/loader.conf and count from the next boot on"},
		{"net.inet.tcp.maxtcptw", "5", "0"},
		{"net.inet.ip.portrange.first", "100", "1024"},
		{"net.inet.ip.portrange.first", "70000", "65535"},
		{"net.inet.tcp.delayed_ack", "01", "1"},
		{"net.inet.tcp.delayed_ack", "1.5", refused + "invalid integer '1.5'"},
		{"net.inet.tcp.drop", "1", refused + "oid 'net.inet.tcp.drop' is type 5, cannot set that"},
		{"net.inet.tcp.reass", "1", refused + "oid 'net.inet.tcp.reass' isn't a leaf node"},
		{"net.inet.icmp.icmplim", "-1", "-1"},
		{"net.isr.dispatch", "deferred", "deferred"},
		{"net.isr.dispatch", "bogus", refused + "net.isr.dispatch=bogus: Invalid argument"},
		{"vfs.zfs.dirty_data_max", "8589934592", "8589934592"},
		{"kern.module_path", "/boot/kernel;/boot/my modules", "/boot/kernel;/boot/my modules"},
		{"kern.boottime", "1", refused + "oid 'kern.boottime' is read only"},
	} {
		m := stack(t)
		if i%2 == 0 { // what else a program may say
			m.put("fake/noise", "EAL: Detected 2 lcore(s)\nEAL: net.inet.tcp.x: a -> b\n")
		}
		before := m.snapshot()
		ch, err := m.begin(t, c.setting)
		if err != nil {
			t.Fatal(err)
		}
		out, err := ch.Apply(t.Context(), []string{c.setting}, map[string]string{c.setting: c.value})
		if err != nil || len(out) != 1 {
			t.Fatalf("%s=%s: %+v, %v", c.setting, c.value, out, err)
		}
		if got := out[0].Got; out[0].Refused != "" && refused+out[0].Refused != c.want || out[0].Refused == "" && got != c.want {
			t.Errorf("%s=%s: %+v, want %s", c.setting, c.value, out[0], c.want)
		}
		if r, err := ch.Rollback(t.Context()); err != nil || len(r.Foreign) > 0 {
			t.Errorf("%s=%s: %+v, %v", c.setting, c.value, r, err)
		}
		if after := m.snapshot(); after != before {
			t.Errorf("%s=%s: not restored:\n%s", c.setting, c.value, difference(before, after))
		}
	}
}

// TestStackOddValues reads values of every shape and changes others beside them.
func TestStackOddValues(t *testing.T) {
	m := stack(t)
	names := []string{"net.inet.tcp.functions_available", "net.inet.tcp.cc.available", "kern.boottime", "dev.cpu.0.temperature", "vm.uma_kmem_limit",
		"kern.timecounter.choice", "net.inet.tcp.stats", "net.inet.tcp.hostcache.list", "net.inet.icmp.icmplim"}
	values, failed, err := Read(t.Context(), host.NewLocal(), catalog.FreeBSD, append(names, "net.inet.no_such"))
	if err != nil || len(failed) != 1 || failed["net.inet.no_such"] != "unknown oid 'net.inet.no_such'" {
		t.Errorf("%v, %v", failed, err)
	}
	for name, want := range map[string]string{"kern.boottime": "{ sec = 0, usec = 0 } Thu Jan 1 00:00:00 1970", "dev.cpu.0.temperature": "45.0C",
		"vm.uma_kmem_limit": "9223372036854775807", "net.inet.tcp.cc.available": "cubic, newreno, htcp", "net.inet.tcp.stats": "",
		"net.inet.tcp.functions_available": "Stack D Alias PCB count freebsd * freebsd 9 bbr bbr 0 rack rack 0"} {
		if values[name] != want {
			t.Errorf("%s is %q, want %q", name, values[name], want)
		}
	}
	ch, err := m.begin(t, names...)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := ch.Apply(t.Context(), []string{"net.inet.icmp.icmplim"}, map[string]string{"net.inet.icmp.icmplim": "-1"}); err != nil || out[0].Got != "-1" {
		t.Errorf("%+v, %v", out, err)
	}
	if r, err := ch.Rollback(t.Context()); err != nil || len(r.Foreign) > 0 || len(r.Restored) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestFewPrograms counts how often sysctl(8) is run, which can be slow: all
// settings are read by one, and each is written by one that reads it back.
func TestFewPrograms(t *testing.T) {
	m := stack(t)
	var names []string
	values := map[string]string{}
	for name, s := range stack13 {
		if s[1] == "integer rw" {
			names, values[name] = append(names, name), "3"
		}
	}
	calls := func() int {
		data, _ := os.ReadFile(filepath.Join(m.root, "fake/calls"))
		m.put("fake/calls", "")
		return bytes.Count(data, []byte("\n"))
	}
	m.put("fake/calls", "")
	ch, err := m.begin(t, names...)
	if n := calls(); err != nil || n != 1 {
		t.Errorf("begin runs it %d times; %v", n, err)
	}
	out, err := ch.Apply(t.Context(), names, values)
	if n := calls(); err != nil || len(out) != len(names) || n != len(names)+2 {
		t.Errorf("apply of %d settings runs it %d times; %v", len(names), n, err)
	}
	r, err := ch.Rollback(t.Context())
	if n := calls(); err != nil || len(r.Restored) != len(names) || n > len(names)+2 {
		t.Errorf("rollback of %d settings runs it %d times; %+v, %v", len(names), n, r, err)
	}
}

// TestOnlyRaised leaves what the kernel does not lower, says so beforehand and
// afterwards, and lets the next change begin.
func TestOnlyRaised(t *testing.T) {
	const clusters, space = "kern.ipc.nmbclusters", "net.inet.tcp.sendbuf_max"
	m := stack(t)
	ch, err := m.begin(t, clusters, space)
	if err != nil || len(ch.Notes) != 1 || !strings.Contains(ch.Notes[0], "not lowered") {
		t.Fatalf("%v, %v", ch.Notes, err)
	}
	if out, err := ch.Apply(t.Context(), []string{clusters, space}, map[string]string{clusters: "70000000", space: "4194304"}); err != nil || out[0].Got != "70000000" {
		t.Fatalf("%+v, %v", out, err)
	}
	r, err := ch.Rollback(t.Context())
	if err != nil || len(r.Restored) != 2 || len(r.Kept) != 1 || !strings.HasPrefix(r.Kept[0], clusters+" is 70000000") {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := m.begin(t, space); err != nil {
		t.Error(err)
	}
}

// TestTwoNamesOfOneVariable: what is written to one is found in the other, and
// is taken for nobody else's.
func TestTwoNamesOfOneVariable(t *testing.T) {
	names := []string{"kern.ipc.somaxconn", "kern.ipc.soacceptqueue"}
	for _, values := range []map[string]string{{names[0]: "1024", names[1]: "2048"}, {names[0]: "1024", names[1]: "1024"}, {names[0]: "1024", names[1]: "128"}} {
		m := stack(t)
		before := m.snapshot()
		ch, err := m.begin(t, names...)
		if err != nil {
			t.Fatal(err)
		}
		out, err := ch.Apply(t.Context(), names, values)
		if err != nil || len(out) != 2 || out[0].Foreign+out[1].Foreign != "" || out[1].Got != values[names[1]] {
			t.Errorf("%v: %+v, %v", values, out, err)
		}
		if r, err := ch.Rollback(t.Context()); err != nil || len(r.Foreign) > 0 {
			t.Errorf("%v: %+v, %v", values, r, err)
		}
		if after := m.snapshot(); after != before {
			t.Errorf("%v: not restored:\n%s", values, difference(before, after))
		}
	}
}

// TestFreeBSDRewrites: raising the clusters makes the kernel compute the limits
// of fragments anew; what was set there before comes back.
func TestFreeBSDRewrites(t *testing.T) {
	m := stack(t)
	m.put("fake/sysctl/net.inet.ip.maxfragpackets", "100\n")
	ch, err := m.begin(t, "kern.ipc.nmbclusters")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := ch.Apply(t.Context(), []string{"kern.ipc.nmbclusters"}, map[string]string{"kern.ipc.nmbclusters": "70000000"}); err != nil || out[0].Got != "70000000" {
		t.Fatalf("%+v, %v", out, err)
	}
	value := func(name string) string {
		data, _ := os.ReadFile(filepath.Join(m.root, "fake/sysctl", name))
		return strings.TrimSpace(string(data))
	}
	if value("net.inet.ip.maxfrags") != "2187500" {
		t.Fatal("the made-up kernel did not rewrite")
	}
	r, err := ch.Rollback(t.Context())
	if err != nil || len(r.Restored) != 2 || len(r.Kept) != 1 || len(r.Foreign) > 0 || value("net.inet.ip.maxfrags") != "2097152" || value("net.inet.ip.maxfragpackets") != "100" {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestNotRoot refuses with what to do, and takes nothing for a crash.
func TestNotRoot(t *testing.T) {
	m := stack(t)
	m.put("fake/not-root", "")
	ch, err := m.begin(t, "net.inet.ip.ttl")
	if err != nil {
		t.Fatal(err)
	}
	ch.notRoot = true
	out, err := ch.Apply(t.Context(), []string{"net.inet.ip.ttl"}, map[string]string{"net.inet.ip.ttl": "63"})
	if err != nil || out[0].Failure != host.Denied || !strings.Contains(out[0].Refused, "Operation not permitted; it needs root") {
		t.Errorf("%+v, %v", out, err)
	}
	if _, err := ch.Rollback(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestRebootInTheMiddle: the mark of the boot is gone, and the values are the
// boot's own.
func TestRebootInTheMiddle(t *testing.T) {
	const ttl, limit = "net.inet.ip.ttl", "net.inet.icmp.icmplim"
	m := stack(t)
	m.put("fake/sysctl/"+limit, "500\n") // what the administrator set before
	ch, err := m.begin(t, ttl, limit)
	if err != nil {
		t.Fatal(err)
	}
	ch.Apply(t.Context(), []string{ttl, limit}, map[string]string{ttl: "63", limit: "600"})
	os.RemoveAll(filepath.Join(m.root, "var/run"))
	m.put("fake/sysctl/"+ttl, "64\n")
	m.put("fake/sysctl/"+limit, "200\n")
	r, err := ch.Rollback(t.Context())
	if err != nil || len(r.Foreign) > 0 || len(r.Booted) != 1 || !strings.HasPrefix(r.Booted[0], limit+" is 200 since the machine was started again") {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := m.begin(t, ttl); err != nil {
		t.Error(err)
	}
}

// TestNextBootOnZFS: the loader does not write to ZFS, so a variable of the pool
// makes the file count once; where that fails the file is not written.
func TestNextBootOnZFS(t *testing.T) {
	for _, works := range []bool{true, false} {
		m := freebsd(t, map[string]string{"a.b": "1"})
		m.put("boot/loader.conf", "")
		m.put("fake/zfs", "")
		if works {
			m.put("fake/zfsboot", "")
		}
		p := plan.Plan{System: catalog.FreeBSD, Release: "14.2", Changes: []plan.Change{{Setting: "hw.x", To: "2", Kind: catalog.Boot, Belongs: "loader", Does: "Something."}}}
		c, err := Begin(t.Context(), host.NewLocal(), m.system, nil, Options{StateDir: filepath.Join(m.root, "var"), root: m.root, Now: time.Now(), Files: plan.NextBoot(p)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Apply(t.Context(), nil, nil); err != nil {
			t.Fatal(err)
		}
		_, missing := os.Stat(filepath.Join(m.root, "boot/nextboot.conf"))
		said, _ := os.ReadFile(filepath.Join(m.root, "fake/zfsboot"))
		if works && (missing != nil || string(said) != "-z zroot -n freebsd:nvstore -k nextboot_enable -v YES\n") {
			t.Errorf("%v, %q", missing, said)
		}
		if !works && (!errors.Is(missing, os.ErrNotExist) || len(c.Notes) != 1 || !strings.Contains(c.Notes[0], "not tried for one boot: zfsbootcfg: no such pool")) {
			t.Errorf("%v, %q", missing, c.Notes)
		}
		if _, err := c.Rollback(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// TestFakeIsFaithful compares the made-up sysctl(8) with the recorded answers of
// a real one, assignment by assignment.
func TestFakeIsFaithful(t *testing.T) {
	captures := os.Getenv("WIRERATE_CAPTURES")
	data, err := os.ReadFile(filepath.Join(captures, "out/freebsd/stack13/sysctl_set_and_errors.txt"))
	if captures == "" || err != nil {
		t.Skip("WIRERATE_CAPTURES names no folder with recorded answers")
	}
	m := stack(t)
	sysctl, _ := filepath.Abs("testdata/fake/sysctl")
	compared := 0
	for block := range strings.SplitSeq(string(data), "\n$ sysctl ") {
		command, want, ok := strings.Cut(strings.TrimPrefix(block, "$ sysctl "), "\n")
		args := []string{command}
		if words := strings.Fields(command); len(words) > 1 && words[1] != "=" {
			args = words
		}
		if !ok || command == "" || strings.HasPrefix(command, "-") && args[0] != "-i" && args[0] != "-n" && args[0] != "-e" && args[0] != "-q" || command == "net.inet.tcp" || command == "net.inet.tcp.reass" {
			continue
		}
		cmd := exec.Command(sysctl, args...)
		cmd.Env = append(os.Environ(), "FAKE="+filepath.Join(m.root, "fake"))
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		status := "0"
		if cmd.Run() != nil {
			status = "1"
		}
		got := stdout.String()
		for line := range strings.Lines(stderr.String()) {
			got += "[stderr] " + line
		}
		got += "[exit status " + status + "]"
		if strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(want), " ") {
			t.Errorf("sysctl %s: %q, recorded %q", command, got, want)
		}
		compared++
	}
	if compared < 150 {
		t.Errorf("only %d answers were compared", compared)
	}
}

func TestShadows(t *testing.T) {
	files := []plan.File{
		{Path: "/boot/loader.conf", Entries: []plan.Entry{{Key: "net.isr.maxthreads", Value: "-1"}, {Key: "hw.x", Value: "2"}}},
		{Path: "/etc/sysctl.conf", Entries: []plan.Entry{{Key: "net.inet.tcp.sendbuf_max", Value: "4194304"}}},
		{Path: "/boot/nextboot.conf", Now: true},
	}
	got := shadows(catalog.FreeBSD, files, "/boot/loader.conf.d/10-net.conf:net.isr.maxthreads=\"1\"\n/boot/loader.conf.local:hw.x=\"2\"\n"+
		"/etc/sysctl.conf.local:net.inet.tcp.sendbuf_max=262144\n/etc/rc.conf.local:net.isr.maxthreads=\"9\"\n/etc/sysctl.conf.local:# net.isr.maxthreads=3\n")
	want := []string{
		"/boot/loader.conf.d/10-net.conf sets net.isr.maxthreads = 1 and is read after /boot/loader.conf: it wins at the next boot",
		"/etc/sysctl.conf.local sets net.inet.tcp.sendbuf_max = 262144 and is read after /etc/sysctl.conf: it wins at the next boot",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q", got)
	}
	linux := []plan.File{{Path: "/etc/sysctl.d/90-wirerate.conf", Entries: []plan.Entry{{Key: "net.core.rmem_max", Value: "4194304"}}}}
	got = shadows(catalog.Linux, linux, "/etc/sysctl.d/99-x.conf:net/core/rmem_max = 212992\n/etc/sysctl.d/10-x.conf:net.core.rmem_max=1\n")
	if len(got) != 1 || !strings.HasPrefix(got[0], "/etc/sysctl.d/99-x.conf sets net.core.rmem_max = 212992") {
		t.Errorf("%q", got)
	}
}

// TestReadLoaderTunables: after the reboot, verify finds what no sysctl shows.
func TestReadLoaderTunables(t *testing.T) {
	m := stack(t)
	m.put("fake/kenv/hw.ix.max_rss", "16\n")
	values, failed, err := Read(t.Context(), host.NewLocal(), catalog.FreeBSD, []string{"hw.ix.max_rss", "hw.none.x", "net.isr.maxthreads"})
	if err != nil || values["hw.ix.max_rss"] != "16" || values["net.isr.maxthreads"] != "1" || failed["hw.none.x"] != "unknown oid 'hw.none.x'" {
		t.Errorf("%v, %v, %v", values, failed, err)
	}
	if _, err := m.begin(t, "hw.ix.max_rss"); err == nil {
		t.Error("a tunable is taken for a setting of the running system")
	}
}
