package lint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/conffile"
	"github.com/wirerate/wirerate/internal/regexp"
)

var (
	cpuSource = []string{"torvalds/linux v6.12 Documentation/admin-guide/kernel-parameters.txt, isolcpus=, nohz_full=, rcu_nocbs=",
		"torvalds/linux v6.12 Documentation/admin-guide/kernel-parameters.rst, cpu lists"}
	cpuList      = regexp.MustCompile(`^(?:all|N|[0-9][0-9N,:/-]*)$`)
	isolcpusFlag = regexp.MustCompile(`^(?:(?:nohz|domain|managed_irq),)+`)
)

// cpuWords judges a list of processors on the kernel's command line that is none, and remembers the others.
func (k *checker) cpuWords(e conffile.Entry) *finding {
	name := strings.TrimPrefix(e.Name, "cmdline:")
	if name == e.Name || !slices.Contains([]string{"isolcpus", "nohz_full", "rcu_nocbs"}, name) || isTemplate(e.Value) ||
		e.Has(conffile.Expands) || e.Value == "" {
		return nil
	}
	list := isolcpusFlag.ReplaceAllString(e.Value, "")
	switch {
	case !cpuList.MatchString(list):
		if strings.Trim(list, "abcdefghijklmnopqrstuvwxyz") == "" {
			return &finding{code: "bad-value", severity: Warning, value: true, sources: cpuSource,
				message: fmt.Sprintf("%s takes a list of CPUs, such as 2-7, not %s", name, list),
				because: "The kernel ignores the parameter."}
		}
		return nil
	case len(k.cpus) < cacheLimit/64:
		k.cpus = append(k.cpus, k.here(e))
	}
	return nil
}

// judgeProcessors judges the lists of processors of one command line beside each other.
func (k *checker) judgeProcessors() {
	var isolated *assignment
	for _, a := range k.cpus {
		if a.entry.Key != "isolcpus" {
			continue
		}
		isolated = a
		if holdsBoot(isolcpusFlag.ReplaceAllString(a.entry.Value, "")) {
			k.reportIn(a.file, a.entry, finding{code: "harmful", severity: Warning, value: true, sources: cpuSource,
				message: fmt.Sprintf("isolcpus = %s isolates CPU 0, which does the kernel's own work", a.entry.Value),
				because: "The machine boots on CPU 0, and interrupts, timers and kernel threads that nothing moves stay on it, so it is never " +
					"idle. Isolate other CPUs and leave 0 to the system."})
		}
	}
	if isolated == nil || isolated.entry.Value == "1" {
		return
	}
	for _, a := range k.cpus {
		if a.file == isolated.file && a.entry.Key != "isolcpus" && a.entry.Value == "1" {
			k.reportIn(a.file, a.entry, finding{code: "conflict", severity: Warning, value: true, sources: cpuSource,
				message: fmt.Sprintf("%s = 1 names CPU 1 only, but isolcpus isolates %s", a.entry.Key, isolated.entry.Value),
				because: "The value is a list of CPUs, not a switch: the other isolated CPUs keep their timer ticks and RCU callbacks. Write the list of isolcpus."})
		}
	}
}

// holdsBoot reports whether a list of processors holds processor 0.
func holdsBoot(list string) bool {
	for _, part := range strings.Split(list, ",") {
		first, _, _ := strings.Cut(part, "-")
		if n, err := strconv.Atoi(first); err == nil && n == 0 || part == "all" {
			return true
		}
	}
	return false
}
