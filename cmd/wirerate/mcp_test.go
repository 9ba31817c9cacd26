package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestMCP has an agent change a host of its own: what it applies is under the
// journal, what it does not confirm is taken back by the host, and nothing else
// is confirmed.
func TestMCP(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 || !labPossible() {
		t.Skip("network namespaces with names need root and a machine that has them")
	}
	name := fmt.Sprintf("ns-mcp-%d-%d", os.Getpid(), namespaceCount.Add(1))
	if out, err := exec.Command("ip", "netns", "add", name).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Cleanup(func() { removeNamespaces(name) })
	log := filepath.Join(t.TempDir(), "log")
	server := exec.Command("wirerate", "mcp", "--host", "ns:"+name, "--allow-apply", "--runtime-only", "--root", t.TempDir(), "--log", log)
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: server}, nil)
	if err != nil {
		t.Fatal(err)
	}
	call := func(tool string, arguments map[string]any) (text string, failed bool) {
		t.Helper()
		result, err := client.CallTool(context.Background(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
		if err != nil {
			t.Fatalf("%s: %v", tool, err)
		}
		for _, c := range result.Content {
			text += c.(*mcp.TextContent).Text
		}
		return text, result.IsError
	}
	value := func() string {
		out, err := exec.Command("ip", "netns", "exec", name, "sysctl", "-n", "net.ipv4.tcp_wmem").Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	before := value()
	if text, failed := call("plan", map[string]any{"path": "rate=10gbit,rtt=100ms", "role": "bulk"}); failed {
		t.Fatal(text)
	}
	applied, failed := call("apply", map[string]any{"plan": "plan-1", "confirm_within": "10s"})
	if failed || value() == before {
		t.Fatalf("not applied: %s", applied)
	}
	if text, failed := call("confirm", map[string]any{"id": "20260102-150405-a1b2c3"}); !failed {
		t.Errorf("somebody else's change is confirmed: %s", text)
	}
	for end := time.Now().Add(2 * time.Minute); value() != before && time.Now().Before(end); {
		time.Sleep(100 * time.Millisecond)
	}
	if value() != before {
		t.Fatal("the host did not take the change back")
	}
	confirmed := change(t, call, "confirm")
	if value() == before {
		t.Errorf("%s is confirmed and not in place", confirmed)
	}
	if text, failed := call("rollback", map[string]any{"id": confirmed}); failed || value() != before {
		t.Errorf("not taken back: %s", text)
	}
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	lines, err := os.ReadFile(log)
	if calls := strings.Count(string(lines), `"msg":"call"`); err != nil || calls != 6 {
		t.Errorf("%d calls are logged: %v\n%s", calls, err, lines)
	}
}

// change applies the first plan and ends the change, and returns its ID.
func change(t *testing.T, call func(string, map[string]any) (string, bool), verb string) string {
	t.Helper()
	text, failed := call("apply", map[string]any{"plan": "plan-1", "confirm_within": "10m"})
	var applied struct{ ID string }
	if err := json.NewDecoder(strings.NewReader(text)).Decode(&applied); failed || err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if text, failed := call(verb, map[string]any{"id": applied.ID}); failed {
		t.Fatal(text)
	}
	return applied.ID
}
