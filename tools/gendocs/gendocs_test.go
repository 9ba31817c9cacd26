package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"testing"

	"github.com/wirerate/wirerate/internal/catalog"
)

const docs = "../../docs"

// TestDocsAreCurrent compares docs/ with what the program knows now.
func TestDocsAreCurrent(t *testing.T) {
	pages, err := docPages("../..")
	if err != nil {
		t.Fatal(err)
	}
	generated := map[string]bool{}
	for _, p := range pages {
		generated[p.path] = true
		text, err := os.ReadFile(filepath.Join(docs, p.path))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if !bytes.Equal(text, p.text) {
			t.Errorf("docs/%s is not what the program says; run make generate", p.path)
		}
	}
	for _, f := range ownFolders {
		entries, err := os.ReadDir(filepath.Join(docs, f))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if name := path.Join(f, e.Name()); !generated[name] {
				t.Errorf("docs/%s is of something that is no more; run make generate", name)
			}
		}
	}
}

func TestSentence(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"Size of\n a ring.", "Size of a ring."},
		{"One, e.g.this. Two.", "One, e.g.this."},
		{string(bytes.Repeat([]byte("word "), 50)), string(bytes.Repeat([]byte("word "), 23)) + "word ..."},
	} {
		if got := sentence(c.text); got != c.want {
			t.Errorf("sentence(%q) = %q, want %q", c.text, got, c.want)
		}
	}
}

func TestSubtree(t *testing.T) {
	for name, want := range map[string]string{
		"net.ipv4.tcp_rmem": "net.ipv4", "kern.ipc.maxsockbuf": "kern", "ethtool:ring/rx": "ethtool",
		"autoboot_delay":            "loader",
		"net.inet.tcp.cc.algorithm": "net.inet.tcp",
	} {
		if got := subtree(&catalog.Record{Name: name, Belongs: []string{"loader"}}); got != want {
			t.Errorf("subtree(%q) = %q, want %q", name, got, want)
		}
	}
}
