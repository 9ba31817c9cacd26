package diagnose

import (
	"fmt"
	"strconv"

	"github.com/wirerate/wirerate/internal/facts"
)

// pfStates finds a pf state table that is nearly full.
func pfStates() Rule {
	return Rule{
		ID: "pf-states-near-full", Title: "pf's state table is or was nearly full", Systems: onBSD(),
		Needs: []string{"packet filter|messages"}, Severity: Critical,
		Settings: []string{"pf:set/limit/states"},
		Because:  "Connections that get no state are dropped.",
		Check: func(in Input) []Finding {
			f := in.Facts
			used, has := f.Counter("pf.current_entries")
			limit, src, ok := setting(f, "pf:set/limit/states")
			possible := has && ok && float64(used.Value) <= 1.05*float64(limit) // else one of both lines was cut
			if possible && limit > 0 && float64(used.Value) >= 0.8*float64(limit) {
				return one("pf", []facts.Source{used.Source, src}, "%d of %d states in use (%.0f%%)", used.Value,
					limit, 100*float64(used.Value)/float64(limit))
			}
			if found := atDefaultLimit(used, has && !ok); found != nil {
				return found
			}
			refused := counters(f, "pf.memory")
			if lines, n := logged(f, "pf states limit reached"); n > 0 {
				return one("pf", append(lines, sources(refused)...), "the kernel reported a full state table (%s)",
					counted(n, "line"))
			}
			if len(refused) > 0 {
				return with(Warning, one("pf", sources(refused), "%d packets were dropped for lack of memory for a state since the "+
					"counters were cleared", refused[0].Value))
			}
			return nil
		},
		Fires: pfExample(95000, 0),
		Quiet: pfExample(950, 0),
	}
}

// atDefaultLimit finds a table that holds as many states as the kernel allows where pf.conf sets no limit (PFSTATE_HIWAT
// of pfvar.h: 100000, 10000 in older releases; FreeBSD's allocator rounds it up a little).
func atDefaultLimit(used facts.Counter, unknown bool) []Finding {
	for _, limit := range []uint64{10000, 100000} {
		const rounded = 100 // the part of the limit by which it is exceeded at most
		if unknown && used.Value >= limit && used.Value <= limit+limit/rounded {
			found := with(Warning, one("pf", []facts.Source{used.Source}, "%d states, which reaches the default limit of "+
				"%d", used.Value, limit))
			found[0].Fix = []Fix{{Setting: "pf:set/limit/states", Value: strconv.FormatUint(2*limit, 10)}}
			found[0].Confirm = fmt.Sprintf("pfctl -sm shows %d as the hard limit for states.", limit)
			return found
		}
	}
	return nil
}

func pfExample(states, srcLimit int) Example {
	return freebsdExample("pfctl -si", fmt.Sprintf("Status: Enabled for 9 days 01:02:03           Debug: "+
		"Urgent\n\nState Table                          Total             Rate\n  current entries %20d\n  searches  "+
		"                     123456789         1570.2/s\n"+
		"Counters\n  match                            1234567           15.7/s\n  memory                            "+
		"     0            0.0/s\n  state-limit                            0            0.0/s\n  src-limit %20d "+
		"           0.0/s\n", states, srcLimit),
		"pfctl -sm", "states        hard limit   100000\nsrc-nodes     hard limit    10000\n")
}
