package catalog

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// onlyLinux hides the other systems' files.
type onlyLinux struct{ fs.FS }

func (f onlyLinux) Glob(string) ([]string, error) { return fs.Glob(f.FS, "linux/*.yaml") }

func linuxRecords(t *testing.T) []Record {
	t.Helper()
	records, err := readYAML(onlyLinux{os.DirFS("../../catalog")})
	if err != nil {
		t.Fatal(err)
	}
	return records
}

// TestLinuxRecords runs the catalog's own checks over the Linux files alone.
func TestLinuxRecords(t *testing.T) {
	records := linuxRecords(t)
	for _, problem := range check(records) {
		t.Error(problem)
	}
	t.Logf("linux records: %d", len(records))
}

// TestLinuxNames finds references between the Linux records that lead nowhere.
func TestLinuxNames(t *testing.T) {
	records := linuxRecords(t)
	known := map[string]bool{}
	for _, r := range records {
		known[r.Name] = true
		for _, alias := range r.Aliases {
			known[alias] = true
		}
	}
	modules := []string{"sunrpc", "ip_vs", "sctp", "smc", "rds", "nf_flow_table", "nf_defrag_ipv6", "dccp", "fuse", "fscache", "llc2",
		"rds_rdma", "rds_tcp", "rpcrdma", "vrf", "vsock", "tipc", "rxrpc", "rdma_ucm"}
	for _, r := range records {
		refs := slices.Concat(r.See, r.Needs, r.Conflicts)
		if r.RenamedTo != "" {
			refs = append(refs, r.RenamedTo)
		}
		for _, ref := range refs {
			name, _, _ := strings.Cut(ref, "=")
			if !known[name] && !slices.Contains(modules, name) && !strings.HasPrefix(name, "CONFIG_") {
				t.Errorf("%s refers to %s, which has no record", r.Name, ref)
			}
		}
	}
}

// sysctlFile is a key of a running kernel.
type sysctlFile struct {
	mode  fs.FileMode
	value string
}

func (f sysctlFile) writable() bool { return f.mode&0o222 != 0 }

// freshNetns lists the keys of net.* as a new network namespace has them.
func freshNetns(t *testing.T) map[string]sysctlFile {
	t.Helper()
	const script = `cd /proc/sys && find net -type f | while read -r f; do
		printf '%s|%s|' "$f" "$(stat -c %a "$f")"; tr '\n\t' '  ' <"$f" 2>/dev/null; echo; done`
	out, err := exec.Command("unshare", "-n", "sh", "-c", script).Output()
	if err != nil {
		t.Skipf("no new network namespace can be made here (unshare -n: %v); it needs root", err)
	}
	keys := map[string]sysctlFile{}
	for line := range bytes.Lines(out) {
		parts := strings.SplitN(strings.TrimSpace(string(line)), "|", 3)
		if len(parts) != 3 {
			continue
		}
		mode, err := strconv.ParseUint(parts[1], 8, 32)
		if err != nil {
			t.Fatalf("mode of %s: %v", parts[0], err)
		}
		keys[strings.ReplaceAll(parts[0], "/", ".")] = sysctlFile{fs.FileMode(mode),
			strings.Join(strings.Fields(parts[2]), " ")}
	}
	return keys
}

// hostKeys lists every key of the namespace that the test runs in.
func hostKeys(t *testing.T) map[string]sysctlFile {
	t.Helper()
	keys := map[string]sysctlFile{}
	err := filepath.WalkDir("/proc/sys", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return nil
		}
		name := strings.ReplaceAll(strings.TrimPrefix(path, "/proc/sys/"), "/", ".")
		keys[name] = sysctlFile{mode: info.Mode()}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func runningLinux(t *testing.T) Version {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("this test compares the catalog with a running Linux kernel")
	}
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		t.Skipf("the running kernel does not tell its release: %v", err)
	}
	v, err := ParseVersion(string(release))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// instance finds a key that a record's name stands for.
func instance(name string, keys map[string]sysctlFile) (string, bool) {
	if _, ok := keys[name]; ok {
		return name, true
	}
	for _, component := range []string{"default", "lo", "2"} {
		concrete := strings.ReplaceAll(name, "*", component)
		if _, ok := keys[concrete]; ok {
			return concrete, true
		}
	}
	return "", false
}

// TestLinuxLiveKeys compares existence and writability with the running kernel.
// What the catalog lists and the kernel lacks is only printed: it depends on the
// kernel's configuration and modules.
func TestLinuxLiveKeys(t *testing.T) {
	version := runningLinux(t)
	keys := hostKeys(t)
	// The kernel takes the write permission away where the hardware has no counter, and shows it to CAP_CHECKPOINT_RESTORE only.
	hidden := []string{"kernel.nmi_watchdog", "kernel.sem_next_id", "kernel.msg_next_id", "kernel.shm_next_id"}
	var missing []string
	for _, r := range linuxRecords(t) {
		if !isSysctl(r.Name) {
			continue
		}
		name, exists := instance(r.Name, keys)
		state := r.StateIn(version)
		switch {
		case exists && (state == NotYet || state == Gone):
			t.Errorf("%s exists in Linux %s, the catalog says %s", name, version, state)
		case !exists && (state == Present || state == Inactive):
			missing = append(missing, r.Name)
		case exists && r.Kind == ReadOnly && keys[name].writable():
			t.Errorf("%s is writable, the catalog says read-only", name)
		case exists && r.Kind != ReadOnly && r.Kind != Unknown && !keys[name].writable() && !slices.Contains(hidden, name):
			t.Errorf("%s is read-only, the catalog says %s", name, r.Kind)
		}
	}
	t.Logf("%d keys of the catalog are not in this kernel (configuration, modules): %s", len(missing),
		strings.Join(missing, " "))
}

// TestLinuxLiveNamespace compares scopes and defaults with a new network
// namespace of the running kernel.
func TestLinuxLiveNamespace(t *testing.T) {
	version := runningLinux(t)
	fresh := freshNetns(t)
	// These start with the initial namespace's values, which its owner may have set.
	inherited := []string{"net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem", "net.ipv4.tcp_congestion_control",
		"net.netfilter.nf_log."}
	// Updates of stable branches changed these without a new release number.
	stable := []string{"net.ipv6.icmp.ratelimit"}
	// One switch for the whole host that every namespace shows.
	shared := []string{"net.netfilter.nf_hooks_lwtunnel"}
	for _, r := range linuxRecords(t) {
		if !strings.HasPrefix(r.Name, "net.") || r.StateIn(version) == NotYet || r.StateIn(version) == Gone {
			continue
		}
		name, exists := instance(r.Name, fresh)
		perNamespace := r.Scope == ScopeNetns || r.Scope == ScopeInterface
		if exists && fresh[name].writable() && !perNamespace && !slices.Contains(shared, name) {
			t.Errorf("%s is writable in a new namespace, the catalog says scope %s", name, r.Scope)
		}
		if !exists || !perNamespace {
			continue
		}
		if r.Kind != ReadOnly && !fresh[name].writable() {
			t.Errorf("%s is read-only in a new namespace, the catalog says scope %s", name, r.Scope)
		}
		standard, ok := r.DefaultIn(version)
		skip := slices.ContainsFunc(append(inherited, stable...), func(p string) bool { return strings.HasPrefix(name, p) })
		copied := strings.HasPrefix(name, "net.ipv4.conf.") || strings.Contains(name, ".neigh.")
		if !ok || skip || copied || standard.Value == "unknown" || standard.Value == "computed" {
			continue
		}
		if got := fresh[name].value; got != strings.Trim(standard.Value, `"`) {
			t.Errorf("%s is %q in a new namespace, the catalog's default is %q", name, got, standard.Value)
		}
	}
}

// TestLinuxLiveLacks wants records of nine in ten keys of the running kernel's
// network stack: modules and vendors add some that the catalog does not know.
func TestLinuxLiveLacks(t *testing.T) {
	runningLinux(t)
	var patterns [][]string
	for _, r := range linuxRecords(t) {
		for _, name := range append([]string{r.Name}, r.Aliases...) {
			patterns = append(patterns, strings.Split(name, "."))
		}
	}
	var lacks []string
	all := 0
	for name := range hostKeys(t) {
		parts := strings.Split(name, ".")
		if parts[0] != "net" {
			continue
		}
		all++
		if !slices.ContainsFunc(patterns, func(p []string) bool { return sameKey(p, parts) }) {
			lacks = append(lacks, name)
		}
	}
	slices.Sort(lacks)
	t.Logf("%d of %d keys of net.* have no record: %s", len(lacks), all, strings.Join(lacks, " "))
	if 10*len(lacks) > all {
		t.Error("more than a tenth of the keys have no record")
	}
}

func sameKey(pattern, name []string) bool {
	return slices.EqualFunc(pattern, name, func(p, n string) bool { return p == "*" || p == n })
}

func isSysctl(name string) bool {
	return slices.Contains([]string{"net", "kernel", "vm", "fs"}, strings.SplitN(name, ".", 2)[0]) &&
		strings.Contains(name, ".")
}

// TestLinuxCaptures compares the catalog with the recorded output of "sysctl -a"
// on real hosts, found under the folder that WIRERATE_CAPTURES names.
func TestLinuxCaptures(t *testing.T) {
	folder := os.Getenv("WIRERATE_CAPTURES")
	if folder == "" {
		t.Skip("WIRERATE_CAPTURES names no folder of recorded hosts")
	}
	files, err := filepath.Glob(filepath.Join(folder, "out", "linux", "*sysctl*"))
	if err != nil || len(files) == 0 {
		t.Skipf("no recorded sysctl output of Linux below %s (%v)", folder, err)
	}
	records := linuxRecords(t)
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		keys := map[string]sysctlFile{}
		for line := range strings.Lines(string(data)) {
			if name, value, ok := strings.Cut(line, " = "); ok {
				keys[name] = sysctlFile{value: strings.TrimSpace(value)}
			}
		}
		version, err := ParseVersion(keys["kernel.osrelease"].value)
		if oldest, _ := Supported(Linux); err != nil || !version.AtLeast(oldest) {
			t.Logf("%s: Linux %s is older than what the catalog describes", filepath.Base(file), keys["kernel.osrelease"].value)
			continue
		}
		for _, r := range records {
			name, exists := instance(r.Name, keys)
			if state := r.StateIn(version); exists && (state == NotYet || state == Gone) {
				t.Errorf("%s: %s exists in Linux %s, the catalog says %s", filepath.Base(file), name, version, state)
			}
		}
	}
}
