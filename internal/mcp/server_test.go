package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wirerate/wirerate/internal/catalog"
)

// session starts a server and returns a client of it.
func session(t *testing.T, c Config) (*Server, *sdk.ClientSession) {
	t.Helper()
	var err error
	if c.Catalog, err = catalog.Load(); err != nil {
		t.Fatal(err)
	}
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	here, there := sdk.NewInMemoryTransports()
	if _, err := s.server().Connect(context.Background(), there, nil); err != nil {
		t.Fatal(err)
	}
	client, err := sdk.NewClient(&sdk.Implementation{Name: "test"}, nil).Connect(context.Background(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return s, client
}

// call calls a tool and returns its text; ok is false for an error of either kind.
func call(client *sdk.ClientSession, tool string, arguments any) (text string, ok bool) {
	result, err := client.CallTool(context.Background(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		return err.Error(), false
	}
	for _, c := range result.Content {
		if t, is := c.(*sdk.TextContent); is {
			text += t.Text + "\n"
		}
	}
	return text, !result.IsError
}

// lines counts the calls that are logged.
type lines struct{ strings.Builder }

func TestTools(t *testing.T) {
	var log lines
	var ran [][]string
	run := func(_ context.Context, args []string) (string, string, int) {
		ran = append(ran, args)
		if args[0] == "apply" {
			return `{"id":"20260102-150405-a1b2c3"}`, "", 0
		}
		return `{"schema":2}`, "a note", 0
	}
	c := Config{Roots: []string{t.TempDir()}, Hosts: []string{"ns:a"}, Run: run, Log: slog.New(slog.NewJSONHandler(&log, nil))}
	_, reader := session(t, c)
	for _, tool := range []string{"apply", "confirm", "rollback", "trial", "status"} {
		if text, ok := call(reader, tool, map[string]any{}); ok {
			t.Errorf("%s without --allow-apply: %s", tool, text)
		}
	}
	c.Apply = true
	_, client := session(t, c)
	plan := map[string]any{"path": "rate=1gbit,rtt=50ms", "role": "bulk"}
	if text, ok := call(client, "plan", plan); !ok || !strings.Contains(text, "plan-1") || !strings.Contains(text, "a note") {
		t.Fatal(text)
	}
	if text, ok := call(client, "confirm", map[string]any{"id": "20260102-150405-a1b2c3"}); ok {
		t.Errorf("confirmed before it was applied: %s", text)
	}
	if text, ok := call(client, "apply", map[string]any{"plan": "plan-1"}); !ok {
		t.Fatal(text)
	}
	if got := ran[len(ran)-1]; !slices.Contains(got, "--confirm-within=1m0s") {
		t.Errorf("apply: %q", got)
	}
	if text, ok := call(client, "confirm", map[string]any{"id": "20260102-150405-a1b2c3"}); !ok {
		t.Fatal(text)
	}
	if text, ok := call(client, "lint", map[string]any{"name": "/etc/sysctl.conf", "os": "linux", "release": "6.12", "text": "net.ipv4.tcp_tw_recycle=1\n"}); !ok || !strings.Contains(text, `"removed"`) {
		t.Errorf("lint: %s", text)
	}
	read, err := client.ReadResource(context.Background(), &sdk.ReadResourceParams{URI: "wirerate://settings/linux/net.ipv4.tcp_rmem"})
	if err != nil || !strings.Contains(read.Contents[0].Text, "Sources") {
		t.Errorf("%+v %v", read, err)
	}
	if strings.Count(log.String(), `"call"`) != 5+5 || strings.Count(log.String(), `"answer"`) != 5+5 {
		t.Errorf("the log:\n%s", log.String())
	}
}

// hostile are arguments of somebody who wants out.
var hostile = []string{
	"", "-", "--", "-o", "--output=/etc/x", "--confirm-within=0s", "--help", "-h", "--state-dir=/tmp/x", "--ssh-config=/tmp/x", "--history=/tmp/x",
	"../secret", "../../../../etc/passwd", "/etc/passwd", "link/secret", "loop", "file:///etc/passwd", "a\x00b", "a\nb", "$(id)", "`id`", "; id", "| id",
	"local", "ssh://root@x", "ssh://-oProxyCommand=id", "ns:../x", "ns:a", "capture", "plan-1", "plan-0", "plan-1/../../x", "../plan-1", "last",
	"file:/etc/passwd", "plan:/etc/passwd", "set:vm.swappiness=0", "set:net.core.rmem_max=1;id", "trace=/etc/passwd", "rate=1gbit,rtt=50ms",
	"rate=1gbit,trace=/etc/passwd", "bulk", "default", "linux", "0s", "10s", "-10s", "1000h", "60s", "99999999999999999999", "NaN", "@/etc/passwd",
	"20260102-150405-a1b2c3", "20260102-150405-ffffff", strings.Repeat("a", 100_000), "\u202e", "日本", "inside.conf", "./inside.conf", "sub/../inside.conf",
}

// TestHostile makes 1,000 calls with such arguments. Whatever is run has no flag
// that an argument brought, no file outside of the folders, no other host, and
// no change without its timer.
func TestHostile(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	for path, text := range map[string]string{filepath.Join(root, "inside.conf"): "x", filepath.Join(outside, "secret"): "x"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(root, "capture"), 0o755); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"link": outside, "loop": "loop", "capture/etc": outside} {
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	var s *Server
	ran, applied := 0, map[string]bool{}
	run := func(_ context.Context, args []string) (string, string, int) {
		ran++
		if err := harmless(args, s.roots[0], s.dir, applied); err != nil {
			t.Errorf("%.300q: %v", args, err)
		}
		if args[0] == "apply" {
			id := fmt.Sprintf("20260102-150405-%06x", ran)
			applied[id] = true
			return `{"id":"` + id + `"}`, "", 0
		}
		return "{}", "", 0
	}
	var log lines
	s, client := session(t, Config{Roots: []string{root}, Hosts: []string{"ns:a"}, Apply: true, Run: run, Log: slog.New(slog.NewJSONHandler(&log, nil))})
	tools, err := client.ListTools(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	const calls = 1000
	for range calls {
		tool := tools.Tools[rng.IntN(len(tools.Tools))]
		call(client, tool.Name, invented(t, rng, tool, applied))
	}
	if ran < calls/20 {
		t.Errorf("only %d calls ran anything: the test proves little", ran)
	}
	if n := strings.Count(log.String(), `"msg":"call"`); n != calls {
		t.Errorf("%d of %d calls are logged", n, calls)
	}
	entries, err := os.ReadDir(root)
	if err != nil || len(entries) != 4 {
		t.Errorf("the folder that may be read has %v now: %v", entries, err)
	}
}

// invented makes arguments for a tool by its schema, now and then of a wrong type.
func invented(t *testing.T, rng *rand.Rand, tool *sdk.Tool, applied map[string]bool) map[string]any {
	data, err := json.Marshal(tool.InputSchema)
	if err != nil {
		t.Fatal(err)
	}
	var schema struct{ Properties map[string]json.RawMessage }
	if err := json.Unmarshal(data, &schema); err != nil {
		t.Fatal(err)
	}
	words := slices.Clone(hostile)
	for id := range applied {
		words = append(words, id)
	}
	one := func() string { return words[rng.IntN(len(words))] }
	out := map[string]any{}
	names := make([]string, 0, len(schema.Properties))
	for name := range schema.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		property := string(schema.Properties[name])
		switch wrong := rng.IntN(20) == 0; {
		case wrong:
			out[name] = []any{map[string]any{"x": one()}}
		case rng.IntN(3) == 0: // left out
		case strings.Contains(property, "array"):
			out[name] = []string{one(), one()}
		case strings.Contains(property, "integer"):
			out[name] = rng.Int64() - rng.Int64()
		case strings.Contains(property, "boolean"):
			out[name] = true
		case rng.IntN(2) == 0: // what goes through, so that the rest is looked at
			out[name] = map[string]string{"path": "rate=1gbit,rtt=50ms", "role": "bulk", "plan": "plan-1", "host": "ns:a", "link": "rate=1gbit",
				"formula": "bdp", "from": "inside.conf", "name": "net.core.somaxconn"}[name]
		default:
			out[name] = one()
		}
	}
	return out
}

// harmless checks a command line that the server runs.
func harmless(args []string, root, own string, applied map[string]bool) error {
	allowed := map[string][]string{
		"inspect": {"--json", "--path=", "--role=", "--from=", "--for="}, "explain": {"--json", "--os=", "--version="},
		"lint": {"--json", "--config=none", "--fail-on=never", "--quiet", "--os=", "--version=", "--role="}, "calc": {"--json"}, "report": {"--json"},
		"plan":   {"--json", "--path=", "--role=", "--os=", "--version=", "--memory=", "--nic=", "--cores=", "--connections=", "--harden"},
		"weblog": {"--json", "--against"}, "apply": {"--json", "--confirm-within="}, "confirm": {"--json"}, "rollback": {"--json"}, "status": {"--json"},
		"trial": {"--json", "--arm=", "--lab=", "--workload=", "--for="},
	}[args[0]]
	within := ""
	for i, a := range args[1:] {
		if a == "--" {
			return positional(args[0], args[i+2:], root, own, applied)
		}
		if strings.HasPrefix(a, "-") && !slices.ContainsFunc(allowed, func(f string) bool { return a == f || strings.HasSuffix(f, "=") && strings.HasPrefix(a, f) }) {
			return fmt.Errorf("flag %.80q", a)
		}
		name, value, _ := strings.Cut(a, "=")
		if name == "--confirm-within" {
			within = value
		}
		file := name == "--from" || args[0] == "weblog" && !strings.HasPrefix(a, "-")
		if file && strings.HasSuffix(a, "/capture") {
			return fmt.Errorf("a folder with a link out of it: %q", a)
		}
		if file && !strings.HasPrefix(strings.TrimPrefix(a, "--from="), root+"/") && strings.TrimPrefix(a, "--from=") != root {
			return fmt.Errorf("file %.80q", a)
		}
		if !file && strings.Contains(value, "/") {
			return fmt.Errorf("a path in %.80q", a)
		}
		if args[0] == "apply" {
			if d, err := time.ParseDuration(within); name == "--confirm-within" && (err != nil || d < shortest || d > longest) {
				return fmt.Errorf("timer %q", within)
			}
		}
	}
	return nil
}

// positional checks what follows the flags.
func positional(verb string, args []string, root, own string, applied map[string]bool) error {
	switch verb {
	case "apply":
		if len(args) != 2 || filepath.Dir(args[0]) != own || args[1] != "ns:a" {
			return fmt.Errorf("apply of %q", args)
		}
	case "confirm", "rollback":
		if len(args) != 2 || !applied[args[0]] || args[1] != "ns:a" {
			return fmt.Errorf("%s of %q", verb, args)
		}
	case "inspect", "plan", "status":
		if len(args) > 1 || len(args) == 1 && args[0] != "ns:a" {
			return fmt.Errorf("hosts %q", args)
		}
	case "lint":
		for _, a := range args {
			if a == root || strings.HasSuffix(a, "/capture") || a != root && !strings.HasPrefix(a, root+"/") {
				return fmt.Errorf("file %q", a)
			}
		}
	}
	return nil
}

// What never ends is not read: a call would wait for its writer.
func TestNoFIFO(t *testing.T) {
	root := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(root, "fifo"), 0o600); err != nil {
		t.Skip(err)
	}
	s := &Server{roots: []string{root}}
	if file, err := s.inRoots("fifo"); err == nil {
		t.Errorf("%s may be read", file)
	}
}
