package change

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/host"
)

// TestUnwritable: what root could not write is told before anything is written,
// by opening the files alone.
func TestUnwritable(t *testing.T) {
	here := host.NewLocal()
	if out, _ := exec.Command("id", "-u").Output(); strings.TrimSpace(string(out)) != "0" {
		found, err := unwritable(t.Context(), here, catalog.Linux, map[string]string{"net.ipv4.tcp_rmem": "1 2 3"}, "")
		if err != nil || len(found) > 0 {
			t.Fatalf("an ordinary user is told %v, %v", found, err)
		}
		return
	}
	root := t.TempDir()
	put := func(name, text string) {
		file := filepath.Join(root, "proc/sys", strings.ReplaceAll(name, ".", "/"))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("net.ipv4.tcp_sack", "1\n")
	put(congestionControl, "cubic\n")
	// A folder cannot be opened for writing, as a file of mode 0444 below
	// /proc/sys cannot, also by root; the same for the list of what is allowed.
	for _, name := range []string{"net/core/rmem_max", "net/ipv4/tcp_allowed_congestion_control"} {
		if err := os.MkdirAll(filepath.Join(root, "proc/sys", name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	found, err := unwritable(t.Context(), here, catalog.Linux, map[string]string{"net.ipv4.tcp_sack": "0", "net.core.rmem_max": "1",
		"net.core.nowhere": "1", congestionControl: "bbr"}, root)
	if err != nil {
		t.Fatal(err)
	}
	why := maps.Clone(found)
	delete(why, congestionControl)
	if len(why) != 2 || why["net.core.nowhere"] != notHere || !strings.Contains(why["net.core.rmem_max"], "read-only") {
		t.Errorf("found %v", found)
	}
	if !strings.Contains(found[congestionControl], "lets this namespace use only") {
		t.Errorf("bbr is not among what is allowed: %v", found)
	}
	if text, _ := os.ReadFile(filepath.Join(root, "proc/sys/net/ipv4/tcp_sack")); string(text) != "1\n" {
		t.Errorf("it was written: %q", text)
	}
}
