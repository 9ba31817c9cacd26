package lsp

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/lint"
)

// BenchmarkEdit types a character into a file of 1,000 different lines and waits
// for its diagnostics. It reports the time beside what lint alone takes.
func BenchmarkEdit(b *testing.B) {
	c := loadCatalog(b)
	var src strings.Builder
	lines := 0
	for _, name := range c.Names(catalog.Linux) {
		if !strings.ContainsAny(name, "*:") && lines < 1000 {
			fmt.Fprintf(&src, "%s = 1\n", name)
			lines++
		}
	}
	for ; lines < 1000; lines++ {
		fmt.Fprintf(&src, "net.ipv4.tcp_rmem = 4096 87380 %d\n", 1<<20+lines)
	}
	opt := lint.Options{System: catalog.Linux, Version: "6.12"}
	const rounds = 5
	start := time.Now()
	for range rounds {
		lint.Run(c, []lint.Input{{Path: "sysctl.conf", Text: src.String()}}, opt)
	}
	alone := time.Since(start) / rounds
	editor := dial(b, Config{Catalog: c, Options: plainOptions}, "{}", linux)
	uri := "untitled:sysctl.conf"
	editor.open(uri, src.String())
	version := 1
	for b.Loop() {
		version++
		editor.notify("textDocument/didChange", map[string]any{"textDocument": documentItem{URI: uri, Version: version},
			"contentChanges": []contentChange{{Range: &textRange{}, Text: "#"}}})
		editor.next(uri, version)
	}
	each := b.Elapsed() / time.Duration(b.N)
	b.ReportMetric(float64(each.Microseconds())/1000, "ms/edit")
	b.ReportMetric(float64(each)/float64(alone), "of-lint-alone")
}
