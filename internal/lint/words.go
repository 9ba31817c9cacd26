package lint

import (
	"fmt"
	"strings"

	"github.com/wirerate/wirerate/internal/conffile"
	"github.com/wirerate/wirerate/internal/regexp"
)

var (
	// governors are those of the kernel (drivers/cpufreq).
	governors = strings.Fields("performance powersave ondemand conservative schedutil userspace")
	// profiles are those that TuneD and its packages bring.
	profiles = strings.Fields(`accelerator-performance atomic-guest atomic-host aws balanced balanced-battery
		cpu-partitioning cpu-partitioning-powersave desktop hpc-compute intel-sst latency-performance mssql
		network-latency network-throughput openshift openshift-control-plane openshift-node optimize-serial-console oracle
		postgresql powersave realtime realtime-virtual-guest realtime-virtual-host sap-hana sap-netweaver
		throughput-performance virtual-guest virtual-host`)
)

// choice judges a word of which the usual ones are known and which is a slip from one of
// them: a governor of the processors, a profile of TuneD.
func (k *checker) choice(e conffile.Entry) *finding {
	all, what, because, source := governors, "governor", "The kernel refuses it, and the old governor stays.",
		"torvalds/linux v6.12 Documentation/admin-guide/pm/cpufreq.rst"
	switch {
	case strings.HasSuffix(e.Name, "/scaling_governor"):
	case e.Name == "tuned:main/include":
		all, what, source = profiles, "profile", "tuned-profiles(7)"
		because = "TuneD does not find it and refuses the profile that needs it, unless it is one of your own."
	default:
		return nil
	}
	for _, word := range strings.FieldsFunc(e.Value, func(c rune) bool { return strings.ContainsRune("|,; ", c) }) {
		if near := oneSlipFrom(strings.TrimPrefix(word, "-"), all); near != "" && len(word) > 5 {
			f := misspelt(word, what, near, because, source)
			f.value = true
			f.code, f.message = "bad-value", fmt.Sprintf("there is no %s %s; did you mean %s?", what, word, near)
			return f
		}
	}
	return nil
}

// pageSize is the size of the huge pages that the next count is of.
var pageSize = regexp.MustCompile(`(?:^|[ "'=])hugepagesz=([^ "']+)(?:[ "']|$)`)

// longestCmdline is more than what any kernel takes.
const longestCmdline = 16 << 10

// hugePages judges a number of huge pages that stands before the size that it is meant for.
func (k *checker) hugePages(e conffile.Entry) *finding {
	if e.Name != "cmdline:hugepages" || e.Raw.End > len(k.file.text) || e.Raw.End < e.ValueSpan.End ||
		e.Raw.End-e.Raw.Start > longestCmdline {
		return nil
	}
	before, after := k.file.text[e.Raw.Start:e.KeySpan.Start], k.file.text[e.ValueSpan.End:e.Raw.End]
	m := pageSize.FindStringSubmatch(after)
	if m == nil || !strings.HasPrefix(m[1], "1G") || strings.Contains(before, "hugepagesz=") ||
		strings.Contains(after, "default_hugepagesz=") || strings.Contains(after, "hugepages=") {
		return nil
	}
	return &finding{code: "conflict", severity: Warning,
		sources: []string{"torvalds/linux v6.12 Documentation/admin-guide/kernel-parameters.txt, hugepages, hugepagesz"},
		message: fmt.Sprintf("hugepages=%s counts pages of the default size: hugepagesz=%s comes after it", e.Value, m[1]),
		because: "The kernel reads the words in their order, and a number is of the size before it; write hugepagesz= first."}
}
