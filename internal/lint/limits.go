package lint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/conffile"
	"github.com/wirerate/wirerate/internal/spelling"
)

// limitItems are the items of limits.conf(5); ignoredItems those that the kernel does
// not look at.
var (
	limitItems = strings.Fields(`core data fsize memlock nofile rss stack cpu nproc as maxlogins maxsyslogins nonewprivs
		priority locks sigpending msgqueue nice rtprio chroot`)
	ignoredItems = []string{"rss", "locks"}
)

// fewProcesses is what distributions that lower the limit leave at least.
const fewProcesses = 4096

var limitSource = []string{"limits.conf(5)", "linux-pam/linux-pam modules/pam_limits/pam_limits.c, process_limit"}

// ulimit judges the limit of open files that a command gives to its shell.
func (k *checker) ulimit(e conffile.Entry) *finding {
	f := &finding{severity: Warning, value: true, sources: []string{"setrlimit(2)", "torvalds/linux v6.12 kernel/sys.c, do_prlimit"}}
	switch {
	case e.Name != "ulimit:nofile" || k.system != catalog.Linux:
		return nil
	case k.buildsContainer() && k.ranInBuild(e):
		f.code = "no-effect"
		f.message = "ulimit in a build holds for this one instruction: give the limit when the container is started, --ulimit nofile=N"
		f.because = "Each RUN is a shell of its own, and the program of a container has the limits that it is started with."
	case e.Value == "unlimited":
		f.code = "bad-value"
		f.message = "a process cannot have unlimited open files: write a number up to fs.nr_open, 1048576 unless it is raised"
		f.because = "The kernel refuses more than fs.nr_open even to root (Operation not permitted), and the limit stays as it was."
	default:
		return nil
	}
	return f
}

// limit judges the form of a line of limits.conf, and remembers it.
func (k *checker) limit(e conffile.Entry) *finding {
	kind, item, ok := strings.Cut(strings.TrimPrefix(e.Name, "limits:"), "/")
	if !ok || k.kindOf(e) != conffile.Limits {
		return nil
	}
	skipped := func(code, message string) *finding {
		return &finding{code: code, severity: Warning, message: message, sources: limitSource,
			because: "pam_limits skips the line, and says so only in its debug messages."}
	}
	switch _, err := strconv.ParseInt(e.Value, 10, 64); {
	case !slices.Contains(limitItems, item):
		f := skipped("unknown-key", item+" is no item of limits.conf")
		for _, known := range limitItems {
			if spelling.Edits(item, known) == 1 {
				f.message += "; did you mean " + known + "?"
				break
			}
		}
		return f
	case kind != "soft" && kind != "hard":
		return skipped("bad-value", fmt.Sprintf("the type is soft, hard or -, not %s", strconv.Quote(kind)))
	case err != nil && !e.Has(conffile.Expands) && !isTemplate(e.Value) &&
		!slices.Contains([]string{"-", "unlimited", "infinity"}, e.Value) && item != "chroot":
		f := skipped("bad-value", fmt.Sprintf("%s takes a number or unlimited, not %s", item, strconv.Quote(e.Value)))
		f.value = true
		return f
	case slices.Contains(ignoredItems, item):
		return &finding{code: "no-effect", severity: Info, message: item + " is accepted, and the kernel does not look at it",
			because: "Linux has not enforced this limit since 2.4.30.", sources: []string{"setrlimit(2)", "limits.conf(5)"}}
	}
	if len(k.limits) < cacheLimit {
		k.limits = append(k.limits, &assignment{file: k.file, kind: conffile.Limits, entry: e})
	}
	return nil
}

// judgeLimits judges limits against each other and the kernel's own bound.
func (k *checker) judgeLimits() {
	hard := map[string]*assignment{} // the last one, by what it is of
	told := map[*source]bool{}
	for _, a := range k.limits {
		kind, _, of := limitOf(a.entry)
		if kind == "hard" {
			hard[of] = a
		}
	}
	for _, a := range k.limits {
		kind, item, of := limitOf(a.entry)
		value, known := limitValue(a.entry)
		if !known {
			continue
		}
		h := hard[of]
		most, bounded := 0.0, false
		if h != nil {
			most, bounded = limitValue(h.entry)
		}
		switch {
		case kind == "soft" && bounded && value > most:
			k.reportIn(a.file, a.entry, finding{code: "no-effect", severity: Warning, value: true, sources: limitSource,
				message: fmt.Sprintf("%s = %s is above the hard limit, %s in line %d",
					a.entry.Key, a.entry.Value, h.entry.Value, h.entry.Line),
				because: "pam_limits lowers a soft limit to the hard one."})
		case item == "nofile" && (kind == "hard" || h == nil):
			k.judgeFiles(a, value)
		case item == "nproc" && kind == "hard" && value < fewProcesses && strings.HasPrefix(a.entry.Key, "*"):
			k.reportIn(a.file, a.entry, finding{code: "below-default",
				severity: Info, value: true, sources: []string{"setrlimit(2), RLIMIT_NPROC"},
				message: fmt.Sprintf("%s = %s is low for all of a user's threads", a.entry.Key, a.entry.Value),
				because: "Threads count as processes here, those of all programs of the user together; the kernel itself allows " +
					"half of what fits into memory."})
		}
		if item == "nofile" && value > 1024 && !told[a.file] {
			told[a.file] = true
			k.reportIn(a.file, a.entry, finding{code: "needs", severity: Info, sources: []string{"pam_limits(8)",
				"systemd.exec(5), LimitNOFILE="},
				message: "this file is for logins: a service of systemd takes its limits from its unit",
				because: "pam_limits sets the limits of a session that PAM opens; a daemon needs LimitNOFILE= in its unit, or " +
					"DefaultLimitNOFILE= in system.conf."})
		}
	}
}

// judgeFiles judges a limit of open files that the kernel refuses, or that is lower
// than the one which sessions have without it.
func (k *checker) judgeFiles(a *assignment, value float64) {
	const setting, usual = "fs.nr_open", 524288
	bound, known := k.numberOf(k.effects[setting], setting)
	where := setting + " allows"
	if k.effects[setting] == nil {
		where = setting + " allows unless it is raised"
	}
	kind, _, _ := limitOf(a.entry)
	switch {
	case known && value > bound:
		k.reportIn(a.file, a.entry, finding{code: "harmful", severity: Warning, value: true,
			sources: []string{"torvalds/linux v6.12 kernel/sys.c, do_prlimit", "limits.conf(5)"},
			message: fmt.Sprintf("%s = %s is more than the %.0f that %s", a.entry.Key, a.entry.Value, bound, where),
			because: "The kernel refuses such a limit, and where pam_limits is required, nobody can log in any more. (systemd " +
				"raises fs.nr_open at boot, but not as Debian and Ubuntu build it.)"})
	case kind == "hard" && value < usual:
		k.reportIn(a.file, a.entry, finding{code: "below-default", severity: Info, value: true,
			sources: []string{"systemd NEWS 240, DefaultLimitNOFILE", "systemd-system.conf(5)"},
			message: fmt.Sprintf("%s = %s lowers the hard limit that systemd gives, %d", a.entry.Key, a.entry.Value, usual),
			because: "Since systemd 240 every process may raise its own limit to 524288; only the soft limit, 1024, is low."})
	}
}

// limitOf splits a limit into its type, its item, and item and domain together.
func limitOf(e conffile.Entry) (kind, item, of string) {
	kind, item, _ = strings.Cut(strings.TrimPrefix(e.Name, "limits:"), "/")
	return kind, item, item + " " + strings.Fields(e.Key)[0]
}

// limitValue is a limit's number; known is false for one without bound.
func limitValue(e conffile.Entry) (value float64, known bool) {
	n, err := strconv.ParseInt(e.Value, 10, 64)
	return float64(n), err == nil && n >= 0
}
