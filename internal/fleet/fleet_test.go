package fleet

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/catalog"
)

// inspected is an inspection with a setting and a firmware of its own.
func inspected(name, value, firmware, problem string) string {
	problems := ""
	if problem != "" {
		problems = fmt.Sprintf(`{"problem": %q, "severity": "warning", "subject": "eth0"}`, problem)
	}
	return fmt.Sprintf(`{"schema": 2, "host": "local", "facts": {"node": %q, "os": "linux", "release": "6.12.1",
		"settings": {"net.core.somaxconn": {"value": %q}}, "nics": [{"name": "eth0", "driver": "ice", "driver_version": "1.2", "firmware": %q}]},
		"problems": [%s]}`, name, value, firmware, problems)
}

func parsed(t *testing.T, texts ...string) []Host {
	t.Helper()
	var all []Host
	for _, text := range texts {
		hosts, err := Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, hosts...)
	}
	return all
}

func TestMergeFindsWhoDeviates(t *testing.T) {
	now := parsed(t, inspected("a", "4096", "1.0", "ring"), inspected("b", "4096", "1.0", ""), inspected("c", "128", "2.0", "ring"), inspected("d", "4096", "3.0", ""))
	r := Merge(now, nil)
	if len(r.Deviations) != 1 || r.Deviations[0].Item != (Item{"setting", "net.core.somaxconn"}) || r.Deviations[0].Usual != "4096" ||
		!slices.Equal(r.Deviations[0].Hosts, []HostValue{{"c", "128"}}) {
		t.Errorf("deviations: %+v", r.Deviations)
	}
	if len(r.Mixed) != 1 || r.Mixed[0].Item != (Item{"firmware", "eth0"}) || r.Mixed[0].Values != 3 {
		t.Errorf("mixed: %+v", r.Mixed)
	}
	if len(r.Problems) != 1 || !slices.Equal(r.Problems[0].Hosts, []string{"a", "c"}) {
		t.Errorf("problems: %+v", r.Problems)
	}
	if g := r.Groups[0]; g != (Group{"linux", 4, 1, 2}) {
		t.Errorf("group: %+v", g)
	}
}

// TestMergeWithoutAValue takes what most hosts do not have for the usual.
func TestMergeWithoutAValue(t *testing.T) {
	r := Merge(parsed(t, inspected("a", "1", "", ""), inspected("b", "1", "", ""), inspected("c", "1", "9", "")), nil)
	if len(r.Deviations) != 1 || r.Deviations[0].Usual != "" || r.Deviations[0].Hosts[0].Host != "c" {
		t.Errorf("%+v", r.Deviations)
	}
}

func TestSinceNamesDrift(t *testing.T) {
	before := parsed(t, inspected("a", "1", "1", "ring"), inspected("b", "1", "1", ""), inspected("c", "1", "1", ""))
	now := parsed(t, inspected("a", "2", "1", ""), inspected("b", "1", "", "mtu"), inspected("d", "1", "1", ""))
	d := Since(before, now, nil)
	want := []Changed{{"a", Item{"setting", "net.core.somaxconn"}, "1", "2"}, {"b", Item{"firmware", "eth0"}, "1", ""}}
	if !slices.Equal(d.Changed, want) || !slices.Equal(d.Came, []string{"d"}) || !slices.Equal(d.Gone, []string{"c"}) {
		t.Errorf("%+v", d)
	}
	if len(d.New) != 1 || d.New[0].Problem != "mtu" || len(d.Solved) != 1 || d.Solved[0].Problem != "ring" {
		t.Errorf("%+v", d)
	}
	if same := Since(now, now, nil); same.Any() {
		t.Errorf("%+v", same)
	}
}

func TestReadNamesFaults(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.json": inspected("a", "1", "1", ""), "twice.json": inspected("a", "2", "1", ""),
		"broken.json": "{", "other.json": `{"plan": 1}`, "nameless.json": inspected("", "1", "1", ""),
		"several.json": `{"schema": 2, "hosts": [` + inspected("b", "1", "1", "") + "," + inspected("c", "1", "1", "") + "]}"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files, err := Files([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	hosts, faults := Read(files, func(name string) string { return strings.TrimLeft(name, "a") })
	var got []string
	for _, h := range hosts {
		got = append(got, h.Name+"/"+h.Group)
	}
	if !slices.Equal(got, []string{"a/no group", "b/b", "c/c"}) || len(faults) != 4 {
		t.Errorf("%v, %+v", got, faults)
	}
	if _, err := Files([]string{t.TempDir()}); err == nil {
		t.Error("an empty folder is taken")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(inspected("a", "1", "1", "ring")))
	f.Add([]byte(`{"hosts": [{"host": "x"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		hosts, err := Parse(data)
		if err != nil {
			return
		}
		for _, h := range hosts {
			if h.Name == "" {
				t.Error("a host without a name")
			}
		}
		Merge(hosts, nil)
	})
}

// BenchmarkThousandHosts merges inspections of 600 settings each.
func BenchmarkThousandHosts(b *testing.B) {
	dir := b.TempDir()
	for i := range 1000 {
		var settings strings.Builder
		for k := range 600 {
			fmt.Fprintf(&settings, `"net.x%d": {"value": "%d", "source": {"from": "sysctl -a", "line": %d, "text": "net.x%d = %d"}, "state": "running"},`, k, k+i/990, k, k, k)
		}
		text := strings.Replace(inspected(fmt.Sprint("h", i), "1", "1", ""), `"settings": {`, `"settings": {`+settings.String(), 1)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.json", i)), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		files, err := Files([]string{dir})
		if err != nil {
			b.Fatal(err)
		}
		hosts, faults := Read(files, nil)
		if r := Merge(hosts, faults); r.Hosts != 1000 || len(r.Deviations) != 600 {
			b.Fatal(r.Hosts, len(r.Deviations))
		}
	}
}

// TestCountsAreNoSettings: what a kernel counts differs on all hosts.
func TestCountsAreNoSettings(t *testing.T) {
	known, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	host := func(os string, names ...string) Host {
		h := Host{OS: os, Items: map[Item]string{{"release", ""}: "1"}}
		for _, n := range names {
			h.Items[Item{"setting", n}] = "1"
		}
		return h
	}
	hosts := []Host{host("linux", "net.core.somaxconn", "kernel.pty.nr", "fs.file-nr", "kernel.ns_last_pid", "vendor.own"),
		host("freebsd", "net.inet.tcp.mssdflt", "dev.igb.0.mac_stats.good_pkts_recvd")}
	dropCounts(hosts, known)
	for i, want := range []int{3, 2} { // with the release
		if len(hosts[i].Items) != want {
			t.Errorf("%s: %v", hosts[i].OS, hosts[i].Items)
		}
	}
}
