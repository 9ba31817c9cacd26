package mcp

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// victim is a host of its own, a network namespace, with the program that serves
// an agent on it.
type victim struct {
	name, program, root, outside, home, tmp, log string
}

func newVictim(t *testing.T) *victim {
	t.Helper()
	name := fmt.Sprintf("wr-hostile-%d", os.Getpid())
	if out, err := exec.Command("ip", "netns", "add", name).CombinedOutput(); err != nil {
		t.Skipf("namespaces with names need root: %v: %s", err, out)
	}
	journals := "/var/lib/wirerate/ns/" + name
	t.Cleanup(func() {
		exec.Command("ip", "netns", "del", name).Run()
		os.RemoveAll(journals)
	})
	v := &victim{name, filepath.Join(t.TempDir(), "wirerate"), t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "log")}
	if out, err := exec.Command("go", "build", "-o", v.program, "../../cmd/wirerate").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for path, text := range map[string]string{v.root + "/inside.conf": "net.ipv4.tcp_rmem = 1\n", v.outside + "/secret": "secret\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(v.outside, filepath.Join(v.root, "link")); err != nil {
		t.Fatal(err)
	}
	return v
}

// connect starts the server in a folder that is nobody's.
func (v *victim) connect(t *testing.T) *sdk.ClientSession {
	t.Helper()
	server := exec.Command(v.program, "mcp", "--host", "ns:"+v.name, "--allow-apply", "--runtime-only", "--root", v.root, "--log", v.log)
	server.Dir, server.Env = v.outside, append(os.Environ(), "HOME="+v.home, "TMPDIR="+v.tmp)
	client, err := sdk.NewClient(&sdk.Implementation{Name: "test"}, nil).Connect(t.Context(), &sdk.CommandTransport{Command: server}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// settings are the host's, by their names.
func (v *victim) settings(t *testing.T) map[string]string {
	t.Helper()
	out, err := exec.Command("ip", "netns", "exec", v.name, "sysctl", "-a", "-r", `^net\.`).Output()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " =")
		if !strings.Contains(name, "congestion_control") && !strings.Contains(name, "nf_") { // modules of the whole machine
			all[name] = value
		}
	}
	return all
}

// changed are the names whose value is not as before.
func (v *victim) changed(t *testing.T, before map[string]string) (names []string) {
	for name, value := range v.settings(t) {
		if before[name] != value {
			names = append(names, name)
		}
	}
	return names
}

// journals are the texts of the host's journals.
func (v *victim) journals() string {
	found, _ := filepath.Glob("/var/lib/wirerate/ns/" + v.name + "/*/journal.json")
	var text strings.Builder
	for _, name := range found {
		data, _ := os.ReadFile(name)
		text.Write(data)
	}
	return text.String()
}

// disk tells what the files of folders are, by size and time.
func disk(folders ...string) map[string]string {
	files := map[string]string{}
	for _, folder := range folders {
		_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil // it went meanwhile
			}
			if info, err := d.Info(); err == nil && !d.IsDir() {
				files[path] = fmt.Sprint(info.Size(), info.ModTime(), info.Mode())
			}
			return nil
		})
	}
	return files
}

// TestHostileLive makes such calls to a real server that may change a real host.
// Whatever differs on the host is in a journal there, nothing lies in or is gone
// from folders that are not the server's, each call is logged, and the host is as
// it was once what was confirmed is taken back and the timers are over.
// WIRERATE_HOSTILE_CALLS says how many calls; trial, which makes labs of its own
// and changes no host, is called by TestHostile alone.
func TestHostileLive(t *testing.T) {
	t.Parallel()
	calls := 40
	if n, err := strconv.Atoi(os.Getenv("WIRERATE_HOSTILE_CALLS")); err == nil {
		calls = n
	}
	v := newVictim(t)
	before, files := v.settings(t), disk(v.root, v.outside, v.home, "/etc")
	client := v.connect(t)
	listed, err := client.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	tools := slices.DeleteFunc(listed.Tools, func(tool *sdk.Tool) bool { return tool.Name == "trial" })
	changing := slices.DeleteFunc(slices.Clone(tools), func(tool *sdk.Tool) bool { return tool.Annotations.ReadOnlyHint })
	if text, ok := call(client, "plan", map[string]any{"path": "rate=10gbit,rtt=100ms", "role": "bulk"}); !ok {
		t.Fatal(text)
	}
	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(seed, 2))
	applied, touched := map[string]bool{}, 0
	var confirmed []string
	latest := ""
	for i := range calls {
		of := tools
		if i%2 == 0 {
			of = changing
		}
		tool := of[rng.IntN(len(of))]
		arguments := invented(t, rng, tool, applied)
		delete(arguments, "for") // a minute for each
		if tool.Name == "apply" && rng.IntN(2) == 0 {
			arguments = map[string]any{"plan": "plan-1", "confirm_within": "10s"}
		}
		if tool.Name == "confirm" && latest != "" && rng.IntN(2) == 0 {
			arguments = map[string]any{"id": latest}
		}
		text, ok := call(client, tool.Name, arguments)
		var answer struct{ ID string }
		if ok && tool.Name == "apply" && json.NewDecoder(strings.NewReader(text)).Decode(&answer) == nil {
			applied[answer.ID], latest = true, answer.ID
		}
		if ok && tool.Name == "confirm" {
			confirmed = append(confirmed, fmt.Sprint(arguments["id"]))
		}
		names, journals := v.changed(t, before), v.journals()
		for _, name := range names {
			if !strings.Contains(journals, `"`+name+`"`) {
				t.Errorf("seed %d, call %d, %s %v: %s is written without a journal", seed, i, tool.Name, arguments, name)
			}
		}
		touched += min(len(names), 1)
	}
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	log, err := os.ReadFile(v.log)
	if n := strings.Count(string(log), `"msg":"call"`); err != nil || n != calls+1 {
		t.Errorf("%d of %d calls are logged: %v", n, calls+1, err)
	}
	if after := disk(v.root, v.outside, v.home, "/etc"); fmt.Sprint(after) != fmt.Sprint(files) {
		t.Errorf("seed %d: files differ: %v", seed, differing(files, after))
	}
	if left := disk(v.tmp); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	for _, id := range confirmed {
		exec.Command(v.program, "rollback", id, "ns:"+v.name).Run() // it may be back already
	}
	for end := time.Now().Add(longest + time.Minute); len(v.changed(t, before)) > 0 && time.Now().Before(end); {
		time.Sleep(time.Second)
	}
	if names := v.changed(t, before); len(names) > 0 {
		t.Errorf("seed %d: the host is not as it was: %q", seed, names)
	}
	if len(applied) == 0 || touched == 0 {
		t.Errorf("seed %d: nothing was ever applied: the test proves nothing", seed)
	}
	t.Logf("%d calls: %d changes applied, %d confirmed, the host changed after %d calls", calls, len(applied), len(confirmed), touched)
}

func differing(before, after map[string]string) (names []string) {
	for name, is := range after {
		if before[name] != is {
			names = append(names, name)
		}
	}
	for name := range before {
		if after[name] == "" {
			names = append(names, name)
		}
	}
	return names
}
