package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPagesCommands runs every command of the pages for users, but for those
// that want a host over ssh; the pages' files are made here.
func TestPagesCommands(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../../docs/howto/*.md")
	if err != nil || len(pages) < 6 {
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	for _, page := range append(pages, "../../docs/ci.md") {
		t.Run(filepath.Base(page), func(t *testing.T) {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			folder := t.TempDir()
			usersFiles(t, folder)
			n := 0
			for line := range strings.Lines(string(text)) {
				command, ok := strings.CutPrefix(strings.TrimSpace(line), "wirerate ")
				if !ok || !strings.HasPrefix(line, "    ") {
					continue
				}
				n++
				if strings.Contains(command, "ssh://") || strings.HasPrefix(command, "lab ") && !labPossible() {
					continue
				}
				// 0 and 1 are answers: a file with problems, logs that differ.
				if out, err := typed(command, folder); exitStatus(err) > 1 {
					t.Errorf("wirerate %s: %v\n%s", command, err, out)
				}
			}
			if n < 5 {
				t.Errorf("only %d commands are found", n)
			}
		})
	}
}

// usersFiles writes the files that the pages speak of.
func usersFiles(t *testing.T, folder string) {
	t.Helper()
	logOf := func(slow float64) string {
		var b strings.Builder
		for i := range 400 {
			fmt.Fprintf(&b, "192.0.2.%d - - [10/Oct/2025:13:%02d:%02d +0000] \"GET /page/%d HTTP/1.1\" 200 512 \"-\" \"-\" %.3f\n",
				i%200+1, i/60, i%60, i%7, 0.02+slow*float64(i%10)/100)
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"sysctl.conf": "net.inet.tcp.recvspace=65536\nkern.ipc.somaxconn=1024\n",
		"pf.conf":     "set limit states 10000\nblock in\npass out\n",
		"before.log":  logOf(2),
		"after.log":   logOf(1),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
