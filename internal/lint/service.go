package lint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/conffile"
	"github.com/wirerate/wirerate/internal/regexp"
)

// unitLimits are the limits of systemd.exec(5), without Limit.
var unitLimits = strings.Fields("CPU FSIZE DATA STACK CORE RSS NOFILE AS NPROC MEMLOCK LOCKS SIGPENDING MSGQUEUE NICE RTPRIO RTTIME")

var serviceSource = []string{"systemd.exec(5), Process Properties", "systemd/systemd src/basic/rlimit-util.c"}

// service judges a limit in a unit of systemd.
func (k *checker) service(e conffile.Entry) *finding {
	if k.kindOf(e) != conffile.Service || !strings.HasPrefix(e.Name, "service:") || e.Has(conffile.Expands) {
		return nil
	}
	name, limit := strings.CutPrefix(strings.TrimPrefix(e.Key, "Default"), "Limit")
	if e.Key == "Nice" || e.Key == "CPUQuota" {
		return unitShare(e)
	}
	if strings.HasPrefix(e.Name, "service:Manager/") && strings.HasPrefix(e.Key, "Limit") &&
		slices.Contains(unitLimits, name) {
		return &finding{code: "unknown-key", severity: Warning, sources: []string{"systemd-system.conf(5)"},
			message: e.Key + " is a setting of units; in [Manager] it is Default" + e.Key,
			because: "systemd warns of it in the journal and ignores the line."}
	}
	if !limit || !slices.Contains(unitLimits, name) {
		f := &finding{code: "unknown-key", severity: Warning, sources: serviceSource,
			message: e.Key + " is no setting of systemd",
			because: "systemd warns of it in the journal and ignores the line."}
		if i := slices.IndexFunc(unitLimits, func(n string) bool {
			return strings.EqualFold("Limit"+n, "Limit"+name) ||
				strings.EqualFold("limit"+n, strings.TrimPrefix(e.Key, "Default"))
		}); i >= 0 {
			f.message += "; did you mean Limit" + unitLimits[i] + "?"
		}
		return f
	}
	switch {
	case isTemplate(e.Value) || strings.Contains(e.Value, "%"):
		return nil
	case name == "NOFILE":
		return k.unitFiles(e)
	case !limitForm.MatchString(e.Value):
		return unitIgnores(e, "a number, infinity, or SOFT:HARD")
	}
	return nil
}

// limitForm is a limit of systemd: numbers, with units for sizes and times, or infinity.
var limitForm = regexp.MustCompile(`^(?:infinity|[-+]?[0-9][0-9. A-Za-z]*)(?::(?:infinity|[-+]?[0-9][0-9. A-Za-z]*))?$`)

// unitShare judges how much of the processors a unit gets.
func unitShare(e conffile.Entry) *finding {
	if isTemplate(e.Value) || strings.HasPrefix(e.Value, "%") {
		return nil
	}
	if e.Key == "CPUQuota" {
		number := strings.TrimRight(e.Value, "%‰‱") // parse_permyriad_unbounded
		if number == e.Value || strings.Trim(number, "0123456789.") != "" {
			return unitIgnores(e, "a percentage of one processor, with %")
		}
		return nil
	}
	if n, err := strconv.Atoi(e.Value); err != nil || n < -20 || n > 19 {
		return unitIgnores(e, "-20 to 19")
	}
	return nil
}

// unitIgnores is the finding of a value that systemd does not take.
func unitIgnores(e conffile.Entry, takes string) *finding {
	return &finding{code: "bad-value", severity: Warning, value: true, sources: []string{"systemd.exec(5)",
		"systemd.resource-control(5)"},
		message: fmt.Sprintf("%s takes %s, not %s", e.Key, takes, strconv.Quote(e.Value)),
		because: "systemd warns of it in the journal and ignores the line."}
}

// unitFiles judges LimitNOFILE: N, or SOFT:HARD.
func (k *checker) unitFiles(e conffile.Entry) *finding {
	first, second, two := strings.Cut(e.Value, ":")
	soft, ok := unitLimit(first)
	hard := soft
	if two && ok {
		hard, ok = unitLimit(second)
	}
	f := &finding{value: true, sources: serviceSource}
	switch {
	case !ok || soft > hard:
		f.code, f.severity = "bad-value", Warning
		f.message = fmt.Sprintf("%s takes a number, infinity, or SOFT:HARD with the lower one first, not %s", e.Key,
			strconv.Quote(e.Value))
		f.because = "systemd warns of it in the journal and ignores the line."
	case soft < 1024:
		f.code, f.severity = "below-default", Warning
		f.message = fmt.Sprintf("%s = %s is below what a service has without the line, 1024", e.Key, e.Value)
		f.because = "Each connection takes a descriptor; when they are used up, accept() fails with EMFILE."
	case soft == unlimited:
		f.code, f.severity = "harmful", Info
		f.message = fmt.Sprintf("%s = %s is as many as fs.nr_open allows, which systemd raises to 1073741816", e.Key, e.Value)
		f.because = "Programs that close or count every possible descriptor when they start take minutes or all memory then; " +
			"write the number that is needed, such as 1048576."
	default:
		return nil
	}
	return f
}

// unlimited stands for infinity.
const unlimited = ^uint64(0)

// unitLimit reads one number of a limit.
func unitLimit(text string) (n uint64, ok bool) {
	if text == "infinity" {
		return unlimited, true
	}
	n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 64)
	return n, err == nil
}
