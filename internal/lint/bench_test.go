package lint

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/catalog"
)

// BenchmarkLarge lints a file of 100,000 lines.
func BenchmarkLarge(b *testing.B) {
	const lines = 400_000
	text := strings.Repeat("# a comment\nnet.ipv4.tcp_rmem = 4096 131072 67108864\nnet.core.somaxconn=4096\n\n", lines/4)
	c := load(b)
	for b.Loop() {
		Run(c, []Input{{Path: "/etc/sysctl.conf", Text: text}}, Options{Version: "6.1"})
	}
	b.ReportMetric(lines*float64(b.N)/b.Elapsed().Seconds(), "lines/s")
}

// BenchmarkOneSetting lints 500 different values of one setting, the catalog's
// loading included: every line is judged anew.
func BenchmarkOneSetting(b *testing.B) {
	var text strings.Builder
	for i := range 500 {
		fmt.Fprintf(&text, "net.ipv4.tcp_rmem = 4096 87380 %d\n", 1<<20+i)
	}
	for b.Loop() {
		Run(load(b), []Input{{Path: "/etc/sysctl.conf", Text: text.String()}}, Options{Version: "6.1"})
	}
}

// BenchmarkOrdinary lints a file of 500 different settings, the catalog's
// loading included.
func BenchmarkOrdinary(b *testing.B) {
	var text strings.Builder
	for i, name := range load(b).Names(catalog.Linux) {
		if i == 500 {
			break
		}
		text.WriteString(name + " = 1\n")
	}
	for b.Loop() {
		Run(load(b), []Input{{Path: "/etc/sysctl.conf", Text: text.String()}}, Options{})
	}
}
